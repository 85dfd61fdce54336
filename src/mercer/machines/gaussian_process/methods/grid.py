"""Points that are all combinations of values of their coordinates, and kernels that factorise on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ....algebra import Constant, Product, Scaled, Tensor
from ....domains import Data, TupleColumns, items, take
from ....kernel import Kernel
from ....kernels import Cauchy, Gaussian, Laplacian, Periodic

__all__ = ["CoordinateKernel", "Factors", "Grid", "column", "factors_of", "grid_of"]

Array: TypeAlias = NDArray[np.float64]


class CoordinateKernel(NamedTuple):
    """A kernel of one coordinate, and the parameters of the whole kernel that its own are.

    Attributes
    ----------
    coordinate : int
    kernel : Kernel
    names : dict
        From names of its parameters to those of the whole kernel, and which entry it is if that is a vector.
    """

    coordinate: int
    kernel: Kernel
    names: dict[str, tuple[str, int | None]]


@dataclass(frozen=True)
class Factors:
    """A number times kernels of single coordinates, and the parameters whose product the number is."""

    scale: float
    names: tuple[str, ...]
    kernels: tuple[CoordinateKernel, ...]


def factors_of(kernel: Kernel, count: int, prefix: str = "") -> Factors | None:
    """A kernel as a product over ``count`` coordinates; None if it is not known to be one.

    Examples
    --------
    >>> found = factors_of(5.0 * Gaussian([2.0, 3.0]), 2)
    >>> found.scale, [k.kernel for k in found.kernels]
    (5.0, [Gaussian(sigma=2.0), Gaussian(sigma=3.0)])
    """
    if type(kernel) is Constant and kernel.value > 0:
        return Factors(kernel.value, (f"{prefix}value",), ())
    if type(kernel) is Scaled and kernel.factor > 0:
        inner = factors_of(kernel.base, count, f"{prefix}base__")
        if inner is None:
            return None
        return Factors(kernel.factor * inner.scale, (f"{prefix}factor", *inner.names), inner.kernels)
    if type(kernel) is Product:
        parts = [factors_of(k, count, f"{prefix}{name}__") for name, k in kernel._children]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return Factors(
            float(np.prod([part.scale for part in known])),
            tuple(name for part in known for name in part.names),
            tuple(factor for part in known for factor in part.kernels),
        )
    if type(kernel) is Tensor:
        return Factors(
            1.0,
            (),
            tuple(_whole(i, k, f"{prefix}{name}__") for i, (name, k) in enumerate(kernel._children)),
        )
    if type(kernel) is Periodic:
        return Factors(1.0, (), tuple(_whole(i, kernel, prefix) for i in range(count)))
    if type(kernel) in (Gaussian, Laplacian, Cauchy):
        whole: Any = kernel
        kind, width = type(whole), whole.sigma
        split: list[tuple[Kernel, int | None]] = [(kind(width), None)] * count
        if np.ndim(width) == 1:
            split = [(kind(float(width[i])), i) for i in range(count)]
        return Factors(
            1.0,
            (),
            tuple(CoordinateKernel(i, k, {"sigma": (f"{prefix}sigma", e)}) for i, (k, e) in enumerate(split)),
        )
    return None


def _whole(coordinate: int, kernel: Kernel, prefix: str) -> CoordinateKernel:
    names: dict[str, tuple[str, int | None]] = {name: (f"{prefix}{name}", None) for name in kernel.parameters}
    return CoordinateKernel(coordinate, kernel, names)


class Grid(NamedTuple):
    """All combinations of values.

    Attributes
    ----------
    values : list of data
        The values of each coordinate.
    cells : array of shape (n,)
        Which combination each point is, counted with the last coordinate first.
    """

    values: list[Data]
    cells: NDArray[np.intp]


def grid_of(points: Data) -> Grid | None:
    """The grid that points are, each cell once; None if they are not one of two or more axes."""
    if isinstance(points, TupleColumns):
        count = len(points.parts)
    else:
        count = points.shape[1] if isinstance(points, np.ndarray) and points.ndim == 2 else 0
    if count < 2:
        return None
    n, found = len(points), []
    total = 1
    for i in range(count):
        places = _distinct(column(points, i))
        if places is None or 2 * len(places[0]) > n:  # some other axis has two values or more
            return None
        total *= len(places[0])
        if total > n:
            return None
        found.append(places)
    shape = tuple(len(first) for first, _ in found)
    if total != n or sum(size > 1 for size in shape) < 2:
        return None
    cells = np.ravel_multi_index(tuple(codes for _, codes in found), shape)
    if len(np.unique(cells)) < n:
        return None
    return Grid(
        [take(column(points, i), first) for i, (first, _) in enumerate(found)],
        np.asarray(cells, dtype=np.intp),
    )


def column(points: Data, coordinate: int) -> Data:
    """The points seen through one coordinate."""
    if isinstance(points, TupleColumns):
        return points.parts[coordinate]
    return np.ascontiguousarray(points[:, [coordinate]])


def _distinct(values: Data) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Where each distinct value is first, and the number of the value of each point."""
    if isinstance(values, np.ndarray):
        flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        _, first, codes = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        return np.asarray(first, dtype=np.intp), np.asarray(codes.ravel(), dtype=np.intp)
    seen: dict[Any, int] = {}
    firsts: list[int] = []
    numbers = np.empty(len(values), dtype=np.intp)
    for i, value in enumerate(items(values)):
        try:
            number = seen.setdefault(value, len(seen))
        except TypeError:  # no hash, hence no cheap comparison
            return None
        if number == len(firsts):
            firsts.append(i)
        numbers[i] = number
    return np.array(firsts, dtype=np.intp), numbers
