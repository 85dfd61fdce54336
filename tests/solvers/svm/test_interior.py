"""The interior point method against another one, on matrices of low rank, and where it cannot help."""

import numpy as np
import pytest

from mercer import gram
from mercer.kernels import Linear
from mercer.solvers import BoxProblem, LazyMatrix
from mercer.solvers.svm.active_set import active_set
from mercer.solvers.svm.interior_point import interior_point

from .interior import least_objective

SHAPES = [("sum", 0.0), ("sum", 0.3), ("signed", 0.0), ("free", 0.0), ("free", 0.3)]


def draw(n, constraint, width, C, seed, rank=4):
    """A problem, the factor of its matrix, and a point that satisfies the constraint."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal((n, rank))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    c = C * rng.uniform(0.5, 2.0, n)
    two_sided = width > 0 or constraint == "signed"
    low, high = (-c, c) if two_sided else (np.where(y > 0, 0.0, -c), np.where(y > 0, c, 0.0))
    linear = factor[:, 0] + rng.standard_normal(n) if two_sided else -y
    start = np.where(y > 0, 0.4, -0.4) * c.min() if constraint == "signed" else np.zeros(n)
    return BoxProblem(linear, low, high, width, constraint), factor, start


def sums_of(problem, b):
    positive, negative = float(b[b > 0].sum()), float(b[b < 0].sum())
    return {"sum": (positive + negative,), "signed": (positive, negative), "free": ()}[problem.constraint]


def state_of(problem, factor, b):
    return problem.optimality(b, factor @ (factor.T @ b) + problem.linear)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize(("constraint", "width"), SHAPES)
def test_near_the_solution(constraint, width, C):
    for n, seed in ((2, 0), (9, 1), (60, 2), (150, 3)):
        problem, factor, start = draw(n, constraint, width, C, seed)
        b, steps = interior_point(problem, factor, start, 1e-3)
        assert 0 < steps < 60
        if b is None:  # both parts of a variable are needed
            assert constraint == "signed"
            assert n < 10
            continue
        assert (problem.low <= b).all()
        assert (b <= problem.high).all()
        size = max(1.0, float(np.abs(b).sum()))
        np.testing.assert_allclose(sums_of(problem, b), sums_of(problem, start), rtol=1e-8, atol=1e-9 * size)
        p = problem
        best = least_objective(factor @ factor.T, p.linear, p.low, p.high, p.epsilon, sums_of(problem, start))
        state = state_of(problem, factor, b)
        assert state.objective == pytest.approx(best, rel=1e-6, abs=1e-6 * C)
        assert state.violation <= 1e-3 * max(1.0, C)


def test_far_bounds_and_columns_out_of_scale():
    """Steps on these take millions and do not end; the gap is that of the definition."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 10)) * np.logspace(-2, 2, 10)
    y = np.where(X[:, 0] + 0.01 * rng.standard_normal(3000) > 0, 1.0, -1.0)
    problem = BoxProblem(-y, np.where(y > 0, 0.0, -1e4), np.where(y > 0, 1e4, 0.0))
    b, steps = interior_point(problem, X, np.zeros(3000), 1e-3)
    b, _ = active_set(problem, LazyMatrix(gram(Linear(), X)), b, X @ (X.T @ b) - y, 1e-3) or (b, None)
    w = X.T @ b
    offsets = y - X @ w  # where the slope of the primal objective in the offset changes
    losses = np.maximum(0.0, 1.0 - y * (X @ w + offsets[:, None])).sum(axis=1)
    primal, dual = 0.5 * w @ w + 1e4 * losses.min(), y @ b - 0.5 * w @ w
    assert steps < 60
    assert primal - dual <= 1e-6 * primal


@pytest.mark.parametrize("constraint", ["sum", "free"])
def test_variables_that_cannot_move(constraint):
    problem, factor, start = draw(40, constraint, 0.0, 1.0, 5)
    low, high = problem.low.copy(), problem.high.copy()
    low[::3] = high[::3] = 0.0
    problem = BoxProblem(problem.linear, low, high, 0.0, constraint)
    b, _ = interior_point(problem, factor, start, 1e-6)
    assert not b[::3].any()
    assert state_of(problem, factor, b).violation <= 1e-6


def test_no_bounds_no_point():
    problem, factor, start = draw(20, "sum", 0.0, 1.0, 0)
    infinite = BoxProblem(problem.linear, problem.low, np.where(problem.high > 0, np.inf, 0.0))
    assert interior_point(infinite, factor, start, 1e-3) == (None, 0)
    nothing = BoxProblem(problem.linear, np.zeros(20), np.zeros(20))
    assert interior_point(nothing, factor, start, 1e-3) == (None, 0)


def test_a_sum_of_positive_variables_bounds_each_of_them():
    """The smallest enclosing ball, whose variables have no bounds of their own."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    problem = BoxProblem(-0.5 * (X**2).sum(axis=1), np.zeros(200), np.full(200, np.inf))
    start = np.zeros(200)
    start[0] = 1.0
    b, _ = interior_point(problem, X, start, 1e-9)
    distances = ((X - X.T @ b) ** 2).sum(axis=1)
    assert b.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(distances[b > 1e-6], distances.max(), rtol=1e-6)


def test_signed_sums_where_both_parts_of_a_variable_are_positive():
    """Targets that a plane meets: sums must be given back along directions that K does not see."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    problem = BoxProblem(-X[:, 0], np.full(300, -10.0), np.full(300, 10.0), 0.0, "signed")
    start = np.where(np.arange(300) % 2 == 0, 5.0, -5.0)
    b, _ = interior_point(problem, X, start, 1e-3)
    np.testing.assert_allclose([b[b > 0].sum(), b[b < 0].sum()], [750.0, -750.0], rtol=1e-9)
    assert state_of(problem, X, b).violation <= 1e-6
    few = X[:5], BoxProblem(-X[:5, 0], np.full(5, -10.0), np.full(5, 10.0), 0.0, "signed")
    start = np.array([9.0, 9.0, 0.0, -9.0, -9.0])
    b, _ = interior_point(few[1], few[0], start, 1e-3)  # no such directions
    assert b is None or np.allclose([b[b > 0].sum(), b[b < 0].sum()], [18.0, -18.0])


def test_zeros_and_copies():
    y = np.array([1.0, -1.0, 1.0, -1.0])
    problem = BoxProblem(-y, np.where(y > 0, 0.0, -2.0), np.where(y > 0, 2.0, 0.0))
    for factor in (np.zeros((4, 2)), np.ones((4, 2))):
        b, _ = interior_point(problem, factor, np.zeros(4), 1e-6)
        np.testing.assert_allclose(b, 2.0 * y)
    one = BoxProblem(np.zeros(4), np.zeros(4), np.ones(4))
    b, _ = interior_point(one, np.zeros((4, 1)), np.full(4, 0.5), 1e-6)  # any point is a solution
    assert b.sum() == pytest.approx(2.0)


def test_it_stops_when_it_is_told_to_with_a_point_of_the_box():
    problem, factor, start = draw(100, "sum", 0.0, 10.0, 1)
    calls = []
    b, steps = interior_point(problem, factor, start, 1e-3, lambda: len(calls) >= 3 or calls.append(1))
    assert steps == 3
    assert (problem.low <= b).all()
    assert (b <= problem.high).all()
    assert abs(b.sum()) <= 1e-8 * np.abs(b).sum()
