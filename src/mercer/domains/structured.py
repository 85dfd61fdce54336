"""Tuples of points, and points known only through a matrix of similarities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..digests import digest
from ..errors import DigestError, InputError
from .base import Data, Domain, items, size, take
from .vectors import check_finite

__all__ = ["MatrixRows", "Similarities", "TupleColumns", "Tuples"]


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

    def lift(self, x: Any, numbers: Arithmetic) -> tuple[Any, ...]:
        return tuple(domain.lift(part, numbers) for domain, part in zip(self.components, x, strict=True))

    def _digests(self, X: TupleColumns) -> list[str]:
        parts = [d._digests(part) for d, part in zip(self.components, X.parts, strict=True)]
        return [digest(row) for row in zip(*parts, strict=True)]

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        return list(zip(*(domain.sample(n, rng) for domain in self.components), strict=True))

    def __str__(self) -> str:
        return f"tuples of ({', '.join(map(str, self.components))})"


@dataclass(frozen=True, eq=False)
class MatrixRows:
    """Rows of a matrix of similarities with ``columns`` training points.

    ``ids`` are the columns that the rows themselves own, of ``total`` rows that were given; at training
    ``total == columns``.
    """

    values: np.ndarray
    ids: np.ndarray
    total: int

    def __len__(self) -> int:
        return len(self.values)

    def take(self, index: slice | np.ndarray) -> MatrixRows:
        """Select points."""
        return MatrixRows(self.values[index], self.ids[index], self.total)


@dataclass(frozen=True)
class Similarities(Domain):
    """Points known through their kernel values with the training points: ``X`` is that matrix.

    At training ``X`` is ``n_train x n_train`` and symmetric; later it is ``n_test x n_train``.
    """

    tol: float = 1e-8

    def validate(self, X: Any, name: str = "X") -> MatrixRows:
        if isinstance(X, MatrixRows):
            return X
        try:
            values = np.asarray(X)
            values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} must be a matrix of kernel values: {error}.") from error
        if values.ndim != 2:
            raise InputError(f"{name} must be a 2-D matrix of kernel values. Got {values.ndim}-D.")
        check_finite(values, name)
        return MatrixRows(values, np.arange(len(values)), len(values))

    def _digests(self, X: MatrixRows) -> list[str]:
        raise DigestError("the rows of a precomputed matrix have no content of their own, and so no digests.")

    def match(self, X: MatrixRows, Y: MatrixRows | None) -> None:
        columns = X.values.shape[1]
        if Y is not None:
            if columns != Y.total:
                raise InputError(
                    f"X must have one column per training point: n_test x n_train. Got {columns} columns "
                    f"for {Y.total} training points."
                )
            return
        if X.total != columns:
            raise InputError(f"X must be a square kernel matrix at training. Got shape {X.values.shape}.")
        if len(X):
            values = X.values[:, X.ids]
            gap = np.abs(values - values.T)
            if gap.max() > self.tol * np.abs(values).max():
                i, j = (int(v) for v in np.unravel_index(int(gap.argmax()), gap.shape))
                raise InputError(
                    f"X must be symmetric. The largest asymmetry is {gap.max():.6g}, "
                    f"between entries ({i}, {j}) and ({j}, {i})."
                )

    def __str__(self) -> str:
        return "a precomputed matrix"
