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
from ...solvers.svm import Blocks, policy
from .base import Fit, Limits, run_of_fit
from .pairwise import class_slices

__all__ = ["Task", "can_pair", "hold", "one_against_one", "one_against_rest", "solve_all", "solve_pairs"]

Vector = NDArray[np.float64]
T = TypeVar("T")


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


def _fits(nbytes: float, limits: Limits) -> bool:
    """Whether a matrix of this size may be held."""
    return can_hold(nbytes) if limits.cache_bytes is None else nbytes <= limits.cache_bytes


def hold(matrix: Matrix, limits: Limits) -> Matrix:
    """The matrix with its values in memory, for several problems, if they fit.

    In double precision if it is small or ``tol`` requires it, else in single precision.
    """
    n, dtype = matrix.size, policy.shared_dtype(matrix.size, limits.tol)
    if matrix.is_held or not _fits(dtype.itemsize * n * n, limits):
        return matrix
    features = matrix.features() if dtype == np.float32 else None
    if features is not None and policy.interior_comes_first(n, int(features.shape[1])):
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
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


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
    is_cheap = policy.are_refined([len(task.index) for task in tasks])
    alone = limits._replace(progress=False, threads=1, refine=is_cheap)
    return _in_parallel(lambda t: solve(t, part(t), alone), len(tasks))


def can_pair(tasks: Sequence[Task]) -> bool:
    """Whether :func:`solve_pairs` applies: many points in all, pairs of classes of moderate size."""
    sizes = [len(task.index) for task in tasks]
    return policy.are_batched(sizes) and all(task.classes is not None for task in tasks)


class _PairBlocks:
    """Blocks of K for pairs of classes: views if K is held or small, else computed for each batch."""

    def __init__(self, matrix: Matrix, limits: Limits, pairs: Sequence[tuple[slice, slice]]) -> None:
        self._matrix, self._dtype = matrix, policy.shared_dtype(matrix.size, limits.tol)
        self._K: NDArray[Any] | None = matrix.whole if isinstance(matrix, HeldMatrix) else None
        nbytes = self._dtype.itemsize * matrix.size**2
        if self._K is None and nbytes <= policy.SHARED_BYTES and _fits(nbytes, limits):
            self._K = matrix.dense(self._dtype)
        self.batches = self._batches(pairs)
        classes = sorted({c.start: c for pair in pairs for c in pair}.items()) if self._K is None else []
        squares = self.each(lambda k: self._block(classes[k][1], classes[k][1]), len(classes))
        self._squares = {start: square for (start, _), square in zip(classes, squares, strict=True)}

    def _batches(self, pairs: Sequence[tuple[slice, slice]]) -> list[list[int]]:
        """Numbers of pairs whose blocks are computed together: of one first class, within some memory."""
        if self._K is not None:
            return [list(range(len(pairs)))]
        each = self._dtype.itemsize
        total = np.cumsum([each * (a.stop - a.start) * (b.stop - b.start) for a, b in pairs])
        keys = [(pairs[t][0].start, int(total[t]) // policy.SHARED_BYTES) for t in range(len(pairs))]
        return [list(batch) for _, batch in groupby(range(len(pairs)), keys.__getitem__)]

    def each(self, work: Callable[[int], T], count: int) -> list[T]:
        """``work`` for every number, each on one core; on all cores if K is there, or comes from workers."""
        if self._K is None and np.isfinite(self._matrix.cost):
            return _in_parallel(work, count)
        return [work(k) for k in range(count)]

    def of(self, pairs: Sequence[tuple[slice, slice]]) -> list[Blocks]:
        """The blocks of a batch: a class with its neighbours in one band, and each class with itself."""
        K, squares = self._K, self._squares
        if K is not None:
            return [Blocks(K[a, a], K[a, b], K[b, b]) for a, b in pairs]
        start = pairs[0][1].start
        band = self._block(pairs[0][0], slice(start, pairs[-1][1].stop))
        return [
            Blocks(squares[a.start], band[:, b.start - start : b.stop - start], squares[b.start])
            for a, b in pairs
        ]

    def _block(self, rows: slice, cols: slice) -> NDArray[Any]:
        with until(run_of_fit().is_over):
            return self._matrix.block(rows, cols, self._dtype)


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
    patience = None if features is None else policy.pair_iterations(int(features.shape[1]))
    goes_on = patience is not None and not 0 <= most <= patience
    solver = PairSolver(limits.tol, patience if patience is not None and goes_on else most)
    found: dict[int, tuple[Solution[BoxValue], ...]] = {}
    pairs = [task.classes for task in tasks if task.classes is not None]
    bar = progress_bar(limits.name, len(tasks), "pair")

    def work(batch: Sequence[int]) -> None:
        """Compute the blocks of a batch and solve its problems."""
        if solver.watch.reason:
            return
        problem = pose(
            np.concatenate([tasks[t].y for t in batch]), np.concatenate([tasks[t].index for t in batch])
        )
        start = None if starts is None else np.concatenate([starts[t] for t in batch])
        try:
            solutions = solver.solve_along(problem, factors, blocks.of([pairs[t] for t in batch]), start)
        except STOPPING as error:
            solver.watch.stop(error)
            return
        found.update(zip(batch, zip(*solutions, strict=True), strict=True))
        if bar is not None:
            bar.update(len(batch))

    try:
        with until(run_of_fit().is_over):
            blocks = _PairBlocks(matrix, limits, pairs)
        blocks.each(lambda k: work(blocks.batches[k]), len(blocks.batches))
    except STOPPING as error:
        solver.watch.stop(error)
    finally:
        if bar is not None:
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
