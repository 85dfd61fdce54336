"""Handwritten digits of USPS: do distances that let images move a little make fewer errors?

Errors on test digits of nearest neighbours, by the Euclidean distance and by tangent distances, and of
support vector machines, with the Gaussian kernel, with the exponential of the tangent distance, whose Gram
matrix is repaired, and with the Gaussian kernel summed over shifted copies, which is positive definite.
Widths are chosen on a third of the training digits.

Run: python examples/digits.py [--train 1000] [--test 500] [--picture tangents.png]
All of USPS is --train 7291 --test 2007; --neighbours leaves out the machines, which take long then.
"""

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np
import scipy.io
from _data import find

from mercer import Kernel
from mercer.images import TransformedCopies
from mercer.kernels import Gaussian, Jittered, TangentDistance, tangent_distances
from mercer.machines import SVC
from mercer.show import tangents

SHAPE, SEED, C = (16, 16), 0, 10.0

#: Widths, and rates of exponentials, to choose from.
SIGMAS, RATES = (2.0, 3.0, 4.5), (0.02, 0.05, 0.1)


def load(part: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Some digits, a fixed sample of them, as rows of 256 grey levels, and their classes."""
    data = scipy.io.loadmat(find("images/usps.mat"))
    images = data[f"{part}data"].T.reshape(-1, *SHAPE).transpose(0, 2, 1)  # stored column by column
    labels = data[f"{part}label"].ravel().astype(int) - 1
    chosen = np.sort(np.random.default_rng(SEED).permutation(len(images))[:n])
    return images[chosen].reshape(len(chosen), -1), labels[chosen]


def euclidean(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return TangentDistance(SHAPE, tangents=()).block(X, Y)


def one_sided(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return tangent_distances(X, Y, shape=SHAPE)


def two_sided(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return tangent_distances(X, Y, shape=SHAPE, sides=2)


NEIGHBOURS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "1-NN, Euclidean": euclidean,
    "1-NN, tangent, one-sided": one_sided,
    "1-NN, tangent, two-sided": two_sided,
}
COPIES = TransformedCopies(SHAPE, shifts=1)
MACHINES: dict[str, Sequence[Kernel]] = {
    "SVC, Gaussian": [Gaussian(s) for s in SIGMAS],
    "SVC, exp(-t tangent), clipped": [TangentDistance(SHAPE).schoenberg(t) for t in RATES],
    "SVC, Gaussian, nine copies": [Jittered(Gaussian(s), COPIES).normalized() for s in SIGMAS],
}


def error(kernel: Kernel, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray) -> float:
    machine = SVC(kernel, C=C, indefinite="clip").fit(X, y)
    return float(np.mean(machine.predict(X_new) != y_new))


def row(name: str, share: float, n: int, seconds: float) -> None:
    spread = 100 * np.sqrt(share * (1 - share) / n)
    print(f"  {name:32}{100 * share:5.1f} ± {spread:3.1f} %   {seconds:6.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--test", type=int, default=500)
    parser.add_argument("--neighbours", action="store_true", help="nearest neighbours alone")
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    (X, y), (X_new, y_new) = load("train", arguments.train), load("test", arguments.test)
    if arguments.picture:
        tangents(X[0].reshape(SHAPE))[0, 0].figure.savefig(arguments.picture, dpi=130, facecolor="white")
    print(f"{len(X):,} training and {len(X_new):,} test digits: errors, with their standard deviation")
    for name, distances in NEIGHBOURS.items():
        start = time.perf_counter()
        found = y[distances(X_new, X).argmin(axis=1)]
        row(name, float(np.mean(found != y_new)), len(y_new), time.perf_counter() - start)
    if arguments.neighbours:
        return
    order = np.random.default_rng(SEED).permutation(len(X))
    a, b = order[: 2 * len(X) // 3], order[2 * len(X) // 3 :]
    for name, kernels in MACHINES.items():
        start = time.perf_counter()
        errors = [error(k, X[a], y[a], X[b], y[b]) for k in kernels]
        best = kernels[int(np.argmin(errors))]
        row(name, error(best, X, y, X_new, y_new), len(y_new), time.perf_counter() - start)


if __name__ == "__main__":
    main()
