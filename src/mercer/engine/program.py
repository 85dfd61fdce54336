"""Kernel expressions as tile programs: the steps of a :class:`~mercer.engine.builder.Builder`, run.

Registers are given to values, the steps run on one tile after the other in the native core, and a tile is
stored or multiplied.  See ``docs/engine.md``.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.engine import tiles, workers
from mercer.engine.builder import COUNTS, MOST_EXPONENT, Builder, Node, Value
from mercer.engine.packed import TILE, PackedTiles
from mercer.engine.points import DOUBLE, SINGLE, Points
from mercer.engine.reduced import fill_reduced
from mercer.engine.registers import allocate
from mercer.engine.runs import Task, checkpoint
from mercer.engine.tables import tabulate
from mercer.engine.threads import num_threads

__all__ = ["MOST_EXPONENT", "Builder", "Program", "Value"]

Array: TypeAlias = npt.NDArray[Any]

#: Registers of one tile: 64 MiB per thread are not exceeded.
MOST_REGISTERS = 256

#: Bytes of the partial sums that a product with a symmetric matrix may hold.
MOST_SUMS = 1 << 26

#: Rows of tiles of a product, or parts of them, that are enough for the threads of one machine.
MOST_PARTS = 64

#: Values that are worth a table of what there can be.
WORTH_A_TABLE = 1 << 16

#: A native call takes about this long, so that Ctrl-C is seen.
CALL_SECONDS = 0.1

# Elementary operations of the first native call, before it is known how long they take.
_FIRST_CALL = 5e7

#: Operations per number: per feature where a register is filled, else in all.
_COST = {_native.CHI2: 4.0, _native.JENSEN: 40.0, _native.EXP: 6.0, _native.LOG1P: 10.0, _native.TANH: 8.0}
_COST[_native.REAL_POWER] = 20.0
_GATHER_COST, _MERGE_COST = 4.0, 60.0  # per entry, where numbers are gathered, or two sparse rows merged


class Program:
    """Steps over registers, with the data that they read."""

    def __init__(self, builder: Builder, result: Value) -> None:
        self.shape, self.symmetric = builder.shape, builder.symmetric
        self.points, self.vectors, self.layouts = builder.points, builder.vectors, builder.layouts
        plan = allocate(tuple(builder.shapes), result)
        self.steps, self.registers = plan.steps, plan.registers
        self.opaque = [builder.blocks[b] for b in plan.opaque]
        #: Type of the values: float32 if all that they come from is.
        self.dtype = SINGLE if builder.dtypes[result] == SINGLE and 0 not in self.shape else DOUBLE
        nodes = [builder.nodes[v] for v in plan.needed]
        self.parameters = np.array([p for node in nodes for p in node.parameters], dtype=np.float64)
        #: Elementary operations per number.
        self.cost = 1.0 + sum(map(self._cost, nodes))
        self._look_up(nodes[0])

    @staticmethod
    def of(builder: Builder, result: Value) -> Program | None:
        """The program that computes a value; None if it is better left to Python."""
        if builder.nodes[result].op == _native.OPAQUE or len(builder.vectors) > _native.MOST_VECTORS:
            return None
        program = Program(builder, builder.finite(result))
        return program if program.registers <= MOST_REGISTERS else None

    def _cost(self, node: Node) -> float:
        cost = _COST.get(node.op, 1.0)
        if node.op >= _native.OPAQUE:
            return cost
        points = self.points[node.b]
        degrees = len(node.parameters) - points.cols if node.op == _native.ANOVA else 1
        if points.is_compressed:
            simple = node.op in (_native.DOT, _native.SQEUCLIDEAN)
            cost = max(cost, _GATHER_COST if simple else _MERGE_COST)
        return cost * (1.0 + points.entries * degrees)

    def _look_up(self, first: Node) -> None:
        """Take a table in place of the steps if there are many values, and all depend on one count."""
        n, m = self.shape
        if first.op not in COUNTS or not self.points[first.b].is_packed or n * m < WORTH_A_TABLE:
            return
        table = tabulate(self.steps, self.parameters, self.registers, self.points[first.b].cols)
        if table is not None:
            self.steps, self.parameters, self.registers = table.steps, table.parameters, 1
            self.cost = 2.0 + self._cost(first)

    # -- running ----------------------------------------------------------------------------------
    def fill(self, slots: Array, out: Array, reduced: bool = False) -> bool:
        """Write the rows to chosen rows of an array; false if a check failed or a block is opaque.

        With `reduced`, values may be computed in single precision throughout (:mod:`mercer.engine.reduced`).
        """
        if self.opaque:
            return False
        if reduced and fill_reduced(self, slots, out):
            return True
        native = self._bind(self.points, self.vectors, [], *self.shape, False, out.dtype == np.float32)
        return all(
            native.dense(first, last, out, num_threads(), slots) < 0
            for first, last in self._calls(native.tiles, 1, False)
        )

    def dense(
        self, dtype: npt.DTypeLike | None = None, out: Array | None = None, progress: bool = False
    ) -> Array | None:
        """The matrix; None if a check failed."""
        n, m = self.shape
        if out is None:
            out = np.empty((n, m), dtype=self.dtype if dtype is None else dtype)
        if n == 0 or m == 0:
            return out
        if self.opaque:
            return self._dense_by_panels(out, progress)
        target = out if out.strides[1] == out.itemsize else np.empty((n, m), dtype=out.dtype)
        native = self._bind(self.points, self.vectors, [], n, m, self.symmetric, out.dtype == np.float32)
        threads = num_threads() if native.tiles > 1 else 1
        for first, last in self._calls(native.tiles, 1, progress):
            if native.dense(first, last, target, threads) >= 0:
                return None
        if target is not out:
            out[...] = target
        return out

    def packed(self, progress: bool = False) -> PackedTiles | None:
        """The packed symmetric matrix; None if a check failed or a block is opaque."""
        n = self.shape[0]
        if self.opaque or n == 0:
            return None
        result = PackedTiles(n)
        native = self._bind(self.points, self.vectors, [], n, n, True, False, TILE)
        for first, last in self._calls(native.tiles, 1, progress):
            if native.packed(first, last, result.tiles, num_threads()) >= 0:
                return None
        return result

    def product(self, V: Array, progress: bool = False) -> Array | None:
        """``K @ V`` in float64 for a 2-D V, without K; None if a check failed or a block is opaque."""
        n, m = self.shape
        if self.opaque:
            return None
        V = np.ascontiguousarray(V, dtype=np.float64)
        width = V.shape[1]
        if 0 in (n, m, width):
            return np.zeros((n, width))
        native = self._bind(self.points, self.vectors, [], n, m, self.symmetric, False)
        edge = _edge(n, m)
        down, across = -(-n // edge), -(-m // edge)
        # Half of a symmetric matrix is enough, if a sum per lane fits into MOST_SUMS.
        most = MOST_SUMS // (8 * n * width)
        half, parts = self.symmetric and most >= min(4, down), 1
        if half:
            lanes = _equal_areas(down, min(down, most, 32))
            length = max(sum(range(a + 1, b + 1)) for a, b in itertools.pairwise(lanes))
        else:  # few rows are cut into parts from left to right, so that there is work for every thread
            lanes = list(range(down + 1))
            parts = max(1, min(across, -(-MOST_PARTS // down), most))
            length = -(-across // parts)
        sums = np.zeros((len(lanes) - 1 if half else parts, n, width))
        threads = num_threads()
        for first, last in self._calls(length, (len(lanes) - 1) * parts, progress, 2.0 * width):
            if native.product(lanes, parts, half, first, last, V, sums, threads) >= 0:
                return None
        total: Array = sums[0]
        for part in sums[1:]:
            total += part
        return total

    def _bind(
        self,
        points: list[Points],
        vectors: list[tuple[Array, Array]],
        opaque: list[Array],
        n: int,
        m: int,
        symmetric: bool,
        to_single: bool,
        edge: int | None = None,
    ) -> _native.Program:
        return _native.Program(
            self.steps,
            self.parameters,
            points,
            vectors,
            opaque,
            n,
            m,
            self.registers,
            symmetric,
            _edge(n, m) if edge is None else edge,
            self.cost,
            to_single,
        )

    def _calls(
        self, count: int, each: int, progress: bool, further: float = 0.0
    ) -> Iterator[tuple[int, int]]:
        """Ranges of work for one native call, each of about the same short time.

        ``further`` operations follow for each value.
        """
        operations = (self.cost + further) * each * _edge(*self.shape) ** 2
        size = max(1, int(_FIRST_CALL / operations))
        first = 0
        with Task(tiles.TASK, count, "tile") if progress else nullcontext() as task:
            while first < count:
                last = min(count, first + size)
                start = time.perf_counter()
                yield first, last
                took = time.perf_counter() - start
                size = max(1, min(4 * size, int((last - first) * CALL_SECONDS / max(took, 1e-6))))
                if task is not None:
                    task.update(last - first)
                first = last
                if first < count:
                    checkpoint()

    def _dense_by_panels(self, out: Array, progress: bool) -> Array | None:
        """With opaque blocks: these first, for a panel, then the steps on it."""

        def panel(rows: slice, cols: slice) -> Array:
            symmetric = self.symmetric and rows == cols
            with workers.located(rows, cols, self.symmetric):
                blocks = [f.tile(rows, cols) for f in self.opaque]
            opaque = [np.ascontiguousarray(values, dtype=np.float64) for values in blocks]
            points = [p.take(rows, cols) for p in self.points]
            vectors = [(left[rows], right[cols]) for left, right in self.vectors]
            n, m = rows.stop - rows.start, cols.stop - cols.start
            native = self._bind(points, vectors, opaque, n, m, symmetric, out.dtype == np.float32)
            values = np.empty((n, m), dtype=out.dtype)
            if native.dense(0, native.tiles, values, num_threads()) >= 0:
                raise _CheckFailed
            return values

        n, m = self.shape
        try:
            size = min(f.tile_size for f in self.opaque)
            return tiles.run(
                panel, n, m, symmetric=self.symmetric, out=out, tile_size=size, progress=progress
            )
        except _CheckFailed:
            return None


class _CheckFailed(Exception):
    """A value did not pass a check."""


def _edge(n: int, m: int) -> int:
    """Rows and columns of a tile, smaller where there would be few of them; from the shape alone."""
    edge: int = _native.TILE
    while edge > 32 and -(-n // edge) * -(-m // edge) < 16:
        edge //= 2
    return edge


def _equal_areas(rows: int, parts: int) -> list[int]:
    """Cuts of a triangle with this number of rows into parts of about equal area, the ends included."""
    cuts = {round(rows * (p / parts) ** 0.5) for p in range(parts + 1)}
    return sorted(cuts)
