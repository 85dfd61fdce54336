"""Test errors of ridge regression on four data sets with fixed splits: all points in full, against landmarks.

``python -m benchmarks.regression_sets [names]`` prints a row for each data set.  Columns and targets are
standardised on the training rows; the width and the penalty of each side are those of least error on a part
of these.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from mercer.kernels import Gaussian
from mercer.machines import KernelRidge

SETS = ("elevators", "bike", "kin40k", "protein")

#: Rows that parameters are chosen on: to train, and to test.
CHOICE = 4000, 1500

#: Widths, in units of the root of the number of columns, and penalties.
WIDTHS, ALPHAS = (0.25, 0.5, 1.0), (1e-3, 1e-2, 1e-1)

COMPONENTS = 1000


def load(name: str, split: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    folder = Path(os.environ.get("MERCER_DATA", Path(__file__).parents[2] / "shared" / "data")) / "regression"
    table = np.loadtxt(folder / f"{name}.csv.gz", delimiter=",")
    test = np.loadtxt(folder / f"{name}.test_mask.csv.gz", delimiter=",")[:, split] == 1
    spread = table[~test].std(axis=0)
    table = (table - table[~test].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    X, y = table[:, :-1], table[:, -1]
    return X[~test], y[~test], X[test], y[test]


def ours(sigma: float, alpha: float) -> Any:
    return KernelRidge(Gaussian(sigma), alpha=alpha, tol=1e-4)


def peer(sigma: float, alpha: float) -> Any:
    features = Nystroem(gamma=0.5 / sigma**2, n_components=COMPONENTS, random_state=0)
    return make_pipeline(features, Ridge(alpha, fit_intercept=False))


def error(side: Callable[..., Any], parameters: tuple[float, float], *data: np.ndarray) -> float:
    X, y, Z, truth = data
    return float(np.sqrt(np.mean((side(*parameters).fit(X, y).predict(Z) - truth) ** 2)))


def main(names: list[str]) -> None:
    print(
        "| data | side | seconds | test error | width, alpha |\n| --- | --- | ---: | ---: | --- |", flush=True
    )
    for name in names or SETS:
        X, y, Z, truth = load(name)
        order = np.random.default_rng(0).permutation(len(X))
        fit, check = order[: CHOICE[0]], order[CHOICE[0] : sum(CHOICE)]
        grid = list(product(np.multiply(WIDTHS, np.sqrt(X.shape[1])), ALPHAS))
        for side in (ours, peer):
            chosen = [(error(side, p, X[fit], y[fit], X[check], y[check]), p) for p in grid]
            best = min(chosen)[1]
            start = time.perf_counter()
            found = error(side, best, X, y, Z, truth)
            seconds = time.perf_counter() - start
            row = f"| {name}, {len(X):,} | {side.__name__} | {seconds:.0f} | {found:.4f} "
            print(f"{row}| {best[0]:.3g}, {best[1]:g} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
