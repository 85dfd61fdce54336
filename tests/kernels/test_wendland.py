"""Wendland's kernels against exact integration, their Fourier transforms, and sparse matrices."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from numpy.polynomial import Polynomial as Series
from scipy import integrate, special

from mercer import gram
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Wendland

CASES = [(dim, s) for dim in (1, 2, 3, 5, 8) for s in range(4)]


def integrated(dim: int, s: int) -> list[Fraction]:
    """Coefficients on [0, 1] of (1 - r)^l, s times integrated by If(r) = int_r^1 t f(t) dt; 1 at 0."""
    degree = dim // 2 + s + 1
    f = [Fraction((-1) ** i * math.comb(degree, i)) for i in range(degree + 1)]
    for _ in range(s):
        antiderivative = [Fraction(0), Fraction(0), *(a / (i + 2) for i, a in enumerate(f))]
        f = [sum(antiderivative) - antiderivative[0], *(-a for a in antiderivative[1:])]
    return [a / f[0] for a in f]


@pytest.mark.parametrize(("dim", "s"), CASES)
def test_values_are_the_integrals(dim: int, s: int) -> None:
    k, f = Wendland(dim, s, n_features=1), integrated(dim, s)
    for r in (Fraction(0), Fraction(1, 8), Fraction(1, 2), Fraction(15, 16)):
        want = sum(a * r**i for i, a in enumerate(f))
        assert float(k.precise([0.0], [float(r)])) == pytest.approx(float(want), rel=1e-14)
        assert k([0.0], [float(r)]) == pytest.approx(float(want), rel=1e-12)
    assert k([0.0], [1.0]) == k([0.0], [1e300]) == 0.0


@pytest.mark.parametrize(("dim", "s"), CASES)
def test_certified_up_to_the_dimension_and_refuted_beyond(dim: int, s: int) -> None:
    reach = 2 * (dim // 2) + 1
    for n in range(1, reach + 1):
        assert Wendland(dim, s, n_features=n).certificate.verdict is Verdict.STRICT
    for n in (reach + 1, reach + 2):
        assert Wendland(dim, s, n_features=n).certificate.verdict is Verdict.REFUTED
    assert Wendland(dim, s).certificate.verdict is Verdict.STRICT
    assert Wendland(dim, s, np.ones(reach + 1)).certificate.verdict is Verdict.REFUTED


def transform(dim: int, s: int, n: int, w: float) -> float:
    """Fourier transform on R^n at a frequency of this length, up to a positive factor."""
    f = Series([float(a) for a in integrated(dim, s)])

    def integrand(r: float) -> float:
        return float(f(r) * r ** (n / 2) * special.jv(n / 2 - 1, w * r))

    return float(integrate.quad(integrand, 0.0, 1.0, limit=400, epsabs=1e-14, epsrel=1e-12)[0])


@pytest.mark.parametrize(("dim", "s"), [(1, 0), (1, 1), (2, 0), (3, 0), (3, 1), (5, 0)])
def test_the_fourier_transform_is_positive_up_to_the_dimension(dim: int, s: int) -> None:
    reach = 2 * (dim // 2) + 1
    assert all(transform(dim, s, reach, w) > -1e-13 for w in np.linspace(0.1, 60.0, 120))


@pytest.mark.parametrize(("dim", "s", "w"), [(1, 0, 6.8), (1, 1, 16.2), (3, 0, 16.2)])
def test_the_fourier_transform_is_negative_beyond(dim: int, s: int, w: float) -> None:
    assert transform(dim, s, 2 * (dim // 2) + 2, w) < -1e-9


@pytest.mark.parametrize("sigma", [1.0, 0.01, [2.0, 3.0]])
def test_the_witness_of_the_plane(sigma: float | list[float]) -> None:
    k = Wendland(1, 0, sigma, n_features=2)
    witness = k.certificate.witness
    assert witness is not None
    c = np.array(witness.coefficients)
    assert c @ k.block(np.array(witness.points)) @ c == pytest.approx(witness.value, rel=1e-9)
    assert witness.value < -1e-3
    assert Wendland(1, 0, n_features=5).certificate.witness is not None


@pytest.mark.parametrize(("dim", "s"), [(1, 0), (2, 1), (3, 2), (5, 3)])
def test_gram_matrices_of_random_points_are_positive_definite(dim: int, s: int) -> None:
    X = np.random.default_rng(dim).uniform(size=(60, dim))
    assert np.linalg.eigvalsh(Wendland(dim, s, 0.8).block(X)).min() > 0


def test_sparse_matrices_have_the_values_of_dense_ones() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(300, 3)), rng.uniform(size=(70, 3))
    for k in (
        Wendland(3, 1, 0.2),
        Wendland(3, 0, [0.1, 0.3, 0.2]),
        2 * Wendland(3, 2, 0.2) - Wendland(3, 0, 0.1),
    ):
        for K in (gram(k, X), gram(k, X, Y), gram(k, scipy.sparse.csr_array(X))):
            S, dense = K.sparse(), K.dense()
            assert isinstance(S, scipy.sparse.csr_array)
            assert S.shape == dense.shape
            assert S.nnz == np.count_nonzero(dense) < 0.1 * dense.size
            np.testing.assert_allclose(S.toarray(), dense, rtol=1e-9, atol=1e-13)
    assert gram(Wendland(3), X[:0]).sparse().shape == (0, 0)


def test_a_large_sparse_matrix_takes_no_dense_one() -> None:
    X = np.random.default_rng(0).uniform(size=(20_000, 2))
    S = gram(Wendland(2, 1, 0.01), X).sparse()
    assert 20_000 < S.nnz < 300_000
    v = S @ np.ones(20_000)
    assert v[:5] == pytest.approx(Wendland(2, 1, 0.01).block(X[:5], X).sum(axis=1), rel=1e-9)


def test_errors() -> None:
    with pytest.raises(ParameterError, match="has no compact support"):
        gram(Gaussian(1.0), [[0.0], [1.0]]).sparse()
    with pytest.raises(ParameterError, match="`smoothness`"):
        Wendland(3, 4)
    with pytest.raises(ParameterError, match="one width for each of the 3 features"):
        Wendland(3, 1, [1.0, 2.0], n_features=3)
    for features in (0, 2.5):
        with pytest.raises(ParameterError, match="`n_features` must be an integer"):
            Wendland(3, 1, n_features=features)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must have 3 column"):
        Wendland(3).block([[0.0, 1.0]])
