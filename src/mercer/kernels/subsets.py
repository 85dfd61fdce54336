"""Kernels on subsets of a finite universe whose measure is one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate
from ..domains import Domain
from ..domains.measures import Subsets
from ..errors import ParameterError
from ..intervals import Interval
from ..parameters import parameter
from .sets import Counting, difference
from .weights import as_elements

__all__ = ["Agreement", "UnionComplement"]


class _WithinUniverse(Counting):
    """Kernels on subsets of a universe D whose measure is normalised to ``mu(D) = 1``."""

    universe: Iterable[Any]
    weights: Mapping[Any, float] | None = None

    def _validate(self) -> None:
        super()._validate()
        owner = type(self).__name__
        object.__setattr__(self, "universe", as_elements(owner, "universe", self.universe))
        if not self._total > 0:
            raise ParameterError(f"{owner}: `universe` must have a positive measure. Got {self._total:g}.")

    @property
    def _total(self) -> float:
        if self.weights is None:
            return float(sum(1 for _ in self.universe))
        return math.fsum(self.weights.get(e, 0.0) for e in self.universe)

    @property
    def domain(self) -> Domain:
        return Subsets(frozenset(self.universe))

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, 1.0)


class UnionComplement(_WithinUniverse):
    r"""Measure of what lies outside of two sets.

    .. math:: k(A, B) = \mu((D \setminus A) \cap (D \setminus B)) = 1 - \mu(A \cup B), \qquad \mu(D) = 1

    Positive definite: the intersection kernel of the complements.  Sets have to be subsets of the universe.
    Block cost: a sparse matrix product.

    Parameters
    ----------
    universe : collection of hashables
        The finite set D.
    weights : mapping from elements to numbers >= 0, optional
        A measure on D, which is divided by its total; elements not listed have measure 0.

    Examples
    --------
    >>> UnionComplement(range(8))({1, 2}, {2, 3})
    0.625
    """

    universe: Iterable[Any]
    weights: Mapping[Any, float] | None = None

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self._mu([e for e in self.universe if e not in x and e not in y], m) / self._mu(
            self.universe, m
        )

    def _map(self, common: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        total = self._total
        return np.asarray(np.maximum(total - (a + b - common), 0.0) / total)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self, "explicit features", "the inner product of the indicator functions of the complements"
        )


class Agreement(_WithinUniverse):
    r"""Measure of where two sets agree.

    .. math:: k(A, B) = 1 - \mu(A \triangle B), \qquad \mu(D) = 1

    Positive definite: the sum of the intersection and the union complement kernels.  With ``signed`` it is
    :math:`\tfrac12 - \mu(A \triangle B)`, half the inner product of the indicators with values 1 and -1, and
    positive definite too.  Sets have to be subsets of the universe.  Block cost: a sparse matrix product.

    Parameters
    ----------
    universe : collection of hashables
        The finite set D.
    weights : mapping from elements to numbers >= 0, optional
        A measure on D, which is divided by its total; elements not listed have measure 0.
    signed : bool, default=False
        Whether to subtract 1/2.

    Examples
    --------
    >>> Agreement(range(8))({1, 2}, {2, 3})
    0.75
    >>> Agreement(range(8), signed=True)({1, 2}, {2, 3})
    0.25
    """

    universe: Iterable[Any]
    weights: Mapping[Any, float] | None = None
    signed: bool = parameter(default=False, choices=(False, True))

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        agree = self._mu([e for e in self.universe if (e in x) == (e in y)], m) / self._mu(self.universe, m)
        return agree - m.real(0.5) if self.signed else agree

    def _map(self, common: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        total = self._total
        agree = np.maximum(total - difference(common, a, b), 0.0) / total
        return np.asarray(agree - 0.5 if self.signed else agree)

    def _certify(self) -> Certificate:
        if self.signed:
            return Certificate.psd(
                self, "explicit features", "half the inner product of the indicators with values 1 and -1"
            )
        return Certificate.psd(
            self, "sum", "the intersection kernel of the sets plus that of their complements"
        )

    @property
    def bounds(self) -> Interval:
        return Interval(-0.5, 0.5) if self.signed else Interval(0.0, 1.0)

    @property
    def diagonal_bounds(self) -> Interval:
        value = 0.5 if self.signed else 1.0
        return Interval(value, value)
