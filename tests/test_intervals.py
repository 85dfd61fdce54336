"""Interval arithmetic against exact rational arithmetic: bounds may be too wide, never too narrow."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.intervals import NONNEGATIVE, REAL_LINE, Interval

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
UNITS = st.floats(0.0, 1.0)


@st.composite
def intervals_with_a_point(draw: st.DrawFn) -> tuple[Interval, float]:
    low, inside, high = sorted(draw(st.tuples(FLOATS, FLOATS, FLOATS)))
    return Interval(low, high), inside


def contains(interval: Interval, exact: Fraction) -> bool:
    above = interval.low == -math.inf or Fraction(interval.low) <= exact
    return above and (interval.high == math.inf or exact <= Fraction(interval.high))


@given(intervals_with_a_point(), intervals_with_a_point())
def test_sums_and_products_contain_the_exact_values(
    a: tuple[Interval, float], b: tuple[Interval, float]
) -> None:
    (A, x), (B, y) = a, b
    assert contains(A + B, Fraction(x) + Fraction(y))
    assert contains(A * B, Fraction(x) * Fraction(y))
    assert contains(A.scale(y), Fraction(x) * Fraction(y))


@given(intervals_with_a_point(), st.integers(0, 9) | st.sampled_from([64, 65, 66, 101]))
def test_powers_contain_the_exact_values(a: tuple[Interval, float], n: int) -> None:
    A, x = a
    assert contains(A.power(n), Fraction(x) ** n)


@given(st.integers(-(2**20), 2**20), st.integers(-(2**20), 2**20))
def test_exact_results_are_not_widened(a: int, b: int) -> None:
    A, B = Interval(a, a), Interval(b, b)
    assert Interval(a + b, a + b) == A + B
    assert Interval(a * b, a * b) == A * B
    assert A.power(2) == Interval(a * a, a * a)


@pytest.mark.parametrize(
    ("interval", "n", "expected"),
    [
        (Interval(-2, 1), 2, Interval(0, 4)),
        (Interval(-2, 1), 3, Interval(-8, 1)),
        (Interval(1, 2), 2, Interval(1, 4)),
        (Interval(-3, -2), 2, Interval(4, 9)),
        (REAL_LINE, 2, NONNEGATIVE),
        (REAL_LINE, 3, REAL_LINE),
        (NONNEGATIVE, 5, NONNEGATIVE),
        (REAL_LINE, 0, Interval(1, 1)),
    ],
)
def test_powers_by_hand(interval: Interval, n: int, expected: Interval) -> None:
    assert interval.power(n) == expected


def test_infinite_ends_with_zero() -> None:
    assert NONNEGATIVE * Interval(0, 0) == Interval(0, 0)
    assert NONNEGATIVE.scale(-2.0) == Interval(-math.inf, 0)
    assert REAL_LINE + NONNEGATIVE == REAL_LINE
    assert Interval(0, 1) + NONNEGATIVE == NONNEGATIVE


def test_a_tiny_negative_product_is_not_called_nonnegative() -> None:
    tiny = Interval(-1e-200, -1e-200) * Interval(1e-200, 1e-200)
    assert not tiny.is_nonnegative
    assert not Interval(-1e-200, 1.0).power(3).is_nonnegative
    assert Interval(1e-200, 1.0).power(101).is_nonnegative


def test_rounding_goes_outwards() -> None:
    A = Interval(0.1, 0.1) + Interval(0.2, 0.2)
    exact = Fraction(0.1) + Fraction(0.2)
    assert Fraction(A.low) <= exact <= Fraction(A.high)
    assert A.high - A.low <= math.ulp(0.3)


def test_overflow_is_bounded_by_the_largest_float_from_inside() -> None:
    assert Interval(1e200, 1e200).power(2) == Interval(math.nextafter(math.inf, 0), math.inf)
    assert Interval(-1e200, -1e200).power(3) == Interval(-math.inf, -math.nextafter(math.inf, 0))


@pytest.mark.parametrize(("low", "high"), [(1.0, 0.0), (math.nan, 1.0), (0.0, math.nan)])
def test_empty_intervals_are_refused(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="`low` must be <= `high`"):
        Interval(low, high)


def test_predicates() -> None:
    assert Interval(0, 1).is_nonnegative
    assert not Interval(0, 1).is_positive
    assert Interval(0.5, 1).within(0, 1)
    assert not Interval(-0.5, 1).within(0, 1)
    assert Interval(0, 2).increasing(math.exp) == Interval(1.0, math.exp(2.0))
    assert str(Interval(-0.0, 1).low) == "0.0"
