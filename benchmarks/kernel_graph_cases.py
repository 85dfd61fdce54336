"""Cases of kernel graphs, against the same sums by pairs in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Vectors
from mercer.kernels import Gaussian, KernelGraph, Linear, RegularLanguage

from .harness import Case

POINTS, FEATURES, DEGREE = 1_000, 30, 3
LOOPED = 400


def coordinate(i: int) -> Any:
    """The kernel x_i y_i."""
    return Linear().on(lambda X: X[:, i : i + 1], domain=Vectors(), vectorized=True)


def anova() -> KernelGraph:
    """The ANOVA kernel as a grid."""
    edges: list[Any] = []
    for m, kernel in enumerate(map(coordinate, range(FEATURES))):
        edges += [((s, m), (s, m + 1), 1) for s in range(DEGREE + 1)]
        edges += [((s, m), (s + 1, m + 1), kernel) for s in range(DEGREE)]
    return KernelGraph(edges, (0, 0), (DEGREE, FEATURES))


def looped() -> KernelGraph:
    return RegularLanguage("f (g h|h)* f", f=Linear(), g=0.5 * Gaussian(2.0), h=0.3 * Gaussian(5.0))


def points() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(POINTS, FEATURES))


def ours_anova(X: np.ndarray) -> np.ndarray:
    return anova().block(X)


def ours_looped(X: np.ndarray) -> np.ndarray:
    return looped().block(X[:LOOPED])


def by_pairs(X: np.ndarray, value: Any) -> np.ndarray:
    K = np.empty((len(X), len(X)))
    for i, x in enumerate(X):
        for j in range(i + 1):
            K[i, j] = K[j, i] = value(x, X[j])
    return K


def anova_pair(x: np.ndarray, y: np.ndarray) -> float:
    """The table of partial sums, a column for each feature."""
    kappa = np.zeros(DEGREE + 1)
    kappa[0] = 1.0
    for u in x * y:
        kappa[1:] += u * kappa[:-1]
    return float(kappa[DEGREE])


def looped_pair(x: np.ndarray, y: np.ndarray) -> float:
    """One linear system: vertices 0 and 1 of the loop, entered and left at 0."""
    D = np.sum((x - y) ** 2)
    g, h = 0.5 * np.exp(-D / 8), 0.3 * np.exp(-D / 50)
    W = np.array([[h, g], [h, 0.0]])
    assert np.abs(np.linalg.eigvals(W)).max() < 1
    return float((x @ y) ** 2 * np.linalg.solve(np.eye(2) - W, [1.0, 0.0])[0])


def agree(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return bool(np.allclose(ours, theirs, rtol=1e-9, atol=1e-9))


CASES = [
    Case(
        "kernel-graph-anova",
        f"kernel-graph ANOVA Gram, n={POINTS:,}, {FEATURES} features, degree {DEGREE}",
        "the same by pairs in NumPy",
        points,
        ours_anova,
        lambda X: by_pairs(X, anova_pair),
        agree,
        repeats=1,
        target=20.0,
        warm=False,
    ),
    Case(
        "kernel-graph-loops",
        f"regular language with loops, Gram, n={LOOPED}",
        "a NumPy solve for each pair",
        points,
        ours_looped,
        lambda X: by_pairs(X[:LOOPED], looped_pair),
        agree,
        repeats=1,
        target=None,
        warm=False,
    ),
]
