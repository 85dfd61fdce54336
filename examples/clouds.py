"""Handwritten digits as clouds of ink: kernels between measures beside the Gaussian kernel on pixels.

Run: python examples/clouds.py

A digit is a cloud: the pixels with ink as points, their darkness as weights, the mean moved to the origin.
Prints the accuracies on new digits, as they are and shifted by up to two pixels, which clouds do not notice.
"""

import time
from collections.abc import Iterable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from mercer.domains import Cloud
from mercer.kernel import Kernel
from mercer.kernels import CloudVariance, Gaussian, MeanMap, SlicedWasserstein
from mercer.machines import SVC

TRAIN, TEST = 200, 300


def shifted(images: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Images on a wider canvas, each moved by up to ``most`` pixels along each axis."""
    rng = np.random.default_rng(seed)
    wide = np.pad(images, ((0, 0), (2, 2), (2, 2)))
    return np.array([np.roll(x, rng.integers(-most, most + 1, 2), axis=(0, 1)) for x in wide])


def clouds(images: Iterable[np.ndarray]) -> list[Cloud]:
    """The pixels with ink, centred, weighted by their darkness."""
    found = []
    for image in images:
        points, weights = np.argwhere(image > 0).astype(float), image[image > 0]
        found.append(Cloud(points - np.average(points, axis=0, weights=weights), weights))
    return found


def gaussian_of(psi: Kernel, X: list[Cloud]) -> Kernel:
    """``exp(-psi / t)`` with the median of psi on the training set as t."""
    return psi.schoenberg(1.0 / float(np.median(psi.block(X))))


def main() -> None:
    digits = load_digits()
    images, test, y, y_test = train_test_split(
        digits.images, digits.target, train_size=TRAIN, test_size=TEST, random_state=0, stratify=digits.target
    )
    tests = [shifted(test, most, seed=1) for most in (0, 2)]
    train = shifted(images, 0, seed=0)

    def flat(images: np.ndarray) -> np.ndarray:
        return images.reshape(len(images), -1)

    X = clouds(train)
    kernels = {
        "Gaussian on pixels": (Gaussian("median"), flat),
        "mean map": (gaussian_of(MeanMap(Gaussian(1.0)).distance(), X), clouds),
        "sliced Wasserstein": (gaussian_of(SlicedWasserstein.random(2, 20, random_state=0), X), clouds),
        "cloud variance": (CloudVariance(Gaussian(2.0), eta=0.01).normalized(), clouds),
    }
    print(f"{TRAIN} digits for training, {TEST} for testing\n")
    print(f"{'kernel':<20} {'verdict':<8} {'as they are':>12} {'shifted':>8} {'seconds':>8}")
    for name, (k, form) in kernels.items():
        start = time.perf_counter()
        machine = SVC(k, C=100.0).fit(form(train), y)
        scores = [machine.score(form(Z), y_test) for Z in tests]
        seconds = time.perf_counter() - start
        print(f"{name:<20} {k.certificate.verdict!s:<8} {scores[0]:>12.3f} {scores[1]:>8.3f} {seconds:>8.1f}")


if __name__ == "__main__":
    main()
