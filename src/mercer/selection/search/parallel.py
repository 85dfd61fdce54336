"""Work of a search side by side in threads, which share the kernel values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

import sklearn

from ...engine.runs import Abandoned, Task, abandoned_by, checkpoint, current_run, joining, tracked, until
from ...engine.threads import inside_tile, num_threads, single_threaded_blas
from ...parameters import check_count

__all__ = ["for_each", "workers_of"]

T = TypeVar("T")


def workers_of(n_jobs: Any, caller: str) -> int:
    """The number of threads that ``n_jobs`` stands for."""
    wanted = "a number of threads >= 1, or None or -1 for all"
    count = check_count(caller, "n_jobs", n_jobs, wanted, unless=(None, -1))
    return num_threads() if count in (None, -1) else int(count)


def for_each(work: Callable[[T], None], tasks: Sequence[T], workers: int, name: str, unit: str) -> None:
    """``work(task)`` for all tasks; the first error, or what ends the run, ends the others.

    Parameters
    ----------
    work : callable
        With one worker it may use all threads of the engine, else one.
    tasks : sequence
    workers : int
    name, unit : str
        For progress bars and callbacks: what the tasks belong to, and what one is.
    """
    if min(workers, len(tasks)) <= 1:
        for task in tracked(tasks, name, unit):
            work(task)
        return
    run, stop, config = current_run(), threading.Event(), sklearn.get_config()
    assert run is not None
    run.callbacks = [*run.callbacks, lambda progress: stop.is_set()]  # ends fits in other threads

    errors: list[BaseException] = []

    def alone(task: T) -> None:
        try:
            with joining(run), until(run.poll), abandoned_by(stop), sklearn.config_context(**config):
                checkpoint()
                with inside_tile():
                    work(task)
        except Abandoned:
            raise
        except BaseException as error:
            errors.append(error)
            stop.set()  # here, as other threads go on until this one's error has been read
            raise

    with (
        Task(name, len(tasks), unit) as progress,
        single_threaded_blas(),
        ThreadPoolExecutor(workers) as pool,
    ):
        futures = [pool.submit(alone, task) for task in tasks]
        try:
            for future in as_completed(futures):
                future.result()
                progress.update()
                checkpoint()
        except BaseException as error:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            if isinstance(error, Abandoned):
                raise errors[0] from None
            raise
