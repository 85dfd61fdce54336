"""Approach the solutions of problems that differ in their bounds alone, one from where another has led.

The first steps go from problem to problem.  What they leave to do, mostly to find out which variables are
free, other threads do meanwhile.  Steps converge about as fast from anywhere near, so that the next problem
need not wait for the solution of the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

from ... import _native
from ...engine.runs import INTERRUPTED, Callback, Progress, conclude, current_run, joining
from ...engine.threads import Team, single_threaded_blas
from ..solution import Solution
from ..watch import Watch
from .decomposition import Run
from .low_rank import LowRank
from .outcome import BoxValue, Outcome
from .problem import BoxProblem, Optimality, Vector

__all__ = ["Continuation", "Reached"]


class Reached(NamedTuple):
    """Where the steps on one problem have ended."""

    problem: BoxProblem
    b: Vector
    f: Vector
    ending: int
    steps: int
    rounds: int
    seconds: float
    reason: str
    is_rough: bool
    cache: dict[str, Any]
    rounding: float = 0.0  # of f

    @property
    def ended(self) -> bool:
        """Whether the steps say that the optimality conditions hold."""
        return self.ending == _native.CONVERGED

    def solution(self, state: Optimality, tol: float, certain: bool) -> Solution[BoxValue]:
        """What there is to say of it, given how far it is from the optimum, and whether that is certain."""
        return Outcome.at(state, self.ending, self.steps, self.rounds).solution(
            self.problem.constraint,
            self.b,
            self.f,
            tol,
            self.ended and certain,
            self.seconds,
            self.reason,
            {**self.cache, "rounding": self.rounding},
        )


class Make(Protocol):
    """Makes a run for a problem, from a start and its gradient, and what is known of the rank of K."""

    def __call__(self, problem: BoxProblem, b: Vector | None, f: Vector | None, known: LowRank, /) -> Run: ...


class Look(Protocol):
    """Makes who watches over a run: with further callbacks, with or without a bar."""

    def __call__(self, reason: str, more: Sequence[Callback], *, bar: bool) -> Watch: ...


class _Stop:
    """A callback that stops all problems for the reason for which one of them has stopped."""

    reason = ""

    def __call__(self, _: Progress) -> bool:
        """Whether there is a reason."""
        return bool(self.reason)


class _Begun(NamedTuple):
    """A problem after its first steps, which have taken so long, and who is to finish it."""

    run: Run
    seconds: float
    helper: Future[Reached] | None = None


class Continuation:
    """Goes from problem to problem, with the help of other threads.

    Nothing that is done for a problem depends on what another thread does: the bits are the same for any
    number of helpers.  If ``puts_off`` is false, every problem is finished before the next begins: rows of K
    that are not held would have to be kept.
    """

    def __init__(self, make: Make, look: Look, max_iter: int, helpers: int, puts_off: bool) -> None:
        self._make, self._look, self._max_iter = make, look, max_iter
        self._helpers, self._puts_off = helpers, puts_off
        self._stop, self._team = _Stop(), Team()
        self._run = current_run()

    @property
    def reason(self) -> str:
        """What has stopped it, if anything."""
        return self._stop.reason

    def go(
        self, problems: Sequence[BoxProblem], factors: Sequence[float], low_rank: LowRank
    ) -> list[Reached]:
        """Where each problem has ended; its bounds are in proportion to ``factors``."""
        with single_threaded_blas(), ThreadPoolExecutor(max(self._helpers, 1)) as pool:
            try:
                with self._team.member():
                    found = self._first_steps(problems, factors, low_rank, pool)
                    for k in reversed(range(len(found))):  # large bounds take longest
                        found[k] = self._taken_back(found[k])
                return [self._waited_for(point) for point in found]
            except BaseException:
                self._stop.reason = self._stop.reason or "another problem has failed"
                raise

    # -- the calling thread ---------------------------------------------------------------------
    def _first_steps(
        self,
        problems: Sequence[BoxProblem],
        factors: Sequence[float],
        low_rank: LowRank,
        pool: ThreadPoolExecutor,
    ) -> list[Reached | _Begun]:
        """Go along; what needs more than the first steps is handed over, or put off."""
        found: list[Reached | _Begun] = []
        b = f = None
        for k, problem in enumerate(problems):
            if b is not None and f is not None:
                b, f = problems[k - 1].grown(b, f, problem, factors[k] / factors[k - 1])
            run = self._make(problem, b, f, low_rank)
            point = self._begun(run)
            if isinstance(point, _Begun) and not self._puts_off:
                point, low_rank = self._finished(point, bar=True), run.low_rank
            b, f = run.native.b, run.native.f  # before others go on
            if isinstance(point, _Begun) and self._helpers > 0:
                self._team.count(1)
                point = point._replace(helper=pool.submit(self._helped, point))
            found.append(point)
        return found

    def _begun(self, run: Run) -> Reached | _Begun:
        watch = self._watch(bar=True)
        try:
            ending = run.begin(watch, self._max_iter)
        finally:
            watch.close()
        if run.has_begun:
            return _Begun(run, watch.elapsed)
        return self._reached(run, ending, watch)

    def _taken_back(self, point: Reached | _Begun) -> Reached | _Begun:
        """Finished here, unless a helper is at it already."""
        if isinstance(point, Reached):
            return point
        if point.helper is not None:
            if not point.helper.cancel():
                return point
            self._team.count(-1)
        return self._finished(point, bar=True)

    def _waited_for(self, point: Reached | _Begun) -> Reached:
        while not isinstance(point, Reached):
            assert point.helper is not None
            try:
                return point.helper.result()
            except KeyboardInterrupt as error:
                if point.helper.done() and point.helper.exception() is error:
                    raise
                self._stop.reason = self._stop.reason or INTERRUPTED
                conclude(error)
        return point

    # -- any thread -----------------------------------------------------------------------------
    def _helped(self, begun: _Begun) -> Reached:
        with self._team.member(counted=True), joining(self._run):
            return self._finished(begun, bar=False)

    def _finished(self, begun: _Begun, bar: bool) -> Reached:
        watch = self._watch(bar)
        try:
            ending = begun.run.approach(watch, self._max_iter)
        finally:
            watch.close()
        return self._reached(begun.run, ending, watch, begun.seconds)

    def _watch(self, bar: bool) -> Watch:
        return self._look(self._stop.reason, [self._stop], bar=bar)

    def _reached(self, run: Run, ending: int, watch: Watch, before: float = 0.0) -> Reached:
        self._stop.reason = self._stop.reason or watch.reason
        native = run.native
        return Reached(
            run.problem,
            native.b,
            native.f,
            ending,
            native.steps,
            native.rounds,
            before + watch.elapsed,
            watch.reason,
            run.rows.is_rough,
            run.cache,
        )
