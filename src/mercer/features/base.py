"""What a feature map is: points into vectors, so that inner products are kernel values or near them.

A map is not a kernel.  It is a transformer in scikit-learn's contract, with the kernel it stands for as
``target`` and its own kernel, certified because it is an inner product, as ``as_kernel()``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from functools import partial, wraps
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin

from ..certificate import Certificate
from ..domains import Data, Domain, refuse_iterator
from ..engine import pairwise
from ..errors import InputError, ParameterError, brief
from ..kernel import Gradient, Kernel
from ..kernels.inner import squared_norms
from ..parameters import Checks, check_count, check_number

__all__ = ["FeatureKernel", "FeatureMap", "KernelMap", "check_kernel"]


def check_kernel(caller: str, name: str, value: Any) -> None:
    """Raise unless the value is a kernel."""
    if not isinstance(value, Kernel):
        raise ParameterError(f"{caller}: `{name}` must be a kernel. Got {brief(value)}.")


class FeatureMap(TransformerMixin, BaseEstimator):
    """A map from points to vectors.

    Subclasses define ``target``, ``dim``, ``fit`` and ``transform``, as scikit-learn's transformers do.
    Maps that stand for their kernel, exactly or nearly, have ``error_bound()``, which can be called without
    arguments after ``fit`` and says for which points it holds.

    Features that are no finite numbers are an error, whatever the map.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        for name in {"transform", "fit_transform", "_features"} & vars(cls).keys():
            setattr(cls, name, _finite(vars(cls)[name]))
        super().__init_subclass__(**kwargs)

    @property
    def target(self) -> Kernel:
        """The kernel that inner products of features equal or approximate."""
        raise TypeError(f"{type(self).__name__} must define target")

    @property
    def dim(self) -> int:
        """Number of features."""
        raise TypeError(f"{type(self).__name__} must define dim")

    @property
    def domain(self) -> Domain:
        """The points that the map accepts."""
        return self.target.domain

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn what the map needs to know of the data; ``y`` is ignored."""
        raise TypeError(f"{type(self).__name__} must define fit")

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of ``X``, of shape (n, dim)."""
        raise TypeError(f"{type(self).__name__} must define transform")

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit to ``X``, and return its features."""
        refuse_iterator(X, f"{type(self).__name__}: `X`")
        return super().fit_transform(X, y)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: the class in lower case and a number."""
        stem = type(self).__name__.lower()
        return np.array([f"{stem}{i}" for i in range(self.dim)], dtype=object)

    def as_kernel(self) -> FeatureKernel:
        """Return the kernel of the map as it is now: an inner product, positive definite whatever the map."""
        return FeatureKernel(copy.deepcopy(self))

    def _features(self, X: Data) -> Any:
        """Features of validated points."""
        return self.transform(X)

    def _identity(self) -> Hashable:
        """What makes two maps equal inside a kernel; by default, being the same object."""
        return id(self)


def _finite(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that gives features, with an error in place of those that overflow."""

    @wraps(method)
    def checked(self: FeatureMap, X: Any, *args: Any, **kwargs: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            features = method(self, X, *args, **kwargs)
        values = features.data if scipy.sparse.issparse(features) else np.asarray(features)
        if not np.isfinite([values.min(initial=0.0), values.max(initial=0.0)]).all():
            wrong = np.flatnonzero(~np.isfinite(values))[0]
            rows = scipy.sparse.coo_array(features).row if values.ndim == 1 else None
            row = rows[wrong] if rows is not None else wrong // values.shape[1]
            raise InputError(
                f"{type(self).__name__}: `X` must have features within the range of floats. Those of row "
                f"{row} overflow. Scale the data."
            )
        return features

    return checked


class KernelMap(FeatureMap):
    """A map that is made from any kernel; ``fit`` resolves it into ``kernel_``."""

    kernel: Kernel
    kernel_: Kernel

    _checks: ClassVar[Checks] = {
        "kernel": check_kernel,
        "n_components": partial(check_count, unless=(None,)),
        "delta": partial(check_number, requirement="in (0, 1)", above=0.0, below=1.0),
    }

    @property
    def target(self) -> Kernel:
        """The kernel that the map was made from."""
        return getattr(self, "kernel_", self.kernel)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__sigma=2.0`` puts a new kernel in place, the old one stays as it is."""
        prefix = "kernel__"
        nested = {key.removeprefix(prefix): value for key, value in params.items() if key.startswith(prefix)}
        super().set_params(**{key: value for key, value in params.items() if not key.startswith(prefix)})
        if nested:
            self.kernel = self.kernel.replace(**nested)
        return self


class FeatureKernel(Kernel):
    r"""The kernel of a feature map.

    .. math:: k(x, y) = \langle \phi(x), \phi(y) \rangle

    Positive definite, whatever the map.  Block cost: the features of each point once, and one matrix product.

    Parameters
    ----------
    map : FeatureMap
        The map :math:`\phi`, fitted if it has to be.

    Examples
    --------
    >>> from mercer.features import PolynomialMap
    >>> k = PolynomialMap(2).as_kernel()
    >>> round(k([1.0, 2.0], [3.0, -1.0]), 12)
    4.0
    """

    map: Any

    def _validate(self) -> None:
        value: Any = self.map
        if not isinstance(value, FeatureMap):
            raise ParameterError(f"FeatureKernel: `map` must be a FeatureMap. Got {brief(value)}.")

    @property
    def domain(self) -> Domain:
        domain: Domain = self.map.domain
        return domain

    def __call__(self, x: Any, y: Any) -> float:
        a, b = (self._prepare(self.domain.validate([point])) for point in self.domain.pair(x, y))
        return float(pairwise.dot(a, b)[0, 0])

    def _prepare(self, X: Data) -> Data:
        return self.map._features(X)

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        return X

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return pairwise.dot(X, Y)

    def _diagonal(self, X: Data) -> np.ndarray:
        return squared_norms(X)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        return self._block(X, Y), {}

    def _certify(self) -> Certificate:
        return Certificate.psd(self, "inner product", "c'Kc = |sum_i c_i phi(x_i)|^2 >= 0")

    @property
    def _identity(self) -> tuple[Any, ...]:
        return (type(self), type(self.map), self.map._identity())

    def __repr__(self) -> str:
        return f"{self.map!r}.as_kernel()"
