"""Cases of time series, against tslearn and dtaidistance, and growth with the length.

``python -m benchmarks sequence_growth`` prints the growth: times at lengths up to 10,000, and the exponent.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from mercer.kernels import DTW, GlobalAlignment

from .harness import Case, Skipped

LENGTH = 150
WIDTH = 30.0


def walks(n: int, length: int, package: str) -> np.ndarray:
    """Random walks, if the peer is there."""
    if find_spec(package) is None:
        raise Skipped(f"{package} is not installed: pip install {package}")
    return np.random.default_rng(0).standard_normal((n, length)).cumsum(axis=1)


# -- global alignment ---------------------------------------------------------------------------
def our_alignments(X: np.ndarray) -> np.ndarray:
    return GlobalAlignment(WIDTH).block(X)


def their_alignments(jobs: int | None) -> Callable[[np.ndarray], np.ndarray]:
    def compute(X: np.ndarray) -> np.ndarray:
        from tslearn.metrics import cdist_gak

        return np.asarray(cdist_gak(X, sigma=WIDTH, n_jobs=jobs))

    return compute


def alignment_case(jobs: int | None, target: float | None) -> Case:
    return Case(
        f"alignment-{'sequential' if jobs is None else f'{jobs}-jobs'}",
        f"GlobalAlignment of 200 series of length {LENGTH}",
        f"tslearn cdist_gak (n_jobs={jobs})",
        lambda: walks(200, LENGTH, "tslearn"),
        our_alignments,
        their_alignments(jobs),
        lambda ours, peer: bool(np.abs(ours - peer).max() < 1e-10),
        repeats=5,
        target=target,
    )


# -- warping ------------------------------------------------------------------------------------
def our_distances(X: np.ndarray) -> np.ndarray:
    return DTW().distances(X)[np.triu_indices(len(X), 1)]


def their_distances(X: np.ndarray) -> np.ndarray:
    from dtaidistance.dtw import distance_matrix_fast

    return np.asarray(distance_matrix_fast(X, parallel=True, compact=True))


CASES: list[Case] = [
    alignment_case(None, 25.0),
    alignment_case(2, None),
    Case(
        "dtw",
        f"DTW distances of 300 series of length {LENGTH}",
        "dtaidistance (C, parallel, compact)",
        lambda: walks(300, LENGTH, "dtaidistance"),
        our_distances,
        their_distances,
        lambda ours, peer: bool(np.allclose(ours, peer, rtol=1e-12)),
        target=4.0,
    ),
]


# -- growth -------------------------------------------------------------------------------------
LENGTHS = (2500, 4000, 6300, 10_000)


def seconds(work: Callable[[np.ndarray], object], X: np.ndarray) -> float:
    """Time of the processor, which does not depend on what else it has to do."""
    started = time.process_time()
    work(X)
    return time.process_time() - started


def growth(work: Callable[[np.ndarray], object], repeats: int = 3) -> tuple[list[float], float]:
    """Median times of work on eight series of each length, and the slope of log time in log length."""
    times = []
    for length in LENGTHS:
        X = np.random.default_rng(0).standard_normal((8, length)).cumsum(axis=1)
        times.append(statistics.median(seconds(work, X) for _ in range(repeats)))
    return times, float(np.polyfit(np.log(LENGTHS), np.log(times), 1)[0])


def growth_report() -> str:
    """Times at lengths up to 10,000 and the exponents that fit them."""
    works: dict[str, Callable[[np.ndarray], object]] = {
        "DTW": DTW().distances,
        "GlobalAlignment": GlobalAlignment(300.0).block,
        "GlobalAlignment, band 100": GlobalAlignment(300.0, 100).block,
    }
    lines = []
    for name, work in works.items():
        times, exponent = growth(work)
        shown = "  ".join(f"{length}: {t:.4f} s" for length, t in zip(LENGTHS, times, strict=True))
        lines.append(f"{name:26} length ** {exponent:.2f}   {shown}")
    return "\n".join(lines)
