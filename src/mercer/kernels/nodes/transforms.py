r"""Functions r of the eigenvalues of a Laplacian, for :class:`~mercer.kernels.LaplacianKernel`.

The larger an eigenvalue, the rougher its eigenvector on the graph: all of these are >= 0 and decrease.  Those
that would be negative beyond some eigenvalue are 0 there, for one that exceeds it by rounding; a graph with
larger eigenvalues is refused.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ...arithmetic import Arithmetic
from ...parameters import canonical, parameter

__all__ = [
    "Cutoff",
    "GraphMatern",
    "Heat",
    "InverseCosine",
    "OneStep",
    "Regularized",
    "Steps",
    "Transform",
]


@dataclass(frozen=True)
class Transform(ABC):
    """A function of an eigenvalue, >= 0 up to :attr:`reach`."""

    #: Whether r is > 0 everywhere.
    is_positive: ClassVar[bool] = True
    #: Whether r(L) has no negative entry: r is a mixture of exponentials, or a power of a - x.
    is_entrywise: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for field in fields(self):
            spec = field.metadata["mercer"]
            value = canonical(getattr(self, field.name), spec)
            spec.check(type(self).__name__, field.name, value)
            object.__setattr__(self, field.name, value)

    @property
    def reach(self) -> float:
        """The largest eigenvalue for which it is meant."""
        return math.inf

    @abstractmethod
    def formula(self, x: Any, m: Arithmetic) -> Any:
        """``r(x)`` in an arithmetic."""


@dataclass(frozen=True)
class Regularized(Transform):
    r"""Regularised Laplacian, :math:`r(\lambda) = 1 / (\lambda + \epsilon)`, for eps > 0."""

    eps: float = parameter(default=1.0, low=0.0, open_low=True)

    def formula(self, x: Any, m: Arithmetic) -> Any:
        return 1 / (x + m.real(self.eps))


@dataclass(frozen=True)
class Heat(Transform):
    r"""Diffusion for a time t >= 0, :math:`r(\lambda) = e^{-t\lambda}`."""

    t: float = parameter(default=1.0, low=0.0)

    def formula(self, x: Any, m: Arithmetic) -> Any:
        return m.exp(-m.real(self.t) * x)


@dataclass(frozen=True)
class Steps(Transform):
    r"""Random walk of p steps, :math:`r(\lambda) = (a - \lambda)^p`, for a >= the largest eigenvalue."""

    a: float = parameter(default=2.0, low=0.0, open_low=True)
    p: int = parameter(default=2, low=1, integer=True)
    is_positive: ClassVar[bool] = False

    @property
    def reach(self) -> float:
        return self.a

    def formula(self, x: Any, m: Arithmetic) -> Any:
        return m.maximum(m.real(self.a) - x, m.real(0)) ** self.p


@dataclass(frozen=True)
class OneStep(Transform):
    r"""Random walk of one step, :math:`r(\lambda) = a - \lambda`, for a >= the largest eigenvalue."""

    a: float = parameter(default=2.0, low=0.0, open_low=True)
    is_positive: ClassVar[bool] = False

    @property
    def reach(self) -> float:
        return self.a

    def formula(self, x: Any, m: Arithmetic) -> Any:
        return m.maximum(m.real(self.a) - x, m.real(0))


@dataclass(frozen=True)
class InverseCosine(Transform):
    r"""Inverse cosine, :math:`r(\lambda) = \cos(\pi\lambda / 4)`, for eigenvalues of at most 2."""

    is_positive: ClassVar[bool] = False
    is_entrywise: ClassVar[bool] = False

    @property
    def reach(self) -> float:
        return 2.0

    def formula(self, x: Any, m: Arithmetic) -> Any:
        return m.maximum(m.cos(m.pi / 4 * x), m.real(0))


@dataclass(frozen=True)
class Cutoff(Transform):
    r"""Step function, :math:`r(\lambda) = 1` for :math:`\lambda \le c`, else 0.

    An eigenvalue within :math:`10^{-9}` of c counts as equal to it.
    """

    c: float = parameter(default=1.0, low=0.0)
    is_positive: ClassVar[bool] = False
    is_entrywise: ClassVar[bool] = False

    def formula(self, x: Any, m: Arithmetic) -> Any:
        return m.where(x <= m.real(self.c) + m.real(1e-9), m.real(1), m.real(0))


@dataclass(frozen=True)
class GraphMatern(Transform):
    r"""Matern kernel of a graph, :math:`r(\lambda) = (2\nu / \kappa^2 + \lambda)^{-\nu}`.

    With a smoothness nu > 0 and a length scale kappa > 0 (Borovitskiy and others).
    """

    nu: float = parameter(default=1.5, low=0.0, open_low=True)
    kappa: float = parameter(default=1.0, low=0.0, open_low=True)

    def formula(self, x: Any, m: Arithmetic) -> Any:
        nu, kappa = m.real(self.nu), m.real(self.kappa)
        return (2 * nu / kappa**2 + x) ** (-nu)
