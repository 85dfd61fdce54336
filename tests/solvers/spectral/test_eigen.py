"""The largest eigenpairs by every method, against LAPACK on the whole matrix."""

from functools import cache

import numpy as np
import pytest

from mercer.errors import InputError
from mercer.gram import gram
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.solvers import CenteredMatrix, largest_eigenpairs, signs
from mercer.solvers.spectral import eigen as eigen_module
from mercer.solvers.spectral.eigen import DENSE_SIZE, _orthogonal, choose_solver


class Dense:
    """A matrix that counts its products."""

    is_held = True

    def __init__(self, M):
        self.M, self.size, self.products = M, len(M), 0

    def product(self, V):
        self.products += 1
        return self.M @ V

    def copy(self):
        return self.M.copy()


@cache
def rotation(n):
    return np.linalg.qr(np.random.default_rng(0).standard_normal((n, n)))[0]


def with_spectrum(values):
    Q = rotation(len(values))
    M = (Q * values) @ Q.T
    return (M + M.T) / 2


N = 200
SPECTRA = {
    "decaying": 0.9 ** np.arange(N),
    "slow": 1 / (1 + np.arange(float(N))),
    "plateau": np.r_[np.linspace(10, 9, 30), np.linspace(1, 0, N - 30)],
    "indefinite": np.linspace(1, -3, N),
    "clustered": np.r_[np.full(20, 2.0), np.full(N - 20, 1.0)],
    "rank-five": np.r_[5.0, 4, 3, 2, 1, np.zeros(N - 5)],
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("k", [1, 6, 25])
def test_lanczos_finds_the_largest_eigenvalues(name, k):
    values = SPECTRA[name]
    A = Dense(with_spectrum(values))
    solution = largest_eigenpairs(A, k, "lanczos", tol=1e-10)
    found, X, images = solution.value
    assert solution.converged, solution.status
    assert solution.stats["solver"] == "lanczos"
    np.testing.assert_allclose(found, values[:k], atol=1e-9)
    np.testing.assert_allclose(X.T @ X, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(A.M @ X, X * found, atol=3e-10 * np.abs(values).max())
    np.testing.assert_allclose(images, A.M @ X, atol=1e-11)


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("k", [1, 6])
def test_fewer_tests_of_convergence_cost_hardly_a_product(name, k, monkeypatch):
    M, tests = with_spectrum(SPECTRA[name]), []
    ritz = eigen_module._Basis.ritz
    monkeypatch.setattr(eigen_module._Basis, "ritz", lambda *a: tests.append(a) or ritz(*a))
    seldom = largest_eigenpairs(Dense(M), k, "lanczos").stats["products"]
    few = len(tests)
    monkeypatch.setattr(eigen_module, "FAST", np.inf)  # as if the next product could always be the last
    often = largest_eigenpairs(Dense(M), k, "lanczos").stats["products"]
    assert often <= seldom <= often + 1
    assert few <= len(tests) - few


def test_the_identity_is_solved_every_time():
    """ARPACK fails at random here."""
    for n in (401, 450):
        for k in (1, 7, 40):
            solution = largest_eigenpairs(Dense(np.eye(n)), k)
            assert solution.converged
            np.testing.assert_allclose(solution.value.values, 1.0, rtol=1e-13)


def test_repeats_give_the_same_bits():
    M = with_spectrum(SPECTRA["slow"])
    first = largest_eigenpairs(Dense(M), 5, "lanczos").value
    for _ in range(5):
        again = largest_eigenpairs(Dense(M), 5, "lanczos").value
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)


def test_zero_matrix():
    for solver in ("dense", "lanczos", "randomized"):
        solution = largest_eigenpairs(Dense(np.zeros((90, 90))), 3, solver)
        np.testing.assert_array_equal(solution.value.values, 0.0)
        assert solution.converged


def test_randomized_is_near_and_says_how_near():
    values = SPECTRA["decaying"]
    A = Dense(with_spectrum(values))
    solution = largest_eigenpairs(A, 8, "randomized")
    assert A.products == solution.stats["products"] == 5
    np.testing.assert_allclose(solution.value.values, values[:8], rtol=1e-3)
    X, found = solution.value.vectors, solution.value.values
    gap = np.linalg.norm(A.M @ X - X * found, axis=0).max() / found[0]
    assert solution.gap == pytest.approx(gap, rel=1e-6)


@pytest.mark.parametrize("n", [45, 52, 60, 90])
@pytest.mark.parametrize("solver", ["lanczos", "randomized"])
@pytest.mark.parametrize("k", [1, 10, 20, 45])
def test_little_room(n, solver, k):
    """Restarts keep all that is asked for, and the dense solver steps in where there is no room for them."""
    values = np.linspace(3, 1, n)
    solution = largest_eigenpairs(Dense(with_spectrum(values)), k, solver, tol=1e-9)
    assert solution.converged == (solution.stats["solver"] != "randomized" or solution.gap <= 0.02)
    rtol = 0.1 if solution.stats["solver"] == "randomized" else 1e-9
    np.testing.assert_allclose(solution.value.values, values[:k], rtol=rtol)


@pytest.mark.parametrize("scale", [1e-300, 1e290])
def test_any_scale(scale):
    values = SPECTRA["decaying"] * scale
    solution = largest_eigenpairs(Dense(with_spectrum(values)), 5, "lanczos")
    assert solution.converged
    np.testing.assert_allclose(solution.value.values, values[:5], rtol=1e-9)


def test_an_iteration_that_is_cut_short_says_so():
    M = np.diag(1 / (1 + np.arange(420.0)))
    solution = largest_eigenpairs(Dense(M), 5, "lanczos", max_iter=2)
    assert not solution.converged
    assert "more iterations" in solution.status
    rescued = largest_eigenpairs(Dense(M), 5, "auto", max_iter=2)
    assert rescued.converged
    assert rescued.stats["solver"] == "dense"


def test_solver_is_chosen_by_cost():
    assert choose_solver(DENSE_SIZE, 2, True) == "dense"
    assert choose_solver(4000, 10, True) == "lanczos"
    assert choose_solver(4000, 2000, True) == "dense"
    assert choose_solver(100_000, 10, False) == "randomized"


def test_signs_make_the_first_of_the_largest_entries_positive():
    columns = np.array([[1.0, -2.0, 0.0], [-3.0, 2.0, 0.0], [2.0, 1.0, 0.0]])
    np.testing.assert_array_equal(signs(columns), [-1.0, -1.0, 1.0])


def column_angles(sine, n=300, b=8):
    """Columns of very different lengths, the last of them at an angle of this sine to the first."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((n, b)))[0]
    Q[:, -1] = np.sqrt(1 - sine**2) * Q[:, 0] + sine * Q[:, -1]
    return np.asfortranarray(Q * 10.0 ** np.arange(-4, b - 4))


@pytest.mark.parametrize("sine", [1.0, 0.5, 1e-2, 1e-5, 1e-9, 1e-13, 0.0])
def test_columns_are_made_orthonormal_at_any_angle(sine):
    R = column_angles(sine)
    Q = np.asfortranarray(np.linalg.qr(np.random.default_rng(1).standard_normal((len(R), 20)))[0])
    R -= Q @ (Q.T @ R)
    result, B = _orthogonal(R.copy(order="F"), Q)
    np.testing.assert_allclose(result.T @ result, np.eye(R.shape[1]), atol=1e-14)
    np.testing.assert_allclose(Q.T @ result, 0.0, atol=1e-14)
    lengths = np.linalg.norm(R, axis=0)
    np.testing.assert_allclose(result @ (B / lengths), R / lengths, atol=1e-13)
    np.testing.assert_array_equal(np.tril(B, -1), 0.0)


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-170, 1e-158, 1e290])
def test_columns_of_any_length_are_made_orthonormal(scale):
    R = scale * column_angles(1.0)
    result, B = _orthogonal(R.copy(order="F"), np.zeros((len(R), 1), order="F"))
    np.testing.assert_allclose(result.T @ result, np.eye(R.shape[1]), atol=1e-14)
    np.testing.assert_allclose(result @ B, R, atol=1e-13 * np.abs(R).max())


@pytest.fixture(params=["held", "lazy"])
def storage(request, monkeypatch):
    if request.param == "lazy":
        monkeypatch.setattr("mercer.memory.HELD_BYTES", 0)
    return request.param


@pytest.mark.parametrize("weighted", [False, True])
def test_centred_matrix_is_its_definition(storage, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    w = rng.uniform(0.2, 3, 30) if weighted else np.ones(30)
    K = Gaussian(1.0).block(X)
    p = w / w.sum()
    H = np.eye(30) - np.outer(np.ones(30), p)
    S = np.diag(np.sqrt(w))
    expected = S @ H @ K @ H.T @ S
    A = CenteredMatrix(gram(Gaussian(1.0), X), w if weighted else None)
    assert A.is_held == (storage == "held")
    V = rng.standard_normal((30, 4))
    np.testing.assert_allclose(A.product(V), expected @ V, atol=1e-12)
    np.testing.assert_allclose(A.copy(), expected, atol=1e-13)
    assert A.trace() == pytest.approx(np.trace(expected), rel=1e-12)
    assert A.center == pytest.approx(p @ K @ p, rel=1e-12)


def test_the_first_product_finds_the_means(storage, monkeypatch):
    X = np.random.default_rng(0).standard_normal((30, 2))
    G = gram(Polynomial(3), X)
    A = CenteredMatrix(G, np.linspace(1, 2, 30))
    seen = []
    times = CenteredMatrix._times
    monkeypatch.setattr(CenteredMatrix, "_times", lambda self, V: seen.append(V.shape) or times(self, V))
    expected = A.copy() @ np.eye(30)[:, :4]
    for _ in range(2):
        np.testing.assert_allclose(A.product(np.eye(30)[:, :4]), expected, atol=1e-11)
    assert seen == [(30, 4), (30, 4)]  # the whole matrix has given them
    A = CenteredMatrix(G, np.linspace(1, 2, 30))
    A.product(np.eye(30)[:, :4])
    np.testing.assert_allclose(A.means, G.dense() @ A.share, rtol=1e-12)
    assert seen[2:] == [(30, 5)]


def test_an_entry_that_is_not_finite_is_named():
    values = np.ones((30, 30))
    values[7, 3] = values[3, 7] = np.inf
    A = CenteredMatrix(gram(Linear(), np.ones((30, 1))))
    A._matrix.tiles.fill(0, 0, values)
    with pytest.raises(InputError, match="Got inf in row 3, column 7"):
        A.product(np.ones((30, 2)))
