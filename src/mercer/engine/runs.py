"""A run: one long computation with its time budget, its callbacks and its progress bars.

A machine enters a run in ``fit`` (:func:`running`).  Whatever takes long inside it, such as tiles of kernel
values, panels of a factorization or iterations, calls :func:`checkpoint` or iterates over :func:`tracked`.
Both raise :class:`Stopped` soon after the run is over: its time is used up, or a callback asks to stop.

A solver with a usable state catches ``STOPPING``, reports it by :func:`conclude` and returns that state; the
run then goes to its end without further stops, and a ``KeyboardInterrupt`` is raised again there.  If nobody
catches :class:`Stopped`, there is no partial answer, and the run ends with
:class:`~mercer.errors.TimeBudgetError` (or :class:`~mercer.errors.StoppedError`, if a callback stopped it).
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from mercer.engine.threads import user_code
from mercer.errors import MercerError, StoppedError, TimeBudgetError

__all__ = [
    "INTERRUPTED",
    "OUT_OF_TIME",
    "STOPPING",
    "Abandoned",
    "Callback",
    "Convergence",
    "Progress",
    "Run",
    "Stopped",
    "Task",
    "abandoned_by",
    "checkpoint",
    "conclude",
    "current_run",
    "joining",
    "progress_bar",
    "running",
    "stop_reason",
    "tracked",
    "until",
]

#: Reasons for which runs stop.
INTERRUPTED, OUT_OF_TIME = "it was interrupted", "the time budget was used up"
ASKED = "a callback asked to stop"

#: Seconds between two calls of a callback.
PAUSE = 0.04

T = TypeVar("T")
_local = threading.local()


class Stopped(Exception):
    """The run is over: its values are not needed any more."""


class Abandoned(BaseException):
    """Raised by :func:`checkpoint` in a worker thread whose result nobody waits for any more."""


#: What ends the work of a solver early.
STOPPING = (KeyboardInterrupt, Stopped)


@dataclass(frozen=True)
class Progress:
    """What callbacks receive.

    Attributes
    ----------
    iteration : int
        Steps of the task so far: iterations, panels, permutations; for support vector machines two-variable
        steps.
    violation : float
        Of the optimality conditions, where the task has any (else NaN); it ends at ``tol`` or below.
    tol : float
    seconds : float
        Since the start of the run.
    task : str
        What is being computed.
    total : int, optional
        Steps of the whole task, if known.
    """

    iteration: int
    violation: float
    tol: float
    seconds: float
    task: str = ""
    total: int | None = None


Callback: TypeAlias = Callable[[Progress], Any]


class Run:
    """One call of ``fit``: its deadline, its callbacks, and why it stopped.  Made by :func:`running`.

    Attributes
    ----------
    deadline : float
        On the clock of ``time.perf_counter``; infinite without a time budget.
    reason : str
        Why the run is over; empty while it is not.
    """

    def __init__(
        self, name: str, time_budget: float | None, callbacks: Sequence[Callback], outer: Run | None = None
    ) -> None:
        self.name, self.time_budget, self.callbacks = name, time_budget, callbacks
        self.start = time.perf_counter()
        own = math.inf if time_budget is None else self.start + time_budget
        self.deadline: float = own if outer is None else min(own, outer.deadline)
        self.reason = ""
        self.interrupt: KeyboardInterrupt | None = None
        self._progress = Progress(0, math.nan, math.nan, 0.0)
        self.is_concluded = False
        self._next = self.start
        self._lock = threading.Lock()

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, None without one."""
        return None if self.deadline == math.inf else self.deadline - time.perf_counter()

    @property
    def is_out_of_time(self) -> bool:
        """Whether the deadline has passed."""
        return time.perf_counter() >= self.deadline

    def poll(self) -> bool:
        """Whether work should end now; false once the run is concluded."""
        return not self.is_concluded and self.is_over()

    def is_over(self) -> bool:
        """Call the callbacks if it is time to; whether there is a reason to stop."""
        if self.callbacks and time.perf_counter() >= self._next:
            self._call()
        if not self.reason and self.is_out_of_time:
            self.reason = OUT_OF_TIME
        return bool(self.reason)

    def __call__(self, progress: Progress) -> bool:
        """Store the progress and call the callbacks if it is time to; whether to stop because of one of them.

        As a callback of a solver that works in several threads, it stores a ``KeyboardInterrupt`` for the end
        of the run, which is in another thread perhaps.
        """
        self.keep(progress)
        if self.callbacks and time.perf_counter() >= self._next:
            try:
                self._call()
            except KeyboardInterrupt as error:
                self.conclude(error)
        return self.reason in (ASKED, INTERRUPTED)

    def begin(self, task: str) -> None:
        """State what is being computed from here on."""
        self.keep(Progress(0, math.nan, math.nan, 0.0, task))

    def keep(self, progress: Progress) -> None:
        """Store what callbacks receive next."""
        self._progress = progress

    def finish(self) -> None:
        """Call the callbacks if they have not been called yet."""
        if self._next == self.start:
            self._call()

    def _call(self) -> None:
        with self._lock:  # of problems that are solved side by side
            now = time.perf_counter()
            self._next = now + PAUSE
            progress = replace(self._progress, seconds=now - self.start)
            with until(lambda: False), user_code():  # no checkpoint stops what a callback computes
                answers = [callback(progress) is True for callback in self.callbacks]
            if not self.reason and True in answers:  # an outer run knows why
                self.reason = getattr(self.callbacks[answers.index(True)], "reason", "") or ASKED

    def conclude(self, error: BaseException | None = None) -> None:
        """Go on to the end without further stops: what was reached before ``error`` is a result."""
        if isinstance(error, KeyboardInterrupt):
            self.interrupt, self.reason = error, INTERRUPTED
        self.is_concluded = True

    def error(self) -> MercerError:
        """The exception of a run that has stopped without a result."""
        task = self._progress.task or "the computation"
        remedy = "Stopped there, this method has no usable result"
        if self.reason == ASKED:
            return StoppedError(
                f"{self.name}: a callback returned True during {task}. {remedy}; let it run to its end."
            )
        given = "" if self.time_budget is None else f" of {self.time_budget:g} s"
        return TimeBudgetError(
            f"{self.name}: `time_budget`{given} was used up during {task}. {remedy}: give more time, choose "
            "an iterative solver where there is one, or fit fewer points."
        )


def current_run() -> Run | None:
    """The run that the calling thread is in."""
    run: Run | None = getattr(_local, "run", None)
    return run


@contextmanager
def running(name: str, time_budget: float | None = None, callbacks: Sequence[Callback] = ()) -> Iterator[Run]:
    """Enter a run; one inside another ends with the outer one at the latest.

    Parameters
    ----------
    name : str
        Whose run it is, for messages.
    time_budget : float, optional
        Seconds.
    callbacks : sequence of callables
        Called with a :class:`Progress` at least once and at most 25 times a second; True stops.

    Examples
    --------
    >>> with running("example", time_budget=10.0):
    ...     checkpoint()
    """
    outer = current_run()
    if outer is not None and outer.callbacks:
        callbacks = [*callbacks, outer]
    run = Run(name, time_budget, callbacks, outer)
    _local.run = run
    try:
        with until(run.poll):
            yield run
    except Stopped:
        if outer is not None and outer.is_out_of_time:
            raise
        raise run.error() from None
    except Exception as error:
        if run.interrupt is not None:
            raise run.interrupt from error
        raise
    finally:
        _local.run = outer
    if run.interrupt is not None:
        raise run.interrupt


@contextmanager
def joining(run: Run | None) -> Iterator[None]:
    """Within this, the calling thread takes part in a run that another thread has entered."""
    before = current_run()
    _local.run = run
    try:
        yield
    finally:
        _local.run = before


@contextmanager
def until(is_over: Callable[[], bool]) -> Iterator[None]:
    """Within this, work of the calling thread ends with :class:`Stopped` soon after ``is_over()``."""
    before = getattr(_local, "is_over", None)
    _local.is_over = is_over
    try:
        yield
    finally:
        _local.is_over = before


@contextmanager
def abandoned_by(stop: threading.Event) -> Iterator[None]:
    """Within this, work of the calling thread ends with :class:`Abandoned` soon after the event."""
    _local.stop = stop
    try:
        yield
    finally:
        _local.stop = None


def checkpoint() -> None:
    """End the current work if its result is not needed any more.

    Whatever takes long calls this several times a second, so that Ctrl-C, errors in other threads, callbacks
    and the end of the time budget end it soon.
    """
    stop: threading.Event | None = getattr(_local, "stop", None)
    if stop is not None and stop.is_set():
        raise Abandoned
    is_over: Callable[[], bool] | None = getattr(_local, "is_over", None)
    if is_over is not None and is_over():
        raise Stopped


def conclude(error: BaseException | None = None) -> str:
    """Report that a solver has a usable state in spite of ``error``, one of ``STOPPING``; returns the reason.

    A ``KeyboardInterrupt`` is raised again at the end of the run; outside of a run, here and now.  Without an
    error: from here on there is a usable state, and whoever works on it checks the time.
    """
    run = current_run()
    if run is not None:
        run.conclude(error)
        return run.reason or OUT_OF_TIME
    if isinstance(error, KeyboardInterrupt):
        raise error
    return OUT_OF_TIME


def stop_reason() -> str:
    """Why the current run goes to its end; empty if it goes on, or if there is none.

    Solvers that take several steps after each other leave out the rest where there is a reason.
    """
    run = current_run()
    return run.reason if run is not None and run.is_concluded else ""


def progress_bar(task: str, total: int | None = None, unit: str = "it", initial: int = 0) -> Any:
    """A progress bar with the time left, which appears once the work has taken a second.

    None where standard error is no terminal: nobody watches.
    """
    if sys.stderr is None or (hasattr(sys.stderr, "isatty") and not sys.stderr.isatty()):
        return None
    from tqdm import tqdm

    return tqdm(total=total, initial=initial, desc=task, unit=unit, delay=1, leave=False)


class Task:
    """A part of a run that counts its steps, for the progress bar and for callbacks.

    Parameters
    ----------
    name : str
        What is being computed.
    total : int, optional
        Number of steps.
    unit : str
        What a step is.
    done : int, default=0
        Steps that were made before.
    """

    def __init__(self, name: str, total: int | None = None, unit: str = "step", done: int = 0) -> None:
        self.name, self.total, self.done = name, total, done
        self._run = current_run()
        self._bar = progress_bar(name, total, unit, done)

    def __enter__(self) -> Task:
        self._keep()
        return self

    def update(self, count: int = 1) -> None:
        """Count further steps; for one thread at a time."""
        self.done += count
        if self._bar is not None:
            self._bar.update(count)
        self._keep()

    def _keep(self) -> None:
        if self._run is not None:
            self._run.keep(Progress(self.done, math.nan, math.nan, 0.0, self.name, self.total))

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


class Convergence:
    """A part of a run that ends when a violation has fallen to a tolerance.

    The logarithm of the violation falls about linearly, which makes the time left predictable.

    Parameters
    ----------
    name : str
        What is being computed.
    tol : float
    show : bool, default=True
        Whether there is a progress bar.
    """

    def __init__(self, name: str, tol: float, *, show: bool = True) -> None:
        self.name, self.tol = name, tol
        self._first = math.nan
        self._bar = progress_bar(name, 100, "%") if show else None

    def __enter__(self) -> Convergence:
        return self

    def update(self, iteration: int, violation: float) -> None:
        """Record an iteration, at a checkpoint."""
        self.show(violation)
        run = current_run()
        if run is not None:
            run.keep(Progress(iteration, violation, self.tol, 0.0, self.name))
        checkpoint()

    def show(self, violation: float) -> None:
        """Advance the progress bar."""
        if self._bar is None or not 0 < violation < math.inf:
            return
        if math.isnan(self._first):
            self._first = violation
        whole = math.log(max(self._first / max(self.tol, 1e-300), 1.0 + 1e-9))
        share = math.log(self._first / violation) / whole
        self._bar.n = round(100 * min(max(share, 0.0), 1.0))
        self._bar.set_postfix_str(f"violation {violation:.2g}", refresh=False)
        self._bar.refresh()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def tracked(items: Iterable[T], name: str, unit: str, total: int | None = None) -> Iterator[T]:
    """Iterate as a :class:`Task`, with a checkpoint before each item.

    Examples
    --------
    >>> [i**2 for i in tracked(range(3), "squares", "number")]
    [0, 1, 4]
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with Task(name, total, unit) as task:
        for item in items:
            checkpoint()
            yield item
            task.update()
