"""Gamma rays or hadrons? A grid of widths and penalties on images of a telescope, in one search.

Run: python examples/search.py
"""

import gzip
import time

import numpy as np
from _data import find
from sklearn.model_selection import GridSearchCV, train_test_split

from mercer.kernels import Gaussian
from mercer.machines import SVC
from mercer.selection import KernelSearchCV


def load() -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(find("vectors/magic04.gz"), "rt") as lines:
        rows = [line.strip().split(",") for line in lines]
    X = np.array([row[:-1] for row in rows], dtype=float)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.array([row[-1] for row in rows])


def main() -> None:
    X, X_new, y, y_new = train_test_split(*load(), train_size=2000, random_state=0)
    grid = {
        "kernel": [Gaussian(float(s)) for s in np.geomspace(0.5, 10, 6)],
        "C": np.geomspace(0.1, 1000, 6).tolist(),
    }
    print(f"{len(y)} showers, {X.shape[1]} numbers each; {len(grid['kernel'])} widths, {len(grid['C'])} C\n")
    for name, search in (
        ("KernelSearchCV", KernelSearchCV(SVC(), grid)),
        ("GridSearchCV", GridSearchCV(SVC(), grid)),
    ):
        started = time.perf_counter()
        search.fit(X, y)
        best = search.best_params_
        print(
            f"{name:15} {time.perf_counter() - started:6.1f} s   best {best['kernel']!r}, C={best['C']:.3g}: "
            f"{search.best_score_:.4f} in cross-validation, {search.score(X_new, y_new):.4f} on new showers"
        )
        for note in getattr(search, "notes_", []):
            print(f"{'':15} {note}")


if __name__ == "__main__":
    main()
