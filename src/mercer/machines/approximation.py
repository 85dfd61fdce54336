"""What ``approximation=`` does: a machine is trained on the features of a map.

A function of the features has one weight for each of them, so that a prediction costs the features of the
point and one product, whatever the number of training points.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from sklearn.base import clone

from .. import memory
from ..domains import Data, Similarities, size, take
from ..errors import ParameterError, brief
from ..features import FeatureMap
from ..features.advice import advise, relative_error
from ..features.base import KernelMap
from ..features.nystrom import LandmarkMap
from ..gram import PointGram
from ..gram.kernel_gram import gram_of_points
from ..kernel import Kernel
from ..kernels import Gaussian, Linear
from ..parameters import Checks
from .base import KernelMachine
from .translation import as_kernel

__all__ = ["Approximated", "FeatureFunction", "approximate", "check_approximation"]


class FeatureFunction(NamedTuple):
    r"""Functions :math:`\langle w, \phi(x) \rangle` of the features of a map, one per column of weights."""

    map: FeatureMap
    weights: np.ndarray  # (dim, functions)

    def __call__(self, points: Data) -> np.ndarray:
        """Values at validated points, of shape (n, functions); features are held a band at a time."""
        if isinstance(self.map, LandmarkMap):
            return np.asarray(self.map._gram._cross(points) @ self.coefficients(), dtype=np.float64)
        # numbers of a band of features: 32 MiB
        n, height = size(points), max(1, (1 << 22) // max(self.map.dim, 1))
        out = np.empty((n, self.weights.shape[1]))
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            out[rows] = self.map.transform(take(points, rows)) @ self.weights
        return out

    def coefficients(self) -> np.ndarray:
        """Coefficients of the landmarks: the functions are sums of kernel values with these."""
        assert isinstance(self.map, LandmarkMap)
        return self.map._coefficients(self.weights)


def target_of(map: FeatureMap) -> Kernel:
    """The kernel that a map was made from, or stands for."""
    return map.kernel if isinstance(map, KernelMap) else map.target


def check_approximation(machine: Any, full_only: dict[str, Any]) -> None:
    """Raise :class:`~mercer.errors.ParameterError` for what does not go with ``approximation``.

    ``full_only`` has the parameters that need the kernel matrix of all points, with the values that ask for
    nothing.
    """
    given, name = machine.approximation, type(machine).__name__
    if given is None:
        return
    own = (Gaussian("scale"), target_of(given)) if isinstance(given, FeatureMap) else ()
    if own and as_kernel(machine.kernel, name) not in own:
        raise ParameterError(
            f"{name}: `kernel` must be left out with `approximation`, whose own kernel counts, or equal "
            f"it. Got {machine.kernel!r} and {target_of(given)!r}."
        )
    for parameter, value in full_only.items():
        asked = getattr(machine, parameter)
        if asked is not value and (value is None or asked != value):
            raise ParameterError(
                f"{name}: `{parameter}` must be {value!r} with `approximation`. Got {brief(asked)}, "
                "which needs the kernel values of all points."
            )


def approximate(given: FeatureMap, points: Data, *, refit: bool = True) -> tuple[FeatureMap, float]:
    """A map fitted to points, unless it is to stay as it is, and the error of its kernel on some of them."""
    fitted = clone(given).fit(points) if refit else given
    return fitted, relative_error(fitted, points)


def _check_map(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a feature map, or stands for one or none."""
    if not (value is None or isinstance(value, FeatureMap) or (isinstance(value, str) and value == "auto")):
        raise ParameterError(
            f"{caller}: `{name}` must be a feature map such as Nystrom(kernel, 1000), 'auto' or None. "
            f"Got {brief(value)}."
        )


class Approximated(KernelMachine):
    """A machine that can be trained on the features of a map instead of a kernel."""

    approximation: FeatureMap | Literal["auto"] | None = None
    approximation_: FeatureMap | None
    approximation_error_: float
    _weights: np.ndarray  # (dim, functions)

    #: Parameters that need the kernel matrix of all points, with the values that ask for nothing.
    _full_only: ClassVar[dict[str, Any]] = {"indefinite": "warn"}

    _checks: ClassVar[Checks] = {"approximation": _check_map}

    def _checked_kernel(self, name: str = "kernel") -> Kernel:
        if name == "kernel" and isinstance(self.approximation, FeatureMap):
            return target_of(self.approximation)
        given = getattr(self, name)
        return given if isinstance(given, Kernel) else super()._checked_kernel(name)

    def _wanted_map(self, points: Data, weight: np.ndarray | None) -> FeatureMap | None:
        """The map to fit, None for the exact machine; nothing of an earlier fit stays.

        ``"auto"`` is exact where the Gram matrix can be held, or is given, or known features make it
        unnecessary, and where the kernel is not certified, which maps need.
        """
        for name in ("approximation_", "approximation_error_", "_weights"):
            self.__dict__.pop(name, None)
        if self.approximation != "auto":
            return self.approximation
        self.approximation_ = None
        kernel, n = self._checked_kernel(), size(points)
        if memory.can_hold(8 * n * n) or isinstance(kernel.domain, Similarities):
            return None
        kernel = kernel.resolve(points, weight)
        if not kernel.certificate.is_psd or gram_of_points(kernel, points)._embedding() is not None:
            return None
        return advise(kernel, points, random_state=0).best

    def _approximate(self, points: Data, weight: np.ndarray | None) -> PointGram | None:
        """Fit the map; return the Gram matrix of its features, or None for the exact machine."""
        given = self._wanted_map(points, weight)
        if given is None:
            return None
        fitted: FeatureMap = clone(given)
        features = fitted.fit_transform(points)
        self.approximation_, self.approximation_error_ = fitted, relative_error(fitted, points)
        self.kernel_ = fitted.target
        return gram_of_points(Linear(), features)

    @property
    def _is_approximate(self) -> bool:
        return getattr(self, "approximation_", None) is not None

    def _said(self, status: str) -> str:
        """A status that says on which features the machine was trained."""
        if not self._is_approximate:
            return status
        assert self.approximation_ is not None
        name = type(self.approximation_).__name__
        return (
            f"{status}, on {self.approximation_.dim} features of {name}, whose relative error is "
            f"{self.approximation_error_:.2g}"
        )

    def _feature_function(self) -> FeatureFunction:
        assert self.approximation_ is not None
        return FeatureFunction(self.approximation_, self._weights)

    def _landmark_sum(self) -> tuple[PointGram, np.ndarray]:
        """The landmarks' Gram matrix and their coefficients, for explanations."""
        if not isinstance(self.approximation_, LandmarkMap):
            raise ParameterError(
                f"{type(self).__name__}.explain: `approximation` must be Nystrom or IncompleteCholesky: "
                "functions of other features are not sums over points."
            )
        return self.approximation_._gram, self._feature_function().coefficients()

    def _require_exact(self, what: str) -> None:
        """Raise for what is known of the exact machine only."""
        if self._is_approximate:
            raise ParameterError(
                f"{type(self).__name__}.{what}: there must be no `approximation`: this needs the kernel "
                "values of all points."
            )
