"""Thin-plate splines: the conditionally definite kernel behind them."""

from __future__ import annotations

import math
from typing import Any

from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..domains import Domain, Vectors
from ..errors import ParameterError
from ..intervals import NONNEGATIVE, Interval
from ..parameters import parameter
from .radial import Radial

__all__ = ["ThinPlate"]


class ThinPlate(Radial):
    r"""Thin-plate spline kernel: conditionally positive definite.

    .. math::
        k(x, y) = \begin{cases}
            (-1)^{(2m - d + 1)/2} \, r^{2m - d} & d \text{ odd} \\
            (-1)^{(2m - d)/2 + 1} \, r^{2m - d} \log r & d \text{ even}
        \end{cases} \qquad r = \|x - y\|

    Conditionally positive definite of order :math:`l = \lfloor m - d/2 \rfloor + 1 \le m` on
    :math:`\mathbb{R}^d`, and so of order :math:`m`, but of no order below :math:`l`:
    :math:`\sum_{ij} c_i c_j k(x_i, x_j) \ge 0` for coefficients with :math:`\sum_i c_i q(x_i) = 0` for every
    polynomial :math:`q` of degree below :math:`l` (Micchelli, 1986).  By itself neither positive nor negative
    definite, with witnesses in the certificate, whose ``conditional_order`` is :math:`l`.  Where
    :math:`2m - d = 1` it is :math:`-\|x - y\|`, of order 1, and its negative is negative definite.

    Up to a positive factor it is the fundamental solution of the energy :math:`\int \|D^m f\|^2`, which does
    not see polynomials of degree below :math:`m`.  :class:`~mercer.machines.ThinPlateSpline` leaves these
    unpenalised; to other machines this is a kernel that is not positive definite.  Block cost: O(n m d).

    Parameters
    ----------
    order : int, default=2
        The order :math:`m` of the derivatives, 2 m > d, at most 32.
    dim : int, default=2
        The dimension :math:`d` of the vectors, from 1 to 63.

    Examples
    --------
    >>> ThinPlate(order=2, dim=1)([0.0], [2.0])
    8.0
    >>> ThinPlate().null_space_degree
    1
    >>> print(ThinPlate().certificate.verdict, ThinPlate().certificate.conditional_order)
    CPD 2
    """

    order: int = parameter(default=2, low=1, high=32, integer=True)
    dim: int = parameter(default=2, low=1, high=63, integer=True)

    def _validate(self) -> None:
        if 2 * self.order <= self.dim:
            raise ParameterError(
                f"ThinPlate: `order` must be above dim / 2 = {self.dim / 2:g}. Got {self.order}. "
                "Functions with fewer derivatives are not continuous."
            )

    @property
    def domain(self) -> Domain:
        return Vectors(dim=self.dim)

    @property
    def _width(self) -> float:
        return 1.0

    @property
    def null_space_degree(self) -> int:
        """Largest degree of the polynomials that the energy does not see."""
        return self.order - 1

    @property
    def _exponent(self) -> int:
        return 2 * self.order - self.dim

    @property
    def _least_order(self) -> int:
        """The least order of which the kernel is conditionally positive definite; at most ``order``."""
        return self._exponent // 2 + 1

    @property
    def _sign(self) -> int:
        return -1 if self._least_order % 2 else 1

    def formula(self, D: Any, m: Arithmetic) -> Any:
        if self._exponent % 2:
            return m.power(m.sqrt(D), self._exponent) * self._sign
        logarithm = m.log(m.where(D == 0, m.real(1), D))
        return m.power(D, self._exponent // 2) * logarithm * (m.real(self._sign) / 2)

    def _certify(self) -> Certificate:
        steps = self._least_order
        far = [self._on_axis(0.0), self._on_axis(2.0)]
        line = [self._on_axis(float(j)) for j in range(steps + 1)]
        binomials = [float((-1) ** j * math.comb(steps, j)) for j in range(steps + 1)]
        conditional = Claim(
            Property.CONDITIONAL,
            Status.PROVED,
            repr(self),
            "Micchelli",
            "(-1)^l times the l-th derivative of k as a function of r^2 is completely monotone",
            strict=steps == 1,
            order=steps,
        )
        negative = Claim(
            Property.NEGATIVE,
            Status.REFUTED,
            repr(self),
            "conditional definiteness",
            "coefficients of a finite difference sum to zero and give c'Kc > 0",
            witness=Witness.of(self, line, binomials, Property.NEGATIVE),
        )
        return Certificate.refuted(
            self,
            "Cauchy-Schwarz",
            "k(x, x) = 0 but k(x, y) != 0 for some pair",
            witness=Witness.of(self, far, [1.0, -float(self._sign)]),
            negative=negative,
            conditional=conditional,
        )

    def _on_axis(self, t: float) -> list[float]:
        return [t] + [0.0] * (self.dim - 1)

    @property
    def bounds(self) -> Interval:
        if self._exponent % 2:
            return NONNEGATIVE.scale(self._sign)
        # the minimum of r^q log r, at log r = -1/q, is -1/(q e); 0.3679 > 1/e keeps the bound outside
        return Interval(-0.3679 / self._exponent, math.inf).scale(self._sign)

    diagonal_bounds = Interval(0.0, 0.0)
