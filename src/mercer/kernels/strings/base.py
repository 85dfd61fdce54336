"""What the kernels on pairs of strings share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...domains import Domain, EncodedSequences, Sequences
from ...engine.string_pairs import Pairs, Scaled
from ...engine.tiles import PAIRWISE_TILE_SIZE
from ...intervals import NONNEGATIVE
from ...kernel import Kernel

__all__ = ["PairKernel", "ScaledKernel"]


class PairKernel(Kernel):
    """Kernels on sequences whose values are computed pair by pair in native code."""

    _always_double: ClassVar[bool] = True
    _tile_size = PAIRWISE_TILE_SIZE

    @property
    def domain(self) -> Domain:
        return Sequences()

    bounds = NONNEGATIVE

    def _values(self, pairs: Pairs) -> np.ndarray:
        """Values of pairs of sequences."""
        raise TypeError(f"{type(self).__name__} must define _values")

    def _block(self, X: EncodedSequences, Y: EncodedSequences | None) -> np.ndarray:
        pairs = Pairs.block(X, Y)
        return pairs.matrix(self._values(pairs))

    def _diagonal(self, X: EncodedSequences) -> np.ndarray:
        pairs = Pairs.diagonal(X)
        return pairs.vector(self._values(pairs))


class ScaledKernel(PairKernel):
    """Those that sum over all subsequences or alignments: values come as ``m * 2 ** e``.

    Plain values that exceed every float are an error that says so; :meth:`log_block` and ``normalized()``
    give numbers at any length.
    """

    _scaled: ClassVar[bool] = True

    def _scaled_values(self, pairs: Pairs) -> Scaled:
        """Values of pairs of sequences, scaled."""
        raise TypeError(f"{type(self).__name__} must define _scaled_values")

    def log_block(self, X: Any, Y: Any = None) -> np.ndarray:
        """Natural logarithms of the values ``k(X[i], Y[j])``, at any length; minus infinity where k is 0.

        The logarithm of a positive definite kernel is in general not positive definite.
        """
        m, e = self._scaled_block(*self._prepare_pair(X, Y))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(m) + e * np.log(2.0))

    def _values(self, pairs: Pairs) -> np.ndarray:
        m, e = self._scaled_values(pairs)
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(m, e.astype(np.intc)))

    def _diagonal(self, X: EncodedSequences) -> np.ndarray:
        d = super()._diagonal(X)
        return self._finite(d[:, None], slice(0, None), slice(0, None))[:, 0]

    def _scaled_block(self, X: EncodedSequences, Y: EncodedSequences | None) -> Scaled:
        pairs = Pairs.block(X, Y)
        m, e = self._scaled_values(pairs)
        return pairs.matrix(m), pairs.matrix(e)

    def _scaled_diagonal(self, X: EncodedSequences) -> Scaled:
        pairs = Pairs.diagonal(X)
        m, e = self._scaled_values(pairs)
        return pairs.vector(m), pairs.vector(e)
