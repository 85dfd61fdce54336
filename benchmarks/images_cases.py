"""Cases of the kernels on images, against plain NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mercer import Kernel
from mercer.kernels import ChiSquare, Jensen, NestedHistograms

from .harness import Case

COUNT, SIDE, DEPTH, EPSILON, T = 500, 64, 4, 0.5, 0.1


def images() -> np.ndarray:
    """Pieces of two photographs."""
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    photos = load_sample_images().images
    found = np.empty((COUNT, SIDE, SIDE, 3), dtype=np.uint8)
    for i in range(COUNT):
        photo = photos[i % 2]
        r, c = (rng.integers(0, length - SIDE) for length in photo.shape[:2])
        found[i] = photo[r : r + SIDE, c : c + SIDE]
    return found


# -- plain NumPy ----------------------------------------------------------------------------------
def histograms(X: np.ndarray, side: int) -> np.ndarray:
    """Histograms of the cells of a grid, of shape (cells, images, 24)."""
    size = SIDE // side
    cells = X.reshape(COUNT, side, size, side, size, 3).transpose(1, 3, 0, 2, 4, 5)
    bins = np.minimum(cells / 255 * 8, 7).astype(int).reshape(side * side, COUNT, size * size, 3)
    shares = (bins[..., None] == np.arange(8)).mean(axis=2) / 3
    return shares.reshape(side * side, COUNT, 24)


def chi_square(H: np.ndarray) -> np.ndarray:
    s, d = H[:, None] + H, H[:, None] - H
    d *= d
    d /= np.maximum(s, 1e-300, out=s)
    return d.sum(axis=2)


def jensen(H: np.ndarray) -> np.ndarray:
    def entropy(p: np.ndarray) -> np.ndarray:
        return -(p * np.log(p, out=np.zeros_like(p), where=p > 0)).sum(axis=-1)

    own = entropy(H)
    return entropy((H[:, None] + H) / 2) - (own[:, None] + own) / 2


def nested(X: np.ndarray, divergence: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The recursion in logarithms, level by level: the Gram matrices of a level at a time."""
    below: list[np.ndarray] = []
    for level in range(DEPTH, -1, -1):
        side = 2**level
        own = [-T * divergence(H) for H in histograms(X, side)]
        if below:
            for r in range(side):
                for c in range(side):
                    first = 2 * r * 2 * side + 2 * c
                    parts = sum(below[first + i] for i in (0, 1, 2 * side, 2 * side + 1))
                    node = r * side + c
                    own[node] = np.logaddexp(np.log(1 - EPSILON) + own[node], np.log(EPSILON) + parts)
        below = own
    return np.exp(below[0])


def same(ours: np.ndarray, peer: np.ndarray) -> bool:
    return bool(np.allclose(ours, peer, rtol=1e-8, atol=0))


def case(name: str, divergence: Kernel, plain: Callable[[np.ndarray], np.ndarray]) -> Case:
    kernel = NestedHistograms(DEPTH, EPSILON, divergence.schoenberg(T))
    return Case(
        name,
        f"NestedHistograms({DEPTH}) of {type(divergence).__name__}, Gram matrix of {COUNT} images of "
        f"{SIDE} x {SIDE} pixels",
        "NumPy",
        images,
        kernel.block,
        lambda X: nested(X, plain),
        same,
        repeats=1,
        target=20.0,
        warm=False,
    )


CASES = [case("nested-chi-square", ChiSquare(), chi_square), case("nested-jensen", Jensen(), jensen)]
