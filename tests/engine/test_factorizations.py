"""Factorizations against LAPACK, and that they end."""

import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from mercer.engine import factorizations
from mercer.engine.factorizations import (
    cholesky,
    cholesky_in_place,
    cholesky_inverse,
    eigh,
    multiply,
    solve_lower,
    triangular_factor,
)
from mercer.engine.lapack import interruptible
from mercer.engine.runs import running
from mercer.errors import TimeBudgetError


@pytest.fixture(params=["whole", "panels"])
def blocked(request, monkeypatch):
    if request.param == "panels":
        monkeypatch.setattr(factorizations, "SMALL", 0)
        monkeypatch.setattr(factorizations, "SMALL_EIGEN", 0)
        monkeypatch.setattr(factorizations, "PANEL", 32)
        monkeypatch.setattr(factorizations, "REFLECTIONS", 16)
        monkeypatch.setattr(factorizations, "TRIDIAGONAL_PANEL", 8)
        monkeypatch.setattr(factorizations, "CALL_OPERATIONS", 1e4)


def positive_definite(n, dtype=np.float64):
    A = np.random.default_rng(n).standard_normal((n, n))
    return (A @ A.T + np.eye(n)).astype(dtype)


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 150])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_cholesky(n, dtype, order, blocked):
    K = positive_definite(n, dtype)
    given = np.array(K, order=order)
    L = cholesky(given)
    assert np.shares_memory(L, given) or n == 0
    expected = scipy.linalg.cholesky(K.astype(np.float64), lower=True)
    tolerance = 100 * max(n, 1) * np.finfo(dtype).eps * np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(np.tril(L), expected, atol=tolerance)


@pytest.mark.parametrize("order", [1, 32, 33, 40, 100])
def test_the_order_of_the_first_minor_that_is_not_positive(order, blocked):
    K = np.eye(100)
    K[order - 1, order - 1] = -1.0
    assert cholesky_in_place(K.copy())[1] == order == scipy.linalg.lapack.dpotrf(K)[1]
    with pytest.raises(np.linalg.LinAlgError, match=f"order {order} "):
        cholesky(K)


@pytest.mark.parametrize("n", [1, 40, 150])
def test_inverse(n, blocked):
    K = positive_definite(n)
    inverse = cholesky_inverse(cholesky(K.copy()))
    np.testing.assert_array_equal(inverse, inverse.T)
    np.testing.assert_allclose(inverse @ K, np.eye(n), atol=1e-8)


@pytest.mark.parametrize("n", [1, 5, 150])
@pytest.mark.parametrize("order", ["C", "F"])
def test_eigenvalues(n, order, blocked):
    K = np.array(positive_definite(n), order=order)
    before = K.copy()
    values, vectors = eigh(K)
    np.testing.assert_array_equal(K, before)
    expected = scipy.linalg.eigh(K)[0]
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12 * expected[-1])
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-12 * n * expected[-1])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)
    few, some = eigh(K, subset=(n // 2, n - 1))
    np.testing.assert_allclose(few, expected[n // 2 :], rtol=1e-10)
    assert some.shape == (n, n - n // 2)
    alone, none = eigh(K, vectors=False, overwrite=True)
    np.testing.assert_allclose(alone, expected, rtol=1e-10, atol=1e-12 * expected[-1])
    assert none.shape == (n, 0)


@pytest.mark.parametrize("scale", [1e-250, 1e200])
@pytest.mark.parametrize("n", [1, 2, 100])
def test_eigenvalues_of_any_size(n, scale, blocked):
    K = positive_definite(n)
    np.testing.assert_allclose(eigh(scale * K)[0], scale * scipy.linalg.eigh(K)[0], rtol=1e-8)


@pytest.mark.parametrize("K", [np.eye(100), np.zeros((100, 100)), np.ones((100, 100))], ids=["1", "0", "11'"])
def test_eigenvectors_of_few_different_eigenvalues(K, blocked):
    values, vectors = eigh(K)
    np.testing.assert_allclose(K @ vectors, vectors * values, atol=1e-11)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(100), atol=1e-11)


def test_eigenvalues_of_what_is_not_finite(monkeypatch):
    monkeypatch.setattr(factorizations, "SMALL_EIGEN", 0)
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        eigh(np.full((100, 100), np.nan))


@pytest.mark.parametrize(("m", "n"), [(1, 1), (5, 3), (40, 40), (200, 90)])
def test_triangular_factor(m, n, blocked):
    A = np.random.default_rng(0).standard_normal((m, n))
    R = triangular_factor(A)
    np.testing.assert_array_equal(R, np.triu(R))
    expected = np.linalg.qr(A, "r")
    signs = np.sign(np.diagonal(R) * np.diagonal(expected))
    np.testing.assert_allclose(signs[:, None] * R, expected, atol=1e-11)


def test_product(blocked):
    A, B = np.random.default_rng(0).standard_normal((2, 60, 60))
    np.testing.assert_allclose(multiply(A, B[:, :7]), A @ B[:, :7], rtol=1e-12)
    sparse = scipy.sparse.random_array((60, 60), density=0.1, rng=0, format="csr")
    np.testing.assert_allclose(multiply(sparse, B), sparse @ B, atol=1e-12)
    np.testing.assert_allclose(multiply(A.T, B[:, ::-1]), A.T @ B[:, ::-1], rtol=1e-12)


def test_triangle(blocked):
    L, B = np.tril(positive_definite(50)), np.random.default_rng(0).standard_normal((50, 9))
    np.testing.assert_allclose(L @ solve_lower(L, B), B, atol=1e-9)


def test_errors_come_through():
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)
    with pytest.raises(np.linalg.LinAlgError):
        interruptible(np.linalg.inv, np.zeros((2, 2)))


@pytest.mark.parametrize("work", [cholesky, eigh, triangular_factor, lambda K: cholesky_inverse(K.T)])
def test_a_time_budget_ends_them(work, blocked):
    with pytest.raises(TimeBudgetError), running("test", 1e-9):
        work(positive_definite(100))


def test_a_time_budget_ends_what_is_at_work():
    start = time.perf_counter()
    with pytest.raises(TimeBudgetError), running("test", 0.1):
        interruptible(time.sleep, 5.0)
    assert time.perf_counter() - start < 4


INTERRUPTED = """
import _thread, threading, time
import numpy as np
from mercer.engine.factorizations import {name}
A = np.random.default_rng(0).standard_normal(({n}, {n}))
K = A @ A.T + {n} * np.eye({n})
def interrupt():
    time.sleep(0.5)
    print("now", time.time(), flush=True)
    _thread.interrupt_main()
threading.Thread(target=interrupt, daemon=True).start()
try:
    while True:
        {name}(K.copy())
except KeyboardInterrupt:
    print("end", time.time(), flush=True)
"""


@pytest.mark.parametrize(("name", "n"), [("cholesky", 3000), ("eigh", 3000)])
def test_ctrl_c(name, n):
    """The process ends as usual: a computation that is still at work does not crash it."""
    code = INTERRUPTED.format(name=name, n=n)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    (_, now), (_, end) = (line.split() for line in ended.stdout.splitlines())
    assert float(end) - float(now) < 3
