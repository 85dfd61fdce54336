"""What tests of kernels on vectors share: the ways rows may be stored, and gradients by differences."""

import math
from pathlib import Path

import numpy as np
import scipy.sparse

from mercer.kernel import Kernel


def storages(X: np.ndarray, folder: Path) -> list[np.ndarray]:
    """The same dense rows, stored in all ways that NumPy has for them."""
    frozen = X.copy()
    frozen.flags.writeable = False
    file = folder / "x.dat"
    X.tofile(file)
    mapped = np.memmap(file, dtype=X.dtype, mode="r", shape=X.shape)
    return [X, np.asfortranarray(X), frozen, mapped]


def in_single(X: np.ndarray) -> tuple[np.ndarray, scipy.sparse.csr_array]:
    """The rows in single precision, dense and compressed."""
    single = X.astype(np.float32)
    return single, scipy.sparse.csr_array(single)


def assert_gradients(k: Kernel, X: np.ndarray, atol: float, step: float = 1e-5) -> None:
    """Compare all derivatives by logarithms of parameters with differences of the definition."""
    gradient = k.gradient(X, X[:4])
    assert set(gradient) == set(k.parameters)
    for name, g in gradient.items():
        value = np.asarray(k.parameters[name].value)
        for index in np.ndindex(value.shape):
            sides = []
            for h in (step, -step):
                moved = value.copy()
                moved[index] *= math.exp(h)
                c = k.replace(**{name: moved if moved.ndim else float(moved)})
                sides.append(np.array([[c(x, y) for y in X[:4]] for x in X]))
            np.testing.assert_allclose(g[(..., *index)], (sides[0] - sides[1]) / (2 * step), atol=atol)
