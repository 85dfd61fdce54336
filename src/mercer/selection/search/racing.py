"""Dropping candidates that are hopeless after some splits."""

from __future__ import annotations

import numpy as np
from scipy import stats

from .table import Table

__all__ = ["drop_hopeless"]


def drop_hopeless(table: Table, seen: int, metric: str, level: float) -> None:
    r"""Drop candidates that are worse than the best one in the splits that were seen.

    One-sided paired t-test of the differences :math:`d_s` of the scores to those of the best candidate:
    :math:`t = \bar d \sqrt{m} / \hat\sigma(d)` with m - 1 degrees of freedom.  A candidate that is worse by
    the same amount everywhere is dropped.
    """
    if seen < 3:  # with two differences a t-test has hardly any power
        return
    scores = table.scores(metric)[:, :seen]
    alive = ~table.is_dropped & np.isfinite(scores).all(axis=1)
    if not alive.any():
        return
    means = np.where(alive, np.where(np.isfinite(scores), scores, -np.inf).mean(axis=1), -np.inf)
    best = int(means.argmax())
    for candidate in np.flatnonzero(~table.is_dropped):
        behind = scores[best] - scores[candidate]
        if not np.isfinite(behind).all():  # its fits failed
            table.is_dropped[candidate] = True
        elif behind.mean() > 0:
            spread = behind.std(ddof=1)
            p = stats.t.sf(behind.mean() * np.sqrt(seen) / spread, seen - 1) if spread > 0 else 0.0
            table.is_dropped[candidate] |= bool(p < level)
