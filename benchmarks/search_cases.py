"""Cases of the search over kernels and penalties, against scikit-learn's GridSearchCV over its SVC."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.model_selection import GridSearchCV

from mercer.kernels import Gaussian
from mercer.machines import SVC
from mercer.selection import KernelSearchCV

from .harness import Case
from .svm_cases import a9a, magic04

Data = tuple[np.ndarray, np.ndarray]

#: Ten widths and ten penalties; the best pair lies inside for both data sets.
SIGMAS, PENALTIES = np.geomspace(0.5, 10, 10), np.geomspace(0.1, 1000, 10)

#: The two peers of a search have this many jobs.
JOBS = 2


def rows(load: Callable[[], Data], n: int = 5000) -> Callable[[], Data]:
    """Some rows in random order."""

    @cache
    def make() -> Data:
        X, y = load()
        order = np.random.default_rng(0).permutation(len(y))[:n]
        return X[order], y[order]

    return make


def ours(data: Data) -> Any:
    grid = {"kernel": [Gaussian(float(s)) for s in SIGMAS], "C": PENALTIES.tolist()}
    return KernelSearchCV(SVC(), grid, cv=5, refit=False, n_jobs=JOBS).fit(*data)


def theirs(data: Data) -> Any:
    grid = {"gamma": (0.5 / SIGMAS**2).tolist(), "C": PENALTIES.tolist()}
    return GridSearchCV(sklearn.svm.SVC(), grid, cv=5, refit=False, n_jobs=JOBS).fit(*data)


def same_best_score(a: Any, b: Any) -> bool:
    """Equal up to two of 5,000 points: decision values within the tolerance of zero."""
    return bool(abs(a.best_score_ - b.best_score_) <= 2 / 5000)


CASES = [
    Case(
        f"search_{name}",
        f"10 x 10 grid (sigma, C), 5 folds, 5,000 rows of {name}",
        "scikit-learn `GridSearchCV(SVC)`, 2 jobs",
        rows(load),
        ours,
        theirs,
        same_best_score,
        repeats=1,
        target=20,
        warm=False,
    )
    for name, load in (("magic04", magic04), ("a9a", lambda: a9a(True)))
]
