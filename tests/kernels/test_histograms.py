"""Histogram kernels against their formulas, SciPy and scikit-learn; the erratum on the simplex."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import jensenshannon
from sklearn.metrics.pairwise import additive_chi2_kernel

from mercer.certificate import Property, Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import ProbabilityProduct
from mercer.kernels.histograms import ChiSquare, Hellinger, Jensen, TotalVariation
from mercer.kernels.simplex import ERRATUM, Geodesic, InformationDiffusion, SquaredGeodesic

ROUNDING = 1e-13  # a few units in the last place of sums of a few terms
DIVERGENCES = [ChiSquare(), Jensen(), TotalVariation(), Hellinger(2), Hellinger(1)]


@pytest.fixture
def counts() -> np.ndarray:
    return np.random.default_rng(0).poisson(1.5, size=(30, 7)).astype(float)


@pytest.fixture
def distributions() -> np.ndarray:
    rows = np.random.default_rng(1).dirichlet(np.full(4, 0.4), size=25)
    return np.vstack([np.eye(4), rows])


# -- values -------------------------------------------------------------------------------------
def test_chi_square_is_minus_the_additive_kernel_of_scikit_learn(counts: np.ndarray) -> None:
    np.testing.assert_allclose(ChiSquare().block(counts), -additive_chi2_kernel(counts), atol=ROUNDING)


@pytest.mark.native
@pytest.mark.parametrize("scale", [1e-310, 1e-305, 1e-302, 1e-290, 1.0, 1e300])
def test_chi_square_at_the_ends_of_the_range(scale):
    X = scale * np.array([[1.0, 5.0, 0.0], [3.0, 0.0, 0.0]])  # 4/4 + 25/5, exactly 6
    k = ChiSquare()
    for Y in (X, scipy.sparse.csr_array(X)):
        assert k.block(Y)[0, 1] == pytest.approx(6 * scale, rel=1e-12)
    assert k(X[0], X[1]) == pytest.approx(6 * scale, rel=1e-12)


def test_chi_square_in_exact_fractions() -> None:
    x, y = [1, 0, 2, 7], [3, 0, 5, 0]
    exact = sum(Fraction((a - b) ** 2, a + b) for a, b in zip(x, y, strict=True) if a + b)
    assert ChiSquare()(x, y) == pytest.approx(float(exact), rel=1e-15)


def test_jensen_is_the_squared_jensen_shannon_distance_of_scipy(distributions: np.ndarray) -> None:
    want = [[jensenshannon(p, q) ** 2 for q in distributions] for p in distributions]
    np.testing.assert_allclose(Jensen().block(distributions), want, atol=1e-12)


def test_jensen_by_entropies_in_high_precision() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.gamma(1.0, size=(2, 6))
    y[:3] = x[:3] * (1 + 1e-7)  # entropies would cancel here in double precision
    x[5] = 0.0
    with mpmath.workdps(60):

        def h(v: list[mpmath.mpf]) -> mpmath.mpf:
            return -mpmath.fsum(t * mpmath.log(t) for t in v if t)

        p, q = ([mpmath.mpf(t) for t in v.tolist()] for v in (x, y))
        want = h([(a + b) / 2 for a, b in zip(p, q, strict=True)]) - (h(p) + h(q)) / 2
    for got in (Jensen()(x, y), Jensen().block([x], [y])[0, 0]):
        assert got == pytest.approx(float(want), rel=1e-12)
    close = Jensen()(x[:3], y[:3])  # only the nearly equal part
    with mpmath.workdps(60):
        want = h([(a + b) / 2 for a, b in zip(p[:3], q[:3], strict=True)]) - (h(p[:3]) + h(q[:3])) / 2
    assert close == pytest.approx(float(want), rel=1e-8, abs=0.0)


def test_integral_behind_the_jensen_certificate() -> None:
    # t log t = int_0^inf (e^(-ut) - 1 + t (1 - e^(-u))) / u^2 du
    cuts = [0, 0.01, 0.1, 1, 10, 100, 1000, mpmath.inf]
    with mpmath.workdps(40):
        for t in (0.0, 0.2, 1.0, 3.7):
            value = mpmath.quad(lambda u, t=t: (mpmath.expm1(-u * t) - t * mpmath.expm1(-u)) / u**2, cuts)
            assert float(value) == pytest.approx(t * math.log(t) if t else 0.0, abs=1e-9)


def test_total_variation_and_hellinger_by_definition(counts: np.ndarray) -> None:
    a, b = counts[:, None, :], counts[None, :, :]
    np.testing.assert_allclose(TotalVariation().block(counts), abs(a - b).sum(-1), atol=ROUNDING)
    roots = np.sqrt(a) - np.sqrt(b)
    np.testing.assert_allclose(Hellinger().block(counts), (roots**2).sum(-1), atol=ROUNDING)
    np.testing.assert_allclose(Hellinger(power=1).block(counts), abs(roots).sum(-1), atol=ROUNDING)


@pytest.mark.parametrize("psi", DIVERGENCES)
def test_sparse_and_single_precision_agree_with_dense(psi: object, counts: np.ndarray) -> None:
    want = psi.block(counts)
    np.testing.assert_allclose(psi.block(scipy.sparse.csr_array(counts)), want, atol=ROUNDING)
    single = psi.block(counts.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("psi", [ChiSquare(), Jensen(), TotalVariation(), Hellinger(2)])
def test_unnormalised_rows_are_homogeneous(psi: object, counts: np.ndarray) -> None:
    np.testing.assert_allclose(psi.block(5 * counts), 5 * psi.block(counts), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("psi", "most"),
    [(ChiSquare(), 2.0), (Jensen(), math.log(2)), (TotalVariation(), 2.0), (Hellinger(), 2.0)],
)
def test_largest_value_between_probability_vectors(psi: object, most: float) -> None:
    assert psi([1.0, 0.0], [0.0, 1.0]) == pytest.approx(most, rel=1e-15)


@pytest.mark.parametrize("power", [0.3, 0.5, 1.0, 2.0])
def test_probability_product_by_definition(power: float, counts: np.ndarray) -> None:
    k = ProbabilityProduct(power)
    want = [[sum((a * b) ** power for a, b in zip(x, y, strict=True)) for y in counts] for x in counts]
    np.testing.assert_allclose(k.block(counts), want, rtol=1e-12)
    np.testing.assert_allclose(k.block(scipy.sparse.csr_array(counts)), want, rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(counts), np.diagonal(want), rtol=1e-12)


def test_bhattacharyya_and_hellinger_are_one_geometry(distributions: np.ndarray) -> None:
    # |sqrt p - sqrt q|^2 = 2 - 2 sum sqrt(p q) on probability vectors
    affinity = ProbabilityProduct().block(distributions)
    np.testing.assert_allclose(Hellinger().block(distributions), 2 - 2 * affinity, atol=1e-12)
    np.testing.assert_allclose(np.cos(Geodesic().block(distributions)), affinity, atol=1e-12)


# -- certificates -------------------------------------------------------------------------------
@pytest.mark.parametrize("psi", [*DIVERGENCES, Geodesic(), SquaredGeodesic(categories=2)])
def test_negative_definite_with_a_zero_diagonal(psi: object) -> None:
    assert psi.certificate.verdict is Verdict.NDS
    assert psi.certificate.positive.refuted
    assert psi.certificate.witness.value < 0
    assert psi.schoenberg(0.7).certificate.is_psd


@pytest.mark.parametrize("psi", [Geodesic(), SquaredGeodesic(categories=2)])
def test_strictness_needs_rows_that_division_by_their_sums_tells_apart(psi):
    x = np.array([0.25, 0.75])
    assert psi(x, x * (1 + 2.0**-21)) == 0.0
    for k in (psi, psi.schoenberg(1.0), 1 / (1 + psi), psi**0.5, psi.schoenberg(1.0) * 2 + 1):
        assert any("division by their sums" in condition for condition in k.certificate.conditions)


@pytest.mark.parametrize("psi", [*DIVERGENCES, Geodesic()])
def test_no_positive_direction_on_many_distributions(psi: object, distributions: np.ndarray) -> None:
    K = psi.block(distributions)
    P = np.eye(len(K)) - 1 / len(K)
    assert np.linalg.eigvalsh(P @ K @ P)[-1] < 1e-12 * np.abs(K).max() * len(K)
    for t in (0.01, 1.0, 100.0):
        assert np.linalg.eigvalsh(np.exp(-t * K))[0] > -1e-12 * len(K)


# -- the simplex: catalogue erratum on S (9) ----------------------------------------------------
def test_erratum_eigenvalue_and_witness() -> None:
    points, c = ERRATUM
    k = InformationDiffusion(20.0)
    K = k.block(points)
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(-0.0012, abs=5e-5)
    assert np.array(c) @ K @ c == pytest.approx(k.certificate.witness.value, rel=1e-9)
    assert k.certificate.verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    "t", [2.0, 2.4, 3.19, 3.2, 4.0, 5.0, 6.3, 8.0, 11.0, 15.99, 16.0, 20.0, 1e2, 1e4, 1e8]
)
def test_witness_is_negative_wherever_it_is_offered(t: float) -> None:
    w = InformationDiffusion(t).certificate.witness
    assert w.value < 0
    with mpmath.workdps(50):  # independently of the library
        roots = [[mpmath.sqrt(mpmath.mpf(v)) for v in p.tolist()] for p in w.points]
        units = [[v / mpmath.sqrt(mpmath.fsum(u * u for u in r)) for v in r] for r in roots]
        value = mpmath.mpf(0)
        for ci, u in zip(w.coefficients, units, strict=True):
            for cj, v in zip(w.coefficients, units, strict=True):
                cosine = min(mpmath.mpf(1), mpmath.fsum(a * b for a, b in zip(u, v, strict=True)))
                value += ci * cj * mpmath.exp(-(mpmath.acos(cosine) ** 2) / t)
    assert value < 0
    assert float(value) == pytest.approx(w.value, rel=1e-6)


@pytest.mark.parametrize("t", [0.05, 0.5, 1.0, 1.99])
def test_refuted_by_theorem_where_no_witness_is_offered(t: float) -> None:
    certificate = InformationDiffusion(t).certificate
    assert certificate.verdict is Verdict.REFUTED
    assert certificate.rule == "analytic continuation"
    assert certificate.witness is None


def test_the_theorem_holds_just_below_the_witnesses_too() -> None:
    # 45 points at t = 1.6 have an eigenvalue of -1e-11, five hundred times the rounding of a 45 x 45 matrix.
    grid = [(i, j, 8 - i - j) for i in range(9) for j in range(9 - i)]
    X = np.sin(np.pi / 16 * np.array(grid)) ** 2
    X /= X.sum(axis=1, keepdims=True)
    assert np.linalg.eigvalsh(InformationDiffusion(1.6).block(X))[0] < -5e-12


@pytest.mark.parametrize("d", [3, 4, 7])
def test_witnesses_live_in_the_domain(d: int) -> None:
    for k in (SquaredGeodesic(d), InformationDiffusion(20.0, d), InformationDiffusion(6.0, d)):
        claim = k.certificate.negative if isinstance(k, SquaredGeodesic) else k.certificate.positive
        assert all(len(p) == d for p in claim.witness.points)


def test_squared_geodesic_is_not_negative_definite_from_three_categories_on() -> None:
    claim = SquaredGeodesic().certificate.negative
    assert claim.refuted
    assert claim.witness.refutes is Property.NEGATIVE
    assert sum(claim.witness.coefficients) == 0
    assert claim.witness.value == pytest.approx(math.pi**2 / 2, rel=1e-12)  # 4.9348
    assert SquaredGeodesic().certificate.verdict is Verdict.REFUTED


@pytest.mark.parametrize("t", [0.01, 1.0, 20.0, 1e3])
def test_two_categories_are_a_gaussian_on_an_interval(t: float) -> None:
    k = InformationDiffusion(t, categories=2)
    assert k.certificate.verdict is Verdict.STRICT
    s = np.linspace(0, np.pi / 2, 9)
    X = np.stack([np.cos(s) ** 2, np.sin(s) ** 2], axis=1)
    np.testing.assert_allclose(k.block(X), np.exp(-(np.subtract.outer(s, s) ** 2) / t), atol=1e-13)


def test_small_angles_keep_their_digits() -> None:
    eps = 1e-9
    x, y = [0.5, 0.5], [0.5 + eps, 0.5 - eps]
    assert Geodesic()(x, y) == pytest.approx(eps, rel=1e-6)  # arccos of the affinity would give 0 or 2e-8
    assert Geodesic().block([x, y])[0, 1] == pytest.approx(eps, rel=1e-6)
    assert np.array_equal(Geodesic().block([x, y]).diagonal(), [0.0, 0.0])


# -- input --------------------------------------------------------------------------------------
@pytest.mark.parametrize("k", [*DIVERGENCES, ProbabilityProduct(), Geodesic()])
@pytest.mark.parametrize("sparse", [False, True])
def test_negative_entries_are_an_error_with_row_and_column(k: object, sparse: bool) -> None:
    X = np.array([[0.5, 0.5, 0.0], [0.6, 0.7, -0.3]])
    with pytest.raises(InputError, match=r"X must have entries >= 0. Got -0.3 in row 1, column 2"):
        k.block(scipy.sparse.csr_array(X) if sparse else X)


@pytest.mark.parametrize("psi", DIVERGENCES)
def test_zero_rows_are_ordinary_points(psi: object) -> None:
    K = psi.block([[0.0, 0.0], [0.0, 0.0], [4.0, 0.0]])
    assert np.isfinite(K).all()
    assert K[0, 1] == 0.0
    assert K[0, 2] > 0.0


def test_the_simplex_wants_rows_that_sum_to_one() -> None:
    with pytest.raises(InputError, match=r"rows summing to 1. Got sum 2 in row 1"):
        Geodesic().block([[0.5, 0.5], [1.0, 1.0]])
    with pytest.raises(InputError, match="Got sum 0 in row 0"):
        Geodesic().block([[0.0, 0.0]])
    nearly = np.array([[0.5, 0.5], [0.5 + 4e-7, 0.5 + 4e-7]])
    assert Geodesic().block(nearly)[0, 1] < 1e-15


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ParameterError, match=r"Hellinger: `power` must be one of 2, 1. Got 3"):
        Hellinger(power=3)
    with pytest.raises(ParameterError, match=r"`categories` must be None or .* from 2 to 1,000. Got 1"):
        InformationDiffusion(1.0, categories=1)
    with pytest.raises(ParameterError, match="ProbabilityProduct: `power`"):
        ProbabilityProduct(0.0)
    with pytest.raises(ParameterError, match="power"):  # 1e300 ** 2 overflows, which names the parameter
        ProbabilityProduct(2.0).block([[1e300]])
