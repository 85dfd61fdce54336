"""Several two-class problems on one Gram matrix, solved in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...engine.runs import STOPPING, Stopped, joining, progress_bar, until
from ...engine.threads import inside_tile, num_threads, single_threaded_blas
from ...memory import can_hold
from ...solvers import BoxProblem, BoxValue, HeldMatrix, Matrix, PairSolver, Solution
from ...solvers.svm import DOUBLE_TOLERANCE, Blocks, interior_comes_first, pair_iterations
from .base import Fit, Limits, run_of_fit
from .pairwise import class_slices

__all__ = ["Task", "can_pair", "hold", "one_against_one", "one_against_rest", "solve_all", "solve_pairs"]

Vector = NDArray[np.float64]
T = TypeVar("T")

#: Gram matrices up to this size are held in double precision.
DOUBLE_BYTES = 1 << 26

#: Kernel values between classes that one batch of pairs holds.
BATCH = 1 << 24

#: Largest pair of classes that is solved on blocks of K.
MOST_PAIRED = 4096

#: Several problems are refined beyond the tolerance if they have at most this number of points together.
MOST_REFINED = 4096


@dataclass(frozen=True, eq=False)
class Task:
    """A two-class problem: the points ``index`` (of the training points) with the labels +1 and -1."""

    index: NDArray[np.intp]
    y: Vector
    classes: tuple[slice, slice] | None = None  # of a pair: where its classes are


def one_against_one(codes: NDArray[np.intp], count: int) -> list[Task]:
    """Every pair of classes, the first of the two as +1, of points sorted by class."""
    every, classes = np.arange(len(codes)), class_slices(np.bincount(codes, minlength=count))
    return [
        Task(
            np.concatenate([every[a], every[b]]),
            np.repeat([1.0, -1.0], [len(every[a]), len(every[b])]),
            (a, b),
        )
        for a, b in combinations(classes, 2)
    ]


def one_against_rest(codes: NDArray[np.intp], count: int) -> list[Task]:
    """Every class, as +1, against all others."""
    every = np.arange(len(codes))
    return [Task(every, np.where(codes == c, 1.0, -1.0)) for c in range(count)]


def _precision(n: int, tol: float) -> np.dtype[Any]:
    """The precision in which a matrix of this size is held."""
    double = 8 * n * n <= DOUBLE_BYTES or tol < DOUBLE_TOLERANCE
    return np.dtype(np.float64 if double else np.float32)


def _fits(nbytes: float, limits: Limits) -> bool:
    """Whether a matrix of this size may be held."""
    return can_hold(nbytes) if limits.cache_bytes is None else nbytes <= limits.cache_bytes


def hold(matrix: Matrix, limits: Limits) -> Matrix:
    """The matrix with its values in memory, for several problems, if they fit.

    In double precision if it is small or ``tol`` requires it, else in single precision.
    """
    n, dtype = matrix.size, _precision(matrix.size, limits.tol)
    if matrix.is_held or not _fits(dtype.itemsize * n * n, limits):
        return matrix
    features = matrix.features()
    if features is not None and dtype == np.float32 and interior_comes_first(n, int(features.shape[1])):
        return matrix  # an interior point method needs few values
    try:
        with until(run_of_fit().is_over):
            return HeldMatrix(matrix.dense(dtype), source=matrix)
    except Stopped:  # the solver finds the same and reports it
        return matrix


def _in_parallel(work: Callable[[int], T], count: int) -> list[T]:
    """``[work(0), ..., work(count - 1)]``, each on one core; Ctrl-C ends the run, and with it the work."""
    run = run_of_fit()

    def alone(t: int) -> T:
        with inside_tile(), joining(run):
            return work(t)

    with single_threaded_blas(), ThreadPoolExecutor(num_threads()) as pool:
        futures = [pool.submit(alone, t) for t in range(count)]
        while True:
            try:
                return [future.result() for future in futures]
            except KeyboardInterrupt as error:
                if any(future.done() and future.exception() is error for future in futures):
                    raise
                run.conclude(error)


def solve_all(
    tasks: Sequence[Task], matrix: Matrix, limits: Limits, solve: Callable[[int, Matrix, Limits], Fit]
) -> list[Fit]:
    """``solve(number of the task, matrix, limits)`` for every task, in parallel if the matrix is held.

    What stops one of them (a time budget, a callback, an interrupt) stops the run, and so all of them.
    """

    def part(t: int) -> Matrix:
        index = tasks[t].index
        return matrix if len(index) == matrix.size else matrix.select(index)

    if not matrix.is_held:
        return [solve(t, part(t), limits) for t in range(len(tasks))]
    is_cheap = sum(len(task.index) for task in tasks) <= MOST_REFINED
    alone = limits._replace(progress=False, threads=1, refine=is_cheap)
    return _in_parallel(lambda t: solve(t, part(t), alone), len(tasks))


def can_pair(tasks: Sequence[Task]) -> bool:
    """Whether :func:`solve_pairs` applies: many points in all, pairs of classes of moderate size."""
    sizes = [len(task.index) for task in tasks]
    return (
        sum(sizes) > MOST_REFINED
        and max(sizes) <= MOST_PAIRED
        and all(task.classes is not None for task in tasks)
    )


class _PairBlocks:
    """Blocks of K for pairs of classes: views if K is held or small, else computed for each batch."""

    def __init__(self, matrix: Matrix, limits: Limits) -> None:
        self._matrix, self._dtype = matrix, _precision(matrix.size, limits.tol)
        self._K: NDArray[Any] | None = matrix.whole if isinstance(matrix, HeldMatrix) else None
        nbytes = self._dtype.itemsize * matrix.size**2
        if self._K is None and nbytes <= DOUBLE_BYTES and _fits(nbytes, limits):
            self._K = matrix.dense(self._dtype)
        self._squares: dict[int, NDArray[Any]] = {}

    def batches(self, pairs: Sequence[tuple[slice, slice]]) -> list[list[int]]:
        """Numbers of pairs whose blocks are computed together: of one first class, within some memory."""
        if self._K is not None:
            return [list(range(len(pairs)))]
        total = np.cumsum([(a.stop - a.start) * (b.stop - b.start) for a, b in pairs])
        keys = [(pairs[t][0].start, int(total[t]) // BATCH) for t in range(len(pairs))]
        return [list(batch) for _, batch in groupby(range(len(pairs)), keys.__getitem__)]

    def of(self, pairs: Sequence[tuple[slice, slice]]) -> list[Blocks]:
        """The blocks of a batch: a class with its neighbours in one band, and each class with itself."""
        K = self._K
        if K is not None:
            return [Blocks(K[a, a], K[a, b], K[b, b]) for a, b in pairs]
        first, start, stop = pairs[0][0], pairs[0][1].start, pairs[-1][1].stop
        band = self._matrix.block(first, slice(start, stop), self._dtype)
        return [
            Blocks(self._square(a), band[:, b.start - start : b.stop - start], self._square(b))
            for a, b in pairs
        ]

    def _square(self, c: slice) -> NDArray[Any]:
        """A class with itself, kept for the other pairs."""
        if c.start not in self._squares:
            self._squares[c.start] = self._matrix.block(c, c, self._dtype)
        return self._squares[c.start]


def solve_pairs(
    tasks: Sequence[Task],
    matrix: Matrix,
    limits: Limits,
    pose: Callable[[Vector, NDArray[np.intp]], BoxProblem],
    starts: Sequence[Vector] | None = None,
    factors: Sequence[float] = (1.0,),
) -> list[list[Fit]]:
    """Solve the problems of pairs of classes in batches; ``pose(labels, index)`` states one or several.

    Returns a list of fits for each factor of the bounds; each solution is the start for the next factor.  If
    rounding of K to single precision may matter, or an interior point method on known features is faster than
    many more steps, a problem is finished alone, in double precision.
    """
    features, most = matrix.features(), limits.max_iter
    patience = None if features is None else pair_iterations(int(features.shape[1]))
    goes_on = patience is not None and not 0 <= most <= patience
    solver = PairSolver(limits.tol, patience if patience is not None and goes_on else most)
    found: dict[int, tuple[Solution[BoxValue], ...]] = {}
    pairs = [task.classes for task in tasks if task.classes is not None]
    bar = progress_bar(limits.name, len(tasks), "pair")
    try:
        with until(run_of_fit().is_over):
            blocks = _PairBlocks(matrix, limits)
            for batch in blocks.batches(pairs):
                batch_tasks = [tasks[t] for t in batch]
                problem = pose(
                    np.concatenate([task.y for task in batch_tasks]),
                    np.concatenate([task.index for task in batch_tasks]),
                )
                start = None if starts is None else np.concatenate([starts[t] for t in batch])
                solutions = solver.solve_along(problem, factors, blocks.of([pairs[t] for t in batch]), start)
                found.update(zip(batch, zip(*solutions, strict=True), strict=True))
                bar.update(len(batch))
                if solver.watch.reason:
                    break
    except STOPPING as error:
        solver.watch.stop(error)
    finally:
        bar.close()

    def finished(t: int, k: int) -> Fit:
        problem = pose(tasks[t].y, tasks[t].index).scaled(factors[k])
        if t in found:
            solution = found[t][k]
        else:
            solution = solver.untouched(problem, None if starts is None or k > 0 else starts[t])
        steps = 0
        may_go_on = goes_on or solution.stats["cache_dtype"] == "float32"
        if not solution.converged and may_go_on and not solver.watch.reason:
            steps = solution.stats["iterations"]
            part = matrix.select(tasks[t].index)
            solution = limits.solve(problem, part, solution.value.coefficients)
        value = solution.value
        return Fit(value.coefficients, value.multipliers[0] if value.multipliers else 0.0, solution).after(
            steps
        )

    return [[finished(t, k) for t in range(len(tasks))] for k in range(len(factors))]
