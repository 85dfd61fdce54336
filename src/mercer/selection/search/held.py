"""A kernel on positions: points are numbered, and the values of all pairs are held in memory.

A search fits a machine to many parts of the same points.  It gives the machine the positions of the points
and :class:`HeldKernel`, which looks the values up, so that every machine takes part without knowing it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...certificate import Certificate, Claim
from ...domains import Data, Domain, take
from ...errors import InputError, brief
from ...intervals import Interval
from ...kernel import Kernel

if TYPE_CHECKING:
    from .values import SharedValues

__all__ = ["HeldKernel", "Positions", "part_of"]


def part_of(K: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Some rows and columns, copied; rows first, which are contiguous, takes a third of the time."""
    return np.take(K[rows], columns, axis=1)


@dataclass(frozen=True)
class Positions(Domain):
    """Positions of points in the data of a search."""

    kernel: Kernel
    values: SharedValues

    def validate(self, X: Any, name: str = "X") -> Data:
        """Return positions as an array."""
        array = np.asarray(X)
        if array.ndim != 1 or array.dtype.kind not in "iu" or (len(array) and array.min() < 0):
            raise InputError(f"{name} must be positions of points, whole numbers >= 0. Got {brief(array)}.")
        return array.astype(np.intp, copy=False)

    def _meet(self, other: Domain) -> Domain | None:
        same = isinstance(other, Positions) and other.values is self.values
        return self if same else None

    def _digests(self, X: Data) -> list[str]:
        names = self.values.digests(self.kernel)
        return [names[i] for i in X]

    def __str__(self) -> str:
        return str(self.kernel.domain)


class HeldKernel(Kernel):
    """The values of a kernel on numbered points, by position.

    Everything else that is known of the kernel (its certificate, its bounds, its features) is known of it.
    A part of another kernel has the domain of that one as its ``space``.
    """

    _always_double: ClassVar[bool] = True

    kernel: Kernel
    values: SharedValues
    space: Domain | None = None

    @property
    def domain(self) -> Domain:
        return Positions(self.kernel, self.values)

    def __call__(self, x: Any, y: Any) -> float:
        """Value on one pair of positions."""
        return float(self.values.matrix(self.kernel, self.space)[int(x), int(y)])

    def _resolve(self, X: Data, weight: np.ndarray | None) -> HeldKernel:
        """The kernel with its parameters fixed from the points at these positions."""
        points = take(self.values.points(self.kernel), X)
        return HeldKernel(self.kernel._resolve(points, weight), self.values)

    def _block(self, X: Data, Y: Data | None) -> np.ndarray:
        return part_of(self.values.matrix(self.kernel, self.space), X, X if Y is None else Y)

    def _given(self, X: Data, Y: Data | None) -> np.ndarray | None:
        return self.values.block(self.kernel, X, self.space) if Y is None else None

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.array(self.values.matrix(self.kernel, self.space).diagonal()[X])

    def _embedding(self, X: Data, like: Data | None = None) -> Any:
        prepared = self.values.prepared(self.kernel)
        return self.kernel._embedding(take(prepared, X), None if like is None else take(prepared, like))

    def _certify(self) -> Certificate:
        return self.kernel._certified

    def _conditional_rule(self, sign: int) -> Claim:
        return self.kernel._conditional_rule(sign)

    def _infinitely_divisible(self) -> Claim | None:
        return self.kernel._infinitely_divisible()

    @property
    def bounds(self) -> Interval:
        return self.kernel.bounds

    @property
    def diagonal_bounds(self) -> Interval:
        return self.kernel.diagonal_bounds

    def __repr__(self) -> str:
        return repr(self.kernel)
