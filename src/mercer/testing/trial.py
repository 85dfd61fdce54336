"""A kernel on trial: its points, and the numbers that several laws check, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any, NoReturn

import numpy as np
import scipy.sparse

from ..certificate import Claim
from ..domains import Data, Similarities, Vectors, items, size
from ..errors import InputError
from ..kernel import Kernel

__all__ = ["LawViolation", "Skip", "Trial", "broken", "key", "nodes", "polynomials"]

#: Largest number of points of a law; a definition costs one Python call per pair.
MAX_POINTS = 16

#: Agreement of a block with the definition, relative to the largest value of the kernel.
BLOCK_TOL = 1e-11
#: The same in single precision.
FLOAT32_TOL = 1e-3


class LawViolation(AssertionError):
    """A kernel breaks a law.

    Attributes
    ----------
    law : str
        Name of the law.
    kernel : Kernel
    points : tuple
        The smallest counterexample found; empty where the points do not matter.
    """

    def __init__(self, law: str, statement: str, kernel: Kernel, detail: str, points: Sequence[Any]) -> None:
        where = f"\n  points: {', '.join(map(_show, points))}" if len(points) else ""
        super().__init__(f"{kernel!r} breaks the law of `{law}`: {statement}\n  {detail}{where}")
        self.law, self.kernel, self.points = law, kernel, tuple(points)


class Skip(Exception):
    """A law does not apply; the message says why."""


class Broken(Exception):
    """A law found a counterexample."""

    def __init__(self, detail: str, points: Sequence[Any]) -> None:
        super().__init__(detail)
        self.detail, self.points = detail, points


def broken(detail: str, points: Sequence[Any] = ()) -> NoReturn:
    """Report a counterexample."""
    raise Broken(detail, points)


class Trial:
    """One kernel with at most :data:`MAX_POINTS` points of its domain."""

    def __init__(self, kernel: Kernel, samples: Any, rng: np.random.Generator) -> None:
        self.original, self.rng = kernel, rng
        self.kernel = k = kernel if kernel.is_resolved else kernel.resolve(samples)
        n = size(k.domain.validate(samples, "samples"))
        if n == 0:
            raise InputError("check_kernel: `samples` must hold at least one point of the kernel's domain.")
        chosen = np.arange(n) if n <= MAX_POINTS else np.sort(rng.choice(n, MAX_POINTS, replace=False))
        self.samples = self._select(samples, chosen)
        self.n = len(chosen)

    def pick(self, index: Any) -> Any:
        """Some of the samples, in the form in which the user gave them."""
        return self._select(self.samples, np.asarray(index, dtype=np.intp))

    def _select(self, X: Any, index: np.ndarray) -> Any:
        if isinstance(self.kernel.domain, Similarities):
            return np.asarray(X)[np.ix_(index, index)]
        if isinstance(X, np.ndarray) or scipy.sparse.issparse(X):
            return X[index]
        if hasattr(X, "iloc"):
            return X.iloc[index]
        if hasattr(X, "columns") and hasattr(X, "__getitem__"):  # a polars frame
            return X[index.tolist()]
        return [X[int(i)] for i in index]

    @cached_property
    def points(self) -> Sequence[Any]:
        """The samples as validated points, one by one."""
        points: Sequence[Any] = items(self.kernel.domain.validate(self.samples, "samples"))
        return points

    @cached_property
    def definition(self) -> np.ndarray:
        """Values ``k(x_i, x_j)`` of all ordered pairs, by the one-pair definition."""
        if isinstance(self.kernel.domain, Similarities):
            raise Skip("a precomputed matrix has no one-pair definition")
        return np.array([[self.kernel(x, y) for y in self.points] for x in self.points])

    @cached_property
    def block(self) -> np.ndarray:
        """``block(X)``."""
        K = self.kernel.block(self.samples)
        if K.shape != (self.n, self.n):
            broken(f"block of {self.n} points has shape {K.shape}")
        return K

    @cached_property
    def scale(self) -> np.ndarray:
        """What rounding is relative to, pair by pair, so that one far point does not hide the others."""
        A = np.abs(np.nan_to_num(self.block, posinf=0.0, neginf=0.0))
        usual = np.array([np.median(row[row > 0]) if (row > 0).any() else 0.0 for row in A])
        d = np.sqrt(A.diagonal())
        floor = 0.01 * float(np.median(A[A > 0])) if (A > 0).any() else 0.0  # differences that vanish
        return np.asarray(A + np.outer(d, d) + np.minimum.outer(usual, usual) + floor)

    @cached_property
    def distinct(self) -> list[int]:
        """Positions of distinct points."""
        first: dict[Any, int] = {}
        for i, x in enumerate(self.points):
            first.setdefault(key(x), i)
        return list(first.values())

    @cached_property
    def dense(self) -> np.ndarray:
        """The samples as a dense float64 array, for laws about vectors."""
        domain = self.kernel.domain
        rows = isinstance(domain, Vectors) and domain.is_table(self.samples)
        if not rows or hasattr(self.samples, "columns"):
            raise Skip("the points are not vectors")
        X = domain.validate(self.samples)
        return np.asarray(X.toarray() if scipy.sparse.issparse(X) else X, dtype=np.float64)

    def prepared(self, X: Any) -> Data:
        """Prepare points as ``block`` does."""
        return self.kernel._prepare_pair(X, None)[0]

    def compare(
        self,
        got: np.ndarray,
        want: np.ndarray,
        what: str,
        rows: Sequence[int],
        columns: Sequence[int] | None = None,
        tol: float = BLOCK_TOL,
    ) -> None:
        """Report an entry where two arrays differ by more than ``tol`` times the scale of the pair."""
        if got.shape != want.shape:
            broken(f"{what}: shape {got.shape} instead of {want.shape}")
        if got.size == 0:
            return
        columns = rows if columns is None else columns
        scale = self.scale[np.ix_(rows, columns)] if want.ndim == 2 else self.scale[rows, rows]
        allowed = tol * np.maximum(scale, np.abs(want)) + np.finfo(float).tiny
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(got - want) <= allowed) & ~((got == want) & np.isinf(want))
        if wrong.any():
            where = _simplest(wrong, self.points, rows, columns)
            at = [self.points[rows[where[0]]]]
            if len(where) > 1:
                at.append(self.points[columns[where[1]]])
            broken(f"{what}: {got[where]!r} instead of {want[where]!r}", at)

    def shrink(self, index: Sequence[int], fails: Callable[[list[int]], bool]) -> list[Any]:
        """Drop points one by one while the law still fails; return the points that are left."""
        kept = list(index)
        for i in list(kept):
            fewer = [j for j in kept if j != i]
            if fewer and fails(fewer):
                kept = fewer
        return [self.points[i] for i in kept]


def _simplest(
    wrong: np.ndarray, points: Sequence[Any], rows: Sequence[int], columns: Sequence[int]
) -> tuple[int, ...]:
    """Position of the wrong entry whose points are shortest to write down."""

    def length(where: np.ndarray) -> int:
        first = len(_show(points[rows[where[0]]]))
        return first + (len(_show(points[columns[where[1]]])) if len(where) > 1 else 0)

    return tuple(int(i) for i in min(np.argwhere(wrong), key=length))


def key(x: Any) -> Any:
    """Return a hashable stand-in for a point: equal points have equal keys."""
    if isinstance(x, np.ndarray):
        return ("array", x.shape, (x + 0.0).tobytes() if x.dtype.kind == "f" else x.tobytes())
    if isinstance(x, tuple | list):
        return tuple(map(key, x))
    try:
        hash(x)
    except TypeError:
        return repr(x)
    return x


def nodes(k: Kernel) -> Iterator[Kernel]:
    """Iterate over a kernel and all kernels inside it."""
    yield k
    for _, child in k._children:
        yield from nodes(child)


def _show(x: Any) -> str:
    return repr(x.tolist()) if isinstance(x, np.ndarray) else repr(x)


def polynomials(X: np.ndarray, order: int) -> np.ndarray:
    """Values of all monomials of degree below ``order`` at the rows, which are scaled to [-1, 1] first."""
    scale = np.abs(X).max(axis=0, initial=0.0)
    X = X / np.where(scale > 0, scale, 1.0)
    columns = (
        X[:, list(factors)].prod(axis=1)
        for degree in range(order)
        for factors in combinations_with_replacement(range(X.shape[1]), degree)
    )
    return np.stack([*columns], axis=1) if order else np.zeros((len(X), 0))


def require(claim: Claim, what: str) -> None:
    """Skip a law whose premise is not proved."""
    if not claim.proved:
        raise Skip(f"not certified {what}")
