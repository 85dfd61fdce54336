"""Tensor sketches: polynomial kernels and products of kernels with finite features."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.fft
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from .. import memory
from ..algebra import Constant
from ..algebra.products import Power, Product
from ..algebra.ring import Scaled
from ..domains import size
from ..errors import ParameterError
from ..guarantees._validate import generator, probability
from ..kernel import Kernel
from ..kernels.dot import Linear, Polynomial
from ..parameters import Checks, check_arguments, check_count
from .base import KernelMap
from .finite import Explicit
from .random import DEFAULT_COMPONENTS, MOST_COMPONENTS, not_empty, same_width

__all__ = ["TensorSketch"]


class TensorSketch(KernelMap):
    r"""Random features of a product of kernels with finite features, without the product of their features.

    .. math:: k = k_1 \cdots k_p, \qquad
              \phi(x) = F^{-1}\big(F(C_1 \phi_1(x)) \cdots F(C_p \phi_p(x))\big)

    with the discrete Fourier transform F and count sketches :math:`C_i`, which add the coordinates of the
    features of :math:`k_i` into D places at random and with random signs.  It is the count sketch of the
    tensor product :math:`\phi_1(x) \otimes \cdots \otimes \phi_p(x)`, which is never formed.  The mean of
    inner products is the kernel, and their variance at most :math:`(2 + 3^p)\, k(x, x)\, k(y, y) / D`.

    ``Polynomial(d, c)`` is taken as d factors :math:`\langle x, y \rangle + c`.  Factors can be any kernels
    that :class:`Explicit` takes, on strings and graphs too; patterns that were not seen in ``fit`` are left
    out.  Cost: the entries of all features, and O(n p D log D).

    Parameters
    ----------
    kernel : Kernel
        A polynomial kernel, or products, powers and nonnegative multiples of kernels with finite features.
    n_components : int, optional
        Number D of features; 100 by default.
    random_state : int, Generator, RandomState or None, default=0

    Attributes
    ----------
    kernel_ : Kernel
    degree_ : int
        The number p of factors.

    References
    ----------
    Pham and Pagh, Fast and scalable polynomial kernels via explicit feature maps (2013); Avron, Nguyen and
    Woodruff, Subspace embeddings for the polynomial kernel (2014), for the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import NGram, Polynomial
    >>> X = np.random.default_rng(0).standard_normal((50, 30)) / 30**0.5
    >>> Z = TensorSketch(Polynomial(3), 4000).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - Polynomial(3).block(X)).max() < 1.0)
    True
    >>> TensorSketch(NGram(1) * NGram(2), 64).fit_transform(["banana", "ananas"]).shape
    (2, 64)
    """

    _checks: ClassVar[Checks] = {"n_components": partial(check_count, high=MOST_COMPONENTS, unless=(None,))}

    def __init__(self, kernel: Kernel, n_components: int | None = None, *, random_state: Any = 0) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the sketches for the features that occur in ``X``; ``y`` is ignored."""
        check_arguments(self)
        D = DEFAULT_COMPONENTS if self.n_components is None else int(self.n_components)
        rng = generator("TensorSketch", self.random_state)
        X = self.kernel.domain.validate(X, "X")
        not_empty("TensorSketch", X)
        self.kernel_ = self.kernel.resolve(X)
        factors, self._scale = _factors(self.kernel_)
        self.degree_ = len(factors)
        self._maps = {k: Explicit(k).fit(X) for k in dict.fromkeys(factors)}
        self._sketches = [(self._maps[k], _count_sketch(self._maps[k].dim, D, rng)) for k in factors]
        self.n_components_ = D
        if hasattr(X, "shape"):
            self.n_features_in_ = int(X.shape[1])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of ``X``, of shape (n, dim)."""
        check_is_fitted(self, "n_components_")
        X = self.kernel_.domain.validate(X, "X")
        same_width(self, X)
        n, D = size(X), self.dim
        memory.require(8 * n * D, f"TensorSketch.transform: {D} features of {n} points")
        rows = {id(m): m.transform(X) for m in self._maps.values()}
        out = np.empty((n, D))
        # Numbers of the Fourier transforms that are held at a time: 32 MiB.
        height = max(1, (1 << 21) // D)
        for first in range(0, n, height):
            band = slice(first, first + height)
            total: Any = 1.0
            for m, sketch in self._sketches:
                total = total * scipy.fft.rfft((rows[id(m)][band] @ sketch).toarray(), axis=1)
            out[band] = scipy.fft.irfft(total, n=D, axis=1)
        out *= math.sqrt(self._scale)
        return out

    @property
    def dim(self) -> int:
        """Number of features."""
        check_is_fitted(self, "n_components_")
        return self.n_components_

    def error_bound(self, delta: float = 0.05) -> float:
        r"""Bound on the error for one pair in units of :math:`\sqrt{k(x, x)\, k(y, y)}`, by Chebyshev.

        With probability 1 - delta over the draws.
        """
        delta = probability("TensorSketch.error_bound", "delta", delta)
        return math.sqrt((2 + 3.0**self.degree_) / (self.dim * delta))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _factors(k: Kernel) -> tuple[list[Kernel], float]:
    """Kernels with finite features and a number >= 0 whose product is the kernel."""
    if isinstance(k, Polynomial):
        if k.offset < 0:
            raise ParameterError(f"TensorSketch: `offset` must be >= 0. Got {k!r}, which is not definite.")
        base = Linear() + Constant(k.offset * k.sigma**2) if k.offset > 0 else Linear()
        return [base] * k.degree, float(k.sigma) ** (-2 * k.degree)
    if type(k) is Scaled:
        found, scale = _factors(k.base)
        if k.factor < 0:
            raise ParameterError(f"TensorSketch: `factor` must be >= 0. Got {k!r}, which is not definite.")
        return found, scale * k.factor
    if type(k) is Power and k.exponent > 0:
        found, scale = _factors(k.base)
        return found * k.exponent, scale**k.exponent
    if type(k) is Product:
        parts = [_factors(factor) for factor in k.factors]
        return [factor for found, _ in parts for factor in found], math.prod(scale for _, scale in parts)
    return [k], 1.0


def _count_sketch(columns: int, D: int, rng: np.random.Generator) -> scipy.sparse.csr_array:
    """A matrix with one random sign per row, at a random place."""
    signs, places = rng.choice([-1.0, 1.0], columns), rng.integers(0, D, columns)
    return scipy.sparse.csr_array((signs, places, np.arange(columns + 1)), shape=(columns, D))
