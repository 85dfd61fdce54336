"""Every matrix that solvers see, against the array that it stands for."""

import numpy as np
import pytest

from mercer import gram, kernel
from mercer.kernels import Gaussian, Linear
from mercer.solvers import (
    CenteredMatrix,
    FeatureMatrix,
    GraphMatrix,
    HeldMatrix,
    LazyMatrix,
    PackedMatrix,
    WeightedMatrix,
    matrix_of,
)

N = 70
X = np.random.default_rng(0).standard_normal((N, 3))
K = Gaussian(1.0).block(X)
WEIGHT = np.random.default_rng(1).uniform(0.2, 3.0, N)
SINGLE = K.astype(np.float32)
INDEX = np.array([3, 60, 5, 4, 4])


def centered():
    H = np.eye(N) - np.outer(np.ones(N), WEIGHT / WEIGHT.sum())
    S = np.diag(np.sqrt(WEIGHT))
    return S @ H @ K @ H.T @ S


def weighted():
    return np.sqrt(WEIGHT)[:, None] * K * np.sqrt(WEIGHT)


def of_graph():
    d = K.sum(axis=1)
    return K / np.outer(d, d) + np.diag(1 / d)


G = gram(Gaussian(1.0), X)
PYTHON = kernel(lambda i, j: float(K[int(i), int(j)]))
MATRICES = {
    "held": (lambda: HeldMatrix(K), lambda: K),
    "held part": (lambda: HeldMatrix(K, INDEX), lambda: K[np.ix_(INDEX, INDEX)]),
    "held in single precision": (lambda: HeldMatrix(SINGLE, source=LazyMatrix(G)), lambda: K),
    "lazy": (lambda: LazyMatrix(G), lambda: K),
    "lazy, of features": (lambda: LazyMatrix(gram(Linear(), X)), lambda: X @ X.T),
    "lazy, in Python": (lambda: LazyMatrix(gram(PYTHON, list(range(N)))), lambda: K),
    "packed": (lambda: PackedMatrix(G), lambda: K),
    "weighted": (lambda: WeightedMatrix(G, WEIGHT), weighted),
    "centred": (lambda: CenteredMatrix(G, WEIGHT), centered),
    "of vectors": (lambda: FeatureMatrix(X), lambda: X @ X.T),
    "of a graph": (lambda: GraphMatrix(K), of_graph),
}


@pytest.mark.parametrize("name", MATRICES)
def test_a_matrix_is_its_array(name):
    make, expected = MATRICES[name]
    matrix, A = make(), expected()
    n = len(A)
    rng = np.random.default_rng(2)
    V, about = rng.standard_normal((n, 3)), {"rtol": 1e-9, "atol": 1e-10}
    V[::2] = 0.0
    rows, cols = np.array([1, 0, 4]), np.array([2, 3])
    assert matrix.size == n
    np.testing.assert_allclose(matrix.diagonal(), A.diagonal(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(matrix.product(V), A @ V, **about)
    np.testing.assert_allclose(matrix.product(V, reduced=True), A @ V, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(matrix.block(rows, cols), A[np.ix_(rows, cols)], **about)
    np.testing.assert_allclose(matrix.block(rows, slice(None)), A[rows], **about)
    for dtype, tolerance in ((np.float64, 1e-6), (np.float32, 1e-5)):
        out = np.zeros((5, n), dtype=dtype)
        matrix.rows(rows, np.array([4, 0, 2]), out)
        np.testing.assert_allclose(out[[4, 0, 2]], A[rows], rtol=tolerance, atol=tolerance)
        assert not out[[1, 3]].any()
    np.testing.assert_allclose(matrix.dense(), A, rtol=1e-6, atol=1e-6)
    copy = matrix.copy()
    assert copy.flags.writeable
    copy[:] = np.nan
    np.testing.assert_allclose(matrix.block(rows, cols), A[np.ix_(rows, cols)], **about)
    part = matrix.select(rows)
    np.testing.assert_allclose(part.block(slice(None), slice(None)), A[np.ix_(rows, rows)], **about)
    features = matrix.features()
    if features is not None:
        np.testing.assert_allclose(features @ features.T, A, **about)


def test_what_is_held(monkeypatch):
    assert matrix_of(G).is_held
    assert matrix_of(G, packed=True).is_held
    assert matrix_of(G, passes=1).is_held  # few values
    monkeypatch.setattr("mercer.memory.SMALL", 0)
    assert not matrix_of(G, passes=1).is_held  # compiled code is as fast as memory
    assert not matrix_of(gram(Linear(), X), passes=1).is_held
    assert matrix_of(gram(PYTHON, list(range(N))), passes=1).is_held
    monkeypatch.setenv("MERCER_MEMORY", str(2 * 8 * N * N - 1))
    assert not matrix_of(G).is_held
    monkeypatch.setenv("MERCER_MEMORY", str(2 * 8 * N * N))
    assert matrix_of(G).is_held
    monkeypatch.setattr("mercer.memory.HELD_BYTES", 8 * N * N - 1)
    assert not matrix_of(G).is_held
    assert matrix_of(K).is_held
