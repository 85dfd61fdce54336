"""Machines and kinds of data for the laws of fitted models: every machine is fitted on every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse

import mercer
from mercer import Kernel, parameter
from mercer.domains import Vectors
from mercer.kernels import (
    BagOfWords,
    Gaussian,
    GaussianProduct,
    GlobalAlignment,
    Intersection,
    Jaccard,
    Precomputed,
    Spectrum,
    Subsequence,
    SubsetTree,
    columns,
)
from mercer.machines import (
    SVC,
    SVR,
    Cells,
    Conformal,
    EnclosingBall,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelCCA,
    KernelDiscriminant,
    KernelGraphInference,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelPerceptron,
    KernelRanker,
    KernelRidge,
    LabelPropagation,
    LabelSpreading,
    LaplacianRLS,
    LaplacianRLSClassifier,
    LaplacianSVC,
    MultipleKernelOneClass,
    MultipleKernelRidge,
    MultipleKernelSVC,
    MultipleKernelSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    ProxySVC,
    RepresenterMachine,
    SupervisedReduction,
)

#: Points that are fitted, and points that are predicted.
N, NEW = 24, 6


class Kind(NamedTuple):
    """A kind of data: the kernel, training points and new points; each call makes them anew."""

    kernel: Kernel
    draw: Callable[[], tuple[Any, Any]]


@mercer.kernel(assume="PSD", reason="counts of shared letters")
def shared_letters(x: str, y: str) -> float:
    return len(set(x) & set(y))


class Overlap(Kernel):
    """Share of equal coordinates."""

    sharpness: int = parameter(default=1, low=1, integer=True)

    @property
    def domain(self) -> Vectors:
        return Vectors(dense=True)

    def __call__(self, x: Any, y: Any) -> float:
        return float(np.mean(np.asarray(x) == np.asarray(y))) ** self.sharpness


@mercer.kernel(assume="PSD", reason="a Gaussian")
def bell(x: dict[str, np.ndarray], y: dict[str, np.ndarray]) -> float:
    return float(np.exp(-np.sum((x["v"] - y["v"]) ** 2)))


def _numbers() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((N + NEW, 3))


def _split(points: Any) -> tuple[Any, Any]:
    return points[:N], points[N:]


def _vectors() -> tuple[Any, Any]:
    return _split(_numbers())


def _sparse() -> tuple[Any, Any]:
    X = _numbers()
    X[np.abs(X) < 0.5] = 0.0
    return _split(scipy.sparse.csr_array(X))


def _words() -> list[str]:
    rng = np.random.default_rng(1)
    return ["".join(rng.choice(list("abcd"), int(rng.integers(4, 12)))) for _ in range(N + NEW)]


def _texts() -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    words = np.array(["red", "green", "blue", "sky", "sea", "the"])
    return _split([" ".join(rng.choice(words, int(rng.integers(3, 9)))) for _ in range(N + NEW)])


def _series() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    return _split([rng.standard_normal((int(rng.integers(4, 8)), 2)).cumsum(axis=0) for _ in range(N + NEW)])


def _trees() -> tuple[Any, Any]:
    return _split([["S", ["NP", *w[:3]], ["VP", list(w[3:])]] for w in _words()])


def _histograms() -> tuple[Any, Any]:
    return _split(np.random.default_rng(4).dirichlet(np.ones(4), N + NEW))


def _measures() -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    return _split([(rng.standard_normal(2), np.eye(2) * rng.uniform(0.5, 2.0)) for _ in range(N + NEW)])


def _frame() -> tuple[Any, Any]:
    X = _numbers()
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": _words()})
    return frame.iloc[:N].copy(), frame.iloc[N:].copy()


def _precomputed() -> tuple[Any, Any]:
    X = _numbers()
    K = Gaussian(1.5).block(X)
    return K[:N, :N].copy(), K[N:, :N].copy()


def _objects() -> tuple[Any, Any]:
    return _split([{"v": row.copy()} for row in _numbers()])


def _digits() -> tuple[Any, Any]:
    return _split(np.random.default_rng(6).integers(0, 3, (N + NEW, 5)).astype(float))


KINDS: dict[str, Kind] = {
    "vectors": Kind(Gaussian(1.5), _vectors),
    "data-dependent width": Kind(Gaussian("median"), _vectors),
    "sparse": Kind(Gaussian(1.5), _sparse),
    "strings": Kind(Spectrum(2).normalized(), lambda: _split(_words())),
    "composite": Kind(Spectrum(2) + Subsequence(2) * 0.1, lambda: _split(_words())),
    "tokens": Kind(Spectrum(2), lambda: _split([list(w) for w in _words()])),
    "texts": Kind(BagOfWords(idf="fit").normalized(), _texts),
    "series": Kind(GlobalAlignment(1.0).normalized(), _series),
    "trees": Kind(SubsetTree(0.5).normalized(), _trees),
    "sets": Kind(Jaccard(), lambda: _split([set(w) for w in _words()])),
    "histograms": Kind(Intersection(), _histograms),
    "measures": Kind(GaussianProduct(), _measures),
    "frames": Kind(columns({("a", "b"): Gaussian(1.0), "word": Spectrum(2)}), _frame),
    "precomputed": Kind(Precomputed(), _precomputed),
    "decorated": Kind(shared_letters, lambda: _split(_words())),
    "subclass": Kind(Overlap(2), _digits),
    "objects": Kind(bell, _objects),
}

#: Machines by name: a constructor, what the targets are, and the methods that predict.
MACHINES: dict[str, tuple[Callable[[Kernel], Any], str, tuple[str, ...]]] = {
    "SVC": (lambda k: SVC(kernel=k), "classes", ("decision_function", "predict")),
    "SVC probability": (lambda k: SVC(kernel=k, probability=True), "labels", ("predict_proba",)),
    "SVC ovr": (lambda k: SVC(kernel=k, multiclass="ovr"), "classes", ("predict",)),
    "NuSVC": (lambda k: NuSVC(kernel=k, nu=0.8), "labels", ("decision_function",)),
    "SVR": (lambda k: SVR(kernel=k), "numbers", ("predict",)),
    "NuSVR": (lambda k: NuSVR(kernel=k), "numbers", ("predict",)),
    "OneClassSVM": (lambda k: OneClassSVM(kernel=k), "none", ("decision_function",)),
    "EnclosingBall": (lambda k: EnclosingBall(kernel=k), "none", ("predict",)),
    "KernelRidge": (lambda k: KernelRidge(kernel=k), "numbers", ("predict",)),
    "GaussianProcessRegressor": (
        lambda k: GaussianProcessRegressor(kernel=k, alpha=0.1, tune=None),
        "numbers",
        ("predict",),
    ),
    "GaussianProcessClassifier": (
        lambda k: GaussianProcessClassifier(kernel=k, tune=None),
        "labels",
        ("predict",),
    ),
    "KernelLogistic": (lambda k: KernelLogistic(kernel=k), "classes", ("predict_proba",)),
    "KernelDiscriminant": (lambda k: KernelDiscriminant(kernel=k), "classes", ("predict_proba",)),
    "KernelPCA": (lambda k: KernelPCA(kernel=k, n_components=2), "none", ("transform",)),
    "KernelCCA": (lambda k: KernelCCA(k, kernel_y=Gaussian(1.0), n_components=1), "view", ("transform",)),
    "SupervisedReduction": (lambda k: SupervisedReduction(kernel=k), "view", ("transform",)),
    "KernelGraphInference": (lambda k: KernelGraphInference(kernel=k), "graph", ("transform",)),
    "KernelKMeans": (lambda k: KernelKMeans(kernel=k, n_clusters=2), "none", ("transform",)),
    "KernelPerceptron": (
        lambda k: KernelPerceptron(kernel=k, random_state=0),
        "classes",
        ("decision_function",),
    ),
    "PegasosSVC": (lambda k: PegasosSVC(kernel=k, random_state=0), "labels", ("decision_function",)),
    "RepresenterMachine": (lambda k: RepresenterMachine(kernel=k), "numbers", ("predict",)),
    "ProxySVC": (lambda k: ProxySVC(kernel=k), "classes", ("decision_function", "predict")),
    "KernelRanker": (lambda k: KernelRanker(kernel=k), "numbers", ("predict",)),
    "LaplacianRLS": (lambda k: LaplacianRLS(kernel=k), "some numbers", ("predict",)),
    "LaplacianRLSClassifier": (
        lambda k: LaplacianRLSClassifier(kernel=k),
        "some classes",
        ("decision_function",),
    ),
    "LaplacianSVC": (lambda k: LaplacianSVC(kernel=k), "some classes", ("decision_function",)),
    "LabelPropagation": (lambda k: LabelPropagation(kernel=k), "some classes", ("predict_proba",)),
    "LabelSpreading": (lambda k: LabelSpreading(kernel=k), "some classes", ("predict_proba",)),
    "MultipleKernelSVC": (
        lambda k: MultipleKernelSVC([k, k * k]),
        "classes",
        ("decision_function", "predict"),
    ),
    "MultipleKernelSVR": (lambda k: MultipleKernelSVR([k, k * k], norm=2.0), "numbers", ("predict",)),
    "MultipleKernelRidge": (lambda k: MultipleKernelRidge([k, k * k]), "numbers", ("predict",)),
    "MultipleKernelOneClass": (lambda k: MultipleKernelOneClass([k, k * k]), "none", ("decision_function",)),
    "Cells": (lambda k: Cells(SVC(kernel=k), max_size=10, random_state=0), "classes", ("predict",)),
    "Conformal": (
        lambda k: Conformal(KernelRidge(kernel=k), method="jackknife+"),
        "numbers",
        ("predict", "predict_interval"),
    ),
}


#: Machines that compare new points with themselves, or with some of the training points, of which a matrix
#: with the training points tells nothing.
NOT_PRECOMPUTED = ("EnclosingBall", "KernelKMeans", "Cells")

CASES = [(m, k) for m in MACHINES for k in KINDS if k != "precomputed" or m not in NOT_PRECOMPUTED]


def targets(what: str, n: int = N) -> Any:
    """Targets of n training points."""
    rng = np.random.default_rng(7)
    if what == "none":
        return None
    if what == "view":
        return rng.standard_normal((n, 2))
    if what == "graph":
        return np.arange(n) % 3
    y = rng.standard_normal(n) if what.endswith("numbers") else np.arange(n) % (2 if what == "labels" else 3)
    if what == "some numbers":
        y[::2] = np.nan
    if what == "some classes":
        y[9:] = -1
    return y


def predictions(model: Any, methods: tuple[str, ...], X: Any) -> list[np.ndarray]:
    """What the machine says of points, method by method."""
    return [np.asarray(getattr(model, method)(X)) for method in methods]
