"""The stretches of two sequences that local alignments span, heaviest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...contributions import Contribution
from ...errors import ParameterError
from ..search import Family, Pattern, heaviest
from .common import require_room

__all__ = ["aligned_stretches"]


def aligned_stretches(
    x: Any, y: Any, weights: np.ndarray, open_factor: float, extend_factor: float
) -> Iterator[Contribution]:
    """Contributions by stretches ``x[a:b]``, ``y[c:d]``: all alignments that begin and end where these do."""
    require_room(x, y, 4)
    yield Contribution((x[:0], y[:0]), 1.0)
    search = _Search(x, y, weights, open_factor, extend_factor)
    work = max(1, len(x) * len(y) * (len(x) + len(y)))
    # Multiplications that opening families may cost in all.
    yield from heaviest(search.rows(), "all other alignments", most_opened=int(max(20, 3e9 / work)))


class _Search:
    """Families are alignments that begin at the same place of x, then at the same places of both."""

    def __init__(self, x: Any, y: Any, weights: np.ndarray, first: float, further: float) -> None:
        self.x, self.y, self.weights = x, y, weights
        self.x_gaps, self.y_gaps = (_gaps(len(z), first, further) for z in (x, y))
        self.from_here = np.zeros(weights.shape)  # the weight of all alignments that begin with x_i ~ y_j
        with np.errstate(over="ignore", invalid="ignore"):
            for i in reversed(range(len(x))):
                later = self.x_gaps[i, i + 1 :] @ self.from_here[i + 1 :]
                self.from_here[i] = weights[i] * (1 + later @ self.y_gaps.T)
        if not np.isfinite(self.from_here).all():
            raise ParameterError("contributions: the weights of these alignments overflow. Lower `beta`.")

    def rows(self) -> Iterator[Family]:
        for i, row in enumerate(self.from_here):
            yield Family(float(row.sum()), lambda i=i: self._cells(i))  # type: ignore[misc]

    def _cells(self, i: int) -> Iterator[Family]:
        for j, weight in enumerate(self.from_here[i].tolist()):
            yield Family(weight, lambda j=j: self._ends(i, j))  # type: ignore[misc]

    def _ends(self, i: int, j: int) -> Iterator[Pattern]:
        """Alignments that begin with x_i ~ y_j, by where they end."""
        weights, x_gaps, y_gaps = self.weights[i:, j:], self.x_gaps[i:, i:], self.y_gaps[j:, j:]
        ends = np.zeros(weights.shape)
        ends[0, 0] = weights[0, 0]
        for row in range(1, len(ends)):
            ends[row] = weights[row] * ((x_gaps[:row, row] @ ends[:row]) @ y_gaps)
        for (row, col), weight in np.ndenumerate(ends):
            if weight > 0:
                yield Pattern(
                    float(weight),
                    lambda r=i + row + 1, c=j + col + 1, w=float(weight): self._show(i, r, j, c, w),  # type: ignore[misc]
                )

    def _show(self, a: int, b: int, c: int, d: int, weight: float) -> Contribution:
        return Contribution((self.x[a:b], self.y[c:d]), weight, ((a, b),), ((c, d),))


def _gaps(length: int, first: float, further: float) -> np.ndarray:
    """Factor of the gap from each place to each later one; 1 for the next."""
    places = np.arange(length)
    skipped = places - places[:, None] - 1
    factors = np.where(skipped > 0, first * further ** np.maximum(skipped - 1, 0), 1.0)
    return np.where(skipped >= 0, factors, 0.0)
