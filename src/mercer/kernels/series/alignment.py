"""The global alignment kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate, Claim, Property, Status, Witness
from ...contributions import Contribution
from ...domains import Data, SeriesData
from ...engine import series as engine
from ...errors import ParameterError
from ...intervals import NONNEGATIVE, Interval
from ...kernel import Prepared
from ...parameters import parameter
from ..radial import Gaussian
from ..widths import median_distance, weighted_median
from .common import _Aligned, check_band, gap, is_ordinary, layout, missing, steps_of, width
from .paths import explained, squared_distances

__all__ = ["GlobalAlignment"]


class GlobalAlignment(_Aligned):
    r"""Global alignment kernel of two time series, normalised.

    .. math:: k(x, y) = \frac{K(x, y)}{\sqrt{K(x, x) K(y, y)}}, \qquad
              K(x, y) = \sum_{\pi} \prod_{(i, j) \in \pi} \kappa(x_i, y_j)

    The sum is over all alignments: paths from the pair of the first steps to the pair of the last that move
    on in x, in y or in both.  The local kernel is

    .. math:: \kappa = \frac{\omega G}{2 - \omega G}, \quad G = e^{-\|x_i - y_j\|^2 / 2 \sigma^2},
              \quad \omega = \left(1 - |i - j| / T\right)_+

    where :math:`\omega = 1` without a band T.  Positive definite (Cuturi and others 2007): with
    :math:`h = \omega G / 2` it is :math:`\kappa = h + h^2 + \dots`, so that K is the sum of products of h
    over all ways to lengthen x and y, by repeating steps, to series of one length; and h is positive
    definite on pairs (i, x_i).  That :math:`\kappa / (1 + \kappa)` be positive definite is also necessary,
    and with the Gaussian itself as local kernel it fails: that form is refuted, at every width.

    K grows like :math:`5.8^n` with the length and is never formed: the recursion runs on the normalised
    kernel of the beginnings of x and y, whose values lie between 0 and 1, so that series of any length are
    compared without overflow (those below 1e-280 come out as 0).  :meth:`log_block` gives log K.

    Block cost: O(length^2) per pair, several pairs at a time in the lanes of vector registers; with a band
    O(length T).  Memory O(length).

    Parameters
    ----------
    sigma : float or "median", default=1.0
        Width of G, > 0.  ``"median"`` is the median distance of steps of the data times the root of the
        median length (Cuturi's rule), by a fixed sample of at most 8,192 pairs of steps.
    band : int, optional
        T >= 1: steps T or more apart are not aligned; series whose lengths differ by T or more have k = 0.
    local : {"divisible", "gaussian"}, default="divisible"
        Local kernel: as above, or :math:`\kappa = \omega G`, as in soft-DTW, which is not positive definite.
    missing : {"error", "drop"}, default="error"
        What to do about NaN; see :class:`~mercer.domains.Series`.
    layout : {None, "time_first", "channels_first"}, default=None
        Axes of arrays: (n, length, channels), or (n, channels, length) as aeon and sktime have them; see
        :class:`~mercer.domains.Series`.

    Notes
    -----
    :meth:`contributions` cuts the weightiest alignment into stretches on which x waits, y waits or both move
    on.  The weight of a stretch is what all alignments that go through its pairs of steps add to the value;
    the rest is called "other alignments", and together they add up to the value.

    Examples
    --------
    >>> k = GlobalAlignment(1.0)
    >>> round(k([0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 2.0]), 6)
    0.710924
    >>> print(k.certificate.verdict)
    PSD
    """

    sigma: Any = width()
    band: int | None = None
    local: str = parameter(default="divisible", choices=("divisible", "gaussian"))
    missing: str = missing()
    layout: str | None = layout()

    def _validate(self) -> None:
        check_band("GlobalAlignment", self.band, 1)
        if not isinstance(self.sigma, str) and not math.isfinite(32 * self._scale):
            raise ParameterError(
                "GlobalAlignment: `sigma` must not be so small that 1 / sigma^2 overflows. "
                f"Got {self.sigma!r}."
            )

    @property
    def _scale(self) -> float:
        return float(0.5 / self.sigma / self.sigma)

    # -- values -------------------------------------------------------------------------------
    def _value(self, x: Any, y: Any, m: Arithmetic) -> Any:
        # The root of a square is exact, so that k(x, x) = 1 is; the product of two roots is not.
        return self._sum(x, y, m) / m.sqrt(self._sum(x, x, m) * self._sum(y, y, m))

    def _sum(self, x: Any, y: Any, m: Arithmetic) -> Any:
        """The sum over alignments, row by row."""
        row = [m.real(1), *(m.real(0) for _ in y)]
        for i, step in enumerate(x):
            above, row = row, [m.real(0)]
            for j, other in enumerate(y):
                row.append(self._similarity(i, step, j, other, m) * (above[j] + above[j + 1] + row[j]))
        return row[-1]

    def _similarity(self, i: int, step: Any, j: int, other: Any, m: Arithmetic) -> Any:
        sigma = m.real(self.sigma)
        g = m.exp(-gap(step, other, m) / sigma / sigma / 2)
        if self.band is not None:
            g = g * max(m.real(0), 1 - m.real(abs(i - j)) / self.band)
        return g / (2 - g) if self.local == "divisible" else g

    def _prepare(self, X: SeriesData) -> Prepared:
        ratios, norms = engine.gauge(steps_of(X), self.local, self._scale, self.band)
        return Prepared((X, SeriesData(ratios[:, None], X.starts)), (norms,))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        other = None if Y is None else steps_of(*Y.parts)
        K = engine.scaled_sums(steps_of(*X.parts), other, self.local, self._scale, self.band)
        K /= np.sqrt(np.multiply.outer(X.arrays[0], (X if Y is None else Y).arrays[0]))
        # Smaller values come out as zero: the recursion leaves out what does not reach them.
        K[K < 1e-280] = 0.0
        if self.local == "divisible":  # Cauchy-Schwarz holds: only rounding can exceed 1
            np.minimum(K, 1.0, out=K)
        return K

    def log_block(self, X: Any, Y: Any = None) -> np.ndarray:
        """Matrix of log K, the logarithms of the sums before they are normalised; -inf where K = 0.

        Exact where the normalised value underflows too.

        Examples
        --------
        >>> constant = [[0.0] * 1000]  # counts alignments
        >>> bool(1755 < GlobalAlignment().log_block(constant)[0, 0] < 1759)
        True
        """
        self._require_resolved()
        X = self.domain.validate(X, "X")
        Y = None if Y is None else self.domain.validate(Y, "Y")
        self.domain.match(X, Y)
        other = None if Y is None else steps_of(Y)
        return engine.log_sums(steps_of(X), other, self.local, self._scale, self.band)

    # -- explanation --------------------------------------------------------------------------
    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        value = self(x, y)
        if value <= 0:
            return
        log_g = -self._scale * squared_distances(x, y)
        if self.band is not None:
            lag = np.abs(np.subtract.outer(np.arange(len(x)), np.arange(len(y))))
            with np.errstate(divide="ignore"):
                log_g += np.log(np.maximum(0.0, 1.0 - lag / self.band))
        if self.local == "divisible":
            log_g -= np.log(2.0 - np.exp(log_g))
        yield from explained(value, log_g)

    # -- parameters and proof -----------------------------------------------------------------
    def _rule(self, name: str, rule: str, X: Data, weight: np.ndarray | None) -> float:
        """Median distance of the steps of all series, times the root of the median length."""
        lengths = X.lengths
        kept = np.arange(len(X)) if weight is None else np.flatnonzero(weight > 0)
        if len(kept) == 0:
            return 1.0
        by_step = None if weight is None else np.repeat(weight, lengths)
        typical = weighted_median(lengths[kept], None if weight is None else weight[kept])
        return median_distance(X.steps, by_step) * math.sqrt(typical)

    def _certify(self) -> Certificate:
        if self.local == "gaussian":
            return self._certify_gaussian()
        premises = [Gaussian(self.sigma).certificate.positive]
        if self.band is not None:
            reason = "the autocorrelation of an interval of the integers"
            triangle = f"(1 - |i - j| / {self.band})+"
            premises.append(Claim(Property.POSITIVE, Status.PROVED, triangle, "autocorrelation", reason))
        return Certificate.psd(
            self,
            "geometric divisibility (Cuturi et al. 2007)",
            "with h = w G / 2 the local kernel is h + h^2 + ..., so that the sum over alignments is a sum "
            "over ways to lengthen both series of products of h; normalised",
            premises=premises,
        )

    def _certify_gaussian(self) -> Certificate:
        if self.band == 1:
            reason = "series of one length are aligned step by step: products of Gaussians; others have k = 0"
            return Certificate.psd(self, "product", reason)
        if isinstance(self.sigma, str):
            return Certificate.unknown(self, "the Gaussian as local kernel; resolve sigma for the refutation")
        if not is_ordinary(self.sigma):
            return Certificate.unknown(self, "no series lie at such distances as would refute it")
        # Constant series of the values 0, 0.6, 1.2, 1.8 (times sigma), each with one and with two steps.
        points = [np.full(n, 0.6 * self.sigma * i) for i in range(4) for n in (1, 2)]
        witness = Witness.of(self, points, [4.0, -1.0, -10.0, 3.0, 10.0, -3.0, -4.0, 1.0])
        if witness.value < 0:
            reason = "G / (1 + G) is not positive definite, which the sum over alignments needs"
            return Certificate.refuted(self, "constant series", reason, witness=witness)
        return Certificate.unknown(self, "no theorem covers the Gaussian as local kernel in this band")

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, 1.0) if self.local == "divisible" else NONNEGATIVE
