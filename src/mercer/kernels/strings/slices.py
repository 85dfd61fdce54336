"""Long native work in slices, so that Ctrl-C is seen."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ...engine.runs import checkpoint

__all__ = ["slices"]


def slices(total: int) -> Iterator[slice]:
    """Cut ``range(total)``: a small slice first, later ones as long as the time of those before allows."""
    done, step = 0, 1
    while done < total:
        checkpoint()
        start = time.perf_counter()
        yield slice(done, min(done + step, total))
        done += step
        pace = 0.1 / max(time.perf_counter() - start, 1e-6)  # a slice takes about 0.1 s
        step = max(1, int(step * min(16.0, pace)))
