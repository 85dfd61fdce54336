"""Rows: handwritten digits, classified by kernels on histograms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...kernel import Kernel
from ...kernels import ChiSquare, Gaussian, Hellinger, Intersection, Linear
from .data import load_digits
from .tasks import Task, Trial

__all__ = ["TASK", "one_against_rest"]

FOLDS = 5
ALPHA = 0.01


def one_against_rest(y: np.ndarray) -> np.ndarray:
    """Targets of least-squares classification: a column per class, +1 for its members and -1 for the rest."""
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)


def _folds(y: np.ndarray) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y)


def _ridge(kernel: Kernel) -> Trial:
    def score(data: tuple[np.ndarray, np.ndarray]) -> float:
        from ...machines import KernelRidge

        X, y = data
        targets, classes = one_against_rest(y), np.unique(y)
        right = 0
        for train, test in _folds(y):
            machine = KernelRidge(kernel, alpha=ALPHA).fit(X[train], targets[train])
            right += int((classes[machine.predict(X[test]).argmax(axis=1)] == y[test]).sum())
        return right / len(y)

    return Trial(repr(kernel), score)


def _accuracy(machine: Callable[[], Any]) -> Callable[[Any], float]:
    def score(data: tuple[np.ndarray, np.ndarray]) -> float:
        from sklearn.model_selection import cross_val_score

        X, y = data
        return float(cross_val_score(machine(), X, y, cv=list(_folds(y))).mean())

    return score


def _trial(name: str, kernel: Kernel, shown: str = "", **parameters: float) -> Trial:
    """A machine of the library by its name; ``shown`` is what its row says of the parameters."""

    def machine() -> Any:
        from ... import machines

        return getattr(machines, name)(kernel, **parameters)

    return Trial(f"{name}({kernel!r}{shown})", _accuracy(machine))


def _libsvm() -> Any:
    from sklearn.svm import SVC

    return SVC(C=10.0)


TASK = Task(
    name="digits",
    measure="accuracy",
    note=lambda data: (
        f"{len(data[0])} images as histograms of ink, ten one-against-rest targets, {FOLDS} folds, "
        f"penalty {ALPHA:g}."
    ),
    load=load_digits,
    trials=(
        _ridge(Linear()),
        _ridge(Gaussian("median")),
        _ridge(Intersection(1.0)),
        _ridge(Hellinger(2).schoenberg(2.0)),
        _ridge(ChiSquare().schoenberg(2.0)),
        _trial("SVC", Gaussian("scale"), ", C=10", C=10.0),
        _trial("SVC", ChiSquare().schoenberg(2.0), ", C=10", C=10.0),
        _trial("KernelLogistic", ChiSquare().schoenberg(2.0), alpha=ALPHA),
        _trial("KernelDiscriminant", ChiSquare().schoenberg(2.0), alpha=ALPHA),
        Trial("scikit-learn SVC, Gaussian", _accuracy(_libsvm), ours=False),
    ),
)
