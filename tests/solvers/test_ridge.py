"""The ridge system against independent solutions of the stated problem."""

import numpy as np
import pytest
import scipy.optimize

from mercer.solvers import solve_ridge

RELATIVE = 1e-9


def problem(seed, n=12, t=3, rank=None):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, rank or n))
    return A @ A.T, rng.standard_normal((n, t)), rng.uniform(0.2, 3.0, n)


def objective(K, Y, w, alpha, a, b):
    residual = Y - K @ a - b
    return float((w[:, None] * residual**2).sum() + alpha * np.einsum("it,ij,jt->", a, K, a))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 50.0])
def test_minimises_the_stated_objective(alpha, weighted, intercept):
    K, Y, w = problem(1)
    w = w if weighted else np.ones(len(K))
    solution = solve_ridge(K, Y, alpha, w if weighted else None, intercept)
    a, b = solution.value
    best = objective(K, Y, w, alpha, a, b)
    rng = np.random.default_rng(0)
    for _ in range(50):  # a strictly convex function is no smaller anywhere else
        da, db = rng.standard_normal(a.shape) * 1e-3, rng.standard_normal(b.shape) * 1e-3 * intercept
        assert objective(K, Y, w, alpha, a + da, b + db) >= best
    assert solution.converged
    assert solution.gap < RELATIVE
    if not intercept:
        assert (b == 0).all()


def test_agrees_with_a_generic_optimiser():
    K, Y, w = problem(2, n=6, t=1)

    def flat(z):
        return objective(K, Y, w, 0.5, z[:-1, None], z[-1])

    found = scipy.optimize.minimize(flat, np.zeros(7), method="BFGS", options={"gtol": 1e-10})
    a, b = solve_ridge(K, Y, 0.5, w, intercept=True).value
    np.testing.assert_allclose(K @ a[:, 0] + b, K @ found.x[:-1] + found.x[-1], atol=1e-5)


@pytest.mark.parametrize("intercept", [False, True])
def test_alpha_zero_is_the_limit_of_small_alpha(intercept):
    K, Y, w = problem(3, rank=4)  # singular
    a, b = solve_ridge(K, Y, 0.0, w, intercept).value
    a_small, b_small = solve_ridge(K, Y, 1e-7, w, intercept).value
    np.testing.assert_allclose(K @ a + b, K @ a_small + b_small, atol=1e-5)


def test_alpha_zero_interpolates_a_nonsingular_system_and_reports_a_singular_one():
    K, Y, _ = problem(4)
    regular = solve_ridge(K, Y, 0.0)
    np.testing.assert_allclose(K @ regular.value.coefficients, Y, atol=1e-7)
    assert regular.stats["rank"] == len(K)
    singular = solve_ridge(*problem(4, rank=3)[:2], 0.0)
    assert singular.stats["rank"] == 3
    assert "rank 3 of 12" in singular.status


def test_indefinite_system_is_refused():
    K = np.diag([1.0, 2.0, -5.0])
    with pytest.raises(np.linalg.LinAlgError, match="indefinite"):
        solve_ridge(K, np.ones((3, 1)), 1.0)


def test_weights_are_repetitions():
    K, Y, _ = problem(5, n=5)
    repeats = np.array([1, 3, 2, 1, 4])
    index = np.repeat(np.arange(5), repeats)
    a, b = solve_ridge(K, Y, 0.7, repeats, intercept=True).value
    many, b_many = solve_ridge(K[np.ix_(index, index)], Y[index], 0.7, None, intercept=True).value
    np.testing.assert_allclose(K @ a + b, K[:, index] @ many + b_many, rtol=1e-8)
