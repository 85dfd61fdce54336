"""Tuples of points, and points known only through a matrix of similarities."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..digests import digest
from ..errors import DigestError, InputError
from .base import Data, Domain, items, size, take
from .numeric import check_numbers
from .vectors import check_finite

__all__ = ["MatrixRows", "Similarities", "TupleColumns", "Tuples"]

#: Asymmetry of a matrix of similarities, relative to its largest value, that may be rounding.
_ASYMMETRY = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-8}

#: Rows and columns that are compared at a time, so that they stay in the cache.
_TILE = 256


@dataclass(frozen=True, eq=False)
class TupleColumns:
    """Validated data of several components, stored component by component."""

    parts: tuple[Data, ...]

    def __len__(self) -> int:
        return size(self.parts[0])

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(zip(*(items(part) for part in self.parts), strict=True))

    def take(self, index: slice | np.ndarray) -> TupleColumns:
        """Select points."""
        return TupleColumns(tuple(take(part, index) for part in self.parts))


@dataclass(frozen=True)
class Tuples(Domain):
    """Tuples ``(x_1, ..., x_p)`` with one domain per component."""

    components: tuple[Domain, ...]

    def validate(self, X: Any, name: str = "X") -> TupleColumns:
        if isinstance(X, TupleColumns):
            return X
        if isinstance(X, str | bytes) or not isinstance(X, Iterable):
            raise InputError(f"{name} must be a sequence of tuples. Got {type(X).__name__}.")
        rows = list(X)
        for i, row in enumerate(rows):
            if (
                isinstance(row, str | bytes)
                or not hasattr(row, "__len__")
                or len(row) != len(self.components)
            ):
                raise InputError(
                    f"{name}[{i}] must be a tuple of {len(self.components)} objects. Got {row!r}."
                )
        return TupleColumns(
            tuple(
                domain.validate([row[j] for row in rows], f"{name}[:][{j}]")
                for j, domain in enumerate(self.components)
            )
        )

    def match(self, X: Data, Y: Data | None) -> None:
        for j, domain in enumerate(self.components):
            if len(X) and (Y is None or len(Y)):
                domain.match(X.parts[j], None if Y is None else Y.parts[j])

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> tuple[Any, ...]:
        return tuple(
            domain.to_arithmetic(part, numbers) for domain, part in zip(self.components, x, strict=True)
        )

    def _digests(self, X: TupleColumns) -> list[str]:
        parts = [d._digests(part) for d, part in zip(self.components, X.parts, strict=True)]
        return [digest(row) for row in zip(*parts, strict=True)]

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        return list(zip(*(domain.sample(n, rng) for domain in self.components), strict=True))

    def __str__(self) -> str:
        return f"tuples of ({', '.join(map(str, self.components))})"


@dataclass(frozen=True, eq=False)
class MatrixRows:
    """Rows of a matrix of similarities with ``width`` training points.

    ``ids`` are the columns that the rows themselves own, of ``total`` rows that were given; at training
    ``total == width``.  The matrix is the user's: rows are selected without a copy, and copied when pickled.
    """

    matrix: np.ndarray
    rows: np.ndarray
    ids: np.ndarray
    total: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """Number of training points."""
        return int(self.matrix.shape[1])

    @property
    def values(self) -> np.ndarray:
        """The rows, with all columns."""
        return np.asarray(self.matrix[_span(self.rows)])

    def view(self, ids: np.ndarray) -> np.ndarray | None:
        """Values of the rows with some training points, if they are next to each other in the matrix."""
        rows, columns = _span(self.rows), _span(ids)
        if isinstance(rows, slice) and isinstance(columns, slice):
            return np.asarray(self.matrix[rows, columns])
        return None

    def columns(self, ids: np.ndarray) -> np.ndarray:
        """Values of the rows with some training points; not to be written to."""
        values = self.view(ids)
        return np.asarray(self.matrix[np.ix_(self.rows, ids)]) if values is None else values

    def take(self, index: slice | np.ndarray) -> MatrixRows:
        """Select points."""
        part = MatrixRows(self.matrix, self.rows[index], self.ids[index], self.total)
        if self.__dict__.get("asymmetry", (np.inf,))[0] == 0:  # a part of a symmetric matrix is symmetric
            part.__dict__["asymmetry"] = self.asymmetry
        return part

    @cached_property
    def asymmetry(self) -> tuple[float, int, int]:
        """Largest ``|k(x, y) - k(y, x)|`` among these points, and where; zero if it may be rounding."""
        values = self.columns(self.ids)
        largest = max(values.max(initial=0.0), -values.min(initial=0.0))
        worst = (_ASYMMETRY[values.dtype] * float(largest), -1, -1)
        tiles = [slice(start, start + _TILE) for start in range(0, len(self), _TILE)]
        for r, c in itertools.combinations_with_replacement(tiles, 2):
            gap = np.abs(values[r, c] - values[c, r].T)
            if gap.max() > worst[0]:
                i, j = (int(v) for v in np.unravel_index(int(gap.argmax()), gap.shape))
                worst = (float(gap[i, j]), r.start + i, c.start + j)
        return worst if worst[1] >= 0 else (0.0, 0, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return MatrixRows, (self.values, np.arange(len(self)), self.ids, self.total)


def _span(index: np.ndarray) -> slice | np.ndarray:
    """Positions that follow each other as a slice."""
    if len(index) and index[-1] - index[0] == len(index) - 1 and (np.diff(index) == 1).all():
        return slice(int(index[0]), int(index[-1]) + 1)
    return index


@dataclass(frozen=True)
class Similarities(Domain):
    """Points known through their kernel values with the training points: ``X`` is that matrix.

    At training ``X`` is ``n_train x n_train`` and symmetric; later it is ``n_test x n_train``.
    """

    def validate(self, X: Any, name: str = "X") -> MatrixRows:
        if isinstance(X, MatrixRows):
            return X
        check_numbers(X, name, dense=True)
        try:
            values = np.asarray(X)
            values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} must be a matrix of kernel values: {error}.") from error
        if values.ndim != 2:
            raise InputError(f"{name} must be a 2-D matrix of kernel values. Got {values.ndim}-D.")
        check_finite(values, name)
        every = np.arange(len(values))
        return MatrixRows(values, every, every, len(values))

    def _digests(self, X: MatrixRows) -> list[str]:
        raise DigestError("the rows of a precomputed matrix have no content of their own, and so no digests.")

    def match(self, X: MatrixRows, Y: MatrixRows | None) -> None:
        columns = X.width
        if Y is not None:
            if columns != Y.total:
                raise InputError(
                    f"X must have one column per training point: n_test x n_train. Got {columns} columns "
                    f"for {Y.total} training points."
                )
            return
        if X.total != columns:
            raise InputError(f"X must be a square kernel matrix at training. Got shape {X.matrix.shape}.")
        gap, i, j = X.asymmetry
        if gap > 0:
            raise InputError(
                f"X must be symmetric. The largest asymmetry is {gap:.6g}, "
                f"between entries ({i}, {j}) and ({j}, {i})."
            )

    def __str__(self) -> str:
        return "a precomputed matrix"
