"""Several two-class problems on one Gram matrix, solved side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...engine.threads import inside_tile, num_threads, single_threaded_blas
from ...gram import Gram
from ...memory import memory_limit
from ...solvers import DenseMatrix, GramMatrix, SymmetricMatrix
from ...solvers.decomposition import DOUBLE_TOLERANCE
from .base import Control, Fit

__all__ = ["SharedGram", "Task", "one_against_one", "one_against_rest", "solve_all"]

#: Gram matrices up to this size are held in double precision for all problems together.
DOUBLE_BYTES = 1 << 26

#: Kernel values that a product holds at a time.
BAND = 1 << 23


@dataclass(frozen=True, eq=False)
class Task:
    """Points ``index`` (of the training points) with the labels +1 and -1."""

    index: NDArray[np.intp]
    y: NDArray[np.float64]


def one_against_one(codes: NDArray[np.intp], count: int) -> list[Task]:
    """Every pair of classes, the first of the two as +1."""
    members = [np.flatnonzero(codes == c) for c in range(count)]
    return [
        Task(
            np.concatenate([members[i], members[j]]),
            np.repeat([1.0, -1.0], [len(members[i]), len(members[j])]),
        )
        for i, j in combinations(range(count), 2)
    ]


def one_against_rest(codes: NDArray[np.intp], count: int) -> list[Task]:
    """Every class, as +1, against all others; for two classes the second against the first."""
    everything = np.arange(len(codes))
    classes = [1] if count == 2 else range(count)
    return [Task(everything, np.where(codes == c, 1.0, -1.0)) for c in classes]


#: Many problems are refined beyond the tolerance only if they have no more points than this together.
MOST_REFINED = 4096


class SharedGram:
    """The Gram matrix of all training points, for one problem after the other.

    Held in full if several problems use it and it fits: in double precision if it is small or ``tol`` asks
    for that, else in single precision.
    """

    def __init__(self, G: Gram, several: bool, most_bytes: float | None, tol: float) -> None:
        self._G = G
        n = len(G)
        double = 8 * n * n <= DOUBLE_BYTES or tol < DOUBLE_TOLERANCE
        fits = (8 if double else 4) * n * n <= (memory_limit() / 2 if most_bytes is None else most_bytes)
        self._K = GramMatrix(G).dense(np.float64 if double else np.float32) if several and fits else None

    @property
    def is_held(self) -> bool:
        """Whether parts of it cost nothing but a copy."""
        return self._K is not None

    def part(self, index: NDArray[np.intp]) -> SymmetricMatrix:
        """Rows and columns of some points."""
        everything = len(index) == len(self._G) and np.array_equal(index, np.arange(len(index)))

        def lazy() -> GramMatrix:
            return GramMatrix(self._G if everything else self._G.select(index))

        if self._K is None:
            return lazy()
        single = self._K.dtype == np.float32
        return DenseMatrix(self._K, None if everything else index, lazy if single else None)

    def product(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], V: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """``K[rows, columns] @ V`` in double precision, a band of rows at a time."""
        result = np.zeros((len(rows), V.shape[1]))
        height = max(BAND // max(len(columns), 1), 1)
        with single_threaded_blas():
            for start in range(0, len(rows), height):
                band = slice(start, start + height)
                result[band] = self._block(rows[band], columns) @ V
        return result

    def _block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        if self._K is not None and self._K.dtype == np.float64:
            return np.asarray(self._K[np.ix_(rows, columns)])
        return np.asarray(self._G._in_double().block(rows, columns), dtype=np.float64)


def solve_all(
    tasks: Sequence[Task],
    shared: SharedGram,
    control: Control,
    solve: Callable[[int, SymmetricMatrix, Control], Fit],
) -> list[Fit]:
    """``solve(number of the task, matrix, control)`` for every task, on all cores.

    What stops one of them (a time budget, a callback, an interrupt) stops all.
    """
    stop = threading.Event()

    def work(t: int, limits: Control) -> Fit:
        fit = solve(t, shared.part(tasks[t].index), limits)
        if fit.solution.stats["stopped"]:
            stop.set()
        return fit

    if len(tasks) == 1 or not shared.is_held:
        watched = control.until(stop.is_set)
        return [work(t, watched) for t in range(len(tasks))]
    is_cheap = sum(len(task.index) for task in tasks) <= MOST_REFINED
    alone = control.until(stop.is_set).alone(refine=is_cheap)

    def work_alone(t: int) -> Fit:
        with inside_tile():
            return work(t, alone)

    with single_threaded_blas(), ThreadPoolExecutor(num_threads()) as pool:
        futures = [pool.submit(work_alone, t) for t in range(len(tasks))]
        while True:
            try:
                return [future.result() for future in futures]
            except KeyboardInterrupt:
                stop.set()
