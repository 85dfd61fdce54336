"""Measure two ways of doing the same work alternately, and print the ratio of their times.

A case is run several times.  A run alternates between the two ways and gives one ratio,
the median over its repeats.  The table shows the median of the runs, and their range.
"""

from __future__ import annotations

import gc
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

#: Runs of a case, if nothing else is asked for.
RUNS = 3


class Skipped(Exception):
    """The data of a case are not on this machine."""


@dataclass
class Case:
    """One comparison: ``setup()`` makes the data, ``ours`` and ``peer`` work on it."""

    name: str
    work: str
    peer_name: str
    setup: Callable[[], Any]
    ours: Callable[[Any], Any]
    peer: Callable[[Any], Any]
    agree: Callable[[Any, Any], bool] | None = None
    repeats: int = 7
    target: float | None = None
    warm: bool = True  # run both once before, not counted; work of minutes does without


@dataclass
class Result:
    """Times in seconds, one list per run, one number per repeat."""

    case: Case
    ours: list[list[float]] = field(default_factory=list)
    peer: list[list[float]] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """One per run: the median over its repeats of (peer time / our time)."""
        return [
            statistics.median(p / o for p, o in zip(peer, ours, strict=True))
            for ours, peer in zip(self.ours, self.peer, strict=True)
        ]

    @property
    def ratio(self) -> float:
        """Median of the runs."""
        return statistics.median(self.ratios)

    def __str__(self) -> str:
        """Median and range."""
        low, high = min(self.ratios), max(self.ratios)
        return f"{self.ratio:.2g}x" + (f" ({low:.2g} to {high:.2g})" if len(self.ratios) > 1 else "")


def timed(function: Callable[[Any], Any], data: Any) -> tuple[float, Any]:
    gc.collect()
    start = time.perf_counter()
    value = function(data)
    return time.perf_counter() - start, value


def run(case: Case, runs: int = RUNS) -> Result:
    """Run a case some times; work of minutes once."""
    result = Result(case)
    for _ in range(runs if case.warm else 1):
        ours, peer = _alternate(case)
        result.ours.append(ours)
        result.peer.append(peer)
    return result


def _alternate(case: Case) -> tuple[list[float], list[float]]:
    """Warm both up, check that they agree, then alternate; the times of ours and of the peer."""
    data = case.setup()
    ours_seconds, ours = timed(case.ours, data)
    peer_seconds, peer = timed(case.peer, data)
    if case.agree is not None and not case.agree(ours, peer):
        raise AssertionError(f"{case.name}: ours and {case.peer_name} do not agree")
    del ours, peer
    times: tuple[list[float], list[float]] = ([], [])
    if not case.warm:
        times = ([ours_seconds], [peer_seconds])
    for i in range(len(times[0]), case.repeats):
        pair = [(case.ours, times[0]), (case.peer, times[1])]
        for function, found in pair if i % 2 == 0 else reversed(pair):
            found.append(timed(function, data)[0])
    return times


def header() -> str:
    """What was measured on."""
    import os

    import numpy
    import scipy
    import sklearn

    import mercer
    from mercer import _native

    return (
        f"mercer {mercer.__version__} ({_native.isa()}), NumPy {numpy.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, "
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}"
    )


def table(results: list[Result]) -> str:
    """Render as Markdown."""
    lines = [
        "| work | peer | ours (s) | peer (s) | ratio, median and range of the runs |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for r in results:
        ours, peer = (statistics.median(chain(*runs)) for runs in (r.ours, r.peer))
        target = "" if r.case.target is None else f", asked: {r.case.target:g}x"
        lines.append(f"| {r.case.work} | {r.case.peer_name} | {ours:.4g} | {peer:.4g} | **{r}**{target} |")
    return "\n".join(lines)
