"""Negative eigenvalues found without the spectrum, against the dense eigenvalue solver."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.gram import gram, negative
from mercer.gram.negative import breakdown, negative_eigenvalue
from mercer.kernels import Gaussian, Precomputed, Sigmoid


def with_eigenvalues(values, seed: int = 0) -> np.ndarray:
    n = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    A = (Q * np.asarray(values)) @ Q.T
    return (A + A.T) / 2


def given(A: np.ndarray):
    return gram(Precomputed(), A)


# -- the factor ----------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, 7, 60])
@pytest.mark.parametrize("seed", range(5))
def test_breakdown_gives_a_vector_of_the_wrong_sign(n, seed) -> None:
    A = with_eigenvalues(np.random.default_rng(seed).standard_normal(n), seed)
    least = np.linalg.eigvalsh(A)[0]
    assert breakdown(A.copy(), -least + 1e-9) is None
    for shift in (0.0, -least / 2, -least - 1e-9):
        x = breakdown(A.copy(), shift)
        if least + shift > 0:
            assert x is None
        else:
            assert x is not None
            assert x @ (A + shift * np.eye(n)) @ x <= 1e-12 * (x @ x)


def test_no_points_have_no_negative_eigenvalue() -> None:
    assert breakdown(np.empty((0, 0)), 0.0) is None


def test_breakdown_leaves_the_half_below_the_diagonal() -> None:
    A = with_eigenvalues([3.0, 2.0, -1.0, 1.0, 0.5])
    B = A.copy()
    breakdown(B, 0.0)
    np.testing.assert_array_equal(np.tril(B, -1), np.tril(A, -1))


# -- all of the matrix ---------------------------------------------------------------------------
@pytest.mark.parametrize("least", [-1e-2, -1e-6, -1e-9])
@pytest.mark.parametrize("n", [30, 400])
def test_the_least_eigenvalue_is_that_of_the_dense_solver(n, least) -> None:
    A = with_eigenvalues(np.append(np.geomspace(1e-8, 10.0, n - 1), least))
    found = negative_eigenvalue(given(A))
    assert found is not None
    exact = np.linalg.eigvalsh(A)[0]
    assert exact - 1e-14 <= found.value < 0
    assert found.converged or least == -1e-9  # among many that are as small
    if found.converged:
        assert found.value == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    "values",
    [
        np.ones(50),
        np.zeros(50),
        np.append(np.zeros(49), 5.0),
        np.geomspace(1e-20, 1.0, 80),
        np.append(np.geomspace(1e-12, 1.0, 79), -1e-16),
    ],
)
def test_what_rounding_explains_is_not_negative(values) -> None:
    assert negative_eigenvalue(given(with_eigenvalues(values))) is None


def test_many_equal_negative_eigenvalues() -> None:
    found = negative_eigenvalue(given(with_eigenvalues(np.repeat([1.0, -1.0], 20))))
    assert found is not None
    assert found.converged
    assert found.value == pytest.approx(-1.0, rel=1e-9)


def test_the_first_breakdown_need_not_be_the_worst() -> None:
    values = np.ones(60)
    values[[3, 50]] = -1.0, -5.0
    found = negative_eigenvalue(given(np.diag(values)))
    assert found is not None
    assert found.converged
    assert found.value == pytest.approx(-5.0, rel=1e-9)


def test_single_precision_has_its_own_rounding() -> None:
    X = np.random.default_rng(0).standard_normal((300, 2))
    K = gram(Gaussian(2.0), X).dense()
    assert np.linalg.eigvalsh(K.astype(np.float32).astype(np.float64))[0] < -1e-9
    assert negative_eigenvalue(given(K.astype(np.float32))) is None


def test_an_iteration_that_does_not_end_gives_a_bound(monkeypatch) -> None:
    A = with_eigenvalues(np.append(np.linspace(0.0, 10.0, 199), -1e-3))
    monkeypatch.setattr(negative, "MOST_PRODUCTS", 2)
    found = negative_eigenvalue(given(A))
    assert found is not None
    assert not found.converged
    assert np.linalg.eigvalsh(A)[0] < found.value < 0


# -- a part of the matrix ------------------------------------------------------------------------
@pytest.mark.parametrize("precomputed", [True, False])
def test_large_matrices_have_a_part_factored(monkeypatch, precomputed) -> None:
    monkeypatch.setattr(negative, "MOST_FACTORED", 40)
    X = np.random.default_rng(0).standard_normal((300, 3))
    for kernel, is_negative in ((Gaussian(1.0), False), (Sigmoid(1.0, -1.0), True)):
        G = gram(kernel, X)
        found = negative_eigenvalue(given(G.dense()) if precomputed else G)
        assert (found is not None) == is_negative
        if found is not None:
            assert not found.converged
            assert np.linalg.eigvalsh(G.dense())[0] <= found.value < 0


def test_the_iteration_finds_what_the_part_does_not_show(monkeypatch) -> None:
    monkeypatch.setattr(negative, "MOST_FACTORED", 10)
    A = np.eye(400)
    part = set(np.random.default_rng(0).choice(400, 10, replace=False))
    i, j = [i for i in range(400) if i not in part][:2]
    A[i, j] = A[j, i] = 3.0
    found = negative_eigenvalue(given(A))
    assert found is not None
    assert found.value == pytest.approx(-2.0, rel=1e-6)
    monkeypatch.setattr(negative, "MOST_VALUES", 400.0**2)
    assert negative_eigenvalue(given(A)) is None  # too dear


def test_values_from_python_are_not_computed_thirty_times(monkeypatch) -> None:
    from mercer import kernel

    calls = [0]

    def value(x: float, y: float) -> float:
        calls[0] += 1
        return float(np.exp(-((x - y) ** 2)))

    monkeypatch.setattr(negative, "MOST_FACTORED", 10)
    G = gram(kernel(value), list(np.linspace(0.0, 20.0, 100)))
    assert negative_eigenvalue(G) is None
    assert calls[0] <= 10 * 10 + 1
