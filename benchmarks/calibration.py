"""Probabilities of ``SVC(probability=True)`` against scikit-learn's ``CalibratedClassifierCV``.

``python -m benchmarks.calibration [names]`` prints, for each data set, the Brier score and the calibration
error (15 bins, of the most probable class) of both on the same splits, and the times of both fits.  Data sets
that do not come with scikit-learn are read from the folder ``vectors`` in ``MERCER_DATA``.
"""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Callable

import numpy as np
import sklearn.svm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer.machines import SVC

from .svm_cases import Data, a9a, folder

MOST_TRAINING, MOST_TEST, BINS, SEEDS = 3000, 10000, 15, 3


def table(name: str, skip: int = 0, separator: str | None = ",", label: int = -1) -> Callable[[], Data]:
    """A text file with one point per line, one column of which is the label."""

    def load() -> Data:
        with gzip.open(folder() / f"{name}.gz", "rt") as file:
            rows = [line.split(separator) for line in file.read().splitlines()[skip:] if line]
        labels = np.array([row.pop(label).strip() for row in rows])
        return np.array(rows, dtype=np.float64), labels

    return load


DATA: dict[str, Callable[[], Data]] = {
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "spambase": table("spambase", skip=1),
    "magic04": table("magic04"),
    "a9a": lambda: a9a(dense=True),
    "letter": table("letter", separator=None, label=0),
}


def brier(P: np.ndarray, codes: np.ndarray) -> float:
    """Mean squared distance of the probabilities from the labels."""
    return float(np.mean(np.sum((P - np.eye(P.shape[1])[codes]) ** 2, axis=1)))


def calibration_error(P: np.ndarray, codes: np.ndarray) -> float:
    """Mean difference, over bins, of confidence and share of right predictions."""
    top, right = P.max(axis=1), P.argmax(axis=1) == codes
    place = np.minimum((BINS * top).astype(int), BINS - 1)
    return float(np.abs(np.bincount(place, top - right, BINS)).sum() / len(codes))


def compare(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Brier score, calibration error and seconds: a row for ours and a row for the peer."""
    n = min(MOST_TRAINING, 6 * len(y) // 10)
    A, B, a, b = train_test_split(
        X, y, train_size=n, test_size=min(MOST_TEST, len(y) - n), stratify=y, random_state=seed
    )
    scaler = StandardScaler().fit(A)
    A, B, codes = scaler.transform(A), scaler.transform(B), np.searchsorted(np.unique(y), b)
    peer = CalibratedClassifierCV(sklearn.svm.SVC(), method="sigmoid", cv=5)
    rows = []
    for model in (SVC(probability=True), peer):
        start = time.perf_counter()
        model.fit(A, a)
        seconds = time.perf_counter() - start
        P = model.predict_proba(B)
        rows.append([brier(P, codes), calibration_error(P, codes), seconds])
    return np.array(rows)


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in DATA]:
        print(f"unknown: {', '.join(unknown)}. There are: {', '.join(DATA)}.", file=sys.stderr)
        return 2
    print(f"means of {SEEDS} splits, at most {MOST_TRAINING} training points; ours / CalibratedClassifierCV")
    print(f"{'data':14}{'Brier score':>19}{'calibration error':>21}{'seconds':>17}")
    for name in names or DATA:
        X, y = DATA[name]()
        ours, peer = np.mean([compare(X, y, seed) for seed in range(SEEDS)], axis=0)
        cells = [f"{a:.4f} / {b:.4f}" for a, b in zip(ours, peer, strict=True)]
        print(f"{name:14}{cells[0]:>19}{cells[1]:>21}{cells[2]:>17}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
