"""Rows: progression of diabetes, a regression on ten measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernel import Kernel
from ...kernels import Gaussian, Laplacian, Linear, Matern
from .data import load_diabetes
from .tasks import Task, Trial

__all__ = ["TASK"]

ALPHAS = (0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Data:
    """Patients, and the numbers of folds for scores and, inside each, for choices."""

    X: np.ndarray
    y: np.ndarray
    outer: int
    inner: int


def _load(quick: bool) -> Data:
    X, y = load_diabetes(quick)
    return Data(X, y, outer=3 if quick else 5, inner=2 if quick else 3)


def _score(machine: Callable[[], Any], parameter: str, values: tuple[float, ...]) -> Callable[[Any], float]:
    """Cross-validated R² of a machine whose parameter is chosen inside each training fold."""

    def score(data: Data) -> float:
        from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

        inner = KFold(data.inner, shuffle=True, random_state=1)
        outer = KFold(data.outer, shuffle=True, random_state=0)
        search = GridSearchCV(machine(), {parameter: values}, cv=inner)
        return float(cross_val_score(search, data.X, data.y, cv=outer, scoring="r2").mean())

    return score


def _ridge(kernel: Kernel) -> Trial:
    def machine() -> Any:
        from ...machines import KernelRidge

        return KernelRidge(kernel, fit_intercept=True)

    return Trial(repr(kernel), _score(machine, "alpha", ALPHAS))


def _left_out(kernel: Kernel) -> Trial:
    """The penalty from leave-one-out errors in closed form, instead of a search."""

    def score(data: Data) -> float:
        from sklearn.model_selection import KFold, cross_val_score

        from ...machines import KernelRidge

        machine = KernelRidge(kernel, alpha="loo", alphas=np.logspace(-2, 3, 30), fit_intercept=True)
        outer = KFold(data.outer, shuffle=True, random_state=0)
        return float(cross_val_score(machine, data.X, data.y, cv=outer, scoring="r2").mean())

    return Trial(f"{kernel!r}, alpha='loo'", score)


def _reference() -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.preprocessing import StandardScaler

    # It has no intercept: the targets are centred instead.
    return TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler())


def _support_vectors() -> Any:
    from sklearn.svm import SVR

    return SVR()


TASK = Task(
    name="diabetes",
    measure="R²",
    note=lambda data: (
        f"{len(data.X)} patients, {data.outer} folds, the penalty chosen within each training fold, by a "
        "search or (alpha='loo') by leave-one-out errors of 30 penalties in closed form."
    ),
    load=_load,
    trials=(
        _ridge(Linear()),
        _ridge(Gaussian("median")),
        _ridge(Matern(1.5, "median")),
        _ridge(Laplacian("median")),
        _ridge(Linear() + 0.1 * Gaussian("median")),
        _left_out(Linear() + 0.1 * Gaussian("median")),
        Trial(
            "scikit-learn KernelRidge, Gaussian", _score(_reference, "regressor__alpha", ALPHAS), ours=False
        ),
        Trial(
            "scikit-learn SVR, Gaussian",
            _score(_support_vectors, "C", (1.0, 10.0, 100.0, 1000.0)),
            ours=False,
        ),
    ),
)
