"""The penalised Rayleigh quotient against SciPy's generalised eigenproblem."""

import numpy as np
import pytest
import scipy.linalg

from mercer.errors import DefinitenessError
from mercer.solvers import centred_root, solve_rayleigh, spectral_root


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("t", "m", "penalty"), [(3, 9, 0.0), (9, 4, 0.3), (6, 6, 1e-6)])
def test_equals_the_generalised_eigenproblem(rng, t, m, penalty):
    top, bottom = rng.standard_normal((t, 6)), rng.standard_normal((m, 6))
    solution = solve_rayleigh(top, bottom, penalty)
    Z, quotients = solution.value
    A, B = top.T @ top, bottom.T @ bottom + penalty * np.eye(6)
    values, vectors = scipy.linalg.eigh(A, B)
    k = min(t, 6)
    np.testing.assert_allclose(quotients, values[::-1][:k], rtol=1e-7)
    np.testing.assert_allclose(Z.T @ B @ Z, np.eye(k), atol=1e-9)
    overlap = np.abs(np.einsum("ij,ij->j", vectors[:, ::-1][:, :k], B @ Z))
    np.testing.assert_allclose(overlap, 1.0, atol=1e-7)
    assert solution.converged
    assert solution.gap < 1e-8


def test_forms_are_not_multiplied_out(rng):
    # the squared condition of the denominator, 1e20, would leave no digit
    U = scipy.linalg.orth(rng.standard_normal((5, 5)))
    bottom = U * np.array([1.0, 1e-2, 1e-4, 1e-7, 1e-10]) @ U.T
    top = (U[:, 3] + U[:, 0])[None, :]
    (quotient,) = solve_rayleigh(top, bottom, 0.0).value.quotients
    assert quotient == pytest.approx(1.0 + 1e14, rel=1e-5)


def test_a_direction_of_the_size_of_rounding_is_none(rng):
    top = np.vstack([rng.standard_normal(4), 1e-17 * rng.standard_normal(4)])
    assert len(solve_rayleigh(top, np.eye(4), 1.0).value.quotients) == 1
    assert len(solve_rayleigh(top[1:], np.eye(4), 1.0, scale=1.0).value.quotients) == 0


def test_a_vanishing_denominator_is_said(rng):
    bottom = rng.standard_normal((3, 5))
    with pytest.raises(np.linalg.LinAlgError, match="vanishes"):
        solve_rayleigh(np.eye(5), bottom, 0.0)
    assert len(solve_rayleigh(np.eye(5), bottom, 1e-3).value.quotients) == 5


def test_the_root_spans_the_range(rng):
    F = rng.standard_normal((7, 3))
    root = spectral_root(F @ F.T)
    assert root.values.shape == (3,)
    assert (np.diff(root.values) < 0).all()
    np.testing.assert_allclose(root.features @ root.features.T, F @ F.T, atol=1e-12)
    z = rng.standard_normal((3, 2))
    np.testing.assert_allclose(F @ F.T @ root.coefficients(z), root.features @ z, atol=1e-12)


def test_negative_eigenvalues_are_refused_unless_welcome():
    K = np.diag([2.0, -1.0, 1e-18])
    with pytest.raises(DefinitenessError, match="least eigenvalue is -1"):
        spectral_root(K)
    np.testing.assert_array_equal(spectral_root(K, signed=True).values, [2.0, -1.0])
    np.testing.assert_array_equal(spectral_root(np.diag([1.0, -1e-8]), eps=1e-7).values, [1.0])


@pytest.mark.parametrize("weighted", [False, True])
def test_the_centred_root_is_one_of_the_centred_matrix(rng, weighted):
    F = rng.standard_normal((6, 8)) + 100
    w = rng.uniform(0.5, 2, 6) if weighted else np.ones(6)
    H = np.eye(6) - np.outer(np.ones(6), w) / w.sum()
    expected = np.sqrt(w)[:, None] * (H @ F @ F.T @ H.T) * np.sqrt(w)
    root = centred_root(F @ F.T, w)
    assert root.values.shape == (5,)
    np.testing.assert_allclose(root.features @ root.features.T, expected, atol=1e-9)


def test_what_centring_leaves_of_equal_points_is_rounding():
    assert centred_root(np.full((5, 5), 1 / 3), np.array([1.0, 2.0, 0.3, 0.7, 1.1])).values.shape == (0,)
