"""Features of additive homogeneous kernels on histograms: minimum, chi-square, Jensen, Hellinger."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from ..domains import NONNEGATIVE, Domain, Vectors
from ..errors import InputError, brief
from ..guarantees._validate import positive
from ..kernel import Kernel
from ..kernels.histograms import ChiSquare, Hellinger, Jensen, TotalVariation
from ..kernels.intersections import Intersection
from ..parameters import Checks, check_arguments, check_count, check_number
from .base import FeatureMap
from .random import not_empty, same_width

__all__ = ["Homogeneous"]


class Signature(NamedTuple):
    """A homogeneous kernel of two numbers is sqrt(x y) K(log x - log y), K the transform of a density."""

    value: Callable[[np.ndarray], np.ndarray]
    density: Callable[[np.ndarray], np.ndarray]
    slope: float  # bound on |K'|


def _sech(t: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(t))
    return np.asarray(2 * small / (1 + small**2))


def _jensen(t: np.ndarray) -> np.ndarray:
    # x log((x + y) / x) + y log((x + y) / y), over 2, at x = e^(t/2), y = e^(-t/2)
    return np.asarray((np.exp(t / 2) * np.log1p(np.exp(-t)) + np.exp(-t / 2) * np.log1p(np.exp(t))) / 2)


#: What psi(x, 0) + psi(y, 0) - psi(x, y) is for each divergence, and the minimum itself.
SIGNATURES = {
    Intersection: Signature(lambda t: np.exp(-np.abs(t) / 2), lambda w: 2 / math.pi / (1 + 4 * w**2), 0.5),
    TotalVariation: Signature(
        lambda t: 2 * np.exp(-np.abs(t) / 2), lambda w: 4 / math.pi / (1 + 4 * w**2), 1.0
    ),
    ChiSquare: Signature(lambda t: 2 * _sech(t / 2), lambda w: 2 * _sech(math.pi * w), 1.0),
    Jensen: Signature(_jensen, lambda w: _sech(math.pi * w) / (1 + 4 * w**2), 0.5),
}


class Homogeneous(FeatureMap):
    r"""Features of a homogeneous kernel on vectors of nonnegative numbers.

    A sum over coordinates of :math:`\sqrt{xy}\, \mathcal{K}(\log x - \log y)`, where :math:`\mathcal{K}` is
    the Fourier transform of an even density :math:`\kappa`, is approximated by that density at multiples of a
    period L: a coordinate x has the :math:`2m + 1` features

    .. math:: \sqrt{L \kappa(0)\, x}, \qquad \sqrt{2 L \kappa(jL)\, x} \, \cos(jL \log x), \qquad
              \sqrt{2 L \kappa(jL)\, x} \, \sin(jL \log x), \qquad j = 1, \dots, m.

    Nothing is random.  Zeros have features 0.  Cost: O(m) per entry that is not zero.

    =====================  =====================================================================
    ``kernel``             ``target``
    =====================  =====================================================================
    ``Intersection()``     :math:`\sum_i \min(x_i, y_i)`
    ``TotalVariation()``   its kernel seen from 0, :math:`2 \sum_i \min(x_i, y_i)`
    ``ChiSquare()``        its kernel seen from 0, :math:`\sum_i 4 x_i y_i / (x_i + y_i)`
    ``Jensen()``           its kernel seen from 0, :math:`\frac12 \sum_i x_i \log \frac{x_i + y_i}{x_i} +
                           y_i \log \frac{x_i + y_i}{y_i}`
    ``Hellinger()``        its kernel seen from 0, :math:`2 \sum_i \sqrt{x_i y_i}`, exactly, by one feature
    =====================  =====================================================================

    Parameters
    ----------
    kernel : Kernel
        One of the table; of powers other than the default there are no features.
    order : int, default=2
        The number m of frequencies beside 0.
    period : float, optional
        The period L, > 0.  By default the one of least error for numbers within a factor of 10 of each other.

    Attributes
    ----------
    period_ : float

    References
    ----------
    Vedaldi and Zisserman, Efficient additive kernels via explicit feature maps (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import ChiSquare
    >>> features = Homogeneous(ChiSquare(), order=3).fit([[0.2, 0.5, 0.3], [0.4, 0.1, 0.5]])
    >>> a, b = features.transform([[0.2, 0.5, 0.3], [0.4, 0.1, 0.5]])
    >>> round(float(a @ b), 2), round(0.32 / 0.6 + 0.2 / 0.6 + 0.6 / 0.8, 2)
    (1.62, 1.62)
    """

    _checks: ClassVar[Checks] = {
        "order": partial(check_count, low=0),
        "period": partial(
            check_number, requirement="a positive finite number, or None", above=0.0, unless=(None,)
        ),
    }

    def __init__(self, kernel: Kernel, order: int = 2, *, period: float | None = None) -> None:
        self.kernel = kernel
        self.order = order
        self.period = period

    @property
    def target(self) -> Kernel:
        """The kernel of the table."""
        if isinstance(self.kernel, Intersection):
            return self.kernel
        check_is_fitted(self, "n_features_in_")
        return self.kernel.shifted(np.zeros(self.n_features_in_))

    @property
    def domain(self) -> Domain:
        """Vectors of nonnegative numbers."""
        return Vectors(region=NONNEGATIVE)

    @property
    def _signature(self) -> Signature | None:
        """The signature; None for Hellinger, which is exact."""
        kernel: Any = self.kernel
        if isinstance(kernel, Hellinger) and kernel.power == 2:
            return None
        found = SIGNATURES.get(type(kernel))
        if found is None or getattr(kernel, "power", 1.0) != 1.0:
            raise InputError(
                "Homogeneous: `kernel` must be Intersection(), TotalVariation(), ChiSquare(), Jensen() or "
                f"Hellinger(). Got {brief(kernel)}. Nystrom takes any kernel."
            )
        return found

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the period and note the number of columns; ``y`` is ignored."""
        check_arguments(self)
        signature = self._signature
        X = self.domain.validate(X, "X")
        not_empty("Homogeneous", X)
        if self.period is not None:
            self.period_ = float(self.period)
        elif signature is None:
            self.period_ = 1.0
        else:
            periods = np.geomspace(0.05, 2.0, 60)
            self.period_ = float(min(periods, key=lambda L: self._error(signature, L, math.log(10), 401)))
        self.n_features_in_ = int(X.shape[1])
        return self

    @property
    def _each(self) -> int:
        """Features of one coordinate."""
        return 1 if self._signature is None else 2 * self.order + 1

    @property
    def dim(self) -> int:
        """Number of features."""
        check_is_fitted(self, "n_features_in_")
        return self._each * self.n_features_in_

    def transform(self, X: Any) -> Any:
        """Return the features of ``X``, of shape (n, dim): all of frequency 0, then cosines and sines of 1.

        Sparse rows have sparse features.
        """
        check_is_fitted(self, "n_features_in_")
        X = self.domain.validate(X, "X")
        same_width(self, X)
        if not scipy.sparse.issparse(X):
            return np.hstack(self._parts(X))
        parts = [
            scipy.sparse.csr_array((part, X.indices, X.indptr), shape=X.shape) for part in self._parts(X.data)
        ]
        return scipy.sparse.hstack(parts, format="csr")

    def _parts(self, values: np.ndarray) -> list[np.ndarray]:
        """Arrays of the shape of ``values``, one for each feature of an entry."""
        root, signature, L = np.sqrt(values), self._signature, self.period_
        if signature is None:
            return [np.asarray(math.sqrt(2) * root)]
        weights = np.sqrt(L * signature.density(L * np.arange(self.order + 1))).astype(values.dtype)
        logs = L * np.log(np.where(values > 0, values, 1.0))
        parts = [weights[0] * root]
        for j in range(1, self.order + 1):
            scaled = math.sqrt(2) * weights[j] * root
            parts += [scaled * np.cos(j * logs), scaled * np.sin(j * logs)]
        return [part.astype(values.dtype, copy=False) for part in parts]

    def error_bound(self, ratio: float = 10.0) -> float:
        r"""Bound on the error in units of :math:`\sum_i \sqrt{x_i y_i}`, surely.

        For pairs whose entries that are not zero are within a factor ``ratio`` of each other, coordinate by
        coordinate.  The features are periodic in the logarithm: the error grows with the ratio.
        """
        check_is_fitted(self, "n_features_in_")
        ratio = max(1.0, positive("Homogeneous.error_bound", "ratio", ratio))
        signature = self._signature
        return 0.0 if signature is None else self._error(signature, self.period_, math.log(ratio), 20_001)

    def _error(self, signature: Signature, L: float, reach: float, points: int) -> float:
        """Largest distance of the signature from its approximation on [0, reach]: on a grid, and between."""
        t = np.linspace(0, reach, points)
        j = np.arange(1, self.order + 1)
        weights = 2 * L * signature.density(L * j)
        found = L * float(signature.density(np.zeros(1))[0]) + np.cos(np.multiply.outer(t, L * j)) @ weights
        slope = signature.slope + float((weights * L * j).sum())
        return float(np.abs(found - signature.value(t)).max()) + slope * reach / (points - 1) / 2

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags
