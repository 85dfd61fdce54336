"""Dual coordinate descent on known features finds the solution of the kernel form."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer.kernels import Linear, NGram
from mercer.machines import SVC, SVR
from mercer.solvers import BoxProblem, HeldMatrix, solve_box
from mercer.solvers.svm import policy
from mercer.solvers.svm.linear import solve_linear, with_sum_zero
from mercer.solvers.watch import Watch

pytestmark = pytest.mark.native


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def problem(kind, n, C, rng):
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    if kind == "SVR":
        y = rng.standard_normal(n)
        return BoxProblem(-y, np.full(n, -C), np.full(n, C), epsilon=0.2)
    weight = rng.uniform(0.0, 2.0, n)
    low, high = np.where(y > 0, 0.0, -C * weight), np.where(y > 0, C * weight, 0.0)
    return BoxProblem(-y, low, high, constraint="free" if kind == "free" else "sum")


def watch(tol):
    return Watch(tol, None, (), False, "test")


@pytest.mark.parametrize("kind", ["SVC", "SVR", "free"])
@pytest.mark.parametrize("layout", [np.float64, np.float32, "csr"])
@pytest.mark.parametrize("C", [0.05, 3.0])
def test_same_solution_as_on_values(kind, layout, C, rng):
    X = rng.standard_normal((120, 30)) * (rng.random((120, 30)) < 0.3)
    X = sparse.csr_array(X) if layout == "csr" else X.astype(layout)
    task = problem(kind, 120, C, rng)
    found = solve_linear(task, X, None, 1e-6, -1, watch(1e-6))
    K = np.asarray((X @ X.T).toarray() if layout == "csr" else X.astype(float) @ X.T.astype(float))
    expected = solve_box(task, HeldMatrix(K), tol=1e-8, progress=False)
    beta = found.value.coefficients
    assert found.converged
    assert found.stats["method"] == "dual coordinate descent"
    assert np.all((task.low <= beta) & (beta <= task.high))
    assert task.constraint == "free" or abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    assert found.stats["objective"] == pytest.approx(expected.stats["objective"], rel=1e-7)
    # The function is unique, the coefficients need not be.
    np.testing.assert_allclose(K @ beta, K @ expected.value.coefficients, atol=2e-4)
    assert found.value.multipliers == pytest.approx(expected.value.multipliers, abs=1e-4)


def test_the_same_bits_every_time(rng):
    X, task = rng.standard_normal((100, 5)), problem("SVC", 100, 1.0, rng)
    first, second = (solve_linear(task, X, None, 1e-3, -1, watch(1e-3)).value for _ in range(2))
    assert first.coefficients.tobytes() == second.coefficients.tobytes()


@pytest.mark.parametrize("kind", ["SVC", "SVR"])
def test_points_are_moved_to_a_sum_of_zero(kind, rng):
    task = problem(kind, 50, 1.0, rng)
    beta = rng.uniform(task.low, task.high)
    beta[::3] = task.high[::3]
    for point in (beta, task.high, task.low):
        moved = with_sum_zero(task, point, rng.standard_normal(50))
        assert abs(moved.sum()) < 1e-13
        assert np.all((task.low <= moved) & (moved <= task.high))


def test_limits(rng):
    X, task = rng.standard_normal((200, 20)), problem("SVC", 200, 100.0, rng)
    few = solve_linear(task, X, None, 1e-9, 400, watch(1e-9))
    assert not few.converged
    assert few.stats["iterations"] == 400
    assert np.isfinite(few.gap)
    over = Watch(1e-9, 1e-9, (), False, "test")
    stopped = solve_linear(task, X, None, 1e-9, -1, over)
    assert stopped.stats["stopped"] is True or stopped.converged


@pytest.fixture
def from_few_points(monkeypatch):
    monkeypatch.setattr(policy, "LINEAR_SIZE", 20)


def words(rng, n):
    return ["".join(rng.choice(list("abcd"), rng.integers(3, 12))) for _ in range(n)]


def test_machines_on_strings(rng, from_few_points, monkeypatch):
    X = words(rng, 300)
    y = np.array([("ab" in x) ^ (rng.random() < 0.1) for x in X])
    model = SVC(NGram(3), C=0.3).fit(X, y)
    assert model.solutions_[0].stats["method"] == "dual coordinate descent"
    monkeypatch.setattr(policy, "LINEAR_SIZE", 10**9)
    expected = SVC(NGram(3), C=0.3, tol=1e-6).fit(X, y)
    new = words(rng, 50)
    np.testing.assert_allclose(model.decision_function(new), expected.decision_function(new), atol=5e-3)


def test_several_classes_and_weights(rng, from_few_points, monkeypatch):
    X = words(rng, 200)
    y = rng.integers(0, 3, 200)
    weight = rng.integers(0, 3, 200).astype(float)
    model = SVC(NGram(2), tol=1e-6).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(policy, "LINEAR_SIZE", 10**9)
    expected = SVC(NGram(2), tol=1e-8).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.decision_function(X), expected.decision_function(X), atol=1e-3)


def test_regression(rng, from_few_points, monkeypatch):
    X = words(rng, 200)
    y = np.array([len(x) for x in X]) + 0.3 * rng.standard_normal(200)
    model = SVR(NGram(2), tol=1e-6).fit(X, y)
    monkeypatch.setattr(policy, "LINEAR_SIZE", 10**9)
    expected = SVR(NGram(2), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-3)


def test_small_ranks_stay_with_the_interior_point_method(rng):
    X = sparse.csr_array(rng.standard_normal((policy.LINEAR_SIZE, 3)))
    model = SVC(Linear()).fit(X, X.sum(axis=1) > 0)
    assert model.solutions_[0].stats["method"] == "interior point, SMO"


def test_max_iter_is_said(rng, from_few_points):
    X = words(rng, 100)
    with pytest.warns(ConvergenceWarning):
        SVC(NGram(3), C=1e4, tol=1e-12, max_iter=200).fit(X, rng.random(100) > 0.5)


def test_smo_goes_on_where_coordinate_descent_does_not_converge(rng, from_few_points, monkeypatch):
    limits = iter([10 * 100])
    limit = policy.iteration_limit
    monkeypatch.setattr(policy, "iteration_limit", lambda *given: next(limits, limit(*given)))
    X = words(rng, 100)
    model = SVC(NGram(3), C=1e3, tol=1e-6).fit(X, rng.random(100) > 0.5)
    assert model.converged_
    assert model.solutions_[0].stats["method"] == "SMO"
