"""Positive random features of the exponential of the inner product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..domains import Data
from ..errors import InputError
from ..guarantees._validate import nonnegative, probability
from ..kernels.dot import ExponentialDot
from ..kernels.inner import squared_norms
from ..spectral_density import Normal
from .random import RandomMap

__all__ = ["PositiveRandom"]


class PositiveRandom(RandomMap):
    r"""Random features of :math:`\exp(\langle x, y \rangle / \sigma^2)` that are positive.

    .. math:: \phi_j(x) = \frac{1}{\sqrt{D}} \exp\Big(\frac{\langle w_j, x \rangle}{\sigma} -
              \frac{\|x\|^2}{2 \sigma^2}\Big), \qquad w_j \sim N(0, I)

    The mean of inner products is the kernel (the moment generating function of the normal law).  Features and
    inner products are positive, as values of the kernel are; random Fourier features of the Gaussian kernel,
    rescaled, would have signs, and large errors where values are small.  The variance of one pair is

    .. math:: k(x, y)^2 \, (e^{\|x + y\|^2 / \sigma^2} - 1) / D

    so that norms should be of the order of :math:`\sigma`.  Cost: O(n d D) and D exponentials per point.

    Parameters
    ----------
    kernel : ExponentialDot
    n_components : int, optional
        Number D of features; 100 by default.
    orthogonal : bool, default=False
        Draw blocks of d orthogonal :math:`w_j`: unbiased too, with a smaller variance.
    random_state : int, Generator, RandomState or None, default=0

    Attributes
    ----------
    kernel_ : ExponentialDot
    directions_ : array of shape (D, d)
        The :math:`w_j`.
    radius_ : float
        Largest norm of a training point.

    References
    ----------
    Choromanski et al., Rethinking attention with performers (2021).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import ExponentialDot
    >>> Z = PositiveRandom(ExponentialDot(), 50_000).fit_transform([[0.5, 0.2], [0.1, -0.4]])
    >>> bool(abs(Z[0] @ Z[1] - ExponentialDot()([0.5, 0.2], [0.1, -0.4])) < 0.02)
    True
    """

    _drawn = ("directions_",)

    def __init__(
        self,
        kernel: ExponentialDot,
        n_components: int | None = None,
        *,
        orthogonal: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.random_state = random_state

    @property
    def _sigma(self) -> float:
        assert isinstance(self.kernel_, ExponentialDot)
        return float(self.kernel_.sigma)

    def _draw(self, X: Data, rng: np.random.Generator) -> int:
        if not isinstance(self.kernel_, ExponentialDot):
            raise InputError(
                f"PositiveRandom: `kernel` must be ExponentialDot. Got {self.kernel!r}. RandomFourier and "
                "Nystrom take other kernels."
            )
        count = self._components(self.n_components)
        norms = squared_norms(X.astype(np.float64))
        self.radius_ = math.sqrt(float(norms.max(initial=0.0)))
        density = Normal(1.0)
        self.directions_ = density.sample(count, self.n_features_in_, rng, orthogonal=bool(self.orthogonal))
        return count

    def _write(self, X: Data, out: np.ndarray) -> None:
        sigma = self._sigma
        height = max(1, (1 << 20) // self.dim)
        for first in range(0, X.shape[0], height):
            rows = X[first : first + height].astype(np.float64) / sigma
            exponents = np.asarray(rows @ self.directions_.T)
            exponents -= squared_norms(rows)[:, None] / 2 + math.log(self.dim) / 2
            largest, limits = exponents.max(axis=1), np.finfo(out.dtype)
            if not ((math.log(limits.tiny) <= largest) & (largest <= math.log(limits.max))).all():
                raise InputError(
                    "PositiveRandom: the exponential of X times the directions overflows, or is lost to "
                    "underflow in all features of a row. Scale the data, or choose a larger `sigma`."
                )
            out[first : first + height] = np.exp(exponents)

    def error_bound(self, radius: float | None = None, delta: float = 0.05) -> float:
        r"""Bound on :math:`|k(x, y) - \langle \phi(x), \phi(y) \rangle|` for one pair, by Chebyshev.

        With probability 1 - delta over the draws, if :math:`\|x\|, \|y\|` are at most ``radius`` (by default
        the largest norm of a training point); infinite where that is no float.  Orthogonal draws have a
        smaller variance, so that it holds for them too.
        """
        check_is_fitted(self, "n_components_")
        delta = probability("PositiveRandom.error_bound", "delta", delta)
        radius = self.radius_ if radius is None else radius
        r2 = (nonnegative("PositiveRandom.error_bound", "radius", radius) / self._sigma) ** 2
        return math.exp(r2) * math.sqrt(math.expm1(4 * r2) / (self.dim * delta)) if r2 < 175 else math.inf
