"""Powers of the Euclidean distance, and their exponentials."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..domains import Data
from ..engine.program import Builder, Value
from ..intervals import NONNEGATIVE, Interval
from ..parameters import parameter
from ..spectral_density import Stable, no_density
from .radial import Decreasing, Radial, over
from .widths import width

__all__ = ["PowerDistance", "PowerExponential"]


class PowerExponential(Decreasing):
    r"""Exponential of a power of the Euclidean distance.

    .. math:: k(x, y) = \exp\left(-(\|x - y\| / \sigma)^p\right)

    Strictly positive definite on every :math:`\mathbb{R}^d` for :math:`0 < p \le 2` (Schoenberg: the
    characteristic function of a stable law) and infinitely divisible there.  Refuted for every
    :math:`p > 2`, on the line already: three equidistant points at the right spacing are a witness.
    Block cost: O(n m d).

    Parameters
    ----------
    p : float
        Exponent, > 0.
    sigma : float, array of shape (d,), "median" or "scale", default=1.0
        Width, > 0; a vector scales each feature, as in :class:`Gaussian`.

    Examples
    --------
    >>> print(PowerExponential(2.0).certificate.verdict, PowerExponential(2.01).certificate.verdict)
    STRICT REFUTED
    """

    p: float = parameter(low=0.0, open_low=True)
    sigma: Any = width("median", "scale")

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return m.exp(-m.power(D, self.p / 2))

    _is_slow = True

    def _at_distance(self, r: Any, m: Arithmetic) -> Any:
        return m.exp(-m.power(r, self.p))

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None:
        # A power below this exponent tells squared distances beyond the range of floats from 0 and infinity.
        return super()._compile(b, X, Y) if self.p / 2 >= 0.1 else None

    def _slope(self, D: np.ndarray, K: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            powers = np.minimum(D ** (self.p / 2), np.finfo(D.dtype).max)
        return self.p * over(K * powers, D)

    def _certify(self) -> Certificate:
        if self.p <= 2:
            return Certificate.psd(
                self,
                "Schoenberg",
                "|x - y|^p is negative definite for 0 < p <= 2, and exp(-|w|^p) is the characteristic "
                "function of a stable law, which has a positive density",
                strict=True,
            )
        return Certificate.refuted(
            self,
            "flat at the origin",
            "p > 2: 6 - 8 exp(-h^p) + 2 exp(-(2h)^p) < 0 for the second difference at a small step h",
            witness=self._witness() if self.is_resolved else None,
        )

    def _witness(self) -> Witness:
        # With u = h^p the form is 6 - 8 exp(-u) + 2 exp(-2^p u), least at u = (p - 2) log 2 / (2^p - 1).
        p = self.p
        log_u = math.log((p - 2) * math.log(2)) - p * math.log(2) - math.log1p(-(2.0**-p))
        h = math.exp(log_u / p)
        sigma = self.sigma if isinstance(self.sigma, np.ndarray) else np.array([self.sigma])
        step = np.zeros(len(sigma))
        step[0] = h * sigma[0]
        points = [tuple(float(t) for t in point) for point in (-step, 0 * step, step)]
        scale = 1 / min(1.0, h)
        return Witness.of(self, points, [scale, -2 * scale, scale])

    def _infinitely_divisible(self) -> Claim | None:
        if self.p > 2:
            return None
        return self._log_is_negative("|x - y|^p is negative definite for 0 < p <= 2")

    def _spectral_density(self) -> Stable:
        if self.p > 2:
            raise no_density(self, "it is not positive definite for p > 2")
        return Stable(self.sigma, index=self.p / 2)


class PowerDistance(Radial):
    r"""Power of the Euclidean distance, a negative definite kernel.

    .. math:: k(x, y) = \|x - y\|^p

    Negative definite on every :math:`\mathbb{R}^d` iff :math:`0 < p \le 2` (Schoenberg).  Never positive
    definite, for it vanishes on the diagonal.  For every :math:`p`, :math:`(-1)^l \|x - y\|^p` is
    conditionally positive definite of order :math:`l = \lceil p / 2 \rceil` (Micchelli, 1986; even :math:`p`
    as a limit).
    Block cost: O(n m d).

    Parameters
    ----------
    p : float, default=1.0
        Exponent, > 0.

    Examples
    --------
    >>> PowerDistance(1.5)([0.0], [4.0])
    8.0
    >>> print(PowerDistance(1.5).certificate.verdict, PowerDistance(3.0).certificate.verdict)
    NDS CPD
    >>> (-PowerDistance(1.5)).certificate.conditional_order, PowerDistance(3.0).certificate.conditional_order
    (1, 2)
    """

    p: float = parameter(default=1.0, low=0.0, open_low=True)

    _overflow: ClassVar[str | None] = "p"

    @property
    def _width(self) -> float:
        return 1.0

    def formula(self, D: Any, m: Arithmetic) -> Any:
        return m.power(D, self.p / 2)

    _is_slow = True

    def _at_distance(self, r: Any, m: Arithmetic) -> Any:
        return m.power(r, self.p)

    def _compile(self, b: Builder, X: Data, Y: Data | None) -> Value | None:
        return None if any(_is_faint(A) for A in (X, Y)) else super()._compile(b, X, Y)

    def _certify(self) -> Certificate:
        pair = Witness.of(self, [(0.0,), (1.0,)], [1.0, -1.0])
        if self.p <= 2:
            reason = "|x - y|^p is negative definite for 0 < p <= 2"
            return Certificate.nds(
                self, "Schoenberg", reason, separating=True, zero_diagonal=True, witness=pair
            )
        triple = Witness.of(self, [(-0.5,), (0.0,), (0.5,)], [1.0, -2.0, 1.0], Property.NEGATIVE)
        negative = Claim(
            Property.NEGATIVE,
            Status.REFUTED,
            repr(self),
            "second difference",
            "p > 2: three equidistant points with c = (1, -2, 1) give h^p (2 2^p - 8) > 0",
            witness=triple,
        )
        reason = "k(x, x) = 0 but k(x, y) != 0, so k(x, y)^2 <= k(x, x) k(y, y) fails"
        return Certificate.refuted(self, "Cauchy-Schwarz", reason, witness=pair, negative=negative)

    def _conditional_rule(self, sign: int) -> Claim:
        order = math.ceil(self.p / 2)
        if sign != (-1) ** order or self.p <= 2:
            return super()._conditional_rule(sign)
        return Claim(
            Property.CONDITIONAL,
            Status.PROVED,
            f"{'-' if sign < 0 else ''}{self!r}",
            "Micchelli",
            "(-1)^l |x - y|^p is conditionally positive definite of order l = ceil(p / 2)",
            order=order,
        )

    bounds = NONNEGATIVE

    diagonal_bounds = Interval(0.0, 0.0)


# -- helpers ----------------------------------------------------------------------------------
def _is_faint(X: Data | None) -> bool:
    """Whether two different rows may have a squared distance that is no float: they hold tiny entries."""
    if X is None or X.dtype == np.float32:  # the engine squares in double precision
        return False
    entries = X.data if scipy.sparse.issparse(X) else X
    # Floats that differ by less than 1e-154, whose squares have lost digits, are both smaller than this.
    faint = 1e-138
    return bool(((entries > -faint) & (entries < faint) & (entries != 0)).any())
