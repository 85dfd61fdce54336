"""What the machines share whose norm has a further penalty along a graph of all points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from ... import memory
from ...algebra import WarpedKernel
from ...domains import Data, take
from ...errors import DefinitenessError, InputError
from ...gram import PointGram
from ...gram.kernel_gram import gram_of_points
from ...graphs.laplacians import laplacian
from ...graphs.similarity import affinity
from ...parameters import Checks, check_number
from ..arguments import read_weight
from ..base import KernelMachine, len_of
from ..indefinite import screen
from ..translation import KernelLike

__all__ = ["LaplacianMachine", "Rows"]

Vector = NDArray[np.float64]


class Rows(NamedTuple):
    """What is left of the input: rows of positive weight."""

    points: Data
    kept: NDArray[np.intp]
    weight: Vector | None  # None if all are 1
    total: int  # rows of the input

    def of(self, chosen: NDArray[np.intp]) -> Vector:
        """Weights of some rows."""
        return np.ones(len(chosen)) if self.weight is None else self.weight[chosen]


class Graph(NamedTuple):
    """The graph of the training points, by the kernel that weighs its edges."""

    gram: PointGram
    n_neighbors: int | None
    weight: Vector | None
    normalized: bool

    def laplacian(self) -> Any:
        """The Laplacian, dense or sparse."""
        A = affinity(self.gram, self.n_neighbors, self.weight)
        return laplacian(A, normalized=self.normalized, weight=self.weight)


class LaplacianMachine(KernelMachine):
    """Base of the machines whose norm has the further penalty ``f' L f`` of a graph on all points."""

    smoothness: float
    graph_kernel: KernelLike | None
    n_neighbors: int | None
    normalized: bool
    indefinite: str

    _checks: ClassVar[Checks] = {
        "smoothness": partial(check_number, requirement="a finite number >= 0", least=0.0)
    }

    def _rows(self, X: Any, sample_weight: Any) -> Rows:
        if self.graph_kernel is not None:
            self._checked_kernel("graph_kernel")
        points = self._validate_X(X, reset=True)
        n = len_of(points)
        weight = read_weight(type(self).__name__, sample_weight, n)
        if weight is None or weight.all():
            return Rows(points, np.arange(n), weight, n)
        kept = np.flatnonzero(weight)  # a row of weight zero is as if absent, also from the graph
        return Rows(take(points, kept), kept, weight[kept], n)

    def _matrices(self, rows: Rows, ratio: float) -> Vector:
        """Resolve the kernels, and make the Laplacian and the Gram matrix, which is returned."""
        name = type(self).__name__
        self.kernel_ = self._checked_kernel().resolve(rows.points, rows.weight)
        graph_kernel = self._checked_kernel("kernel" if self.graph_kernel is None else "graph_kernel")
        self.graph_kernel_ = graph_kernel.resolve(rows.points, rows.weight)
        self.gram_ = screen(gram_of_points(self.kernel_, rows.points), self.indefinite, name)
        n = len(self.gram_)
        memory.require(5 * 8 * n * n, f"{name} on {n} points", "Use fewer unlabelled points.")
        self._graph = Graph(
            gram_of_points(self.graph_kernel_, rows.points),
            self.n_neighbors,
            rows.weight,
            bool(self.normalized),
        )
        self.laplacian_ = self._graph.laplacian()
        self._ratio = ratio
        return np.asarray(self.gram_._in_double().dense(), dtype=np.float64)

    @contextmanager
    def _told_if_singular(self) -> Iterator[None]:
        try:
            yield
        except linalg.LinAlgError as error:
            raise DefinitenessError(
                f"{type(self).__name__}: {error}; {self.kernel_!r} is not positive definite on these data. "
                "Repair it with indefinite='clip', 'flip' or 'shift'."
            ) from error

    @cached_property
    def laplacian_(self) -> Any:
        """Laplacian of the graph; a loaded model computes it again when asked."""
        self._check_fitted()
        return self._graph.laplacian()

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "laplacian_"}  # n^2 numbers

    @property
    def warped_kernel_(self) -> WarpedKernel:
        """The warped kernel, for use in other machines; it is made anew each time, in O(n^3)."""
        self._check_fitted()
        points = getattr(self.gram_, "_X", None)
        if points is None:
            raise InputError(
                f"{type(self).__name__}: the Gram matrix was repaired, and no kernel has its values."
            )
        return WarpedKernel(self.kernel_, points, self._ratio * self.laplacian_)
