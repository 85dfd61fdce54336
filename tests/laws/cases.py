"""A kernel with points to try it on: the unit in which kernels are registered for the laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mercer.kernel import Kernel

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """One kernel and at least six points of its domain, among them awkward ones (zeros, repeats, extremes).

    Attributes
    ----------
    kernel : Kernel
    points : sequence of points
        Anything that ``kernel.block`` accepts.
    """

    kernel: Kernel
    points: Any

    def __repr__(self) -> str:
        return repr(self.kernel)
