"""Subsets of R^d on which a kernel of vectors is defined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import InputError

__all__ = [
    "EVERYWHERE",
    "NONNEGATIVE",
    "POSITIVE",
    "UNIT_INTERVAL",
    "Ball",
    "Box",
    "Intersection",
    "Region",
    "Simplex",
]


class Region:
    """A subset of R^d; immutable."""

    def check(self, X: Any, name: str) -> None:
        """Raise :class:`~mercer.errors.InputError` for the first row of ``X`` outside the region."""

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
        """Draw points spread over the region, near its boundary too."""
        raise TypeError(f"{type(self).__name__} cannot be sampled")

    def __and__(self, other: Region) -> Region:
        if self == other or other == EVERYWHERE:
            return self
        if self == EVERYWHERE:
            return other
        if isinstance(self, Box) and isinstance(other, Box):
            return self.intersect(other)
        if isinstance(self, Simplex) and isinstance(other, Box) and other.contains_unit_cube:
            return self
        if isinstance(other, Simplex) and isinstance(self, Box) and self.contains_unit_cube:
            return other
        return Intersection(self, other)


@dataclass(frozen=True)
class Box(Region):
    """Entries between ``low`` and ``high``; ``open_low``/``open_high`` exclude the end points."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    @property
    def contains_unit_cube(self) -> bool:
        """Whether every vector with entries in [0, 1] belongs to the box."""
        return (self.low < 0 or (self.low == 0 and not self.open_low)) and (
            self.high > 1 or (self.high == 1 and not self.open_high)
        )

    def intersect(self, other: Box) -> Box:
        """Return the common box."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Box(
            low,
            high,
            any(b.open_low for b in (self, other) if b.low == low),
            any(b.open_high for b in (self, other) if b.high == high),
        )

    def check(self, X: Any, name: str) -> None:
        if self == EVERYWHERE:
            return
        bad = self._first_outside(X)
        if bad is not None:
            row, column, value = bad
            raise InputError(
                f"{name} must have entries {self._requirement()}. "
                f"Got {value!r} in row {row}, column {column}."
            )

    def _outside(self, values: np.ndarray) -> np.ndarray:
        low = values <= self.low if self.open_low else values < self.low
        high = values >= self.high if self.open_high else values > self.high
        return np.asarray(low | high)

    def _first_outside(self, X: Any) -> tuple[int, int, float] | None:
        if scipy.sparse.issparse(X):
            if self._outside(np.zeros(1))[0]:  # implicit zeros are outside: check every entry
                X = X.toarray()
            else:
                entries = X.tocoo()
                where = np.flatnonzero(self._outside(entries.data))
                if where.size == 0:
                    return None
                i = where[0]
                return int(entries.row[i]), int(entries.col[i]), float(entries.data[i])
        places = np.argwhere(self._outside(X))
        if places.size == 0:
            return None
        row, column = (int(v) for v in places[0])
        return row, column, float(X[row, column])

    def _requirement(self) -> str:
        if (self.low, self.high) == (0.0, math.inf):
            return "> 0" if self.open_low else ">= 0"
        return (
            f"in {'(' if self.open_low else '['}{self.low:g}, {self.high:g}{')' if self.open_high else ']'}"
        )

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
        if math.isinf(self.low) and math.isinf(self.high):
            scales = 10.0 ** rng.uniform(-1.5, 1.5, size=(n, 1))
            return rng.standard_normal((n, dim)) * scales
        if math.isinf(self.high):
            return self.low + 10.0 ** rng.uniform(-2, 1.5, size=(n, dim))
        if math.isinf(self.low):
            return self.high - 10.0 ** rng.uniform(-2, 1.5, size=(n, dim))
        margin = 1e-9 * (self.high - self.low)
        return rng.uniform(self.low + margin, self.high - margin, size=(n, dim))

    def __str__(self) -> str:
        return "" if self == EVERYWHERE else f" with entries {self._requirement()}"


@dataclass(frozen=True)
class Ball(Region):
    """Vectors of Euclidean norm below ``radius`` (at most ``radius`` if ``closed``)."""

    radius: float = 1.0
    closed: bool = False

    def check(self, X: Any, name: str) -> None:
        squares = X.multiply(X).sum(axis=1) if scipy.sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
        norms = np.sqrt(np.asarray(squares, dtype=float).ravel())
        outside = norms > self.radius if self.closed else norms >= self.radius
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            relation = "at most" if self.closed else "below"
            raise InputError(
                f"{name} must have rows of Euclidean norm {relation} {self.radius:g}. "
                f"Got norm {norms[row]:.6g} in row {row}. Rescale the data first."
            )

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
        directions = rng.standard_normal((n, dim))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions * (self.radius * (1 - 10.0 ** rng.uniform(-4, -0.05, size=(n, 1))))

    def __str__(self) -> str:
        return f" of norm {'<=' if self.closed else '<'} {self.radius:g}"


@dataclass(frozen=True)
class Simplex(Region):
    """Nonnegative entries summing to one (within ``tol``)."""

    tol: float = 1e-6

    def check(self, X: Any, name: str) -> None:
        NONNEGATIVE.check(X, name)
        sums = np.asarray(X.sum(axis=1), dtype=float).ravel()
        wrong = np.abs(sums - 1.0) > self.tol
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"{name} must have rows summing to 1. Got sum {sums[row]:.6g} in row {row}. "
                "Divide each row by its sum first."
            )

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
        dim = 3 if dim == 1 else dim  # one category is a single point
        return np.vstack([np.eye(dim), rng.dirichlet(np.full(dim, 0.5), size=n)])[:n]

    def __str__(self) -> str:
        return " in the probability simplex"


@dataclass(frozen=True)
class Intersection(Region):
    """Points of both regions."""

    first: Region
    second: Region

    def check(self, X: Any, name: str) -> None:
        self.first.check(X, name)
        self.second.check(X, name)

    def sample(self, n: int, dim: int, rng: np.random.Generator) -> np.ndarray:
        kept = [row for row in self.first.sample(50 * n, dim, rng) if self._accepts(row)]
        return np.array(kept[:n]).reshape(-1, dim)

    def _accepts(self, row: np.ndarray) -> bool:
        try:
            self.second.check(row[None, :], "x")
        except InputError:
            return False
        return True

    def __str__(self) -> str:
        return f"{self.first} and{self.second}"


EVERYWHERE = Box()
NONNEGATIVE = Box(0.0)
POSITIVE = Box(0.0, open_low=True)
UNIT_INTERVAL = Box(0.0, 1.0)
