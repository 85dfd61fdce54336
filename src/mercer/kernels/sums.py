"""Kernels of a sum over the features: their shared shape."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.simple import SimpleKernel
from ..arithmetic import Arithmetic
from ..domains import Data
from ..engine import pairwise
from ..engine.program import Builder, Value

__all__ = ["Summed"]


class Summed(SimpleKernel):
    """Kernels of a sum over the features, of a kind that the engine has.

    Subclasses name the sum and give a term of it; the kernel is the sum itself unless they have a formula.
    """

    if TYPE_CHECKING:

        @property
        def _sum(self) -> str:
            """Function of :mod:`mercer.engine.pairwise`, and method of the builder, on prepared data."""

    @abstractmethod
    def _term(self, a: Any, b: Any, m: Arithmetic) -> Any:
        """A term of the sum, from the entries of two points as they are given."""

    def formula(self, t: Any, m: Arithmetic) -> Any:
        return t

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        return (m.fsum(self._term(a, b, m) for a, b in zip(x, y, strict=True)),)

    def _pairs(self, X: Data, Y: Data | None) -> tuple[np.ndarray]:
        return (getattr(pairwise, self._sum)(X, Y),)

    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value]:
        return (getattr(b, self._sum)(X, Y),)
