"""Kernels of the sum or the difference of two points: ``phi(x + y*)`` on a semigroup with involution.

With the identity as involution (``x + y``, on the nonnegative orthant) the bounded positive definite
functions are the Laplace transforms of positive measures (Bernstein); with negation (``x - y``, on R^d) the
continuous ones are the Fourier transforms (Bochner).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Witness
from ..domains import EVERYWHERE, NONNEGATIVE, POSITIVE, Data, Domain, Reals, Region, Vectors, to_float
from ..errors import InputError, ParameterError
from ..intervals import NONNEGATIVE as NONNEGATIVE_VALUES
from ..intervals import Interval
from ..kernel import Kernel
from ..parameters import parameter
from .scalar import UNIT, Scalar, dense, divisible

__all__ = ["ExponentialSum", "InverseSum", "LogSum", "Semigroup"]


class InverseSum(Scalar):
    r"""Inverse of the sum of two positive numbers.

    .. math:: k(x, y) = \frac{1}{x + y} = \int_0^\infty e^{-t x} e^{-t y} \, dt

    Strictly positive definite on :math:`(0, \infty)` (its Gram matrices are Cauchy's, Hilbert's among
    them) and infinitely divisible.  Block cost: O(n m).

    Examples
    --------
    >>> InverseSum()(1.0, 3.0)
    0.25
    """

    _region: ClassVar[Region] = POSITIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return 1 / (low + high)

    def _certify(self) -> Certificate:
        return Certificate.psd(
            self,
            "Bernstein",
            "1/(x + y) is the integral of exp(-tx) exp(-ty) over t > 0; exponentials are independent",
            strict=True,
            conditions=["x > 0"],
        )

    def _infinitely_divisible(self) -> Claim:
        return divisible(self, "Levy-Khinchin", "-log k = log(x + y) is negative definite")

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE_VALUES


class LogSum(Scalar):
    r"""Logarithm of the sum of two positive numbers.

    .. math:: \psi(x, y) = \log(x + y) = \int_0^\infty \frac{e^{-t} - e^{-t x} e^{-t y}}{t} \, dt

    Negative definite on :math:`(0, \infty)`: constants minus positive definite kernels.  Not positive
    definite, for :math:`\psi(x, x) < 0` when :math:`x < 1/2`.  Block cost: O(n m).

    Examples
    --------
    >>> LogSum()(0.5, 0.5)
    0.0
    """

    _region: ClassVar[Region] = POSITIVE

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.log(low + high)

    def _certify(self) -> Certificate:
        negative = Certificate.nds(
            self,
            "Levy-Khinchin",
            "log(x + y) is the integral of (exp(-t) - exp(-tx) exp(-ty)) / t over t > 0",
            conditions=["x > 0"],
            separating=True,
        ).negative
        return Certificate.refuted(
            self,
            "negative diagonal",
            "k(x, x) = log 2x < 0 for x < 1/2",
            witness=Witness.of(self, [0.25], [1.0]),
            negative=negative,
        )


class ExponentialSum(Scalar):
    r"""Exponential of a power of the sum of two nonnegative numbers.

    .. math:: k(x, y) = \exp(-(x + y)^p)

    Strictly positive definite on :math:`[0, \infty)` for :math:`0 < p < 1` (the Laplace transform of a
    positive stable density); for :math:`p = 1` the rank-one kernel :math:`e^{-x} e^{-y}`; for
    :math:`p = 0` a constant.  Refuted for :math:`p > 1` and, on :math:`(0, \infty)`, for :math:`p < 0`:
    there :math:`s^p` is strictly convex, so that :math:`k(x, y)^2 > k(x, x) \, k(y, y)` for
    :math:`x \ne y`.  Block cost: O(n m).

    Parameters
    ----------
    p : float, default=0.5
        Exponent, any number.

    Examples
    --------
    >>> [str(ExponentialSum(p).certificate.verdict) for p in (0.5, 1.0, 2.0, -1.0)]
    ['STRICT', 'PSD', 'REFUTED', 'REFUTED']
    """

    p: float = parameter(default=0.5)

    @property
    def domain(self) -> Domain:
        return Reals(region=NONNEGATIVE if self.p > 0 else POSITIVE)

    def formula(self, low: Any, high: Any, m: Arithmetic) -> Any:
        return m.exp(-m.power(low + high, self.p))

    def _certify(self) -> Certificate:
        if self.p == 0:
            constant = Certificate.nds(self, "constant", "k(x, y) = exp(-1)")
            return Certificate(
                Certificate.psd(self, "constant", "k(x, y) = exp(-1) >= 0").positive, constant.negative
            )
        if self.p == 1:
            return Certificate.psd(
                self, "explicit features", "exp(-x - y) = exp(-x) exp(-y): one feature", conditions=["x >= 0"]
            )
        if 0 < self.p < 1:
            return Certificate.psd(
                self,
                "Bernstein",
                "exp(-s^p) is the Laplace transform of a stable density; exponentials are independent",
                strict=True,
                conditions=["x >= 0"],
            )
        return Certificate.refuted(
            self,
            "Cauchy-Schwarz",
            "s^p is strictly convex, so that k(x, y)^2 > k(x, x) k(y, y) for x != y",
            witness=self._witness(),
        )

    def _witness(self) -> Witness:
        if self.p > 1:
            # the Schur complement e^-1 - exp(-2^(1-p)) of K = [[1, h], [h, 1/e]], h = exp(-2^-p)
            return Witness.of(self, [0.0, 0.5], [-math.exp(-(0.5**self.p)), 1.0])
        # exp(-s^p) is strictly concave on [1, inf): (f(1) + f(4)) / 2 < f(5/2).  The gap shrinks like |p|.
        digits = 50 + max(0, math.ceil(-math.log10(-self.p)))
        return Witness.of(self, [0.5, 2.0], [1.0, -1.0], digits=digits)

    def _infinitely_divisible(self) -> Claim | None:
        if not 0 <= self.p <= 1:
            return None
        return divisible(self, "Bernstein function", "-log k = (x + y)^p, 0 <= p <= 1, is negative definite")

    @property
    def bounds(self) -> Interval:
        return UNIT


class Semigroup(Kernel):
    r"""Kernel of the sum or the difference of two vectors through a function of your own.

    .. math:: k(x, y) = \varphi(x + y^*), \qquad y^* = y \;\text{ or }\; y^* = -y

    Nothing is known of its definiteness until you assert it, as in ``Semigroup(phi).assume("PSD")``: right
    if :math:`\varphi` is a Laplace transform (identity, on the nonnegative orthant) or a Fourier transform
    (negation) of a positive measure.  Block cost: n m evaluations, or n if vectorised.

    Positive definite is :math:`\sum_{ij} c_i c_j \varphi(x_i + x_j^*) \ge 0`, for real coefficients, without
    a conjugate.  Bernstein's theorem holds on the orthant: on all of :math:`\mathbb{R}^d` with the identity,
    :math:`e^{\langle a, x \rangle}` is positive definite and unbounded.  (Cuturi (2009), section 3.3, has the
    headings of the two involutions exchanged, a conjugate in (ii), and Bernstein's theorem on
    :math:`\mathbb{R}^d`.)

    Parameters
    ----------
    phi : callable
        Takes one vector (a 1-D array) and returns a number.
    involution : {"identity", "negation"}, default="identity"
        What :math:`y^*` is.  With negation, phi has to be even.
    nonnegative : bool, default=False
        Whether the domain is the nonnegative orthant instead of all vectors.
    vectorized : bool, default=False
        Whether phi takes an array of shape (n, d) and returns n numbers instead.
    version : str, optional
        Your word on which code phi has; see :meth:`~mercer.Kernel.digest`.

    Examples
    --------
    >>> import numpy as np
    >>> k = Semigroup(np.linalg.norm, "negation")
    >>> k([0.0, 0.0], [3.0, 4.0])
    5.0
    >>> print(k.certificate.verdict, k.assume("NDS").certificate.verdict)
    UNKNOWN NDS
    """

    phi: Callable[[np.ndarray], Any]
    involution: str = parameter(default="identity", choices=("identity", "negation"))
    nonnegative: bool = False
    vectorized: bool = False
    version: str | None = None

    def _validate(self) -> None:
        if not callable(self.phi):
            raise ParameterError(f"Semigroup: `phi` must be a function of a vector. Got {self.phi!r}.")

    @property
    def domain(self) -> Domain:
        return Vectors(region=NONNEGATIVE if self.nonnegative else EVERYWHERE)

    @property
    def is_precise(self) -> bool:
        return False  # phi is a function of floats

    @property
    def _sign(self) -> float:
        return 1.0 if self.involution == "identity" else -1.0

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        s = (to_float(x) + self._sign * to_float(y))[None, :]
        return m.real(float(self._even(s, self._values(s))[0]))

    def _values(self, S: np.ndarray) -> np.ndarray:
        """Values of phi at the rows of ``S``, checked."""
        if not self.vectorized:
            return np.array([float(self.phi(s)) for s in S])
        values = np.asarray(self.phi(S), dtype=np.float64)
        if values.shape != (len(S),):
            raise InputError(
                f"Semigroup: a vectorised `phi` must return shape {(len(S),)}. Got {values.shape}."
            )
        return values

    def _even(self, S: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the values at ``S`` after a look at those at ``-S`` (for negation)."""
        if self.involution == "identity":
            return values
        if not np.allclose(values, self._values(-S), rtol=1e-9, equal_nan=True):
            raise ParameterError(
                "Semigroup: `phi` must be even under negation, phi(-s) = phi(s), or k is not symmetric."
            )
        return values

    def _prepare(self, X: Data) -> np.ndarray:
        return dense(X).astype(np.float64, copy=False)

    def _block(self, X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        Z = X if Y is None else Y
        K = np.empty((len(X), len(Z)))
        for i, x in enumerate(X):
            S = x + self._sign * (X[: i + 1] if Y is None else Z)
            K[i, : len(S)] = self._even(S, self._values(S)) if i in (0, len(X) - 1) else self._values(S)
        if Y is None:
            upper = np.triu_indices(len(X), 1)
            K[upper] = K.T[upper]
        return K

    def _diagonal(self, X: np.ndarray) -> np.ndarray:
        return self._values(X + self._sign * X)

    def _certify(self) -> Certificate:
        measure = "Laplace" if self.involution == "identity" else "Fourier"
        return Certificate.unknown(
            self,
            f"a user's function: say .assume('PSD') if phi is the {measure} transform of a positive measure",
        )
