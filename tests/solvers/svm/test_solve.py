"""Problems that take too many steps: bounds that grow, honest stops on the way."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import gram
from mercer.kernels import Linear
from mercer.machines import SVC, SVR, NuSVR
from mercer.solvers import BoxProblem, LazyMatrix, solve_box
from mercer.solvers.svm import decomposition, solve
from mercer.solvers.svm.low_rank import LowRank
from mercer.solvers.watch import Watch

from .interruption import interruption


def hopeless(n=1200, seed=0):
    """Classes that overlap, for a kernel of low rank."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 14))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)


def posed(y, C, constraint="sum"):
    return BoxProblem(-y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0), 0.0, constraint)


@pytest.fixture
def stepwise(monkeypatch):
    """As if no rank were low: steps alone."""
    monkeypatch.setattr(LowRank, "pays", lambda self, seconds: False)


@pytest.fixture
def grown(monkeypatch, stepwise):
    """How often bounds were grown."""
    calls = []
    by_growing = solve._by_growing
    monkeypatch.setattr(solve, "_by_growing", lambda *a: calls.append(a) or by_growing(*a))
    return calls


@pytest.mark.parametrize("constraint", ["sum", "free"])
def test_far_fewer_steps(constraint, grown):
    X, y = hopeless()
    G = gram(Linear(), X)
    problem = posed(y, 2000.0, constraint)
    solution = solve_box(problem, LazyMatrix(G), progress=False)
    assert grown
    assert solution.converged
    assert solution.stats["iterations"] < 2_000_000  # more than ten million without
    b = solution.value.coefficients
    state = problem.optimality(b, G.dense() @ b - y)
    assert state.violation <= 1e-3
    assert state.gap <= 1e-6 * abs(state.objective)
    assert (b == np.clip(b, problem.low, problem.high)).all()


def test_machines(grown):
    X, y = hopeless(1500, seed=3)
    classifier = SVC(Linear(), C=5000.0).fit(X, y)
    regression = SVR(C=5000.0, kernel=Linear()).fit(X, X[:, 0] + 0.3 * y)
    assert len(grown) == 2
    assert classifier.converged_
    assert regression.converged_
    assert classifier.score(X, y) > 0.7
    assert regression.score(X, X[:, 0] + 0.3 * y) > 0.8


def test_sums_that_cannot_grow_take_steps_as_before(grown, monkeypatch):
    monkeypatch.setattr(solve, "MANY_STEPS", 10)
    monkeypatch.setattr(solve, "MANY_STEPS_EACH", 0)
    X, _ = hopeless(1100)
    G = gram(Linear(), X)
    n = len(X)
    problem = BoxProblem(np.zeros(n), np.zeros(n), np.full(n, 4.0 / n))
    solution = solve_box(problem, LazyMatrix(G), start=np.full(n, 1.0 / n), tol=1e-4, progress=False)
    assert not grown
    assert solution.converged
    assert solution.value.coefficients.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("by", ["callback", "interrupt", "limit"])
def test_stops_on_the_way(by, grown, monkeypatch):
    monkeypatch.setattr(solve, "MANY_STEPS", 5000)
    monkeypatch.setattr(solve, "MANY_STEPS_EACH", 0)
    X, y = hopeless()
    problem, seen = posed(y, 2000.0), []

    def callback(report):
        seen.append(report.iteration)
        if grown and by == "interrupt":
            raise KeyboardInterrupt
        return bool(grown) and by == "callback"

    with interruption(by == "interrupt"):
        solution = solve_box(
            problem,
            LazyMatrix(gram(Linear(), X)),
            max_iter=8000 if by == "limit" else -1,
            callbacks=[callback],
            progress=False,
        )
    assert grown
    assert not solution.converged
    assert {"callback": "a callback", "interrupt": "interrupted", "limit": "max_iter"}[by] in solution.status
    assert solution.gap > 0
    assert 5000 <= solution.stats["iterations"] <= 8000 + 2
    assert seen == sorted(seen)
    b = solution.value.coefficients
    assert problem.optimality(b, solution.value.gradient).objective < 0  # no worse than zero
    assert abs(b.sum()) <= 1e-9 * np.abs(b).sum()


# -- exact steps on larger problems ----------------------------------------------------------------
def primal(machine, X, y, C):
    """The objective of the separating plane that the machine has found, from its definition."""
    w = machine.dual_coef_[0] @ X[machine.support_]
    return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w + machine.intercept_[0])).sum()


@pytest.mark.parametrize(("C", "scales"), [(1000.0, (0, 0)), (10.0, (-2, 2))])
def test_low_ranks_and_columns_out_of_scale_are_solved_exactly(C, scales, stepwise):
    """These took ten million steps and more, and did not converge."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2100, 8))
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(2100) > 0, 1, -1)
    X = X * np.logspace(*scales, 8)
    machine = SVC(Linear(), C=C).fit(X, y)
    assert machine.converged_
    assert machine.solutions_[0].stats["iterations"] < 1_000_000
    dual = -machine.solutions_[0].stats["objective"]
    assert primal(machine, X, y, C) - dual == pytest.approx(0.0, abs=1e-8 * dual)


def test_sums_of_both_signs_have_exact_steps_too(stepwise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2100, 8))
    machine = NuSVR(C=10.0, kernel=Linear()).fit(X, X[:, 0] + 0.1 * rng.standard_normal(2100))
    assert machine.converged_
    assert machine.kkt_violation_ < 1e-9
    assert machine.solutions_[0].stats["iterations"] < 1_000_000


def test_exact_steps_end_where_a_time_budget_does(stepwise, monkeypatch):
    """The time is up when they have begun."""
    begun = []
    polish = decomposition.polish
    monkeypatch.setattr(decomposition, "polish", lambda *a, **k: begun.append(1) or polish(*a, **k))
    monkeypatch.setattr(Watch, "is_over", property(lambda self: bool(begun)))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 20)) * np.logspace(-2, 2, 20)
    y = np.where(rng.standard_normal(5000) > 0, 1, -1)
    with pytest.warns(ConvergenceWarning, match="time budget"):
        machine = SVC(Linear(), C=10.0, time_budget=1000.0).fit(X, y)
    assert begun == [1]
    assert np.isfinite(machine.gap_)
