r"""Kernels as sums of products over coordinates.

.. math:: k(x, y) = \sum_t c_t \prod_{l \in A_t} k_{t,l}(x_l, y_l)

A coordinate is a feature of vectors, a component of tuples, or a column (or group of columns) of a table.
Gaussian, Laplacian, Cauchy, periodic and all-subsets kernels are one product; linear kernels and sums of
minima have one term for each feature.  Multiples, sums, products and integer powers follow from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..algebra import Constant, DirectSum, Power, Product, Scaled, Sum, Tensor
from ..domains import Data, Frames, Tuples, Vectors
from ..errors import InputError
from ..kernel import Kernel
from ..kernels import (
    AllSubsets,
    Cauchy,
    Columns,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Periodic,
)

__all__ = ["Coordinate", "Term", "coordinates_of", "part", "terms_of"]

#: A feature's or component's number, or the names of columns that are read together.
Coordinate: TypeAlias = int | tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Term:
    """A number times kernels of some coordinates; a coordinate may have several."""

    factor: float
    kernels: tuple[tuple[Coordinate, Kernel], ...]

    def __mul__(self, other: Term) -> Term:
        return Term(self.factor * other.factor, self.kernels + other.kernels)

    @property
    def coordinates(self) -> list[Coordinate]:
        """Those that the term depends on."""
        return list(dict.fromkeys(coordinate for coordinate, _ in self.kernels))

    def value(self, coordinate: Coordinate, X: Data, Y: Data) -> NDArray[np.float64]:
        """The factor of one coordinate, for all pairs of points."""
        x, y = part(X, coordinate), part(Y, coordinate)
        blocks = (k._tiles(k._prepare(x), k._prepare(y)) for c, k in self.kernels if c == coordinate)
        return reduce(np.multiply, (np.asarray(block, dtype=np.float64) for block in blocks))


def part(data: Data, coordinate: Coordinate) -> Data:
    """The points seen through one coordinate; tables stay whole, their kernels pick the columns."""
    if isinstance(coordinate, tuple):
        return data
    if hasattr(data, "parts"):
        return data.parts[coordinate]
    column = data[:, [coordinate]]
    values = column.toarray() if scipy.sparse.issparse(column) else column
    return np.ascontiguousarray(values, dtype=np.float64)


def coordinates_of(kernel: Kernel, data: Data, caller: str) -> list[Coordinate]:
    """All coordinates of the points, also those that the kernel does not depend on."""
    domain = kernel.domain
    if isinstance(domain, Vectors):
        return list(range(data.shape[1]))
    if isinstance(domain, Tuples):
        return list(range(len(data.parts)))
    if isinstance(domain, Frames):
        groups = list(dict.fromkeys(component.names for component in domain.components))
        names = [name for group in groups for name in group]
        for name in names:
            if names.count(name) > 1:
                raise InputError(
                    f"{caller}: each column must be read by one component of the kernel, or the components "
                    f"cannot change one at a time. Column {name!r} is in several."
                )
        return list(groups)
    raise refusal(kernel, caller)


def refusal(kernel: Kernel, caller: str) -> InputError:
    """The error for a kernel that is no sum of products over coordinates."""
    return InputError(
        f"{caller}: the kernel must be a sum of products over coordinates: Gaussian, Laplacian, Cauchy, "
        "Periodic, AllSubsets, Linear, Intersection, tensor, direct_sum, columns, and sums, products, "
        f"multiples and integer powers of these. Got {kernel!r}."
    )


def terms_of(kernel: Kernel, coordinates: list[Coordinate], caller: str) -> list[Term]:
    """The terms of the sum; :class:`~mercer.errors.InputError` if the kernel is no such sum."""
    simple = _SIMPLE.get(type(kernel))
    if simple is not None:
        return simple(kernel, coordinates)
    if isinstance(kernel, Scaled):
        factor = Term(float(kernel.factor), ())
        return [factor * term for term in terms_of(kernel.base, coordinates, caller)]
    if isinstance(kernel, Sum):
        return [term for k in kernel.terms for term in terms_of(k, coordinates, caller)]
    if isinstance(kernel, Product):
        return _expanded([terms_of(k, coordinates, caller) for k in kernel.factors], kernel, caller)
    if isinstance(kernel, Power):
        base = terms_of(kernel.base, coordinates, caller)
        return _expanded([base] * int(kernel.exponent), kernel, caller)
    raise refusal(kernel, caller)


def _expanded(sums: list[list[Term]], kernel: Kernel, caller: str) -> list[Term]:
    """The product of sums, term by term."""
    count = float(np.prod([float(len(terms)) for terms in sums]))
    if count > 10_000:
        raise InputError(
            f"{caller}: {kernel!r} has {count:.3g} products over coordinates when it is expanded; at most "
            "10,000 are summed."
        )
    result = [Term(1.0, ())]
    for terms in sums:
        result = [left * right for left in result for right in terms]
    return result


# -- kernels that are one product, or one sum -------------------------------------------------
def _product(kernels: Iterable[Kernel], coordinates: list[Coordinate]) -> list[Term]:
    return [Term(1.0, tuple(zip(coordinates, kernels, strict=True)))]


def _sum(kernels: Iterable[Kernel], coordinates: list[Coordinate]) -> list[Term]:
    return [Term(1.0, (pair,)) for pair in zip(coordinates, kernels, strict=True)]


def _with_widths(kernel: Any, coordinates: list[Coordinate]) -> list[Term]:
    widths = np.broadcast_to(np.asarray(kernel.sigma, dtype=np.float64), len(coordinates))
    return _product((type(kernel)(float(s)) for s in widths), coordinates)


def _all_subsets(kernel: Any, coordinates: list[Coordinate]) -> list[Term]:
    weights = np.broadcast_to(1.0 if kernel.weights is None else kernel.weights, len(coordinates))
    return _product((AllSubsets([float(w)]) for w in weights), coordinates)


def _same_sum(kernel: Kernel, coordinates: list[Coordinate]) -> list[Term]:
    return _sum([kernel] * len(coordinates), coordinates)


def _of_columns(kernel: Any, coordinates: list[Coordinate]) -> list[Term]:
    names = [name if isinstance(name, tuple) else (name,) for name in kernel.names]
    kernels = [
        Columns((name,), (k,), "sum", kernel.missing)
        for name, k in zip(kernel.names, kernel.kernels, strict=True)
    ]
    return (_sum if kernel.combine == "sum" else _product)(kernels, list(names))


_SIMPLE: dict[type[Kernel], Callable[[Any, list[Coordinate]], list[Term]]] = {
    Constant: lambda k, _: [Term(float(k.value), ())],
    Gaussian: _with_widths,
    Laplacian: _with_widths,
    Cauchy: _with_widths,
    Periodic: lambda k, c: _product([k] * len(c), c),
    AllSubsets: _all_subsets,
    Linear: _same_sum,
    Intersection: _same_sum,
    Tensor: lambda k, c: _product(k.components, c),
    DirectSum: lambda k, c: _sum(k.components, c),
    Columns: _of_columns,
}
