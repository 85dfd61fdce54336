"""Kernel expressions compiled into tile programs.

A kernel describes itself to a :class:`Builder` as a few steps on values: a value stands for the whole
matrix, and at run time for one tile of it in a register.  Equal steps on equal data are one step, so that the
kernels of one expression share distances and dot products.  What cannot be described enters as a *foreign*
value, computed in Python panel by panel.  See ``docs/engine.md``.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from mercer import _native
from mercer.domains import Data, take
from mercer.engine import pairwise, tiles, workers
from mercer.engine.threads import num_threads

__all__ = ["MOST_EXPONENT", "Builder", "Describes", "Program", "Value"]

Array: TypeAlias = npt.NDArray[Any]

#: A matrix in the making: the number of the step that computes it.
Value: TypeAlias = int

Block: TypeAlias = Callable[[Data, Data | None], Array]

#: Real powers keep their 4 ulp up to this exponent.
MOST_EXPONENT = 64.0

#: Registers of one tile: 64 MiB per thread are not exceeded.
MOST_REGISTERS = 256

#: Bytes of the partial sums that a product with a symmetric matrix may hold.
MOST_SUMS = 1 << 26

#: Bytes of sparse rows that may be laid out in full.
MOST_DENSE = 1 << 26

#: A native call takes about this long, so that Ctrl-C is seen.
CALL_SECONDS = 0.1

# Elementary operations of the first native call, before it is known how long they take.
_FIRST_CALL = 5e7

_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)

# The largest number that is finite in float32 after rounding.
_SINGLE_LIMIT = float(np.nextafter(float.fromhex("0x1.ffffffp127"), 0.0))
_DOUBLE_LIMIT = float(np.finfo(np.float64).max)

_CHECKS = frozenset((_native.WITHIN, _native.NONZERO))

#: Operations per number: per feature where a register is filled, else in all.
_COST = {_native.CHI2: 4.0, _native.JENSEN: 40.0, _native.EXP: 6.0, _native.LOG1P: 10.0, _native.TANH: 8.0}
_COST[_native.REAL_POWER] = 20.0

_SPARSE: dict[int, Block] = {
    _native.SQEUCLIDEAN: pairwise.squared_distances,
    _native.DOT: pairwise.dot,
    _native.L1: pairwise.l1_distances,
    _native.MIN: pairwise.min_sums,
    _native.MAX: pairwise.max_sums,
    _native.CHI2: pairwise.chi_square,
    _native.JENSEN: pairwise.jensen,
}


class Describes(Protocol):
    """What the builder needs of a kernel."""

    def _block(self, X: Data, Y: Data | None) -> Array: ...

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None: ...


@cache
def _is_described(kind: type) -> bool:
    """Whether the steps of a class say what its blocks say.

    A class that redefines ``_block`` (or the ``_profile`` or ``_map`` that blocks are made of) without its
    steps has changed its mind: its blocks count.
    """
    place = {name: i for i, c in reversed(list(enumerate(kind.__mro__))) for name in vars(c)}
    pairs = (("_block", "_compile"), ("_profile", "_steps"), ("_map", "_steps"))
    return all(place.get(steps, np.inf) <= place[plain] for plain, steps in pairs if plain in place)


class _Node(NamedTuple):
    op: int
    a: Value = -1
    b: int = -1  # a second value, or the number of points, vectors or a foreign block
    parameters: tuple[float, ...] = ()


class Builder:
    """Collects the steps of one block: rows ``X`` against columns ``Y``, or ``X`` with itself.

    Methods return values; kernels see nothing else.  Data come prepared.
    """

    def __init__(self, n: int, m: int, symmetric: bool) -> None:
        self.shape = (n, m)
        self.symmetric = symmetric
        self._nodes: list[_Node] = []
        self._dtypes: list[np.dtype[Any]] = []
        self._known: dict[_Node, Value] = {}
        self._seen: dict[tuple[Any, ...], int] = {}
        self._derived: dict[tuple[Any, ...], Data] = {}
        self._points: list[tuple[Array, Array]] = []
        self._vectors: list[tuple[Array, Array]] = []
        self._foreign: list[tuple[Block, Data, Data | None]] = []
        self._kept: list[Any] = []  # what is known by its address must live

    # -- kernels and data ---------------------------------------------------------------------
    def kernel(self, k: Describes, X: Data, Y: Data | None) -> Value:
        """Values of a kernel on prepared data."""
        value = k._compile(self, X, Y) if _is_described(type(k)) else None
        return self.foreign(k._block, X, Y) if value is None else value

    def foreign(self, block: Block, X: Data, Y: Data | None, dtype: np.dtype[Any] | None = None) -> Value:
        """Values that a Python function computes, ``block(X, Y)`` for selected points."""
        self._foreign.append((block, X, Y))
        if dtype is None and 0 not in self.shape:
            dtype = _foreign_tile(self._foreign[-1], slice(0, 1), slice(0, 1)).dtype
        return self._step(_native.FOREIGN, b=len(self._foreign) - 1, dtype=dtype or _DOUBLE)

    def derived(self, X: Data, key: tuple[Any, ...], function: Callable[[Data], Data]) -> Data:
        """``function(X)``, once for equal keys."""
        key = (id(X), *key)
        if key not in self._derived:
            self._kept.append(X)
            self._derived[key] = function(X)
        return self._derived[key]

    def squared_distances(self, X: Data, Y: Data | None) -> Value:
        """Squared Euclidean distances of rows."""
        return self._pairs(_native.SQEUCLIDEAN, X, Y)

    def dot(self, X: Data, Y: Data | None) -> Value:
        """Dot products of rows."""
        return self._pairs(_native.DOT, X, Y)

    def l1_distances(self, X: Data, Y: Data | None) -> Value:
        """Sums of absolute differences."""
        return self._pairs(_native.L1, X, Y)

    def min_sums(self, X: Data, Y: Data | None) -> Value:
        """Sums of minima."""
        return self._pairs(_native.MIN, X, Y)

    def max_sums(self, X: Data, Y: Data | None) -> Value:
        """Sums of maxima."""
        return self._pairs(_native.MAX, X, Y)

    def chi_square(self, X: Data, Y: Data | None) -> Value:
        """Chi-square distances of nonnegative rows."""
        return self._pairs(_native.CHI2, X, Y)

    def jensen(self, X: Data, Y: Data | None) -> Value:
        """Jensen differences of nonnegative rows."""
        return self._pairs(_native.JENSEN, X, Y)

    def anova(self, X: Data, Y: Data | None, weights: Array, coefficients: Array) -> Value:
        """Sums of elementary symmetric polynomials, as :func:`mercer.engine.pairwise.anova`."""
        series = np.trim_zeros(np.asarray(coefficients, dtype=np.float64), "b")
        if _is_sparse(X, Y):
            return self.foreign(lambda A, B: pairwise.anova(A, B, weights, coefficients), X, Y, _common(X, Y))
        parameters = (*np.asarray(weights, dtype=np.float64).tolist(), *(series.tolist() or [0.0]))
        return self._pairs(_native.ANOVA, X, Y, parameters)

    def all_subsets(self, X: Data, Y: Data | None, weights: Array) -> Value:
        """Products of 1 + w x y."""
        if _is_sparse(X, Y):
            return self.foreign(lambda A, B: pairwise.all_subsets(A, B, weights), X, Y, _common(X, Y))
        return self._pairs(_native.ALL_SUBSETS, X, Y, tuple(np.asarray(weights, dtype=np.float64).tolist()))

    # -- elementwise steps --------------------------------------------------------------------
    def constant(self, c: float) -> Value:
        """The same number everywhere."""
        return self._step(_native.CONSTANT, parameters=(float(c),), dtype=_DOUBLE)

    def add(self, values: Iterable[Value]) -> Value:
        """A sum; a generator of values is computed as it is added up."""
        return self._fold(_native.ADD, values)

    def multiply(self, values: Iterable[Value]) -> Value:
        """A product of values."""
        return self._fold(_native.MULTIPLY, values)

    def scale(self, a: Value, factor: float) -> Value:
        """``factor * a``."""
        before = self._nodes[a]
        if before.op == _native.SCALE and _is_normal(before.parameters[0] * factor):
            a, factor = before.a, before.parameters[0] * factor
        return a if factor == 1.0 else self._step(_native.SCALE, a, parameters=(float(factor),))

    def shift(self, a: Value, term: float) -> Value:
        """``a + term``."""
        return self._step(_native.SHIFT, a, parameters=(float(term),))

    def reciprocal(self, a: Value) -> Value:
        """``1 / a``."""
        return self._step(_native.RECIPROCAL, a)

    def integer_power(self, a: Value, exponent: int) -> Value:
        """``a ** exponent`` for a whole number >= 0."""
        return a if exponent == 1 else self._step(_native.INTEGER_POWER, a, parameters=(float(exponent),))

    def real_power(self, a: Value, exponent: float) -> Value:
        """``a ** exponent`` for a >= 0 and 0 < exponent <= MOST_EXPONENT, or a larger whole number."""
        if exponent == 0.5:
            return self.sqrt(a)
        if exponent < 1 << 53 and exponent == int(exponent):
            return self.integer_power(a, int(exponent))
        return self._step(_native.REAL_POWER, a, parameters=(float(exponent),))

    def exp(self, a: Value) -> Value:
        """The exponential, within 4 ulp."""
        return self._step(_native.EXP, a)

    def log1p(self, a: Value) -> Value:
        """``log(1 + a)``, within 4 ulp."""
        return self._step(_native.LOG1P, a)

    def tanh(self, a: Value) -> Value:
        """The hyperbolic tangent, within 4 ulp."""
        return self._step(_native.TANH, a)

    def sqrt(self, a: Value) -> Value:
        """The square root."""
        return self._step(_native.SQRT, a)

    def polynomial(self, a: Value, coefficients: npt.ArrayLike) -> Value:
        """A polynomial, the constant coefficient first, by Horner's rule."""
        return self._step(_native.HORNER, a, parameters=tuple(np.asarray(coefficients, dtype=float).tolist()))

    def outer_multiply(self, a: Value, rows: Array, cols: Array | None) -> Value:
        """``rows[i] * a[i, j] * cols[j]``; None stands for ``rows``."""
        return self._step(_native.OUTER_MULTIPLY, a, self._vector(rows, cols), dtype=self._with(a, rows))

    def outer_add(self, a: Value, factor: float, rows: Array, cols: Array | None) -> Value:
        """``factor * a[i, j] + (rows[i] + cols[j])``."""
        vector = self._vector(rows, cols)
        return self._step(_native.OUTER_ADD, a, vector, (float(factor),), dtype=self._with(a, rows))

    def clip(self, a: Value, low: float, high: float) -> Value:
        """Values beyond the limits become the limits."""
        return self._step(_native.CLIP, a, parameters=(float(low), float(high)))

    def diagonal(self, a: Value, values: Array) -> Value:
        """Put numbers onto the diagonal of the matrix of points with themselves."""
        return self._step(_native.DIAGONAL, a, self._vector(values, None)) if self.symmetric else a

    # -- checks: a value that fails leaves the block to Python, which says what is wrong ------------
    def within(self, a: Value, low: float, high: float) -> Value:
        """Require ``low <= a <= high``."""
        return self._step(_native.WITHIN, a, parameters=(float(low), float(high)))

    def nonzero(self, a: Value) -> Value:
        """Require ``a != 0``."""
        return self._step(_native.NONZERO, a)

    def finite(self, a: Value) -> Value:
        """Require numbers that the type of the result can hold."""
        limit = _SINGLE_LIMIT if self._dtypes[a] == _SINGLE else _DOUBLE_LIMIT
        return self.within(a, -limit, limit)

    # -- the making -----------------------------------------------------------------------------
    def _step(
        self,
        op: int,
        a: Value = -1,
        b: int = -1,
        parameters: tuple[float, ...] = (),
        dtype: np.dtype[Any] | None = None,
    ) -> Value:
        node = _Node(op, a, b, parameters)
        value = self._known.get(node)
        if value is None:
            value = self._known[node] = len(self._nodes)
            self._nodes.append(node)
            self._dtypes.append(self._dtypes[a] if dtype is None else dtype)
        return value

    def _fold(self, op: int, values: Iterable[Value]) -> Value:
        result: Value | None = None
        for value in values:
            if result is None:
                result = value
            else:
                dtype = np.promote_types(self._dtypes[result], self._dtypes[value])
                result = self._step(op, result, value, dtype=dtype)
        assert result is not None
        return result

    def _pairs(self, op: int, X: Data, Y: Data | None, parameters: tuple[float, ...] = ()) -> Value:
        dtype = _common(X, Y)
        if all(A is None or _is_cheap_dense(A) for A in (X, Y)):
            X, Y = (self.derived(A, ("dense",), _dense) if sparse.issparse(A) else A for A in (X, Y))
        key: tuple[Any, ...] = (id(X), id(Y))
        if _is_sparse(X, Y):
            key = (op, *key)
            if key not in self._seen:
                self._kept.append((X, Y))
                self._seen[key] = self.foreign(_SPARSE[op], X, Y, dtype)
            return self._seen[key]
        if key not in self._seen:
            self._kept.append((X, Y))
            left = np.ascontiguousarray(X, dtype=dtype)
            self._points.append((left, left if Y is None else np.ascontiguousarray(Y, dtype=dtype)))
            self._seen[key] = len(self._points) - 1
        return self._step(op, b=self._seen[key], parameters=parameters, dtype=dtype)

    def _vector(self, rows: Array, cols: Array | None) -> int:
        key = ("vector", id(rows), id(cols))
        if key not in self._seen:
            self._kept.append((rows, cols))
            left = np.ascontiguousarray(rows, dtype=np.float64)
            right = left if cols is None else np.ascontiguousarray(cols, dtype=np.float64)
            self._vectors.append((left, right))
            self._seen[key] = len(self._vectors) - 1
        return self._seen[key]

    def _with(self, a: Value, vector: Array) -> np.dtype[Any]:
        return np.promote_types(self._dtypes[a], vector.dtype)

    def program(self, result: Value) -> Program | None:
        """The program that computes a value; None if it is better left to Python."""
        if self._nodes[result].op == _native.FOREIGN or len(self._vectors) > _native.MOST_VECTORS:
            return None
        program = Program(self, self.finite(result))
        return program if program.registers <= MOST_REGISTERS else None

    def _needed(self, result: Value) -> list[Value]:
        """Steps that the result depends on, in order."""
        needed, stack = set(), [result]
        while stack:
            value = stack.pop()
            if value not in needed:
                needed.add(value)
                node = self._nodes[value]
                stack += [v for v in (node.a, self._second(node)) if v >= 0]
        return sorted(needed)

    @staticmethod
    def _second(node: _Node) -> Value:
        return node.b if node.op in (_native.ADD, _native.MULTIPLY) else -1


class Program:
    """Steps over registers, with the data that they read."""

    def __init__(self, builder: Builder, result: Value) -> None:
        self.shape, self.symmetric = builder.shape, builder.symmetric
        self.points, self.vectors = builder._points, builder._vectors
        needed = builder._needed(result)
        used = [builder._nodes[v].b for v in needed if builder._nodes[v].op == _native.FOREIGN]
        self.foreign = [builder._foreign[b] for b in used]
        #: Type of the values: float32 if all that they come from is.
        self.dtype = _SINGLE if builder._dtypes[result] == _SINGLE and 0 not in self.shape else _DOUBLE
        self._allocate(builder, needed, result, used)

    def _allocate(self, builder: Builder, needed: list[Value], result: Value, used: list[int]) -> None:
        """Give every value a register, free again after its last use; the result gets register 0."""
        nodes = builder._nodes
        root: dict[Value, Value] = {}
        for v in needed:  # a check hands on the value that it has looked at
            root[v] = root[nodes[v].a] if nodes[v].op in _CHECKS else v
        last: dict[Value, int] = {root[result]: len(nodes)}
        for v in needed:
            for operand in (nodes[v].a, Builder._second(nodes[v])):
                if operand >= 0:
                    last[root[operand]] = max(v, last.get(root[operand], -1))
        register: dict[Value, int] = {}
        free: list[int] = []
        steps: list[tuple[int, ...]] = []
        parameters: list[float] = []
        self.registers, self.cost = 0, 1.0
        for v in needed:
            node = nodes[v]
            second = Builder._second(node)
            a = register[root[node.a]] if node.a >= 0 else 0
            b = register[root[second]] if second >= 0 else node.b
            ends = {root[o] for o in (node.a, second) if o >= 0 and last[root[o]] == v}
            free += sorted((register[o] for o in ends), reverse=True)
            if root[v] == v:
                if not free:
                    free.append(self.registers)
                    self.registers += 1
                register[v] = free.pop()
            target = register[root[v]]
            if node.op == _native.CONSTANT:
                a = target
            if node.op == _native.FOREIGN:
                b = used.index(node.b)
            steps.append((node.op, target, a, b, len(parameters), len(node.parameters)))
            parameters += node.parameters
            self.cost += _COST.get(node.op, 1.0)
            if node.op < _native.FOREIGN:
                features = self.points[node.b][0].shape[1]
                degrees = len(node.parameters) - features if node.op == _native.ANOVA else 1
                self.cost += _COST.get(node.op, 1.0) * features * degrees
        home = register[root[result]]
        swap = {home: 0, 0: home}
        rows = []
        for op, target, a, b, first, count in steps:
            b = swap.get(b, b) if op in (_native.ADD, _native.MULTIPLY) else b
            rows.append((op, swap.get(target, target), swap.get(a, a), b, first, count))
        self.steps = np.array(rows, dtype=np.int64)
        self.parameters = np.array(parameters, dtype=np.float64)

    # -- running ----------------------------------------------------------------------------------
    def dense(
        self, dtype: npt.DTypeLike | None = None, out: Array | None = None, progress: bool = False
    ) -> Array | None:
        """The matrix; None if a check failed."""
        n, m = self.shape
        if out is None:
            out = np.empty((n, m), dtype=self.dtype if dtype is None else dtype)
        if n == 0 or m == 0:
            return out
        if self.foreign:
            return self._dense_by_panels(out, progress)
        target = out if out.strides[1] == out.itemsize else np.empty((n, m), dtype=out.dtype)
        native = self._bind(self.points, self.vectors, [], n, m, self.symmetric)
        threads = num_threads()
        for first, last in self._calls(native.tiles, 1, progress):
            if native.dense(first, last, target, threads) >= 0:
                return None
        if target is not out:
            out[...] = target
        return out

    def product(self, V: Array, progress: bool = False) -> Array | None:
        """``K @ V`` in float64 for a 2-D V, without K; None if a check failed or a block is foreign."""
        n, m = self.shape
        if self.foreign:
            return None
        V = np.ascontiguousarray(V, dtype=np.float64)
        width = V.shape[1]
        if 0 in (n, m, width):
            return np.zeros((n, width))
        native = self._bind(self.points, self.vectors, [], n, m, self.symmetric)
        edge = _edge(n, m)
        down, across = -(-n // edge), -(-m // edge)
        # Half of a symmetric matrix is enough, if there is room for a sum per lane.
        most = MOST_SUMS // (8 * n * width)
        half = self.symmetric and most >= min(4, down)
        if half:
            lanes = _equal_areas(down, min(down, most, 32))
            length = max(sum(range(a + 1, b + 1)) for a, b in itertools.pairwise(lanes))
        else:
            lanes, length = list(range(down + 1)), across
        sums = np.zeros((len(lanes) - 1, n, width) if half else (1, n, width))
        threads = num_threads()
        for first, last in self._calls(length, len(lanes) - 1, progress):
            if native.product(lanes, half, first, last, V, sums, threads) >= 0:
                return None
        total: Array = sums[0]
        for part in sums[1:]:
            total += part
        return total

    def _bind(
        self,
        points: list[tuple[Array, Array]],
        vectors: list[tuple[Array, Array]],
        foreign: list[Array],
        n: int,
        m: int,
        symmetric: bool,
    ) -> _native.Program:
        return _native.Program(
            self.steps,
            self.parameters,
            points,
            vectors,
            foreign,
            n,
            m,
            self.registers,
            symmetric,
            _edge(n, m),
            self.cost,
        )

    def _calls(self, count: int, each: int, progress: bool) -> Iterator[tuple[int, int]]:
        """Ranges of work for one native call, each of about the same short time."""
        bar = tiles._bar(count) if progress else None
        operations = self.cost * each * _edge(*self.shape) ** 2
        size = max(1, int(_FIRST_CALL / operations))
        first = 0
        try:
            while first < count:
                last = min(count, first + size)
                start = time.perf_counter()
                yield first, last
                took = time.perf_counter() - start
                size = max(1, min(4 * size, int((last - first) * CALL_SECONDS / max(took, 1e-6))))
                if bar is not None:
                    bar.update(last - first)
                first = last
        finally:
            if bar is not None:
                bar.close()

    def _dense_by_panels(self, out: Array, progress: bool) -> Array | None:
        """With foreign blocks: these first, for a panel, then the steps on it."""

        def panel(rows: slice, cols: slice) -> Array:
            symmetric = self.symmetric and rows == cols
            with workers.located(rows, cols, self.symmetric):
                blocks = [_foreign_tile(f, rows, cols) for f in self.foreign]
            foreign = [np.ascontiguousarray(values, dtype=np.float64) for values in blocks]
            points = [(left[rows], right[cols]) for left, right in self.points]
            vectors = [(left[rows], right[cols]) for left, right in self.vectors]
            n, m = rows.stop - rows.start, cols.stop - cols.start
            native = self._bind(points, vectors, foreign, n, m, symmetric)
            values = np.empty((n, m), dtype=out.dtype)
            if native.dense(0, native.tiles, values, num_threads()) >= 0:
                raise _CheckFailed
            return values

        n, m = self.shape
        try:
            return tiles.run(panel, n, m, symmetric=self.symmetric, out=out, progress=progress)
        except _CheckFailed:
            return None


class _CheckFailed(Exception):
    """A value did not pass a check."""


def _foreign_tile(foreign: tuple[Block, Data, Data | None], rows: slice, cols: slice) -> Array:
    block, X, Y = foreign
    if Y is None and rows == cols:
        return block(take(X, rows), None)
    return block(take(X, rows), take(X if Y is None else Y, cols))


def _is_normal(number: float) -> bool:
    return 1e-290 < abs(number) < 1e290


def _is_sparse(X: Data, Y: Data | None) -> bool:
    return bool(sparse.issparse(X) or sparse.issparse(Y))


def _is_cheap_dense(A: Data) -> bool:
    """Whether rows are dense, or few and full enough that merging their supports would take longer."""
    if not sparse.issparse(A):
        return True
    size = A.shape[0] * A.shape[1]
    return bool(8 * size <= MOST_DENSE and 64 * A.nnz >= size)


def _dense(A: Data) -> Array:
    return np.asarray(A.toarray())


def _common(X: Data, Y: Data | None) -> np.dtype[Any]:
    return _SINGLE if X.dtype == _SINGLE and (Y is None or Y.dtype == _SINGLE) else _DOUBLE


def _edge(n: int, m: int) -> int:
    """Rows and columns of a tile, smaller where there would be few of them; from the shape alone."""
    edge: int = _native.TILE
    while edge > 32 and -(-n // edge) * -(-m // edge) < 16:
        edge //= 2
    return edge


def _equal_areas(rows: int, parts: int) -> list[int]:
    """Cut a triangle of so many rows into parts of about equal area; the first and last cuts included."""
    cuts = {round(rows * (p / parts) ** 0.5) for p in range(parts + 1)}
    return sorted(cuts)
