"""Guessing the free set: factors in single precision, bordered systems, the method as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.gram import gram
from mercer.kernels import Gaussian, Linear
from mercer.solvers.matrix import HeldMatrix, LazyMatrix
from mercer.solvers.svm import BoxProblem, decomposition, solve_box
from mercer.solvers.svm.active import NEAR, _Search, settle
from mercer.solvers.svm.bordered import SystemsOnSets
from mercer.solvers.svm.cholesky import BLOCK, Factor


def points(n, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def classifier(n, C, seed=0, d=4):
    """A two-class problem whose classes overlap."""
    X = points(n, d, seed)
    y = np.where(X[:, 0] + np.random.default_rng(seed + 1).standard_normal(n) > 0, 1.0, -1.0)
    return X, BoxProblem(linear=-y, low=np.where(y > 0, 0.0, -C), high=np.where(y > 0, C, 0.0))


# -- factors ------------------------------------------------------------------------------------
@pytest.mark.parametrize("n", [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
def test_factor_solves(n):
    K = np.asarray(gram(Gaussian(1.0), points(n)).dense()) + 0.1 * np.eye(n)
    right = points(n, 3, seed=1)
    factor = Factor.of(K.astype(np.float32), 0.0)
    np.testing.assert_allclose(K @ factor.backward(factor.forward(right[:, 0])), right[:, 0], atol=1e-4)
    rows = np.ascontiguousarray(right.T, dtype=np.float32)
    factor.solve_rows(rows)
    np.testing.assert_allclose(rows[1], factor.forward(right[:, 1]), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.tril(factor.lower) @ rows.T, right, atol=1e-4)


def test_factor_has_the_same_bits_on_any_number_of_threads(monkeypatch):
    K = np.asarray(gram(Gaussian(1.0), points(3 * BLOCK)).dense(), dtype=np.float32)
    factors = []
    for threads in ("1", "2", "4"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        factors.append(np.tril(Factor.of(K.copy(), 1e-3).lower))
    np.testing.assert_array_equal(factors[0], factors[1])
    np.testing.assert_array_equal(factors[0], factors[2])


@pytest.mark.parametrize("n", [2, BLOCK + 2])
def test_no_factor_of_an_indefinite_matrix(n):
    K = np.eye(n, dtype=np.float32)
    K[-1, -1] = -1.0
    assert Factor.of(K, 1e-6) is None


# -- bordered systems ---------------------------------------------------------------------------
@pytest.mark.parametrize("held", [True, False], ids=["held", "lazy"])
@pytest.mark.parametrize("with_sum", [True, False])
def test_one_set_after_the_other(held, with_sum):
    n = 400
    G = gram(Gaussian(0.5), points(n))
    K = np.asarray(G.dense())
    systems = SystemsOnSets(HeldMatrix(K.copy()) if held else LazyMatrix(G), with_sum)
    rng = np.random.default_rng(3)
    inside = rng.random(n) < 0.8
    for changes in (0, 0, 1, 5, 12, 3, 200, 4, 0, 40, 40):
        flipped = rng.choice(n, changes, replace=False)
        inside[flipped] ^= True
        index = np.flatnonzero(inside)
        right, total = rng.standard_normal(len(index)), rng.standard_normal()
        ones = np.ones((len(index), int(with_sum)))
        system = np.block([[K[np.ix_(index, index)], ones], [ones.T, np.zeros((int(with_sum),) * 2)]])
        exact = np.linalg.solve(system, np.append(right, total) if with_sum else right)
        found, offset = systems.solve(index, right, total)
        np.testing.assert_allclose(found, exact[: len(index)], rtol=2e-3, atol=2e-3)
        assert offset == pytest.approx(exact[-1] if with_sum else 0.0, rel=2e-3, abs=2e-3)


def test_singular_systems_have_no_solution(monkeypatch):
    K = np.asarray(gram(Gaussian(0.5), points(60)).dense())
    systems = SystemsOnSets(HeldMatrix(K), True)
    every = np.arange(60)
    assert systems.solve(every, np.ones(60), 0.0) is not None

    def fails(*arguments):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(np.linalg, "solve", fails)
    assert systems.solve(every[:-2], np.ones(58), 0.0) is None


# -- the whole ----------------------------------------------------------------------------------
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("constraint", ["sum", "free"])
def test_settles_at_the_solution(C, constraint):
    X, problem = classifier(300, C)
    problem = BoxProblem(problem.linear, problem.low, problem.high, constraint=constraint)
    K = np.asarray(gram(Gaussian(1.0), X).dense())
    rough = solve_box(problem, HeldMatrix(K), tol=0.05, refine=False).value
    found = settle(problem, HeldMatrix(K), rough.coefficients, rough.gradient, 1e-3)
    assert found is not None
    b, f = found
    np.testing.assert_allclose(f, K @ b + problem.linear, atol=1e-5)
    assert (b == np.clip(b, problem.low, problem.high)).all()
    assert constraint == "free" or abs(b.sum()) < 1e-4 * np.abs(b).sum()
    assert problem.optimality(b, K @ b + problem.linear).violation <= NEAR * 1e-3
    exact = solve_box(problem, HeldMatrix(K), tol=1e-9).value.coefficients
    np.testing.assert_allclose(K @ b, K @ exact, atol=2 * NEAR * 1e-3)


def test_rounds_end_at_the_solution_if_steps_are_not_to_finish(monkeypatch):
    monkeypatch.setattr("mercer.solvers.svm.active.NEAR", 1.0)
    X, problem = classifier(300, 1.0)
    K = np.asarray(gram(Gaussian(1.0), X).dense())
    rough = solve_box(problem, HeldMatrix(K), tol=0.05, refine=False).value
    b, _ = settle(problem, HeldMatrix(K), rough.coefficients, rough.gradient, 1e-3)
    assert problem.optimality(b, K @ b + problem.linear).violation <= 1e-3


def test_settles_where_the_rate_changes_at_zero():
    X = points(300)
    y = np.sin(X[:, 0]) + 0.2 * points(300, 1, seed=5)[:, 0]
    problem = BoxProblem(-y, np.full(300, -2.0), np.full(300, 2.0), width=0.1)
    K = np.asarray(gram(Gaussian(1.0), X).dense())
    rough = solve_box(problem, HeldMatrix(K), tol=0.1, refine=False).value
    b, _ = settle(problem, HeldMatrix(K), rough.coefficients, rough.gradient, 1e-4)
    assert problem.optimality(b, K @ b - y).violation <= NEAR * 1e-4


def test_gives_up_where_no_set_can_be_solved():
    X, problem = classifier(200, 1e6)
    K = np.asarray(gram(Linear(), X).dense()) - 5.0 * np.eye(200)  # indefinite
    b = np.where(problem.low < 0, -1.0, 1.0)
    b -= b.mean()
    b = np.clip(b, problem.low, problem.high)
    assert settle(problem, HeldMatrix(K), b, K @ b + problem.linear, 1e-3) is None


def test_gives_up_when_told_to():
    X, problem = classifier(300, 1.0)
    K = HeldMatrix(np.asarray(gram(Gaussian(1.0), X).dense()))
    start = solve_box(problem, K, max_iter=20, refine=False).value
    assert settle(problem, K, start.coefficients, start.gradient, 1e-6, lambda: True) is None


def test_many_coupled_free_variables_take_few_steps(monkeypatch):
    X, problem = classifier(2500, 1e3, d=8)
    G = gram(Gaussian(1.5), X)
    guesses = []
    monkeypatch.setattr(decomposition, "settle", lambda *a: guesses.append(1) or settle(*a))
    solution = solve_box(problem, LazyMatrix(G), tol=1e-3)
    assert solution.converged
    assert guesses
    assert solution.stats["iterations"] < 50_000  # 108,429 without
    b = solution.value.coefficients
    exact = problem.optimality(b, np.asarray(G.dense()) @ b + problem.linear)
    assert exact.violation <= 1e-3 * (1 + 1e-6)
    assert abs(b.sum()) <= 1e-9 * np.abs(b).sum()


def test_guesses_have_the_same_bits_on_any_number_of_threads(monkeypatch):
    X, problem = classifier(2500, 1e3, d=8)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        results.append(solve_box(problem, LazyMatrix(gram(Gaussian(1.5), X)), tol=1e-3).value)
    np.testing.assert_array_equal(results[0].coefficients, results[1].coefficients)
    np.testing.assert_array_equal(results[0].gradient, results[1].gradient)


# -- starts in other boxes ------------------------------------------------------------------------
def test_stretching_keeps_what_is_at_a_bound():
    problem = BoxProblem(np.array([1.0, -1.0, 2.0]), np.array([0.0, -0.3, -0.7]), np.array([0.1, 0.0, 0.7]))
    b = np.array([0.1, -0.3, 0.2])
    K = np.diag([1.0, 2.0, 3.0])
    other = problem.scaled(1 / 3 * 2.1)
    stretched, f = problem.stretched(b, K @ b + problem.linear, other, 0.7)
    assert stretched[0] == other.high[0]
    assert stretched[1] == other.low[1]
    np.testing.assert_allclose(f, K @ stretched + problem.linear, rtol=1e-12)


def test_a_start_in_a_larger_box():
    problem = BoxProblem(np.full(4, -1.0), np.zeros(4), np.full(4, 0.5), constraint="free")
    K = np.diag([1.0, 1.0, 4.0, 4.0])
    held, loose = np.array([0.5, 0.3, 0.25, 0.0]), np.array([0.4, 0.3, 0.25, 0.25])
    for b, factor, expected in (
        (held, 2.0, [1.0, 0.6, 0.5, 0.0]),  # some at a bound: in proportion
        (loose, 2.0, loose),
        (loose, 0.5, 0.5 * loose),  # the box has become smaller
    ):
        start, f = problem.grown(b, K @ b + problem.linear, problem.scaled(factor), factor)
        np.testing.assert_array_equal(start, expected)
        np.testing.assert_allclose(f, K @ start + problem.linear)


def test_guesses_that_grow_beyond_reason_are_given_up():
    """A kernel of low rank: whoever is on the wrong side of the plane by a little would have to be free."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 4))
    y = np.where(X[:, 0] + rng.standard_normal(1500) > 0, 1.0, -1.0)
    K = X @ X.T
    problem = BoxProblem(-y, np.where(y > 0, 0.0, -10.0), np.where(y > 0, 10.0, 0.0))
    b = solve_box(problem, HeldMatrix(K), tol=0.5, max_iter=300, refine=False).value.coefficients
    sizes = []
    search = _Search(problem, SystemsOnSets(HeldMatrix(K), True), b, K @ b - y, 1e-3)
    counted = search.round
    search.round = lambda: (counted(), sizes.append(int(search.free.sum())))[0]
    few = int(search.free.sum())
    assert search.settle(lambda: False) is None
    assert sizes[-1] > 4 * few + 256
    assert all(size <= 4 * few + 256 for size in sizes[:-1])
