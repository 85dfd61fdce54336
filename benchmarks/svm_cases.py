"""Cases of the support vector machines, against scikit-learn (LIBSVM) and scikit-learn-intelex (oneDAL)."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.svm
from sklearn.datasets import load_digits, load_svmlight_file, make_classification

from mercer.kernels import Gaussian, Linear, Precomputed
from mercer.machines import SVC, SVR, OneClassSVM

from .harness import Case

Data = tuple[Any, np.ndarray]


# -- data ---------------------------------------------------------------------------------------
def folder() -> Path:
    here = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("MERCER_DATA", here)) / "vectors"


def synthetic(n: int, d: int, noise: float, seed: int = 0) -> Callable[[], Data]:
    """Two classes, standardised; ``noise`` is the share of labels drawn at random."""

    @cache
    def make() -> Data:
        X, y = make_classification(
            n,
            d,
            n_informative=d // 2,
            n_redundant=d // 4,
            class_sep=0.7,
            flip_y=noise,
            random_state=seed,
        )
        return (X - X.mean(axis=0)) / X.std(axis=0), y

    return make


def regression(n: int, d: int, seed: int = 0) -> Callable[[], Data]:
    def make() -> Data:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n)

    return make


def a9a(dense: bool) -> Data:
    with gzip.open(folder() / "a9a.gz") as lines:
        X, y = load_svmlight_file(lines, n_features=123)
    if dense:
        return X.toarray(), y
    narrow = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LIBSVM wants these
    return scipy.sparse.csr_matrix((X.data, *narrow), X.shape), y


def letter() -> Data:
    with gzip.open(folder() / "letter.gz", "rt") as lines:
        rows = [line.replace(",", " ").split() for line in lines]
    X = np.array([row[1:] for row in rows], dtype=float)
    return X[:15_000], np.array([row[0] for row in rows])[:15_000]


def magic04() -> Data:
    with gzip.open(folder() / "magic04.gz", "rt") as lines:
        rows = [line.strip().split(",") for line in lines]
    order = np.random.default_rng(0).permutation(len(rows))[:15_000]
    X = np.array([row[:-1] for row in rows], dtype=float)[order]
    return (X - X.mean(axis=0)) / X.std(axis=0), np.array([row[-1] for row in rows])[order]


def digits() -> Data:
    X, y = load_digits(return_X_y=True)
    return X[:1437] / 16, y[:1437]


# -- the three sides ----------------------------------------------------------------------------
def sklearnex(name: str) -> Any:
    import sklearnex.svm

    return getattr(sklearnex.svm, name)


def ours(machine: type, gamma: float, **parameters: Any) -> Callable[[Data], Any]:
    return lambda data: machine(kernel=Gaussian.from_gamma(gamma), **parameters).fit(*data)


def theirs(machine: Callable[[], type], gamma: float, **parameters: Any) -> Callable[[Data], Any]:
    return lambda data: machine()(gamma=gamma, **parameters).fit(*data)


def same_support(a: Any, b: Any, share: float = 0.02) -> bool:
    """Support vectors in about equal number: the same problem was solved."""
    return bool(abs(len(a.support_) - len(b.support_)) <= share * len(b.support_) + 5)


def against(
    name: str,
    work: str,
    setup: Callable[[], Data],
    gamma: float,
    targets: tuple[float | None, float | None],
    machine: str = "SVC",
    repeats: tuple[int, int] = (1, 1),
    warm: bool = True,
    **parameters: Any,
) -> list[Case]:
    """One case per peer."""
    here = {"SVC": SVC, "SVR": SVR, "OneClassSVM": OneClassSVM}[machine]
    peers = [
        ("libsvm", f"scikit-learn `{machine}`", lambda: getattr(sklearn.svm, machine)),
        ("onedal", f"sklearnex `{machine}`", lambda: sklearnex(machine)),
    ]
    cases = []
    for (label, title, peer), target, count in zip(peers, targets, repeats, strict=True):
        if target is None or (label == "onedal" and find_spec("sklearnex") is None):
            continue
        cases.append(
            Case(
                f"svm_{name}_{label}",
                work,
                title,
                setup,
                ours(here, gamma, **parameters),
                theirs(peer, gamma, **parameters),
                same_support,
                repeats=count,
                target=target,
                warm=warm,
            )
        )
    return cases


@cache
def _many_support_vectors() -> Data:
    return synthetic(30_000, 50, 0.3)()


def _fitted(peer: Callable[[], type]) -> Callable[[], tuple[Any, Any, np.ndarray]]:
    """Our machine and the peer's with about 14,000 support vectors each, and 6,000 points to predict."""

    def make() -> tuple[Any, Any, np.ndarray]:
        X, y = _many_support_vectors()
        train = X[:24_000], y[:24_000]
        return ours(SVC, 1 / 50)(train), theirs(peer, 1 / 50)(train), X[24_000:]

    return make


def _prediction(label: str, title: str, peer: Callable[[], type], target: float) -> Case:
    return Case(
        f"svm_predict_{label}",
        "SVC predict, 6,000 rows, 14,000 support vectors",
        title,
        _fitted(peer),
        lambda data: data[0].predict(data[2]),
        lambda data: data[1].predict(data[2]),
        lambda a, b: bool((a == b).mean() > 0.999),
        repeats=3,
        target=target,
    )


def path(name: str, data: str, setup: Callable[[], Data], gamma: float, target: float | None = None) -> Case:
    """Ten values of C along a path, against one fit for each."""
    kernel, Cs = Gaussian.from_gamma(gamma), np.logspace(-1, 2, 10)

    def along(data: Data) -> list[Any]:
        return SVC(kernel).path(*data, Cs)

    def one_by_one(data: Data) -> list[Any]:
        return [SVC(kernel, C=C).fit(*data) for C in Cs]

    return Case(
        name,
        f"C path of 10 values, {data}",
        "10 cold fits of ours",
        setup,
        along,
        one_by_one,
        lambda a, b: all(same_support(x, y, 0.04) for x, y in zip(a, b, strict=True)),
        repeats=3,
        target=target,
    )


def linear() -> Case:
    """A kernel of low rank, and a C far beyond what the data ask for."""
    return Case(
        "svm_linear_libsvm",
        "SVC fit, linear kernel, 5,000 x 20, C=100",
        "scikit-learn `SVC`",
        synthetic(5000, 20, 0.1),
        lambda data: SVC(Linear(), C=100.0).fit(*data),
        lambda data: sklearn.svm.SVC(C=100.0, kernel="linear").fit(*data),
        same_support,
        repeats=1,
    )


def precomputed(label: str, kernel: Precomputed) -> Case:
    """A matrix that is there already."""

    def setup() -> Data:
        X, y = synthetic(6000, 20, 0.1)()
        return Gaussian.from_gamma(1 / 20).block(X), y

    return Case(
        f"svm_precomputed_{label}",
        f"SVC fit, precomputed matrix, 6,000 x 6,000, {label}",
        "scikit-learn `SVC`",
        setup,
        lambda data: SVC(kernel).fit(*data),
        lambda data: sklearn.svm.SVC(kernel="precomputed").fit(*data),
        same_support,
        repeats=3,
    )


SVM_CASES: list[Case] = [
    *against(
        "8k_c1", "SVC fit, 8,000 x 20, C=1", synthetic(8000, 20, 0.1), 1 / 20, (5, 2), repeats=(3, 3), C=1.0
    ),
    *against("8k_c100", "SVC fit, 8,000 x 20, C=100", synthetic(8000, 20, 0.1), 1 / 20, (5, 2), C=100.0),
    *against("24k", "SVC fit, 24,000 x 50, C=1, noisy", synthetic(24_000, 50, 0.3), 1 / 50, (5, 2), C=1.0),
    *against(
        "digits", "SVC fit, digits, 1,437 x 64", digits, 1.0 / (64 * 0.141), (1.5, 3), repeats=(11, 5), C=1.0
    ),
    *against("svr", "SVR fit, 8,000 x 20", regression(8000, 20), 1 / 20, (5, 2), "SVR", C=1.0, epsilon=0.1),
    *against(
        "oneclass",
        "OneClassSVM fit, 20,000 x 20",
        lambda: (synthetic(20_000, 20, 0.1)()[0], None),
        1 / 20,
        (5, None),
        "OneClassSVM",
        nu=0.5,
    ),
    path("svm_path", "8,000 x 20", synthetic(8000, 20, 0.1), 1 / 20, target=2),
    path("svm_path_wide", "8,000 x 200", synthetic(8000, 200, 0.1), 1 / 200),
    path("svm_path_digits", "digits 1,437 x 64, ten classes", digits, 1.0 / (64 * 0.141)),
    linear(),
    precomputed("checked", Precomputed()),
    precomputed("assumed", Precomputed().assume("PSD", "a Gaussian kernel")),
    *against(
        "cache",
        "SVC fit, 24,000 x 50, cache of 10 % of the Gram matrix",
        synthetic(24_000, 50, 0.3),
        1 / 50,
        (5, None),
        C=1.0,
        cache_size=24_000**2 * 4 * 0.1 / 1e6,
    ),
]

if find_spec("sklearnex"):
    SVM_CASES.append(_prediction("onedal", "sklearnex `SVC`", lambda: sklearnex("SVC"), 1.5))
SVM_CASES.append(_prediction("libsvm", "scikit-learn `SVC`", lambda: sklearn.svm.SVC, 12))

if folder().exists():
    SVM_CASES += [
        *against(
            "a9a",
            "SVC fit, a9a 32,561 x 123, dense",
            lambda: a9a(True),
            0.03,
            (10, 2),
            repeats=(1, 1),
            warm=False,
            C=1.0,
        ),
        *against(
            "a9a_csr",
            "SVC fit, a9a 32,561 x 123, CSR",
            lambda: a9a(False),
            0.03,
            (10, 2),
            repeats=(1, 1),
            C=1.0,
        ),
        *against(
            "letter", "SVC fit, letter 15,000 x 16, 26 classes", letter, 1.0, (5, 10), repeats=(1, 1), C=10.0
        ),
        path("svm_path_letter", "letter 15,000 x 16, 26 classes", letter, 1.0),
        path("svm_path_magic04", "magic04 15,000 x 10", magic04, 0.2),
        *against("magic04", "SVC fit, magic04 15,000 x 10", magic04, 0.2, (5, 2), repeats=(1, 1), C=10.0),
    ]
