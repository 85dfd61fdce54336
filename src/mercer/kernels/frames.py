"""A kernel on each column of a table: ``columns({"age": Gaussian(10.0), "city": ...})``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, reduce
from typing import Any, Literal, Self

import numpy as np

from ..algebra.nodes import claim, minus, product_rule, sum_rule, unproved
from ..arithmetic import Arithmetic
from ..certificate import Certificate, Claim, Property
from ..domains import Domain
from ..domains.frames import MISSING, Component, FrameData, Frames, Part
from ..errors import ParameterError
from ..expression import Path
from ..intervals import Interval
from ..kernel import Gradient, Kernel
from ..parameters import parameter

__all__ = ["Columns", "columns"]

Names = str | tuple[str, ...]

MEANING = {
    "zero": "a missing value has the feature vector 0",
    "own": "a missing value is a category of its own, orthogonal to all others",
    "error": "no value is missing",
}


def columns(
    kernels: Mapping[Any, Kernel] | None = None,
    /,
    *,
    combine: Literal["sum", "product"] = "sum",
    missing: Literal["zero", "own", "error"] = "zero",
    **by_name: Kernel,
) -> Columns:
    r"""Put a kernel on each column, or group of columns, of a table and add or multiply them.

    .. math:: k(x, y) = \sum_j k_j(x_j, y_j) \quad\text{or}\quad \prod_j k_j(x_j, y_j)

    Tables are pandas or polars frames, mappings from column names to sequences, or lists of records; rows go
    by position.  Kernels on vectors get their columns side by side as numbers; all other kernels get the raw
    values, as tuples for a group of columns.

    Positive definite if every kernel is.  A sum of several is strictly so if one of them is and reads every
    column, with ``missing="error"``.  A product is strictly so if every kernel is and distinct rows have
    distinct components: always with ``missing="error"``; with ``missing="own"`` if every column has a kernel
    alone, for rows that lack the same column of a group may differ in the others; never with
    ``missing="zero"``.  A missing value (None, NaN, NaT; in a group, any of them) means, in its component,

    - ``missing="zero"``: the feature vector 0, so k = 0 with everything, itself included.  In a product the
      whole row is then 0.
    - ``missing="own"``: a category of its own: k = 1 with another missing value, 0 with any value.
    - ``missing="error"``: an error naming column and row.

    Both of the first keep positive definiteness.  Matching everything with k(missing, x) = 1 would not: with
    k(x, y) = 0 the Gram matrix of (x, missing, y) is [[1, 1, 0], [1, 1, 1], [0, 1, 1]], of determinant -1.

    Parameters
    ----------
    kernels : mapping, optional
        From a column name, or a tuple of them, to a kernel.
    combine : {"sum", "product"}, default="sum"
        What to do with the values of the components.
    missing : {"zero", "own", "error"}, default="zero"
        What a missing value means.
    **by_name : Kernel
        Further columns whose names are identifiers.

    Returns
    -------
    Columns
        Its nested parameters have the names of the columns: ``age__sigma``, ``x_y__sigma`` for the group
        ``("x", "y")``.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = columns({"age": Gaussian(10.0), ("x", "y"): Linear()})
    >>> k.block({"age": [30, None], "x": [1.0, 2.0], "y": [0.0, 1.0]})
    array([[2., 2.],
           [2., 5.]])
    >>> k.replace(age__sigma=5.0)
    columns({'age': Gaussian(sigma=5.0), ('x', 'y'): Linear()}, combine='sum', missing='zero')
    """
    chosen: dict[Any, Kernel] = {**(kernels or {}), **by_name}
    if len(chosen) < len(kernels or {}) + len(by_name):
        raise ParameterError("columns: a column was given twice, in the mapping and by keyword.")
    return Columns(tuple(chosen), tuple(chosen.values()), combine, missing)


class Columns(Kernel):
    """Kernels on the columns of a table, added or multiplied.  Made by :func:`columns`."""

    names: tuple[Names, ...]
    kernels: tuple[Kernel, ...]
    combine: str = parameter(default="sum", choices=("sum", "product"))
    missing: str = parameter(default="zero", choices=("zero", "own", "error"))

    def _validate(self) -> None:
        if not self.names or len(self.names) != len(self.kernels):
            raise ParameterError("columns: give at least one column, and a kernel for each.")
        for name, kernel in zip(self.names, self.kernels, strict=True):
            group = name if isinstance(name, tuple) else (name,)
            if not group or not all(isinstance(c, str) for c in group):
                raise ParameterError(f"columns: a column must be a name or a tuple of names. Got {name!r}.")
            if not isinstance(kernel, Kernel):
                raise ParameterError(f"columns: column {name!r} must have a kernel. Got {kernel!r}.")

    @property
    def _components(self) -> list[Component]:
        groups = (name if isinstance(name, tuple) else (name,) for name in self.names)
        allowed = self.missing != "error"
        return [Component(g, k.domain, allowed) for g, k in zip(groups, self.kernels, strict=True)]

    @property
    def domain(self) -> Domain:
        return Frames(tuple(dict.fromkeys(self._components)))

    # -- nested parameters --------------------------------------------------------------------
    @cached_property
    def _slots(self) -> tuple[tuple[str, Path, Kernel], ...]:
        found: list[tuple[str, Path, Kernel]] = []
        taken = {"names", "kernels", "combine", "missing"}
        for i, (name, kernel) in enumerate(zip(self.names, self.kernels, strict=True)):
            label = name if isinstance(name, str) else "_".join(name)
            if label in taken or "__" in label or not label:
                label = f"kernel{i}"
            taken.add(label)
            found.append((label, ("kernels", i), kernel))
        return tuple(found)

    def _resolve(self, X: FrameData, weight: np.ndarray | None) -> Self:
        resolved = []
        for component, kernel in zip(self._components, self.kernels, strict=True):
            part = X.parts[component]
            kept = None if weight is None else weight[part.position >= 0]
            resolved.append(kernel if kernel.is_resolved else kernel._resolve(part.data, kept))
        return self.replace(kernels=tuple(resolved))

    # -- values -------------------------------------------------------------------------------
    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        values = []
        for component, kernel in zip(self._components, self.kernels, strict=True):
            a, b = x[component], y[component]
            if a is MISSING or b is MISSING:
                values.append(m.real(1 if a is b and self.missing == "own" else 0))
            else:
                values.append(kernel._define(a, b, m))
        return reduce((lambda a, b: a + b) if self.combine == "sum" else (lambda a, b: a * b), values)

    def _prepare(self, X: FrameData) -> _Prepared:
        parts = zip(self._components, self.kernels, strict=True)
        return _Prepared([Part(k._prepare(X.parts[c].data), X.parts[c].position) for c, k in parts])

    def _block(self, X: _Prepared, Y: _Prepared | None) -> np.ndarray:
        blocks = []
        for kernel, left, right in self._pairs(X, Y):
            spread = _Spread(left, right, self.missing)
            data = None if right is None else right.data
            blocks.append(spread(kernel._block(left.data, data) if spread.any else None, spread.own))
        return reduce(np.add if self.combine == "sum" else np.multiply, blocks)

    def _dtype(self, X: _Prepared, Y: _Prepared | None) -> np.dtype[Any]:
        pairs = self._pairs(X, Y)
        types = [k._dtype(left.data, None if right is None else right.data) for k, left, right in pairs]
        return np.result_type(*types)

    def _diagonal(self, X: _Prepared) -> np.ndarray:
        diagonals = [
            _diagonal(part, kernel._diagonal(part.data), self.missing)
            for kernel, part in zip(self.kernels, X.parts, strict=True)
        ]
        return reduce(np.add if self.combine == "sum" else np.multiply, diagonals)

    def _pairs(self, X: _Prepared, Y: _Prepared | None) -> Iterator[tuple[Kernel, Part, Part | None]]:
        columns = [None] * len(X.parts) if Y is None else Y.parts
        return zip(self.kernels, X.parts, columns, strict=True)

    # -- gradients ----------------------------------------------------------------------------
    def _gradient(self, X: _Prepared, Y: _Prepared | None) -> tuple[np.ndarray, Gradient]:
        pieces: list[tuple[str, np.ndarray, Gradient]] = []
        for (name, _), (kernel, left, right) in zip(self._children, self._pairs(X, Y), strict=True):
            spread = _Spread(left, right, self.missing)
            K, inner = kernel._gradient(left.data, None if right is None else right.data)
            pieces.append((name, spread(K, spread.own), {key: spread(g) for key, g in inner.items()}))
        return sum_rule(pieces) if self.combine == "sum" else product_rule(pieces)

    def _diagonal_gradient(self, X: _Prepared) -> tuple[np.ndarray, Gradient]:
        pieces: list[tuple[str, np.ndarray, Gradient]] = []
        for (name, kernel), part in zip(self._children, X.parts, strict=True):
            d, inner = kernel._diagonal_gradient(part.data)
            spread = {key: _diagonal(part, g, "zero") for key, g in inner.items()}
            pieces.append((name, _diagonal(part, d, self.missing), spread))
        return sum_rule(pieces) if self.combine == "sum" else product_rule(pieces)

    # -- definiteness -------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        positives = [k.certificate.positive for k in self.kernels]
        if all(p.proved for p in positives):
            rule = "sum over columns" if self.combine == "sum" else "product over columns"
            strict = self._is_strict(positives)
            reason = f"of positive definite kernels; {MEANING[self.missing]}"
            positive = claim(Property.POSITIVE, self, rule, reason, positives, strict=strict)
            if strict:
                return Certificate.psd(self, rule, reason, strict=True, premises=positives)
        else:
            positive = unproved(
                Property.POSITIVE,
                self,
                "not every kernel is known to be positive definite",
                positives,
            )
        return Certificate(positive, self._negative())

    def _is_strict(self, positives: list[Claim]) -> bool:
        """Whether distinct rows have a nonsingular Gram matrix.

        A sum of strict kernels of different columns is singular on the corners of a rectangle: one of its
        terms must read every column.  In a product the strict kernels together must, and no value of the
        others vanish on the diagonal.
        """
        if all(p.strict for p in positives) and (self.combine == "product" or len(self.kernels) == 1):
            # Distinct rows need distinct components, none of which counts for nothing: a row that lacks one
            # column of a group lacks the group, whatever its other columns hold.
            groups = {component.names for component in self._components}
            alone = all((column,) in groups for group in groups for column in group)
            return self.missing == "error" or (self.missing == "own" and alone)
        if self.missing != "error":
            return False
        everything = {column for component in self._components for column in component.names}
        parts = list(zip(positives, self.kernels, self._components, strict=True))
        read = [set(component.names) for p, _, component in parts if p.strict]
        if self.combine == "sum":
            return everything in read
        full = all(p.strict or k.diagonal_bounds.is_positive for p, k, _ in parts)
        return full and bool(read) and everything == set.union(*read)

    def _negative(self) -> Claim:
        negatives = [k.certificate.negative for k in self.kernels]
        additive = self.combine == "sum" or len(self.kernels) == 1
        if additive and self.missing == "error" and all(n.proved for n in negatives):
            reason = f"of negative definite kernels; {MEANING[self.missing]}"
            strict = self._distances_separate(negatives)
            return claim(Property.NEGATIVE, self, "sum over columns", reason, negatives, strict=strict)
        return unproved(Property.NEGATIVE, self, "no rule applies")

    def _distances_separate(self, claims: list[Claim]) -> bool:
        """Whether the kernels that tell distinct values apart read every column together."""
        parts = list(zip(claims, self._components, strict=True))
        read = {column for p, component in parts if p.strict for column in component.names}
        return all(column in read for _, component in parts for column in component.names)

    def _conditional_rule(self, sign: int) -> Claim:
        premises = [k._conditional(sign) for k in self.kernels]
        additive = self.combine == "sum" or len(self.kernels) == 1
        if not (additive and self.missing == "error" and all(p.proves_order(1) for p in premises)):
            return super()._conditional_rule(sign)
        return claim(
            Property.CONDITIONAL,
            self,
            "sum over columns",
            "the same coefficients, summing to zero, for each column",
            premises,
            strict=self._distances_separate(premises),
            order=1,
            of=minus(sign),
        )

    def _infinitely_divisible(self) -> Claim | None:
        inner = [k._infinitely_divisible() for k in self.kernels]
        premises = [p for p in inner if p is not None]
        if len(premises) < len(inner) or (self.combine == "sum" and len(inner) > 1):
            return None
        reason = f"-log of a product is a sum; {MEANING[self.missing]}, which powers keep"
        return claim(Property.NEGATIVE, self, "product over columns", reason, premises, of="-log ")

    @property
    def bounds(self) -> Interval:
        return self._interval([k.bounds for k in self.kernels], (0.0, 1.0))

    @property
    def diagonal_bounds(self) -> Interval:
        return self._interval([k.diagonal_bounds for k in self.kernels], (1.0,))

    def _interval(self, intervals: list[Interval], own: tuple[float, ...]) -> Interval:
        extra = {"zero": (0.0,), "own": own, "error": ()}[self.missing]
        wide = [Interval(min(i.low, *extra), max(i.high, *extra)) if extra else i for i in intervals]
        return reduce((lambda a, b: a + b) if self.combine == "sum" else (lambda a, b: a * b), wide)

    def __repr__(self) -> str:
        inner = ", ".join(f"{name!r}: {k!r}" for name, k in zip(self.names, self.kernels, strict=True))
        return f"columns({{{inner}}}, combine={self.combine!r}, missing={self.missing!r})"


class _Prepared:
    """Prepared components of rows."""

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return len(self.parts[0].position)

    def take(self, index: slice | np.ndarray) -> _Prepared:
        return _Prepared([part.take(index) for part in self.parts])


class _Spread:
    """Spreads values of the rows and columns that are there over all rows and columns."""

    def __init__(self, left: Part, right: Part | None, missing: str) -> None:
        self.rows = left.position >= 0
        self.columns = self.rows if right is None else right.position >= 0
        self.own = 1.0 if missing == "own" else 0.0

    @property
    def any(self) -> bool:
        """Whether some pair is there."""
        return bool(self.rows.any() and self.columns.any())

    def __call__(self, K: np.ndarray | None, fill: float = 0.0) -> np.ndarray:
        """Spread ``K`` (which may have a further axis), with ``fill`` where both are missing."""
        if K is not None and self.rows.all() and self.columns.all():
            return K
        shape = (len(self.rows), len(self.columns)) + (() if K is None else K.shape[2:])
        out = np.zeros(shape, dtype=np.float64 if K is None else K.dtype)
        if K is not None:
            out[np.ix_(self.rows, self.columns)] = K
        if fill:
            out[np.ix_(~self.rows, ~self.columns)] = fill
        return out


def _diagonal(part: Part, values: np.ndarray, missing: str) -> np.ndarray:
    """Spread diagonal values over all rows."""
    out = np.full((len(part.position), *values.shape[1:]), 1.0 if missing == "own" else 0.0)
    out[part.position >= 0] = values
    return out
