"""Kernels of sums and differences: integral representations, witnesses over whole ranges, mixtures."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.integrate
import scipy.sparse

from mercer.arithmetic import FLOAT, multiprecision
from mercer.certificate import Property, Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels.compositions import Semigroup
from mercer.kernels.mixtures import LaplaceMixture, SpectralMixture
from mercer.kernels.semigroup import ExponentialSum, InverseSum, LogSum

RTOL = 1e-13
QUAD_TOL = 1e-8

POINTS = np.array([0.1, 0.5, 0.5, 1.0, 7.0])
S = POINTS[:, None] + POINTS[None, :]

OMEGA = np.array([[1.0, -2.0], [0.0, 0.0], [0.3, 4.0]])
RATES = np.abs(OMEGA)
WEIGHTS = np.array([0.5, 2.0, 0.25])
VECTORS = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [0.25, 0.0], [0.0, 3.0]])


# -- values ---------------------------------------------------------------------------------------
def test_blocks_against_the_formulas():
    np.testing.assert_allclose(InverseSum().block(POINTS), 1 / S, rtol=RTOL)
    np.testing.assert_allclose(LogSum().block(POINTS), np.log(S), rtol=RTOL, atol=RTOL)
    for p in (-2.0, 0.5, 1.0, 3.0):
        np.testing.assert_allclose(ExponentialSum(p).block(POINTS), np.exp(-(S**p)), rtol=1e-12)


@pytest.mark.parametrize("s", [0.3, 1.0, 6.0])
def test_integral_representations(s):
    """The Laplace transforms on which the certificates rest, by quadrature."""

    def integral(f):
        return sum(scipy.integrate.quad(f, a, b, limit=200)[0] for a, b in ((0, 1), (1, np.inf)))

    assert math.isclose(InverseSum()(s / 2, s / 2), integral(lambda t: math.exp(-t * s)), rel_tol=QUAD_TOL)
    levy = integral(lambda t: (math.exp(-t) - math.exp(-t * s)) / t if t else s - 1)
    assert math.isclose(LogSum()(s / 4, 3 * s / 4), levy, rel_tol=QUAD_TOL, abs_tol=QUAD_TOL)
    # the stable density of index 1/2 is Levy's
    stable = integral(
        lambda t: math.exp(-s * t - 1 / (4 * t)) * t**-1.5 / (2 * math.sqrt(math.pi)) if t else 0.0
    )
    assert math.isclose(ExponentialSum(0.5)(0.0, s), stable, rel_tol=QUAD_TOL)


def test_the_cauchy_determinant_exactly():
    x = [Fraction(1), Fraction(2), Fraction(7, 2)]
    K = [[InverseSum().formula(*sorted((a, b)), FLOAT) for b in x] for a in x]
    det = sum(
        sign * K[0][i] * K[1][j] * K[2][k]
        for (i, j, k), sign in zip(
            [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)],
            [1, 1, 1, -1, -1, -1],
            strict=True,
        )
    )
    numerator = math.prod((x[j] - x[i]) ** 2 for i in range(3) for j in range(i + 1, 3))
    assert det == numerator / math.prod(a + b for a, b in product(x, x))
    assert det > 0


# -- verdicts -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "verdict"),
    [
        (InverseSum(), Verdict.STRICT),  # exercise 6.2 (d)
        (LogSum(), Verdict.NDS),  # exercise 6.6 (b)
        *((ExponentialSum(p), Verdict.STRICT) for p in (1e-6, 0.3, 0.5, 0.999)),  # exercise 6.10
        (ExponentialSum(1.0), Verdict.PSD),
        (ExponentialSum(0.0), Verdict.PSD),
        (SpectralMixture(OMEGA, WEIGHTS), Verdict.PSD),
        (LaplaceMixture(RATES, WEIGHTS), Verdict.PSD),
        (Semigroup(np.linalg.norm), Verdict.UNKNOWN),
        (Semigroup(np.linalg.norm, "negation").assume("NDS"), Verdict.NDS),
    ],
)
def test_verdicts(kernel, verdict):
    assert kernel.certificate.verdict is verdict


@pytest.mark.parametrize(
    "p",
    [
        *(1 + 10.0**k for k in range(-15, 3)),
        np.nextafter(1.0, 2.0),
        1e6,
        1e300,
        *(-(10.0**k) for k in range(-20, 4)),
        -1e-300,
        -1e300,
    ],
)
def test_exponential_sums_are_refuted_over_the_whole_range(p):
    """Exercise 6.10: not positive definite for p > 1, nor for p < 0; witnesses recomputed in many digits."""
    kernel = ExponentialSum(p)
    assert kernel.certificate.verdict is Verdict.REFUTED
    w = kernel.certificate.positive.witness
    assert w is not None
    digits = 50 + max(0, math.ceil(-math.log10(abs(p))))
    m = multiprecision(digits)
    value = sum(
        m.real(a) * m.real(b) * m.exp(-((m.real(x) + m.real(y)) ** m.real(p)))
        for a, x in zip(w.coefficients, w.points, strict=True)
        for b, y in zip(w.coefficients, w.points, strict=True)
    )
    gap = min(1.0, abs(p - 1) if p > 1 else abs(p))
    assert value < -0.1 * gap  # as clear as the distance from the certified range allows
    assert math.isclose(float(value), w.value, rel_tol=1e-6)


def test_the_logarithm_is_refuted_as_positive_definite():
    w = LogSum().certificate.positive.witness
    assert w is not None
    assert w.refutes is Property.POSITIVE
    assert math.isclose(w.value, -math.log(2.0), rel_tol=RTOL)


def test_a_rank_one_and_a_constant_case():
    assert np.linalg.matrix_rank(ExponentialSum(1.0).block(POINTS[[0, 1, 3]])) == 1
    constant = ExponentialSum(0.0)
    assert (constant.block(POINTS) == math.exp(-1.0)).all()
    assert constant.certificate.is_nds


# -- mixtures -------------------------------------------------------------------------------------
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_mixtures_against_the_sums(form):
    X = form(VECTORS)
    cosines = [[sum(WEIGHTS * np.cos(OMEGA @ (x - y))) for y in VECTORS] for x in VECTORS]
    exponentials = [[sum(WEIGHTS * np.exp(-RATES @ (x + y))) for y in VECTORS] for x in VECTORS]
    for kernel, want in (
        (SpectralMixture(OMEGA, WEIGHTS), cosines),
        (LaplaceMixture(RATES, WEIGHTS), exponentials),
    ):
        np.testing.assert_allclose(kernel.block(X), want, atol=1e-14)
        np.testing.assert_allclose(kernel.diagonal(X), np.diag(want), atol=1e-14)
        np.testing.assert_allclose([[kernel(x, y) for y in VECTORS] for x in VECTORS], want, atol=1e-14)


def test_one_weight_is_shared():
    same = SpectralMixture(OMEGA, [0.5, 0.5, 0.5])
    np.testing.assert_allclose(SpectralMixture(OMEGA, 0.5).block(VECTORS), same.block(VECTORS), rtol=RTOL)


def test_weight_gradients_are_the_terms():
    kernel = LaplaceMixture(RATES, WEIGHTS)
    g = kernel.gradient(VECTORS)["weights"]
    assert g.shape == (5, 5, 3)
    np.testing.assert_allclose(g.sum(axis=-1), kernel.block(VECTORS), rtol=RTOL)
    np.testing.assert_allclose(g[1, 4], WEIGHTS * np.exp(-RATES @ (VECTORS[1] + VECTORS[4])), rtol=RTOL)


@pytest.mark.skipif(
    np.finfo(np.longdouble).eps == np.finfo(np.float64).eps, reason="no extended precision on this machine"
)
def test_phases_far_from_the_origin_keep_their_digits():
    kernel = SpectralMixture([[3.0]], 1.0)
    x, y = 1e5, 1e5 + 0.125
    assert math.isclose(kernel.block([[x]], [[y]])[0, 0], math.cos(3.0 * 0.125), rel_tol=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SpectralMixture([1.0, 2.0]), "SpectralMixture: `frequencies`"),
        (
            lambda: SpectralMixture([[1.0], [2.0]], [1.0]),
            "SpectralMixture: `weights` must have one entry per row",
        ),
        (lambda: SpectralMixture([[1.0]], [-1.0]), "SpectralMixture: `weights`"),
        (lambda: LaplaceMixture([[-1.0]]), "LaplaceMixture: `rates`"),
        (lambda: LaplaceMixture(np.empty((0, 2))), "LaplaceMixture: `rates` must have at least one row"),
        (lambda: Semigroup(3.0), "Semigroup: `phi`"),
        (lambda: Semigroup(np.linalg.norm, "inverse"), "Semigroup: `involution`"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


# -- the user's function --------------------------------------------------------------------------
def bump(s):
    return np.exp(-np.sum(s * s, axis=-1))


def odd(s):
    return np.sum(s, axis=-1) ** 3


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize(("involution", "sign"), [("identity", 1.0), ("negation", -1.0)])
def test_semigroup_against_its_function(vectorized, involution, sign):
    kernel = Semigroup(bump, involution, vectorized=vectorized)
    want = [
        [math.exp(-sum((a + sign * b) ** 2 for a, b in zip(x, y, strict=True))) for y in VECTORS]
        for x in VECTORS
    ]
    np.testing.assert_allclose(kernel.block(VECTORS), want, rtol=RTOL)
    np.testing.assert_allclose(kernel.block(VECTORS, VECTORS[:2]), np.array(want)[:, :2], rtol=RTOL)
    np.testing.assert_allclose(kernel.diagonal(VECTORS), np.diag(want), rtol=RTOL)
    assert math.isclose(kernel(VECTORS[1], VECTORS[3]), want[1][3], rel_tol=RTOL)


@pytest.mark.parametrize("vectorized", [False, True])
def test_an_odd_function_of_the_difference_is_refused(vectorized):
    kernel = Semigroup(odd, "negation", vectorized=vectorized)
    with pytest.raises(ParameterError, match="even"):
        kernel([0.0], [1.0])
    with pytest.raises(ParameterError, match="even"):
        kernel.block([[0.0], [1.0]])
    with pytest.raises(ParameterError, match="even"):
        kernel.block([[0.0]], [[1.0]])
    assert Semigroup(odd, vectorized=vectorized)([0.0], [1.0]) == 1.0


def test_a_vectorised_function_of_the_wrong_shape_is_refused():
    with pytest.raises(InputError, match="vectorised `phi`"):
        Semigroup(np.sum, vectorized=True).block(VECTORS)


@pytest.mark.parametrize(
    ("kernel", "point"),
    [(InverseSum(), 0.0), (LogSum(), -1.0), (ExponentialSum(0.5), -1.0), (ExponentialSum(-1.0), 0.0)],
)
def test_points_outside_the_domain_are_refused(kernel, point):
    with pytest.raises(InputError, match="row 0"):
        kernel.block([point])


def test_the_orthant_is_the_domain_of_laplace_mixtures():
    with pytest.raises(InputError, match=">= 0"):
        LaplaceMixture([[1.0]]).block([[-1.0]])
    with pytest.raises(InputError, match=">= 0"):
        Semigroup(bump, nonnegative=True).block([[-1.0]])


def test_overflow_is_an_error():
    with pytest.raises(InputError, match="InverseSum"):
        InverseSum().block([1e-309])
    assert ExponentialSum(2.0)(1e200, 1e200) == 0.0
    assert (ExponentialSum(2.0).block([1e200]) == 0.0).all()
