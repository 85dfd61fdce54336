"""Kernels of the Euclidean distance against fifty digits, scikit-learn and quadrature."""

from __future__ import annotations

import math
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.sparse
from scipy.integrate import quad
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.gaussian_process.kernels import RationalQuadratic as SklearnRationalQuadratic
from sklearn.metrics.pairwise import rbf_kernel

from mercer.arithmetic import matern
from mercer.certificate import Property, Verdict, Witness
from mercer.errors import InputError, ParameterError
from mercer.kernel import Kernel
from mercer.kernels.mahalanobis import Mahalanobis
from mercer.kernels.matern import Matern
from mercer.kernels.powers import PowerDistance, PowerExponential
from mercer.kernels.radial import Exponential, Gaussian, RationalQuadratic

from .vectors import assert_gradients, in_single, storages

#: Agreement with other double precision code.
TOL = 1e-12
#: Relative error of a kernel value, in units of eps times one plus the size of its logarithm.
ULPS = 64
#: The same where SciPy's Bessel function of fractional order has the say.
BESSEL_ULPS = 300
SINGLE_TOL = 1e-5
EPS = np.finfo(np.float64).eps

WIDTHS = np.array([0.7, 3.0, 1.1])
MATRIX = np.array([[2.0, 0.3, -0.4], [0.3, 1.0, 0.2], [-0.4, 0.2, 0.5]])
KERNELS: list[Kernel] = [
    Gaussian(1.3),
    Gaussian(WIDTHS),
    Exponential(1.3),
    Exponential(WIDTHS),
    RationalQuadratic(1.3),
    RationalQuadratic(WIDTHS, 0.4),
    Matern(0.5, 1.3),
    Matern(1.5, 1.3),
    Matern(2.5, WIDTHS),
    Matern(0.8, 1.3),
    Matern(3.3, WIDTHS),
    Matern(70.0, 1.3),
    PowerExponential(0.7, 1.3),
    PowerExponential(1.9, WIDTHS),
    PowerExponential(3.0, 1.3),
    PowerDistance(1.5),
    Mahalanobis(MATRIX),
]


@pytest.fixture
def X() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((10, 3))
    X[np.abs(X) < 0.3] = 0.0
    X[3] = X[7]
    return X


# -- values -------------------------------------------------------------------------------------
def test_against_scikit_learn(X: np.ndarray) -> None:
    np.testing.assert_allclose(Gaussian(1.3).block(X), rbf_kernel(X, gamma=0.5 / 1.3**2), rtol=TOL)
    np.testing.assert_allclose(
        RationalQuadratic(1.3 * math.sqrt(0.8), 0.4).block(X), SklearnRationalQuadratic(1.3, 0.4)(X), rtol=TOL
    )
    for nu in (0.5, 1.5, 2.5, 0.8, 3.3, 7.0):
        np.testing.assert_allclose(Matern(nu, WIDTHS).block(X), SklearnMatern(WIDTHS, nu=nu)(X), rtol=TOL)


def test_from_gamma() -> None:
    assert Gaussian.from_gamma(2.0)([0.0], [1.0]) == pytest.approx(math.exp(-2.0), rel=TOL)
    for gamma in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ParameterError, match="from_gamma"):
            Gaussian.from_gamma(gamma)


@pytest.mark.parametrize("k", KERNELS)
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e8])
def test_error_does_not_grow_with_the_offset(k: Kernel, offset: float, X: np.ndarray) -> None:
    far = np.vstack([X[:4] + offset, X[:2]])  # two clusters
    K = k.block(far)
    ulps = BESSEL_ULPS if isinstance(k, Matern) else ULPS
    for i in range(len(far)):
        for j in range(i + 1):
            exact = k.precise(far[i], far[j])
            if exact < 1e-300:
                assert K[i, j] < 1e-299
                continue
            unit = EPS * (1 + abs(float(mpmath.log(exact))))
            assert abs(K[i, j] - exact) <= ulps * unit * exact


def test_single_precision_far_from_the_origin() -> None:
    X = np.array([[1e4], [10001]], dtype=np.float32)
    for data in (X, scipy.sparse.csr_array(X)):
        assert Gaussian(3.0)._block(data, None)[0, 1] == pytest.approx(math.exp(-1 / 18), rel=1e-6)
        assert Exponential(3.0)._block(data, None)[0, 1] == pytest.approx(math.exp(-1 / 3), rel=1e-6)


@pytest.mark.parametrize("k", KERNELS)
def test_storage_does_not_matter(k: Kernel, X: np.ndarray, tmp_path: Path) -> None:
    want = np.array([[k(x, y) for y in X] for x in X])
    for form in (*storages(X, tmp_path), scipy.sparse.csr_array(X), scipy.sparse.coo_array(X)):
        np.testing.assert_allclose(k.block(form), want, rtol=TOL, atol=TOL)
        np.testing.assert_allclose(k.block(form, X[:3]), want[:, :3], rtol=TOL, atol=TOL)
    for single in in_single(X):
        prepared = k._prepare(single)
        K = k._block(prepared, None)
        assert K.dtype == np.float32
        assert k._diagonal(prepared).dtype == np.float32
        np.testing.assert_allclose(K, want, rtol=SINGLE_TOL, atol=SINGLE_TOL)


def test_distances_without_a_float_square_give_zero_or_the_little_that_is_left() -> None:
    X = np.array([[1e200, 0.0, 0.0], [-1e200, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for k in KERNELS:
        if isinstance(k, PowerDistance):
            with pytest.raises(ParameterError, match="PowerDistance: `p="):
                PowerDistance(4.0).block(X)
            continue
        left = float(k.precise(X[0], X[1]))
        assert left < 1e-30
        np.testing.assert_allclose(k.block(X), np.eye(3), atol=1e-30)
        np.testing.assert_allclose([k(X[0], X[1]), k.block(X)[0, 1]], left, rtol=1e-12)
        for g in k.gradient(X).values():
            assert np.abs(g).max() < 1e-100


# -- Matern -------------------------------------------------------------------------------------
def _bessel(nu: float, z: mpmath.mpf) -> mpmath.mpf:
    """K_nu(z); mpmath loses large orders, but those of half integers are finite sums of positive terms."""
    if nu < 50:
        return mpmath.besselk(mpmath.mpf(nu), z)
    n = int(nu)
    assert nu == n + 0.5
    terms, term = [], mpmath.mpf(1)
    for k in range(n + 1):
        terms.append(term)
        term *= mpmath.mpf((n + k + 1) * (n - k)) / (k + 1) / (2 * z)
    return mpmath.sqrt(mpmath.pi / (2 * z)) * mpmath.exp(-z) * mpmath.fsum(terms)


@pytest.mark.parametrize(
    "nu", [0.01, 0.3, 0.5, 1.0, 1.5, 2.0, 2.5, 3.7, 20.5, 49.9, 50.5, 77.5, 169.5, 1000.5, 5000.5]
)
def test_matern_profile_to_forty_digits(nu: float) -> None:
    r = np.array([0.0, 1e-300, 1e-100, 1e-20, 1e-8, 1e-3, 0.01, 0.1, 0.5, 1.0, 3.0, 8.0, 20.0, 30.0])
    z = math.sqrt(2 * nu) * r
    with mpmath.workdps(40):
        for zi, got in zip(z.tolist(), matern(nu, z), strict=True):
            t, n = mpmath.mpf(zi), mpmath.mpf(nu)
            exact = 2 ** (1 - n) / mpmath.gamma(n) * t**n * _bessel(nu, t) if zi else mpmath.mpf(1)
            if exact > 1e-290:
                assert abs(got - exact) <= BESSEL_ULPS * EPS * (1 + abs(float(mpmath.log(exact)))) * exact
            else:
                assert got <= 1e-289


def test_matern_definition_at_large_orders() -> None:
    for nu, x in ((77.5, 3.0), (1000.5, 20.0), (300.0, 2.0)):
        z = mpmath.sqrt(2 * mpmath.mpf(nu)) * mpmath.mpf(x)
        k = Matern(nu)
        assert k([0.0], [x]) == pytest.approx(float(k.precise([0.0], [x])), rel=TOL)
        if nu % 1:
            with mpmath.workdps(50):
                exact = 2 ** (1 - mpmath.mpf(nu)) / mpmath.gamma(nu) * z**nu * _bessel(nu, z)
            assert float(k.precise([0.0], [x])) == pytest.approx(float(exact), rel=TOL)


def test_matern_far_away_and_in_the_limit() -> None:
    assert matern(3.3, np.array([1e5, 1e200, np.inf])).tolist() == [0.0, 0.0, 0.0]
    assert matern(300.0, np.array([1e200, np.inf])).tolist() == [0.0, 0.0]
    r = np.linspace(0, 4, 9)[:, None]
    np.testing.assert_allclose(Matern(1e9).block(r), Gaussian(1.0).block(r), atol=1e-7)


def test_matern_spectral_density_is_positive() -> None:
    # On the line the transform of order nu is proportional to (2 nu + w^2)^(-nu - 1/2).
    for nu in (0.5, 1.5, 2.2):

        def transform(w: float, nu: float = nu) -> float:
            value, _ = quad(
                lambda r: float(matern(nu, np.array([math.sqrt(2 * nu) * r]))[0]),
                0,
                np.inf,
                weight="cos",
                wvar=w,
            )
            return float(value)

        ratio = transform(2.0) / transform(0.5)
        assert ratio == pytest.approx(((2 * nu + 4) / (2 * nu + 0.25)) ** (-nu - 0.5), rel=1e-6)


# -- gradients ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "k",
    [
        *KERNELS[:13],
        Matern(1.0, 0.8),
        Matern(1.0, WIDTHS),
        Matern(0.3, WIDTHS),
        Matern(1.0 + 1e-9, 0.8),
        PowerExponential(0.3, WIDTHS),
    ],
)
def test_gradients_against_differences_of_the_definition(k: Kernel, X: np.ndarray) -> None:
    assert_gradients(k, X, atol=1e-9)


# -- verdicts -----------------------------------------------------------------------------------
def test_strict_kernels() -> None:
    for k in (Gaussian(1.0), Exponential(), RationalQuadratic(), Matern(0.3), PowerExponential(2.0)):
        assert k.certificate.verdict is Verdict.STRICT
        assert k._infinitely_divisible() is not None


def _recomputed(witness: Witness, function: object) -> mpmath.mpf:
    with mpmath.workdps(60):
        points = [[mpmath.mpf(t) for t in p] for p in witness.points]
        c = [mpmath.mpf(v) for v in witness.coefficients]
        return mpmath.fsum(
            a * b * function(x, y)  # type: ignore[operator]
            for a, x in zip(c, points, strict=True)
            for b, y in zip(c, points, strict=True)
        )


@pytest.mark.parametrize(
    "p", [math.nextafter(2, 3), 2 + 1e-12, 2 + 1e-6, 2.01, 2.5, 3.0, 4.0, 17.0, 900.0, 1e6, 1e17]
)
@pytest.mark.parametrize("sigma", [1.0, 1e-5, 3e7, np.array([0.3, 5.0])], ids=str)
def test_power_exponential_is_refuted_beyond_two(p: float, sigma: object) -> None:
    k = PowerExponential(p, sigma)
    witness = k.certificate.witness
    assert k.certificate.verdict is Verdict.REFUTED
    assert witness is not None
    assert len(witness.points[0]) == np.size(sigma)
    assert witness.value < -min(1.0, p - 2) / 10

    def function(x: list[mpmath.mpf], y: list[mpmath.mpf]) -> mpmath.mpf:
        r = abs(x[0] - y[0]) / mpmath.mpf(float(np.ravel(sigma)[0]))
        return mpmath.exp(-(r ** mpmath.mpf(p)))

    assert float(_recomputed(witness, function)) == pytest.approx(witness.value, rel=1e-9)


def test_unresolved_power_exponential_is_refuted_too() -> None:
    assert PowerExponential(3.0, "median").certificate.verdict is Verdict.REFUTED
    assert PowerExponential(1.0, "median").certificate.verdict is Verdict.STRICT


@pytest.mark.parametrize("p", [1e-3, 0.5, 1.0, 1.5, 2.0])
def test_power_distance_is_negative_definite_up_to_two(p: float, X: np.ndarray) -> None:
    certificate = PowerDistance(p).certificate
    assert certificate.verdict is Verdict.NDS
    assert certificate.positive.refuted
    assert certificate.witness is not None
    assert certificate.witness.value == -2.0
    K = PowerDistance(p).block(X)
    P = np.eye(len(X)) - 1 / len(X)
    assert np.linalg.eigvalsh(P @ K @ P)[-1] < 1e-12 * np.abs(K).max()


@pytest.mark.parametrize("p", [math.nextafter(2, 3), 2.0001, 2.5, 3.0, 40.0, 1e5])
def test_power_distance_is_refuted_beyond_two(p: float) -> None:
    certificate = PowerDistance(p).certificate
    assert certificate.positive.refuted
    assert certificate.negative.refuted
    assert PowerDistance(p)._conditional((-1) ** math.ceil(p / 2)).order == math.ceil(p / 2)
    witness = certificate.negative.witness
    assert witness is not None
    assert witness.refutes is Property.NEGATIVE
    assert sum(witness.coefficients) == 0
    value = _recomputed(witness, lambda x, y: abs(x[0] - y[0]) ** mpmath.mpf(p))
    assert value > 0
    assert witness.value == pytest.approx(float(value), rel=1e-9)


# -- Mahalanobis --------------------------------------------------------------------------------
def test_mahalanobis_is_its_formula(X: np.ndarray) -> None:
    D = X[:, None] - X[None]
    want = np.exp(-np.einsum("ijk,kl,ijl->ij", D, MATRIX, D) / 2)
    np.testing.assert_allclose(Mahalanobis(MATRIX).block(X), want, rtol=TOL)
    np.testing.assert_allclose(
        Mahalanobis(np.diag(1 / WIDTHS**2)).block(X), Gaussian(WIDTHS).block(X), rtol=TOL
    )
    np.testing.assert_allclose(Mahalanobis(MATRIX).factor.T @ Mahalanobis(MATRIX).factor, MATRIX, atol=TOL)


def test_mahalanobis_verdicts() -> None:
    assert Mahalanobis(MATRIX).certificate.verdict is Verdict.STRICT
    singular = Mahalanobis([[1.0, 1.0], [1.0, 1.0]])
    assert singular.certificate.verdict is Verdict.PSD
    assert singular.factor.shape == (1, 2)
    assert singular([0.0, 0.0], [3.0, -3.0]) == pytest.approx(1.0)
    A = np.random.default_rng(5).standard_normal((6, 3))
    assert Mahalanobis(A @ A.T).factor.shape == (3, 6)  # rank three, with rounding
    assert Mahalanobis(np.zeros((2, 2))).block(np.eye(2)).tolist() == [[1, 1], [1, 1]]


def test_mahalanobis_spread_over_many_widths() -> None:
    rng = np.random.default_rng(6)
    X = rng.standard_normal((8, 3)) * 1e6  # every row another cluster
    X[4:] = X[:4] + rng.standard_normal((4, 3))
    k = Mahalanobis(MATRIX)
    for A, B in ((X, None), (X[:4], X[4:]), (scipy.sparse.csr_array(X), None)):
        K = k.block(A, B)
        rows, columns = (X, X) if B is None else (X[:4], X[4:])
        want = [[float(k.precise(x, y)) for y in columns] for x in rows]
        np.testing.assert_allclose(K, want, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.0], [0.5, 1.0]], "symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "positive semidefinite"),
        ([[1.0, 2.0]], "square"),
        ([1.0, 2.0], "matrix"),
        ([[math.nan]], "matrix"),
        ([[1.0], [1.0, 2.0]], "matrix"),
    ],
)
def test_mahalanobis_refuses_other_matrices(matrix: list[list[float]], message: str) -> None:
    with pytest.raises(ParameterError, match=f"Mahalanobis: `matrix`.*{message}"):
        Mahalanobis(matrix)


def test_wrong_number_of_columns(X: np.ndarray) -> None:
    for k in (Gaussian([1.0, 2.0]), Mahalanobis(np.eye(2))):
        with pytest.raises(InputError, match=r"2 column"):
            k.block(X)


@pytest.mark.parametrize("make", [Gaussian, Exponential, RationalQuadratic, lambda s: Matern(1.5, s)])
@pytest.mark.parametrize("sigma", [0.0, -1.0, math.inf, "mean", [1.0, 0.0], [[1.0]]])
def test_bad_widths(make: type[Kernel], sigma: object) -> None:
    with pytest.raises(ParameterError, match="`sigma` must be"):
        make(sigma)
