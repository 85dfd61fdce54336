"""Gram matrices whose values are kept on disk."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from ..caches import Cache
from ..domains import Data, Similarities, take
from ..engine.packed import PackedTiles
from ..errors import DigestError, InputError, MercerError
from ..kernel import Kernel
from .indexing import Selection, positions
from .kernel_gram import KernelGram
from .point_gram import PointGram, widened
from .request import Request, by_page
from .store import GramStore, KernelStore
from .store.page import PAGE

__all__ = ["StoredGram"]


class StoredGram(PointGram):
    """Gram matrix that looks its values up in a store; use ``mercer.gram(k, X, store=path)`` to make one.

    Values are computed and kept in double precision, whatever the type of the data, and each pair of points
    only once: duplicates, other orders and ``k(y, x)`` cost nothing.
    """

    _store: KernelStore

    def __init__(
        self, kernel: Kernel, X: Data, Y: Data | None = None, dtype: Any = None, *, store: GramStore
    ) -> None:
        if isinstance(kernel.domain, Similarities):
            raise DigestError("gram: a precomputed matrix is known already; it cannot be put into a store.")
        self._store = store.kernel(kernel)
        self._result = np.dtype(np.float64 if dtype is None else dtype)
        super().__init__(kernel, X, Y)

    def _setup(self, X: Data, columns: tuple[Data, Data] | None) -> None:
        super()._setup(X, columns)
        domain = self.kernel.domain
        self._names = [domain._digests(X)] + ([] if columns is None else [domain._digests(columns[0])])
        self._generation = -1
        self._locate()

    def _cast(self, X: Data) -> Data:
        return widened(X)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy computes its values: a model must not depend on a directory of the machine it came from."""
        state = {"kernel": self.kernel, "_X": self._X, "_asked": self._result, "_layouts": Cache()}
        columns = None if self._columns is None else self._columns[0]
        return object.__new__, (KernelGram,), {**state, "_columns": columns}

    def _locate(self) -> None:
        """Find the positions of the points in the store."""
        while self._generation != self._store.generation:
            self._generation = self._store.generation
            self._positions = [self._store.positions(names) for names in self._names]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""
        return self._result

    def _like(self, X: Data, columns: tuple[Data, Data] | None) -> StoredGram:
        result = object.__new__(StoredGram)
        result.kernel, result._store, result._result = self.kernel, self._store, self._result
        result._setup(X, columns)
        return result

    # -- values ---------------------------------------------------------------------------------
    def _values(self, rows: Selection, cols: Selection, progress: bool = False) -> np.ndarray:
        left, right = positions(rows), positions(cols)
        same = self.is_symmetric and np.array_equal(left, right)
        self._locate()
        request = Request(self, left, None if same else right)
        out = np.empty((len(left), len(right)), dtype=self.dtype)
        try:
            for place, i, j, values in request.pages(progress):
                out[np.ix_(i, j)] = values
                if same and place[0] != place[1]:
                    out[np.ix_(j, i)] = values.T
        except BaseException:
            with contextlib.suppress(MercerError):
                self._store.flush()
            raise
        if progress:
            self._store.flush()
        else:
            self._store.flush_if_due()
        return out

    def diagonal(self) -> np.ndarray:
        """Values of each point with itself."""
        self._require_symmetric("diagonal")
        self._locate()
        where, generation = self._positions[0], self._generation
        out = np.empty(self.shape[0])
        for number, index, local in by_page(where, np.arange(len(where))):
            place = number, number
            page = self._store.page(place, generation)
            unknown, first = np.unique(local[~page.known[local, local]], return_index=True)
            rows = index[np.flatnonzero(~page.known[local, local])[first]]
            values = np.zeros(PAGE)
            values[local] = page.values[local, local]
            if len(rows):
                self._verify(0, rows)
                values[unknown] = self.kernel._finite_diagonal(take(self._rows, rows))
                for r in unknown:
                    self._store.put(place, generation, np.array([r]), np.array([r]), values[[r]][:, None])
            out[index] = values[local]
        self._store.flush_if_due()
        return out.astype(self.dtype)

    def _product(self, V: np.ndarray, progress: bool = False) -> np.ndarray:
        product = super()._product(V, progress)
        self._store.flush()
        return product

    def _packed(self) -> PackedTiles:
        packed = super()._packed()
        self._store.flush()
        return packed

    def _verify(self, side: int, index: np.ndarray) -> None:
        """Raise if points are no longer what they were: their values must not be kept under the old names."""
        data = self._X if side == 0 or self._columns is None else self._columns[0]
        names = self._names[min(side, len(self._names) - 1)]
        now = self.kernel.domain._digests(take(data, index))
        for i, name in zip(index.tolist(), now, strict=True):
            if name != names[i]:
                raise InputError(
                    f"gram: point {i} of {'XY'[side]} has been changed since the Gram matrix was made. With "
                    "a store the points must stay as they are; make another Gram matrix of the new ones."
                )
