"""Problems along a path: the answers of single fits, whatever K is about right, and honest stops."""

import numpy as np
import pytest

from mercer import gram
from mercer.kernels import Gaussian
from mercer.machines import SVC
from mercer.solvers import BoxProblem, HeldMatrix, LazyMatrix, solve_box, solve_boxes
from mercer.solvers.watch import Watch

from .interruption import interruption

CS = [0.1, 1.0, 30.0]


def classification(n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)


def posed(y, constraint="sum"):
    """The problem for C = 1."""
    return BoxProblem(-y, np.where(y > 0, 0.0, -1.0), np.where(y > 0, 1.0, 0.0), 0.0, constraint)


def exactly(K):
    return HeldMatrix(np.asarray(K, dtype=np.float64))


def lazily(G):
    return LazyMatrix(G)


def held(G):
    return HeldMatrix(np.asarray(G.dense(), dtype=np.float32), source=LazyMatrix(G))


def held_roughly(G):
    """Off by ten thousand times its rounding: steps end far from the solution."""
    noise = 1e-4 * np.random.default_rng(0).standard_normal(G.shape)
    K = G.dense() * (1 + noise + noise.T)
    return HeldMatrix(K.astype(np.float32), source=LazyMatrix(G))


@pytest.mark.parametrize("constraint", ["sum", "free"])
@pytest.mark.parametrize("make", [lazily, held, held_roughly])
def test_as_good_as_one_by_one(make, constraint):
    X, y = classification(1200)
    G = gram(Gaussian(1.0), X)
    K = G.dense()
    found = solve_boxes(posed(y, constraint), CS, make(G), tol=1e-4, progress=False)
    for C, solution in zip(CS, found, strict=True):
        problem = posed(y, constraint).scaled(C)
        b = solution.value.coefficients
        state = problem.optimality(b, K @ b + problem.linear)  # by the exact matrix
        best = solve_box(problem, exactly(K), tol=1e-10, progress=False).stats["objective"]
        assert solution.converged
        assert state.violation <= 1e-4
        assert state.objective <= best + 1e-4 * abs(best)
        np.testing.assert_allclose(solution.value.gradient, K @ b + problem.linear, atol=1e-5)
        assert solution.stats["objective"] == pytest.approx(state.objective, rel=1e-6)


def test_small_problems_end_at_rounding():
    X, y = classification(150)
    K = gram(Gaussian(1.0), X).dense()
    found = solve_boxes(posed(y), CS, exactly(K), progress=False)
    assert all(s.converged and s.stats["kkt_violation"] < 1e-10 for s in found)


@pytest.mark.parametrize("make", [lazily, held_roughly])
def test_few_free_variables_end_at_rounding(make):
    X, y = classification(1200)
    G = gram(Gaussian(1.0), X)
    first = solve_boxes(posed(y), CS[:1], make(G), progress=False)[0]
    assert first.stats["kkt_violation"] < 1e-10
    b = first.value.coefficients
    assert posed(y).scaled(CS[0]).optimality(b, G.dense() @ b - y).violation < 1e-9


@pytest.mark.parametrize("n", [150, 1200])
@pytest.mark.parametrize("by", ["callback", "interrupt", "budget"])
def test_what_stops_one_stops_all_that_follow(by, n):
    X, y = classification(n)
    begun = []

    def callback(report):
        begun.extend([report] if report.iteration == 0 else [])
        second = len(begun) == 2
        if by == "interrupt" and second:
            raise KeyboardInterrupt
        return by == "callback" and second

    matrix = lazily(gram(Gaussian(1.0), X))
    budget = 1e-9 if by == "budget" else None
    with interruption(by == "interrupt"):
        found = solve_boxes(
            posed(y), CS, matrix, tol=1e-4, time_budget=budget, callbacks=[callback], progress=False
        )
    assert [s.converged for s in found] == [by != "budget", False, False]
    words = {"callback": "a callback", "interrupt": "interrupted", "budget": "time budget"}
    assert all(words[by] in s.status and s.gap > 0 for s in found[1:])
    assert len(begun) == (1 if by == "budget" else 2)  # nobody is asked about the rest


def test_ctrl_c_while_all_are_checked():
    class Interrupted(LazyMatrix):
        def product(self, V, *, reduced=False):
            raise KeyboardInterrupt

    X, y = classification(1200)
    with interruption():
        found = solve_boxes(posed(y), CS, Interrupted(gram(Gaussian(1.0), X)), progress=False)
    assert not any(s.converged for s in found)
    assert all("interrupted" in s.status and s.gap >= 0 for s in found)


@pytest.mark.parametrize("held_as", [np.float32, np.float64])
def test_products_with_several_columns(held_as):
    X, _ = classification(40)
    G = gram(Gaussian(1.0), X)
    B = np.random.default_rng(0).standard_normal((40, 3))
    B[::2] = 0
    for matrix in (LazyMatrix(G), HeldMatrix(G.dense().astype(held_as)), held(G)):
        product = matrix.product(B)
        np.testing.assert_allclose(product, G.dense() @ B, atol=1e-5)
        np.testing.assert_allclose(product[:, 1], matrix.product(B[:, 1]), atol=1e-12)


@pytest.mark.parametrize("way", ["held", "held_exactly", "streamed"])
def test_machines_along_a_path(way, monkeypatch):
    if way == "held_exactly":
        monkeypatch.setattr("mercer.engine.reduced.MOST_ROUNDING", 0.0)
    X, y = classification(1500)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 1500)
    size = 1.0 if way == "streamed" else "auto"
    models = SVC(kernel=Gaussian(1.0), cache_size=size).path(X, y, [30.0, 0.1, 1.0], weight)
    for C, model in zip([30.0, 0.1, 1.0], models, strict=True):
        alone = SVC(Gaussian(1.0), C=C, tol=1e-6).fit(X, y, weight)
        assert model.converged_
        assert model.C == C
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=5e-3)


def overlapping(n):
    """Classes that overlap: many variables are free, and steps take long."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 10))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)


CLOSE = [5.0, 10.0, 20.0, 40.0]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_a_callback_stops_all(threads, monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", threads)
    monkeypatch.setattr(Watch, "is_due", True)
    X, y = overlapping(1300)
    told = []

    def callback(report):
        told.append(report.iteration)
        return told.count(0) == 3

    found = solve_boxes(posed(y), CLOSE, held(gram(Gaussian(2.0), X)), callbacks=[callback], progress=False)
    assert [s.converged for s in found[2:]] == [False, False]
    assert all(s.converged or "a callback" in s.status for s in found)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_errors_of_callbacks_are_raised(threads, monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", threads)

    calls = []

    def callback(report):
        calls.append(report)
        if len(calls) == 3:
            raise ZeroDivisionError

    X, y = overlapping(1300)
    with pytest.raises(ZeroDivisionError):
        solve_boxes(posed(y), CLOSE, held(gram(Gaussian(2.0), X)), callbacks=[callback], progress=False)


def test_a_solution_that_no_bound_holds_is_that_of_all_larger_boxes():
    X, y = classification(1200)
    G = gram(Gaussian(0.01), X)  # nearly the identity: b_i is nearly y_i
    found = solve_boxes(posed(y), [3.0, 6.0, 12.0], held(G), progress=False)
    assert [s.stats["iterations"] > 0 for s in found] == [True, False, False]
    for solution in found:
        assert solution.converged
        np.testing.assert_array_equal(solution.value.coefficients, found[0].value.coefficients)


@pytest.mark.parametrize("max_iter", [300, 600, 1000])
def test_a_limit_of_steps(max_iter):
    X, y = overlapping(1300)
    matrix = held(gram(Gaussian(2.0), X))
    found = solve_boxes(posed(y), CLOSE, matrix, max_iter=max_iter, progress=False)
    assert [s.stats["iterations"] for s in found] == [max_iter] * 4
    assert all("max_iter" in s.status for s in found)
