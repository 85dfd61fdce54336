"""Kernels of the inner product against brute force, exact arithmetic and scikit-learn."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import cosine_similarity, polynomial_kernel, sigmoid_kernel

from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import ExponentialDot, InverseRoot, Linear, Polynomial, Sigmoid
from mercer.kernels.cosine import Cosine

from .vectors import in_single, storages

#: Agreement with other double precision code, relative to the size of the values.
TOL = 1e-13
#: The same in single precision.
SINGLE_TOL = 1e-5

KERNELS = [
    Linear(),
    Polynomial(3),
    Polynomial(2, 0.5),
    ExponentialDot(3.0),
    Sigmoid(0.3, 0.1),
    Cosine(),
    InverseRoot(),
]


@pytest.fixture
def X() -> np.ndarray:
    X = np.random.default_rng(0).uniform(-0.4, 0.4, (12, 4))
    X[X < -0.2] = 0.0
    return X


def test_polynomial_is_exact_on_integers() -> None:
    x, y = [1, 2, -3], [4, -1, 2]
    for degree, offset in product((1, 2, 5, 8), (0, 1, 3)):
        want = sum(a * b for a, b in zip(x, y, strict=True)) + offset
        assert Polynomial(degree, offset)(x, y) == want**degree
        assert Polynomial(degree, offset).block([x], [y])[0, 0] == want**degree


def test_polynomial_weights_rebuild_the_kernel() -> None:
    k = Polynomial(5, 0.75)
    exact = [math.comb(5, s) * Fraction(3, 4) ** (5 - s) for s in range(6)]
    assert k.weights().tolist() == [float(w) for w in exact]
    t = Fraction(7, 8)
    assert sum(w * t**s for s, w in enumerate(exact)) == (t + Fraction(3, 4)) ** 5


def test_polynomial_weights_with_a_width() -> None:
    k = Polynomial(3, 0.5, 2.0)
    weights = [Fraction(w) for w in k.weights().tolist()]
    t = Fraction(7, 8)
    assert sum(w * t**s for s, w in enumerate(weights)) == (t / 4 + Fraction(1, 2)) ** 3
    assert k([0.875], [1.0]) == float((t / 4 + Fraction(1, 2)) ** 3)


def test_a_width_cancels_when_normalised(X: np.ndarray) -> None:
    for sigma in (1e-90, 0.3, 1e90):
        normalised = Polynomial(3, 0.0, sigma).normalized().block(X)
        np.testing.assert_allclose(
            normalised, Polynomial(3, 0.0).normalized().block(X), rtol=1e-12, atol=1e-14
        )


def test_polynomial_with_a_width_is_refuted_for_negative_offsets() -> None:
    for sigma in (1e-3, 5.0):
        certificate = Polynomial(2, -1.0, sigma).certificate
        assert certificate.verdict is Verdict.REFUTED
        assert certificate.positive.witness.value < 0
    assert Polynomial(2, -1.0, "scale").certificate.verdict is Verdict.REFUTED


def test_polynomial_against_scikit_learn(X: np.ndarray) -> None:
    want = polynomial_kernel(X, degree=4, gamma=1.0, coef0=0.5)
    np.testing.assert_allclose(Polynomial(4, 0.5).block(X), want, rtol=TOL)


def test_overflow_names_the_parameter() -> None:
    X = np.full((3, 380), 1e5)
    with pytest.raises(ParameterError, match=r"Polynomial: `degree=30`"):
        Polynomial(30).block(X)
    with pytest.raises(ParameterError, match=r"Polynomial: `degree=30`"):
        Polynomial(30).diagonal(X)
    with pytest.raises(ParameterError, match=r"Polynomial: `degree=30`"):
        Polynomial(30)(X[0], X[1])
    with pytest.raises(ParameterError, match="degree"):
        Polynomial(9).block(np.full((2, 2), 1e5, dtype=np.float32))
    with pytest.raises(ParameterError, match=r"ExponentialDot: `sigma=1.0`"):
        ExponentialDot().block([[30.0]])
    with pytest.raises(ParameterError, match=r"ExponentialDot: `sigma=1.0`"):
        ExponentialDot()([30.0], [30.0])
    with pytest.raises(ParameterError, match="degree"):
        Polynomial(400, 1e3).weights()


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7, 20, 101])
@pytest.mark.parametrize("offset", [-1e-300, -1e-12, -0.3, -1.0, -17.0, -1e40])
def test_polynomial_of_negative_offset_is_refuted(degree: int, offset: float) -> None:
    k = Polynomial(degree, offset)
    certificate = k.certificate
    assert certificate.verdict is Verdict.REFUTED
    witness = certificate.witness
    assert witness is not None
    assert witness.value < 0
    # Recomputed in exact arithmetic from the definition.
    points = [Fraction(p[0]) for p in witness.points]
    c = [Fraction(v) for v in witness.coefficients]
    exact = sum(
        a * b * (x * y + Fraction(offset)) ** degree
        for a, x in zip(c, points, strict=True)
        for b, y in zip(c, points, strict=True)
    )
    assert exact < 0
    if exact > -Fraction(1e300):
        assert float(exact) == pytest.approx(witness.value, rel=1e-9)


def test_polynomial_verdicts() -> None:
    assert Polynomial(3, 0.0).certificate.verdict is Verdict.PSD
    assert Polynomial(3, 2.0).certificate.verdict is Verdict.PSD


@pytest.mark.parametrize("a", [1e-9, 0.01, 1.0, 3.0, 1e12, -1e-9, -1.0, -1e6])
@pytest.mark.parametrize(
    "b", [-1e4, -3.0, -0.5, -0.1, -1e-9, 0.0, 1e-9, 0.2, 0.4999, 0.5, 1.0, 30.0, 1e5, 1e17, -1e17, 1e280]
)
def test_sigmoid_is_refuted_everywhere(a: float, b: float) -> None:
    k = Sigmoid(a, b)
    witness = k.certificate.witness
    assert k.certificate.verdict is Verdict.REFUTED
    assert witness is not None
    K = np.array([[math.tanh(a * x[0] * y[0] + b) for y in witness.points] for x in witness.points])
    c = np.array(witness.coefficients)
    assert c @ K @ c < -0.4
    assert witness.value == pytest.approx(c @ K @ c, abs=1e-9)


def test_sigmoid_of_the_errata() -> None:
    K = Sigmoid(1.0, 0.0).block([[1.0], [0.1]])
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(-0.0030, abs=5e-5)


@pytest.mark.parametrize(("b", "verdict"), [(0.5, Verdict.PSD), (0.0, Verdict.PSD), (-1e-9, Verdict.NDS)])
def test_constant_sigmoid(b: float, verdict: Verdict) -> None:
    certificate = Sigmoid(0.0, b).certificate
    assert certificate.verdict is verdict
    assert certificate.is_nds
    assert certificate.positive.refuted == (b < 0)


def test_sigmoid_against_scikit_learn(X: np.ndarray) -> None:
    np.testing.assert_allclose(Sigmoid(0.3, 0.1).block(X), sigmoid_kernel(X, gamma=0.3, coef0=0.1), rtol=TOL)


def test_exponential_dot_is_a_conformal_gaussian(X: np.ndarray) -> None:
    s = 1.7
    squares = np.sum(X**2, axis=1)
    f = np.exp(squares / (2 * s * s))
    gaussian = np.exp(-np.sum((X[:, None] - X[None]) ** 2, axis=2) / (2 * s * s))
    np.testing.assert_allclose(ExponentialDot(s).block(X), f[:, None] * gaussian * f, rtol=TOL)
    assert ExponentialDot(s).certificate.verdict is Verdict.STRICT


def test_cosine_stays_between_minus_one_and_one() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((330, 7)) * 10.0 ** rng.uniform(-5, 5, (330, 1))
    X[165:] = X[:165] * rng.choice([-3.0, 0.1, 7.0], (165, 1))  # parallel rows
    for data in (X, X.astype(np.float32)):
        K = Cosine().block(data)
        assert np.abs(K).max() <= 1.0
        assert np.all(np.diag(K) == 1.0)
        np.testing.assert_allclose(K, cosine_similarity(X), atol=SINGLE_TOL if data.dtype == "f4" else TOL)


def test_cosine_of_zero_and_extreme_vectors() -> None:
    X = np.array([[0.0, 0.0], [1e200, 1e200], [1e-200, 0.0], [0.0, -5e-324]])
    want = np.array(
        [[0, 0, 0, 0], [0, 1, 0.5**0.5, -(0.5**0.5)], [0, 0.5**0.5, 1, 0], [0, -(0.5**0.5), 0, 1]]
    )
    np.testing.assert_allclose(Cosine().block(X), want, atol=TOL)
    np.testing.assert_allclose([[Cosine()(x, y) for y in X] for x in X], want, atol=TOL)
    assert Cosine().diagonal(X).tolist() == [0, 1, 1, 1]


def test_inverse_root_against_its_series() -> None:
    for x, y in [([0.5, 0.3], [0.2, -0.6]), ([0.7, 0.0], [0.7, 0.1]), ([0.5, 0.5], [-0.5, -0.5])]:
        t = float(np.dot(x, y))
        series = math.fsum(math.comb(2 * s, s) * (t / 4) ** s for s in range(200))
        assert InverseRoot()(x, y) == pytest.approx(series, rel=TOL)


def test_inverse_root_needs_the_open_ball() -> None:
    with pytest.raises(InputError, match="norm below 1"):
        InverseRoot().block([[0.6, 0.8]])
    assert InverseRoot().certificate.verdict is Verdict.STRICT


def test_strictness_is_not_claimed_where_it_fails() -> None:
    for k in (Linear(), Polynomial(3), Cosine()):
        assert not k.certificate.positive.strict
    # Six features of degree two in the plane: seven points are dependent.
    K = Polynomial(2).block(np.random.default_rng(2).standard_normal((7, 2)))
    assert abs(np.linalg.eigvalsh(K)[0]) < 1e-12 * np.abs(K).max()


@pytest.mark.parametrize("k", KERNELS)
def test_storage_does_not_matter(k: Linear, X: np.ndarray, tmp_path: Path) -> None:
    want = np.array([[k(x, y) for y in X] for x in X])
    for form in (*storages(X, tmp_path), scipy.sparse.csr_array(X), scipy.sparse.coo_array(X)):
        np.testing.assert_allclose(k.block(form), want, rtol=TOL, atol=TOL)
        np.testing.assert_allclose(k.block(form, X[:3]), want[:, :3], rtol=TOL, atol=TOL)
        np.testing.assert_allclose(k.diagonal(form), np.diag(want), rtol=TOL, atol=TOL)
    np.testing.assert_allclose(k.block(X.astype(np.float32)), want, rtol=SINGLE_TOL, atol=SINGLE_TOL)


@pytest.mark.parametrize("k", KERNELS)
def test_single_precision_tiles(k: Linear, X: np.ndarray) -> None:
    for data in in_single(X):
        prepared = k._prepare(data)
        assert k._block(prepared, None).dtype == np.float32
        assert k._diagonal(prepared).dtype == np.float32


def test_gradients_against_differences_of_the_definition() -> None:
    x, y = [0.5, -1.0], [2.0, 0.3]
    step = 1e-6
    for make, name, value in [
        (lambda v: Polynomial(3, v), "offset", 0.7),
        (ExponentialDot, "sigma", 1.4),
        (lambda v: Sigmoid(v, 0.2), "a", 0.8),
    ]:
        up, down = (make(value * math.exp(h))(x, y) for h in (step, -step))
        got = make(value).gradient([x], [y])[name][0, 0]
        assert got == pytest.approx((up - down) / (2 * step), rel=1e-8)
