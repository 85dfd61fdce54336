"""Plain NumPy twins of the native functions, written straight from their definitions.

They are slow, use memory freely and compute in extended precision where the platform has it: oracles for
tests, nothing else.  A twin takes what the engine takes and always returns a float64 or wider array.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = [
    "CHECKS",
    "PAIRWISE",
    "STEPS",
    "all_subsets",
    "anova",
    "cauchy",
    "chi_square",
    "dot",
    "jensen",
    "l1_distances",
    "max_sums",
    "min_sums",
    "packed_product",
    "squared_distances",
    "two_variable_descent",
]

Array: TypeAlias = npt.NDArray[Any]


def _grid(X: Any, Y: Any | None) -> tuple[Array, Array]:
    """Every row of X against every row of Y, as arrays of shapes (n, 1, d) and (1, m, d)."""
    Y = X if Y is None else Y
    x, y = (np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=np.longdouble) for A in (X, Y))
    return x[:, None, :], y[None, :, :]


def _sum(terms: Array) -> Array:
    """Sum over the features."""
    return np.asarray(np.sum(terms, axis=2))


def squared_distances(X: Any, Y: Any | None = None) -> Array:
    """Sum of (x - y)^2."""
    x, y = _grid(X, Y)
    return _sum((x - y) ** 2)


def l1_distances(X: Any, Y: Any | None = None) -> Array:
    """Sum of |x - y|."""
    x, y = _grid(X, Y)
    return _sum(np.abs(x - y))


def min_sums(X: Any, Y: Any | None = None) -> Array:
    """Sum of min(x, y)."""
    x, y = _grid(X, Y)
    return _sum(np.minimum(x, y))


def max_sums(X: Any, Y: Any | None = None) -> Array:
    """Sum of max(x, y)."""
    x, y = _grid(X, Y)
    return _sum(np.maximum(x, y))


def chi_square(X: Any, Y: Any | None = None) -> Array:
    """Sum of (x - y)^2 / (x + y), where 0/0 = 0."""
    x, y = _grid(X, Y)
    total = x + y
    return _sum(np.where(total == 0, 0, (x - y) ** 2 / np.where(total == 0, 1, total)))


def jensen(X: Any, Y: Any | None = None) -> Array:
    """Sum of h((x + y)/2) - (h(x) + h(y))/2 with h(t) = -t log t."""
    x, y = _grid(X, Y)

    def h(t: Array) -> Array:
        return -t * np.log(np.where(t == 0, 1, t))

    return _sum(h((x + y) / 2) - (h(x) + h(y)) / 2)


def dot(X: Any, Y: Any | None = None) -> Array:
    """Sum of x y."""
    x, y = _grid(X, Y)
    return _sum(x * y)


def anova(X: Any, Y: Any | None, weights: Array, coefficients: Array) -> Array:
    """Every subset of features of every degree, one by one."""
    x, y = _grid(X, Y)
    z = np.asarray(weights, dtype=np.longdouble) * (x * y)
    total = np.zeros(z.shape[:2], dtype=np.longdouble)
    for degree, coefficient in enumerate(coefficients):
        for subset in combinations(range(z.shape[2]), degree):
            total += coefficient * np.prod(z[:, :, list(subset)], axis=2)
    return total


def all_subsets(X: Any, Y: Any | None, weights: Array) -> Array:
    """Product of 1 + w x y."""
    x, y = _grid(X, Y)
    return np.asarray(np.prod(1 + np.asarray(weights, dtype=np.longdouble) * (x * y), axis=2))


def cauchy(X: Any, Y: Any | None, weights: Array) -> Array:
    """Product of 1 + (w (x - y))^2."""
    x, y = _grid(X, Y)
    return np.asarray(np.prod(1 + (np.asarray(weights, dtype=np.longdouble) * (x - y)) ** 2, axis=2))


def _diagonal(a: Array, rows: Array) -> Array:
    result = a.copy()
    np.fill_diagonal(result, rows)
    return result


def _horner(a: Array, *coefficients: float) -> Array:
    return np.asarray(np.polynomial.polynomial.polyval(a, np.array(coefficients, dtype=np.longdouble)))


def packed_product(tiles: Array, V: Array) -> Array:
    """``K @ V`` of a symmetric matrix given by the tiles on and below its diagonal."""
    n, edge = len(V), tiles.shape[1]
    down = -(-n // edge)
    places = [(i, j) for i in range(down) for j in range(i + 1)]
    K = np.zeros((down * edge, down * edge), dtype=np.longdouble)
    for (i, j), tile in zip(places, tiles, strict=True):
        K[i * edge : (i + 1) * edge, j * edge : (j + 1) * edge] = tile
        K[j * edge : (j + 1) * edge, i * edge : (i + 1) * edge] = tile.T
    return np.asarray(K[:n, :n] @ V.astype(np.longdouble))


def two_variable_descent(
    K: Array,
    linear: Array,
    low: Array,
    high: Array,
    width: float,
    constraint: str,
    b: Array,
    tol: float,
    most: int = 100_000,
) -> Array:
    r"""Minimise :math:`\frac12 b^\top K b + q^\top b + w \|b\|_1` in a box, by the pair that violates most.

    ``constraint`` as for :class:`mercer.solvers.BoxProblem`; the twin of the native decomposition, without
    working sets, caches and the second-order choice of pairs.
    """
    b = np.array(b, dtype=np.float64)
    for _ in range(most):
        f = K @ b + linear
        up = np.where(b < high, -f - np.where(b >= 0, width, -width), -np.inf)
        down = np.where(b > low, -f - np.where(b > 0, width, -width), np.inf)
        if constraint == "free":
            i = int(np.argmax(np.maximum(up, -down)))
            rate, sign = max(up[i], -down[i]), 1.0 if up[i] >= -down[i] else -1.0
            step = sign * _unit(len(b), i)
        else:
            # Without "signed" all variables are one group, else those on either side of zero.
            sides = [(b >= 0, b > 0), (b < 0, b <= 0)] if constraint == "signed" else [(b == b, b == b)]
            pairs = [
                (int(np.argmax(np.where(u, up, -np.inf))), int(np.argmin(np.where(d, down, np.inf))), u, d)
                for u, d in sides
            ]
            rates = [np.where(u, up, -np.inf)[i] - np.where(d, down, np.inf)[j] for i, j, u, d in pairs]
            worst = int(np.argmax(rates))
            i, j = pairs[worst][:2]
            rate, step = rates[worst], _unit(len(b), i) - _unit(len(b), j)
        if rate <= tol:
            break
        room = min(_room(b[k], step[k], low[k], high[k]) for k in np.flatnonzero(step))
        b += min(rate / max(step @ K @ step, 1e-300), room) * step
        b = np.clip(b, low, high)
    return b


def _unit(n: int, i: int) -> Array:
    return np.asarray(np.arange(n) == i, dtype=np.float64)


def _room(b: float, direction: float, low: float, high: float) -> float:
    """How far a variable can go before it meets a bound, or zero, where the slope changes."""
    end = 0.0 if b * direction < 0 else (high if direction > 0 else low)
    return abs(end - b)


#: Twins of the elementwise steps of a program, by the name of the constant: functions of one or two
#: matrices, of a vector for the rows and one for the columns, and of parameters.
STEPS: dict[str, Callable[..., Array]] = {
    "CONSTANT": lambda a, c: np.full_like(a, c),
    "ADD": lambda a, b: a + b,
    "MULTIPLY": lambda a, b: a * b,
    "DIVIDE": lambda a, b: a / b,
    "SCALE": lambda a, factor: factor * a,
    "SHIFT": lambda a, term: a + term,
    "RECIPROCAL": lambda a: 1 / a,
    "INTEGER_POWER": lambda a, n: a ** int(n),
    "REAL_POWER": lambda a, p: a ** np.longdouble(p),
    "EXP": np.exp,
    "LOG1P": np.log1p,
    "TANH": np.tanh,
    "SQRT": np.sqrt,
    "HORNER": _horner,
    "OUTER_MULTIPLY": lambda a, rows, cols: rows[:, None] * a * cols,
    "OUTER_ADD": lambda a, rows, cols, factor: factor * a + (rows[:, None] + cols),
    "CLIP": lambda a, low, high: np.clip(a, low, high),
    "DIAGONAL": lambda a, rows, cols: _diagonal(a, rows),
    "LOOKUP": lambda a, *table: np.array(table)[a.astype(int)],
}

#: Twins of the steps that look at values and change none.
CHECKS: dict[str, Callable[..., bool]] = {
    "WITHIN": lambda a, low, high: bool(((a >= low) & (a <= high)).all()),
    "NONZERO": lambda a: bool((a != 0).all()),
}

#: Twins of the operations of ``_native.pairwise`` and ``_native.csr_pairwise``, by the name of the constant.
PAIRWISE: dict[str, Callable[..., Array]] = {
    "SQEUCLIDEAN": squared_distances,
    "L1": l1_distances,
    "MIN": min_sums,
    "MAX": max_sums,
    "CHI2": chi_square,
    "JENSEN": jensen,
    "DOT": dot,
}
