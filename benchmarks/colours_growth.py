"""Growth of Weisfeiler-Lehman features up to 100,000 graphs: time, peak memory, a linear machine on them.

Run ``python -m benchmarks.colours_growth`` with the folder NCI1 in ``MERCER_DATA``.  The graphs are drawn
from NCI1, and a tenth of their nodes get one of three labels at random.  Each size is a process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
from sklearn.svm import LinearSVC

from mercer.features import Explicit
from mercer.graphs import GraphBatch, read_tu
from mercer.kernels import WeisfeilerLehman

from .graphs_cases import tu_folder

SIZES = (12_500, 25_000, 50_000, 100_000)


def drawn(n: int) -> tuple[GraphBatch, np.ndarray]:
    """Many graphs, and their classes."""
    graphs, y = read_tu(tu_folder("NCI1"))
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, len(graphs), n)
    X = graphs.take(chosen)
    changed = rng.random(len(X.node_codes)) < 0.1
    codes = np.where(changed, rng.integers(0, 3, len(changed)), X.node_codes).astype(np.int32)
    return replace(X, node_codes=codes), np.asarray(y)[chosen]


def peak() -> float:
    """Largest memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(n: int) -> None:
    """One row of the table."""
    X, y = drawn(n)
    before, start, cpu = peak(), time.perf_counter(), time.process_time()
    F = Explicit(WeisfeilerLehman(5).normalized()).fit_transform(X)
    wall, cpu, after = time.perf_counter() - start, time.process_time() - cpu, peak()
    start = time.perf_counter()
    LinearSVC().fit(F, y)
    fit = time.perf_counter() - start
    print(
        f"{n:>8} {len(X.targets) // 2:>9} {F.shape[1]:>9} {F.nnz:>9} {wall:>7.2f} {cpu:>7.2f} "
        f"{before:>7.0f} {after:>7.0f} {fit:>8.1f}",
        flush=True,
    )


def main() -> None:
    print("  graphs     edges  features   entries    wall     CPU  before    peak  LinearSVC")
    print("                                              s       s     MiB     MiB          s")
    sys.stdout.flush()
    for n in SIZES:
        subprocess.run([sys.executable, "-m", "benchmarks.colours_growth", str(n)], check=True)


if __name__ == "__main__":
    measure(int(sys.argv[1])) if len(sys.argv) > 1 else main()
