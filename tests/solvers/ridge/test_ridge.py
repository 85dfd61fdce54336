"""The ridge system against independent solutions of the stated problem."""

import numpy as np
import pytest
import scipy.optimize

import mercer.solvers.ridge.solver
from mercer import gram
from mercer.engine.runs import running
from mercer.kernels import Gaussian
from mercer.solvers import RidgeSystem, WeightedMatrix, loo_residuals, ridge_path, solve_ridge
from mercer.solvers.conjugate import conjugate_gradients
from mercer.solvers.ridge.reduction import BandReduction

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


# -- the ways to solve it -------------------------------------------------------------------------
SOLVERS = ["cholesky", "eigen", "cg"]


def smooth(seed=6, n=60, t=2):
    """A well-conditioned system with targets far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / 4)
    return X, K, rng.standard_normal((n, t)) + 50.0, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_solves_the_stated_system(solver, intercept):
    _, K, Y, w = smooth()
    alphas = np.array([0.5, 3.0])
    solution = solve_ridge(K, Y, alphas, w, intercept, solver=solver, tol=1e-10)
    a, b = solution.value
    for j, alpha in enumerate(alphas):  # gradients of the objective in f = K a and in b vanish
        errors = Y[:, j] - K @ a[:, j] - b[j]
        np.testing.assert_allclose(w * errors, alpha * a[:, j], atol=1e-7)
        assert not intercept or abs(w @ errors) < 1e-7
    assert solution.converged
    assert solution.stats["condition"] >= 1
    assert solution.stats["residual"] == solution.gap


@pytest.mark.parametrize("intercept", [False, True])
def test_many_penalties_share_one_reduction(intercept):
    _, K, _, w = smooth()
    Y, alphas = np.random.default_rng(0).standard_normal((60, 100)), np.geomspace(1e-3, 1e2, 100)
    many = solve_ridge(K, Y, alphas, w, intercept)  # more targets than rows, too
    assert many.stats["method"] == "orthogonal reduction"
    for j in (0, 42, 99):
        one = solve_ridge(K, Y[:, [j]], alphas[j], w, intercept)
        np.testing.assert_allclose(
            many.value.coefficients[:, [j]], one.value.coefficients, rtol=1e-8, atol=1e-10
        )
        np.testing.assert_allclose(many.value.intercepts[j], one.value.intercepts[0], rtol=1e-8, atol=1e-10)


def test_mixed_precision_has_the_digits_of_double(monkeypatch):
    X, K, Y, w = smooth(n=120)
    exact = solve_ridge(K, Y, 0.01, w, True)
    monkeypatch.setattr(mercer.solvers.ridge.solver, "MIXED_SIZE", 100)
    for matrix in (K, gram(Gaussian(np.sqrt(2)), X), gram(Gaussian(np.sqrt(2)), X.astype(np.float32))):
        mixed = solve_ridge(matrix, Y, 0.01, w, True)
        assert mixed.stats["method"] == "Cholesky, mixed precision"
        assert "single" in mixed.status
        assert mixed.gap < 1e-10
        if matrix is K or matrix._eps < 1e-10:
            np.testing.assert_allclose(
                mixed.value.coefficients, exact.value.coefficients, rtol=1e-7, atol=1e-9
            )
    hopeless = solve_ridge(K, Y, 1e-9, w, True)
    assert "did not converge" in hopeless.status
    assert hopeless.stats["method"] == "Cholesky"
    assert hopeless.gap < 1e-4


def test_conjugate_gradients_say_when_they_did_not_converge():
    X, K, Y, _ = smooth(n=200)
    stopped = solve_ridge(gram(Gaussian(np.sqrt(2)), X), Y, 1e-6, solver="cg", max_iter=4)
    assert not stopped.converged
    assert "max_iter=4" in stopped.status
    residual = Y - K @ stopped.value.coefficients - 1e-6 * stopped.value.coefficients
    recomputed = (np.linalg.norm(residual, axis=0) / np.linalg.norm(Y, axis=0)).max()
    assert stopped.gap == pytest.approx(recomputed, rel=1e-6)


def test_conjugate_gradients_never_form_the_matrix(monkeypatch):
    X, K, Y, w = smooth(n=300)
    G = gram(Gaussian(np.sqrt(2)), X)
    monkeypatch.setattr(type(G), "dense", lambda self: pytest.fail("the matrix was formed"))
    monkeypatch.setattr("mercer.memory.HELD_BYTES", 1000)
    solution = solve_ridge(G, Y, 0.1, w, True, tol=1e-10)
    assert solution.stats["method"] == "conjugate gradients"
    assert solution.converged
    a, b = solution.value
    np.testing.assert_allclose(w[:, None] * (Y - K @ a - b), 0.1 * a, atol=1e-6)


def test_conjugate_gradients_meet_repeated_points_and_indefinite_matrices():
    _, K, Y, _ = smooth(n=30)
    index = np.repeat(np.arange(30), 10)
    twice = solve_ridge(K[np.ix_(index, index)], Y[index], 0.3, solver="cg", tol=1e-10)
    once = solve_ridge(K, Y, 0.3, np.full(30, 10.0))
    np.testing.assert_allclose(K[:, index] @ twice.value.coefficients, K @ once.value.coefficients, rtol=1e-7)
    with pytest.raises(np.linalg.LinAlgError):
        solve_ridge(np.diag([1.0, 2.0, -5.0]), np.ones((3, 1)), 1.0, solver="cg")


def test_interrupting_conjugate_gradients_keeps_what_was_reached():
    A = np.diag(np.arange(1.0, 21.0))
    products = []

    def operator(P, columns):
        products.append(1)
        if len(products) == 6:
            raise KeyboardInterrupt
        return A @ P

    right = np.ones((20, 1))
    options = {"scale": np.ones(1), "tol": 1e-12, "max_iter": 100}
    with pytest.raises(KeyboardInterrupt), running("test"):
        run = conjugate_gradients(operator, right, lambda R, columns: R, **options)
    assert run.reason == "it was interrupted"
    np.testing.assert_allclose(run.residual, right - A @ run.value, atol=1e-12)
    assert np.linalg.norm(right - A @ run.value) < np.linalg.norm(right)
    full = conjugate_gradients(lambda P, columns: A @ P, right, lambda R, columns: R, **options)
    assert full.reason == "tol"
    assert full.products <= 21  # as many steps as there are eigenvalues
    np.testing.assert_allclose(full.value[:, 0], 1 / np.arange(1.0, 21.0), rtol=1e-10)


# -- leave-one-out --------------------------------------------------------------------------------
def refitted(K, Y, alpha, w, intercept):
    errors = np.empty_like(Y)
    for i in range(len(K)):
        kept = np.arange(len(K)) != i
        a, b = solve_ridge(K[np.ix_(kept, kept)], Y[kept], alpha, w[kept], intercept).value
        errors[i] = Y[i] - K[i, kept] @ a - b
    return errors


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n", [2, 5, 70])
def test_leave_one_out_is_refitting(n, intercept):
    _, K, Y, w = smooth(n=n)
    alphas = np.array([0.02, 7.0])
    expected = np.column_stack(
        [refitted(K, Y[:, [j]], alpha, w, intercept)[:, 0] for j, alpha in enumerate(alphas)]
    )
    system = RidgeSystem(WeightedMatrix(K, w), Y, alphas, intercept)
    np.testing.assert_allclose(loo_residuals(system), expected, rtol=1e-8)
    path = ridge_path(system, alphas)
    for j in range(2):
        assert path.loo[j, j] == pytest.approx(w @ expected[:, j] ** 2 / w.sum(), rel=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
def test_gcv_is_its_definition(intercept):
    _, K, Y, w = smooth(n=20)
    for alpha in (1e-3, 1.0):
        hat = np.empty((20, 20))
        for i in range(20):
            a, b = solve_ridge(K, np.eye(20)[:, [i]], alpha, w, intercept).value
            hat[:, i] = K @ a[:, 0] + b[0]
        errors, freedom = Y - hat @ Y, np.trace(hat)
        expected = 20 * (w @ errors**2) / (20 - freedom) ** 2 / w.mean()
        path = ridge_path(RidgeSystem(WeightedMatrix(K, w), Y, 1.0, intercept), np.array([alpha]))
        np.testing.assert_allclose(path.gcv[0], expected, rtol=1e-7)
        assert path.freedom[0] == pytest.approx(freedom, rel=1e-8)


@pytest.mark.parametrize("without", [False, True], ids=["all", "without a direction"])
@pytest.mark.parametrize("n", [2, 3, 65, 66, 130, 600])
def test_band_reduction(n, without):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n))
    A = A @ A.T / n
    s = rng.uniform(0.5, 2.0, n) if without else None
    reduction = BandReduction(A.copy(), s)
    Q = reduction.transposed.T
    B = Q.T @ A @ Q
    m = n - without
    np.testing.assert_allclose(Q.T @ Q, np.eye(m), atol=1e-12)
    for offset in range(min(m, reduction.width + 1)):
        np.testing.assert_allclose(np.diagonal(B, -offset), reduction.band[offset, : m - offset], atol=1e-11)
    np.testing.assert_allclose(np.tril(B, -reduction.width - 1), 0.0, atol=1e-11)
    if without:
        np.testing.assert_allclose(s @ Q, 0.0, atol=1e-12)
    shifted = reduction.shifted(0.1)
    inverse = Q @ np.linalg.inv(B + 0.1 * np.eye(m)) @ Q.T
    np.testing.assert_allclose(reduction.inverse_diagonal(shifted), np.diagonal(inverse), rtol=1e-9)
    sign, log_determinant = np.linalg.slogdet(B + 0.1 * np.eye(m))
    assert sign == 1
    assert shifted.log_determinant == pytest.approx(log_determinant, rel=1e-9, abs=1e-9)
