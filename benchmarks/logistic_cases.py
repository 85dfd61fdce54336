"""Cases of kernel logistic regression, against scikit-learn's Gaussian process classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF

from mercer.kernels import Gaussian
from mercer.machines import KernelLogistic

from .harness import Case
from .svm_cases import synthetic

Data = tuple[Any, np.ndarray]

#: Width of the kernel: half of the squared distances of standardised points in ten dimensions.
SIGMA = float(np.sqrt(5.0))


def ours(data: Data) -> KernelLogistic:
    return KernelLogistic(Gaussian(SIGMA), fit_intercept=False).fit(*data)


def theirs(data: Data) -> GaussianProcessClassifier:
    return GaussianProcessClassifier(RBF(SIGMA), optimizer=None).fit(*data)


def same_mode(a: KernelLogistic, b: GaussianProcessClassifier) -> bool:
    """The mode of the Gaussian process classifier is the kernel logistic function."""
    mode = b.base_estimator_.f_cached
    return bool(np.abs(a.solution_.value.predictions[:, 0] - mode).max() <= 1e-4)


CASES = [
    Case(
        name="logistic",
        work="KernelLogistic fit, n=3,000, d=10, two classes",
        peer_name="scikit-learn GaussianProcessClassifier, no optimiser",
        setup=synthetic(3000, 10, 0.1),
        ours=ours,
        peer=theirs,
        agree=same_mode,
        repeats=3,
        target=5.0,
        warm=False,
    )
]
