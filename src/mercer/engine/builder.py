"""How a kernel describes itself to the engine.

A kernel gives a :class:`Builder` a few steps on values: a value stands for the whole matrix, and at run time
for one tile of it in a register.  Equal steps on equal data are one step, so that the kernels of one
expression share distances and dot products.  What cannot be described enters as an *opaque* value, computed
in Python panel by panel.  :mod:`mercer.engine.program` runs the steps.  See ``docs/engine.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.caches import Cache
from mercer.domains import Data, take
from mercer.engine import pairwise
from mercer.engine.layouts import pack
from mercer.engine.points import (
    DOUBLE,
    SINGLE,
    Points,
    common,
    csr,
    dense,
    is_full_enough,
    is_large,
    is_sparse,
    points_of,
)
from mercer.engine.registers import Shape
from mercer.engine.tiles import TILE_SIZE

__all__ = ["MOST_EXPONENT", "Builder", "Describes", "Node", "Opaque", "Value"]

Array: TypeAlias = npt.NDArray[Any]

#: A matrix in the making: the number of the step that computes it.
Value: TypeAlias = int

Block: TypeAlias = Callable[[Data, Data | None], Array]

#: Real powers keep their 4 ulp up to this exponent.
MOST_EXPONENT = 64.0

#: Sums over zeros and ones that are counts of bits, and the features of a block that are worth packing.
COUNTS = frozenset({_native.DOT, _native.SQEUCLIDEAN})
WORTH_PACKING = 1 << 20

_SPARSE: dict[int, Block] = {
    _native.SQEUCLIDEAN: pairwise.squared_distances,
    _native.DOT: pairwise.dot,
    _native.L1: pairwise.l1_distances,
    _native.MIN: pairwise.min_sums,
    _native.MAX: pairwise.max_sums,
    _native.CHI2: pairwise.chi_square,
    _native.JENSEN: pairwise.jensen,
}

# The largest number that is finite in float32 after rounding.
_SINGLE_LIMIT = float(np.nextafter(float.fromhex("0x1.ffffffp127"), 0.0))
_DOUBLE_LIMIT = float(np.finfo(np.float64).max)


class Describes(Protocol):
    """What the builder needs of a kernel."""

    @property
    def _tile_size(self) -> int: ...

    def _dtype(self, X: Data, Y: Data | None) -> np.dtype[Any]: ...

    def _block(self, X: Data, Y: Data | None) -> Array: ...

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None: ...


class Node(NamedTuple):
    """One step: an operation on values ``a`` and ``b``."""

    op: int
    a: Value = -1
    b: int = -1  # a second value, or the number of points, vectors or an opaque block
    parameters: tuple[float, ...] = ()


class Opaque(NamedTuple):
    """A function of selected points in place of steps."""

    block: Block
    X: Data
    Y: Data | None
    tile_size: int

    def tile(self, rows: slice, cols: slice) -> Array:
        """Values of selected rows and columns."""
        if self.Y is None and rows == cols:
            return self.block(take(self.X, rows), None)
        return self.block(take(self.X, rows), take(self.X if self.Y is None else self.Y, cols))


class Builder:
    """Collects the steps of one block: rows ``X`` against columns ``Y``, or ``X`` with itself.

    Methods return values; kernels see nothing else.  Data come prepared.
    """

    def __init__(self, n: int, m: int, symmetric: bool, layouts: Cache | None = None) -> None:
        self.shape = (n, m)
        self.layouts = Cache() if layouts is None else layouts
        self.symmetric = symmetric
        self.nodes: list[Node] = []
        self.shapes: list[Shape] = []
        self.dtypes: list[np.dtype[Any]] = []
        self._known: dict[tuple[Node, np.dtype[Any] | None], Value] = {}
        self._seen: dict[tuple[Any, ...], int] = {}
        self._derived: dict[tuple[Any, ...], Data] = {}
        self.points: list[Points] = []
        self.vectors: list[tuple[Array, Array]] = []
        self.blocks: list[Opaque] = []
        self._kept: list[Any] = []  # what is known by its address must live

    # -- kernels and data ---------------------------------------------------------------------
    def kernel(self, k: Describes, X: Data, Y: Data | None) -> Value:
        """Values of a kernel on prepared data."""
        value = k._compile(self, X, Y)
        return self.opaque(k._block, X, Y, k._dtype(X, Y), k._tile_size) if value is None else value

    def opaque(
        self,
        block: Block,
        X: Data,
        Y: Data | None,
        dtype: np.dtype[Any] = DOUBLE,
        tile_size: int = TILE_SIZE,
    ) -> Value:
        """Values that a Python function computes, ``block(X, Y)`` for selected points."""
        self.blocks.append(Opaque(block, X, Y, tile_size))
        return self._step(_native.OPAQUE, b=len(self.blocks) - 1, dtype=dtype)

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
        if is_sparse(X, Y):
            return self.opaque(lambda A, B: pairwise.anova(A, B, weights, coefficients), X, Y, common(X, Y))
        parameters = (*np.asarray(weights, dtype=np.float64).tolist(), *(series.tolist() or [0.0]))
        return self._pairs(_native.ANOVA, X, Y, parameters)

    def all_subsets(self, X: Data, Y: Data | None, weights: Array) -> Value:
        """Products of 1 + w x y."""
        if is_sparse(X, Y):
            return self.opaque(lambda A, B: pairwise.all_subsets(A, B, weights), X, Y, common(X, Y))
        return self._pairs(_native.ALL_SUBSETS, X, Y, tuple(np.asarray(weights, dtype=np.float64).tolist()))

    def cauchy(self, X: Array, Y: Array | None, weights: Array) -> Value:
        """Products of 1 + (w (x - y))^2, of dense rows."""
        return self._pairs(_native.CAUCHY, X, Y, tuple(np.asarray(weights, dtype=np.float64).tolist()))

    # -- elementwise steps --------------------------------------------------------------------
    def constant(self, c: float, dtype: np.dtype[Any] = DOUBLE) -> Value:
        """The same number everywhere."""
        return self._step(_native.CONSTANT, parameters=(float(c),), dtype=dtype)

    def add(self, values: Iterable[Value]) -> Value:
        """A sum; a generator of values is computed as it is added up."""
        return self._fold(_native.ADD, values)

    def multiply(self, values: Iterable[Value]) -> Value:
        """A product of values."""
        return self._fold(_native.MULTIPLY, values)

    def divide(self, a: Value, b: Value) -> Value:
        """``a / b``."""
        return self._fold(_native.DIVIDE, (a, b))

    def subtract(self, a: Value, b: Value) -> Value:
        """``a - b``."""
        return self.add((a, self.scale(b, -1.0)))

    def scale(self, a: Value, factor: float) -> Value:
        """``factor * a``."""
        before = self.nodes[a]
        if before.op == _native.SCALE and _is_normal(before.parameters[0] * factor):
            a, factor = before.a, before.parameters[0] * factor
        return a if factor == 1.0 else self._step(_native.SCALE, a, parameters=(float(factor),))

    def shift(self, a: Value, term: float) -> Value:
        """``a + term``."""
        return a if term == 0.0 else self._step(_native.SHIFT, a, parameters=(float(term),))

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
        limit = _SINGLE_LIMIT if self.dtypes[a] == SINGLE else _DOUBLE_LIMIT
        checked = self.nodes[a].op == _native.WITHIN and self.nodes[a].parameters == (-limit, limit)
        return a if checked else self.within(a, -limit, limit)

    # -- the making -----------------------------------------------------------------------------
    def _step(
        self,
        op: int,
        a: Value = -1,
        b: int = -1,
        parameters: tuple[float, ...] = (),
        dtype: np.dtype[Any] | None = None,
    ) -> Value:
        node = Node(op, a, b, parameters)
        value = self._known.get((node, dtype))
        if value is None:
            value = self._known[node, dtype] = len(self.nodes)
            self.nodes.append(node)
            self.shapes.append((op, a, b, len(parameters)))
            self.dtypes.append(self.dtypes[a] if dtype is None else dtype)
        return value

    def _fold(self, op: int, values: Iterable[Value]) -> Value:
        result: Value | None = None
        for value in values:
            if result is None:
                result = value
            else:
                dtype = np.promote_types(self.dtypes[result], self.dtypes[value])
                result = self._step(op, result, value, dtype=dtype)
        assert result is not None
        return result

    def _pairs(self, op: int, X: Data, Y: Data | None, parameters: tuple[float, ...] = ()) -> Value:
        dtype = common(X, Y)
        packed = self._packed(X, Y) if op in COUNTS else None
        if packed is not None:
            X, Y = packed
        elif is_sparse(X, Y):
            if any(is_large(A) for A in (X, Y)):
                return self._merged(op, X, Y, dtype)
            layout = dense if all(is_full_enough(A, op) for A in (X, Y) if A is not None) else csr
            X = self.derived(X, (layout,), layout)
            Y = None if Y is None else self.derived(Y, (layout,), layout)
        key = (id(X), id(Y))
        if key not in self._seen:
            self._kept.append((X, Y))
            self._seen[key] = len(self.points)
            self.points.append(points_of(X, Y, dtype))
        return self._step(op, b=self._seen[key], parameters=parameters, dtype=dtype)

    def _packed(self, X: Data, Y: Data | None) -> tuple[Array, Array | None] | None:
        """Both as rows of packed zeros and ones, if they are that and it is worth the packing."""
        n, m = self.shape
        if n * m * X.shape[1] < WORTH_PACKING or X.shape[1] == 0:
            return None
        left = self.layouts.of(X, pack)
        if left is None or Y is None:
            return None if left is None else (left, None)
        right = self.layouts.of(Y, pack)
        return None if right is None else (left, right)

    def _merged(self, op: int, X: Data, Y: Data | None, dtype: np.dtype[Any]) -> Value:
        """Sparse rows against dense ones that are too many to be compressed all at once."""
        key = (op, id(X), id(Y))
        if key not in self._seen:
            self._kept.append((X, Y))
            self._seen[key] = self.opaque(_SPARSE[op], X, Y, dtype)
        return self._seen[key]

    def _vector(self, rows: Array, cols: Array | None) -> int:
        key = ("vector", id(rows), id(cols))
        if key not in self._seen:
            self._kept.append((rows, cols))
            left = np.ascontiguousarray(rows, dtype=np.float64)
            right = left if cols is None else np.ascontiguousarray(cols, dtype=np.float64)
            self.vectors.append((left, right))
            self._seen[key] = len(self.vectors) - 1
        return self._seen[key]

    def _with(self, a: Value, vector: Array) -> np.dtype[Any]:
        return np.promote_types(self.dtypes[a], vector.dtype)


def _is_normal(number: float) -> bool:
    return 1e-290 < abs(number) < 1e290
