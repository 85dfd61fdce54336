"""A block of a stored Gram matrix, page by page: looked up where it is known, computed where it is not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..domains import take
from ..engine import workers
from ..engine.runs import tracked
from .store.page import PAGE

if TYPE_CHECKING:
    from .stored import StoredGram

__all__ = ["Request", "by_page"]

#: Values computed at a time: few at first, then as many as take about this long, so that a kill loses little.
FIRST_VALUES, SECONDS = 1024, 2.0


class Request:
    """One block of a stored Gram matrix, page by page."""

    def __init__(self, gram: StoredGram, left: np.ndarray, right: np.ndarray | None) -> None:
        self.gram, self.store, self.generation = gram, gram._store, gram._generation
        self.same = right is None
        self.index = (left, left if right is None else right)
        own = gram._positions
        self.where = (own[0][self.index[0]], own[-1][self.index[1]])
        self.data = (gram._rows, gram._rows if gram._columns is None else gram._columns[1])
        self.budget, self.verified = FIRST_VALUES, False

    def pages(self, progress: bool) -> Iterator[tuple[tuple[int, int], np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the page, the rows and columns of the block that it holds, and their values."""
        left = list(by_page(self.where[0], np.arange(len(self.where[0]))))
        right = left if self.same else list(by_page(self.where[1], np.arange(len(self.where[1]))))
        pairs: Any = [(a, b) for a in left for b in right if not self.same or a[0] >= b[0]]
        if progress and len(pairs) > 1:
            pairs = tracked(pairs, "stored kernel values", "page")
        for (p, i, r), (q, j, c) in pairs:
            # A page is on or below the diagonal: on the other side of it rows and columns change places.
            if p >= q:
                yield (p, q), i, j, self._page((p, q), (0, 1), (i, j), (r, c))
            else:
                yield (q, p), i, j, self._page((q, p), (1, 0), (j, i), (c, r)).T

    def _page(
        self, place: tuple[int, int], side: tuple[int, int], index: Any, local: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:
        """Values of local rows and columns of one page, computed where they are not known."""
        where = np.ix_(*local)
        page = self.store.page(place, self.generation)
        if page.known[where].all():
            return np.asarray(page.values[where])
        if not self.verified:
            for s in (0, 1):
                self.gram._verify(s, np.unique(self.index[s]))
            self.verified = True
        values = page.values.copy()
        missing = np.zeros((PAGE, PAGE), dtype=bool)
        missing[where] = ~page.known[where]
        # Data behind each local row and column; one of several duplicates will do.
        source = [np.zeros(PAGE, dtype=np.intp) for _ in (0, 1)]
        for s in (0, 1):
            source[s][local[s]] = self.index[side[s]][index[s]]
        for rows, columns in self._rectangles(missing, place[0] == place[1]):
            began = time.monotonic()
            A = take(self.data[side[0]], source[0][rows])
            B = None if columns is None else take(self.data[side[1]], source[1][columns])
            names = source[0][rows], source[1][rows if columns is None else columns]
            with workers.located(*names, self.gram.is_symmetric):
                block = np.asarray(self.gram.kernel._block(A, B), dtype=np.float64)
            if columns is None:
                columns = rows
                block = np.where(np.tri(len(rows), dtype=bool), block, block.T)  # symmetric to the last bit
            values[np.ix_(rows, columns)] = block
            missing[np.ix_(rows, columns)] = False
            if place[0] == place[1]:
                values[np.ix_(columns, rows)] = block.T
                missing[np.ix_(columns, rows)] = False
            self.store.put(place, self.generation, rows, columns, block)
            seconds = time.monotonic() - began
            if seconds > 2 * SECONDS:
                self.budget = max(16, self.budget // 2)
            elif seconds < SECONDS / 2 and 2 * block.size >= self.budget:
                self.budget = min(2 * self.budget, PAGE * PAGE)
        return np.asarray(values[where])

    def _rectangles(
        self, missing: np.ndarray, diagonal: bool
    ) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        """Cut what is missing (it shrinks meanwhile) into rectangles; ``None`` stands for the rows again."""
        while True:
            lacking = missing.sum(axis=1)
            r = int(lacking.argmax())  # new points first: what they lack makes the largest rectangles
            rest = missing[r].copy()
            if not lacking[r]:
                return
            if not diagonal:
                twins = np.flatnonzero((missing == rest).all(axis=1))
            elif self.same:
                # Symmetric: rows that lack the same columns, their own included, make a triangle.
                full = missing | np.eye(PAGE, dtype=bool)
                alike = (full == full[r]).all(axis=1) & (missing.diagonal() == rest[r])
                twins = np.flatnonzero(alike)
            else:
                twins = np.array([r])  # of (x, y) and (y, x) only the first is computed
            columns = np.flatnonzero(rest)
            rows = twins[: max(1, self.budget // len(columns))]
            if diagonal and self.same and (len(rows) > 1 or rest[r]):
                yield rows, None
                columns = np.setdiff1d(columns, rows)
            if len(columns):
                yield rows, columns[: self.budget]


def by_page(where: np.ndarray, index: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Group positions by page: its number, which of ``index`` are there, and where on the page."""
    number, local = np.divmod(where, PAGE)
    order = np.argsort(number, kind="stable")
    starts = np.flatnonzero(np.diff(number[order], prepend=-1))
    for part in np.split(order, starts[1:]) if len(order) else ():
        yield int(number[part[0]]), index[part], local[part]
