"""Runs a block tile by tile.

The cut into tiles depends on the shape alone, never on the number of threads.  A tile that needs BLAS, whose
last bits change with its number of threads, calls :func:`mercer.engine.pairwise.dot`, which limits it to one:
then the same bits come out on any number of cores.  A tile may be code of the user, which runs without
limits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from mercer.engine.runs import Abandoned, Task, abandoned_by, checkpoint
from mercer.engine.threads import inside_tile, num_threads, user_code
from mercer.errors import MercerError

__all__ = ["PAIRWISE_TILE_SIZE", "TILE_SIZE", "Tile", "collect", "run"]

Array: TypeAlias = npt.NDArray[Any]
Tile: TypeAlias = Callable[[slice, slice], Array]
Job: TypeAlias = Callable[[slice, slice], None]
T = TypeVar("T")

#: Rows and columns of a tile: 2 MiB in float64, about what a core keeps close to itself.
TILE_SIZE = 512

#: The same where values are computed pair by pair, which may take a millisecond for each: progress is seen.
PAIRWISE_TILE_SIZE = 64

#: What progress bars call the computation of kernel values.
TASK = "kernel values"

#: Seconds between two checkpoints of a wait, and that threads have to end after Ctrl-C: a tile takes less.
_POLL_SECONDS = 0.1
_GRACE_SECONDS = 0.5


def run(
    tile: Tile,
    n: int,
    m: int,
    *,
    symmetric: bool = False,
    dtype: npt.DTypeLike = np.float64,
    out: Array | None = None,
    tile_size: int = TILE_SIZE,
    progress: bool | None = None,
) -> Array:
    """Compute an n-by-m block from its tiles.

    Parameters
    ----------
    tile : callable
        ``tile(rows, cols)`` returns the entries of two slices as an array of that shape.  It is called from
        several threads at once.
    n, m : int
        Shape of the block.
    symmetric : bool, default=False
        The block is square and symmetric: only tiles on and below the diagonal are asked for, and the lower
        triangle is mirrored, so that the result is symmetric to the last bit.
    dtype : dtype, default=float64
        Type of the result when `out` is not given.
    out : ndarray of shape (n, m), optional
        Where to write; any strides.
    tile_size : int, default=512
        Rows and columns of a tile.  A block of at most ``tile_size ** 2`` entries is one tile, computed in
        the calling thread with threads of its own.
    progress : bool, optional
        Show a progress bar once the work has taken a second.

    Returns
    -------
    ndarray of shape (n, m)
        `out`, if it was given.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(1000.0)
    >>> K = run(lambda rows, cols: np.minimum.outer(x[rows], x[cols]), 1000, 1000, symmetric=True)
    >>> K.shape, bool(np.all(K == K.T))
    ((1000, 1000), True)
    """
    if out is None:
        out = np.empty((n, m), dtype=dtype)
    if n == 0 or m == 0:
        return out
    if n * m <= tile_size * tile_size:
        with user_code():
            _store(tile, slice(0, n), slice(0, m), symmetric, out)
        return out
    cuts = _cuts(n, m, tile_size, symmetric)
    across, down = -(-m // tile_size), -(-n // tile_size)
    count = down * (down + 1) // 2 if symmetric else down * across
    workers = min(num_threads(), count)
    with user_code(), Task(TASK, count, "tile") if progress else nullcontext() as task:
        _run(lambda rows, cols: _store(tile, rows, cols, symmetric, out), cuts, workers, task)
    return out


def collect(function: Callable[[slice, slice], T], n: int, *, tile_size: int = TILE_SIZE) -> list[T]:
    """What a function gives for each tile on and below the diagonal of an n-by-n block, in a fixed order.

    It is called from several threads at once, each of which is marked as inside a tile.

    Examples
    --------
    >>> collect(lambda rows, cols: (rows.start, cols.start), 4, tile_size=2)
    [(0, 0), (2, 0), (2, 2)]
    """
    cuts = list(_cuts(n, n, tile_size, symmetric=True))
    found: dict[tuple[int, int], T] = {}

    def job(rows: slice, cols: slice) -> None:
        found[rows.start, cols.start] = function(rows, cols)

    _run(job, iter(cuts), min(num_threads(), len(cuts)), None)
    return [found[rows.start, cols.start] for rows, cols in cuts]


def _run(job: Job, cuts: Iterator[tuple[slice, slice]], workers: int, task: Task | None) -> None:
    """Do a job for each tile."""
    if workers > 1:
        _run_threaded(job, cuts, workers, task)
        return
    with inside_tile():
        for rows, cols in cuts:
            job(rows, cols)
            checkpoint()
            if task is not None:
                task.update()


def _run_threaded(job: Job, cuts: Iterator[tuple[slice, slice]], workers: int, task: Task | None) -> None:
    lock = threading.Lock()
    stop, finished = threading.Event(), threading.Event()
    errors: list[BaseException] = []
    working = workers

    def work() -> None:
        nonlocal working
        try:
            with abandoned_by(stop), inside_tile():
                while not stop.is_set():
                    with lock:
                        cut = next(cuts, None)
                    if cut is None:
                        break
                    job(*cut)
                    if task is not None:
                        with lock:
                            task.update()
        except Abandoned:
            pass
        except BaseException as error:
            errors.append(error)
            stop.set()
        finally:
            with lock:
                working -= 1
                if working == 0:
                    finished.set()

    # Plain threads and one event, rather than an executor: an interrupt in the midst of its bookkeeping
    # would leave its locks held, and then nobody gets out.
    threads = [threading.Thread(target=work, name=f"mercer-tile-{w}") for w in range(workers)]
    try:
        for thread in threads:
            thread.start()
        while not finished.wait(_POLL_SECONDS):
            checkpoint()
    except BaseException:
        # Whoever presses Ctrl-C does not want to wait for tiles that take long.
        stop.set()
        finished.wait(_GRACE_SECONDS)
        raise
    for thread in threads:
        thread.join()
    if errors:
        try:
            raise errors[0]
        finally:
            errors.clear()


def _store(tile: Tile, rows: slice, cols: slice, symmetric: bool, out: Array) -> None:
    """Compute one tile and put it where it belongs, and its mirror image too if the block is symmetric."""
    values = tile(rows, cols)
    shape = (rows.stop - rows.start, cols.stop - cols.start)
    if values.shape != shape:
        raise MercerError(
            f"mercer: a tile of shape {shape} was asked for. Got an array of shape {values.shape}."
        )
    if not symmetric:
        out[rows, cols] = values
    elif rows == cols:
        target = out[rows, cols]
        target[...] = values
        np.copyto(target, values.T, where=_above_diagonal(shape[0]), casting="same_kind")
    else:
        out[rows, cols] = values
        out[cols, rows] = values.T


@lru_cache(maxsize=4)
def _above_diagonal(size: int) -> npt.NDArray[np.bool_]:
    mask = ~np.tri(size, dtype=bool)
    mask.flags.writeable = False
    return mask


def _cuts(n: int, m: int, size: int, symmetric: bool) -> Iterator[tuple[slice, slice]]:
    for i in range(0, n, size):
        for j in range(0, min(i + size, m) if symmetric else m, size):
            yield slice(i, min(i + size, n)), slice(j, min(j + size, m))
