"""Trigonometric kernels: exercises, the reproducing property of the sinc, and phases far from the origin."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse

from mercer.arithmetic import multiprecision
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels.trig import CosineDifference, CosineOfSquares, Sinc, SinSquared

RTOL = 1e-13
#: Truncation of the integrals over the line at +-LINE.
LINE, INTEGRAL_TOL = 4000.0, 1e-5

POINTS = np.array([-3.0, -0.5, 0.0, 0.0, 1.0, 2.5])


# -- values ---------------------------------------------------------------------------------------
def test_blocks_against_the_formulas():
    D = POINTS[:, None] - POINTS[None, :]
    np.testing.assert_allclose(CosineDifference(1.7).block(POINTS), np.cos(1.7 * D), atol=RTOL)
    np.testing.assert_allclose(SinSquared().block(POINTS), (1 - np.cos(2 * D)) / 2, atol=RTOL)
    np.testing.assert_allclose(Sinc(1.7).block(POINTS), np.sinc(1.7 * D / math.pi), atol=RTOL)


@pytest.mark.parametrize("power", [1, 2, 5])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_cosine_of_squares_against_the_formula(power, form):
    X = np.array([[0.0, 1.0, -2.0], [0.5, 0.0, 0.0], [0.0, -1.0, 2.0], [3.0, 0.25, 1.0]])
    want = [[sum(math.cos(a * a - b * b) ** power for a, b in zip(x, y, strict=True)) for y in X] for x in X]
    np.testing.assert_allclose(CosineOfSquares(power).block(form(X)), want, atol=1e-12)


def test_cosine_of_squares_keeps_its_digits_far_from_the_origin():
    """a^2 - b^2 of neighbours near 1e6 has lost four digits; fifty digits are the oracle."""
    m = multiprecision(50)
    x, y = 1e6, 1e6 + 2.0**-20
    want = float(m.cos(m.real(x) ** 2 - m.real(y) ** 2))
    assert math.isclose(CosineOfSquares()([x], [y]), want, rel_tol=1e-14)
    assert math.isclose(CosineOfSquares().block([[x]], [[y]])[0, 0], want, rel_tol=1e-14)


def test_the_bound_of_the_sinc_is_outer_and_tight():
    t = scipy.optimize.brentq(lambda t: math.sin(t) - t * math.cos(t), 4.0, 4.6)
    least = Sinc(1.0)(t, 0.0)
    assert Sinc(1.0).bounds.low <= least <= Sinc(1.0).bounds.low + 1e-5


# -- the space of the sinc ------------------------------------------------------------------------
@pytest.mark.parametrize("a", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("y", [0.0, 1.3])
def test_the_sinc_reproduces_band_limited_functions(a, y):
    """(a / pi) int f(t) k(t, y) dt = f(y) for f(t) = sinc(a t / 2)^2, whose band is [-a, a]."""
    t = np.linspace(-LINE, LINE, 2_000_001)
    f = np.sinc(a * t / (2 * math.pi)) ** 2
    k = Sinc(a).block([y], t)[0]
    value = np.sinc(a * y / (2 * math.pi)) ** 2
    assert abs(a / math.pi * scipy.integrate.trapezoid(f * k, t) - value) < INTEGRAL_TOL
    inside = np.abs(t) <= a  # what some notes print
    assert abs(scipy.integrate.trapezoid((f * k)[inside], t[inside]) - value) > 100 * INTEGRAL_TOL


# -- verdicts -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "verdict"),
    [
        (CosineDifference(), Verdict.PSD),  # exercise 6.2 (a)
        (CosineDifference(9.0), Verdict.PSD),
        *((CosineOfSquares(n), Verdict.PSD) for n in (1, 2, 3, 8)),  # exercise 6.2 (b), (c)
        *((SinSquared().schoenberg(t), Verdict.PSD) for t in (0.1, 1.0, 30.0)),  # exercise 6.2 (f)
        (SinSquared(), Verdict.NDS),  # exercise 6.6 (a)
        (Sinc(2.0), Verdict.STRICT),
    ],
)
def test_verdicts(kernel, verdict):
    assert kernel.certificate.verdict is verdict


def test_exercise_6_2_f_has_the_stated_values():
    k = SinSquared().schoenberg(2.0)
    assert math.isclose(k(0.3, 1.0), math.exp(-2.0 * math.sin(0.7) ** 2), rel_tol=RTOL)


def test_the_sine_is_refuted_as_positive_definite():
    witness = SinSquared().certificate.positive.witness
    assert witness is not None
    assert math.isclose(witness.value, -2.0, rel_tol=RTOL)


def test_the_cosine_has_rank_two():
    assert np.linalg.matrix_rank(CosineDifference(1.3).block(np.linspace(0, 3, 9))) == 2


def test_opposite_vectors_look_alike_to_cosines_of_squares():
    x = [1.0, -2.0]
    K = CosineOfSquares(2).block([x, [-v for v in x]])
    assert (K == 2.0).all()


# -- errors ---------------------------------------------------------------------------------------
def test_errors_name_the_kernel():
    with pytest.raises(ParameterError, match="Sinc: `bandwidth`"):
        Sinc(0.0)
    with pytest.raises(ParameterError, match="CosineOfSquares: `power`"):
        CosineOfSquares(0)
    with pytest.raises(ParameterError, match="CosineOfSquares: `power`"):
        CosineOfSquares(1.5)
    with pytest.raises(InputError, match="CosineOfSquares"):
        CosineOfSquares().block([[1e200]])
