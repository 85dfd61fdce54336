"""Random feature maps, against scikit-learn's."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_approximation import AdditiveChi2Sampler, PolynomialCountSketch, RBFSampler

from mercer.features import Homogeneous, RandomFourier, TensorSketch
from mercer.kernels import ChiSquare, Gaussian, Polynomial

from .harness import Case

SIGMA, COMPONENTS = 3.0, 1000


class Fitted(NamedTuple):
    """Data, both maps fitted to it, and where ours writes."""

    X: np.ndarray
    ours: Any
    peer: Any
    out: np.ndarray


def fourier(dtype: type) -> Fitted:
    X = np.random.default_rng(0).standard_normal((100_000, 20)).astype(dtype)
    ours = RandomFourier(Gaussian(SIGMA), COMPONENTS).fit(X)
    peer = RBFSampler(gamma=1 / (2 * SIGMA**2), n_components=COMPONENTS, random_state=0).fit(X)
    return Fitted(X, ours, peer, np.zeros((len(X), COMPONENTS), dtype=dtype))


def sketch() -> Fitted:
    X = np.random.default_rng(0).standard_normal((10_000, 50))
    ours = TensorSketch(Polynomial(3), COMPONENTS).fit(X)
    peer = PolynomialCountSketch(degree=3, gamma=1.0, coef0=1, n_components=COMPONENTS, random_state=0).fit(X)
    return Fitted(X, ours, peer, np.empty(0))


def chi_square() -> Fitted:
    X = np.random.default_rng(0).dirichlet(np.full(100, 0.5), size=5000)
    ours = Homogeneous(ChiSquare(), order=2, period=0.4).fit(X)
    return Fitted(X, ours, AdditiveChi2Sampler(sample_steps=3, sample_interval=0.4).fit(X), np.empty(0))


def near(ours: np.ndarray, peer: np.ndarray) -> bool:
    """Whether the inner products of a few points agree up to the randomness of both."""
    a, b = (np.asarray(Z[:50], dtype=np.float64) for Z in (ours, peer))
    return bool(np.abs(a @ a.T - b @ b.T).max() < 6 * math.sqrt(2 / COMPONENTS))


CASES = [
    *(
        Case(
            f"fourier-{np.dtype(dtype).name}",
            f"`RandomFourier`, 100,000 x 20, {COMPONENTS} features, into `out`, {np.dtype(dtype).name}",
            "scikit-learn `RBFSampler`",
            lambda dtype=dtype: fourier(dtype),
            lambda d: d.ours.transform(d.X, out=d.out),
            lambda d: d.peer.transform(d.X),
            near,
            repeats=3,
            target=4 if dtype is np.float64 else None,
        )
        for dtype in (np.float64, np.float32)
    ),
    Case(
        "tensor-sketch",
        f"`TensorSketch` transform, degree 3, 10,000 x 50, {COMPONENTS} components",
        "scikit-learn `PolynomialCountSketch`",
        sketch,
        lambda d: d.ours.transform(d.X),
        lambda d: d.peer.transform(d.X),
        repeats=3,
    ),
    Case(
        "homogeneous",
        "`Homogeneous` transform, chi-square, 5,000 x 100, 5 features each",
        "scikit-learn `AdditiveChi2Sampler`",
        chi_square,
        lambda d: d.ours.transform(d.X),
        lambda d: d.peer.transform(d.X),
        lambda a, b: bool(np.allclose(a, math.sqrt(2) * b)),
        repeats=3,
    ),
]
