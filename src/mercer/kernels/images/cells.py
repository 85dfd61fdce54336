"""What kernels on the histograms of images and of their cells share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ...algebra.nodes import Node
from ...arithmetic import Arithmetic
from ...domains import Data, Domain, Images, Vectors, meet
from ...engine.formulas import Term
from ...engine.program import Builder, Value
from ...errors import DomainError, ParameterError
from ...images import Histogram
from ...kernel import Kernel, Prepared
from ..histograms import ChiSquare

__all__ = ["DEFAULT", "OfCells"]

#: Kernel on histograms where none is said.
DEFAULT = ChiSquare().schoenberg(1.0)


def _takes_vectors(kernel: object) -> bool:
    if not isinstance(kernel, Kernel):
        return False
    try:
        meet(kernel.domain, Vectors())
    except DomainError:
        return False
    return True


class OfCells(Node):
    """Kernels made of the values of one kernel on the histograms of the cells of a quadtree.

    Cells are numbered as :meth:`mercer.images.Histogram.cells` does.
    """

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """The kernel on histograms."""

    @property
    @abstractmethod
    def histogram(self) -> Histogram:
        """The map from an image to its histogram."""

    @property
    @abstractmethod
    def _depth(self) -> int:
        """Depth of the quadtree; 0 is the image alone."""

    @abstractmethod
    def _combine(self, value: Callable[[int], Any]) -> Any:
        """The kernel from the values of its cells: numbers, arrays, or terms of the engine."""

    def _validate(self) -> None:
        if not _takes_vectors(self.kernel):
            raise ParameterError(
                f"{type(self).__name__}: `kernel` must be a kernel on histograms, such as Intersection(). "
                f"Got {self.kernel!r}."
            )

    @property
    def domain(self) -> Domain:
        return Images(channels=3, least=1 << self._depth)

    is_precise = False  # histograms are floats

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        domain, depth = self.kernel.domain, self._depth
        X, Y = (self.histogram.cells(image, depth) for image in (x, y))

        def value(cell: int) -> Any:
            a, b = domain.pair(X[cell], Y[cell])
            return self.kernel._define(domain.to_arithmetic(a, m), domain.to_arithmetic(b, m), m)

        return self._of_pair(value, m)

    def _of_pair(self, value: Callable[[int], Any], m: Arithmetic) -> Any:
        """The kernel from the values of its cells on one pair of images."""
        return self._combine(value)

    def _child_data(self, X: Data) -> Data:
        """Parameters that depend on data come from the histograms of whole images."""
        return self.kernel.domain.validate(self.histogram.of_cells(X, 0)[0], "the histograms of X")

    def _prepare(self, X: Data) -> Prepared:
        validate = self.kernel.domain.validate
        parts = self.histogram.of_cells(X, self._depth)
        return Prepared(tuple(self.kernel._prepare(validate(p, "the histograms of X")) for p in parts))

    def _cell_block(self, X: Prepared, Y: Prepared | None, cell: int) -> np.ndarray:
        return self.kernel._block(X.parts[cell], None if Y is None else Y.parts[cell])

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        return np.asarray(self._combine(lambda cell: self._cell_block(X, Y, cell)))

    def _compile(self, b: Builder, X: Prepared, Y: Prepared | None) -> Value | None:
        def value(cell: int) -> Term:
            return Term(b, b.kernel(self.kernel, X.parts[cell], None if Y is None else Y.parts[cell]))

        found: Term = self._combine(value)
        return found.value

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.asarray(self._combine(lambda cell: self.kernel._diagonal(X.parts[cell])))
