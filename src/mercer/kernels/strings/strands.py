"""Windows of the other strand of DNA."""

from __future__ import annotations

import numpy as np

from ...sequences.dna import COMPLEMENT_CODES
from .windows import Runs

__all__ = ["both_strands", "mirrored", "other_strand"]


def other_strand(runs: Runs, n: int) -> Runs:
    """Windows of n letters of the other strand, run by run: the last one of a run is the first of its other.

    Codes are those of both strands, the other one as a whole read backwards after the given one.
    """
    codes = np.concatenate([runs.codes, COMPLEMENT_CODES[runs.codes[::-1]]])
    begins = 2 * len(runs.codes) - (runs.begins + runs.counts - 1) - n
    return Runs(codes, begins, runs.counts, runs.first)


def mirrored(runs: Runs) -> np.ndarray:
    """For each window the number of its reverse complement among those of the other strand."""
    ends = np.cumsum(runs.counts)
    return np.asarray(np.repeat(2 * ends - runs.counts - 1, runs.counts) - np.arange(int(runs.counts.sum())))


def both_strands(runs: Runs, n: int) -> Runs:
    """Windows of n letters of each sequence and of its other strand."""
    other = other_strand(runs, n)
    rows = np.repeat(np.arange(len(runs)), np.diff(runs.first))
    order = np.argsort(np.concatenate([rows, rows]), kind="stable")
    begins, counts = np.concatenate([runs.begins, other.begins]), np.concatenate([runs.counts, runs.counts])
    return Runs(other.codes, begins[order], counts[order], 2 * runs.first)
