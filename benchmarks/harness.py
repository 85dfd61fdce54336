"""Measure two ways of doing the same work alternately, and print the ratio of their times."""

from __future__ import annotations

import gc
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


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
    """Times in seconds, one per repeat."""

    case: Case
    ours: list[float] = field(default_factory=list)
    peer: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Median over repeats of (peer time / our time)."""
        return statistics.median(p / o for p, o in zip(self.peer, self.ours, strict=True))


def timed(function: Callable[[Any], Any], data: Any) -> tuple[float, Any]:
    gc.collect()
    start = time.perf_counter()
    value = function(data)
    return time.perf_counter() - start, value


def run(case: Case) -> Result:
    """Warm both up, check that they agree, then alternate."""
    data = case.setup()
    result = Result(case)
    ours_seconds, ours = timed(case.ours, data)
    peer_seconds, peer = timed(case.peer, data)
    if case.agree is not None and not case.agree(ours, peer):
        raise AssertionError(f"{case.name}: ours and {case.peer_name} do not agree")
    del ours, peer
    if not case.warm:
        result.ours.append(ours_seconds)
        result.peer.append(peer_seconds)
    for i in range(len(result.ours), case.repeats):
        pair = [(case.ours, result.ours), (case.peer, result.peer)]
        for function, times in pair if i % 2 == 0 else reversed(pair):
            times.append(timed(function, data)[0])
    return result


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
    lines = ["| work | peer | ours (s) | peer (s) | ratio |", "| --- | --- | ---: | ---: | ---: |"]
    for r in results:
        ours, peer = statistics.median(r.ours), statistics.median(r.peer)
        target = "" if r.case.target is None else f" (asked: {r.case.target:g}x)"
        lines.append(
            f"| {r.case.work} | {r.case.peer_name} | {ours:.4g} | {peer:.4g} | **{r.ratio:.2g}x**{target} |"
        )
    return "\n".join(lines)
