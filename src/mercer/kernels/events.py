"""Kernels on events: by the probabilities of outcomes, or by sampled outcomes.

Sampled kernels average products of 0/1 features over N draws that are fixed with the kernel, so they are
positive definite themselves, whatever N.  How far they are from the exact kernel is told by
:func:`mercer.guarantees.sampled_kernel_deviation`, and the N to ask for by
:func:`mercer.guarantees.sampled_kernel_size`, both with ``bound=1``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Data, Domain, Objects, items
from ..domains.measures import Subsets
from ..engine import pairwise
from ..errors import InputError, ParameterError
from ..intervals import Interval
from ..kernel import Kernel
from ..parameters import parameter
from .weights import Indicators, Measure

__all__ = ["BooleanFunctions", "EventCovariance", "SampledIntersection"]


class EventCovariance(Kernel):
    r"""Covariance of two events.

    .. math:: k(U, V) = P[U \cap V] - P[U] \, P[V]

    Positive definite: the inner product of the centred indicators :math:`1_U - P[U]` in L2(P).  Events are
    sets of outcomes; the impossible and the sure event have k = 0 with everything.  Block cost: a sparse
    matrix product.

    Parameters
    ----------
    probability : mapping from outcomes to numbers >= 0
        Sums to one within 1e-9; it is divided by its sum.

    Examples
    --------
    >>> die = EventCovariance({face: 1 / 6 for face in range(1, 7)})
    >>> round(die({2, 4, 6}, {4, 5, 6}), 12)  # 1/3 - 1/4
    0.083333333333
    """

    probability: Mapping[Any, float]

    def _validate(self) -> None:
        measure = Measure(self.probability, "EventCovariance", "probability")
        total = math.fsum(measure.values())
        if abs(total - 1.0) > 1e-9:
            raise ParameterError(f"EventCovariance: `probability` must sum to 1. Got {total!r}.")
        object.__setattr__(self, "probability", measure)

    @property
    def domain(self) -> Domain:
        return Subsets(frozenset(self.probability))

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        total = m.fsum([m.real(p) for p in self.probability.values()])

        def P(event: Iterable[Any]) -> Any:
            return m.fsum([m.real(self.probability[outcome]) for outcome in event]) / total

        return P(x & y) - P(x) * P(y)

    def _prepare(self, X: Data) -> Indicators:
        total = math.fsum(self.probability.values())
        normalised = {outcome: p / total for outcome, p in self.probability.items()}
        return Indicators.of(X, Measure(normalised))

    def _block(self, X: Indicators, Y: Indicators | None) -> np.ndarray:
        return np.asarray(X.common(Y) - np.outer(X.totals, (X if Y is None else Y).totals))

    def _diagonal(self, X: Indicators) -> np.ndarray:
        return np.asarray(X.totals - X.totals**2)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "covariance", "the inner product of the centred indicators 1_U - P[U] in L2(P)"
        )

    bounds = Interval(-0.25, 0.25)

    diagonal_bounds = Interval(0.0, 0.25)


class _Sampled(Kernel):
    """Means of products of 0/1 features over fixed draws."""

    @property
    def domain(self) -> Domain:
        return Objects()

    def _features(self, x: Any) -> np.ndarray:
        """Return the features of one point, 0 or 1, one per draw."""
        raise TypeError(f"{type(self).__name__} must define _features")

    def _mass(self) -> float:
        """Return the factor of the mean."""
        return 1.0

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        u, v = self._features(x), self._features(y)
        return m.real(self._mass()) * int(np.count_nonzero(u * v)) / m.real(len(u))

    def _prepare(self, X: Data) -> np.ndarray:
        return (
            np.array([self._features(x) for x in items(X)], dtype=np.float64) if len(X) else np.empty((0, 1))
        )

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        if len(X) == 0 or (Y is not None and len(Y) == 0):
            return np.zeros((len(X), len(X if Y is None else Y)))
        return np.asarray(self._mass() * pairwise.dot(X, Y) / X.shape[1])

    def _embedding(self, X: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
        return np.asarray(np.sqrt(self._mass() / X.shape[1]) * X)

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._mass() * X.sum(axis=1) / X.shape[1])

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "explicit features",
            "a mean over fixed draws, however many, of products of features",
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, self._mass())


class SampledIntersection(_Sampled):
    r"""Measure of the intersection of two sets, estimated from draws.

    .. math:: k(A, B) = \frac{\mu(D)}{N} \, \#\{i : z_i \in A \cap B\}, \qquad z_i \sim \mu / \mu(D)

    Positive definite for any draws: its features are the indicators of the sets at the draws.  Not strictly:
    sets that agree on the draws are not told apart.  Sets are objects that answer ``z in A``, or functions
    from a draw to a truth value, so that they may be infinite.  Block cost: one look at all draws per set,
    then a matrix product.

    Parameters
    ----------
    draws : sequence
        The points :math:`z_1, \dots, z_N`, at least one.  The rows of an array become tuples.
    total : float, default=1.0
        :math:`\mu(D)`, > 0.

    Examples
    --------
    >>> k = SampledIntersection(range(100))
    >>> k(range(0, 100, 2), range(0, 100, 3))  # multiples of 6
    0.17
    >>> k(lambda z: z < 50, range(25, 100))
    0.25
    """

    draws: Iterable[Any]
    total: float = parameter(default=1.0, low=0.0, open_low=True)

    def _validate(self) -> None:
        if isinstance(self.draws, str | bytes) or not isinstance(self.draws, Iterable):
            raise ParameterError(f"SampledIntersection: `draws` must be a sequence. Got {self.draws!r}.")
        if not isinstance(self.draws, range):
            object.__setattr__(self, "draws", tuple(map(_freeze, self.draws)))
        if not any(True for _ in self.draws):
            raise ParameterError("SampledIntersection: `draws` must hold at least one point.")

    def _features(self, x: Any) -> np.ndarray:
        if callable(x):
            return np.array([bool(x(z)) for z in self.draws])
        try:
            return np.array([z in x for z in self.draws])
        except TypeError as error:
            raise InputError(
                f"SampledIntersection: a set must be a function or answer `z in A`. Got {x!r}: {error}."
            ) from error

    def _mass(self) -> float:
        return self.total


class BooleanFunctions(_Sampled):
    r"""Kernel on Boolean functions, by random assignments.

    .. math:: k(f, g) = \frac1N \#\{i : f(z_i) \wedge g(z_i)\}, \qquad z_i \in \{0, 1\}^n \text{ uniform}

    the estimate of :math:`P[f \wedge g]`; with ``agreement`` that of :math:`P[f = g]`.  Positive definite for
    any draws: its features are the values of the functions.  Whether f has a satisfying assignment at all is
    NP-hard, so the exact kernel is out of reach for many variables.  Block cost: N calls of each function,
    then a matrix product.

    Parameters
    ----------
    n_variables : int
        Number of variables n, from 1 to 10,000.
    n_samples : int or None, default=1024
        Number of draws N, from 1 to 100,000, with n N up to 20,000,000; ``None`` takes all :math:`2^n`
        assignments, exactly, for n <= 20.
    random_state : int, default=0
        Seed of the draws.
    agreement : bool, default=False
        Whether to count assignments on which both functions are false, too.

    Examples
    --------
    >>> k = BooleanFunctions(3, n_samples=None)
    >>> k(lambda z: z[0], lambda z: z[0] or z[1])
    0.5
    >>> BooleanFunctions(3, n_samples=None, agreement=True)(lambda z: z[0], lambda z: not z[0])
    0.0
    """

    n_variables: int = parameter(low=1, high=10_000, integer=True)
    n_samples: int | None = 1024
    random_state: int = parameter(default=0, low=0, integer=True)
    agreement: bool = parameter(default=False, choices=(False, True))

    def _validate(self) -> None:
        n: Any = self.n_samples
        enumerable = 20  # variables of functions that may be compared on all assignments
        if n is None and self.n_variables > enumerable:
            raise ParameterError(
                f"BooleanFunctions: `n_variables` must be at most {enumerable} for `n_samples=None`, which "
                f"takes all assignments. Got {self.n_variables}."
            )
        # Random assignments, and bits of all of them together.
        most = min(100_000, 20_000_000 // self.n_variables)
        if n is not None and (isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= most):
            raise ParameterError(
                f"BooleanFunctions: `n_samples` must be an integer from 1 to {most:,} for "
                f"{self.n_variables:,} variables, or None. Got {n!r}."
            )

    @cached_property
    def assignments(self) -> tuple[tuple[int, ...], ...]:
        """The assignments on which functions are compared."""
        if self.n_samples is None:
            return tuple(itertools.product((0, 1), repeat=self.n_variables))
        rng = np.random.default_rng(self.random_state)
        return tuple(map(tuple, rng.integers(0, 2, size=(self.n_samples, self.n_variables)).tolist()))

    def _features(self, x: Any) -> np.ndarray:
        if not callable(x):
            raise InputError(f"BooleanFunctions: points must be functions of a tuple of bits. Got {x!r}.")
        return np.array([bool(x(z)) for z in self.assignments])

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        f, g = self._features(x), self._features(y)
        hits = f == g if self.agreement else f & g
        return m.real(int(np.count_nonzero(hits))) / m.real(len(f))

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        K = super()._block(X, Y)
        if self.agreement and K.size:
            K += super()._block(1.0 - X, None if Y is None else 1.0 - Y)
        return K

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return np.ones(len(X)) if self.agreement else super()._diagonal(X)


def _freeze(z: Any) -> Any:
    """Turn arrays and lists into tuples, which compare by value and can be elements of sets."""
    if isinstance(z, np.ndarray | np.generic):
        z = z.tolist()
    return tuple(map(_freeze, z)) if isinstance(z, list) else z
