"""A case of tangent distances, against a loop over pairs in NumPy."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.io

from mercer.images import tangent_vectors
from mercer.kernels import TangentDistance

from .harness import Case, Skipped

#: Digits; the loop takes a minute for a million pairs.
N, SHAPE, SMOOTHING = 300, (16, 16), 0.9
NAMES = ("shift_x", "shift_y", "axis", "diagonal", "scale", "rotation", "thickness")


def digits() -> np.ndarray:
    path = Path(os.environ.get("MERCER_DATA", "../shared/data")) / "images" / "usps.mat"
    if not path.is_file():
        raise Skipped(f"{path} is not there: set MERCER_DATA")
    rows = scipy.io.loadmat(path)["traindata"].T
    return np.ascontiguousarray(rows[np.random.default_rng(0).permutation(len(rows))[:N]])


def loop(X: np.ndarray) -> np.ndarray:
    """For each pair the normal equations of all fourteen tangents, orthonormal per image."""
    T = tangent_vectors(X.reshape(-1, *SHAPE), NAMES, SMOOTHING).reshape(len(X), len(NAMES), -1)
    Q = [np.linalg.qr(t.T)[0] for t in T]
    D = np.zeros((len(X), len(X)))
    M = np.eye(2 * len(NAMES))
    p = len(NAMES)
    for i in range(len(X)):
        for j in range(i):
            e = X[i] - X[j]
            M[:p, p:] = Q[i].T @ Q[j]
            M[p:, :p] = M[:p, p:].T
            r = np.concatenate([Q[i].T @ e, Q[j].T @ e])
            D[i, j] = D[j, i] = e @ e - r @ np.linalg.solve(M, r)
    return D


CASES = [
    Case(
        "tangent",
        f"TangentDistance, two-sided, Gram matrix of {N} digits of USPS, 16 x 16 pixels",
        "NumPy, pair by pair",
        digits,
        TangentDistance(SHAPE, smoothing=SMOOTHING).block,
        loop,
        lambda a, b: bool(np.allclose(a, b, rtol=1e-8, atol=1e-8)),
        repeats=3,
        target=20.0,
    )
]
