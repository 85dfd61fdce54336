"""Exact Shapley values of a support vector machine, against the sampled ones of shap."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from mercer import shapley
from mercer.kernels import Gaussian
from mercer.machines import SVC

from .harness import Case

#: shap takes ten seconds for a row: it explains a part of them, and is asked for that part of the ratio.
ROWS, PEER_ROWS = 100, 5
TARGET = 50


class Data(NamedTuple):
    model: SVC
    rows: np.ndarray
    background: np.ndarray


def machine() -> Data:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000 + ROWS, 20))
    y = X[:, 0] * X[:, 1] + X[:, 2] > 0
    return Data(SVC(Gaussian(5.0)).fit(X[:1000], y[:1000]), X[1000:], X[:100])


def ours(data: Data) -> np.ndarray:
    return shapley(data.model, data.rows, background=data.background).values


def kernel_explainer(data: Data) -> np.ndarray:
    from shap import KernelExplainer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = KernelExplainer(data.model.decision_function, data.background)
        return np.asarray(explainer.shap_values(data.rows[:PEER_ROWS], silent=True))


def agree(exact: np.ndarray, sampled: np.ndarray) -> bool:
    """Equal to the error of the 2,088 coalitions that shap draws."""
    return bool(np.abs(exact[:PEER_ROWS] - sampled).max() < 0.1 * np.abs(exact).max())


CASES: list[Case] = []

if find_spec("shap"):
    CASES.append(
        Case(
            "shapley",
            f"Shapley values of an RBF SVM, d=20, {ROWS} rows ({PEER_ROWS} of the peer: ratio x "
            f"{ROWS // PEER_ROWS} for equal work), 100 background rows",
            "shap `KernelExplainer`, sampled",
            machine,
            ours,
            kernel_explainer,
            agree,
            repeats=1,
            target=TARGET * PEER_ROWS / ROWS,
            warm=False,
        )
    )
