"""What splines share: rows with one x, the choice of the penalty, checks."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin

from ...errors import InputError
from ...parameters import Checks, check_arguments, check_choice, check_count, check_number
from ...solvers import SplineErrors
from ..arguments import WEIGHT_RANGE, read_targets, read_weight

__all__ = ["Rows", "Smoother", "SplineMachine"]

Matrix: TypeAlias = NDArray[np.float64]


class Smoother(Protocol):
    """A spline with given knots and weights, for any penalty."""

    def grid(self) -> Matrix:
        """Penalties from near interpolation to near a polynomial, ascending."""

    def errors(self, y: Matrix, alpha: Any) -> SplineErrors:
        """Leave-one-out errors of the knots for one penalty or several."""

    def degrees_of_freedom(self, alpha: float) -> float: ...


class SplineMachine(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Base of the splines: minimise squared errors plus ``alpha`` times an energy."""

    alpha: float | None
    criterion: str
    order: int

    _checks: ClassVar[Checks] = {
        "alpha": partial(
            check_number,
            requirement="a number from 0 to inf, or None to choose it",
            least=0.0,
            infinite=True,
            unless=(None,),
            advice="Larger alpha gives a smoother fit.",
        ),
        "criterion": partial(check_choice, options=("gcv", "loo")),
        "order": partial(
            check_count,
            requirement="a whole number from 1 to 32",
            high=32,
            advice="It is the order of the derivatives that are penalised; 2 is usual.",
        ),
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the points ``X`` and the targets ``y`` of shape (n,) or (n, t)."""
        name = type(self).__name__
        check_arguments(self)
        points = self._points(X, reset=True)
        targets = read_targets(name, y, len(points), numeric=True)
        weight = _weights(sample_weight, len(points), name)
        kept = weight > 0
        dim = 1 if points.ndim == 1 else points.shape[1]
        span, power = float(np.ptp(points[kept], axis=0).max()), 2 * int(self.order) - dim
        # powers of the span of X up to 1e240, and their inverses, are floats; times penalties too
        most = 1e240 ** (1 / power)
        if span > 0 and not 1 / most <= span <= most:
            raise InputError(
                f"{name}: `X` must span between {1 / most:g} and {most:g}: the penalty has "
                f"the unit of its power {power}. Got {span:.3g}. Multiply X by a constant."
            )
        rows = Rows.merged(points[kept], targets[kept].reshape(int(kept.sum()), -1), weight[kept])

        smoother = self._smoother(rows)
        self.alpha_ = self._chosen(smoother, rows) if self.alpha is None else float(self.alpha)
        self.knots_ = rows.knots
        self._keep(smoother, rows, flat=targets.ndim == 1)
        self.degrees_of_freedom_ = smoother.degrees_of_freedom(self.alpha_)
        return self

    @abstractmethod
    def _points(self, X: Any, *, reset: bool) -> Matrix:
        """Validated points: numbers of shape (n,) or vectors of shape (n, d)."""

    @abstractmethod
    def _smoother(self, rows: Rows) -> Any: ...

    @abstractmethod
    def _keep(self, smoother: Any, rows: Rows, *, flat: bool) -> None:
        """Fit with ``alpha_`` and keep what predictions need."""

    # -- the penalty ----------------------------------------------------------------------------
    def _chosen(self, smoother: Smoother, rows: Rows) -> float:
        """The penalty with the least criterion: the best of a wide grid, then refined."""
        if len(rows.knots) <= self._count_free(rows):
            self.alphas_, self.errors_ = np.array([np.inf]), np.array([np.nan])
            return np.inf  # the polynomials fit all knots
        grid = smoother.grid()
        errors = rows.criterion(smoother, grid, self.criterion)
        best = int(np.argmin(errors))
        low, high = np.log(grid[max(best - 1, 0)]), np.log(grid[min(best + 1, len(grid) - 1)])
        tried: dict[float, float] = dict(zip(grid.tolist(), errors.tolist(), strict=True))

        def error(log_alpha: float) -> float:
            alpha = float(np.exp(log_alpha))
            tried[alpha] = float(rows.criterion(smoother, alpha, self.criterion))
            return tried[alpha]

        minimize_scalar(error, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
        self.alphas_ = np.array(sorted(tried))
        self.errors_ = np.array([tried[alpha] for alpha in self.alphas_.tolist()])
        return float(self.alphas_[np.argmin(self.errors_)])

    @abstractmethod
    def _count_free(self, rows: Rows) -> int:
        """The number of free polynomials."""


def _weights(sample_weight: Any, n: int, caller: str) -> Matrix:
    """Weights of the rows; the solvers divide by each of them, so that none may vanish."""
    weight = read_weight(caller, sample_weight, n)
    if weight is None:
        return np.ones(n)
    least = float(weight[weight > 0].min())
    if least < WEIGHT_RANGE[0]:
        raise InputError(
            f"{caller}: `sample_weight` must be 0 or at least {WEIGHT_RANGE[0]:g}. Got {least:.3g}. "
            "Set weights to 0 that do not count beside the others."
        )
    return weight


class Rows(NamedTuple):
    """The data, and what is left when rows with one x are merged into their weighted mean."""

    knots: Matrix  # distinct, sorted
    means: Matrix  # one row per knot
    weights: Matrix
    y: Matrix
    weight: Matrix
    knot: NDArray[np.intp]  # of each row of y

    @classmethod
    def merged(cls, x: Matrix, Y: Matrix, weight: Matrix) -> Rows:
        knots, knot = np.unique(x, return_inverse=True, axis=0)
        knot = knot.reshape(len(x))
        weights = np.bincount(knot, weight).astype(np.float64)
        sums = np.zeros((len(knots), Y.shape[1]))
        np.add.at(sums, knot, weight[:, None] * Y)
        return cls(knots, sums / weights[:, None], weights, Y, weight, knot)

    def criterion(self, smoother: Smoother, alpha: Any, name: str) -> Any:
        """The criterion for one penalty or several, summed over targets.

        A row that shares its x with others has its part of their leverage.
        """
        many = np.ndim(alpha) > 0
        expand = (slice(None), None) if many else slice(None)
        share = (self.weight / self.weights[self.knot])[expand]
        weight = self.weight[expand]
        total: Any = 0.0
        for target in range(self.means.shape[1]):
            found = smoother.errors(self.means[:, target], alpha)
            from_mean = (self.y[:, target] - self.means[self.knot, target])[expand]
            errors = from_mean + (found.complement * found.left_out)[self.knot]
            leverage, complement = found.leverage[self.knot], found.complement[self.knot]
            rest = complement + leverage * (1.0 - share)  # one minus the leverage of the row
            if name == "loo":
                errors = errors / rest
                total = total + (weight * errors**2).sum(axis=0) / self.weight.sum()
            else:
                factor = len(self.weight) / rest.sum(axis=0)
                total = total + factor**2 * (weight * errors**2).sum(axis=0) / self.weight.sum()
        return total
