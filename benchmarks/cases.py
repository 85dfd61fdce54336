"""The cases: what is computed, on which data, against whom."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_svmlight_file
from sklearn.gaussian_process.kernels import RBF, DotProduct
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.metrics import pairwise

from mercer import gram
from mercer.kernels import Anova, ChiSquare, Gaussian, Laplacian, Linear, Polynomial
from mercer.machines import KernelRidge

from .harness import Case, Skipped


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


def clustered(n: int, d: int, seed: int = 0) -> Callable[[], np.ndarray]:
    """Ten tight clusters far from the origin, where |x|^2 + |y|^2 - 2 <x, y> loses its digits."""

    def make() -> np.ndarray:
        rng = np.random.default_rng(seed)
        centres = 100.0 * rng.standard_normal((10, d))
        return np.asarray(centres[rng.integers(10, size=n)] + rng.standard_normal((n, d)))

    return make


def a9a(n: int) -> Callable[[], Any]:
    """The first rows of a9a (LIBSVM text), from $MERCER_DATA or from ../shared/data."""

    def make() -> Any:
        folder = Path(os.environ.get("MERCER_DATA", "../shared/data"))
        file = folder / "vectors" / "a9a.gz"
        if not file.exists():
            raise Skipped(f"{file} is not there: point MERCER_DATA at the folder of vectors/a9a.gz")
        with gzip.open(file) as stream:
            X, _ = load_svmlight_file(stream, n_features=123)
        return scipy.sparse.csr_array(X[:n])

    return make


def scattered(n: int, d: int, density: float, seed: int = 0) -> Callable[[], Any]:
    """Rows with few entries, anywhere."""
    return lambda: scipy.sparse.random_array(
        (n, d), density=density, rng=np.random.default_rng(seed), format="csr"
    )


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=1e-4, atol=1e-5))


def _composite(X: np.ndarray) -> np.ndarray:
    return (Gaussian(5.0) * Polynomial(3) + 0.5 * Linear()).normalized().block(X)


_GP = RBF(5.0) * DotProduct(1.0) ** 3 + 0.5 * DotProduct(0.0)


def _composite_peer(X: np.ndarray) -> np.ndarray:
    K = _GP(X)
    d = np.sqrt(np.diagonal(K))
    return np.asarray(K / d[:, None] / d)


def _with_room(n: int, d: int) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Points and an output whose pages are there already."""
    return lambda: (normal(n, d)(), np.zeros((n, n)))


def _into(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, out = data
    program = Gaussian(5.0)._program(X, None)
    assert program is not None
    program.dense(out=out)


def _half_a_gemm_and_a_write(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, out = data
    half = len(X) // 2
    np.matmul(X[:half], X.T, out=out[:half])
    out.fill(1.0)


def _matrix_times_vector() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X, Y = (rng.standard_normal((50_000, 20)).astype(np.float32) for _ in range(2))
    return X, Y, rng.standard_normal(50_000).astype(np.float32)


def _keops(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    from pykeops.numpy import LazyTensor

    X, Y, v = data
    D = ((LazyTensor(X[:, None, :]) - LazyTensor(Y[None, :, :])) ** 2).sum(-1)
    return np.asarray((-D / 50).exp() @ v[:, None]).ravel()


def _bands(data: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    X, Y, v = data
    return np.hstack(
        [pairwise.rbf_kernel(X[i : i + 2000], Y, gamma=1 / 50) @ v for i in range(0, len(X), 2000)]
    )


def _anova(X: np.ndarray) -> np.ndarray:
    """The dynamic program, on whole matrices."""
    e = [np.ones((len(X), len(X))), *(np.zeros((len(X), len(X))) for _ in range(3))]
    for x in X.T:
        z = np.multiply.outer(x, x)
        for s in (3, 2, 1):
            e[s] += z * e[s - 1]
    return e[3]


def growth() -> tuple[float, float]:
    """Exponents of n and of d in the time of a Gaussian Gram matrix, fitted on a logarithmic scale."""

    def seconds(n: int, d: int) -> float:
        X, out = normal(n, d)(), np.zeros((n, n))
        times = []
        for _ in range(5):
            start = time.perf_counter()
            _into((X, out))
            times.append(time.perf_counter() - start)
        return float(np.median(times))

    sizes, features = [1000, 2000, 4000, 8000], [100, 200, 400, 800]
    by_n = np.polyfit(np.log(sizes), np.log([seconds(n, 50) for n in sizes]), 1)[0]
    by_d = np.polyfit(np.log(features), np.log([seconds(2000, d) for d in features]), 1)[0]
    return float(by_n), float(by_d)


_PEAK = """
import resource, sys
import numpy as np
from mercer import gram
from mercer.kernels import Gaussian

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

rng = np.random.default_rng(0)
X, Y = (rng.standard_normal((50_000, 20)).astype(np.float32) for _ in range(2))
k, v = Gaussian(5.0), np.ones(50_000, dtype=np.float32)
k.block(X[:200], Y[:200]), gram(k, X[:200], Y[:200]) @ v[:200]
start = peak()
gram(k, X, Y) @ v
product = peak() - start
start = peak()
K = k.block(X[:6000])
print(product / 1e6, (peak() - start - K.nbytes) / 1e6)
"""


def memory() -> tuple[float, float]:
    """Peak megabytes of a process besides the output: of ``K(X, Y) @ v`` at 50,000, of a block of 6,000."""
    done = subprocess.run([sys.executable, "-c", _PEAK], capture_output=True, text=True, check=True)
    product, block = map(float, done.stdout.split())
    return max(product, 0.0), max(block, 0.0)


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
        target=5,
    ),
    Case(
        "gaussian32",
        "Gaussian Gram, n=6000 d=50, float32",
        "`rbf_kernel`",
        normal(6000, 50, dtype=np.float32),
        lambda X: Gaussian(5.0).block(X),
        lambda X: pairwise.rbf_kernel(X, gamma=1 / 50),
        close,
        target=5,
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
        target=8,
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
        target=10,
    ),
    Case(
        "polynomial",
        "polynomial Gram of degree 3, n=6000 d=50",
        "`polynomial_kernel`",
        normal(6000, 50),
        lambda X: Polynomial(3).block(X),
        lambda X: pairwise.polynomial_kernel(X, degree=3, gamma=1.0, coef0=1.0),
        close,
        target=4,
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
        target=10,
    ),
    Case(
        "limit",
        "Gaussian Gram into a given array, n=6000 d=50",
        "half a GEMM and one write",
        _with_room(6000, 50),
        _into,
        _half_a_gemm_and_a_write,
        target=1 / 1.5,
    ),
    Case(
        "clustered",
        "Gaussian Gram of ten tight clusters, n=6000 d=50",
        "`rbf_kernel`",
        clustered(6000, 50),
        lambda X: Gaussian(5.0).block(X),
        lambda X: pairwise.rbf_kernel(X, gamma=1 / 50),
        close,
        target=5,
    ),
    Case(
        "laplacian_cdist",
        "Laplacian Gram, n=4000 d=50",
        "`cdist` and `exp`",
        normal(4000, 50),
        lambda X: Laplacian(10.0).block(X),
        lambda X: np.exp(-cdist(X, X, "cityblock") / 10.0),
        close,
        repeats=3,
        target=8,
    ),
    Case(
        "composite_gaussian",
        "the same, against one Gaussian of ours",
        "`Gaussian(5.0).block`",
        normal(4000, 50),
        _composite,
        lambda X: Gaussian(5.0).block(X),
        target=1 / 1.6,
    ),
    Case(
        "product",
        "Gaussian `K(X, Y) @ v`, n=m=50,000 d=20, float32, never stored",
        "KeOps" if find_spec("pykeops") else "`rbf_kernel` in bands of 2,000 rows",
        _matrix_times_vector,
        lambda data: gram(Gaussian(5.0), data[0], data[1]) @ data[2],
        _keops if find_spec("pykeops") else _bands,
        lambda a, b: bool(np.allclose(a, b, rtol=1e-3, atol=1e-2)),
        repeats=1,
        target=8,
    ),
    Case(
        "anova",
        "ANOVA Gram of degree 3, n=2000 d=30",
        "a dynamic program in NumPy",
        normal(2000, 30),
        lambda X: Anova(3).block(X),
        _anova,
        close,
        repeats=3,
        target=20,
    ),
    Case(
        "sparse",
        "Gaussian Gram of 5,000 rows of a9a, CSR",
        "`rbf_kernel` on CSR",
        a9a(5000),
        lambda X: Gaussian(5.0).block(X),
        lambda X: pairwise.rbf_kernel(X, gamma=1 / 50),
        close,
        repeats=5,
        target=3,
    ),
    Case(
        "wide",
        "Gaussian Gram of 5,000 rows of 20,000 columns, CSR, 40 entries each",
        "`rbf_kernel` on CSR",
        scattered(5000, 20_000, 0.002),
        lambda X: Gaussian(5.0).block(X),
        lambda X: pairwise.rbf_kernel(X, gamma=1 / 50),
        close,
        repeats=5,
    ),
    Case(
        "one_row",
        "one row against one row, a thousand times",
        "`rbf_kernel`",
        normal(1, 50),
        lambda X: [Gaussian(5.0).block(X, X.copy()) for _ in range(1000)],
        lambda X: [pairwise.rbf_kernel(X, X.copy(), gamma=1 / 50) for _ in range(1000)],
        target=5,
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
