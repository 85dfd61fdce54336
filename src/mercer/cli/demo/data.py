"""Data that comes with scikit-learn."""

from __future__ import annotations

from functools import cache

import numpy as np

__all__ = ["QUICK_IMAGES", "QUICK_PATIENTS", "load_diabetes", "load_digits"]

#: Images of each digit in the quick version.
QUICK_IMAGES = 20
#: Patients in the quick version.
QUICK_PATIENTS = 150


@cache
def load_digits(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Images of 8 x 8 pixels as histograms of ink (each sums to one), and their digits."""
    from sklearn.datasets import load_digits as bundled

    X, y = bundled(return_X_y=True)
    if quick:
        kept = np.sort(np.concatenate([np.flatnonzero(y == digit)[:QUICK_IMAGES] for digit in range(10)]))
        X, y = X[kept], y[kept]
    X = X / X.sum(axis=1, keepdims=True)
    X.flags.writeable = y.flags.writeable = False
    return X, y


@cache
def load_diabetes(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    """Ten measurements of each patient, standardised, and the progression of the disease a year later."""
    from sklearn.datasets import load_diabetes as bundled

    X, y = bundled(return_X_y=True)
    X = X * np.sqrt(len(X))  # bundled with columns of mean 0 and norm 1
    if quick:
        X, y = X[:QUICK_PATIENTS], y[:QUICK_PATIENTS]
    X.flags.writeable = y.flags.writeable = False
    return X, y
