"""What the kernels share that sum over all subsequences or alignments: their values may exceed any float."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...domains import Domain, EncodedSequences, Sequences
from ...engine.alignments import Pairs, Scaled
from ...intervals import NONNEGATIVE, Interval
from ...kernel import Kernel

__all__ = ["ScaledKernel"]


class ScaledKernel(Kernel):
    """Kernels on sequences whose values come as ``m * 2 ** e``.

    Plain values that exceed every float are an error that says so; :meth:`log_block` and ``normalized()``
    give numbers at any length.
    """

    _scaled: ClassVar[bool] = True

    @property
    def domain(self) -> Domain:
        return Sequences()

    def _values(self, pairs: Pairs) -> Scaled:
        """Values of pairs of sequences."""
        raise TypeError(f"{type(self).__name__} must define _values")

    def log_block(self, X: Any, Y: Any = None) -> np.ndarray:
        """Natural logarithms of the values ``k(X[i], Y[j])``, at any length; minus infinity where k is 0.

        The logarithm of a positive definite kernel is in general not positive definite.
        """
        m, e = self._scaled_block(*self._prepare_pair(X, Y))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(m) + e * np.log(2.0))

    def _block(self, X: EncodedSequences, Y: EncodedSequences | None) -> np.ndarray:
        return _floats(self._scaled_block(X, Y))

    def _diagonal(self, X: EncodedSequences) -> np.ndarray:
        return self._finite(_floats(self._scaled_diagonal(X))[:, None], slice(0, None), slice(0, None))[:, 0]

    def _scaled_block(self, X: EncodedSequences, Y: EncodedSequences | None) -> Scaled:
        pairs = Pairs.block(X, Y)
        m, e = self._values(pairs)
        return pairs.matrix(m), pairs.matrix(e)

    def _scaled_diagonal(self, X: EncodedSequences) -> Scaled:
        pairs = Pairs.diagonal(X)
        m, e = self._values(pairs)
        return pairs.vector(m), pairs.vector(e)

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE


def _floats(values: Scaled) -> np.ndarray:
    m, e = values
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(m, e.astype(np.intc)))
