"""Stated bounds against values to fifty digits: they may be too wide, never too narrow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mercer import Kernel
from mercer.arithmetic import multiprecision
from mercer.domains import items, take
from mercer.errors import MercerError
from mercer.kernels import (
    DotTanimoto,
    GaussianComparison,
    LaplaceMixture,
    SetIntersection,
    SpectralMixture,
    Spline,
    SplineRemainder,
    Triangular,
    WhiteNoise,
)

from .registry import sample_modules

PRECISE = multiprecision(50)
#: Digits of the fifty that the rounding of a definition leaves.
KEPT_DIGITS = 40
WIDTHS = st.floats(1e-300, 1e300)
SMALL = st.floats(1e-3, 1e3)


def check(k: Kernel, x: object, y: object) -> None:
    """Both values of the pair lie within what is stated of them."""
    for a, b, intervals in ((x, y, [k.bounds]), (x, x, [k.bounds, k.diagonal_bounds])):
        value = PRECISE.real(k.precise(a, b))
        slack = abs(value) * PRECISE.real(10) ** -KEPT_DIGITS
        for interval in intervals:
            assert interval.low - slack <= value <= interval.high + slack, f"{k!r}({a}, {b}) = {value}"


@given(WIDTHS)
@example(6.554095384269038)
def test_widths(width: float) -> None:
    for k in (GaussianComparison(width), Triangular(width), WhiteNoise(width)):
        check(k, 0.0, width)


@given(SMALL, SMALL)
@example(6.554095384269038, 1.0)
@example(4.0, 0.1)
def test_functions_of_bounded_kernels(width: float, c: float) -> None:
    k = GaussianComparison(width)
    psi = k.distance()
    for expression in (
        (0.01 * k).exp(),
        c * k,
        -c * k,
        k**3,
        k**c,
        k + c * k,
        k * (c * k),
        k.polynomial([c, -c, 0.1]),
        (c - k).exp(),
        1 / (c + psi),
        1 / (c * (2 * width - k)),
        k.log1p(),
        k.schoenberg(c),
        psi.log1p().schoenberg(c),
        k.normalized(),
    ):
        check(expression, 0.0, width)
        check(expression, 0.0, 50 * width)


@given(st.lists(st.floats(0.0, 1e3), min_size=1, max_size=5))
@example([0.1, 0.2, 0.3])
def test_sums_of_weights(weights: list[float]) -> None:
    rows = [[float(i)] for i in range(len(weights))]
    check(SpectralMixture(rows, weights), [0.0], [3.0])
    check(LaplaceMixture(rows, weights), [0.0], [3.0])
    check(SetIntersection(dict(enumerate(weights))), frozenset(range(len(weights))), frozenset({0}))


@pytest.mark.parametrize("order", range(1, 12))
def test_splines_reach_their_bounds(order: int) -> None:
    for k in (Spline(order), SplineRemainder(order)):
        check(k, 1.0, 1.0)
        high = Fraction(float(k.precise(1.0, 1.0)))
        assert Fraction(k.bounds.high) - high <= 4 * Fraction(2) ** -52 * high


def test_the_exponential_of_a_comparison_does_not_exceed_its_maximum() -> None:
    check(GaussianComparison(6.554095384269038).exp(), 0.0, 0.0)


def test_the_least_value_of_the_tanimoto_similarity_is_a_third() -> None:
    check(DotTanimoto(), [1.0], [-1.0])


FAMILIES = sample_modules()

#: Floats may leave the bounds by this part of these; not where the bound is zero.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


@pytest.mark.parametrize("family", FAMILIES)
def test_values_of_registered_kernels_lie_within_their_bounds(family: str) -> None:
    for case in FAMILIES[family]:
        k = case.kernel.resolve(case.points)
        block, diagonal = k.block(case.points), k.diagonal(case.points)
        for values, interval in ((block, k.bounds), (diagonal, k.diagonal_bounds)):
            ends = [abs(end) for end in (interval.low, interval.high) if np.isfinite(end)]
            allowed = ROUNDING * max(ends, default=0.0)
            assert values.min() >= interval.low - (allowed if interval.low else 0.0), repr(k)
            assert values.max() <= interval.high + (allowed if interval.high else 0.0), repr(k)


@pytest.mark.parametrize("family", FAMILIES)
def test_precise_kernels_have_more_digits_than_floats(family: str) -> None:
    """Values of fifty and of eighty digits agree to forty, and lie within the bounds."""
    for case in FAMILIES[family]:
        k = case.kernel.resolve(case.points)
        if not k.is_precise:
            continue
        x, y, z = items(take(k.domain.validate(case.points), np.arange(3)))
        for a, b in ((x, y), (y, z), (z, z)):
            try:
                fifty, eighty = k.precise(a, b), k.precise(a, b, 80)
            except MercerError:  # no value on this pair
                continue
            assert abs(eighty - fifty) <= PRECISE.real(10) ** -KEPT_DIGITS * max(1, abs(eighty)), repr(k)
            check(k, a, b)
