"""mercer: kernel methods on any data."""

from .algebra import convolution, direct_sum, kernel, limit, tensor
from .kernel import Kernel

__all__ = ["Kernel", "convolution", "direct_sum", "kernel", "limit", "tensor"]
