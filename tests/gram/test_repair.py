import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.gram import gram
from mercer.kernels import Gaussian, Linear

from .kernels import Letters, Tanh

ATOL = 1e-10


@pytest.fixture
def X():
    return np.random.default_rng(5).standard_normal((30, 2)) * 2


def oracle(K, method):
    values, U = np.linalg.eigh(K)
    if method == "shift":
        return K - min(0.0, values[0]) * np.eye(len(K))
    return (U * (np.maximum(values, 0) if method == "clip" else np.abs(values))) @ U.T


@pytest.mark.parametrize("method", ["clip", "flip", "shift"])
def test_repaired_matrix_and_what_it_reports(X, method):
    K = Tanh().block(X)
    R = gram(Tanh(), X).repair(method)
    expected = oracle(K, method)
    np.testing.assert_allclose(R.dense(), expected, atol=ATOL)
    np.testing.assert_allclose(R.diagonal(), np.diag(expected), atol=ATOL)
    np.testing.assert_allclose(R.block([3, 1], slice(2, 9)), expected[[3, 1]][:, 2:9], atol=ATOL)
    np.testing.assert_allclose(R @ np.ones(30), expected.sum(axis=1), atol=ATOL)
    values = np.linalg.eigvalsh(K)
    assert values[0] < -0.1  # there is something to repair
    assert R.least_before == pytest.approx(values[0], rel=1e-10)
    assert R.least_after >= 0.0
    assert R.change == pytest.approx(np.linalg.norm(expected - K) / np.linalg.norm(K), rel=1e-6)
    assert R.n_changed == (30 if method == "shift" else np.sum(values < -R.tol))
    assert R.check()
    assert method in str(R)


@pytest.mark.parametrize("method", ["clip", "flip"])
def test_new_rows_agree_with_the_repaired_training_matrix(X, method):
    R = gram(Tanh(), X).repair(method)
    np.testing.assert_allclose(R.cross(X).dense(), R.dense(), atol=ATOL)
    np.testing.assert_allclose(R.cross(X[[4, 2]]).dense(), R.dense()[[4, 2]], atol=ATOL)
    np.testing.assert_allclose(R._self(X), R.diagonal(), atol=ATOL)


@pytest.mark.parametrize("method", ["clip", "flip"])
def test_the_extension_is_positive_definite_on_new_points(X, method):
    Z = np.random.default_rng(6).standard_normal((15, 2))
    R = gram(Tanh(), X).repair(method)
    values, U = np.linalg.eigh(Tanh().block(X))
    repaired = np.maximum(values, 0) if method == "clip" else np.abs(values)
    cross = Tanh().block(Z, X) @ (U * (repaired / values)) @ U.T
    inner = Tanh().block(Z, X) @ (U * (repaired / values**2)) @ U.T @ Tanh().block(X, Z)
    np.testing.assert_allclose(R.cross(Z).dense(), cross, atol=1e-6)  # small eigenvalues magnify rounding
    joint = np.block([[R.dense(), cross.T], [cross, inner]])
    assert np.linalg.eigvalsh(joint)[0] > -1e-6 * np.linalg.eigvalsh(joint)[-1]
    np.testing.assert_allclose(R._self(Z), np.diag(inner), rtol=1e-5, atol=1e-5)


def test_shift_leaves_new_rows_alone(X):
    Z = X[:3] + 0.5
    R = gram(Tanh(), X).repair("shift")
    np.testing.assert_allclose(R.cross(Z).dense(), Tanh().block(Z, X))
    np.testing.assert_allclose(R.cross(X).dense(), Tanh().block(X))
    np.testing.assert_allclose(R._self(Z), Tanh().diagonal(Z) + R.shift)
    assert R.shift == -R.least_before


@pytest.mark.parametrize("method", ["clip", "flip", "shift"])
def test_a_positive_definite_matrix_is_left_alone(X, method):
    R = gram(Gaussian(1.0), X).repair(method)
    np.testing.assert_allclose(R.dense(), Gaussian(1.0).block(X), atol=1e-13)
    assert R.n_changed == 0
    assert R.change < 1e-13


def test_singular_matrices_extend(X):
    points = np.vstack([X, X])  # repeated points: the pseudo-inverse is needed
    R = gram(Linear(), points).repair("clip")
    np.testing.assert_allclose(R.cross(points).dense(), points @ points.T, atol=ATOL)


def test_repaired_matrices_centre_and_normalise(X):
    R = gram(Tanh(), X).repair("clip")
    H = np.eye(30) - 1 / 30
    np.testing.assert_allclose(R.center().dense(), H @ R.dense() @ H, atol=ATOL)
    np.testing.assert_allclose(R.normalize().cross(X).dense(), R.normalize().dense(), atol=1e-8)


def test_objects_and_errors(X):
    words = ["ab", "bc", "abc", ""]
    R = gram(Letters() - 1.5, words).repair("flip")
    np.testing.assert_allclose(R.cross(words).dense(), R.dense(), atol=ATOL)
    with pytest.raises(ParameterError, match="'clip', 'flip' or 'shift'"):
        gram(Letters(), words).repair("fold")
    with pytest.raises(ParameterError, match="`tol`"):
        gram(Letters(), words).repair("clip", tol=-1.0)
    with pytest.raises(InputError, match="training points"):
        R.cross(words).cross(words)
