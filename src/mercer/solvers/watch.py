"""What is told while a solver runs, and after it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .. import _native
from ..engine.tiles import Stopped

__all__ = ["INTERRUPTED", "STOPPING", "Callback", "Progress", "Watch", "status_of", "why_stopped"]

#: What is said of a run that Ctrl-C has ended, and of one that had no more time.
INTERRUPTED, OUT_OF_TIME = "it was interrupted", "the time budget was used up"

#: What may come out of work on kernel values, and ends a run.
STOPPING = (KeyboardInterrupt, Stopped)


#: How often whoever watches is told; the native loop has the same number.
SECONDS_PER_WATCH = 0.05


@dataclass(frozen=True)
class Progress:
    """What callbacks are told.

    Attributes
    ----------
    iteration : int
        Two-variable steps so far.
    violation : float
        Of the optimality conditions; the run ends when it is at most ``tol``.
    tol : float
    seconds : float
        Since the start.
    """

    iteration: int
    violation: float
    tol: float
    seconds: float


Callback: TypeAlias = Callable[[Progress], Any]


class Watch:
    """Looks at the clock, tells callbacks and the progress bar; decides whether to go on."""

    def __init__(
        self, tol: float, seconds: float | None, callbacks: Sequence[Callback], bar: bool, name: str
    ) -> None:
        self.start = time.perf_counter()
        self.tol, self.seconds, self.callbacks = tol, seconds, callbacks
        self.reason = ""
        self.before = 0  # steps of an earlier run on the same problem
        self._bar = _bar(name) if bar else None
        self._first: float | None = None
        self._last = self.start

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.start

    @property
    def is_over(self) -> bool:
        """Whether the time budget is used up."""
        return self.seconds is not None and self.elapsed >= self.seconds

    @property
    def is_due(self) -> bool:
        """Whether it is time to be told again."""
        return time.perf_counter() - self._last >= SECONDS_PER_WATCH

    def __call__(self, steps: int, violation: float) -> bool:
        """Take note of where the solver is; True stops it."""
        self._last = time.perf_counter()
        if self._bar is not None and violation > 0:
            self._show(self._bar, violation)
        report = Progress(self.before + steps, violation, self.tol, self.elapsed)
        stops = [callback for callback in self.callbacks if callback(report) is True]
        if stops:
            self.reason = getattr(stops[0], "reason", "a callback asked to stop")
        elif self.is_over:
            self.reason = OUT_OF_TIME
        return bool(self.reason)

    def stop(self, error: BaseException) -> None:
        """Take note of what has come out of work on kernel values (one of ``STOPPING``)."""
        if isinstance(error, KeyboardInterrupt) or not self.reason:
            self.reason = why_stopped(error)

    def _show(self, bar: Any, violation: float) -> None:
        """The logarithm of the violation falls about linearly, which makes the time left predictable."""
        if self._first is None:
            self._first = violation
        whole = np.log(max(self._first / self.tol, 1.0 + 1e-9))
        bar.n = round(100 * float(np.clip(np.log(self._first / violation) / whole, 0, 1)))
        bar.set_postfix_str(f"violation {violation:.2g}", refresh=False)
        bar.refresh()

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def _bar(name: str) -> Any:
    from tqdm import tqdm

    return tqdm(total=100, delay=1, leave=False, disable=None, unit="%", desc=name)


def why_stopped(error: BaseException) -> str:
    """What is said of a run that has ended with one of ``STOPPING``."""
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else OUT_OF_TIME


def status_of(ending: int, converged: bool, steps: int, violation: float, tol: float, reason: str) -> str:
    """Say how a run ended and, if badly, what to do about it."""
    left = f"the violation is {violation:.3g}, asked was {tol:g}"
    if converged:
        return f"converged: the optimality conditions hold to {violation:.3g}"
    if ending == _native.CONVERGED and violation <= tol:
        return (
            f"the violation seems to be {violation:.3g}, but with numbers this large rounding alone may make "
            f"it more than {tol:g}, which was asked. Scale the data, lower C, or raise tol"
        )
    if ending == _native.LIMIT:
        return (
            f"stopped at the limit of max_iter, {steps} steps; {left}. Scale the data, "
            "lower C, or raise max_iter"
        )
    if ending == _native.STOPPED:
        return f"stopped because {reason}; {left}. Fit again with warm_start=True to go on"
    if ending == _native.UNBOUNDED:
        return f"the problem has no solution: the objective falls without end; {left}. Set a finite C"
    if ending == _native.NOT_FINITE:
        return "stopped because numbers overflowed. Scale the data, or lower C"
    slow = "no step lowers the objective much any more in double precision"
    return f"{slow}; {left}. Scale the data, or raise tol"
