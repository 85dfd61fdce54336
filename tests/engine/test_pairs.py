"""Problems put together from blocks, against each of them solved by itself; also run under every ISA."""

import threading

import numpy as np
import pytest

from mercer import _native
from mercer.solvers import BoxProblem, PairSolver
from mercer.solvers.svm.pairs import Blocks

pytestmark = pytest.mark.native

#: Sizes of classes: one point, around a vector and its padding, more than a whole working set.
SIZES = [1, 16, 33, 400, 2]
PAIRS = [(i, j) for i in range(len(SIZES)) for j in range(i + 1, len(SIZES))]


def draw(dtype, seed=0, C=2.0):
    """A Gram matrix whose numbers single precision holds exactly, its blocks, and the problems."""
    n = sum(SIZES)
    X = np.random.default_rng(seed).standard_normal((n, 2))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2)) + 0.1 * np.eye(n)
    K = K.astype(np.float32).astype(dtype)
    ends = np.cumsum(SIZES)
    places = [slice(int(end - size), int(end)) for end, size in zip(ends, SIZES, strict=True)]
    blocks = [
        Blocks(K[places[i], places[i]], K[places[i], places[j]], K[places[j], places[j]]) for i, j in PAIRS
    ]
    y = np.concatenate([np.repeat([1.0, -1.0], [SIZES[i], SIZES[j]]) for i, j in PAIRS])
    return K, places, blocks, pose(y, C)


def pose(y, C, constraint="sum"):
    return BoxProblem(-y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0), constraint=constraint)


def single_problems(problem, blocks):
    cuts = np.cumsum([three.size for three in blocks])[:-1]
    for parts in zip(*(np.split(a, cuts) for a in (problem.linear, problem.low, problem.high)), strict=True):
        yield BoxProblem(*parts, constraint=problem.constraint)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("constraint", ["sum", "free"])
def test_every_problem_is_solved(dtype, constraint):
    K, places, blocks, problem = draw(dtype)
    problem = pose(-problem.linear, 2.0, constraint)
    solutions = PairSolver(1e-4).solve(problem, blocks)
    for (i, j), own, solution in zip(PAIRS, single_problems(problem, blocks), solutions, strict=True):
        index = np.r_[places[i], places[j]]
        part = K[np.ix_(index, index)].astype(np.float64)
        b, f, multipliers = solution.value
        assert solution.converged, solution.status
        assert ((b >= own.low) & (b <= own.high)).all()
        if constraint == "sum":
            assert abs(b.sum()) < 1e-12
        np.testing.assert_allclose(f, part @ b + own.linear, atol=1e-12)
        truth = own.optimality(b, part @ b + own.linear)
        assert truth.violation <= 1e-4
        assert solution.gap == pytest.approx(truth.gap, rel=1e-6, abs=1e-9)
        assert multipliers == pytest.approx(truth.multipliers, abs=1e-9)
        assert solution.stats["cache_dtype"] == np.dtype(dtype).name


def test_a_start_is_where_it_goes_on():
    _, _, blocks, problem = draw(np.float64)
    first = PairSolver(1e-6).solve(problem, blocks)
    start = np.concatenate([solution.value.coefficients for solution in first])
    again = PairSolver(1e-6).solve(problem, blocks, start)
    assert sum(solution.stats["iterations"] for solution in again) == 0
    np.testing.assert_array_equal(np.concatenate([s.value.coefficients for s in again]), start)


@pytest.mark.parametrize("factors", [[0.01, 0.1, 1.0, 10.0, 1000.0], [3.0, 1.0, 0.1]])
def test_boxes_of_other_sizes_are_solved_one_after_the_other(factors):
    _, _, blocks, problem = draw(np.float64)
    along = PairSolver(1e-8).solve_along(problem, factors, blocks)
    for factor, solutions in zip(factors, along, strict=True):
        cold = PairSolver(1e-8).solve(problem.scaled(factor), blocks)
        for found, expected in zip(solutions, cold, strict=True):
            assert found.converged
            assert found.stats["objective"] == pytest.approx(expected.stats["objective"], rel=1e-10)
            np.testing.assert_allclose(found.value.gradient, expected.value.gradient, atol=1e-6)
    easy = PairSolver(1e-8).solve_along(problem, [1e6, 2e6], blocks)[1]  # nothing is at a bound any more
    assert sum(solution.stats["iterations"] for solution in easy) == 0


def test_what_stops_the_first_box_stops_all():
    _, _, blocks, problem = draw(np.float64)
    solver = PairSolver(1e-8, time_budget=0.0)
    for solutions in solver.solve_along(problem, [1.0, 10.0], blocks):
        for solution in solutions:
            assert not solution.converged
            assert solution.gap > 0
            assert solution.stats["iterations"] == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_bits_do_not_depend_on_who_solves_what(dtype, monkeypatch):
    _, _, blocks, problem = draw(dtype)
    results = set()
    for threads in ("1", "2", "3", "7"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        along = PairSolver(1e-3).solve_along(problem, [1.0, 3.0], blocks)
        values = [solution.value for solutions in along for solution in solutions]
        results.add(b"".join(v.coefficients.tobytes() + v.gradient.tobytes() for v in values))
    assert len(results) == 1


def test_rounding_that_may_matter_does_not_count_as_converged():
    K, places, blocks, problem = draw(np.float32, C=1e6)
    tol = 1e-4
    solutions = PairSolver(tol).solve(problem, blocks)
    errors = []
    for (i, j), solution in zip(PAIRS, solutions, strict=True):
        index = np.r_[places[i], places[j]]
        sums = np.abs(K[np.ix_(index, index)].astype(np.float64)) @ np.abs(solution.value.coefficients)
        errors.append(1.1 * 2.0**-24 * sums.max())
        assert solution.converged == (errors[-1] <= 0.1 * tol)
    assert min(errors) < 0.1 * tol < max(errors)


def test_a_limit_of_steps_is_said():
    _, _, blocks, problem = draw(np.float64)
    solutions = PairSolver(1e-9, max_iter=3).solve(problem, blocks)
    assert not all(solution.converged for solution in solutions)
    for solution in solutions:
        assert solution.converged or "limit of max_iter" in solution.status
        assert solution.stats["iterations"] <= 3


def test_whoever_watches_can_stop_it():
    _, _, blocks, problem = draw(np.float64)
    native = _native.Pairs64(
        [tuple(b) for b in blocks], problem.linear, problem.low, problem.high, 0.0, _native.SUM,
        np.zeros(problem.size), np.zeros(problem.size),
    )  # fmt: skip
    native.stop()
    native.work(np.empty(native.buffer_size), 1e-9, 1e-9, 10**9, lambda steps, violation: False)
    endings = {outcome[0] for outcome in native.results()}
    assert endings == {_native.STOPPED}
    assert all(outcome[6] > 0 for outcome in native.results())  # the gap of where it stands


def test_an_error_of_a_callback_comes_through():
    _, _, blocks, problem = draw(np.float64)
    solver = PairSolver(1e-12, callbacks=[lambda report: 1 / 0])
    solver.watch._last = 0.0
    native = _native.Pairs64(
        [tuple(b) for b in blocks], problem.linear, problem.low, problem.high, 0.0, _native.SUM,
        np.zeros(problem.size), np.zeros(problem.size),
    )  # fmt: skip
    errors = []

    def work():
        try:
            threading.Event().wait(0.06)  # longer than the pause between two looks
            native.work(np.empty(native.buffer_size), 1e-12, 1e-12, 10**9, solver.watch)
        except ZeroDivisionError as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(errors) == 1


def test_blocks_that_do_not_fit_are_refused():
    K = np.eye(4)
    y = np.array([1.0, 1.0, -1.0, -1.0])
    zeros = np.zeros(4)

    def make(first, cross, second, b=zeros):
        return _native.Pairs64(
            [(first, cross, second)], -y, zeros, zeros + 1, 0.0, _native.SUM, b, np.zeros(4)
        )

    native = make(K[:2, :2], K[:2, 2:], K[2:, 2:], zeros.copy())
    with pytest.raises(ValueError, match="buffer"):
        native.work(np.empty(3), 1e-3, 1e-3, 10, lambda steps, violation: False)
    for wrong in [(K[:3, :3], K[:2, 2:], K[2:, 2:]), (K[:2, :2], K[:2, 2:], K[2:, 1:])]:
        with pytest.raises(ValueError, match="fit each other"):
            make(*wrong)
    with pytest.raises(ValueError, match="neighbouring"):
        make(K[:2, :2], np.asfortranarray(K[:2, 2:]), K[2:, 2:])
    with pytest.raises(ValueError, match="every variable"):
        make(K[:2, :2], K[:2, 2:], K[2:, 2:], np.zeros(3))
