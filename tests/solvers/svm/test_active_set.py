"""The active set method: Newton steps to the solution, in single and in double precision, and warm starts."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.gram import gram
from mercer.kernels import Gaussian, Linear
from mercer.solvers.matrix import HeldMatrix, LazyMatrix
from mercer.solvers.svm import BoxProblem, solve, solve_box
from mercer.solvers.svm.active_set import active_set


def points(n, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def classifier(n, C, seed=0, d=4):
    """A two-class problem whose classes overlap."""
    X = points(n, d, seed)
    y = np.where(X[:, 0] + np.random.default_rng(seed + 1).standard_normal(n) > 0, 1.0, -1.0)
    return X, BoxProblem(linear=-y, low=np.where(y > 0, 0.0, -C), high=np.where(y > 0, C, 0.0))


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("constraint", ["sum", "free"])
@pytest.mark.parametrize(("dtype", "tol"), [(np.float32, 1e-3), (np.float64, 1e-9)])
@pytest.mark.parametrize("kind", ["held", "lazy"])
def test_converges_to_the_solution(C, constraint, dtype, tol, kind):
    X, problem = classifier(300, C)
    problem = BoxProblem(problem.linear, problem.low, problem.high, constraint=constraint)
    G = gram(Gaussian(1.0), X)
    K = np.asarray(G.dense())
    matrix = HeldMatrix(K) if kind == "held" else LazyMatrix(G)
    near = solve_box(problem, HeldMatrix(K), tol=0.05, refine=False).value
    beta, grad = active_set(problem, matrix, near.coefficients, near.gradient, tol, dtype)
    np.testing.assert_allclose(grad, K @ beta + problem.linear, atol=1e-5 if dtype == np.float32 else 1e-11)
    assert (beta == np.clip(beta, problem.low, problem.high)).all()
    assert constraint == "free" or abs(beta.sum()) < 1e-9 * np.abs(beta).sum()
    assert problem.optimality(beta, K @ beta + problem.linear).violation <= 1.1 * tol
    exact = solve_box(problem, HeldMatrix(K), tol=1e-9).value.coefficients
    np.testing.assert_allclose(K @ beta, K @ exact, atol=2 * tol)


def test_converges_where_the_rate_changes_at_zero():
    X = points(300)
    y = np.sin(X[:, 0]) + 0.2 * points(300, 1, seed=5)[:, 0]
    problem = BoxProblem(-y, np.full(300, -2.0), np.full(300, 2.0), epsilon=0.1)
    K = np.asarray(gram(Gaussian(1.0), X).dense())
    near = solve_box(problem, HeldMatrix(K), tol=0.1, refine=False).value
    beta, _ = active_set(problem, HeldMatrix(K), near.coefficients, near.gradient, 1e-4)
    assert problem.optimality(beta, K @ beta - y).violation <= 1e-4


def test_gives_up_where_no_set_can_be_solved():
    X, problem = classifier(200, 1e6)
    K = np.asarray(gram(Linear(), X).dense()) - 5.0 * np.eye(200)  # indefinite
    beta = np.where(problem.low < 0, -1.0, 1.0)
    beta = np.clip(beta - beta.mean(), problem.low, problem.high)
    assert active_set(problem, HeldMatrix(K), beta, K @ beta + problem.linear, 1e-3) is None


def test_gives_up_when_told_to():
    X, problem = classifier(300, 1.0)
    K = HeldMatrix(np.asarray(gram(Gaussian(1.0), X).dense()))
    start = solve_box(problem, K, max_iter=20, refine=False).value
    stopped = active_set(problem, K, start.coefficients, start.gradient, 1e-6, is_stopped=lambda: True)
    assert stopped is None


def test_steps_to_the_first_bound_never_raise_the_objective():
    """K is nearly singular: active sets cycle, and steps that are cut go on."""
    X = points(60, 2) * [1.0, 30.0]
    K = (1.0 + X @ X.T) ** 3
    y = X[:, 0]
    problem = BoxProblem(-y, np.full(60, -1.0), np.full(60, 1.0), 0.1)
    start = solve_box(problem, HeldMatrix(K), max_iter=500, refine=False).value
    found = active_set(problem, HeldMatrix(K), start.coefficients, start.gradient, 1e-9)
    before = problem.optimality(start.coefficients, K @ start.coefficients - y)
    assert found is not None
    beta, _ = found
    assert problem.optimality(beta, K @ beta - y).objective < before.objective
    assert (beta == np.clip(beta, -1.0, 1.0)).all()
    assert beta.sum() == pytest.approx(start.coefficients.sum(), abs=1e-9)


def test_many_coupled_free_variables_take_few_iterations(monkeypatch):
    X, problem = classifier(2500, 1e3, d=8)
    G = gram(Gaussian(1.5), X)
    found = []

    def recorded(*arguments):
        found.append(active_set(*arguments))
        return found[-1]

    monkeypatch.setattr(solve, "active_set", recorded)
    solution = solve_box(problem, LazyMatrix(G), tol=1e-3)
    assert solution.converged
    assert found[0] is not None
    assert solution.stats["iterations"] < 70_000  # 108,429 without
    beta = solution.value.coefficients
    exact = problem.optimality(beta, np.asarray(G.dense()) @ beta + problem.linear)
    assert exact.violation <= 1e-3 * (1 + 1e-6)
    assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()


# -- starts in other boxes ------------------------------------------------------------------------
def test_a_warm_start_keeps_variables_at_their_bounds():
    problem = BoxProblem(np.array([1.0, -1.0, 2.0]), np.array([0.0, -0.3, -0.7]), np.array([0.1, 0.0, 0.7]))
    beta, K = np.array([0.1, -0.3, 0.2]), np.diag([1.0, 2.0, 3.0])
    other = problem.scaled(0.7)
    start, grad = problem.warm_start(beta, K @ beta + problem.linear, 0.7)
    assert start[0] == other.high[0]
    assert start[1] == other.low[1]
    np.testing.assert_allclose(grad, K @ start + problem.linear, rtol=1e-12)


def test_a_warm_start_in_a_larger_box():
    problem = BoxProblem(np.full(4, -1.0), np.zeros(4), np.full(4, 0.5), constraint="free")
    K = np.diag([1.0, 1.0, 4.0, 4.0])
    held, loose = np.array([0.5, 0.3, 0.25, 0.0]), np.array([0.4, 0.3, 0.25, 0.25])
    for beta, factor, expected in (
        (held, 2.0, [1.0, 0.6, 0.5, 0.0]),  # some at a bound: in proportion
        (loose, 2.0, loose),
        (loose, 0.5, 0.5 * loose),  # the box has become smaller
    ):
        start, grad = problem.warm_start(beta, K @ beta + problem.linear, factor)
        np.testing.assert_array_equal(start, expected)
        np.testing.assert_allclose(grad, K @ start + problem.linear)


def test_refinement_keeps_the_sums_that_are_given():
    """Points that coincide: in one problem of fifty it ended at zero, where all gradients vanish, too."""
    n, half = 18, 2.7
    for seed in range(300):
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(n, 3))
        X[X < 0.6] = 0.0
        y = np.where(rng.permutation(n) < n // 2, 1.0, -1.0)
        problem = BoxProblem(np.zeros(n), np.minimum(y, 0.0), np.maximum(y, 0.0), constraint="signed")
        start = np.empty(n)
        start[y > 0] = np.clip(half - np.arange(n // 2), 0.0, 1.0)
        start[y < 0] = -start[y > 0]
        found = solve_box(problem, HeldMatrix(Gaussian(0.4).block(X)), start=start, progress=False)
        assert found.converged
        assert found.value.coefficients[y > 0].sum() == pytest.approx(half, rel=1e-9)
        assert found.value.coefficients[y < 0].sum() == pytest.approx(-half, rel=1e-9)
