"""Centred and normalised Gram matrices; both extend to new points."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..domains import Data
from ..errors import InputError
from .base import Gram
from .indexing import Selection

__all__ = ["CenteredGram", "NormalizedGram"]


class _Derived(Gram):
    """A Gram matrix made entry by entry from another and from one number per row and per column."""

    def __init__(self, base: Gram) -> None:
        self.base = base
        self.kernel = base.kernel
        self.shape = base.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self.base.dtype

    @property
    def is_symmetric(self) -> bool:
        """Whether rows and columns are the same points."""
        return self.base.is_symmetric

    @property
    def _eps(self) -> float:
        return self.base._eps

    def _points(self, index: np.ndarray) -> list[Any]:
        return self.base._points(index)


class CenteredGram(_Derived):
    r"""Gram matrix centred in feature space: ``K.center()``.

    .. math:: K_{ij} - \mu_i - \mu_j + \mu, \qquad \mu_i = \tfrac1n \sum_l K_{il}

    with the means over the training points.  ``cross(Z)`` subtracts the same mean from new points:
    :math:`k(z, x_j) - \tfrac1n \sum_l k(z, x_l) - \mu_j + \mu`.
    """

    def __init__(self, base: Gram) -> None:
        base._require_symmetric("center")
        if base.shape[0] == 0:
            raise InputError("Gram.center needs at least one point.")
        super().__init__(base)
        self._column_means = base._product(np.full(base.shape[0], 1.0 / base.shape[0]), progress=True)
        self._mean = float(self._column_means.mean())
        self._row_means = self._column_means

    def _values(self, rows: Selection, cols: Selection, progress: bool = False) -> np.ndarray:
        values = self.base._values(rows, cols, progress)
        values -= (self._row_means[rows, None] + (self._column_means[cols] - self._mean)).astype(values.dtype)
        return values

    def diagonal(self) -> np.ndarray:
        """Squared distances of the points from their mean."""
        return np.asarray(self.base.diagonal() - 2 * self._row_means + self._mean).astype(self.dtype)

    def _cross(self, Z: Data) -> CenteredGram:
        rows = self.base._cross(Z)
        n = rows.shape[1]
        result = object.__new__(CenteredGram)
        _Derived.__init__(result, rows)
        result._column_means, result._mean = self._column_means, self._mean
        result._row_means = rows._product(np.full(n, 1.0 / n), progress=True)
        return result

    def _self(self, Z: Any) -> np.ndarray:
        means = self.base._cross(Z)._product(np.full(self.shape[1], 1.0 / self.shape[1]))
        return np.asarray(self.base._self(Z) - 2 * means + self._mean)

    def _scale(self) -> float:
        return max(self.base._scale(), float(np.abs(self.base.diagonal()).max()), abs(self._mean))

    def _value_error(self, index: np.ndarray) -> float:
        return 4 * self.base._value_error(index)


class NormalizedGram(_Derived):
    r"""Gram matrix of cosines: ``K.normalize()``.

    .. math:: K_{ij} / \sqrt{K_{ii} K_{jj}}

    and 0 where :math:`K_{ii} = 0` or :math:`K_{jj} = 0`.  A negative diagonal entry is an error.
    ``cross(Z)`` divides new points by their own norms.
    """

    def __init__(self, base: Gram) -> None:
        base._require_symmetric("normalize")
        super().__init__(base)
        self._column_factors = _inverse_norms(base.diagonal(), base)
        self._row_factors = self._column_factors

    def _values(self, rows: Selection, cols: Selection, progress: bool = False) -> np.ndarray:
        values = self.base._values(rows, cols, progress)
        s, t = self._row_factors[rows], self._column_factors[cols]
        values *= (s[:, None] * t).astype(values.dtype)
        if self.is_symmetric and isinstance(rows, slice) and isinstance(cols, slice) and rows == cols:
            np.fill_diagonal(values, np.where(s > 0, 1.0, 0.0))
        return values

    def diagonal(self) -> np.ndarray:
        """Ones, and zeros for points of norm zero."""
        self._require_symmetric("diagonal")
        return np.where(self._row_factors > 0, 1.0, 0.0).astype(self.dtype)

    def _cross(self, Z: Data) -> NormalizedGram:
        result = object.__new__(NormalizedGram)
        _Derived.__init__(result, self.base._cross(Z))
        result._column_factors = self._column_factors
        result._row_factors = _inverse_norms(self.base._self(Z), self.base)
        return result

    def _self(self, Z: Any) -> np.ndarray:
        return np.where(_inverse_norms(self.base._self(Z), self.base) > 0, 1.0, 0.0)

    @cached_property
    def _amplification(self) -> float:
        """How much dividing by small norms magnifies rounding."""
        return float(self._row_factors.max(initial=0.0)) ** 2

    def _scale(self) -> float:
        return max(1.0, self.base._scale() * self._amplification)

    def _value_error(self, index: np.ndarray) -> float:
        return self._amplification * self.base._value_error(index)


def _inverse_norms(diagonal: np.ndarray, base: Gram) -> np.ndarray:
    """``1 / sqrt(K_ii)``, with 0 for points whose norm is zero, or no more than the rounding of ``base``."""
    d = diagonal.astype(np.float64)
    rounding = 64 * base._eps * base._scale()
    if (d < -rounding).any():
        row = int(np.flatnonzero(d < -rounding)[0])
        raise InputError(
            f"Gram.normalize needs K_ii >= 0. Got {d[row]:.6g} at point {row}: the kernel is not positive "
            "definite. Repair the matrix first."
        )
    factors = np.zeros_like(d)
    np.divide(1.0, np.sqrt(np.abs(d)), out=factors, where=d > rounding)
    return factors
