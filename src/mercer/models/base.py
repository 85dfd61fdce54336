"""What a probability model is: an immutable value with a likelihood and its derivatives."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from .. import memory
from ..digests import digest
from ..domains import Data, Domain, size
from ..errors import InputError, ParameterError
from ..parameters import show

__all__ = [
    "PARAMETRIZATIONS",
    "Model",
    "Value",
    "checked_number",
    "generator",
    "numbers",
    "probabilities",
    "simplex_scores",
]

PARAMETRIZATIONS = ("softmax", "tangent", "raw")


class Value:
    """An immutable value: a frozen dataclass of arrays, compared by content."""

    def _parts(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in dataclasses.fields(self))  # type: ignore[arg-type]

    def digest(self) -> str:
        """Name of the value by its content, the same in every process."""
        return digest(_plain(self))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash(self.digest())

    def __repr__(self) -> str:
        inner = ", ".join(show(part) for part in self._parts() if part is not None)
        return f"{type(self).__name__}({inner})"

    def _set(self, **values: Any) -> Self:
        """Store validated parameters; arrays become read-only."""
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value = value.copy()
                value.flags.writeable = False
            object.__setattr__(self, name, value)
        return self


class Model(Value, ABC):
    """A probability model of observations, an immutable value.

    Subclasses are frozen dataclasses of arrays.  They give the domain of the observations, logarithms of
    likelihoods, *scores* (derivatives of these with respect to the parameters), and samples.
    """

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The observations."""

    @property
    @abstractmethod
    def parameters(self) -> np.ndarray:
        """All parameters in one vector, in the order of the scores; probabilities are as they are."""

    @abstractmethod
    def _log_likelihoods(self, X: Data) -> np.ndarray:
        """Logarithms of the likelihoods of validated observations."""

    @abstractmethod
    def _scores(self, X: Data, parametrization: str) -> np.ndarray:
        """Scores of validated observations, shape (n, number of parameters);
        an error if one is impossible.
        """

    def _check_possible(self, log_likelihoods: np.ndarray) -> None:
        """Raise if an observation has probability 0."""
        impossible = np.flatnonzero(np.isneginf(log_likelihoods))
        if len(impossible):
            raise InputError(
                f"{type(self).__name__}: observation {int(impossible[0])} has probability 0, and so no "
                "score and no posterior. Fit the model with a pseudocount or a ridge, or leave the "
                "observation out."
            )

    @abstractmethod
    def _sample(self, n: int, rng: np.random.Generator) -> Any:
        """Observations drawn from the model."""

    def information(self, parametrization: str = "softmax") -> np.ndarray | None:
        """Fisher information of one draw; None where it has no closed form."""
        return None

    def log_likelihood(self, x: Any) -> float:
        """Logarithm of the likelihood of one observation; minus infinity where it is impossible."""
        return float(self._log_likelihoods(self.domain.validate([x], "x"))[0])

    def log_likelihoods(self, X: Any) -> np.ndarray:
        """Logarithms of the likelihoods of many observations."""
        return self._log_likelihoods(self.domain.validate(X))

    def score(self, x: Any, parametrization: str = "softmax") -> np.ndarray:
        r"""Gradient of the log-likelihood of one observation with respect to the parameters.

        Parameters
        ----------
        x : observation
        parametrization : {"softmax", "tangent", "raw"}, default="softmax"
            How probabilities that add up to 1 are parameters: by logits, so that
            :math:`p_i = e^{\theta_i} / \sum_j e^{\theta_j}`; as they are, moving within the simplex; or each
            for itself, as if they need not add up to 1.  Means and covariances are as they are in all three.
        """
        return np.asarray(self.scores(self.domain.validate([x], "x"), parametrization)[0])

    def scores(self, X: Any, parametrization: str = "softmax") -> np.ndarray:
        """Scores of many observations, shape (n, number of parameters)."""
        if parametrization not in PARAMETRIZATIONS:
            raise ParameterError(
                f"{type(self).__name__}.scores: `parametrization` must be one of "
                f"{', '.join(map(repr, PARAMETRIZATIONS))}. Got {parametrization!r}."
            )
        data = self.domain.validate(X)
        memory.require(
            8 * size(data) * len(self.parameters),
            f"scores of {size(data):,} observations, {len(self.parameters):,} parameters each",
            "Take fewer observations at a time.",
        )
        return self._scores(data, parametrization)

    def sample(self, n: int, random_state: Any = None) -> Any:
        """Observations drawn from the model.

        Parameters
        ----------
        n : int
            How many.
        random_state : int, Generator or None
        """
        checked_number(n, f"{type(self).__name__}.sample", "n", integer=True)
        return self._sample(n, generator(random_state))


def _plain(model: Any) -> Any:
    if isinstance(model, Value):
        return (type(model).__name__, *(_plain(part) for part in model._parts()))
    return tuple(map(_plain, model)) if isinstance(model, tuple) else model


def generator(random_state: Any) -> np.random.Generator:
    """A generator of random numbers from a seed, a generator, or None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"`random_state` must be None, an integer >= 0 or a generator of NumPy. Got {random_state!r}."
        ) from error


def numbers(value: Any, caller: str, name: str) -> np.ndarray:
    """Finite numbers as a new array of floats, or an error that names the argument."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{caller}: `{name}` must be numbers. Got {value!r}.") from error
    if not np.isfinite(array).all():
        raise ParameterError(f"{caller}: `{name}` must be finite numbers. Got {value!r}.")
    return array


def checked_number(value: Any, caller: str, name: str, *, integer: bool = False, low: int = 0) -> None:
    """Raise unless the argument is a number that is not less than ``low``."""
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value < np.inf:
        what = "an integer" if integer else "a finite number"
        raise ParameterError(f"{caller}: `{name}` must be {what} >= {low}. Got {value!r}.")


def probabilities(p: Any, caller: str, name: str, axes: int = 1) -> np.ndarray:
    """Nonnegative numbers that add up to 1 along the last axis, or an error that names the argument."""
    array = numbers(p, caller, name)
    if array.ndim != axes or 0 in array.shape:
        kind = "a vector" if axes == 1 else "a matrix with a row for each state"
        raise ParameterError(f"{caller}: `{name}` must be {kind} of probabilities. Got shape {array.shape}.")
    sums = array.sum(axis=-1)
    if not (array >= 0).all() or (np.abs(sums - 1) > 1e-8).any():
        worst = float(np.atleast_1d(sums)[np.abs(np.atleast_1d(sums) - 1).argmax()])
        got = "a negative entry" if not (array >= 0).all() else f"the sum {worst:.6g}"
        where = "" if axes == 1 else " in each row"
        raise ParameterError(f"{caller}: `{name}` must be numbers >= 0 that add up to 1{where}. Got {got}.")
    return array


def simplex_scores(counts: np.ndarray, p: np.ndarray, parametrization: str) -> np.ndarray:
    r"""Scores of :math:`\sum_i c_i \log p_i` for counts, shape (n, k), of outcomes with probabilities p.

    Counts of outcomes of probability 0 are 0.
    """
    if parametrization == "softmax":
        return np.asarray(counts - counts.sum(axis=1, keepdims=True) * p)
    possible = p > 0
    raw = np.zeros_like(counts)
    raw[:, possible] = counts[:, possible] / p[possible]
    if parametrization == "tangent":
        raw[:, possible] -= raw[:, possible].mean(axis=1, keepdims=True)
    return raw
