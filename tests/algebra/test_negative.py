"""The negative definite calculus, against its formulas and its theorems."""

import numpy as np
import pytest

from mercer import Kernel
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial, PowerDistance, RationalQuadratic

X = np.random.default_rng(0).standard_normal((9, 2))
SQUARED = PowerDistance(2.0)
D = ((X[:, None] - X[None]) ** 2).sum(axis=2)


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return np.linalg.eigvalsh(H @ K @ H)


@pytest.mark.parametrize(
    ("kernel", "expected", "verdict"),
    [
        (Linear().distance(), D, Verdict.NDS),
        (Linear().distance().sqrt(), np.sqrt(D), Verdict.NDS),
        (Gaussian(1.0).distance(), 2 - 2 * np.exp(-D / 2), Verdict.NDS),
        (SQUARED**0.5, np.sqrt(D), Verdict.NDS),
        (SQUARED**0.3, D**0.3, Verdict.NDS),
        (SQUARED**1.0, D, Verdict.NDS),
        (SQUARED**1.5, D**1.5, Verdict.UNKNOWN),
        (SQUARED.log1p(), np.log1p(D), Verdict.NDS),
        (SQUARED.schoenberg(0.7), np.exp(-0.7 * D), Verdict.STRICT),
        ((-0.7 * SQUARED).exp(), np.exp(-0.7 * D), Verdict.STRICT),
        ((Linear() - 0.5 * SQUARED + 1).exp(), np.exp(X @ X.T - 0.5 * D + 1), Verdict.STRICT),
        (1 / (2 + SQUARED), 1 / (2 + D), Verdict.STRICT),
        (3 / (2 + SQUARED.log1p()), 3 / (2 + np.log1p(D)), Verdict.STRICT),
        (1 / SQUARED.schoenberg(1.0), np.exp(D), Verdict.UNKNOWN),
        (SQUARED.shifted([1.0, -1.0]), None, Verdict.PSD),
        (Gaussian(2.0) ** 0.37, np.exp(-D * 0.37 / 8), Verdict.STRICT),
        (Linear().gaussian(1.5), np.exp(-D / 4.5), Verdict.PSD),
        (
            (SQUARED**0.5 + SQUARED.log1p()).schoenberg(2.0),
            np.exp(-2 * (np.sqrt(D) + np.log1p(D))),
            Verdict.STRICT,
        ),
        (Polynomial(2).schoenberg(1.0), None, Verdict.UNKNOWN),
    ],
    ids=lambda value: repr(value) if isinstance(value, Kernel) else "",
)
def test_values_and_verdicts(kernel, expected, verdict):
    K = kernel.block(X)
    if expected is not None:
        np.testing.assert_allclose(K, expected, rtol=1e-10, atol=1e-12)
    assert kernel.certificate.verdict is verdict
    if kernel.certificate.is_psd:
        assert np.linalg.eigvalsh(K).min() > -1e-10 * np.abs(K).max()
    if verdict is Verdict.NDS:
        assert centred(K).max() < 1e-10 * np.abs(K).max()
    names = vars(__import__("mercer.kernels").kernels)
    assert eval(repr(kernel), dict(names)) == kernel


def test_distances_of_near_points_far_from_the_origin_keep_their_digits():
    near = 1e8 + np.array([[0.0, 0.0], [1e-6, 0.0], [0.0, 3e-6]])
    exact = ((near[:, None] - near[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(Linear().distance().block(near, near.copy()), exact, rtol=1e-14)
    sums = (2 * Linear() + Gaussian(1.0)).distance().block(near, near.copy())
    np.testing.assert_allclose(sums, 2 * exact - 2 * np.expm1(-exact / 2), rtol=1e-13)


def test_shifted_is_the_linear_kernel_seen_from_the_origin():
    x0 = np.array([1.0, -1.0])
    expected = 2 * (X - x0) @ (X - x0).T
    np.testing.assert_allclose(SQUARED.shifted(x0).block(X), expected, rtol=1e-10, atol=1e-12)


def test_reciprocal_of_a_constant_plus_squared_distance_is_rational_quadratic():
    ours = 1 / (1 + 0.25 * SQUARED)
    np.testing.assert_allclose(ours.block(X), RationalQuadratic(2.0).block(X), rtol=1e-12)


def test_sqrt_is_a_metric_also_off_a_zero_diagonal():
    psi = 3 + SQUARED  # psi(x, x) = 3
    np.testing.assert_allclose(psi.sqrt().block(X), np.sqrt(D), rtol=1e-12)
    M = Gaussian(1.0).distance().sqrt().block(X)
    triangle = M[:, :, None] + M[None, :, :] - M[:, None, :].transpose(0, 2, 1).reshape(9, 1, 9)
    assert triangle.min() > -1e-12


def test_a_zero_diagonal_refutes_positive_definiteness():
    assert SQUARED.certificate.positive.refuted
    assert (SQUARED**0.5).certificate.positive.refuted
    assert SQUARED.log1p().certificate.positive.refuted
    assert Gaussian(1.0).distance().certificate.positive.refuted


def test_infinite_divisibility_is_inherited():
    for kernel in (
        Gaussian(1.0) * Gaussian(2.0),
        3 * Gaussian(1.0),
        SQUARED.schoenberg(1.0),
        1 / (1 + SQUARED),
    ):
        assert (kernel**0.21).certificate.is_psd
        assert np.linalg.eigvalsh((kernel**0.21).block(X)).min() > -1e-12
    assert not (Polynomial(2) ** 0.5).certificate.is_psd
    assert not ((Gaussian(1.0) + Gaussian(3.0)) ** 0.5).certificate.is_psd


def test_wrong_signs_are_errors():
    with pytest.raises(InputError, match="fractional power"):
        (Linear() ** 0.5).block(X)
    with pytest.raises(InputError, match="> -1"):
        (10 * Linear()).log1p().block(X)
    with pytest.raises(InputError, match="divides by zero"):
        (1 / SQUARED).block(X)
    with pytest.raises(InputError, match="not negative definite"):
        Linear().sqrt().block(np.array([[1.0, 0.0], [1.0, 0.1], [-3.0, 0.0]]))
    for bad in (0.0, -1.0):
        with pytest.raises(ParameterError, match="`t` must be"):
            SQUARED.schoenberg(bad)
        with pytest.raises(ParameterError, match="`sigma` must be"):
            Linear().gaussian(bad)
    with pytest.raises(InputError):
        SQUARED.shifted([1.0, np.nan])
    with pytest.raises(InputError, match="column"):
        SQUARED.shifted([1.0, 2.0, 3.0]).block(X)
