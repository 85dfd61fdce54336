"""Kernels on finite sets of hashables, all functions of the measures of A, B and their intersection.

Blocks are products of sparse indicator matrices.  ``weights`` maps elements to numbers >= 0; elements that it
does not list have measure 0.  Without it every element counts 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status
from ..domains import Data, Domain, Sets
from ..domains.measures import Subsets
from ..errors import InputError, ParameterError
from ..intervals import NONNEGATIVE, Interval
from ..kernel import Gradient, Kernel
from ..parameters import parameter
from .weights import Indicators, Measure

__all__ = ["CommonSubsets", "Jaccard", "SetIntersection", "SymmetricDifference"]


TRIANGULAR = (
    "u^|A & B| = sum over S within A & B of (u - 1)^|S| with u > 1, and the matrix [S within A] of distinct "
    "sets is triangular with unit diagonal"
)


class Counting(Kernel):
    """Functions of ``mu(A & B)``, ``mu(A)`` and ``mu(B)``."""

    @property
    def domain(self) -> Domain:
        return Subsets(frozenset(self._measure or ())) if self._is_closed else Sets()

    @property
    def _is_closed(self) -> bool:
        """Whether every element must have a weight."""
        return bool(getattr(self, "closed", False))

    @property
    def _measure(self) -> Measure | None:
        """The measure, or None for counting."""
        measure: Measure | None = getattr(self, "weights", None)
        return measure

    def _validate(self) -> None:
        weights = getattr(self, "weights", None)
        if weights is not None:
            object.__setattr__(self, "weights", Measure(weights, type(self).__name__))
        elif self._is_closed:
            raise ParameterError(f"{type(self).__name__}: `closed=True` needs `weights`.")

    @property
    def _separates_sets(self) -> bool:
        """Whether the weights tell distinct sets apart: none is 0, and every element has one."""
        return self._is_closed and all(w > 0 for w in (self._measure or {}).values())

    def _mu(self, elements: Iterable[Any], m: Arithmetic) -> Any:
        measure = self._measure
        if measure is None:
            return m.real(sum(1 for _ in elements))
        return m.fsum([m.real(measure.get(e, 0.0)) for e in elements])

    def _prepare(self, X: Data) -> Indicators:
        return Indicators.of(X, self._measure)

    def _block(self, X: Indicators, Y: Indicators | None) -> np.ndarray:
        return self._map(X.common(Y), X.totals[:, None], (X if Y is None else Y).totals[None, :])

    def _diagonal(self, X: Indicators) -> np.ndarray:
        return self._map(X.totals.copy(), X.totals, X.totals)

    def _map(self, common: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Values from the measures of intersections (fresh) and of the sets."""
        raise TypeError(f"{type(self).__name__} must define _map")


class SetIntersection(Counting):
    r"""Measure of the intersection of two sets.

    .. math:: k(A, B) = \mu(A \cap B)

    Positive definite: the inner product of the indicator functions in :math:`L^2(\mu)`.  With weights of
    words it compares documents as sets of words.  Block cost: a sparse matrix product.

    Parameters
    ----------
    weights : mapping from elements to numbers >= 0, optional
        The measure :math:`\mu`; elements not listed have measure 0.  By default elements are counted.

    Examples
    --------
    >>> SetIntersection()({"a", "b", "c"}, {"b", "c", "d"})
    2.0
    >>> SetIntersection({"the": 0.1, "kernel": 3.0})({"the", "kernel"}, {"a", "kernel"})
    3.0
    """

    weights: Mapping[Any, float] | None = None

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self._mu(x & y, m)

    def _map(self, common: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return common

    def _embedding(self, X: Indicators, like: Indicators | None = None) -> Any:
        other = X if like is None else like
        return X.coded_like(other).multiply(np.sqrt(other.weights)).tocsr()

    def _feature_names(self, X: Indicators) -> list[str]:
        return [e if isinstance(e, str) else repr(e) for e in X.vocabulary.elements] or [""]

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "explicit features", "the inner product of indicators in L2(mu)")

    @property
    def bounds(self) -> Interval:
        if self.weights is None:
            return NONNEGATIVE
        return Interval(0.0, Interval.about(math.fsum(self.weights.values())).high)


class CommonSubsets(Counting):
    r"""Number of common subsets of two sets.

    .. math:: k(A, B) = 2^{|A \cap B|}

    Strictly positive definite on finite sets: :math:`2^{|A \cap B|} = \sum_S [S \subseteq A][S \subseteq B]`,
    and for distinct sets, ordered by size, the matrix :math:`[A_j \subseteq A_i]` of their features is
    triangular with unit diagonal.  Infinitely divisible.  Normalised it is
    ``SymmetricDifference(log(2) / 2)``, which does not overflow.  Block cost: a sparse matrix product.

    Examples
    --------
    >>> CommonSubsets()({1, 2, 3}, {2, 3, 4})  # {}, {2}, {3}, {2, 3}
    4.0
    """

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        self._check(len(x & y))
        return m.real(2) ** len(x & y)

    def _map(self, common: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        self._check(int(common.max(initial=0.0)))
        return np.asarray(np.exp2(common))

    def _check(self, common: int) -> None:
        largest = 1023  # 2^n is infinite in double precision beyond this n
        if common > largest:
            raise InputError(
                f"CommonSubsets: X must have intersections of at most {largest} elements, for 2^n "
                f"overflows. Got {common}. SymmetricDifference(log(2) / 2) is this kernel normalised."
            )

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "unitriangular features", TRIANGULAR, strict=True)

    def _infinitely_divisible(self) -> Claim:
        return Claim(
            Property.NEGATIVE,
            Status.PROVED,
            f"-log {self!r}",
            "negation",
            "-|A & B| log 2 is minus a PSD kernel",
        )

    bounds = Interval(1.0, math.inf)

    @property
    def diagonal_bounds(self) -> Interval:
        return self.bounds


class SymmetricDifference(Counting):
    r"""Exponential of the measure of the symmetric difference.

    .. math:: k(A, B) = \exp(-s \, \mu(A \triangle B))

    Strictly positive definite on finite sets when elements are counted:
    :math:`e^{-s|A|} (e^{2s})^{|A \cap B|} e^{-s|B|}`, and :math:`u^{|A \cap B|}` with :math:`u > 1` has
    unitriangular features, as in :class:`CommonSubsets`.  With positive weights and
    ``closed=True`` too: it is the tensor product over the elements of the strict kernels
    :math:`[[1, q], [q, 1]]` with :math:`q = e^{-s w} < 1` on {out, in}.  With other weights positive definite
    (Schoenberg): sets that differ by elements of measure 0 are not told apart.  Infinitely divisible.  Block
    cost: a sparse matrix product.

    Parameters
    ----------
    scale : float, default=0.5
        The factor s, > 0.
    weights : mapping from elements to numbers >= 0, optional
        The measure :math:`\mu`; elements not listed have measure 0.  By default elements are counted.
    closed : bool, default=False
        Whether sets may hold only elements that have a weight; any other is then an error.

    Examples
    --------
    >>> SymmetricDifference()({1, 2, 3}, {2, 3, 4})
    0.36787944117144233
    """

    scale: float = parameter(default=0.5, low=0.0, open_low=True, scale="log")
    weights: Mapping[Any, float] | None = None
    closed: bool = False

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return m.exp(-m.real(self.scale) * self._mu(x ^ y, m))

    def _map(self, common: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(-self.scale * difference(common, a, b))

    def _gradient(self, X: Indicators, Y: Indicators | None) -> tuple[np.ndarray, Gradient]:
        exponents = self.scale * difference(
            X.common(Y), X.totals[:, None], (X if Y is None else Y).totals[None, :]
        )
        K = np.exp(-exponents)
        return K, {"scale": -exponents * K}

    def _diagonal_gradient(self, X: Indicators) -> tuple[np.ndarray, Gradient]:
        return np.ones(len(X)), {"scale": np.zeros(len(X))}

    def _certify(self) -> Certificate:
        if self.weights is None:
            return Certificate.psd(self, "unitriangular features", TRIANGULAR, strict=True)
        if not self._separates_sets:
            return Certificate.psd(
                self, "Schoenberg", "mu(A ^ B) is the squared L2(mu) distance of the indicator functions"
            )
        return Certificate.psd(
            self,
            "tensor product",
            "over the elements, of the strict kernels [[1, q], [q, 1]] with q = exp(-s w) < 1",
            strict=True,
        )

    def _infinitely_divisible(self) -> Claim:
        reason = "mu(A ^ B) is the squared L2(mu) distance of the indicator functions"
        return Claim(Property.NEGATIVE, Status.PROVED, f"-log {self!r}", "squared distance", reason)

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


class Jaccard(Counting):
    r"""Jaccard index of two sets.

    .. math:: k(A, B) = \frac{\mu(A \cap B)}{\mu(A \cup B)}, \qquad 0/0 = 1

    Two empty sets are equal, hence have k = 1.  Strictly positive definite on finite sets when elements are
    counted: :math:`1/|A \cup B| = \int_0^1 s^{|A \cup B| - 1} ds`, where :math:`s^{|A \cup B|} =
    s^{|A|} (1/s)^{|A \cap B|} s^{|B|}` is strictly positive definite, times :math:`|A \cap B|`, which has a
    positive diagonal off the empty set.  With positive weights and ``closed=True`` too:
    :math:`(1/s)^{\mu(A \cap B)}` is the tensor product over the elements of the strict kernels
    :math:`[[1, 1], [1, u]]` with :math:`u = (1/s)^w > 1`.  With other weights positive definite.  Block cost:
    a sparse matrix product.

    Parameters
    ----------
    weights : mapping from elements to numbers >= 0, optional
        The measure :math:`\mu`; elements not listed have measure 0.  By default elements are counted.
    closed : bool, default=False
        Whether sets may hold only elements that have a weight; any other is then an error.

    Examples
    --------
    >>> Jaccard()({1, 2, 3}, {2, 3, 4})
    0.5
    >>> Jaccard()(set(), set())
    1.0
    """

    weights: Mapping[Any, float] | None = None
    closed: bool = False

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        union = self._mu(x | y, m)
        return m.real(1) if union == 0 else self._mu(x & y, m) / union

    def _map(self, common: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        union = a + b - common
        null = union <= 0  # only if mu(A) = mu(B) = 0, and then it is an exact zero
        union[null] = common[null] = 1.0
        common /= union
        return np.asarray(np.minimum(common, 1.0, out=common))

    def _certify(self) -> Certificate:
        if self.weights is None:
            reason = (
                "|A & B| times int_0^1 s^(|A | B| - 1) ds, whose integrand is strict; empty sets stand apart"
            )
            return Certificate.psd(self, "mixture of strict kernels", reason, strict=True)
        if not self._separates_sets:
            return Certificate.psd(
                self, "min-hash", "the probability that A and B have the same first element in a random order"
            )
        reason = (
            "mu(A & B) times int_0^1 s^(mu(A | B) - 1) ds, whose integrand is strict; empty sets stand apart"
        )
        return Certificate.psd(self, "mixture of strict kernels", reason, strict=True)

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


def difference(common: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the measures of symmetric differences."""
    return np.asarray(np.maximum(a + b - 2 * common, 0.0))
