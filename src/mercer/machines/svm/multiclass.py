"""Several two-class problems on one Gram matrix, solved side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.runs import INTERRUPTED, STOPPING, Stopped, current_run, joining, progress_bar
from ...engine.single import SingleRows
from ...engine.threads import inside_tile, num_threads, single_threaded_blas
from ...gram import Gram
from ...memory import allows
from ...solvers import (
    BoxProblem,
    BoxValue,
    HeldMatrix,
    LazyMatrix,
    Matrix,
    Solution,
)
from ...solvers.svm import DOUBLE_TOLERANCE, Blocks, Cross, comes_first, patient_steps
from ...solvers.watch import Watch
from .base import Control, Fit, Stop

__all__ = [
    "SharedGram",
    "Task",
    "can_pair",
    "one_against_one",
    "one_against_rest",
    "solve_all",
    "solve_pairs",
]

#: Gram matrices up to this size are held in double precision for all problems together.
DOUBLE_BYTES = 1 << 26

#: Kernel values that a product holds at a time.
BAND = 1 << 23

#: Kernel values that a batch of pairs of classes holds at a time: they are read soon after they are written.
PAIRS_BAND = 1 << 20


@dataclass(frozen=True, eq=False)
class Task:
    """Points ``index`` (of the training points) with the labels +1 and -1.

    If these are the points of two classes that each lie together, ``classes`` says where.
    """

    index: NDArray[np.intp]
    y: NDArray[np.float64]
    classes: tuple[slice, slice] | None = None


def one_against_one(codes: NDArray[np.intp], count: int) -> list[Task]:
    """Every pair of classes, the first of the two as +1."""
    members = [np.flatnonzero(codes == c) for c in range(count)]
    places = [slice(int(m[0]), int(m[-1]) + 1) for m in members]
    together = all(p.stop - p.start == len(m) for p, m in zip(places, members, strict=True))
    return [
        Task(
            np.concatenate([members[i], members[j]]),
            np.repeat([1.0, -1.0], [len(members[i]), len(members[j])]),
            (places[i], places[j]) if together else None,
        )
        for i, j in combinations(range(count), 2)
    ]


def one_against_rest(codes: NDArray[np.intp], count: int) -> list[Task]:
    """Every class, as +1, against all others; for two classes the second against the first."""
    everything = np.arange(len(codes))
    classes = [1] if count == 2 else range(count)
    return [Task(everything, np.where(codes == c, 1.0, -1.0)) for c in classes]


#: Problems of at most so many points are put together from blocks of K.
MOST_PAIRED = 4096

#: Many problems are refined beyond the tolerance only if they have no more points than this together.
MOST_REFINED = 4096


class SharedGram:
    """The Gram matrix of all training points, for one problem after the other.

    Held in full, from the first use on, if several problems use it and it fits: in double precision if it is
    small or ``tol`` asks for that, else in single precision.
    """

    def __init__(self, G: Gram, several: bool, control: Control) -> None:
        self._G, self._control = G, control
        most_bytes, tol = control.cache_bytes, control.tol
        n = len(G)
        double = 8 * n * n <= DOUBLE_BYTES or tol < DOUBLE_TOLERANCE
        self.dtype = np.dtype(np.float64 if double else np.float32)
        self._local = threading.local()  # each thread has memory of its own
        self._squares: dict[int, NDArray[Any]] = {}
        size = self.dtype.itemsize * n * n
        self.is_held = several and (allows(size, 1 / 2) if most_bytes is None else size <= most_bytes)
        vectors = G._embedding()
        #: How many features its values are inner products of, if that is known.
        self.rank: int | None = None if vectors is None else int(vectors.shape[1])
        if self.rank is not None and not double and comes_first(n, self.rank):  # few values are needed
            self.is_held = False

    @cached_property
    def _K(self) -> NDArray[Any] | None:
        if not self.is_held:
            return None
        try:
            with self._control.limited():
                return self._lazy.dense(self.dtype)
        except Stopped:  # whoever goes on will find that out
            self.is_held = False
            return None

    def hold(self) -> None:
        """Compute all of it now, if it may be held: it will be used more than once."""
        _ = self._K

    def roughly(self) -> Matrix:
        """All of it, for steps: about right where that is much quicker, and held if it may be."""
        if not self.is_held:
            return self._lazy
        rough = None if "_K" in self.__dict__ else self._lazy.rough()
        if rough is None or self.dtype != np.float32:
            return self.part(np.arange(len(self._G)))
        try:
            with self._control.limited():
                K = rough.whole()
        except Stopped:
            return self._lazy
        return HeldMatrix(K, source=self._lazy, is_reduced=True)

    @property
    def is_quick(self) -> bool:
        """Whether compiled code computes the values, without the interpreter."""
        return self._G._is_compiled

    @property
    def is_small(self) -> bool:
        """Whether all of it costs little memory."""
        return self.dtype.itemsize * len(self._G) ** 2 <= DOUBLE_BYTES

    @cached_property
    def _lazy(self) -> LazyMatrix:
        return LazyMatrix(self._G)

    def lazy(self, index: NDArray[np.intp]) -> LazyMatrix:
        """Rows and columns of some points, computed when they are needed."""
        everything = np.array_equal(index, np.arange(len(self._G)))
        return self._lazy if everything else self._lazy.select(index)

    def part(self, index: NDArray[np.intp]) -> Matrix:
        """Rows and columns of some points; they cost no more than a copy if all of K is held."""
        if self._K is None:
            return self.lazy(index)
        everything = np.array_equal(index, np.arange(len(self._G)))
        return HeldMatrix(self._K, None if everything else index, self._lazy)

    @property
    def _is_whole(self) -> bool:
        """Whether blocks are views of all of K: it is there already, or costs little memory."""
        return self.is_held and (self.is_small or "_K" in self.__dict__)

    def batches(self, pairs: Sequence[tuple[slice, slice]]) -> list[list[int]]:
        """Numbers of pairs of classes whose blocks are worth having at a time."""
        if self._is_whole:
            return [list(range(len(pairs)))]
        return list(self._bands(pairs))

    def blocks(self, pairs: Sequence[tuple[slice, slice]]) -> list[Blocks]:
        """Blocks of K for the pairs of a batch, valid until the same thread asks for others.

        The blocks of a pair are computed once, those of a class with itself are kept.  Between classes, only
        the rows of points near the boundary are needed: if they can come one by one, they do.
        """
        if self._is_whole:
            K = self._K
            if K is None:  # there was no time for it
                raise Stopped
            return [Blocks(K[a, a], K[a, b], K[b, b]) for a, b in pairs]
        if (single := self._single_rows) is not None:
            return [
                Blocks(self._own(a), Cross(single.native, a.start, b.start), self._own(b)) for a, b in pairs
            ]
        rows, start, stop = pairs[0][0], pairs[0][1].start, pairs[-1][1].stop
        band = self._room(rows.stop - rows.start, stop - start)
        self._rounded._fill(rows, band, slice(start, stop))
        return [
            Blocks(self._own(first), band[:, second.start - start : second.stop - start], self._own(second))
            for first, second in pairs
        ]

    @cached_property
    def _single_rows(self) -> SingleRows | None:
        return self._G._single_rows() if self.dtype == np.float32 else None

    @property
    def _rounded(self) -> Gram:
        return self._G._in_single() if self.dtype == np.float32 else self._G._in_double()

    def _own(self, place: slice) -> NDArray[Any]:
        """Values of a class with itself; two threads may compute them, and get the same."""
        if place.start not in self._squares:
            self._squares[place.start] = np.asarray(self._rounded._values(place, place), dtype=self.dtype)
        return self._squares[place.start]

    def _bands(self, pairs: Sequence[tuple[slice, slice]]) -> Iterator[list[int]]:
        """Pairs with the same first class, whose second classes are neighbours, in bands of limited size."""
        band: list[int] = []
        for t, (first, second) in enumerate(pairs):
            if band:
                start, end = pairs[band[0]], pairs[band[-1]]
                size = (first.stop - first.start) * (second.stop - start[1].start)
                if first != start[0] or second.start != end[1].stop or size > PAIRS_BAND:
                    yield band
                    band = []
            band.append(t)
        if band:
            yield band

    def _room(self, height: int, width: int) -> NDArray[Any]:
        """Memory for a band, used again and again: new memory costs as much as computing what goes there."""
        band: NDArray[Any] | None = getattr(self._local, "band", None)
        if band is None or band.size < height * width:
            self._local.band = band = np.empty(height * width, self.dtype)
        return band[: height * width].reshape(height, width)

    def product(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], V: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """``K[rows, columns] @ V`` in double precision, a band of rows at a time."""
        result = np.zeros((len(rows), V.shape[1]))
        height = max(BAND // max(len(columns), 1), 1)
        with single_threaded_blas(), self._control.limited():
            for start in range(0, len(rows), height):
                band = slice(start, start + height)
                result[band] = self._block(rows[band], columns) @ V
        return result

    def _block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        if self.dtype == np.float64 and self._K is not None:
            return np.asarray(self._K[np.ix_(rows, columns)])
        return np.asarray(self._G._in_double().block(rows, columns), dtype=np.float64)


def solve_all(
    tasks: Sequence[Task],
    shared: SharedGram,
    control: Control,
    solve: Callable[[int, Matrix, Control], Fit],
) -> list[Fit]:
    """``solve(number of the task, matrix, control)`` for every task, on all cores.

    What stops one of them (a time budget, a callback, an interrupt) stops all.
    """
    stop = Stop()

    def work(t: int, limits: Control) -> Fit:
        fit = solve(t, shared.part(tasks[t].index), limits)
        stop.reason = stop.reason or fit.solution.stats["reason"]
        return fit

    if len(tasks) > 1:
        shared.hold()  # here, where it can be stopped
    if len(tasks) == 1 or not shared.is_held:
        watched = control.until(stop)
        return [work(t, watched) for t in range(len(tasks))]
    is_cheap = sum(len(task.index) for task in tasks) <= MOST_REFINED
    alone = control.until(stop).alone(refine=is_cheap)

    def work_alone(t: int) -> Fit:
        with inside_tile(), joining(control.run):
            return work(t, alone)

    with single_threaded_blas(), ThreadPoolExecutor(num_threads()) as pool:
        futures = [pool.submit(work_alone, t) for t in range(len(tasks))]
        while True:
            try:
                return [future.result() for future in futures]
            except KeyboardInterrupt as error:
                if any(future.done() and future.exception() is error for future in futures):
                    raise
                stop.reason = INTERRUPTED
                control.run.conclude(error)


def _side_by_side(work: Callable[[list[int]], None], batches: Sequence[list[int]], watch: Watch) -> None:
    """Work on batches, each on one core."""
    run = current_run()

    def work_alone(numbers: list[int]) -> None:
        with inside_tile(), joining(run):
            work(numbers)

    with ThreadPoolExecutor(num_threads()) as pool:
        futures = [pool.submit(work_alone, numbers) for numbers in batches]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt as error:
            watch.stop(error)
        if any(future.done() and future.exception() for future in futures):
            watch.reason = INTERRUPTED  # what is left would be in vain
    for future in futures:
        future.result()


def can_pair(tasks: Sequence[Task]) -> bool:
    """Whether the problems are many, each on two classes of moderate size: see :func:`solve_pairs`."""
    sizes = [len(task.index) for task in tasks]
    return (
        len(tasks) > 1
        and sum(sizes) > MOST_REFINED
        and max(sizes) <= MOST_PAIRED
        and all(task.classes is not None for task in tasks)
    )


def solve_pairs(
    tasks: Sequence[Task],
    shared: SharedGram,
    control: Control,
    pose: Callable[[NDArray[np.float64], NDArray[np.intp]], BoxProblem],
    starts: Sequence[NDArray[np.float64]] | None,
    factors: Sequence[float] = (1.0,),
) -> list[list[Fit]]:
    """Solve problems on pairs of classes in batches; ``pose(labels, index)`` states one, or several at once.

    For every factor of the bounds, in an order in which each solution is a good start for the next, there is
    a list of fits.  Where rounding of K to single precision might matter, or a low rank promises to take less
    time than many more steps, a problem is finished by itself.
    """
    patience = None if shared.rank is None else patient_steps(shared.rank)
    solver = control.pairs(patience)
    goes_on = patience is not None and not 0 <= control.max_iter <= patience
    found: dict[int, tuple[Solution[BoxValue], ...]] = {}
    pairs = [task.classes for task in tasks if task.classes is not None]
    bar = progress_bar(control.name, len(tasks), "pair")

    def work(numbers: list[int]) -> None:
        if solver.watch.reason:
            return
        batch = [tasks[t] for t in numbers]
        problem = pose(np.concatenate([t.y for t in batch]), np.concatenate([t.index for t in batch]))
        start = None if starts is None else np.concatenate([starts[t] for t in numbers])
        blocks = shared.blocks([pairs[t] for t in numbers])
        solutions = solver.solve_along(problem, factors, blocks, start)
        found.update(zip(numbers, zip(*solutions, strict=True), strict=True))
        bar.update(len(numbers))

    batches = shared.batches(pairs)
    try:
        if shared.is_quick and len(batches) > 1:
            _side_by_side(work, batches, solver.watch)
        else:  # what computes a batch finds all cores by itself
            with control.limited():
                for numbers in batches:
                    work(numbers)
    except STOPPING as error:
        solver.watch.stop(error)
    finally:
        bar.close()

    def posed(t: int, k: int) -> BoxProblem:
        return pose(tasks[t].y, tasks[t].index).scaled(factors[k])

    def finished(t: int, k: int) -> Fit:
        start = None if starts is None or k > 0 else starts[t]
        solution = found[t][k] if t in found else solver.untouched(posed(t, k), start)
        may_go_on = goes_on or solution.stats["cache_dtype"] == "float32"
        if not solution.converged and may_go_on and not solver.watch.reason:
            start, steps = solution.value.coefficients, solution.stats["iterations"]
            last = control.solve(posed(t, k), shared.lazy(tasks[t].index), start)
            solution = replace(last, stats={**last.stats, "iterations": steps + last.stats["iterations"]})
        return Fit(solution.value.coefficients, (*solution.value.offsets, 0.0)[0], solution)

    return [[finished(t, k) for t in range(len(tasks))] for k in range(len(factors))]
