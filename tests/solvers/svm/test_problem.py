"""Optimality conditions against brute force, duality gaps against an interior-point method."""

import itertools
import time

import numpy as np
import pytest

from mercer import gram
from mercer.kernels import Gaussian
from mercer.solvers import BoxProblem, HeldMatrix, LazyMatrix, Matrix, solve_box
from mercer.solvers.svm.active_set import active_set

from .interior import least_objective
from .interruption import interruption

CONSTRAINTS = ["sum", "signed", "free"]


def draw(n, constraint, seed, *, width=0.0, C=1.0, d=2):
    """A random problem with its matrix and a feasible point; two-sided boxes where there is a width."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    c = C * rng.uniform(0.5, 2.0, n)
    low, high = np.where(y > 0, 0.0, -c), np.where(y > 0, c, 0.0)
    if width > 0:
        low, high = -c, c
    linear = rng.standard_normal(n) if width > 0 or constraint == "signed" else -y
    start = np.zeros(n)
    if constraint == "signed":
        start = 0.4 * np.where(y > 0, high, low)
    return BoxProblem(linear, low, high, width, constraint), K, start


def objective(problem, K, b):
    return float(0.5 * b @ K @ b + problem.linear @ b + problem.epsilon * np.abs(b).sum())


def sums_of(problem, start):
    if problem.constraint == "free":
        return ()
    if problem.constraint == "sum":
        return (float(start.sum()),)
    return float(start[start > 0].sum()), float(start[start < 0].sum())


def least(problem, K, start):
    p = problem
    return least_objective(K, p.linear, p.low, p.high, p.epsilon, sums_of(p, start))


def feasible_points(problem, start, rng):
    """Points of the box with the sums of the start: interior ones, corners, points at zero."""
    n = problem.size
    for _ in range(30):
        b = start.copy()
        for _ in range(3 * n):  # random steps along feasible directions
            i, j = rng.choice(n, 2, replace=False)
            sides = b if problem.constraint == "signed" else np.zeros(n)
            if problem.constraint == "free":
                b[i] = rng.choice(
                    [problem.low[i], problem.high[i], 0.0, rng.uniform(problem.low[i], problem.high[i])]
                )
                continue
            if sides[i] * sides[j] < 0:
                continue
            if (
                problem.constraint == "signed"
                and problem.high[i] * problem.high[j] == 0 != problem.high[i] + problem.high[j]
            ):
                continue
            room = min(problem.high[i] - b[i], b[j] - problem.low[j])
            if problem.constraint == "signed":
                room = min(room, abs(b[j]) if b[j] > 0 else room, abs(b[i]) if b[i] < 0 else room)
            t = room * rng.choice([1.0, rng.random()])
            b[i], b[j] = b[i] + t, b[j] - t
        yield np.clip(b, problem.low, problem.high)


@pytest.mark.parametrize("width", [0.0, 0.3])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_the_violation_is_the_steepest_way_down(constraint, width):
    """Against finite differences of the objective along every feasible direction of one or two variables."""
    if constraint == "signed" and width > 0:
        pytest.skip("no machine has both")
    rng = np.random.default_rng(0)
    problem, K, start = draw(7, constraint, 3, width=width)
    n, t = problem.size, 1e-7
    for b in feasible_points(problem, start, rng):
        here, steepest = objective(problem, K, b), 0.0
        moves = [(i, s, None) for i in range(n) for s in (1, -1)]
        if constraint != "free":
            moves = [(i, 1, j) for i, j in itertools.permutations(range(n), 2)]
        for i, s, j in moves:
            c = b.copy()
            c[i] += s * t
            if j is not None:
                c[j] -= t
            if (c < problem.low).any() or (c > problem.high).any():
                continue
            if constraint == "signed" and not np.isclose(
                np.maximum(c, 0).sum(), np.maximum(b, 0).sum(), rtol=0, atol=t / 2
            ):
                continue
            steepest = max(steepest, (here - objective(problem, K, c)) / t)
        found = problem.optimality(b, K @ b + problem.linear)
        assert found.violation == pytest.approx(steepest, abs=1e-5)
        assert found.objective == pytest.approx(here, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(
    ("constraint", "width"), [("sum", 0.0), ("sum", 0.3), ("signed", 0.0), ("free", 0.0), ("free", 0.3)]
)
def test_the_gap_is_no_less_than_the_distance_from_the_optimum(constraint, width):
    rng = np.random.default_rng(1)
    for seed in range(4):
        problem, K, start = draw(12, constraint, seed, width=width)
        best = least(problem, K, start)
        for b in [start, *feasible_points(problem, start, rng)]:
            state = problem.optimality(b, K @ b + problem.linear)
            assert state.gap >= state.objective - best - 1e-9 * max(1.0, abs(best))


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize(
    ("constraint", "width"), [("sum", 0.0), ("sum", 0.3), ("signed", 0.0), ("free", 0.0), ("free", 0.3)]
)
def test_solves_to_rounding_and_says_so_truly(constraint, width, C):
    for n, seed in ((2, 0), (5, 1), (40, 2), (120, 3)):
        problem, K, start = draw(n, constraint, seed, width=width, C=C)
        solution = solve_box(problem, HeldMatrix(K), start=start, progress=False)
        b, f, multipliers = solution.value
        exact = problem.optimality(b, K @ b + problem.linear)
        assert solution.converged, solution.status
        assert exact.violation <= 1e-3
        np.testing.assert_allclose(f, K @ b + problem.linear, atol=1e-10 * max(1.0, C))
        assert sums_of(problem, b) == pytest.approx(sums_of(problem, start), abs=1e-12 * n * C)
        assert (b >= problem.low).all()
        assert (b <= problem.high).all()
        # Small problems are finished exactly, whatever the tolerance.
        assert exact.violation <= 1e-10 * max(1.0, float(np.abs(f).max()))
        best = least(problem, K, start)
        assert exact.objective <= best + 1e-9 * max(abs(best), 1e-6 * C)
        assert exact.gap <= 1e-8 * max(1.0, abs(best))
        assert len(multipliers) == {"sum": 1, "signed": 2, "free": 0}[constraint]


@pytest.mark.parametrize(
    ("constraint", "width"), [("sum", 0.0), ("sum", 0.3), ("signed", 0.0), ("free", 0.0), ("free", 0.3)]
)
def test_the_active_set_method_goes_on_to_rounding(constraint, width):
    for seed in range(6):
        problem, K, start = draw(60, constraint, seed, width=width, C=10.0)
        matrix = HeldMatrix(K)
        rough = solve_box(problem, matrix, start=start, tol=1e-3, refine=False, progress=False)
        b, f = active_set(problem, matrix, rough.value.coefficients, rough.value.gradient, 1e-12)
        state = problem.optimality(b, K @ b + problem.linear)
        assert state.violation <= 1e-10
        assert state.objective <= rough.stats["objective"] + 1e-12
        np.testing.assert_allclose(f, K @ b + problem.linear, atol=1e-11)


def test_duplicated_points():
    problem, K, _ = draw(30, "sum", 0)
    index = np.repeat(np.arange(30), 2)
    double = BoxProblem(problem.linear[index], problem.low[index], problem.high[index])
    solution = solve_box(double, HeldMatrix(K[np.ix_(index, index)]), progress=False)
    whole = BoxProblem(problem.linear, 2 * problem.low, 2 * problem.high)
    single = solve_box(whole, HeldMatrix(K), progress=False)
    assert solution.stats["objective"] == pytest.approx(single.stats["objective"], rel=1e-12)
    assert solution.converged


def classification(n):
    """Two classes that overlap, as a problem and the lazy Gram matrix."""
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)
    problem = BoxProblem(-y, np.where(y > 0, 0.0, -1.0), np.where(y > 0, 1.0, 0.0))
    return problem, gram(Gaussian(1.0), X)


@pytest.mark.parametrize("n", [1100, 2300])
@pytest.mark.parametrize("cache_bytes", [None, 1.0, 1e6])
def test_single_precision_rows_give_a_double_precision_answer(n, cache_bytes):
    """Rows in float32, few of them kept: what converged says is true of the matrix in double."""
    problem, G = classification(n)
    solution = solve_box(problem, LazyMatrix(G), cache_bytes=cache_bytes, progress=False)
    K = G.dense()
    b = solution.value.coefficients
    state = problem.optimality(b, K @ b + problem.linear)
    assert solution.stats["cache_dtype"] == "float32"
    assert solution.stats["cache_rows"] <= n
    assert solution.converged
    assert state.violation <= 1e-3 * (1 + 1e-9)
    assert solution.stats["kkt_violation"] == pytest.approx(state.violation, abs=1e-9)
    assert solution.gap == pytest.approx(state.gap, rel=1e-6, abs=1e-9)


def test_the_cache_is_as_small_as_asked_and_not_smaller_than_works():
    problem, G = classification(1500)
    rows = [
        solve_box(problem, LazyMatrix(G), cache_bytes=size, progress=False, refine=False).stats["cache_rows"]
        for size in (1.0, 4 * 1500 * 200, 1e12)
    ]
    assert rows == [64, 200, 1500]


def test_an_unbounded_problem_is_said_to_have_no_solution():
    """Equal points with opposite labels, and no bound."""
    problem = BoxProblem(np.array([-1.0, 1.0]), np.array([0.0, -np.inf]), np.array([np.inf, 0.0]))
    solution = solve_box(problem, HeldMatrix(np.ones((2, 2))), progress=False)
    assert not solution.converged
    assert "no solution" in solution.status


def test_overflow_is_said():
    problem = BoxProblem(np.array([-1.0, 1.0]), np.array([0.0, -1e300]), np.array([1e300, 0.0]))
    solution = solve_box(problem, HeldMatrix(np.array([[1e300, -1e300], [-1e300, 1e300]])), progress=False)
    assert np.isfinite(solution.value.coefficients).all()


def test_limits_end_with_a_usable_point_and_its_gap():
    problem, K, start = draw(300, "sum", 5, C=1e5)
    best = least(problem, K, start)
    for limits in ({"max_iter": 10}, {"max_iter": 0}, {"time_budget": 1e-9, "tol": 1e-13}):
        solution = solve_box(problem, HeldMatrix(K), progress=False, **limits)
        b = solution.value.coefficients
        assert solution.stats["iterations"] <= limits.get("max_iter", np.inf)
        if "max_iter" in limits:
            assert not solution.converged
            assert "max_iter" in solution.status
        assert b.sum() == pytest.approx(0.0, abs=1e-9 * np.abs(b).sum())
        assert solution.gap >= objective(problem, K, b) - best - 1e-7 * abs(best)


class Slow(Matrix):
    """A matrix whose rows take their time."""

    cost = np.inf

    def __init__(self, K):
        self._K, self.size = HeldMatrix(K), len(K)

    def diagonal(self):
        return self._K.diagonal()

    def block(self, rows, cols, dtype=np.float64):
        time.sleep(0.06)
        return self._K.block(rows, cols, dtype)

    def product(self, V, *, reduced=False):
        return self._K.product(V)

    def select(self, index):
        raise NotImplementedError


@pytest.mark.parametrize("by", ["callback", "budget", "interrupt"])
def test_stops_by_callback_budget_and_interrupt(by):
    problem, K, _ = draw(600, "sum", 6, C=1e4)
    seen = []

    def callback(report):
        seen.append(report)
        if by == "interrupt" and len(seen) == 2:
            raise KeyboardInterrupt
        return len(seen) == 2 if by == "callback" else None

    budget = 0.15 if by == "budget" else None
    with interruption(by == "interrupt"):
        solution = solve_box(
            problem,
            Slow(K),
            tol=1e-12,
            cache_bytes=1.0,
            callbacks=[callback],
            time_budget=budget,
            progress=False,
        )
    assert not solution.converged
    assert {"callback": "callback", "budget": "time budget", "interrupt": "interrupted"}[
        by
    ] in solution.status
    assert solution.stats["interrupted"] == (by == "interrupt")
    b = solution.value.coefficients
    assert b.sum() == pytest.approx(0.0, abs=1e-9 * np.abs(b).sum())
    assert solution.gap > 0
    assert [r.iteration for r in seen] == sorted(r.iteration for r in seen)
    assert all(r.tol == 1e-12 and r.violation > 0 and r.seconds > 0 for r in seen)
    again = solve_box(problem, HeldMatrix(K), start=b, progress=False)
    assert again.converged


def test_the_same_bits_again():
    problem, G = classification(2200)
    results = {
        solve_box(
            problem, LazyMatrix(G), threads=t, cache_bytes=5e6, progress=False
        ).value.coefficients.tobytes()
        for t in (2, 2, 2)
    }
    assert len(results) == 1
