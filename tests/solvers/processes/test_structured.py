"""Covariances of finite rank and on grids, against dense matrices and multiprecision."""

import mpmath
import numpy as np
import pytest

from mercer.solvers.processes import FeatureCovariance, KroneckerCovariance, condition, loo_predictions


def random_factor(rng, n):
    A = rng.standard_normal((n, n))
    return A @ A.T + 0.1 * np.eye(n)


@pytest.fixture(params=["features", "kronecker"])
def problem(request):
    rng = np.random.default_rng(0)
    if request.param == "features":
        Z, noise = rng.standard_normal((24, 5)), rng.uniform(0.1, 0.4, 24)
        return FeatureCovariance(Z, noise), Z @ Z.T + np.diag(noise)
    A, B, C = (random_factor(rng, n) for n in (4, 3, 2))
    cells = rng.permutation(24)
    dense = 1.5 * np.kron(A, np.kron(B, C)) + 0.3 * np.eye(24)
    return KroneckerCovariance([A, B, C], 1.5, 0.3, cells), dense[np.ix_(cells, cells)]


def test_inverse_and_determinant(problem):
    covariance, dense = problem
    B = np.random.default_rng(1).standard_normal((24, 3))
    N = np.linalg.inv(dense)
    np.testing.assert_allclose(covariance.solve(B), N @ B, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(covariance.inverse_diagonal(), np.diagonal(N), rtol=1e-10)
    assert covariance.trace_of_inverse() == pytest.approx(np.trace(N), rel=1e-12)
    assert covariance.log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-12)


def test_likelihood_and_leave_one_out(problem):
    covariance, dense = problem
    Y = np.random.default_rng(2).standard_normal((24, 2))
    fit = condition(covariance, Y)
    expected = -0.5 * sum(
        y @ np.linalg.solve(dense, y) + np.linalg.slogdet(dense)[1] + 24 * np.log(2 * np.pi) for y in Y.T
    )
    assert fit.log_likelihood == pytest.approx(expected, rel=1e-12)
    mean, variance = loo_predictions(covariance, Y, fit)
    rest = np.arange(24) != 5
    v = np.linalg.solve(dense[np.ix_(rest, rest)], dense[rest, 5])
    np.testing.assert_allclose(mean[5], v @ Y[rest], rtol=1e-9)
    assert variance[5] == pytest.approx(dense[5, 5] - v @ dense[rest, 5], rel=1e-9)


def test_features_given_the_targets():
    rng = np.random.default_rng(3)
    Z, noise, B = rng.standard_normal((24, 5)), rng.uniform(0.1, 0.4, 24), rng.standard_normal((24, 2))
    covariance, N = FeatureCovariance(Z, noise), np.linalg.inv(Z @ Z.T + np.diag(noise))
    some = slice(1, 3)
    np.testing.assert_allclose(covariance.weights(B), Z.T @ N @ B, rtol=1e-10)
    np.testing.assert_allclose(covariance.solve_features(some), N @ Z[:, some], rtol=1e-9, atol=1e-12)
    assert covariance.trace_of_features(some) == pytest.approx(np.trace(Z[:, some].T @ N @ Z[:, some]))
    new = rng.standard_normal((3, 5))
    W = covariance.whiten_features(new)
    np.testing.assert_allclose(W.T @ W, new @ (np.eye(5) - Z.T @ N @ Z) @ new.T, rtol=1e-9)


@pytest.mark.parametrize("noise", [1e-4, 1e-8, 1e-12])
def test_small_noise_costs_features_no_digits(noise):
    """Differences of large numbers would lose the digits of noise / |Z|^2; orthogonal factors do not."""
    rng = np.random.default_rng(4)
    Z, y = rng.standard_normal((12, 3)), rng.standard_normal((12, 1))
    covariance = FeatureCovariance(Z, np.full(12, noise))
    with mpmath.workdps(60):
        A = mpmath.matrix(Z.tolist())
        M = A * A.T + mpmath.mpf(noise) * mpmath.eye(12)
        N = M**-1
        weights = np.array((A.T * N * mpmath.matrix(y.tolist())).tolist(), dtype=float)
        inner = A.T * N * A
        trace, determinant = float(sum(inner[i, i] for i in range(3))), float(mpmath.log(mpmath.det(M)))
    np.testing.assert_allclose(covariance.weights(y), weights, rtol=1e-12)
    assert covariance.trace_of_features(slice(0, 3)) == pytest.approx(trace, rel=1e-13)
    assert covariance.log_determinant == pytest.approx(determinant, rel=1e-13)


def test_weights_of_factors_are_derivatives():
    rng = np.random.default_rng(5)
    factors, cells = [random_factor(rng, n) for n in (4, 3, 2)], rng.permutation(24)
    C = rng.standard_normal((24, 2))
    found = KroneckerCovariance(factors, 1.5, 0.3, cells).factor_weights(C, 2.0)

    def dense(matrices):
        return 1.5 * np.kron(matrices[0], np.kron(matrices[1], matrices[2]))[np.ix_(cells, cells)]

    G = 0.5 * (C @ C.T - 2.0 * np.linalg.inv(dense(factors) + 0.3 * np.eye(24)))
    for i, W in enumerate(found):
        S = random_factor(rng, len(factors[i]))
        moved = dense([S if i == j else K for j, K in enumerate(factors)])  # dense is linear in each
        assert np.vdot(W, S) == pytest.approx(np.vdot(G, moved), rel=1e-10)


def test_explained_variances():
    rng = np.random.default_rng(6)
    factors, cells = [random_factor(rng, n) for n in (4, 3, 2)], rng.permutation(24)
    covariance = KroneckerCovariance(factors, 1.5, 0.3, cells)
    rows = [rng.standard_normal((5, n)) for n in (4, 3, 2)]
    V = 1.5 * np.einsum("ma,mb,mc->mabc", *rows).reshape(5, 24)[:, cells]
    np.testing.assert_allclose(
        covariance.explained(rows), np.einsum("mi,im->m", V, covariance.solve(V.T)), rtol=1e-10
    )


def test_singular_matrices_are_refused():
    with pytest.raises(np.linalg.LinAlgError, match="an observation has no noise"):
        FeatureCovariance(np.ones((3, 1)), np.array([1.0, 0.0, 1.0]))
    with pytest.raises(np.linalg.LinAlgError, match="overflow"):
        FeatureCovariance(np.full((3, 1), 1e300), np.full(3, 1e-100))
    with pytest.raises(np.linalg.LinAlgError, match="eigenvalues from"):
        KroneckerCovariance([np.ones((2, 2)), np.eye(2)], 1.0, 0.0, np.arange(4))
