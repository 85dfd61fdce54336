"""Claims of random expressions, and of tables with missing values, against Gram matrices to many digits."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath
from hypothesis import example, given
from hypothesis import strategies as st

from mercer import Kernel
from mercer.algebra import Constant
from mercer.domains.frames import Frames
from mercer.errors import InputError
from mercer.kernels import (
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    PowerDistance,
    PowerExponential,
    RationalQuadratic,
    Sigmoid,
    ThinPlate,
    columns,
)

#: Enough to see the smallest factor below, four times over, beside 1.
DIGITS = 150
CONTEXT = mpmath.MPContext()
CONTEXT.dps = DIGITS
#: An eigenvalue beyond this, relative to the largest entry, is not rounding.
ROUNDING = CONTEXT.mpf(10) ** -(DIGITS - 15)
#: Exponents beyond this are not looked at.
LARGE = 50

#: On a line and off it, with the origin, opposite points and points close to each other.
POINTS = [(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (2.0, 0.0), (0.5, 1.5), (0.5, 1.5001)]
ROWS: list[dict[str, Any]] = [
    {"x": 1.0, "y": None},
    {"x": 2.0, "y": None},
    {"x": None, "y": 2.0},
    {"x": None, "y": None},
    {"x": 1.0, "y": 2.0},
    {"x": 2.0, "y": 2.0},
    {"x": 2.0, "y": -1.0},
]
COMPLETE = [row for row in ROWS if None not in row.values()]
LEAVES = [
    Gaussian(0.75),
    Laplacian(2.0),
    Exponential(1.5),
    RationalQuadratic(1.0, 0.5),
    PowerExponential(1.0),
    PowerExponential(3.0),
    Linear(),
    Polynomial(2, 0.5),
    Constant(1.5),
    PowerDistance(0.5),
    PowerDistance(1.0),
    PowerDistance(2.0),
    PowerDistance(3.0),
    PowerDistance(4.0),
    ThinPlate(2, 2),
    ThinPlate(3, 2),
    Sigmoid(1.0, 0.25),
]
FACTORS = st.sampled_from([-2.0, -1.0, -1e-30, 0.0, 1e-30, 0.5, 3.0])
GROUP = ("x", "y")
LAYOUTS: list[tuple[Any, ...]] = [("x",), ("y",), ("x", "y"), (GROUP,), (GROUP, "x"), (GROUP, "x", "y")]

UNARY: list[Callable[[Kernel, float], Kernel]] = [
    lambda k, c: c * k,
    lambda k, c: k + c,
    lambda k, c: c - k,
    lambda k, c: k**2,
    lambda k, c: k**1,
    lambda k, c: k**3,
    lambda k, c: k**0.5,
    lambda k, c: k.polynomial([c, 1.0, 0.5]),
    lambda k, c: k.exp(),
    lambda k, c: k.schoenberg(0.5),
    lambda k, c: k.gaussian(2.0),
    lambda k, c: k.normalized(),
    lambda k, c: k.distance(),
    lambda k, c: k.sqrt(),
    lambda k, c: k.log1p(),
    lambda k, c: 1 / (0.5 + k),
    lambda k, c: k.power_series("cosh"),
    lambda k, c: Constant(c) * k,
    lambda k, c: k.polynomial([c, -1.0]),
    lambda k, c: k.polynomial([1.0, -1.0, 0.5]),
    lambda k, c: k - c * k,
    lambda k, c: 2.0 * k - 3.0 * (k - 1.0),
]
BINARY: list[Callable[[Kernel, Kernel], Kernel]] = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
]


def gram(k: Kernel, points: list[Any]) -> mpmath.matrix | None:
    """Gram matrix with many digits; None if the kernel has no value somewhere."""
    n = len(points)
    K = CONTEXT.matrix(n, n)
    try:
        for i, j in itertools.combinations_with_replacement(range(n), 2):
            K[i, j] = K[j, i] = CONTEXT.mpf(k.precise(points[i], points[j], DIGITS))
    except InputError:
        return None
    return K


def moderate(k: Kernel, points: list[Any]) -> bool:
    """Whether values on some of the points can be exponents."""
    K = gram(k, points[::2])
    return K is not None and max(map(abs, K)) < LARGE


@st.composite
def expressions(draw: st.DrawFn, leaves: st.SearchStrategy[Kernel], points: list[Any], depth: int) -> Kernel:
    """A leaf, or an operation on smaller expressions whose values are moderate."""
    if depth == 0:
        return draw(leaves)
    k = draw(expressions(leaves, points, depth - 1))
    if draw(st.booleans()):
        new = draw(st.sampled_from(UNARY))(k, draw(FACTORS))
    else:
        new = draw(st.sampled_from(BINARY))(k, draw(expressions(leaves, points, depth - 1)))
    return new if moderate(new, points) else k


@st.composite
def tables(draw: st.DrawFn, missing: str) -> Kernel:
    layout = draw(st.sampled_from(LAYOUTS))
    small = st.sampled_from(LEAVES[:4] * 2 + LEAVES)
    kernels = {group: draw(small) for group in layout}
    combine: Any = draw(st.sampled_from(["sum", "product"]))
    return columns(kernels, combine=combine, missing=missing)  # type: ignore[arg-type]


def check(k: Kernel, points: list[Any]) -> None:
    """Every claim of the certificate holds on the points, all of them distinct."""
    K = gram(k, points)
    if K is None:
        return
    n, certificate = len(points), k.certificate
    size = max(map(abs, K)) or CONTEXT.mpf(1)
    ends = [certificate.positive, certificate.negative, certificate.conditional]
    why = certificate.explain()
    if ends[0].proved:
        least = min(CONTEXT.eigsy(K / size, eigvals_only=True))
        assert least > (ROUNDING if ends[0].strict else -ROUNDING), why
    centre = CONTEXT.eye(n) - CONTEXT.ones(n) / n
    spectrum = list(CONTEXT.eigsy(centre * (K / size) * centre, eigvals_only=True))
    if ends[1].proved:
        assert max(spectrum) < ROUNDING, why
    for sign in (1, -1):
        claim = k._conditional(sign)
        if claim.proved:
            form = restricted(sign * K / size, points, claim.order)
            assert not len(form) or min(CONTEXT.eigsy(form, eigvals_only=True)) > -ROUNDING, claim.tree()
    if ends[2].proves_order(1) and ends[2].strict:
        for i, j in itertools.combinations(range(n), 2):
            assert (K[i, i] + K[j, j] - 2 * K[i, j]) / size > ROUNDING, ends[2].tree()
    for i, j in itertools.combinations(range(n), 2):
        gap = (K[i, j] - (K[i, i] + K[j, j]) / 2) / size
        assert not (ends[1].proved and ends[1].strict) or gap > ROUNDING, why
    for claim in (c for c in ends[:2] if c.refuted and c.witness is not None):
        assert claim.witness is not None
        assert (claim.witness.value < 0) == (claim is ends[0]), why
    for interval, values in ((k.bounds, list(K)), (k.diagonal_bounds, [K[i, i] for i in range(n)])):
        for value in values:
            slack = abs(value) * ROUNDING
            assert interval.low - slack <= value <= interval.high + slack, f"{value} for {k!r}"


def restricted(K: mpmath.matrix, points: list[Any], order: int) -> mpmath.matrix:
    """The form on coefficients with sum_i c_i p(x_i) = 0 for all monomials p of degree < order."""
    n = len(points)
    if order == 0:
        return K
    powers = [(a, b) for a in range(order) for b in range(order - a)] if order > 1 else [(0, 0)]
    vectors = [
        [CONTEXT.mpf(p[0]) ** a * CONTEXT.mpf(p[1]) ** b for p in points] for a, b in powers if order > 1
    ]
    basis: list[mpmath.matrix] = []
    for v in map(CONTEXT.matrix, vectors or [[1] * n]):
        for _ in range(2):
            for u in basis:
                v = v - u * (u.T * v)[0]
        size = CONTEXT.norm(v)
        basis += [v / size] if size > CONTEXT.mpf(10) ** -100 else []
    P = CONTEXT.eye(n)
    for u in basis:
        P = P - u * u.T
    return P * K * P


@given(expressions(st.sampled_from(LEAVES), POINTS, 4))
def test_claims_about_vectors(k: Kernel) -> None:
    check(k, POINTS)


@given(tables("own") | tables("zero"))
def test_claims_about_tables(k: Kernel) -> None:
    check(k, distinct(k, ROWS))


@given(expressions(tables("error"), COMPLETE, 2))
def test_claims_about_complete_tables(k: Kernel) -> None:
    check(k, distinct(k, COMPLETE))


@given(expressions(tables("own") | tables("zero"), ROWS, 2))
@example(columns(x=Gaussian(1.0), missing="own") + columns(y=Linear()))
@example(columns(x=Gaussian(1.0), missing="own") * columns(y=Linear() + 1, missing="own"))
def test_claims_about_expressions_of_tables(k: Kernel) -> None:
    check(k, distinct(k, ROWS))


def distinct(k: Kernel, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that differ in the columns that the kernel reads."""
    assert isinstance(k.domain, Frames)
    read = sorted(k.domain.columns)
    return list({tuple(row[c] for c in read): row for row in rows}.values())
