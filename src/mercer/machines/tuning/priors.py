"""Priors of hyper-parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError

__all__ = ["Prior"]

Vector: TypeAlias = NDArray[np.float64]

#: Step of central differences in a logarithm: the cube root of the rounding error.
STEP = float(np.finfo(np.float64).eps ** (1 / 3))


@dataclass(frozen=True)
class Prior:
    """A log-density of the values of some parameters, independent of each other.

    Attributes
    ----------
    name : str
        The parameter, for messages.
    log_density : callable
        From a value, not its logarithm, to a number.
    entries : array of int
        Positions in the vector of logarithms.
    """

    name: str
    log_density: Callable[[float], Any]
    entries: NDArray[np.intp]

    @classmethod
    def of(cls, name: str, prior: Any, entries: NDArray[np.intp]) -> Prior:
        """From an object with a method ``logpdf``, as frozen distributions of SciPy have, or a function."""
        log_density = getattr(prior, "logpdf", prior)
        if not callable(log_density):
            raise ParameterError(
                f"tune: `priors` must map names to functions, or to objects with `logpdf` such as "
                f"scipy.stats.gamma(2.0). Got {prior!r} for {name!r}."
            )
        return cls(name, log_density, entries)

    def __call__(self, theta: Vector) -> tuple[float, Vector]:
        """The log-density at some logarithms, and its gradient in them by central differences."""
        slope = np.zeros(len(theta))
        for i in self.entries:
            slope[i] = (self._at(theta[i] + STEP) - self._at(theta[i] - STEP)) / (2 * STEP)
        return sum(self._at(theta[i]) for i in self.entries), slope

    def _at(self, logarithm: float) -> float:
        value = float(np.exp(logarithm))
        density = float(self.log_density(value))
        if not np.isfinite(density):
            raise ParameterError(
                f"tune: the prior of {self.name!r} must have a finite log-density where the search goes. "
                f"Got {density} at {value:.6g}. Set `bounds` to where it is positive."
            )
        return density
