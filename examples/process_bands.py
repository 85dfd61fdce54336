"""Gaussian processes without any argument: errors, and how often their bands hold what they have not seen.

A row for each set: R2 on held-out rows of GaussianProcessRegressor() and of KernelRidge(), the share of
held-out targets in the band of 1.96 standard deviations about the mean, which should be 0.95, and the mean
width of the band in standard deviations of the targets.  Features are standardised: both have one width.

Run: python examples/process_bands.py
"""

import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from mercer.machines import GaussianProcessRegressor, KernelRidge

TRAIN, TEST = 1000, 1000
FOLDER = Path(
    os.environ.get("MERCER_DATA") or Path(__file__).resolve().parent.parent.parent / "shared" / "data"
)


def rows(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, targets, and which rows are held out."""
    if name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
        return X, y, np.random.default_rng(0).permutation(len(y)) >= 300
    values = np.loadtxt(FOLDER / "regression" / f"{name}.csv.gz", delimiter=",")
    mask = np.loadtxt(FOLDER / "regression" / f"{name}.test_mask.csv.gz", delimiter=",")
    return values[:, :-1], values[:, -1], mask[:, 0] > 0  # the first of its splits


def compare(name: str) -> None:
    X, y, held_out = rows(name)
    rng = np.random.default_rng(0)
    train, test = (rng.permutation(np.flatnonzero(part)) for part in (~held_out, held_out))
    train, test = train[:TRAIN], test[:TEST]
    spread = X[train].std(axis=0)
    X = (X - X[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    process = GaussianProcessRegressor().fit(X[train], y[train])
    mean, std = process.predict(X[test], return_std=True, include_noise=True)
    inside = np.mean(np.abs(y[test] - mean) < 1.96 * std)
    width = np.mean(2 * 1.96 * std) / y[test].std()
    ridge = KernelRidge().fit(X[train], y[train]).score(X[test], y[test])
    print(
        f"{name:10}{len(train):6}{process.score(X[test], y[test]):9.3f}{ridge:9.3f}{inside:10.3f}{width:8.2f}"
    )


if __name__ == "__main__":
    print(f"{'set':10}{'n':>6}{'process':>9}{'ridge':>9}{'coverage':>10}{'width':>8}")
    for name in ("diabetes", "kin40k", "protein", "elevators", "bike"):
        try:
            compare(name)
        except FileNotFoundError as error:
            print(f"{name:10}  {error} It is skipped; set MERCER_DATA to the folder with regression/.")
