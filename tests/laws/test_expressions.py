"""Random expressions of depth up to five: what they compute, what they claim, how they print.

Each random expression is built twice: as a kernel, and as a plain NumPy evaluation of the same Python
expression on the blocks of its leaves, with a running bound on the rounding error.  The bound makes exact
statements possible where differences and roots magnify rounding: the block must lie within it, and so must
any eigenvalue of the wrong sign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mercer import Kernel
from mercer.algebra import Constant, Product, Sum
from mercer.domains import Vectors
from mercer.errors import InputError, ParameterError
from mercer.kernels import Linear, Polynomial, Sigmoid
from mercer.kernels.l1 import Cauchy, Laplacian
from mercer.kernels.powers import PowerDistance, PowerExponential
from mercer.kernels.radial import Exponential, Gaussian
from mercer.testing import check_kernel
from mercer.testing.scope import evaluate

MAX_DEPTH = 5
#: Zero, a repeated point, opposite and axis-parallel ones; entries small so that powers stay finite.
POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.5, -1.0], [-0.5, 1.0], [0.25, 1.5], [-1.25, -0.75]])
#: Rounding of one operation and of one entry of a leaf, in ulp, with room for second-order terms.
ULPS = 16
#: Values beyond this are not looked at: their squares and exponentials are about to overflow.
HUGE = 1e60
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Approx:
    """Values with a bound on their error: interval arithmetic by NumPy, rounded outwards by ULPS."""

    value: np.ndarray
    error: np.ndarray

    @classmethod
    def of(cls, value: np.ndarray, error: Any = 0.0) -> Approx:
        return cls(value, error + ULPS * EPS * np.abs(value) + np.finfo(float).tiny)

    def __add__(self, other: Approx) -> Approx:
        return Approx.of(self.value + other.value, self.error + other.error)

    def __sub__(self, other: Approx) -> Approx:
        return Approx.of(self.value - other.value, self.error + other.error)

    def __mul__(self, other: Approx) -> Approx:
        spread = (
            np.abs(self.value) * other.error + np.abs(other.value) * self.error + self.error * other.error
        )
        return Approx.of(self.value * other.value, spread)

    def scale(self, c: float) -> Approx:
        return Approx.of(c * self.value, abs(c) * self.error)

    def monotone(self, f: Callable[[np.ndarray], np.ndarray], low: float = -np.inf) -> Approx:
        """Apply a monotone function, defined from ``low`` on."""
        value = f(np.maximum(self.value, low))
        ends = [f(np.maximum(self.value + s * self.error, low)) for s in (-1, 1)]
        return Approx.of(value, np.maximum(*(np.abs(end - value) for end in ends)))

    def diagonal(self) -> tuple[Approx, Approx]:
        """Diagonal, as a column and as a row."""
        v, e = self.value.diagonal(), self.error.diagonal()
        return Approx(v[:, None], e[:, None]), Approx(v[None, :], e[None, :])


@dataclass(frozen=True)
class Expression:
    """A kernel and the same expression evaluated on blocks."""

    kernel: Kernel
    approx: Approx

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # what Hypothesis prints
        printer.text(repr(self.kernel))

    @property
    def ordinary(self) -> bool:
        return bool(np.isfinite(self.approx.value).all() and np.abs(self.approx.value).max() < HUGE)


def leaf(k: Kernel, formula: Callable[[np.ndarray, np.ndarray], float]) -> Expression:
    """A leaf with its formula written out again."""
    values = np.array([[formula(x, y) for y in POINTS] for x in POINTS], dtype=float)
    return Expression(k, Approx.of(values, ULPS * EPS))


LEAVES = [
    leaf(Gaussian(0.75), lambda x, y: np.exp(-((x - y) @ (x - y)) / (2 * 0.75**2))),
    leaf(Gaussian([1.0, 3.0]), lambda x, y: np.exp(-(((x - y) / [1.0, 3.0]) ** 2).sum() / 2)),
    leaf(Linear(), lambda x, y: x @ y),
    leaf(Polynomial(2, 0.5), lambda x, y: (x @ y + 0.5) ** 2),
    leaf(Laplacian(2.0), lambda x, y: np.exp(-np.abs(x - y).sum() / 2.0)),
    leaf(Exponential(1.5), lambda x, y: np.exp(-np.linalg.norm(x - y) / 1.5)),
    leaf(Cauchy(), lambda x, y: np.prod(1 / (1 + (x - y) ** 2))),
    leaf(Constant(1.5), lambda x, y: 1.5),
    leaf(PowerDistance(1.0), lambda x, y: np.linalg.norm(x - y)),
    leaf(PowerDistance(2.0), lambda x, y: (x - y) @ (x - y)),
    leaf(Linear().distance(), lambda x, y: (x - y) @ (x - y)),
    leaf(Sigmoid(1.0, 0.25), lambda x, y: np.tanh(x @ y + 0.25)),
    leaf(PowerExponential(3.0), lambda x, y: np.exp(-(np.linalg.norm(x - y) ** 3))),
]

SCALARS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0])
WIDTHS = st.sampled_from([0.5, 1.0, 2.0])


def _distance(k: Approx) -> Approx:
    column, row = k.diagonal()
    return column + row - k.scale(2.0)


def _clipped(k: Approx, keep: bool) -> Approx:
    """The library sets to zero what only rounding made negative, where theory says it is not."""
    return k if keep else Approx(np.maximum(k.value, 0.0), k.error)


class Unfit(Exception):
    """An operation that has no value, or no meaning beyond rounding, on this operand."""


def fit(condition: Any) -> None:
    if not condition:
        raise Unfit


def _scaled(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    c = draw(SCALARS)
    return Expression(c * k if draw(st.booleans()) else k * np.float64(c), v.scale(c))


def _shift(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    c = draw(SCALARS)
    constant = Approx.of(np.full_like(v.value, c))
    return draw(
        st.sampled_from(
            [
                Expression(k + c, v + constant),
                Expression(c - k, constant - v),
                Expression(k - c, v - constant),
            ]
        )
    )


def _power(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    n = draw(st.integers(0, 3))
    result = Approx.of(np.ones_like(v.value))
    for _ in range(n):
        result = result * v
    return Expression(k**n, result)


def _polynomial(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    a = draw(st.lists(SCALARS, min_size=1, max_size=3))
    total = Approx.of(np.zeros_like(v.value))
    power = Approx.of(np.ones_like(v.value))
    for c in a:
        total = total + power.scale(c)
        power = power * v
    return Expression(k.polynomial(a), total)


def _exp(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    fit(v.value.max() < 50)
    return Expression(k.exp(), v.monotone(np.exp))


def _normalized(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    d, spread = v.value.diagonal(), v.error.diagonal()
    fit((d > 1e4 * spread).all() or k == Linear())  # a diagonal that is zero but for rounding means nothing
    column, row = (side.monotone(lambda t: 1 / np.sqrt(t), low=1e-300) for side in v.diagonal())
    w = column * v * row
    zero = (v.value.diagonal() == 0)[:, None] | (v.value.diagonal() == 0)[None, :]
    return Expression(k.normalized(), Approx(np.where(zero, 0.0, w.value), np.where(zero, 0.0, w.error)))


def _distances(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    return Expression(k.distance(), _clipped(_distance(v), not k.certificate.is_psd))


def _gaussian(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    s = draw(WIDTHS)
    w = _clipped(_distance(v), not k.certificate.is_psd).scale(-1 / (2 * s * s))
    fit(w.value.max() < 50)
    return Expression(k.gaussian(s), w.monotone(np.exp))


def _schoenberg(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    t = draw(WIDTHS)
    fit((-t * v.value).max() < 50)
    return Expression(k.schoenberg(t), v.scale(-t).monotone(np.exp))


def _fractional(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    a = draw(st.sampled_from([0.3, 0.5, 1.5]))
    fit((v.value >= 0).all())
    return Expression(k**a, v.monotone(lambda t: np.power(t, a), low=0.0))


def _log1p(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    fit((v.value - v.error > -0.99).all())
    return Expression(k.log1p(), v.monotone(np.log1p))


def _reciprocal(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    c = draw(st.sampled_from([0.5, 1.0]))
    w = v + Approx.of(np.full_like(v.value, c))
    fit((np.abs(w.value) > 0.01 + 1e4 * w.error).all())
    return Expression(1 / (c + k), w.monotone(np.reciprocal))


def _shifted(draw: st.DrawFn, k: Kernel, v: Approx) -> Expression:
    fit(isinstance(k.domain, Vectors))
    i = draw(st.integers(0, len(POINTS) - 1))
    to = Approx(v.value[:, [i]], v.error[:, [i]])
    back = Approx(v.value[[i], :], v.error[[i], :])
    here = Approx(v.value[i, i], v.error[i, i])
    return Expression(k.shifted(POINTS[i]), to + back - v - here)


UNARY: dict[str, Callable[[st.DrawFn, Kernel, Approx], Expression]] = {
    "scale": _scaled,
    "shift": _shift,
    "power": _power,
    "polynomial": _polynomial,
    "exp": _exp,
    "normalized": _normalized,
    "distance": _distances,
    "gaussian": _gaussian,
    "schoenberg": _schoenberg,
    "fractional": _fractional,
    "log1p": _log1p,
    "reciprocal": _reciprocal,
    "shifted": _shifted,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


@st.composite
def expressions(draw: st.DrawFn, depth: int = MAX_DEPTH, certified: bool = False) -> Expression:
    """A leaf, or an operation on smaller expressions; an operation that does not fit leaves its operand.

    With ``certified`` an operation does not fit either if nothing is proved about its result.
    """
    if depth <= 1 or draw(st.integers(0, 5)) == 0:
        return draw(st.sampled_from(LEAVES))
    e = draw(expressions(depth - 1, certified))
    try:
        if draw(st.booleans()):
            operation = UNARY[draw(st.sampled_from(sorted(UNARY)))]
            new = operation(draw, e.kernel, e.approx)
        else:
            other = draw(expressions(depth - 1, certified))
            f = BINARY[draw(st.sampled_from(sorted(BINARY)))]
            new = Expression(f(e.kernel, other.kernel), f(e.approx, other.approx))
    except Unfit:
        return e
    known = not certified or new.kernel.certificate.is_psd or new.kernel.certificate.is_cpd(1)
    return new if new.ordinary and (known or new.kernel.certificate.is_nds) else e


def close(got: np.ndarray, want: Approx, what: str) -> None:
    gap = np.abs(got - want.value)
    assert (gap <= want.error).all(), (
        f"{what}: off by {(gap / want.error).max():.3g} times the rounding bound"
    )


def usable(e: Expression) -> None:
    """The error bound of the whole must be small, or there is nothing to check."""
    assume(e.approx.error.max() < 1e-6 * (1 + np.abs(e.approx.value).max()))


@given(expressions())
def test_block_is_the_expression_as_written(e: Expression) -> None:
    try:
        K = e.kernel.block(POINTS)
    except InputError:  # a fractional power of what rounding made negative
        assume(False)
    close(K, e.approx, "block(X)")
    assert np.array_equal(K, K.T)
    close(
        e.kernel.diagonal(POINTS), Approx(e.approx.value.diagonal(), e.approx.error.diagonal()), "diagonal(X)"
    )


@given(expressions(), st.data())
def test_block_is_the_definition(e: Expression, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(POINTS) - 1), min_size=1, max_size=4))
    columns = data.draw(st.lists(st.integers(0, len(POINTS) - 1), min_size=1, max_size=3))
    k = e.kernel
    try:
        K = k.block(POINTS[rows], POINTS[columns])
        D = np.array([[k(POINTS[i], POINTS[j]) for j in columns] for i in rows])
    except InputError:
        assume(False)
    where = np.ix_(rows, columns)
    allowed = Approx(e.approx.value[where], e.approx.error[where])
    close(K, allowed, "block(X, Y)")
    close(D, allowed, "definition")


@given(expressions(certified=True))
def test_certified_implies_the_sign_of_the_spectrum(e: Expression) -> None:
    usable(e)
    K, n = e.approx.value, len(POINTS)
    K = (K + K.T) / 2
    slack = n * float(e.approx.error.max()) + 64 * n * EPS * np.linalg.norm(K, 2)
    centre = np.eye(n) - 1 / n
    certificate = e.kernel.certificate
    if certificate.is_psd:
        assert np.linalg.eigvalsh(K)[0] >= -slack, certificate.explain()
    if certificate.is_nds:
        assert np.linalg.eigvalsh(centre @ K @ centre)[-1] <= slack, certificate.explain()
    if certificate.is_cpd(1):
        assert np.linalg.eigvalsh(centre @ K @ centre)[0] >= -slack, certificate.conditional.tree()
    divisible = e.kernel._infinitely_divisible()
    if divisible is not None and (e.approx.value > 1e3 * e.approx.error).all():
        for t in (0.3, 1.7):
            root = e.approx.monotone(lambda v, t=t: np.power(v, t), low=0.0)
            slack = n * float(root.error.max()) + 64 * n * EPS * np.linalg.norm(root.value, 2)
            assert np.linalg.eigvalsh((root.value + root.value.T) / 2)[0] >= -slack, divisible.tree()


@given(expressions())
def test_values_lie_within_their_bounds(e: Expression) -> None:
    low, high = e.kernel.bounds.low, e.kernel.bounds.high
    v, error = e.approx.value, e.approx.error
    assert (v >= low - error).all(), f"{v.min()} < {low}: {e.kernel!r}"
    assert (v <= high + error).all(), f"{v.max()} > {high}: {e.kernel!r}"
    d, error = v.diagonal(), error.diagonal()
    bounds = e.kernel.diagonal_bounds
    assert (d >= bounds.low - error).all(), f"{d.min()} < {bounds.low}: {e.kernel!r}"
    assert (d <= bounds.high + error).all(), f"{d.max()} > {bounds.high}: {e.kernel!r}"


@given(expressions())
def test_values_pickles_and_witnesses(e: Expression) -> None:
    try:
        e.kernel.block(POINTS)
    except InputError:
        assume(False)
    laws = ["representation", "pickling", "value", "parameters", "resolve", "certificate", "refuted"]
    check_kernel(e.kernel, POINTS, laws=laws)


@given(expressions(4))
def test_gradients_survive_composition(e: Expression) -> None:
    usable(e)
    assume(np.abs(e.approx.value).max() < 1e6)
    smooth = (
        "**" not in repr(e.kernel) and "distance" not in repr(e.kernel) and "Distance" not in repr(e.kernel)
    )
    assume(smooth)  # roots of differences are checked where they are smooth, by the registered cases
    check_kernel(e.kernel, POINTS, laws=["gradient"])


@given(expressions(3), expressions(3), expressions(3))
def test_ring_laws(a: Expression, b: Expression, c: Expression) -> None:
    x, y, z = a.kernel, b.kernel, c.kernel
    u, v, w = a.approx, b.approx, c.approx
    identities = [
        ((x + y) * z, x * z + y * z, (u + v) * w),
        (x * (y * z), (x * y) * z, u * (v * w)),
        (x + (y + z), (x + y) + z, u + (v + w)),
        (x - (y - z), x - y + z, u - (v - w)),
        (x - (y + z), x - y - z, u - (v + w)),
        (-(x * y), (-x) * y, (u * v).scale(-1.0)),
        ((x + y) ** 2, x**2 + 2 * (x * y) + y**2, (u + v) * (u + v)),
        (x * y + z, z + y * x, u * v + w),
        (x * (y + z), x * y + x * z, u * (v + w)),
        (2 * x + 3 * x, 5 * x, u.scale(5.0)),
    ]
    for left, right, want in identities:
        assume(np.abs(want.value).max() < HUGE)
        try:
            K, M = left.block(POINTS), right.block(POINTS)
        except InputError:
            assume(False)
        # the other side of an identity takes other roundings: those of every term, not of the result alone
        terms = sum((np.abs(t.value) + 1) for t in (u, v, w))
        room = Approx(want.value, 4 * want.error + 64 * ULPS * EPS * terms**3 + _spread(u, v, w))
        close(K, room, f"left of {left!r} = {right!r}")
        close(M, room, f"right of {left!r} = {right!r}")


def _spread(*terms: Approx) -> np.ndarray:
    """Errors of the terms, times what they may be multiplied with."""
    size = 1 + sum(np.abs(t.value) for t in terms)
    return 8 * sum(t.error for t in terms) * size**2


def test_mixed_sums_and_products_flatten_only_their_own_kind() -> None:
    a, b, c = Linear(), Gaussian(1.0), Laplacian(1.0)
    assert a + b + c == Sum((a, b, c))
    assert a * b * c == Product((a, b, c))
    assert a * b + c == Sum((Product((a, b)), c))
    assert (a + b) * c == Product((Sum((a, b)), c))
    assert a + b * c != (a + b) * c
    assert repr((a + b) * c) == "(Linear() + Gaussian()) * Laplacian()"


def test_replacing_a_term_by_a_sum_still_prints_as_it_is() -> None:
    k = (Linear() + Gaussian(1.0)).replace(term0=Linear() + Constant(1.0))
    assert evaluate(repr(k), k) == k
    k = (Linear() * Gaussian(1.0)).replace(factor1=Linear() * Constant(2.0))
    assert evaluate(repr(k), k) == k


def test_overflow_is_an_error_that_names_the_parameter() -> None:
    X = 1e200 * POINTS
    with pytest.raises(ParameterError, match="exponent"):
        (Linear() ** 2).block(X)
    with pytest.raises(ParameterError, match="overflow"):
        (Linear() ** 2)(X[1], X[1])
