"""The clock, the callbacks and the progress bar of the box solvers, and what is said of their end."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .. import _native
from ..engine.runs import (
    INTERRUPTED,
    OUT_OF_TIME,
    STOPPING,
    Callback,
    Convergence,
    Progress,
    conclude,
    current_run,
)

__all__ = ["INTERRUPTED", "STOPPING", "Callback", "Progress", "Watch", "status_of"]

#: Seconds between two reports; the native loop has the same number.
SECONDS_PER_WATCH = 0.05


class Watch:
    """The clock, the callbacks and the progress bar of one problem; whether to go on.

    Those of the current run are among them.
    """

    def __init__(
        self, tol: float, seconds: float | None, callbacks: Sequence[Callback], bar: bool, name: str
    ) -> None:
        self.start = time.perf_counter()
        self._run = run = current_run()
        left = None if run is None else run.seconds_left
        self.seconds = min((s for s in (seconds, left) if s is not None), default=None)
        self.tol = tol
        self.callbacks: Sequence[Callback] = callbacks if run is None else [*callbacks, run]
        self.reason = ""
        self.before = 0  # steps of an earlier run on the same problem
        self._name = name
        self._bar = Convergence(name, tol, show=bar)
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
        """Whether the next report is due."""
        return time.perf_counter() - self._last >= SECONDS_PER_WATCH

    def __call__(self, steps: int, violation: float) -> bool:
        """Take note of where the solver is; True stops it."""
        self._last = time.perf_counter()
        self._bar.show(violation)
        report = Progress(self.before + steps, violation, self.tol, self.elapsed, self._name)
        stops = [callback for callback in self.callbacks if callback(report) is True]
        if stops:
            self.reason = getattr(stops[0], "reason", "a callback asked to stop")
        elif self.is_over:
            self.reason = OUT_OF_TIME
        if self.reason and self._run is not None and self._run.is_over():
            self._run.conclude()
        return bool(self.reason)

    def stop(self, error: BaseException) -> None:
        """Note one of ``STOPPING``; Ctrl-C is raised again at the end of the run."""
        reason = conclude(error)
        if isinstance(error, KeyboardInterrupt) or not self.reason:
            self.reason = reason

    def close(self) -> None:
        """Remove the bar."""
        self._bar.__exit__()


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
