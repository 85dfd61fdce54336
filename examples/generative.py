"""Kernels from probability models beside kernels of the data themselves: DNA, time series and images.

Promoters: a hidden Markov model is fitted to the promoters of the training folds, and sequences are compared
by its scores (Fisher kernel).  Sequences that share twelve letters in a row stay in one fold.  ECG200: one
model of the training series for each class, and the given split.  Digits: patches of 3 x 3 pixels under a
mixture of normal distributions (Fisher vectors), against the Gaussian kernel on all pixels; half of the
images to train on.  Settings are fixed beforehand, C = 10, and nothing is chosen on test data.

Run: python examples/generative.py
"""

import numpy as np
from _data import find
from promoters import families, load
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedGroupKFold

from mercer import Kernel
from mercer.kernels import Fisher, FisherVector, Gaussian, GlobalAlignment, Spectrum, TangentPosterior
from mercer.machines import SVC
from mercer.models import HMM, Mixture

C = 10.0
FOLDS = 5
LETTERS = "ACGT"


def promoters() -> dict[str, float]:
    """Errors of five folds, families kept together."""
    sequences, labels = load()
    found: dict[str, list[bool]] = {}
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(sequences, labels, families(sequences)):
        X, T = [sequences[i] for i in train], [sequences[i] for i in test]
        positive, negative = (
            HMM.fit([sequences[i] for i in train if labels[i] == kind], 6, alphabet=LETTERS, random_state=0)
            for kind in ("promoter", "other")
        )
        kernels: dict[str, Kernel] = {
            "Fisher, HMM of promoters": Fisher.from_data(positive, X).normalized(),
            "TangentPosterior, HMMs of both classes": TangentPosterior(positive, negative).normalized(),
            "Spectrum(3)": Spectrum(3).normalized(),
        }
        for name, k in kernels.items():
            wrong = SVC(k, C=C).fit(X, labels[train]).predict(T) != labels[test]
            found.setdefault(name, []).extend(wrong)
    return {name: float(np.mean(wrong)) for name, wrong in found.items()}


def heartbeats() -> dict[str, float]:
    """Errors on the test set of ECG200."""
    parts = []
    for part in ("TRAIN", "TEST"):
        rows = np.array(
            [line.split() for line in find(f"ucr/ECG200/ECG200_{part}.txt").read_text().splitlines()]
        )
        parts.append((rows[:, 1:].astype(float)[:, :, None], rows[:, 0].astype(float)))
    (X, y), (T, truth) = parts
    one, other = (HMM.fit(X[y == c], 5, random_state=0, max_iter=100) for c in np.unique(y))
    both = HMM.fit(X, 5, random_state=0, max_iter=100)
    kernels: dict[str, Kernel] = {
        "Fisher, one HMM": Fisher.from_data(both, X).normalized(),
        "TangentPosterior, HMMs of both classes": TangentPosterior(one, other).normalized(),
        "GlobalAlignment": GlobalAlignment(),
    }
    return {name: 1 - SVC(k, C=C).fit(X, y).score(T, truth) for name, k in kernels.items()}


def digits() -> dict[str, float]:
    """Errors on the second half of scikit-learn's digits."""
    data = load_digits()
    images, y = data.images / 16, data.target
    windows = np.lib.stride_tricks.sliding_window_view(images, (3, 3), axis=(1, 2))
    places = np.stack(np.meshgrid(*[np.linspace(-1, 1, 6)] * 2, indexing="ij"), axis=-1).reshape(36, 2)
    # Each patch with its place in the image: a set of 36 vectors for each image.
    sets = np.concatenate([windows.reshape(-1, 36, 9), np.broadcast_to(places, (len(images), 36, 2))], axis=2)
    half = len(y) // 2
    mixture = Mixture.fit(
        sets[:half:3].reshape(-1, 11), 16, covariance_type="diag", ridge=1e-3, max_iter=50, random_state=0
    )
    kernels: dict[str, tuple[Kernel, np.ndarray]] = {
        "FisherVector, 16 components": (FisherVector(mixture), sets),
        "FisherVector, improved": (FisherVector(mixture, improved=True), sets),
        "Gaussian on pixels": (Gaussian(1.5), images.reshape(-1, 64)),
    }
    found = {}
    for name, (k, X) in kernels.items():
        found[name] = 1 - SVC(k, C=C).fit(X[:half], y[:half]).score(X[half:], y[half:])
    return found


def main() -> None:
    for title, errors in (("promoters", promoters()), ("ECG200", heartbeats()), ("digits", digits())):
        print(f"\n{title}: error")
        for name, error in errors.items():
            print(f"  {name:40} {error:.3f}")


if __name__ == "__main__":
    main()
