"""Runs a Python function of two points over all pairs, in worker processes where that is worth it.

Threads do not help a function that holds the interpreter's lock.  A block begins in the calling process; when
half a second has gone and the rest would take two seconds more, the rest goes to processes.  These stay for
the next block, which then need not wait so long.  Points go to them once, in a file that all map into memory;
values come back in pieces of a fifth of a second, so that Ctrl-C, errors and the progress bar are never far.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import mmap
import multiprocessing
import os
import queue
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from mercer.engine.runs import Task, checkpoint
from mercer.engine.threads import num_threads
from mercer.errors import ParameterError, WorkerError

__all__ = ["block", "located", "mark", "num_workers"]

Function: TypeAlias = Callable[[Any, Any], float]

#: Seconds that a block runs in the calling process, and that its rest must take to be worth processes:
#: when these have to be started first, and when they are there.
COLD, WARM = (0.5, 2.0), (0.05, 0.3)

#: Seconds of one piece of work, and after which an idle process ends.
PIECE_SECONDS, IDLE_SECONDS = 0.2, 300

#: Seconds between two checkpoints of a wait: half of a piece of work.
_POLL_SECONDS = 0.1
_LOOK_SECONDS = 0.01


def num_workers() -> int:
    """Number of processes: ``MERCER_NUM_THREADS``, else one per core; 1 inside of any worker process."""
    if multiprocessing.parent_process() is not None:
        return 1
    text = os.environ.get("MERCER_NUM_THREADS")
    if text is None:
        import joblib

        return int(joblib.cpu_count())
    if text.strip().isdigit() and int(text) > 0:  # a tile, where num_threads() is 1, may still use processes
        return int(text)
    num_threads()
    raise ParameterError(f"mercer: MERCER_NUM_THREADS must be an integer of at least 1. Got {text!r}.")


def block(function: Function, rows: Any, columns: Any = None) -> np.ndarray:
    """Matrix of ``function(rows[i], columns[j])``; without columns, of the rows alone, each pair once.

    An exception of the function comes out as it is, with a note that names the pair.

    Examples
    --------
    >>> block(lambda x, y: x * y, [1, 2, 3])
    array([[1., 2., 3.],
           [2., 4., 6.],
           [3., 6., 9.]])
    """
    n, m = len(rows), len(rows if columns is None else columns)
    total = n * (n + 1) // 2 if columns is None else n * m
    values = np.empty(total)
    done = _here(function, rows, columns, values, 0, patient=False)
    if done < total and not _there(function, rows, columns, values, done):
        _here(function, rows, columns, values, done, patient=True)
    if columns is not None:
        return values.reshape(n, m)
    K = np.empty((n, n))
    for i in range(n):
        K[i, : i + 1] = K[: i + 1, i] = values[i * (i + 1) // 2 :][: i + 1]
    return K


def _pair(number: int, width: int | None) -> tuple[int, int]:
    """Row and column of a pair, numbered row by row; of a symmetric block only the lower triangle counts."""
    if width is not None:
        return divmod(number, width)
    i = (math.isqrt(8 * number + 1) - 1) // 2
    return i, number - i * (i + 1) // 2


def _pairs(start: int, stop: int, width: int | None) -> Iterator[tuple[int, int]]:
    if start >= stop:
        return
    i, j = _pair(start, width)
    for _ in range(start, stop):
        yield i, j
        j += 1
        if j == (i + 1 if width is None else width):
            i, j = i + 1, 0


def _here(function: Function, rows: Any, columns: Any, values: np.ndarray, start: int, patient: bool) -> int:
    """Compute pairs in this process, until done or (if not patient) until processes are worth it."""
    others, width = (rows, None) if columns is None else (columns, len(columns))
    total, began, number, piece = len(values), time.perf_counter(), start, 1
    patience, worth = WARM if _pool is not None else COLD
    bar = _Bar(total, start) if patient else None
    try:
        while number < total:
            stop = min(number + piece, total)
            before = time.perf_counter()
            i = j = 0
            try:
                for t, (i, j) in enumerate(_pairs(number, stop, width), number):
                    values[t] = function(rows[i], others[j])
            except Exception as error:
                mark(error, i, j, columns is None)
                raise
            checkpoint()
            if bar is not None:
                bar.update(stop - number)
            number, now = stop, time.perf_counter()
            piece = max(1, min(4 * piece, int(piece * _LOOK_SECONDS / max(now - before, 1e-9))))
            if not patient and now - began > patience:
                rest = (now - began) / number * (total - number)
                if rest > worth and num_workers() > 1:
                    return number
                bar = bar or _Bar(total, number)
    finally:
        if bar is not None:
            bar.close()
    return number


# -- the calling process ------------------------------------------------------------------------
_pool: Any = None
_pool_size = 0
_lock = threading.Lock()


def _executor(size: int) -> Any:
    """The processes, started if there are none."""
    global _pool, _pool_size
    from joblib.externals.loky import ProcessPoolExecutor

    with _lock:
        if _pool is None or _pool_size != size:
            if _pool is not None:
                _pool.shutdown(wait=False)
            _pool = ProcessPoolExecutor(size, timeout=IDLE_SECONDS, initializer=_begin)
            _pool_size = size
            atexit.unregister(_stop_all)
            atexit.register(_stop_all)
        return _pool


def _stop(pool: Any) -> None:
    """End the processes at once, whatever they are doing."""
    global _pool
    with _lock:
        if _pool is pool:
            _pool = None
    _drop_queued(pool)
    pool.shutdown(wait=False, kill_workers=True)


def _drop_queued(pool: Any) -> None:
    """Take back what no process has been given yet.

    The thread of the executor that kills the processes fails on work that is cancelled or still queued.  They
    would then live on, and the interpreter would wait for them at its end, as long as a value may take.
    """
    with contextlib.suppress(queue.Empty):
        while True:
            work = pool._pending_work_items.pop(pool._work_ids.get_nowait(), None)
            if work is not None and work.future.set_running_or_notify_cancel():
                work.future.set_exception(WorkerError("the worker processes were stopped from elsewhere."))


def _stop_all() -> None:
    if _pool is not None:
        _stop(_pool)


def _there(function: Function, rows: Any, columns: Any, values: np.ndarray, start: int) -> bool:
    """Compute the remaining pairs in processes; return False if the function cannot go there."""
    from joblib.externals.loky import FIRST_COMPLETED, BrokenProcessPool, wait

    size, total = num_workers(), len(values)
    width = None if columns is None else len(columns)
    try:
        parcel = _Parcel((function, rows, columns))
    except Exception as error:
        _warn(function, f"{type(error).__name__}: {error}")
        return False
    pending: dict[Any, tuple[int, int]] = {}
    pool, piece, bar = _executor(size), 1, _Bar(total, start)
    try:
        while start < total or pending:
            while start < total and len(pending) < 2 * size:
                stop = min(start + piece, total)
                pending[pool.submit(_compute, parcel.ticket, start, stop, width)] = (start, stop)
                start = stop
            checkpoint()
            for future in wait(pending, _POLL_SECONDS, FIRST_COMPLETED).done:
                a, b = pending.pop(future)
                result, seconds = future.result()
                if isinstance(result, np.ndarray):
                    values[a:b] = result
                    bar.update(b - a)
                    fitting = int((b - a) * PIECE_SECONDS / max(seconds, 1e-6))
                    piece = max(1, min(fitting, 4 * piece, -(-(total - start) // (2 * size))))
                    continue
                number, failure, report = result
                if number < 0:  # it could not be unpacked
                    _warn(function, report)
                    return False
                failure.add_note(report)
                mark(failure, *_pair(number, width), columns is None)
                raise failure
    except BrokenProcessPool as error:
        _stop(pool)
        raise WorkerError(
            "a worker process died while it computed kernel values: the function crashed it, or the "
            "system ended it for want of memory. MERCER_NUM_THREADS=1 computes in this process."
        ) from error
    except BaseException as error:
        if not isinstance(error, Exception):  # Ctrl-C: whoever presses it does not want to wait
            _stop(pool)
        raise
    finally:
        for future in pending:
            future.cancel()
        bar.close()
        parcel.close()
    return True


def _warn(function: Any, reason: str) -> None:
    warnings.warn(
        f"mercer: {function!r} cannot be sent to worker processes ({reason}), so it is computed in this one.",
        RuntimeWarning,
        stacklevel=4,
    )


class _Parcel:
    """A pickled object in a file, its arrays behind it, so that all processes share them in memory."""

    def __init__(self, contents: Any) -> None:
        buffers: list[Any] = []
        head = _dumps(contents, buffers.append)
        views = [memoryview(head), *(buffer.raw() for buffer in buffers)]
        handle, self.path = tempfile.mkstemp(prefix="mercer-", suffix=".points")
        self.ticket: tuple[str, list[tuple[int, int]]] = (self.path, [])
        try:
            with open(handle, "wb") as file:
                for view in views:
                    file.write(bytes(-file.tell() % 64))
                    self.ticket[1].append((file.tell(), view.nbytes))
                    file.write(view)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove the file; processes that have it mapped keep it as long as they need."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)


def _dumps(contents: Any, keep: Callable[[Any], Any]) -> bytes:
    """Pickle functions by value where their name does not lead to them: lambdas, decorated, ``__main__``."""
    import io

    from cloudpickle import Pickler

    class ByValue(Pickler):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            by_value = getattr(type(obj), "_reduce_by_value", None)
            return super().reducer_override(obj) if by_value is None else by_value(obj)

    file = io.BytesIO()
    ByValue(file, protocol=5, buffer_callback=lambda buffer: bool(keep(buffer))).dump(contents)
    return file.getvalue()


# -- a worker process ---------------------------------------------------------------------------
_unpacked: tuple[str, Any] | None = None


def _begin() -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the calling process, which will end this one
    os.environ["MERCER_NUM_THREADS"] = "1"


def _compute(ticket: tuple[str, list[tuple[int, int]]], start: int, stop: int, width: int | None) -> Any:
    """Values of a range of pairs, or (pair, error, report); and the seconds that it took."""
    global _unpacked
    import pickle

    began = time.perf_counter()
    number = -1
    try:
        if _unpacked is None or _unpacked[0] != ticket[0]:
            _unpacked = None
            with open(ticket[0], "rb") as file:
                data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            views = [data[a : a + length] for a, length in ticket[1]]
            _unpacked = (ticket[0], pickle.loads(views[0], buffers=views[1:]))
        function, rows, columns = _unpacked[1]
        others = rows if columns is None else columns
        values = np.empty(stop - start)
        for number, (i, j) in enumerate(_pairs(start, stop, width), start):
            values[number - start] = function(rows[i], others[j])
        return values, time.perf_counter() - began
    except Exception as error:
        report = f"in a worker process:\n{traceback.format_exc()}" if number >= 0 else repr(error)
        return (number, _sendable(error), report), 0.0


def _sendable(error: Exception) -> Exception:
    import pickle

    error.__traceback__ = None
    try:
        copy = pickle.loads(pickle.dumps(error))
    except Exception:
        copy = None
    return error if type(copy) is type(error) else WorkerError(f"{type(error).__qualname__}: {error}")


# -- which pair, and how far --------------------------------------------------------------------
def mark(error: BaseException, i: int, j: int, symmetric: bool) -> None:
    """Note on an exception which pair of points it came from."""
    notes = getattr(error, "__notes__", [])
    old = getattr(error, "_mercer_pair", None)
    if old is not None and old[2] in notes:
        notes.remove(old[2])
    note = f"at the pair (X[{i}], {'X' if symmetric else 'Y'}[{j}])"
    error.add_note(note)
    with contextlib.suppress(AttributeError):  # exceptions with slots
        error._mercer_pair = (i, j, note)  # type: ignore[attr-defined]


@contextlib.contextmanager
def located(rows: Any, columns: Any, symmetric: bool) -> Iterator[None]:
    """Correct the pair that an exception names: its indices are those of a selection of rows and columns."""
    try:
        yield
    except Exception as error:
        pair = getattr(error, "_mercer_pair", None)
        if pair is not None:
            i, j = (
                s.start + p if isinstance(s, slice) else int(s[p])
                for s, p in zip((rows, columns), pair, strict=False)
            )
            mark(error, i, j, symmetric)
        raise


_showing = threading.Lock()


class _Bar:
    """A progress bar that appears after a second, if no other one is there."""

    def __init__(self, total: int, done: int) -> None:
        self.task: Task | None = None
        if _showing.acquire(blocking=False):
            self.task = Task("kernel values", total, "pair", done).__enter__()

    def update(self, count: int) -> None:
        if self.task is not None:
            self.task.update(count)

    def close(self) -> None:
        if self.task is not None:
            self.task.__exit__()
            self.task = None
            _showing.release()
