"""Kernels out of kernels.

=================  =============================================================================
``nodes``          what composite kernels have in common
``simple``         kernels that are one formula of a number or two
``ring``           ``Constant``, ``Scaled``, ``Sum``
``products``       ``Product``, ``Power``
``series``         ``Exp``, ``PolynomialOf``, ``PowerSeries``
``normalized``     ``Normalized``
``shape``          ``Conformal``, ``Pullback``, ``Centered``
``negative``       the negative definite calculus: ``Distance``, ``RealPower``, ``Log1p``, ``Sqrt``
``schoenberg``     the ways back to positive definite: ``Schoenberg``, ``Reciprocal``, ``Shifted``
``warped``         ``WarpedKernel``: deformed by a penalty on values at given points
``spectral``       differences of kernels, refuted where their spectral density is negative
``structure``      ``tensor``, ``direct_sum``, ``convolution``, ``limit``
``user``           kernels from functions, assertions
``signatures``     the parameters of such a function, from its arguments
``operators``      installs ``+ - * / **`` and the methods on ``Kernel``
=================  =============================================================================

Every node states its rule of definiteness in ``_certify``: that method *is* the calculus.
"""

from . import operators as operators
from .negative import Distance, Log1p, RealPower, Sqrt
from .normalized import Normalized
from .products import Power, Product
from .ring import Constant, Scaled, Sum
from .schoenberg import Reciprocal, Schoenberg, Shifted
from .series import Exp, PolynomialOf, PowerSeries
from .shape import Centered, Conformal, Pullback
from .structure import Convolution, DirectSum, Limit, Tensor, convolution, direct_sum, limit, tensor
from .user import Assumed, FunctionKernel, kernel
from .warped import WarpedKernel

__all__ = [
    "Assumed",
    "Centered",
    "Conformal",
    "Constant",
    "Convolution",
    "DirectSum",
    "Distance",
    "Exp",
    "FunctionKernel",
    "Limit",
    "Log1p",
    "Normalized",
    "PolynomialOf",
    "Power",
    "PowerSeries",
    "Product",
    "Pullback",
    "RealPower",
    "Reciprocal",
    "Scaled",
    "Schoenberg",
    "Shifted",
    "Sqrt",
    "Sum",
    "Tensor",
    "WarpedKernel",
    "convolution",
    "direct_sum",
    "kernel",
    "limit",
    "tensor",
]
