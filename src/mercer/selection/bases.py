"""Base kernels of a search over expressions, and where the search for their parameters may start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import algebra
from ..domains import Frames, Vectors, frame_of, refuse_iterator
from ..errors import InputError, ParameterError, brief
from ..kernel import Kernel
from ..kernels import Categorical, Gaussian, Linear, Periodic, columns

__all__ = ["Base", "bases_of"]

#: Widths to start from, in standard deviations of the data.
WIDTHS = (0.1, 0.3, 1.0)


@dataclass(frozen=True)
class Base:
    """A base kernel: its name in expressions, and kernels that differ in parameters only."""

    name: str
    starts: tuple[Kernel, ...]


def bases_of(X: Any, kernels: Any) -> list[Base]:
    """The kernels of the caller, or by default those that suit the data."""
    refuse_iterator(X, "discover: `X`")
    if kernels is not None:
        return _given(X, kernels)
    frame = frame_of(X, "discover: `X`")
    table = X if type(X) is dict else frame  # a sparse matrix of DOK format is a dict, too
    if table is not None:
        names = [str(name) for name in (table if isinstance(table, dict) else table.columns)]
        if not names:
            raise InputError("discover: `X` must have one column at least. Got none.")
        return [base for name in names for base in _of_column(name, table[name])]
    points = np.asarray(Vectors(dense=True).validate(X, "X"), dtype=np.float64)
    if points.shape[1] == 1:
        return list(_of_numbers(points[:, 0]))
    width = float(points.std(axis=0).mean()) * points.shape[1] ** 0.5 or 1.0
    return [
        Base("Linear", (Linear(),)),
        Base("Gaussian", tuple(Gaussian(w * width) for w in WIDTHS)),
    ]


def _given(X: Any, kernels: Any) -> list[Base]:
    if isinstance(kernels, Kernel) or not hasattr(kernels, "__iter__") or isinstance(kernels, str | dict):
        raise ParameterError(f"discover: `kernels` must be a list of kernels. Got {brief(kernels)}.")
    result: list[Base] = []
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise ParameterError(f"discover: `kernels` must hold kernels only. Got {brief(kernel)}.")
        if not kernel.certificate.is_psd:
            raise ParameterError(
                f"discover: `kernels` must hold positive definite kernels only. {kernel!r} is not certified: "
                f"{kernel.certificate}."
            )
        found = kernel.resolve(kernel.domain.validate(X, "X"))
        result.append(Base(_name(kernel), (found,)))
    if not result:
        raise ParameterError("discover: `kernels` must hold one kernel at least. Got none.")
    names = [base.name for base in result]
    return [
        replace(base, name=f"{base.name} [{i}]") if names.count(base.name) > 1 else base
        for i, base in enumerate(result)
    ]


def _name(kernel: Kernel) -> str:
    """The family; of expressions and kernels of columns, which have none, all of it."""
    is_node = type(kernel).__module__.startswith(algebra.__name__)
    is_family = not isinstance(kernel.domain, Frames) and not is_node
    return type(kernel).__name__ if is_family else repr(kernel)


def _of_numbers(values: np.ndarray) -> Iterator[Base]:
    spread, extent = float(values.std()), float(np.ptp(values))
    yield Base("Linear", (Linear(),))
    if spread > 0:
        yield Base("Gaussian", tuple(Gaussian(w * spread) for w in WIDTHS))
        # The range of the data over 1, 2, ..., each with a width on the circle that is near to a sine.
        count = max(1, min(40, len(values) // 2))
        yield Base("Periodic", tuple(Periodic(extent / j, 2.0) for j in range(1, count + 1)))


def _of_column(name: str, column: Any) -> Iterator[Base]:
    values = np.asarray(column)
    if values.dtype.kind not in "iuf":
        yield Base(f"Categorical({name})", (columns({name: Categorical()}),))
        return
    if not np.isfinite(values).all():
        raise InputError(
            f"discover: column {name!r} must hold finite numbers. Fill in missing values, or give `kernels`."
        )
    for base in _of_numbers(values.astype(np.float64)):
        yield Base(f"{base.name}({name})", tuple(columns({name: k}) for k in base.starts))
