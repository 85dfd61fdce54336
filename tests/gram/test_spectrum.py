import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.gram import gram, spectrum
from mercer.kernel import Kernel
from mercer.kernels import Gaussian, Linear


class Same(Kernel):
    """1 if x == y else 0: its Gram matrix of distinct objects is the identity."""

    def __call__(self, x, y):
        return float(x == y)

    def _block(self, X, Y):
        return (np.asarray(X)[:, None] == np.asarray(X if Y is None else Y)[None, :]).astype(float)


class Broken(Same):
    def _block(self, X, Y):
        return np.where(super()._block(X, Y) > 0, np.inf, 0.0)


@pytest.fixture
def lanczos(monkeypatch):
    monkeypatch.setattr(spectrum, "DENSE_SIZE", 10)


def test_full_spectrum_is_the_path_laplacian():
    n = 40  # eigenvalues of the path-graph Laplacian: 2 - 2 cos(pi k / n)
    L = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    L[0, 0] = L[-1, -1] = 1.0
    X = np.linalg.cholesky(L + np.eye(n))
    expected = 3 - 2 * np.cos(np.pi * np.arange(n) / n)
    np.testing.assert_allclose(gram(Linear(), X).spectrum(), np.sort(expected)[::-1], atol=1e-13)


@pytest.mark.parametrize("held", [0, 1 << 28])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_largest_by_lanczos(lanczos, monkeypatch, k, held):
    monkeypatch.setattr("mercer.memory.HELD_BYTES", held)
    X = np.random.default_rng(0).standard_normal((200, 3))
    K = gram(Gaussian(1.0), X)
    reference = np.linalg.eigvalsh(Gaussian(1.0).block(X))[::-1]
    monkeypatch.setattr(spectrum, "full_eigenpairs", None)  # no dense fallback
    values, vectors = K.spectrum(k, vectors=True)
    np.testing.assert_allclose(values, reference[:k], rtol=1e-10)
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-10)


@pytest.mark.parametrize("held", [0, 1 << 28])
def test_the_identity_a_hundred_times(lanczos, monkeypatch, held):
    monkeypatch.setattr("mercer.memory.HELD_BYTES", held)
    K = gram(Same(), list(range(60)))
    for _ in range(100):
        values, vectors = K.spectrum(5, vectors=True)
        np.testing.assert_allclose(values, np.ones(5), atol=1e-13)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-12)


def test_repeated_eigenvalues_are_all_found(lanczos):
    rows = np.repeat(np.eye(4), 30, axis=0)  # eigenvalue 30, four times, and 116 zeros
    np.testing.assert_allclose(gram(Linear(), rows).spectrum(6), [30, 30, 30, 30, 0, 0], atol=1e-10)


def test_same_bits_and_signs_on_every_run(lanczos):
    X = np.random.default_rng(1).standard_normal((80, 2))
    for k in (None, 4):
        first = gram(Gaussian(1.0), X).spectrum(k, vectors=True)
        for _ in range(20):
            values, vectors = gram(Gaussian(1.0), X).spectrum(k, vectors=True)
            np.testing.assert_array_equal(values, first[0])
            np.testing.assert_array_equal(vectors, first[1])
    lead = np.abs(first[1]).argmax(axis=0)
    assert (first[1][lead, range(4)] > 0).all()


@pytest.mark.parametrize("k", [0, -1, 11, 2.0, True, "3"])
def test_k_is_checked(k):
    with pytest.raises(ParameterError, match="`k` must be an integer from 1 to 10"):
        gram(Linear(), np.ones((10, 1))).spectrum(k)


def test_infinite_values_are_named():
    with pytest.raises(ParameterError, match="value inf for the points 0 and 0"):
        gram(Broken(), ["a", "b"]).spectrum()
