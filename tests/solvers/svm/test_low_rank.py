"""Kernels of low rank: found out or known, solved whatever the bounds; gaps of runs that were stopped."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer import gram
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed
from mercer.machines import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM
from mercer.solvers import BoxProblem, HeldMatrix, LazyMatrix, PairSolver, solve_box, solve_boxes
from mercer.solvers.svm.interior_point import LowRank
from mercer.solvers.svm.policy import interior_comes_first, pair_iterations

from .interruption import interruption


def planes(n=1500, d=6, seed=0):
    """Classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] - X[:, 1] + rng.standard_normal(n) > 0, 1.0, -1.0)


def posed(y, C, constraint="sum"):
    return BoxProblem(-y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0), 0.0, constraint)


# -- when ------------------------------------------------------------------------------------------
def test_few_features_come_first():
    X, _ = planes()
    assert LowRank(LazyMatrix(gram(Linear(), X))).pays(0.0)
    assert LowRank(LazyMatrix(gram(2.0 * Linear() + 1.0, sparse.csr_matrix(X)))).pays(0.0)
    assert LowRank(LazyMatrix(gram(Polynomial(2), X))).pays(0.0)
    assert not LowRank(LazyMatrix(gram(Linear(), X[:500]))).pays(0.0)  # steps are quick on few points
    wide = np.random.default_rng(0).standard_normal((1500, 900))
    assert not LowRank(LazyMatrix(gram(Linear(), wide))).pays(1e15)  # not low
    assert LowRank(LazyMatrix(gram(Linear(), np.ones((1500, 900))))).pays(1e15)
    assert not interior_comes_first(1100, 600)
    assert not interior_comes_first(100_000, 5000)


def test_a_rank_that_is_not_known_is_found_out_when_steps_have_taken_long():
    X, _ = planes()
    matrix = LazyMatrix(gram((Linear() + 1.0) ** 2, X))
    low_rank = LowRank(matrix)
    assert not low_rank.pays(1e6)
    assert low_rank.pays(1e10)
    assert low_rank.factor.shape[1] == 28  # monomials of degree at most 2, which a power does not name
    np.testing.assert_allclose(low_rank.factor @ low_rank.factor.T, matrix.dense(np.float64), atol=1e-6)


def test_larger_ranks_are_looked_for_later():
    X, _ = planes(1400, 12)
    low_rank = LowRank(LazyMatrix(gram(Polynomial(3), X)))
    assert not low_rank.pays(7e7)
    assert low_rank._next > 320
    assert low_rank.pays(1e11)
    assert low_rank.factor.shape[1] == 455


def test_where_it_is_in_vain():
    X, _ = planes()
    narrow = LowRank(LazyMatrix(gram(Gaussian(0.1), X)))
    assert not narrow.pays(1e15)
    assert narrow._next == 0
    K = Linear().block(X)
    indefinite = LowRank(HeldMatrix(K - 2 * np.outer(K[0], K[0]) / K[0, 0]))
    assert not indefinite.pays(1e15)
    assert not indefinite.pays(1e15)
    calls = []
    slow = LazyMatrix(gram(Precomputed(), K))
    slow._single = type("Single", (), {"_cost": np.inf})()
    slow.block = lambda *a: calls.append(a)
    assert not LowRank(slow).pays(1e15)
    assert not calls


# -- what ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("constraint", ["sum", "free"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_any_bounds(C, constraint):
    X, y = planes()
    G, problem = gram(Linear(), X), posed(y, C, constraint)
    solution = solve_box(problem, LazyMatrix(G), progress=False)
    assert solution.converged
    assert 0 < solution.stats["interior_iterations"] < 60
    assert solution.stats["iterations"] < 2000
    b = solution.value.coefficients
    state = problem.optimality(b, G.dense() @ b - y)
    assert state.violation <= 1e-3
    assert state.gap <= 1e-8 * abs(state.objective)


def test_a_cubic_kernel_out_of_scale():
    """Steps, exact ones and growing bounds too, ended far from the solution after a minute."""
    X, y = planes(1300, 8)
    model = SVC(Polynomial(3), C=1.0).fit(20.0 * X, y)
    assert model.converged_
    assert model.solutions_[0].stats["interior_iterations"] > 0
    steps = model.n_iter_
    assert np.sum(steps) < 1_000_000


def test_machines_that_took_millions_of_steps():
    X, y = planes(2000, 8)
    target = 1000.0 * (X[:, 0] + 0.3 * y)
    for machine, labels in (
        (SVC(Linear(), C=1e5), y),
        (NuSVC(Linear(), nu=0.75), y),
        (SVR(C=10.0, kernel=Linear()), target),
        (NuSVR(C=100.0, kernel=Linear()), target),
        (NuSVR(C=10.0, kernel=Linear()), X[:, 0]),  # a plane through all targets
        (SVC(Linear(), C=10.0, fit_intercept=False), y),
        (OneClassSVM(Linear(), nu=0.2), None),
        (EnclosingBall(Linear()), None),
        (EnclosingBall(Linear(), C=0.01), None),
    ):
        machine.fit(1000.0 * X if isinstance(machine, SVR) else X, labels)
        assert machine.converged_, machine
        assert np.sum(machine.n_iter_) < 200, machine


def test_the_same_machine_by_steps(monkeypatch):
    X, y = planes(2000, 5)
    weight = np.random.default_rng(0).integers(0, 3, 2000).astype(float)
    inside = SVC(Linear(), C=2.0).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(LowRank, "pays", lambda self, work: False)
    by_steps = SVC(Linear(), C=2.0).fit(X, y, sample_weight=weight)
    assert inside.n_iter_ < 100 < by_steps.n_iter_
    np.testing.assert_array_equal(inside.support_, by_steps.support_)
    np.testing.assert_allclose(inside.dual_coef_, by_steps.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(inside.coef_, by_steps.coef_, atol=1e-9)


def test_several_classes_and_values_of_C():
    X, y = planes(2100, 6)
    codes = np.where(y > 0, np.where(X[:, 2] > 0.5, 2, 1), 0)
    rest = SVC(Linear(), C=100.0, multiclass="ovr").fit(X, codes)
    assert rest.converged_
    assert rest.score(X, codes) > 0.6
    for c in range(3):
        alone = SVC(Linear(), C=100.0).fit(X, codes == c)
        np.testing.assert_allclose(rest.decision_function(X)[:, c], alone.decision_function(X), atol=1e-6)
    Cs = [0.1, 10.0, 1000.0]
    path = SVC(kernel=Linear()).path(X, y, Cs)
    for C, model in zip(Cs, path, strict=True):
        assert model.converged_
        alone = SVC(Linear(), C=C).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-7)


def test_boxes_that_grow():
    X, y = planes()
    solutions = solve_boxes(posed(y, 1.0), [1.0, 100.0], LazyMatrix(gram(Linear(), X)), progress=False)
    for factor, solution in zip((1.0, 100.0), solutions, strict=True):
        b = solution.value.coefficients
        state = posed(y, factor).optimality(b, X @ (X.T @ b) - y)
        assert solution.converged
        assert state.violation <= 1e-6 * factor


# -- stops -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("by", ["callback", "interrupt", "budget"])
def test_stops_inside(by, monkeypatch):
    monkeypatch.setattr("mercer.solvers.watch.SECONDS_PER_WATCH", 0.0)
    X, y = planes()
    problem, seen = posed(y, 1e4), []

    def callback(report):
        seen.append(report)
        if by == "interrupt" and len(seen) > 4:
            raise KeyboardInterrupt
        return by == "callback" and len(seen) > 4

    matrix = LazyMatrix(gram(Linear(), X))
    with interruption(by == "interrupt"):
        solution = solve_box(
            problem,
            matrix,
            callbacks=[callback],
            time_budget=1e-3 if by == "budget" else None,
            progress=False,
        )
    assert not solution.converged
    assert {"callback": "a callback", "interrupt": "interrupted", "budget": "budget"}[by] in solution.status
    b = solution.value.coefficients
    assert abs(b.sum()) <= 1e-8 * max(1.0, np.abs(b).sum())
    state = problem.optimality(b, X @ (X.T @ b) - y)
    assert solution.gap == pytest.approx(state.gap, rel=1e-6)


def test_the_gap_of_a_run_that_was_stopped_is_true():
    """Rows in single precision and large coefficients: the gradient of the steps was far off."""
    X, y = planes(1500, 10)
    C = 1e6
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = SVC(Gaussian(20.0), C=C, max_iter=30_000).fit(X, y)
    b = model.solutions_[0].value.coefficients
    state = posed(y, C).optimality(b, Gaussian(20.0).block(X) @ b - y)
    assert model.gap_ == pytest.approx(state.gap, rel=1e-6)
    assert model.kkt_violation_ == pytest.approx(state.violation, rel=1e-6)


# -- what hard inputs have shown ---------------------------------------------------------------------
def test_features_are_not_made_dense_without_memory(monkeypatch):
    X = sparse.random(3000, 1000, 0.01, format="csr", random_state=0)
    low_rank = LowRank(LazyMatrix(gram(Linear(), X)))
    monkeypatch.setattr("mercer.memory.allows", lambda *args: False)
    assert low_rank.rank == 1000
    assert low_rank.factor is None


@pytest.mark.parametrize("scale", [1e3, 3e4])
def test_features_of_any_size_are_solved_inside(scale):
    """With 1e5 rounding of the gradient may be nine tenths of ``tol``, and decides about convergence."""
    X, y = planes(2500, 3)
    model = SVC(Linear(), C=1.0).fit(scale * X, y)
    assert model.converged_
    assert model.n_iter_[0] < 1000


def test_violations_are_those_of_the_gradient_computed_anew():
    """After exact ends it was the one that these had kept up to date, fifty times as good."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 10))
    y = X.sum(axis=1) + 0.3 * rng.standard_normal(3000)
    model = SVR(C=1e8, epsilon=0.1, kernel=Linear()).fit(X, y)
    b = np.zeros(3000)
    b[model.support_] = model.dual_coef_[0]
    problem = BoxProblem(-y, np.full(3000, -1e8), np.full(3000, 1e8), epsilon=0.1)
    anew = problem.optimality(b, X @ (X.T @ b) - y)
    assert 0.2 * anew.violation <= model.kkt_violation_ <= 5 * anew.violation


def test_pairs_of_classes_do_not_take_steps_for_long(monkeypatch):
    """Four classes of a linear kernel took 41 s."""
    limits = []

    class Watched(PairSolver):
        def __init__(self, tol, max_iter=-1):
            limits.append(max_iter)
            super().__init__(tol, max_iter)

    monkeypatch.setattr("mercer.machines.svm.multiclass.PairSolver", Watched)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    y = (X @ rng.standard_normal((5, 4)) + rng.standard_normal((4000, 4))).argmax(axis=1)
    model = SVC(Linear(), C=1e3).fit(X, y)
    assert model.converged_
    assert limits == [pair_iterations(5)]
    assert limits[0] < 100_000


def test_what_stops_a_nu_regression_stops_all_of_it():
    """The solution of another problem was returned as converged."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2500, 8))
    y = X.sum(axis=1) + 0.3 * rng.standard_normal(2500)
    with pytest.warns(ConvergenceWarning, match="callback"):
        model = NuSVR(Linear(), C=100.0).set_callbacks(lambda report: True).fit(X, y)
    assert not model.converged_
    assert np.abs(model.dual_coef_).sum() <= 0.5 * 100.0 * 2500 * (1 + 1e-9)


def test_rounding_that_hides_the_violation_is_told():
    """The violation was said to be 3e-5; in exact arithmetic it is 1.03e-3."""
    rng = np.random.default_rng(0)
    for n in (300, 2000, 300):
        rng.standard_normal((n, 3)), rng.standard_normal(n)
    X = rng.standard_normal((3000, 3))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(3000) > 0, 1, -1)
    with pytest.warns(ConvergenceWarning, match="rounding alone may make it more than 0.001"):
        model = SVC(Linear(), C=1e10).fit(X, y)
    assert not model.converged_
    assert SVC(Linear(), C=1e8).fit(X, y).converged_
