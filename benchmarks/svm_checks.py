"""Support vector machines at full size: accuracy on real data, 100,000 rows in 4 GB, growth with n.

Run: python -m benchmarks.svm_checks
"""

from __future__ import annotations

import gzip
import resource
import sys
import time
import warnings

import numpy as np
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from mercer.kernels import Gaussian
from mercer.machines import SVC

from .svm_cases import a9a, folder, letter, magic04, synthetic


def spambase() -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(folder() / "spambase.gz", "rt") as lines:
        next(lines)  # the names of the columns
        rows = np.array([line.split(",") for line in map(str.strip, lines) if line], dtype=float)
    X = np.log1p(rows[:, :-1])
    return (X - X.mean(axis=0)) / X.std(axis=0), rows[:, -1]


def accuracy() -> None:
    """The same accuracy as scikit-learn, to 0.1 %."""
    sets = [("a9a", lambda: a9a(False), 0.03, 1.0), ("letter", letter, 1.0, 10.0)]
    sets += [("magic04", magic04, 0.2, 10.0), ("spambase", spambase, 1 / 57, 10.0)]
    for name, load, gamma, C in sets:
        X, y = load()
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=0)
        train = train[:8000]
        scores = []
        for machine in (SVC(Gaussian.from_gamma(gamma), C=C), sklearn.svm.SVC(C=C, gamma=gamma)):
            scores.append(machine.fit(X[train], y[train]).score(X[test], y[test]))
        print(f"{name:9} accuracy {scores[0]:.4f}, scikit-learn {scores[1]:.4f}", flush=True)


def growth() -> None:
    """Seconds by n, and the exponent."""
    sizes, seconds = [2000, 4000, 8000, 16_000], []
    for n in sizes:
        X, y = synthetic(n, 20, 0.1)()
        times = []
        for _ in range(3):
            start = time.perf_counter()
            SVC(Gaussian.from_gamma(1 / 20), C=1.0).fit(X, y)
            times.append(time.perf_counter() - start)
        seconds.append(float(np.median(times)))
    exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    shown = ", ".join(f"{n}: {s:.2f} s" for n, s in zip(sizes, seconds, strict=True))
    print(f"SVC, C=1, d=20: {shown}; time grows as n^{exponent:.2f}", flush=True)


def large(seconds: float) -> None:
    """100,000 rows with at most 4 GB, to the end or to the budget."""
    X, y = synthetic(100_000, 20, 0.1)()
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(Gaussian.from_gamma(1 / 20), C=1.0, cache_size=3000, time_budget=seconds).fit(X, y)
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"SVC on 100,000 x 20: {took:.0f} s, peak memory {peak:.1f} GB, "
        f"{len(model.support_)} support vectors, duality gap {model.gap_:.3g}; {model.status_}",
        flush=True,
    )


if __name__ == "__main__":
    large(float(sys.argv[1]) if len(sys.argv) > 1 else 120.0)
    growth()
    if folder().exists():
        accuracy()
    else:
        print("accuracy: skipped, the data sets are not there (set MERCER_DATA)")
