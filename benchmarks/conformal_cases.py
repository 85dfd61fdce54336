"""Jackknife+ intervals from one factor, against MAPIE, which fits one model for each point."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.model_selection import LeaveOneOut

from mercer.kernels import Gaussian
from mercer.machines import Conformal, KernelRidge

from .harness import Case

Data = tuple[np.ndarray, np.ndarray, np.ndarray]

SIGMA, PENALTY, ALPHA = 3.0, 0.1, 0.1


def sample(n: int, new: int = 200) -> Data:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n + new, 10))
    return X[:n], np.sin(X[:n, 0]) + 0.1 * rng.standard_normal(n), X[n:]


def ours(data: Data) -> np.ndarray:
    X, y, new = data
    model = Conformal(KernelRidge(Gaussian(SIGMA), alpha=PENALTY), method="jackknife+")
    return np.asarray(model.fit(X, y).predict_interval(new, ALPHA))


def mapie(data: Data) -> np.ndarray:
    from mapie.regression import CrossConformalRegressor

    X, y, new = data
    machine = SklearnKernelRidge(kernel="rbf", gamma=1 / (2 * SIGMA**2), alpha=PENALTY)
    model = CrossConformalRegressor(machine, confidence_level=1 - ALPHA, method="plus", cv=LeaveOneOut())
    return np.asarray(model.fit_conformalize(X, y).predict_interval(new)[1][:, :, 0])


CASES: list[Case] = []

if find_spec("mapie"):
    CASES.append(
        Case(
            "jackknife",
            "jackknife+ intervals of kernel ridge regression, n=2,000 d=10, 200 new points",
            "MAPIE `CrossConformalRegressor`, leave-one-out",
            lambda: sample(2000),
            ours,
            mapie,
            lambda a, b: bool(np.allclose(a, b, rtol=1e-8, atol=1e-9)),
            repeats=1,
            target=200,
            warm=False,
        )
    )
