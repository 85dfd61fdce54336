"""Interval arithmetic against exact rational arithmetic: bounds may be too wide, never too narrow."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given
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


#: Enough for the images of the ends of the float range, and for 1 + t of its smallest numbers.
PRECISE = mpmath.MPContext()
PRECISE.dps = 400


def surrounds(interval: Interval, exact: mpmath.mpf) -> bool:
    return PRECISE.mpf(interval.low) <= exact <= PRECISE.mpf(interval.high)


@given(intervals_with_a_point())
@example((Interval(-1e-300, 1e-300), 1e-300))
@example((Interval(709.7805, 709.7805), 709.7805))
@example((Interval(800.0, 1e308), 800.0))
@example((Interval(-800.0, 0.0), -800.0))
@example((Interval(0.0, 11.616809448664133), 11.616809448664133))
def test_exponentials_contain_the_exact_values(a: tuple[Interval, float]) -> None:
    A, x = a
    x = min(x, 1e6)
    assert surrounds(Interval(min(A.low, x), A.high).exp(), PRECISE.exp(x))
    assert A.exp().is_nonnegative


@given(intervals_with_a_point())
@example((Interval(5e-324, 1.0), 5e-324))
@example((Interval(-5e-324, 1.0), -5e-324))
@example((Interval(-1.0, 1.0), -0.9999999999999999))
def test_logarithms_contain_the_exact_values(a: tuple[Interval, float]) -> None:
    A, x = a
    if x > -1:
        assert surrounds(A.log1p(), PRECISE.log(1 + PRECISE.mpf(x)))
    assert A.log1p().is_nonnegative == A.is_nonnegative


@given(intervals_with_a_point(), st.floats(1e-3, 40.0))
@example((Interval(1e308, 1e308), 1e308), 50.5)
@example((Interval(0.0, 5e-324), 5e-324), 1.5)
def test_real_powers_contain_the_exact_values(a: tuple[Interval, float], p: float) -> None:
    A, x = a
    assert surrounds(A.real_power(p), PRECISE.mpf(max(x, 0.0)) ** PRECISE.mpf(p))
    assert A.real_power(p).is_nonnegative
    assert Interval(0, 1).real_power(p) == Interval(0, 1)


@given(intervals_with_a_point())
@example((Interval(1e-320, 3.0), 1e-320))
def test_reciprocals_contain_the_exact_values(a: tuple[Interval, float]) -> None:
    A, x = a
    if A.is_positive:
        assert contains(A.reciprocal(), 1 / Fraction(x))
        assert A.reciprocal().is_nonnegative
    else:
        assert A.reciprocal() == REAL_LINE


@given(intervals_with_a_point())
def test_the_nonnegative_part_is_exact(a: tuple[Interval, float]) -> None:
    A, x = a
    assert contains(A.nonnegative_part(), max(Fraction(x), Fraction(0)))
    assert A.nonnegative_part() == (A if A.is_nonnegative else Interval(0.0, max(A.high, 0.0)))


@given(st.fractions(-10, 10))
def test_bounds_about_a_number_that_is_no_float(q: Fraction) -> None:
    assert contains(Interval.about(q), q)
    assert Interval.about(q).high - Interval.about(q).low <= 4 * math.ulp(float(q))


def test_known_values_of_functions_are_not_widened() -> None:
    assert Interval(-math.inf, 0.0).exp() == Interval(0.0, 1.0)
    assert NONNEGATIVE.log1p() == NONNEGATIVE
    assert Interval(0.0, 0.0).log1p() == Interval(0.0, 0.0)
    assert NONNEGATIVE.real_power(0.5) == NONNEGATIVE
    assert Interval(0.25, math.inf).reciprocal() == Interval(0.0, 4.0)
    assert REAL_LINE.exp() == NONNEGATIVE
    assert REAL_LINE.log1p() == REAL_LINE


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
    assert str(Interval(-0.0, 1).low) == "0.0"
