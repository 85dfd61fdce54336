"""Land or sea of 500,000 points: support vector machines in cells and on landmarks, and SGD in the same time.

``python -m benchmarks.land_mask`` prints a table.  Points are uniform on the sphere, as unit vectors; the
mask comes from the package ``global-land-mask``.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier

from mercer.features import Nystrom
from mercer.kernels import Gaussian
from mercer.machines import SVC, Cells

TRAIN, TEST, LANDMARKS, SIGMA = 500_000, 50_000, 500, 0.15


def points(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from global_land_mask import globe

    X = np.random.default_rng(seed).standard_normal((n, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    latitude = np.degrees(np.arcsin(X[:, 2]))
    longitude = np.clip(np.degrees(np.arctan2(X[:, 1], X[:, 0])), -179.999, 179.999)
    return X, globe.is_land(np.clip(latitude, -89.999, 89.999), longitude)


def main() -> None:
    X, y = points(TRAIN, 0)
    Z, truth = points(TEST, 1)
    print("| machine | seconds | test error |\n| --- | ---: | ---: |", flush=True)
    start = time.perf_counter()
    model = SVC(
        C=10.0,
        approximation=Nystrom(Gaussian(SIGMA), LANDMARKS, landmarks="kmeans++", random_state=0),
        tol=0.1,
    ).fit(X, y)
    seconds = time.perf_counter() - start
    print(f"| SVC on {LANDMARKS} landmarks | {seconds:.0f} | {1 - model.score(Z, truth):.4f} |", flush=True)
    start = time.perf_counter()
    cells = Cells(SVC(Gaussian(SIGMA / 3), C=10.0), max_size=2000, random_state=0).fit(X, y)
    spent = time.perf_counter() - start
    error = 1 - cells.score(Z, truth)
    print(f"| SVC in {len(cells.machines_)} cells | {spent:.0f} | {error:.4f} |", flush=True)
    start = time.perf_counter()
    features = Nystroem(gamma=0.5 / SIGMA**2, n_components=LANDMARKS, random_state=0).fit(X)
    F, peer = features.transform(X), SGDClassifier(alpha=1 / (10.0 * TRAIN), random_state=0)
    epochs = 0
    while time.perf_counter() - start < seconds:
        peer.partial_fit(F, y, classes=[False, True])
        epochs += 1
    error = 1 - peer.score(features.transform(Z), truth)
    print(f"| SGDClassifier on Nystroem, {epochs} epochs | {time.perf_counter() - start:.0f} | {error:.4f} |")


if __name__ == "__main__":
    main()
