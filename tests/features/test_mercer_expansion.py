import math

import numpy as np
import pytest
from numpy.polynomial import hermite
from sklearn.base import clone

import mercer
from mercer.certificate import Certificate
from mercer.domains import Box, Reals
from mercer.errors import DefinitenessError, InputError, MemoryLimitError, ParameterError
from mercer.features.mercer_expansion import MercerExpansion
from mercer.kernel import Kernel
from mercer.kernels import Gaussian, Linear
from mercer.rkhs import RKHSFunction

KINK = 1e-4  # Gauss-Legendre on a kernel with a kink on the diagonal, order 200: error ~ 1/order^2
SMOOTH = 1e-10


class Brownian(Kernel):
    @property
    def domain(self):
        return Reals(region=Box(0.0))

    def __call__(self, x, y):
        return float(min(np.ravel(x)[0], np.ravel(y)[0]))

    def _block(self, X, Y):
        return np.minimum(X, (X if Y is None else Y).T)

    def _certify(self):
        return Certificate.psd(self, "integral", "")


class Bridge(Brownian):
    def _block(self, X, Y):
        Y = X if Y is None else Y
        return np.minimum(X, Y.T) - X * Y.T


def up_to_sign(a, b):
    return min(np.abs(a - b).max(), np.abs(a + b).max())


@pytest.mark.parametrize(
    ("kernel", "frequency"),
    [(Brownian(), lambda j: (j + 0.5) * math.pi), (Bridge(), lambda j: (j + 1) * math.pi)],
)
def test_brownian_motion_and_bridge(kernel, frequency):
    expansion = MercerExpansion.quadrature(kernel, 0.0, 1.0, n_components=6, order=200)
    x = np.linspace(0.05, 0.95, 31)
    phi = expansion.eigenfunctions(x)
    for j in range(6):
        w = frequency(j)
        assert expansion.eigenvalues[j] == pytest.approx(1 / w**2, rel=1e-2 if j > 3 else 5e-3, abs=KINK)
        assert up_to_sign(phi[:, j], math.sqrt(2) * np.sin(w * x)) < 5e-3
    assert expansion.eigenvalues[0] == pytest.approx(1 / frequency(0) ** 2, rel=KINK)


def test_quadrature_converges():
    errors = [
        abs(MercerExpansion.quadrature(Brownian(), order=n, n_components=1).eigenvalues[0] - 4 / math.pi**2)
        for n in (10, 40, 160)
    ]
    assert errors[1] < errors[0] / 8  # quadratic: a sixteenth
    assert errors[2] < errors[1] / 8


@pytest.mark.parametrize(("sigma", "std"), [(1.0, 1.0), (0.7, 1.5), (2.0, 0.5)])
def test_gaussian_on_the_line_with_a_gaussian_measure(sigma, std):
    # eigenvalues sqrt(2a/A) B^k, eigenfunctions ~ exp(-(c - a) x^2) H_k(sqrt(2c) x)
    a, b = 1 / (4 * std**2), 1 / (2 * sigma**2)
    c = math.sqrt(a**2 + 2 * a * b)
    A, B = a + b + c, b / (a + b + c)
    expansion = MercerExpansion.gaussian(Gaussian(sigma), 0.0, std, n_components=6, order=150)
    x = np.linspace(-2 * std, 2 * std, 21)
    phi = expansion.eigenfunctions(x[:, None])
    for j in range(6):
        assert expansion.eigenvalues[j] == pytest.approx(math.sqrt(2 * a / A) * B**j, rel=1e-8)
        norm = math.sqrt(math.sqrt(c / a) / (2**j * math.factorial(j)))
        exact = norm * np.exp(-(c - a) * x**2) * hermite.hermval(math.sqrt(2 * c) * x, [0] * j + [1])
        assert up_to_sign(phi[:, j], exact) < 1e-6


def test_a_density_is_another_way_to_a_measure():
    def normal(nodes):
        return np.exp(-(nodes[:, 0] ** 2) / 2) / math.sqrt(2 * math.pi)

    by_density = MercerExpansion.quadrature(Gaussian(1.0), -9.0, 9.0, 5, order=120, density=normal)
    by_hermite = MercerExpansion.gaussian(Gaussian(1.0), n_components=5)
    np.testing.assert_allclose(by_density.eigenvalues, by_hermite.eigenvalues, rtol=1e-7)


def test_on_a_box_eigenvalues_multiply():
    line = MercerExpansion.quadrature(Gaussian(0.5), 0.0, 1.0, 5, order=20).eigenvalues
    other = MercerExpansion.quadrature(Gaussian(0.5), -1.0, 1.0, 5, order=20).eigenvalues
    square = MercerExpansion.quadrature(Gaussian(0.5), [0.0, -1.0], [1.0, 1.0], 6, order=20)
    products = np.sort(np.outer(line, other).ravel())[::-1]
    np.testing.assert_allclose(square.eigenvalues, products[:6], rtol=1e-8)
    assert square.n_nodes == 400


def test_eigenfunctions_are_orthonormal_and_reconstruct():
    expansion = MercerExpansion.quadrature(Gaussian(1.0), 0.0, 2.0, order=40)
    t, w = np.polynomial.legendre.leggauss(60)
    x, w = (t + 1), w  # another rule, on [0, 2]
    phi = expansion.eigenfunctions(x[:, None])[:, :6]
    np.testing.assert_allclose(phi.T @ (w[:, None] * phi), np.eye(6), atol=1e-7)
    np.testing.assert_allclose(
        expansion.reconstruct(x[:, None]), Gaussian(1.0).block(x[:, None]), atol=SMOOTH
    )
    Z = expansion.transform(x[:, None])
    np.testing.assert_allclose(Z @ Z.T, expansion.reconstruct(x[:, None]), atol=SMOOTH)
    np.testing.assert_allclose(
        expansion.reconstruct(x[:3, None], x[3:, None]), (Z @ Z.T)[:3, 3:], atol=SMOOTH
    )


def test_finite_is_the_eigendecomposition():
    X = np.random.default_rng(0).standard_normal((9, 2))
    K = Gaussian(1.0).block(X)
    expansion = MercerExpansion.finite(Gaussian(1.0), X)
    values, U = np.linalg.eigh(K)
    np.testing.assert_allclose(expansion.eigenvalues, values[::-1], rtol=1e-10)
    np.testing.assert_allclose(np.abs(expansion.eigenfunctions(X)), np.abs(U[:, ::-1]), atol=1e-8)
    features = expansion.transform(X)  # rows L^(1/2) U' e_i: squared norms sum_k l_k U_ik^2 = K_ii
    np.testing.assert_allclose(features @ features.T, K, atol=1e-10)
    np.testing.assert_allclose((features**2).sum(axis=1), np.diag(K), atol=1e-10)


def test_nystrom_approaches_the_integral_operator():
    x = (np.arange(600) + 0.5) / 600
    sample = MercerExpansion.nystrom(Brownian(), x, 3)
    np.testing.assert_allclose(
        sample.eigenvalues, [1 / ((j + 0.5) * math.pi) ** 2 for j in range(3)], rtol=1e-3
    )
    assert up_to_sign(sample.eigenfunctions([0.3])[:, 0], math.sqrt(2) * math.sin(0.15 * math.pi)) < 1e-3
    weighted = MercerExpansion(Linear(), 1).fit([[1.0], [2.0]], sample_weight=[3.0, 1.0])
    assert weighted.eigenvalues[0] == pytest.approx((3 * 1 + 1 * 4) / 4)


def test_objects():
    def overlap(x, y):
        return float(len(set(x) & set(y)))

    words = ["ab", "bc", "c", ""]
    expansion = MercerExpansion.finite(mercer.kernel(overlap), words)
    assert expansion.dim == 3  # three letters
    np.testing.assert_allclose(expansion.reconstruct(words), mercer.kernel(overlap).block(words), atol=1e-12)
    assert expansion.as_kernel().certificate.is_psd


def test_rkhs_norm():
    k = Gaussian(1.0)
    expansion = MercerExpansion.quadrature(k, 0.0, 1.0, order=40)
    points, a = np.array([[0.2], [0.5], [0.9]]), np.array([1.0, -2.0, 0.5])
    f = RKHSFunction(k, points, a)
    # sum a_j^2 / l_j over the coefficients of f = sum_i a_i k(x_i, .), which are l_j sum_i a_i phi_j(x_i)
    coefficients = expansion.eigenvalues * (a @ expansion.eigenfunctions(points))
    assert expansion.rkhs_norm(coefficients) == pytest.approx(f.norm(), rel=1e-6)
    by_integral = expansion.coefficients(f.values(expansion.nodes))
    np.testing.assert_allclose(by_integral[:4], coefficients[:4], atol=1e-8)


def test_signs_are_fixed():
    first = MercerExpansion.quadrature(Gaussian(1.0), order=30).eigenfunctions([[0.1], [0.7]])
    for _ in range(5):
        again = MercerExpansion.quadrature(Gaussian(1.0), order=30).eigenfunctions([[0.1], [0.7]])
        np.testing.assert_array_equal(first, again)


def test_contract_and_errors(monkeypatch):
    expansion = MercerExpansion(Gaussian(1.0), 2)
    assert clone(expansion).n_components == 2
    assert expansion.fit([[0.0], [1.0], [2.0]]).transform([[0.5]]).shape == (1, 2)
    assert expansion.target == Gaussian(1.0)
    with pytest.raises(ParameterError, match="`low` < `high`"):
        MercerExpansion.quadrature(Gaussian(1.0), 1.0, 0.0)
    with pytest.raises(ParameterError, match="`order`"):
        MercerExpansion.quadrature(Gaussian(1.0), order=0)
    with pytest.raises(ParameterError, match="`n_components`"):
        MercerExpansion.finite(Gaussian(1.0), [[0.0]], 0)
    with pytest.raises(ParameterError, match="`std`"):
        MercerExpansion.gaussian(Gaussian(1.0), std=0.0)
    with pytest.raises(InputError, match="positive numbers"):
        MercerExpansion(Linear()).fit([[1.0], [2.0]], sample_weight=[1.0, 0.0])
    with pytest.raises(InputError, match="at most"):
        expansion.rkhs_norm(np.ones(9))
    with pytest.raises(DefinitenessError, match="Mercer's theorem"):
        MercerExpansion.finite(Linear() - 1.0, [[0.0], [1.0]])
    monkeypatch.setenv("MERCER_MEMORY", "1GiB")
    with pytest.raises(MemoryLimitError, match="1000000 nodes"):
        MercerExpansion.quadrature(Gaussian(1.0), np.zeros(3), np.ones(3), order=100)
