"""Common factors and context trees of strings, on the native core.

Work is cut into native calls of a fraction of a second, so that Ctrl-C is seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.domains import EncodedSequences
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads

__all__ = ["ContextForest", "LengthWeights", "factors", "factors_diagonal"]

Array: TypeAlias = npt.NDArray[Any]

# Letters that one thread reads in about a tenth of a second: to walk through an automaton, to build one, to
# meet in two context trees.
_WALKED = 1 << 22
_BUILDING = 8
_NODES = 1 << 21


# -- common factors ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LengthWeights:
    """Weights of factors by their lengths: ``rho ** l``, from ``longer`` symbols on ``longer_rho ** l``.

    Factors of fewer than ``shortest`` symbols do not count; ``empty`` is the weight of the empty one.
    """

    rho: float
    shortest: int
    longer: int
    longer_rho: float
    empty: float

    def native(self, longest: int, excluded: EncodedSequences) -> _native.FactorWeights:
        """Tables for factors of up to ``longest`` symbols, and those that do not count."""
        return _native.FactorWeights(
            max(self.shortest, 1),
            min(self.longer, longest + 1),
            *_powers(self.rho, longest),
            *_powers(self.longer_rho, longest),
            self.empty,
            np.ascontiguousarray(excluded.codes),
            np.ascontiguousarray(excluded.starts),
        )


@lru_cache(maxsize=8)
def _powers(rho: float, longest: int) -> tuple[Array, Array]:
    """``rho ** l`` for l = 0..longest, each rounded once, and the sums of the first 0, 1, 2... of them."""
    with np.errstate(over="ignore"):
        known = np.ones(longest + 1) if rho == 1.0 else map(partial(_power, rho), range(longest + 1))
        powers = np.fromiter(known, dtype=np.float64, count=longest + 1)
        return powers, np.concatenate([[0.0], np.cumsum(powers)])


def _power(rho: float, length: int) -> float:
    try:
        return float(rho**length)
    except OverflowError:
        return np.inf


def factors(
    X: EncodedSequences,
    Y: EncodedSequences | None,
    weights: LengthWeights,
    excluded: EncodedSequences,
    counted: bool,
) -> Array:
    """Sums over the common factors of all pairs; ``Y`` and ``excluded`` are coded like ``X``."""
    columns = X if Y is None else Y
    tables, threads = weights.native(_longest(X), excluded), num_threads()  # all factors of X are weighed
    x, y = np.ascontiguousarray(X.codes), np.ascontiguousarray(columns.codes)

    def compute(rows: slice, cols: slice, limit: int, out: Array) -> None:
        x_starts, y_starts = _starts(X, rows), _starts(columns, cols)
        _native.factors(tables, counted, x, x_starts, y, y_starts, limit, out, threads)

    return _fill(compute, _BUILDING * X.lengths, columns.lengths, _WALKED, threads, symmetric=Y is None)


def factors_diagonal(
    X: EncodedSequences, weights: LengthWeights, excluded: EncodedSequences, counted: bool
) -> Array:
    """Sums over the factors of each string."""
    tables, threads = weights.native(_longest(X), excluded), num_threads()
    codes, out = np.ascontiguousarray(X.codes), np.empty(len(X))
    for rows in _cuts((_BUILDING + 1) * X.lengths, _WALKED * threads):
        checkpoint()
        _native.factors_diagonal(tables, counted, codes, _starts(X, rows), out[rows], threads)
    return out


def _longest(X: EncodedSequences) -> int:
    return int(X.lengths.max(initial=0))


def _starts(X: EncodedSequences, rows: slice) -> Array:
    return np.ascontiguousarray(X.starts[rows.start : rows.stop + 1])


# -- context trees -------------------------------------------------------------------------------------------


class ContextForest:
    """The context trees of strings, with what is needed of their logarithms.

    Parameters
    ----------
    X : EncodedSequences
    depth, boundary, letters, sigma, split, prior :
        The model: see :class:`~mercer.kernels.ContextTree`.
    """

    def __init__(
        self,
        X: EncodedSequences,
        *,
        depth: int,
        boundary: bool,
        letters: int,
        sigma: float,
        split: float,
        prior: float,
    ) -> None:
        codes, threads = np.ascontiguousarray(X.codes), num_threads()
        self._trees = _native.ContextForest(depth, boundary, letters, sigma, split, prior)
        self._costs = X.lengths * depth + 1  # nodes, at most
        for rows in _cuts(_BUILDING * self._costs, _NODES * threads):
            checkpoint()
            self._trees.plant(codes, _starts(X, rows), threads)

    @property
    def nodes(self) -> int:
        """Contexts of all trees."""
        return self._trees.nodes

    def log_values(self, rows: Array, other: ContextForest | None, columns: Array) -> Array:
        """Logarithms of the values of some trees with some of another forest (None: the rows themselves)."""
        symmetric, threads = other is None, num_threads()
        right, columns = (self, rows) if other is None else (other, columns)

        def compute(r: slice, c: slice, limit: int, out: Array) -> None:
            self._trees.block(rows[r], right._trees, columns[c], limit, out, threads)

        costs = np.zeros(len(rows)), right._costs[columns]
        return _fill(compute, *costs, _NODES, threads, symmetric=symmetric)

    def log_diagonal(self, rows: Array) -> Array:
        """Logarithms of the values of some trees with themselves."""
        out, threads = np.empty(len(rows)), num_threads()
        for part in _cuts(self._costs[rows], _NODES * threads):
            checkpoint()
            self._trees.diagonal(rows[part], out[part], threads)
        return out


# -- cutting -------------------------------------------------------------------------------------------------


def _fill(
    compute: Callable[[slice, slice, int, Array], None],
    row_costs: Array,
    column_costs: Array,
    budget: int,
    threads: int,
    *,
    symmetric: bool,
) -> Array:
    """Fill a block by calls that each cost about ``budget`` per thread; mirror what is symmetric.

    ``compute(rows, columns, limit, out)`` fills the first ``limit + i`` of the columns of its i-th row.
    """
    out = np.zeros((len(row_costs), len(column_costs)))
    for cols in _cuts(column_costs, budget):
        row_cost = row_costs + column_costs[cols].sum()
        for rows in _cuts(row_cost, budget * threads):
            limit = rows.start - cols.start + 1 if symmetric else out.shape[1]
            if limit + rows.stop - rows.start > 0:
                checkpoint()
                compute(rows, cols, limit, out[rows, cols])
    if symmetric:
        np.copyto(out, out.T, where=~np.tri(len(out), dtype=bool))
    return out


def _cuts(costs: Array, budget: float) -> Iterator[slice]:
    """Stretches whose costs add up to about the budget, of one element at least."""
    total = np.concatenate([[0.0], np.cumsum(costs, dtype=np.float64)])
    start = 0
    while start < len(costs):
        stop = int(np.searchsorted(total, total[start] + budget, side="right")) - 1
        stop = max(start + 1, stop)
        yield slice(start, stop)
        start = stop
