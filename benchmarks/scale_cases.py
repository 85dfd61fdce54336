"""Landmarks and machines past the memory of one matrix, against scikit-learn.

Two reports run each side in a process of its own, so that its memory can be seen: ``full_ridge``, the system
of all 100,000 points, and ``restricted_ridge``, a million rows on 5,000 landmarks.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from functools import cache
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from mercer.features import Nystrom
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge

from .harness import Case
from .ridge_cases import regression

LANDMARKS = 1000

#: Width of the restricted problem; landmarks of ours, and of the peer, whose features must fit into memory.
SIGMA, OURS, PEER = 4.0, 5000, 1000


@cache
def clusters(n: int = 20_000, d: int = 20) -> np.ndarray:
    """Thirty normal clusters, the smallest a hundredth as large as the largest, with different widths."""
    rng = np.random.default_rng(0)
    label = rng.choice(30, n, p=(p := np.logspace(0, -2, 30)) / p.sum())
    spread = rng.uniform(0.2, 1.0, 30)
    return 2 * rng.standard_normal((30, d))[label] + spread[label, None] * rng.standard_normal((n, d))


def ours(X: np.ndarray) -> np.ndarray:
    return Nystrom(Gaussian(3.0), LANDMARKS, random_state=0).fit_transform(X)


def peer(X: np.ndarray) -> np.ndarray:
    return np.asarray(Nystroem(gamma=0.5 / 9, n_components=LANDMARKS, random_state=0).fit_transform(X))


CASES: list[Case] = [
    Case(
        "nystrom",
        "Nystrom fit and transform, 20,000 x 20 in clusters, 1,000 landmarks, lower trace error",
        "scikit-learn `Nystroem`",
        clusters,
        ours,
        peer,
        lambda a, b: bool(np.sum(a**2) > np.sum(b**2)),  # what is left of the trace is less
        repeats=3,
        target=2,
    ),
]


def report(what: str, n: int) -> str:
    """Rows of a table: side, seconds, peak memory, test error and what the solver said."""
    sides = ["ours"] if what == "full" else ["ours", "Nystroem", "RBFSampler"]
    lines = [f"| {what} ridge, n = {n:,} | seconds | GB | test error | |", "| --- | --- | --- | --- | --- |"]
    for side in sides:
        code = f"from benchmarks.scale_cases import run; run({what!r}, {side!r}, {n})"
        command = [sys.executable, "-W", "ignore", "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        lines.append(done.stdout.strip().splitlines()[-1])
    return "\n".join(lines)


def run(what: str, side: str, n: int) -> None:
    """Fit one side of a problem, and print a row of the table."""
    X, y = regression(n + 5000)()
    train, test = (X[:n], y[:n]), (X[n:], y[n:])
    start = time.perf_counter()
    if what == "full":
        sigma = Gaussian("median").resolve(X[:10_000])
        model: Any = KernelRidge(sigma, alpha=1e-6 * n, solver="cg", tol=1e-6).fit(*train)
    elif side == "ours":
        map = Nystrom(Gaussian(SIGMA), OURS, landmarks="uniform", random_state=0)
        model = KernelRidge(alpha=1e-6 * n, approximation=map, tol=1e-3).fit(*train)
    else:
        map = Nystroem if side == "Nystroem" else RBFSampler
        features = map(gamma=0.5 / SIGMA**2, n_components=PEER, random_state=0)
        model = make_pipeline(features, Ridge(1e-6 * n, copy_X=False)).fit(*train)
    seconds = time.perf_counter() - start
    error = float(np.sqrt(np.mean((model.predict(test[0]) - test[1]) ** 2)))
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    status = model.solution_.status if hasattr(model, "solution_") else f"{PEER} components"
    print(f"| {side} | {seconds:.0f} | {gigabytes:.1f} | {error:.4f} | {status} |", flush=True)
