"""Cases of kernel PCA and kernel CCA, against scikit-learn and cca-zoo."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn.decomposition
from sklearn.datasets import make_classification

from mercer.kernels import Gaussian
from mercer.machines import KernelCCA, KernelPCA

from .harness import Case, Skipped

COMPONENTS = 10


# -- kernel PCA ---------------------------------------------------------------------------------
def normal(n: int, d: int) -> np.ndarray:
    """A spectrum without large gaps: the hard case for an iteration."""
    return np.random.default_rng(0).standard_normal((n, d))


def classes(n: int, d: int) -> np.ndarray:
    X, _ = make_classification(n, d, n_informative=d // 2, n_redundant=d // 4, random_state=0)
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def our_pca(X: np.ndarray) -> KernelPCA:
    return KernelPCA(Gaussian.from_gamma(1 / X.shape[1]), n_components=COMPONENTS).fit(X)


def their_pca(solver: str) -> Callable[[np.ndarray], Any]:
    def fit(X: np.ndarray) -> Any:
        return sklearn.decomposition.KernelPCA(
            COMPONENTS, kernel="rbf", gamma=1 / X.shape[1], eigen_solver=solver, random_state=0
        ).fit(X)

    return fit


def same_eigenvalues(tolerance: float) -> Callable[[Any, Any], bool]:
    def agree(ours: Any, peer: Any) -> bool:
        return bool(np.allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=tolerance))

    return agree


def pca_case(name: str, make: Callable[[int, int], np.ndarray], solver: str, tolerance: float) -> Case:
    return Case(
        f"kpca-{name}-{solver}",
        f"KernelPCA, {COMPONENTS} components, n=4,000 d=20, {name}",
        f"scikit-learn KernelPCA ({solver})",
        lambda: make(4000, 20),
        our_pca,
        their_pca(solver),
        same_eigenvalues(tolerance),
        target=5.0,
    )


# -- kernel CCA ---------------------------------------------------------------------------------
@cache
def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two views of ten features that share one hidden number."""
    if find_spec("cca_zoo") is None:
        raise Skipped("cca-zoo is not installed: pip install cca-zoo")
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((n, 1))
    noise = rng.standard_normal((2, n, 10))
    noise[:, :, :1] *= 0.5
    noise[0, :, :1] += hidden
    noise[1, :, :1] += hidden**2
    return noise[0], noise[1]


SHRINKAGE = 0.1


def our_cca(data: tuple[np.ndarray, np.ndarray]) -> float:
    # cca-zoo: (1 - c) K^2 / (n - 1) + c K, which is K^2 + n lambda K up to a factor
    n = len(data[0])
    penalty = SHRINKAGE / (1 - SHRINKAGE) * (n - 1) / n
    model = KernelCCA(Gaussian.from_gamma(0.05), alpha=penalty).fit(*data)
    return float(model.correlations_[0])


def their_cca(data: tuple[np.ndarray, np.ndarray]) -> float:
    from cca_zoo.nonparametric import KCCA

    model = KCCA(n_components=2, kernel="rbf", gamma=0.05, shrinkage=SHRINKAGE).fit(list(data))
    first, second = model.transform(list(data))
    return float(np.corrcoef(first[:, 0], second[:, 0])[0, 1])


CASES: list[Case] = [
    pca_case("normal", normal, "arpack", 1e-9),
    pca_case("normal", normal, "randomized", 0.05),
    pca_case("classes", classes, "arpack", 1e-9),
    pca_case("classes", classes, "randomized", 0.05),
    Case(
        "kcca",
        "KernelCCA, 2 components, n=2,000, two views of 10 features",
        "cca-zoo KCCA",
        lambda: pairs(2000),
        our_cca,
        their_cca,
        lambda ours, peer: abs(ours - peer) < 1e-6,
        repeats=1,
        target=5.0,
        warm=False,
    ),
]
