"""Gram matrices of a kernel on points, wherever their values come from."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ..domains import Data, Similarities, TupleColumns, items, size, take
from ..domains.frames import FrameData, Part
from ..engine import tiles
from ..errors import InputError
from ..kernel import Kernel
from .base import Gram
from .indexing import positions
from .witnesses import error_allowance

__all__ = ["PointGram", "is_single", "widened"]

#: Points among which symmetry is tested, every pair in both orders, where values are not compiled.
FEW_POINTS = 8

#: Pairs that differ most in their two orders and are computed again with more digits.
MOST_PAIRS = 5


class PointGram(Gram):
    """Gram matrix of a kernel between two sets of validated points."""

    _X: Data  # points of the rows
    _rows: Data  # the same, prepared
    _columns: tuple[Data, Data] | None  # points of the columns and these prepared; None if symmetric

    def __init__(self, kernel: Kernel, X: Data, Y: Data | None = None) -> None:
        self.kernel = kernel
        self._setup(X, None if Y is None else (Y, kernel._prepare(self._cast(Y))))

    def _setup(self, X: Data, columns: tuple[Data, Data] | None) -> None:
        """Keep validated points and prepared data of the rows, and (data, prepared) of the columns."""
        self._X, self._rows = X, self.kernel._prepare(self._cast(X))
        self._columns = columns
        self.shape = (size(X), size(X if columns is None else columns[0]))

    @abstractmethod
    def _cast(self, X: Data) -> Data:
        """Points in the precision of the computation."""

    @abstractmethod
    def _like(self, X: Data, columns: tuple[Data, Data] | None) -> PointGram:
        """Another matrix of the same kernel and kind, on validated points."""

    @property
    def is_symmetric(self) -> bool:
        """Whether rows and columns are the same points."""
        return self._columns is None

    @property
    def _column_data(self) -> Data:
        """Prepared data of the columns."""
        return self._rows if self._columns is None else self._columns[1]

    def _selected(self, index: np.ndarray) -> PointGram:
        return self._like(take(self._X, index), None)

    def _cross(self, Z: Data) -> PointGram:
        data = self._X if self._columns is None else self._columns[0]
        self.kernel.domain.match(Z, data)
        return self._like(Z, (data, self._column_data))

    def _self(self, Z: Any) -> np.ndarray:
        if isinstance(self.kernel.domain, Similarities):
            raise InputError(
                "a precomputed matrix between new and training points does not contain the new points' "
                "values with themselves, which distances and normalising need. Normalise it beforehand."
            )
        return self.kernel.diagonal(Z)

    def _points(self, index: np.ndarray) -> list[Any]:
        if isinstance(self.kernel.domain, Similarities):
            return [int(i) for i in positions(index)]
        return list(items(take(self._X, index)))

    def _scale(self) -> float:
        return 0.0

    def _asymmetry(self, points: int) -> tuple[float, np.ndarray]:
        index = np.arange(self.shape[0])
        points = points if self._is_compiled else min(points, FEW_POINTS)
        if len(index) > points:
            index = np.random.default_rng(0).choice(index, points, replace=False)
        part = take(self._rows, index)

        def tile(r: slice, c: slice) -> np.ndarray:
            return self.kernel._block(take(part, r), take(part, c))

        F = tiles.run(tile, len(index), len(index), dtype=self.dtype, progress=True)
        gaps = np.triu(np.abs(F - F.T))
        worst = np.argsort(-gaps, axis=None, kind="stable")[:MOST_PAIRS]
        return float(gaps.max(initial=0.0)), index[np.stack(np.unravel_index(worst, gaps.shape), axis=1)]

    def _value_error(self, index: np.ndarray) -> float:
        if isinstance(self.kernel.domain, Similarities):
            return 0.0
        values = self._values(index, index).astype(np.float64)
        return float(error_allowance(self.kernel, self._points(index), values).max(initial=0.0))


def is_single(data: Data) -> bool:
    """Whether validated data hold single-precision numbers."""
    if isinstance(data, TupleColumns):
        return any(map(is_single, data.parts))
    if isinstance(data, FrameData):
        return any(is_single(part.data) for part in data.parts.values())
    return bool(getattr(data, "dtype", None) == np.float32)


def widened(data: Data) -> Data:
    """Validated data with single-precision numbers converted to double precision."""
    if isinstance(data, TupleColumns):
        return TupleColumns(tuple(map(widened, data.parts)))
    if isinstance(data, FrameData):
        parts = {c: Part(widened(part.data), part.position) for c, part in data.parts.items()}
        return FrameData(parts, data.n)
    return data.astype(np.float64) if is_single(data) else data
