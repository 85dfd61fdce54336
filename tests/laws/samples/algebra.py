"""Cases of the composite kernels: every node, on top of several bases."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse

from mercer.algebra import Constant, FunctionKernel, convolution, direct_sum, kernel, limit, tensor
from mercer.domains import Vectors
from mercer.kernel import Kernel
from mercer.kernels import Gaussian, Linear

from ..cases import Case

__all__ = ["CASES"]

#: Zero, repeated, axis-parallel, opposite, far and close points.
PLANE = np.array(
    [[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.5, 2.0], [-0.5, -2.0], [6.0, 7.0], [1e-3, 0.0]]
)
#: Laplacian of a path of three points with weights 1 and 4.
EDGES = [[1.0, -1.0, 0.0], [-1.0, 5.0, -4.0], [0.0, -4.0, 4.0]]
#: Distinct points no closer than 1/2, for roots of differences, which magnify rounding around zero.
SPREAD = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.5, 2.0], [-0.5, -2.0], [3.0, 4.0], [-1.5, 1.0]])
WORDS = ["", "a", "ab", "ba", "abba", "mercer", "a b"]
PAIRS = [([0.0, 0.0], "a"), ([1.0, 0.0], "ab"), ([1.0, 0.0], ""), ([0.5, 2.0], "mercer"), ([0.5, 2.0], "ab"),
         ([-1.0, 3.0], "ba")]  # fmt: skip

GAUSSIAN, LINEAR = Gaussian(1.5), Linear()


# Named functions, so that the kernels print and pickle.
def letters(word: str) -> list[float]:
    """Count the letters a and b, and the length."""
    return [float(word.count("a")), float(word.count("b")), float(len(word))]


def all_letters(words: list[str]) -> np.ndarray:
    """Letter counts of many words."""
    return np.array([letters(word) for word in words]).reshape(-1, 3)


def doubled(x: np.ndarray) -> np.ndarray:
    """Double a vector."""
    return 2.0 * x


def height(x: np.ndarray) -> float:
    """Change sign with the first coordinate, and vanish at zero."""
    return float(x[0])


def pairs_of_letters(word: str) -> list[list[float]]:
    """List adjacent letters as code points over 100."""
    return [[ord(a) / 100, ord(b) / 100] for a, b in pairwise(word)]


def shared_letters(x: str, y: str) -> float:
    """Count the letters that two words have in common."""
    return float(len(set(x) & set(y)))


@kernel(assume="PSD", reason="an inner product of counts")
def shared_vowels(x: str, y: str) -> float:
    """Multiply the numbers of vowels: a decorated function."""
    return float(sum(map(x.count, "aeiou")) * sum(map(y.count, "aeiou")))


def steep(x: Any, y: Any) -> float:
    """A plain function of vectors."""
    return float(np.exp(-np.abs(x - y).sum()))


def steep_block(X: Any, Y: Any) -> np.ndarray:
    """``steep`` for all pairs, sparse or not."""
    X, Y = (Z.toarray() if scipy.sparse.issparse(Z) else Z for Z in (X, Y))
    return np.asarray(np.exp(-np.abs(X[:, None] - Y[None]).sum(axis=2)))


def flattening(n: int) -> Kernel:
    """Gaussians that tend to one of width 1."""
    return Gaussian(1.0 + 2.0 ** -min(n, 1000))


def reciprocal_factorial(n: int) -> float:
    """Coefficients of the exponential."""
    return float(np.exp(-np.sum(np.log(np.arange(1, n + 1)))))


SQUARE = LINEAR.distance()  # |x - y|^2
SHARED = kernel(shared_letters)

RING = [
    Constant(2.0),
    Constant(0.0),
    Constant(-1.5),
    2.5 * GAUSSIAN,
    0.0 * LINEAR,
    -3.0 * GAUSSIAN,
    -1.0 * LINEAR,
    GAUSSIAN + LINEAR,
    1.0 + LINEAR + 0.5 * GAUSSIAN,
    GAUSSIAN - LINEAR,
    2.0 - GAUSSIAN,
    GAUSSIAN * LINEAR,
    (GAUSSIAN + LINEAR) * (2.0 * LINEAR + 1.0) * GAUSSIAN,
    LINEAR * LINEAR + GAUSSIAN * GAUSSIAN,
    LINEAR**3,
    (LINEAR + 1.0) ** 2,
    GAUSSIAN**0,
    (GAUSSIAN * 2.0) ** 1,
    Gaussian("median") + Gaussian("scale") * LINEAR,
    Gaussian([1.0, 0.5]) * 2.0,
]
SERIES = [
    GAUSSIAN.exp(),
    (0.1 * LINEAR).exp(),
    (-0.5 * SQUARE).exp(),
    LINEAR.polynomial([1.0, 0.0, 2.0]),
    LINEAR.polynomial([1.0, -2.0]),
    GAUSSIAN.polynomial([3.0]),
    (0.5 * GAUSSIAN).power_series("geometric"),
    (0.5 * GAUSSIAN).power_series("log"),
    (0.5 * LINEAR.normalized()).power_series("arcsin"),
    (0.5 * GAUSSIAN).power_series("inverse_sqrt"),
    (0.1 * LINEAR).power_series("sinh"),
    (0.1 * LINEAR).power_series("cosh"),
    (3.0 * LINEAR).power_series("cosh"),
    (2.0 * LINEAR).power_series("exp"),
    GAUSSIAN.power_series(reciprocal_factorial, radius=2.0, tail=(2.0, 7.5)),
]
SHAPE = [
    LINEAR.normalized(),
    (GAUSSIAN + 2.0 * LINEAR).normalized(),
    GAUSSIAN.conformal(height),
    LINEAR.on(doubled, domain=Vectors()),
    GAUSSIAN.on(doubled, domain=Vectors(dim=2), injective=True, vectorized=True),
    GAUSSIAN.centered(PLANE[:4]),
    LINEAR.centered(PLANE[3:]),
    GAUSSIAN.warped(PLANE[:3], EDGES),
    (LINEAR + 1.0).warped(PLANE[3:5], np.diag([2.0, 0.0])),
]
NEGATIVE = [
    SQUARE,
    GAUSSIAN.distance(),
    (GAUSSIAN + LINEAR).distance(),
    SQUARE + GAUSSIAN.distance(),
    3.0 * SQUARE,
    SQUARE.schoenberg(0.3),
    (1.0 - GAUSSIAN).schoenberg(2.0),
    SQUARE.log1p(),
    GAUSSIAN.distance().log1p().schoenberg(1.5),
    1 / (1.0 + SQUARE),
    3.0 / (0.5 + GAUSSIAN.distance()),
    GAUSSIAN / (2.0 + SQUARE),
    SQUARE.shifted([1.0, -1.0]),
    GAUSSIAN.distance().shifted([0.0, 0.0]),
    LINEAR.gaussian(2.0),
    (LINEAR**2).gaussian(3.0),
    GAUSSIAN.gaussian(0.7),
]
ROOTS = [
    SQUARE**0.5,
    GAUSSIAN.distance() ** 0.25,
    SQUARE.sqrt(),
    (SQUARE + 1.0).sqrt(),
    (SQUARE**0.75).schoenberg(),
    GAUSSIAN**1.7,
    (1.0 + SQUARE) ** 0.5,
]
ON_WORDS = [
    GAUSSIAN.on(letters),
    (LINEAR + 1.0).on(letters),
    SQUARE.on(letters),
    Gaussian("median").on(letters),
    GAUSSIAN.on(all_letters, vectorized=True, injective=False),
    convolution(Gaussian(0.1), pairs_of_letters),
    SHARED,
    SHARED.assume("PSD", "an inner product of indicator vectors"),
    SHARED.assume("PSD").normalized() + GAUSSIAN.on(letters),
    2.0 * SHARED,
    shared_vowels,
    3.0 * shared_vowels + 1.0,
]
ON_PAIRS = [
    tensor(GAUSSIAN, SHARED.assume("PSD")),
    direct_sum(GAUSSIAN, SHARED.assume("PSD")),
    tensor(GAUSSIAN, GAUSSIAN.on(letters)) + direct_sum(LINEAR, SHARED),
    direct_sum(SQUARE, SQUARE.on(letters)),
    tensor(Gaussian("median"), LINEAR.on(letters)),
]
ON_VECTORS = [
    limit(flattening, n=64),
    FunctionKernel(steep, Vectors()),
    FunctionKernel(steep, Vectors(), steep_block),
    FunctionKernel(steep, Vectors()).assume("STRICT", "a product of Laplacians"),
]

CASES: list[Case] = [
    *(Case(k, PLANE) for k in RING + SERIES + SHAPE + NEGATIVE),
    *(Case(k, SPREAD) for k in ROOTS + ON_VECTORS),
    *(Case(k, WORDS) for k in ON_WORDS),
    *(Case(k, PAIRS) for k in ON_PAIRS),
    Case(Constant(1.0), WORDS),
]
