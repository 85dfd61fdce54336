"""The cases: what is computed, on which data, against whom."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.metrics import pairwise

from mercer.kernels import ChiSquare, Gaussian, Laplacian, Linear, Polynomial
from mercer.machines import KernelRidge

from .harness import Case


def normal(n: int, d: int, seed: int = 0, dtype: type = np.float64) -> Callable[[], np.ndarray]:
    return lambda: np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


def histograms(n: int, d: int, seed: int = 0) -> Callable[[], np.ndarray]:
    return lambda: np.random.default_rng(seed).dirichlet(np.full(d, 0.5), size=n)


def regression(n: int, d: int, seed: int = 0) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    def make() -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n)

    return make


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-4, atol=1e-5))


def _composite(X: np.ndarray) -> np.ndarray:
    return (Gaussian(5.0) * Polynomial(3) + 0.5 * Linear()).normalized().block(X)


_GP = RBF(5.0) * DotProduct(1.0) ** 3 + 0.5 * DotProduct(0.0)


def _composite_peer(X: np.ndarray) -> np.ndarray:
    K = _GP(X)
    d = np.sqrt(np.diagonal(K))
    return np.asarray(K / d[:, None] / d)


def _import(statement: str) -> float:
    code = (
        f"import time; import sklearn; s = time.perf_counter(); {statement}; print(time.perf_counter() - s)"
    )
    cached = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=cached
    )
    return float(done.stdout)


def import_time(repeats: int = 9) -> float:
    """Median seconds that ``import mercer`` adds to ``import sklearn``, once both are byte-compiled."""
    _import("import mercer")
    return float(np.median([_import("import mercer") for _ in range(repeats)]))


CASES = [
    Case(
        "gaussian",
        "Gaussian Gram, n=6000 d=50",
        "`rbf_kernel`",
        normal(6000, 50),
        lambda X: Gaussian(5.0).block(X),
        lambda X: pairwise.rbf_kernel(X, gamma=1 / 50),
        close,
    ),
    Case(
        "gaussian32",
        "Gaussian Gram, n=6000 d=50, float32",
        "`rbf_kernel`",
        normal(6000, 50, dtype=np.float32),
        lambda X: Gaussian(5.0).block(X),
        lambda X: pairwise.rbf_kernel(X, gamma=1 / 50),
        close,
    ),
    Case(
        "laplacian",
        "Laplacian Gram, n=4000 d=50",
        "`laplacian_kernel`",
        normal(4000, 50),
        lambda X: Laplacian(10.0).block(X),
        lambda X: pairwise.laplacian_kernel(X, gamma=0.1),
        close,
        repeats=3,
    ),
    Case(
        "chi2",
        "exp(-chi-square) Gram, n=3000 d=64",
        "`chi2_kernel`",
        histograms(3000, 64),
        lambda X: ChiSquare().schoenberg(1.0).block(X),
        lambda X: pairwise.chi2_kernel(X, gamma=1.0),
        close,
        repeats=3,
    ),
    Case(
        "polynomial",
        "polynomial Gram of degree 3, n=6000 d=50",
        "`polynomial_kernel`",
        normal(6000, 50),
        lambda X: Polynomial(3).block(X),
        lambda X: pairwise.polynomial_kernel(X, degree=3, gamma=1.0, coef0=1.0),
        close,
    ),
    Case(
        "composite",
        "`(Gaussian * Polynomial(3) + 0.5 * Linear).normalized()`, n=4000 d=50",
        "Gaussian-process kernels of scikit-learn",
        normal(4000, 50),
        _composite,
        _composite_peer,
        close,
        repeats=5,
    ),
    Case(
        "ridge",
        "KernelRidge fit, n=3000 d=20",
        "scikit-learn `KernelRidge`",
        regression(3000, 20),
        lambda data: KernelRidge(Gaussian(3.0), alpha=0.1).fit(*data).dual_coef_,
        lambda data: SklearnKernelRidge(kernel="rbf", gamma=1 / 18, alpha=0.1).fit(*data).dual_coef_,
        close,
        repeats=5,
    ),
]
