"""Kernels on real numbers: against interval arithmetic, quadrature, exact fractions and each other."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate
import scipy.sparse

import mercer.algebra
from mercer.arithmetic import FLOAT
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels.comparisons import GaussianComparison, SoftComparison, Triangular
from mercer.kernels.intersections import Intersection, MinExponential
from mercer.kernels.reals import BrownianBridge, CapMinusMax, InverseMax, MaxRatio, Min, MinOverMax

RTOL = 1e-13
QUAD_TOL = 1e-9

POINTS = np.array([0.1, 0.4, 0.4, 0.75, 0.9, 1.0])
PAIRS = [(x, y) for x in POINTS.tolist() for y in POINTS.tolist()]


def overlap(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Length of the intersection of two intervals."""
    return max(0.0, min(a[1], b[1]) - max(a[0], b[0]))


# -- each kernel is the measure of an intersection ------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "measure"),
    [
        (Min(), lambda x, y: overlap((0, x), (0, y))),
        (CapMinusMax(2.5), lambda x, y: overlap((x, 2.5), (y, 2.5))),
        (InverseMax(1.5), lambda x, y: overlap((0, x**-1.5), (0, y**-1.5))),
        (Triangular(0.25), lambda x, y: overlap((x - 0.25, x + 0.25), (y - 0.25, y + 0.25))),
        (MinOverMax(), lambda x, y: overlap((0, x), (0, y)) * overlap((0, 1 / x), (0, 1 / y))),
        (BrownianBridge(), lambda x, y: overlap((0, x), (0, y)) - x * y),
        (MaxRatio(3.0), lambda x, y: (x * y) ** 1.5 / max(x, y) ** 3),
    ],
)
def test_interval_kernels(kernel, measure):
    want = np.array([measure(x, y) for x, y in PAIRS]).reshape(6, 6)
    np.testing.assert_allclose(kernel.block(POINTS), want, rtol=RTOL, atol=RTOL)
    np.testing.assert_allclose([kernel(x, y) for x, y in PAIRS], want.ravel(), rtol=RTOL, atol=RTOL)
    np.testing.assert_allclose(kernel.diagonal(POINTS), want.diagonal(), rtol=RTOL, atol=RTOL)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_intersection_sums_minima(power, form):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 4)) * (rng.random((7, 4)) < 0.6)
    want = [
        [sum(min(abs(a) ** power, abs(b) ** power) for a, b in zip(x, y, strict=True)) for y in X] for x in X
    ]
    np.testing.assert_allclose(Intersection(power).block(form(X)), want, rtol=RTOL)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_intersection_of_power_zero_counts_features(form):
    X = form(np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]))
    assert (Intersection(0.0).block(X) == 3.0).all()
    assert (Intersection(0.0).diagonal(X) == 3.0).all()
    assert Intersection(0.0)([0.0, 0.0, 0.0], [0.0, 0.0, 5.0]) == 3.0


def test_intersection_of_power_one_is_min_on_the_line():
    np.testing.assert_array_equal(Intersection().block(POINTS[:, None]), Min().block(POINTS))


def test_min_exponential_is_the_exponential_of_the_intersection():
    X = np.array([[0.0, -1.0], [2.0, 0.5], [-3.0, 0.0]])
    np.testing.assert_allclose(
        MinExponential(0.8).block(X), np.exp(Intersection().block(X) / 0.8**2), rtol=RTOL
    )


# -- identities -----------------------------------------------------------------------------------
@pytest.mark.parametrize("p", [0.3, 1.0, 2.0])
def test_max_ratio_is_the_normalised_inverse_max(p):
    np.testing.assert_allclose(MaxRatio(p).block(POINTS), InverseMax(p).normalized().block(POINTS), rtol=RTOL)


def test_normalised_min_is_root_product_over_max():
    np.testing.assert_allclose(Min().normalized().block(POINTS), MaxRatio(1.0).block(POINTS), rtol=RTOL)
    want = [[math.sqrt(x * y) / max(x, y) for y in POINTS] for x in POINTS]
    np.testing.assert_allclose(MaxRatio(1.0).block(POINTS), want, rtol=RTOL)


def test_the_distance_of_min_is_the_absolute_difference():
    want = np.abs(POINTS[:, None] - POINTS[None, :])
    np.testing.assert_allclose(Min().distance().block(POINTS), want, rtol=RTOL, atol=RTOL)


def test_min_over_max_is_max_ratio_of_exponent_two():
    np.testing.assert_allclose(MinOverMax().block(POINTS), MaxRatio(2.0).block(POINTS), rtol=RTOL)


def test_boxes_in_the_plane_are_tensor_products():
    box, ratio = mercer.algebra.tensor(Min(), Min()), mercer.algebra.tensor(MaxRatio(1.0), MaxRatio(1.0))
    x, z = (2.0, 5.0), (3.0, 1.0)
    assert box(x, z) == min(2.0, 3.0) * min(5.0, 1.0)
    assert math.isclose(ratio(x, z), math.sqrt(2 * 5 * 3 * 1) / (3 * 5), rel_tol=RTOL)
    assert box.certificate.is_psd
    assert ratio.certificate.is_psd


def test_strictness_of_min_on_positive_numbers_exactly():
    """The determinant of min(x_i, x_j) is the product of the gaps; exact on fractions."""
    x = [Fraction(1, 3), Fraction(1, 2), Fraction(7, 2)]
    K = [[Min().formula(*sorted((a, b)), FLOAT) for b in x] for a in x]
    det = (
        K[0][0] * (K[1][1] * K[2][2] - K[1][2] * K[2][1])
        - K[0][1] * (K[1][0] * K[2][2] - K[1][2] * K[2][0])
        + K[0][2] * (K[1][0] * K[2][1] - K[1][1] * K[2][0])
    )
    assert det == x[0] * (x[1] - x[0]) * (x[2] - x[1])


# -- soft comparisons -----------------------------------------------------------------------------
def gaussian_profile(r):
    return np.exp(-(r**2) / (2 * 0.6**2))


def threshold(r):
    return np.where(r <= 0.5, 1.0, 0.0)


@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (0.0, 0.7), (-1.0, 2.0)])
def test_gaussian_comparison_against_quadrature(x, y):
    integral, _ = scipy.integrate.quad(
        lambda t: gaussian_profile(abs(t - x)) * gaussian_profile(abs(t - y)),
        -20,
        20,
        points=[x, y],
        limit=200,
    )
    assert math.isclose(GaussianComparison(0.6)(x, y), integral, rel_tol=QUAD_TOL)
    soft = SoftComparison(gaussian_profile, -12.0, 12.0, nodes=400)
    assert math.isclose(soft(x, y), integral, rel_tol=QUAD_TOL)


def test_soft_comparison_of_a_threshold_approaches_the_triangle():
    soft = SoftComparison(threshold, -2.0, 2.0, nodes=500)
    X = np.array([-1.0, 0.0, 0.3, 0.9])
    np.testing.assert_allclose(soft.block(X), Triangular(0.5).block(X), atol=0.02)
    assert np.linalg.eigvalsh(soft.block(np.linspace(-3, 3, 40)))[0] > -1e-12


def test_soft_comparison_uses_its_density():
    soft = SoftComparison(np.cos, 0.0, 1.0, density=np.exp)
    want, _ = scipy.integrate.quad(
        lambda t: math.cos(abs(t - 0.2)) * math.cos(abs(t - 0.9)) * math.exp(t), 0, 1
    )
    # |t - x| has a kink, but the cosine is even
    assert math.isclose(soft(0.2, 0.9), want, rel_tol=QUAD_TOL)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"g": 3.0, "low": 0.0, "high": 1.0}, "`g`"),
        ({"g": np.cos, "low": 1.0, "high": 1.0}, "`low`"),
        ({"g": np.cos, "low": 0.0, "high": 1.0, "density": "uniform"}, "`density`"),
        ({"g": np.cos, "low": 0.0, "high": 1.0, "nodes": 0}, "`nodes`"),
    ],
)
def test_soft_comparison_refuses_bad_parameters(arguments, name):
    with pytest.raises(ParameterError, match=f"SoftComparison: {name}"):
        SoftComparison(**arguments)


def test_soft_comparison_checks_its_functions_on_data():
    with pytest.raises(ParameterError, match="`density` must be >= 0"):
        SoftComparison(np.cos, -1.0, 1.0, density=lambda t: t).block([0.0])
    with pytest.raises(ParameterError, match="`g` must return one finite number"):
        SoftComparison(np.sum, 0.0, 1.0).block([0.0, 1.0])


# -- verdicts -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "verdict"),
    [
        (BrownianBridge(), Verdict.PSD),  # exercise 6.2 (h)
        (MinExponential(0.5), Verdict.PSD),  # exercise 6.2 (k)
        (MinExponential(7.0), Verdict.PSD),
        (Min(), Verdict.PSD),  # exercise 6.15 (a)
        *((Intersection(a), Verdict.PSD) for a in (0.0, 0.5, 1.0, 3.0)),  # exercise 6.15 (b)
        (InverseMax(2.0), Verdict.STRICT),
        (MaxRatio(2.0), Verdict.STRICT),
        (MinOverMax(), Verdict.STRICT),
        (CapMinusMax(1.0), Verdict.PSD),
        (Triangular(2.0), Verdict.STRICT),
        (GaussianComparison(2.0), Verdict.STRICT),
        (SoftComparison(np.cos, 0.0, 1.0), Verdict.PSD),
    ],
)
def test_verdicts(kernel, verdict):
    assert kernel.certificate.verdict is verdict


@pytest.mark.parametrize(
    ("kernel", "null"),
    [(Min(), 0.0), (CapMinusMax(1.0), 1.0), (BrownianBridge(), 0.0), (BrownianBridge(), 1.0)],
)
def test_kernels_that_are_not_strict_have_a_null_point(kernel, null):
    assert (kernel.block([null], [0.25, 0.5, null]) == 0.0).all()


def test_the_triangle_is_not_certified_on_vectors():
    with pytest.raises(InputError, match="1 column"):
        Triangular().block([[0.0, 1.0]])


@pytest.mark.parametrize("t", [0.2, 0.7, 1.9])
@pytest.mark.parametrize(
    "kernel",
    [Min(), BrownianBridge(), CapMinusMax(1.0), InverseMax(1.5), MinOverMax(), MaxRatio(0.4)],
)
def test_infinitely_divisible_powers(kernel, t):
    assert kernel._infinitely_divisible() is not None
    assert np.linalg.eigvalsh(kernel.block(POINTS) ** t)[0] > -1e-14


def test_the_triangle_is_not_infinitely_divisible():
    """It vanishes, so its small powers tend to an adjacency matrix of overlaps, which is indefinite."""
    assert Triangular()._infinitely_divisible() is None
    assert np.linalg.eigvalsh(Triangular(1.0).block([0.0, 1.5, 3.0]) ** 0.01)[0] < -0.1


# -- numbers at the edge --------------------------------------------------------------------------
def test_ratios_of_very_different_numbers_do_not_underflow():
    assert math.isclose(MaxRatio(0.1)(1e-300, 1e300), 1e-30, rel_tol=1e-12)
    np.testing.assert_allclose(MaxRatio(0.1).block([1e-300], [1e300]), 1e-30, rtol=1e-12)


def test_overflow_is_an_error_that_names_the_kernel():
    with pytest.raises(InputError, match="InverseMax"):
        InverseMax(4.0).block([1e-100, 1.0])
    with pytest.raises(InputError, match="MinExponential"):
        MinExponential(1.0).block([[1e4]])
    with pytest.raises(InputError, match="Intersection"):
        Intersection(3.0).block([[1e200]])
    with pytest.raises(InputError, match="InverseMax"):  # fits into float64 but not into float32
        InverseMax(4.0).block(np.array([1e-20, 1.0], dtype=np.float32))


@pytest.mark.parametrize(
    ("kernel", "outside"),
    [
        (Min(), -1.0),
        (InverseMax(), 0.0),
        (MaxRatio(), 0.0),
        (MinOverMax(), -2.0),
        (CapMinusMax(1.0), 1.5),
        (BrownianBridge(), 1.5),
        (BrownianBridge(), -0.5),
    ],
)
def test_points_outside_the_domain_are_refused(kernel, outside):
    with pytest.raises(InputError, match="row 1"):
        kernel.block([0.5, outside])


@pytest.mark.parametrize("kernel", [Min(), MaxRatio(0.7), Triangular(1.0), GaussianComparison(1.0)])
def test_single_precision_is_rounded_once(kernel):
    X = np.array([0.1, 0.2, 3.0], dtype=np.float32)
    K = kernel.block(X)
    assert K.dtype == np.float32
    np.testing.assert_array_equal(K, kernel.block(X.astype(np.float64)).astype(np.float32))
    assert kernel.block(X, X.astype(np.float64)).dtype == np.float64
