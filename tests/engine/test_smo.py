"""SMO against its twin, also run by test_isa.py under every instruction set."""

import threading
from functools import cache

import numpy as np
import pytest

from mercer import _native
from mercer.solvers import BoxProblem

from . import twins

pytestmark = pytest.mark.native

DTYPES = [np.float64, np.float32]
CONSTRAINTS = {"sum": _native.SUM, "signed": _native.SIGNED, "free": _native.FREE}
TIGHT = 1e-9

#: Around the width of a vector, its multiples and the padding.
SIZES = [*range(1, 10), 15, 16, 17, 63, 64, 65]

#: More than the largest working set of 2,048.
LARGE = 2500


@cache
def gram(n, seed=0, d=3, dtype=np.float64):
    """A well-conditioned Gram matrix whose numbers single precision holds exactly."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2)) + 0.1 * np.eye(n)
    K = K.astype(np.float32).astype(dtype)
    K.flags.writeable = False  # tests share it
    return K


def draw(n, constraint, width=0.0, seed=0, C=1.0):
    """A problem, and a point from which to start."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    two_sided = width > 0
    low = np.full(n, -C) if two_sided else np.where(y > 0, 0.0, -C)
    high = np.full(n, C) if two_sided else np.where(y > 0, C, 0.0)
    linear = rng.standard_normal(n) if two_sided or constraint == "signed" else -y
    start = np.zeros(n)
    if constraint == "signed":  # the sums to be kept are those of the start
        start = 0.3 * np.where(y > 0, high, low) * rng.random(n)
    return BoxProblem(linear, low, high, width, constraint), start


class Solver:
    """The native solver on a matrix, with a cache of so many rows; notes which rows were asked for."""

    def __init__(self, problem, K, start, *, dtype=np.float64, capacity=None, threads=1):
        n = problem.size
        self.K, self.asked = K.astype(dtype), []
        complete = capacity is None
        self.rows = self.K.copy() if complete else np.full((min(capacity, n), n), np.nan, dtype)
        kind = _native.Smo64 if dtype == np.float64 else _native.Smo32
        self.native = kind(
            problem.linear,
            problem.low,
            problem.high,
            np.ascontiguousarray(K.diagonal()),
            problem.epsilon,
            CONSTRAINTS[problem.constraint],
            self.rows,
            complete,
            start,
            K @ start + problem.linear,
            threads,
        )

    def fetch(self, rows, slots):
        assert len(set(rows)) == len(rows) == len(set(slots)) == len(slots)
        self.asked.append(list(rows))
        self.rows[slots] = self.K[rows]

    def run(self, tol=TIGHT, steps=1 << 40, fetch=None, watch=lambda steps, violation: False):
        return self.native.run(tol, steps, fetch or self.fetch, watch)


def assert_optimal(problem, K, start, b, f, tol):
    """Feasible, with the gradient that belongs to it, and optimal: all computed here from the matrix."""
    scale = max(1.0, float(np.abs(b).sum()))
    assert (b >= problem.low).all()
    assert (b <= problem.high).all()
    if problem.constraint == "sum":
        assert b.sum() == pytest.approx(start.sum(), abs=1e-12 * scale)
    if problem.constraint == "signed":
        for side in (1, -1):
            kept = np.maximum(side * start, 0).sum()
            assert np.maximum(side * b, 0).sum() == pytest.approx(kept, abs=1e-12 * scale)
    np.testing.assert_allclose(f, K @ b + problem.linear, atol=1e-11 * scale)
    assert problem.optimality(b, K @ b + problem.linear).violation <= tol + 1e-11 * scale


def objective(problem, K, b):
    return float(0.5 * b @ K @ b + problem.linear @ b + problem.epsilon * np.abs(b).sum())


def twin(problem, K, start, tol=1e-10):
    p = problem
    return twins.two_variable_descent(K, p.linear, p.low, p.high, p.epsilon, p.constraint, start, tol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("constraint", "width"), [("sum", 0.0), ("sum", 0.1), ("signed", 0.0), ("free", 0.0), ("free", 0.1)]
)
def test_finds_what_the_twin_finds(constraint, width, dtype):
    for n in SIZES:
        problem, start = draw(n, constraint, width, seed=n)
        K = gram(n, seed=n)
        solver = Solver(problem, K, start, dtype=dtype)
        assert solver.run() == _native.CONVERGED
        assert_optimal(problem, K, start, solver.native.beta, solver.native.grad, TIGHT)
        expected = twin(problem, K, start)
        np.testing.assert_allclose(solver.native.beta, expected, atol=1e-6)
        assert objective(problem, K, solver.native.beta) == pytest.approx(
            objective(problem, K, expected), rel=1e-12, abs=1e-14
        )
        assert solver.native.violation <= TIGHT


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("constraint", list(CONSTRAINTS))
def test_a_cache_that_is_too_small_for_all_rows_changes_nothing_but_the_work(constraint, dtype):
    n = 97
    problem, start = draw(n, constraint, seed=3)
    K = gram(n, seed=3)
    whole = Solver(problem, K, start, dtype=dtype)
    whole.run()
    for capacity in (16, 64, 96, 97):
        solver = Solver(problem, K, start, dtype=dtype, capacity=capacity)
        assert solver.run() == _native.CONVERGED
        assert_optimal(problem, K, start, solver.native.beta, solver.native.grad, TIGHT)
        np.testing.assert_allclose(solver.native.beta, whole.native.beta, atol=1e-7)
        assert solver.native.misses == sum(map(len, solver.asked))
        if capacity >= n:
            assert sorted(i for rows in solver.asked for i in rows) == list(range(n)), (
                "a row that is kept was asked for again"
            )


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_rows_not_used_for_longest_make_room(dtype):
    """Every row that a step uses is one that was fetched and not overwritten since: else NaN gets into f."""
    n = 300
    problem, start = draw(n, "sum", seed=5, C=100.0)
    K = gram(n, seed=5)
    solver = Solver(problem, K, start, dtype=dtype, capacity=20)
    slots_of = {}

    def fetch(rows, slots):
        assert all(0 <= s < 20 for s in slots)
        solver.fetch(rows, slots)
        solver_rows = set(rows)
        for old in [r for r, s in slots_of.items() if s in set(slots)]:
            assert old not in solver_rows
            del slots_of[old]
        slots_of.update(zip(rows, slots, strict=True))
        for row, slot in slots_of.items():
            np.testing.assert_array_equal(solver.rows[slot], solver.K[row])

    assert solver.run(1e-6, fetch=fetch) == _native.CONVERGED
    assert_optimal(problem, K, start, solver.native.beta, solver.native.grad, 1e-6)
    assert solver.native.hits > 0
    assert solver.native.misses > 20


@pytest.mark.parametrize("capacity", [None, LARGE, 300])
@pytest.mark.parametrize(
    ("constraint", "width"), [("sum", 0.0), ("sum", 0.2), ("signed", 0.0), ("free", 0.0)]
)
def test_more_variables_than_a_working_set_holds(constraint, width, capacity):
    problem, start = draw(LARGE, constraint, width, seed=1)
    K = gram(LARGE, seed=1)
    solver = Solver(problem, K, start, dtype=np.float32, capacity=capacity)
    assert solver.run(1e-4) == _native.CONVERGED
    assert_optimal(problem, K, start, solver.native.beta, solver.native.grad, 1e-4)
    assert solver.native.rounds > 1


@pytest.mark.parametrize("constraint", list(CONSTRAINTS))
def test_the_bits_do_not_depend_on_the_number_of_threads(constraint):
    problem, start = draw(LARGE, constraint, seed=2)
    K = gram(LARGE, seed=2)
    results = []
    for threads in (1, 2, 3, 7):
        solver = Solver(problem, K, start, dtype=np.float32, capacity=700, threads=threads)
        solver.run(1e-3)
        results.append((solver.native.beta.tobytes(), solver.native.grad.tobytes(), solver.native.iterations))
    assert len(set(results)) == 1


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("constraint", list(CONSTRAINTS))
def test_no_variable_and_one(constraint, n):
    problem, start = draw(n, constraint)
    solver = Solver(problem, gram(n), start)
    assert solver.run() == _native.CONVERGED
    assert_optimal(problem, gram(n), start, solver.native.beta, solver.native.grad, TIGHT)


@pytest.mark.parametrize("dtype", DTYPES)
def test_infinite_bounds(dtype):
    """Without bounds the problem is a linear system."""
    n = 33
    K, linear = gram(n, seed=7), np.random.default_rng(7).standard_normal(n)
    infinite = np.full(n, np.inf)
    free = BoxProblem(linear, -infinite, infinite, constraint="free")
    solver = Solver(free, K, np.zeros(n), dtype=dtype)
    assert solver.run() == _native.CONVERGED
    np.testing.assert_allclose(solver.native.beta, -np.linalg.solve(K, linear), atol=1e-7)
    balanced = BoxProblem(linear, -infinite, infinite)
    solver = Solver(balanced, K, np.zeros(n), dtype=dtype)
    assert solver.run() == _native.CONVERGED
    system = np.block([[K, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    expected = np.linalg.solve(system, np.append(-linear, 0.0))[:n]
    np.testing.assert_allclose(solver.native.beta, expected, atol=1e-7)


@pytest.mark.parametrize("constraint", ["sum", "free"])
def test_an_objective_that_falls_without_end_is_said_to(constraint):
    """Two equal points with opposite labels and no bound."""
    problem = BoxProblem(
        np.array([-1.0, 1.0]), np.array([0.0, -np.inf]), np.array([np.inf, 0.0]), constraint=constraint
    )
    K = np.zeros((2, 2)) if constraint == "free" else np.ones((2, 2))
    solver = Solver(problem, K, np.zeros(2))
    assert solver.run() == _native.UNBOUNDED
    assert np.isfinite(solver.native.beta).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_overflow_are_an_ending_of_their_own(dtype):
    problem, start = draw(9, "sum")
    solver = Solver(problem, gram(9), start, dtype=dtype)
    solver.rows[:] = np.inf
    assert solver.run() == _native.NOT_FINITE


def test_a_tolerance_below_rounding_ends_as_stalled():
    n = 50
    problem, start = draw(n, "sum", seed=4, C=1e6)
    K = gram(n, seed=4) * 1e6
    solver = Solver(problem, K, start)
    assert solver.run(1e-300) in (_native.STALLED, _native.CONVERGED)
    assert_optimal(problem, K, start, solver.native.beta, solver.native.grad, 1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_indefinite_matrix_leads_to_a_stationary_point(dtype):
    rng = np.random.default_rng(8)
    for n in (5, 40, 200):
        A = rng.standard_normal((n, n)).astype(np.float32).astype(np.float64)
        K = A + A.T
        problem, start = draw(n, "sum", seed=n)
        solver = Solver(problem, K, start, dtype=dtype)
        assert solver.run(1e-8, steps=10**6) in (_native.CONVERGED, _native.STALLED)
        assert objective(problem, K, solver.native.beta) <= objective(problem, K, start)


def test_the_limit_of_steps():
    problem, start = draw(64, "sum", C=100.0)
    K = gram(64)
    solver = Solver(problem, K, start)
    for k in range(1, 6):
        assert solver.run(steps=7) == _native.LIMIT
        assert solver.native.iterations == 7 * k
        assert solver.native.beta.sum() == pytest.approx(0.0, abs=1e-12)
    assert solver.run(steps=0) == _native.LIMIT
    whole = Solver(problem, K, start)
    assert solver.run() == whole.run() == _native.CONVERGED
    np.testing.assert_allclose(solver.native.beta, whole.native.beta, atol=1e-6)


def test_restart_goes_on_from_other_values():
    problem, start = draw(64, "sum")
    K = gram(64)
    first = Solver(problem, K, start)
    first.run()
    second = Solver(problem, K, start)
    second.native.restart(first.native.beta, first.native.grad)
    assert second.run() == _native.CONVERGED
    assert second.native.iterations == 0
    np.testing.assert_array_equal(second.native.beta, first.native.beta)


def slow(n=LARGE, seed=6):
    """A problem that asks for rows again and again, with a violation that is never small enough."""
    problem, start = draw(n, "sum", seed=seed, C=1e6)
    K = gram(n, seed=seed) - 0.0999 * np.eye(n)
    return Solver(problem, K, start, dtype=np.float32, capacity=64), problem, K


def test_watch_is_told_and_stops():
    solver, problem, K = slow()
    told = []

    def watch(steps, violation):
        told.append((steps, violation))
        return len(told) == 3

    assert solver.run(1e-12, watch=watch) == _native.STOPPED
    assert [s for s, _ in told] == sorted(s for s, _ in told)
    assert told[-1][1] == pytest.approx(solver.native.violation)
    scale = float(np.abs(solver.native.beta).sum())
    np.testing.assert_allclose(solver.native.grad, K @ solver.native.beta + problem.linear, atol=1e-7 * scale)


class BrokenError(Exception):
    pass


@pytest.mark.parametrize("call", [1, 2, 5])
def test_an_exception_of_fetch_leaves_a_solver_that_can_go_on(call):
    """Rows that were not delivered are asked for again."""
    n = 300
    problem, start = draw(n, "sum", seed=9)
    K = gram(n, seed=9)
    solver = Solver(problem, K, start, capacity=30)
    calls = 0

    def fetch(rows, slots):
        nonlocal calls
        calls += 1
        if calls == call:
            solver.rows[slots] = np.nan  # half-done work
            raise BrokenError
        solver.fetch(rows, slots)

    with pytest.raises(BrokenError):
        solver.run(fetch=fetch)
    b = solver.native.beta
    assert b.sum() == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(solver.native.grad, K @ b + problem.linear, atol=1e-10)
    assert solver.run(fetch=fetch) == _native.CONVERGED
    assert_optimal(problem, K, start, solver.native.beta, solver.native.grad, TIGHT)


def test_an_exception_of_watch_leaves_a_solver_that_can_go_on():
    solver, problem, K = slow(600)

    def watch(steps, violation):
        raise BrokenError

    with pytest.raises(BrokenError):
        solver.run(1e-12, watch=watch)
    assert solver.native.beta.sum() == pytest.approx(0.0, abs=1e-9 * np.abs(solver.native.beta).sum())
    before = objective(problem, K, solver.native.beta)
    assert solver.run(1e-12, steps=100) == _native.LIMIT
    assert objective(problem, K, solver.native.beta) <= before


def test_threads_have_solvers_of_their_own():
    problem, start = draw(200, "sum")
    K = gram(200)
    alone = Solver(problem, K, start, capacity=40)
    alone.run()
    solvers = [Solver(problem, K, start, capacity=40) for _ in range(4)]
    threads = [threading.Thread(target=s.run) for s in solvers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for solver in solvers:
        np.testing.assert_array_equal(solver.native.beta, alone.native.beta)


def test_threads_may_change_on_the_way():
    problem, start = draw(LARGE, "sum", C=10.0)
    K = gram(LARGE)
    one, many = (Solver(problem, K, start) for _ in range(2))
    for threads in (3, 1, 2):
        many.native.threads = threads
        assert many.native.threads == threads
        one.run(1e-6, 500)
        many.run(1e-6, 500)
    np.testing.assert_array_equal(one.native.beta, many.native.beta)
