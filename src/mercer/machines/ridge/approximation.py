"""Ridge regression restricted to the features of a map: what ``approximation=`` does."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ...domains import Data, size, take
from ...errors import ParameterError
from ...features import FeatureMap
from ...gram import gram
from ...kernels import Gaussian

__all__ = ["Approximation", "approximate", "check_approximation"]

#: Points on which the error of a map is measured.
SAMPLE = 500

#: Parameters that belong to the system of all points, with the values that ask for nothing.
FULL_ONLY = {
    "tune": None,
    "signal_variance": 1.0,
    "solver": "auto",
    "warm_start": False,
    "indefinite": "warn",
}


class Approximation(NamedTuple):
    """A fitted map and the error of its kernel: of the Frobenius norm, relative, on a sample of points."""

    map: FeatureMap
    error: float


def check_approximation(machine: Any) -> None:
    """Raise :class:`~mercer.errors.ParameterError` for what does not go with ``approximation``."""
    given = machine.approximation
    if not isinstance(given, FeatureMap):
        raise ParameterError(
            f"KernelRidge: `approximation` must be a feature map such as Nystrom(kernel, 1000), or None. "
            f"Got {given!r}."
        )
    if machine.kernel not in (Gaussian("scale"), given.target):
        raise ParameterError(
            "KernelRidge: `kernel` must be left out with `approximation`, whose own kernel counts, or equal "
            f"it. Got {machine.kernel!r} and {given.target!r}."
        )
    for name, value in FULL_ONLY.items():
        asked = getattr(machine, name)
        if asked != value:
            raise ParameterError(
                f"KernelRidge: `{name}` must be {value!r} with `approximation`. Got {asked!r}, which needs "
                "the system of all points."
            )
    if isinstance(machine.alpha, str) or np.ndim(machine.alpha) != 0 or not machine.alpha > 0:
        raise ParameterError(
            f"KernelRidge: `alpha` must be one positive number with `approximation`. Got {machine.alpha!r}. "
            "Without a penalty the features may be dependent, and the weights are not determined."
        )


def approximate(given: FeatureMap, points: Data, *, refit: bool = True) -> Approximation:
    """Fit a map to points, unless it is to stay as it is, and measure its error on some of them."""
    fitted = clone(given).fit(points) if refit else given
    n = size(points)
    some = take(points, np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))
    features = fitted.transform(some)
    products = features @ features.T
    approximation = products.toarray() if hasattr(products, "toarray") else products
    K = gram(fitted.target, some).dense()
    unit = float(np.abs(K).max(initial=0.0)) or 1.0  # squares of large values overflow
    norm = float(np.linalg.norm(K / unit))
    error = float(np.linalg.norm((K - approximation) / unit))
    return Approximation(fitted, error / norm if norm > 0 else 0.0)
