"""A kernel and a penalty as one vector of logarithms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...kernel import Kernel
from ...parameters import Parameter

__all__ = ["Hyperparameters"]

Vector: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Hyperparameters:
    """Every parameter of the kernel with a logarithmic scale that is > 0, and the penalty last.

    A vector takes part with each of its entries.

    Parameters
    ----------
    kernel : Kernel
    alpha : float
        The penalty.
    penalty : str, optional, default="alpha"
        The name of the penalty; with None it takes no part.
    """

    kernel: Kernel
    alpha: float
    penalty: str | None = "alpha"

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """All parameters of the kernel."""
        return self.kernel.parameters

    @cached_property
    def shapes(self) -> dict[str, NDArray[np.float64]]:
        """Values of the parameters of the kernel that take part."""
        values = {name: p.value for name, p in self.parameters.items() if p.scale == "log"}
        arrays = {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}
        return {name: array for name, array in arrays.items() if (array > 0).all()}

    @property
    def names(self) -> tuple[str, ...]:
        """One name per entry, as ``set_params`` knows it."""
        names: list[str] = []
        for name, value in self.shapes.items():
            indices = [f"[{i}]" for i in range(value.size)] if value.ndim else [""]
            names += [f"kernel__{name}{index}" for index in indices]
        return tuple(names) if self.penalty is None else (*names, self.penalty)

    @cached_property
    def theta(self) -> Vector:
        """The logarithms."""
        parts = [np.log(value).ravel() for value in self.shapes.values()]
        theta = np.concatenate([*parts, [] if self.penalty is None else [np.log(self.alpha)]])
        theta.flags.writeable = False
        return theta

    def at(self, theta: Vector) -> Hyperparameters:
        """The same with other values; a parameter whose logarithm is as before keeps its value exactly."""
        same = theta == self.theta
        changes: dict[str, Any] = {}
        shapes: dict[str, NDArray[np.float64]] = {}
        start = 0
        for name, value in self.shapes.items():
            part = slice(start, start + value.size)
            entries = np.where(same[part], value.ravel(), np.exp(theta[part])).reshape(value.shape)
            shapes[name] = entries
            if not same[part].all():
                changes[name] = entries if value.ndim else float(entries)
            start += value.size
        kernel = self.kernel.replace(**changes) if changes else self.kernel
        alpha = self.alpha if self.penalty is None or same[-1] else float(np.exp(theta[-1]))
        found = Hyperparameters(kernel, alpha, self.penalty)
        found.__dict__["shapes"] = shapes  # which the kernel need not be asked for in each step of a search
        return found

    @property
    def bounds(self) -> Vector:
        """Logarithms of the ranges of all entries, of shape (n_parameters, 2); the penalty has no ends."""
        ranges = [np.tile(self.range_of(name), (value.size, 1)) for name, value in self.shapes.items()]
        return np.concatenate([*ranges, np.full((int(self.penalty is not None), 2), [-np.inf, np.inf])])

    def range_of(self, name: str) -> tuple[float, float]:
        """Logarithms of the bounds of a parameter of the kernel."""
        parameter = self.parameters[name]
        return (
            float(np.log(parameter.low)) if parameter.low > 0 else -np.inf,
            float(np.log(parameter.high)) if np.isfinite(parameter.high) else np.inf,
        )
