"""Cases of ridge regression and splines, against scikit-learn and SciPy."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import make_smoothing_spline
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from mercer.kernels import Gaussian
from mercer.machines import KernelRidge, SmoothingSpline

from .harness import Case

Data = tuple[np.ndarray, np.ndarray]

#: Width and penalty of the large problem; components of the peer, as many as fit into 4 GB in float32.
SIGMA, ALPHA, COMPONENTS = 4.0, 1.0, 4500

ALPHAS = np.logspace(-4, 2, 30)


def regression(n: int, d: int = 20, seed: int = 0) -> Callable[[], Data]:
    """Waves and a product of features, with a tenth of noise."""

    @cache
    def make() -> Data:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        f = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + np.cos(X[:, 3] + X[:, 4])
        return X, f + 0.1 * rng.standard_normal(n)

    return make


def fit(alpha: float = 1.0) -> Callable[[Data], Any]:
    return lambda data: KernelRidge(Gaussian(SIGMA), alpha=alpha).fit(*data)


def peer_fit(alpha: float = 1.0) -> Callable[[Data], Any]:
    return lambda data: SklearnKernelRidge(kernel="rbf", gamma=0.5 / SIGMA**2, alpha=alpha).fit(*data)


def path(data: Data) -> Any:
    return KernelRidge(Gaussian(SIGMA), alpha="loo", alphas=ALPHAS).fit(*data)


def grid_search(data: Data) -> Any:
    machine = SklearnKernelRidge(kernel="rbf", gamma=0.5 / SIGMA**2)
    return GridSearchCV(machine, {"alpha": ALPHAS}, cv=5, scoring="neg_mean_squared_error").fit(*data)


def same_coefficients(a: Any, b: Any) -> bool:
    return bool(np.allclose(a.dual_coef_, b.dual_coef_, rtol=1e-6, atol=1e-8))


def similar_choice(a: Any, b: Any) -> bool:
    """Leaving out one row or a fifth of them leads to penalties of one size."""
    return bool(abs(np.log10(a.alpha_ / b.best_params_["alpha"])) < 1)


def line(n: int) -> Callable[[], Data]:
    def make() -> Data:
        rng = np.random.default_rng(0)
        x = np.sort(rng.uniform(0, 10, n))
        return x, np.sin(x) + 0.1 * rng.standard_normal(n)

    return make


CASES: list[Case] = [
    Case(
        "ridge_fit",
        "KernelRidge fit, 8,000 x 20",
        "scikit-learn `KernelRidge`",
        regression(8000),
        fit(),
        peer_fit(),
        same_coefficients,
        repeats=7,
        target=2,
    ),
    Case(
        "ridge_path",
        "30 penalties with exact leave-one-out, 3,000 x 20",
        "`GridSearchCV(KernelRidge, cv=5)`",
        regression(3000),
        path,
        grid_search,
        similar_choice,
        repeats=3,
        target=10,
        warm=False,
    ),
    Case(
        "spline_gcv",
        "smoothing spline, penalty by GCV, n = 2,000",
        "SciPy `make_smoothing_spline`",
        line(2000),
        lambda data: SmoothingSpline().fit(*data).predict(data[0]),
        lambda data: make_smoothing_spline(*data)(data[0]),
        lambda a, b: bool(np.abs(a - b).max() < 0.02),
        repeats=3,
    ),
]


# -- the large problem: each side in a process of its own, so that its memory can be seen ------------
class Large(NamedTuple):
    """Test error (root mean square), seconds, peak memory in GB, and what the solver said."""

    error: float
    seconds: float
    gigabytes: float
    status: str


def large(side: str, n: int = 100_000) -> Large:
    """Fit one side of the large problem in a new process."""
    code = f"from benchmarks.ridge_cases import _large; _large({side!r}, {n})"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    error, seconds, gigabytes, status = done.stdout.strip().splitlines()[-1].split("\t")
    return Large(float(error), float(seconds), float(gigabytes), status)


def _large(side: str, n: int) -> None:
    X, y = regression(n + 5000)()
    train, test = (X[:n], y[:n]), (X[n:], y[n:])
    start = time.perf_counter()
    if side == "ours":
        model: Any = KernelRidge(Gaussian(SIGMA), alpha=ALPHA, solver="cg", tol=1e-3).fit(*train)
        status = model.solution_.status
    else:
        features = Nystroem(gamma=0.5 / SIGMA**2, n_components=COMPONENTS, random_state=0)
        model = make_pipeline(features, Ridge(ALPHA, copy_X=False)).fit(train[0].astype(np.float32), train[1])
        status = f"{COMPONENTS} components"
    seconds = time.perf_counter() - start
    error = float(np.sqrt(np.mean((model.predict(test[0]) - test[1]) ** 2)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(error, seconds, peak, status, sep="\t")


def large_report() -> str:
    """Both sides of the large problem, one after the other."""
    rows = [(name, large(side)) for name, side in (("KernelRidge", "ours"), ("Nystroem + Ridge", "peer"))]
    return "\n".join(
        f"{name}, n=100,000 d=20: test error {r.error:.5f}, {r.seconds:.0f} s, {r.gigabytes:.2f} GB; "
        f"{r.status}"
        for name, r in rows
    )
