"""Histograms and finite measures: vectors of nonnegative numbers.

The functions are negative definite: ``ChiSquare().schoenberg(t)`` is the positive definite
``exp(-t psi)``.  Negative entries are an error that names row and column; a row of zeros is the empty
histogram and an ordinary point; rows need not sum to one.  Kernels of probability vectors only are in
``simplex``.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Witness
from ..domains import NONNEGATIVE, Data, Domain, Vectors, size
from ..intervals import NONNEGATIVE as NONNEGATIVE_LINE
from ..intervals import ZERO
from ..kernel import Gradient
from ..parameters import parameter
from .sums import Summed

__all__ = ["ChiSquare", "Hellinger", "Jensen", "TotalVariation"]


class Divergence(Summed):
    """Negative definite functions of two histograms that vanish exactly on the diagonal."""

    _overflow: ClassVar[str | None] = None

    @property
    def domain(self) -> Domain:
        return Vectors(region=NONNEGATIVE)

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.zeros(size(X), dtype=X.dtype)

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {}

    def _nds(self, rule: str, reason: str) -> Certificate:
        """Certify; the histograms (1) and (0) with c = (1, -1) show that psi is not positive definite."""
        witness = Witness.of(self, [np.array([1.0]), np.array([0.0])], [1.0, -1.0])
        return Certificate.nds(self, rule, reason, separating=True, zero_diagonal=True, witness=witness)

    bounds = NONNEGATIVE_LINE

    diagonal_bounds = ZERO


class ChiSquare(Divergence):
    r"""Chi-square distance of histograms.

    .. math:: \psi(x, y) = \sum_i \frac{(x_i - y_i)^2}{x_i + y_i}, \qquad 0/0 = 0

    Negative definite on nonnegative vectors: :math:`(a-b)^2/(a+b) = a + b - 4ab/(a+b)`, and
    :math:`ab/(a+b) = \int_0^\infty a e^{-sa} \, b e^{-sb} \, ds` is positive definite.  Homogeneous:
    rows scaled by :math:`c` give :math:`c\,\psi`, so that unnormalised rows weigh by their totals; at most
    2 between probability vectors.  Block cost: O(n m d).

    Examples
    --------
    >>> ChiSquare()([1.0, 0.0, 2.0], [3.0, 0.0, 2.0])
    1.0
    >>> print(ChiSquare().schoenberg(0.5).certificate.verdict.value in ("PSD", "STRICT"))
    True
    """

    _sum = "chi_square"

    def _term(self, a: Any, b: Any, m: Arithmetic) -> Any:
        # not (a - b)^2 / (a + b), whose square would underflow for small entries and overflow for large ones
        return (a - b) * ((a - b) / (a + b)) if a + b != 0 else m.real(0)

    def _certify(self) -> Certificate:
        return self._nds(
            "a + b minus a PSD kernel",
            "(a - b)^2/(a + b) = a + b - 4 ab/(a + b), and ab/(a + b) = int ae^(-sa) be^(-sb) ds is PSD",
        )


class Jensen(Divergence):
    r"""Jensen divergence of histograms.

    .. math:: \psi(x, y) = h\big(\tfrac{x + y}{2}\big) - \tfrac{h(x) + h(y)}{2},
              \qquad h(x) = -\sum_i x_i \log x_i

    Negative definite on nonnegative vectors: :math:`t \log t = \int_0^\infty (e^{-ut} - 1 + t(1 - e^{-u}))
    u^{-2} du`, where :math:`e^{-u(a+b)/2}` is positive definite and the rest is :math:`f(a) + f(b)`.
    Homogeneous: rows scaled by :math:`c` give :math:`c\,\psi`, so that no normalisation is needed; between
    probability vectors it is the Jensen-Shannon divergence, at most :math:`\log 2`.  Block cost: O(n m d),
    with logarithms.

    Examples
    --------
    >>> round(Jensen()([1.0, 0.0], [0.0, 1.0]), 12)  # log 2
    0.69314718056
    """

    _sum = "jensen"

    def _term(self, a: Any, b: Any, m: Arithmetic) -> Any:
        """(a log(a/c) + b log(b/c)) / 2 with c = (a + b)/2, rearranged near a = b."""
        if a + b == 0:
            return m.real(0)
        t = (a - b) / (a + b)
        if abs(t) <= 0.5:
            return (a + b) / 4 * (m.log1p(-t * t) + t * (m.log1p(t) - m.log1p(-t)))
        return sum(c * m.log(2 * (c / (a + b))) / 2 for c in (a, b) if c / (a + b) != 0)

    def _certify(self) -> Certificate:
        return self._nds(
            "integral of semigroup characters",
            "-h(t) = t log t is a mixture of e^(-ut), PSD at t = (a + b)/2, and of linear functions",
        )


class TotalVariation(Divergence):
    r"""Total variation of histograms.

    .. math:: \psi(x, y) = \sum_i |x_i - y_i|

    Negative definite: :math:`|a - b| = a + b - 2 \min(a, b)`, and the minimum is positive definite on
    :math:`[0, \infty)`.  Probabilists' total variation is half of it.  Block cost: O(n m d).

    Examples
    --------
    >>> TotalVariation()([1.0, 0.0, 2.0], [3.0, 0.0, 1.0])
    3.0
    """

    _sum = "l1_distances"

    def _term(self, a: Any, b: Any, m: Arithmetic) -> Any:
        return abs(a - b)

    def _certify(self) -> Certificate:
        return self._nds("l1 distance", "|a - b| = int |1[s < a] - 1[s < b]|^2 ds is a squared distance")


class Hellinger(Divergence):
    r"""Hellinger distances of histograms.

    .. math:: \psi_2(x, y) = \sum_i (\sqrt{x_i} - \sqrt{y_i})^2, \qquad
              \psi_1(x, y) = \sum_i |\sqrt{x_i} - \sqrt{y_i}|

    Negative definite: the squared Euclidean and the l1 distance of the square roots.  :math:`\psi_2` is
    homogeneous of degree 1 and at most 2 between probability vectors.  Block cost: O(n m d).

    Parameters
    ----------
    power : {2, 1}, default=2
        Power of the differences.

    Examples
    --------
    >>> Hellinger()([4.0, 0.0], [1.0, 9.0])
    10.0
    >>> Hellinger(power=1)([4.0, 0.0], [1.0, 9.0])
    4.0
    """

    power: int = parameter(default=2, integer=True, choices=(2, 1))

    @property
    def _sum(self) -> str:
        return "squared_distances" if self.power == 2 else "l1_distances"

    def _term(self, a: Any, b: Any, m: Arithmetic) -> Any:
        return abs(m.sqrt(a) - m.sqrt(b)) ** self.power

    def _prepare(self, X: Data) -> Data:
        return np.sqrt(X)

    def _certify(self) -> Certificate:
        if self.power == 2:
            return self._nds("squared distance", "|sqrt(x) - sqrt(y)|^2 in Euclidean space")
        return self._nds("l1 distance", "the l1 distance of sqrt(x) and sqrt(y) is negative definite")
