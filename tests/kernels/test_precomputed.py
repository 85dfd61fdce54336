"""Precomputed matrices: a copy of the right entries, composition, and honest refusals."""

import numpy as np
import pytest

from mercer.certificate import Verdict
from mercer.errors import InputError
from mercer.kernels import Gaussian
from mercer.kernels.precomputed import Precomputed


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((40, 3))


def test_training_and_new_points_in_an_expression(X: np.ndarray) -> None:
    base = Gaussian(1.0)
    K, K_new = base.block(X), base.block(X[:7] + 0.1, X)
    k = 2 * Precomputed() + Precomputed() ** 2 + 1
    np.testing.assert_allclose(k.block(K), 2 * K + K**2 + 1, rtol=1e-15)
    np.testing.assert_allclose(k.block(K_new, K), 2 * K_new + K_new**2 + 1, rtol=1e-15)
    np.testing.assert_allclose(k.diagonal(K), np.diagonal(2 * K + K**2 + 1), rtol=1e-15)


def test_more_than_one_tile(X: np.ndarray) -> None:
    big = np.random.default_rng(1).standard_normal((1100, 2))
    K = big @ big.T
    np.testing.assert_array_equal(Precomputed().block(K), K)
    np.testing.assert_array_equal(Precomputed().block(K[:600] + 1, K), K[:600] + 1)


def test_the_result_is_a_copy(X: np.ndarray) -> None:
    K = X @ X.T
    block = Precomputed().block(K)
    block[:] = 0
    assert K.any()


def test_single_precision_is_kept(X: np.ndarray) -> None:
    K = (X @ X.T).astype(np.float32)
    K = (K + K.T) / 2
    assert Precomputed().block(K).dtype == np.float32


def test_nothing_is_known_about_it() -> None:
    certificate = Precomputed().certificate
    assert certificate.verdict is Verdict.UNKNOWN
    assert "check()" in certificate.explain()
    assert Precomputed().assume("PSD").certificate.is_psd


def test_no_value_on_one_pair() -> None:
    for k in (Precomputed(), 2 * Precomputed() + 1):
        with pytest.raises(
            InputError, match=r"Precomputed: k\(x, y\) has no meaning|one column per training"
        ):
            k([1.0, 2.0], [2.0, 1.0])


def test_the_diagonal_of_new_points_is_not_invented(X: np.ndarray) -> None:
    base, k = Gaussian(1.0) + 1, Precomputed().normalized()
    K = base.block(X)
    np.testing.assert_allclose(k.block(K), base.normalized().block(X), rtol=1e-13)
    for new in (X[:7] + 0.1, X + 0.1):  # fewer new points than training points, and exactly as many
        with pytest.raises(InputError, match=r"k\(x, x\) of new points"):
            k.block(base.block(new, X), K)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "symmetric. The largest asymmetry is 2"),
        (np.ones((2, 3)), "square kernel matrix"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "NaN in row 0, column 1"),
        (np.ones(3), "2-D matrix"),
        (np.array([["a", "b"], ["b", "a"]]), "matrix of kernel values"),
    ],
)
def test_matrices_that_are_refused(matrix: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Precomputed().block(matrix)


def test_new_points_need_a_column_for_each_training_point() -> None:
    with pytest.raises(InputError, match="one column per training point"):
        Precomputed().block(np.ones((2, 3)), np.eye(4))
