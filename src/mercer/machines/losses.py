"""The losses of the representer machine: names, domains, and functions of one's own with checked answers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.threads import user_code
from ..errors import InputError, ParameterError, brief
from ..gram import Gram
from ..solvers.constraints import (
    Constrained,
    Constraint,
    HardMargin,
    Interpolation,
    Interval,
    JointLoss,
    domain_of,
)
from ..solvers.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Loss,
    PiecewiseLinear,
    Pinball,
    Poisson,
    Ranking,
    SmoothLoss,
    Squared,
)
from ..solvers.ranking import ordered_pairs
from ..solvers.representer import RankingLoss

__all__ = ["LOSSES", "UserFunction", "WeightedLoss", "base_of", "check_loss", "domain_of_loss", "ranking_of"]

Vector = NDArray[np.float64]

LOSSES: dict[str, Loss | Ranking] = {
    "squared": Squared(),
    "logistic": Logistic(),
    "hinge": Hinge(),
    "epsilon_insensitive": EpsilonInsensitive(),
    "huber": Huber(),
    "pinball": Pinball(),
    "poisson": Poisson(),
    "ranking": Ranking(),
    "hard_margin": HardMargin(),
    "interpolation": Interpolation(),
    "interval": Interval(),
}

#: Norms at which a joint loss must not decrease, relative to that of the solution.
SAMPLES = (0.0, 0.5, 1.0, 2.0, 10.0)


def base_of(loss: Any) -> Any:
    """The loss without its domain; names are replaced by what they stand for."""
    inner = loss.loss if isinstance(loss, Constrained) else loss
    return LOSSES.get(inner, inner) if isinstance(inner, str) else inner


def check_loss(loss: Any) -> None:
    """Raise unless it is a loss that the machine can minimise."""
    base = base_of(loss)
    if isinstance(loss, Constrained):
        if not isinstance(base, SmoothLoss) and (isinstance(base, Loss | JointLoss) or not callable(base)):
            raise ParameterError(
                "RepresenterMachine: the loss of `Constrained` must be smooth: a SmoothLoss, the name of "
                "one, or a function of targets and predictions that returns value and gradient. "
                f"Got {brief(loss.loss)}."
            )
    elif not isinstance(base, SmoothLoss | PiecewiseLinear | Constraint | JointLoss | Ranking) and (
        isinstance(base, Loss | str) or not callable(base)
    ):
        names = ", ".join(map(repr, LOSSES))
        raise ParameterError(
            f"RepresenterMachine: `loss` must be one of {names}, a SmoothLoss, PiecewiseLinear, Ranking, "
            "Constraint, Constrained or JointLoss, or a function of targets and predictions that returns "
            f"value and gradient. Got {brief(loss)}."
        )


def domain_of_loss(loss: Any, targets: Vector) -> tuple[Vector, Vector] | None:
    """The intervals that predictions must lie in, or None if they are free."""
    base = base_of(loss)
    if isinstance(loss, Constrained):
        return domain_of(loss.domain, targets, "RepresenterMachine")
    if not isinstance(base, Loss):
        return None
    low, high = domain_of(lambda y: base.domain(y[:, None]), targets, "RepresenterMachine")
    if np.isinf(low).all() and np.isinf(high).all():
        return None
    if not isinstance(base, SmoothLoss):
        raise ParameterError(
            f"RepresenterMachine: `loss` {brief(loss)} has a domain, so it must be a SmoothLoss, or a "
            "Constraint if it is zero there."
        )
    return low, high


def ranking_of(loss: Ranking, targets: Vector, weight: Vector | None, G: Gram, **limits: Any) -> RankingLoss:
    """The loss of all pairs with different targets."""
    n = len(targets)
    pairs = ordered_pairs(targets, np.zeros(n, dtype=np.intp), weight, "RepresenterMachine")
    if not len(pairs.first):
        raise InputError(
            f"RepresenterMachine: `y` must have two different values to rank by. Got {n} sample(s) with one."
        )
    return RankingLoss(loss.margin, pairs, G, **limits)


class WeightedLoss:
    """A weighted sum of losses as a function of the predictions."""

    def __init__(self, loss: SmoothLoss, targets: Vector, weight: Vector) -> None:
        self.loss, self.targets, self.weight = loss, targets, weight

    def __call__(self, f: Vector, norm: float) -> tuple[float, Vector, float]:
        value = float(self.weight @ self.loss.value(self.targets, f[:, None]))
        return value, self.weight * self.loss.gradient(self.targets, f[:, None])[:, 0], 0.0


class UserFunction:
    """A function of targets, predictions and perhaps the norm; ``reached_infinity`` once it was infinite."""

    def __init__(self, loss: JointLoss | Callable[..., Any], targets: Vector) -> None:
        self.is_joint = isinstance(loss, JointLoss)
        self.function: Callable[..., Any] = loss.function if isinstance(loss, JointLoss) else loss
        self.targets, self.reached_infinity = targets, False
        self.call = "JointLoss.function(y, f, norm)" if self.is_joint else "loss(y, f)"
        self.answer = "a number, a gradient and a derivative" if self.is_joint else "a number and a gradient"

    def __call__(self, f: Vector, norm: float) -> tuple[float, Vector, float]:
        """Value, gradient, and the derivative in the norm (zero unless the loss is joint)."""
        try:
            with user_code():
                answer = self.function(self.targets, f, *([norm] if self.is_joint else []))
            value, gradient, slope = answer if self.is_joint else (*answer, 0.0)
            value, gradient, slope = float(value), np.asarray(gradient, dtype=np.float64), float(slope)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"RepresenterMachine: `{self.call}` must return {self.answer}. It did not: {error}."
            ) from error
        if value == np.inf:
            self.reached_infinity = True
            return value, np.zeros_like(f), 0.0
        if gradient.shape != f.shape or not np.isfinite([value, slope, *gradient]).all():
            raise ParameterError(
                f"RepresenterMachine: `{self.call}` must return {self.answer}, finite, the gradient of shape "
                f"{f.shape}. Got {value}, shape {gradient.shape} and derivative {slope}."
            )
        if slope < 0:
            self._refuse_decrease(f"Its derivative in the norm is {slope:.3g} at norm {norm:.3g}.")
        return value, gradient, slope

    def check_increase(self, f: Vector, norm: float) -> None:
        """Raise if a joint loss is seen to decrease with the norm, at these predictions."""
        if not self.is_joint:
            return
        norms = [share * (norm or 1.0) for share in SAMPLES]
        values = [self(f, t)[0] for t in norms]
        for i, (before, after) in enumerate(itertools.pairwise(values)):
            # relative decrease that may be rounding
            if after < before - 1e-9 * abs(before):
                self._refuse_decrease(
                    f"It falls from {before:.6g} at norm {norms[i]:.3g} to {after:.6g} at norm "
                    f"{norms[i + 1]:.3g}."
                )

    def _refuse_decrease(self, what: str) -> None:
        raise ParameterError(
            f"RepresenterMachine: `{self.call}` must not decrease with the norm: otherwise the "
            "minimiser need "
            f"not be a combination of kernel functions at the data. {what}"
        )

    def refuse_infinity(self) -> None:
        """Raise where the loss was infinite and no minimum was found."""
        raise ParameterError(
            f"RepresenterMachine: `{self.call}` was infinite on the way, and no minimum was found. "
            "A loss that is "
            "infinite outside an interval must state it: loss=Constrained(loss, (low, high)), or "
            "Constrained(loss, domain) with a function domain(y) that returns two arrays."
        )
