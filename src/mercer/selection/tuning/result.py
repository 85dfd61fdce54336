"""What ``tune`` returns."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...kernel import Kernel
from ...machines.tuning import Hyperparameters
from ...solvers import Solution

__all__ = ["Tuned", "relevances_of", "values_by_name"]

Value: TypeAlias = float | NDArray[np.float64]

#: Rows of the table of relevances that are printed.
ROWS = 10

#: What the value of a criterion is.
MEANING = {
    "evidence": "log marginal likelihood",
    "loo": "leave-one-out error",
    "radius_margin": "radius-margin bound",
    "span": "smooth span estimate",
    "alignment": "centred alignment",
}


@dataclass(frozen=True, eq=False)
class Tuned:
    """What :func:`tune` found; prints as a table.

    Attributes
    ----------
    machine : estimator
        A copy of the machine with the tuned kernel and penalty, fitted to all points.
    criterion : str
    value : float
        Of the criterion at the end, without priors: the evidence and the alignment, of which more is better,
        or the leave-one-out error, its estimate or its bound, of which less is.
    parameters : dict
        Tuned values by name, for ``set_params``: numbers, or arrays for vectors.
    start : dict
        The values that the search started from.
    relevances : dict of arrays
        One over the widths, for each parameter that has a width per feature.  A relevance near zero says that
        the feature does not matter; features should have comparable units.
    feature_names : array of str, optional
        Of the columns of ``X``, if they have names.
    history : array
        Values of the objective in the order of evaluation, to be maximised: the value, or minus its
        logarithm, plus log-densities of priors.
    at_bound : tuple of str
        Parameters that ended at the end of their range.
    flat : tuple of str
        Parameters on which the criterion did not depend anywhere.
    solution : Solution
        How the search ended: ``converged``, ``status``, the remaining gradient as ``gap``, and ``stats``.
    """

    machine: Any
    criterion: str
    value: float
    parameters: Mapping[str, Value]
    start: Mapping[str, Value] = field(repr=False)
    relevances: Mapping[str, NDArray[np.float64]] = field(repr=False)
    feature_names: NDArray[Any] | None = field(repr=False)
    history: NDArray[np.float64] = field(repr=False)
    at_bound: tuple[str, ...] = field(repr=False)
    flat: tuple[str, ...] = field(repr=False)
    solution: Solution[Hyperparameters] = field(repr=False)

    @property
    def kernel(self) -> Kernel:
        """The tuned kernel."""
        return self.solution.value.kernel

    def __repr__(self) -> str:
        found = ", ".join(f"{name}={_short(value)}" for name, value in self.parameters.items())
        return f"Tuned({self.criterion}={self.value:.6g}, {found})"

    def _title(self) -> str:
        name = type(self.machine).__name__
        return f"{name}, {MEANING[self.criterion]} {self.value:.6g}; {self.solution.status}"

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = [(name, _short(self.start[name]), _short(value)) for name, value in self.parameters.items()]
        for name, relevance in self.relevances.items():
            rows.append((f"relevances of {name}", "", ""))
            order = np.argsort(-relevance, kind="stable")
            rows += [("  " + self._feature(i), "", f"{relevance[i]:.4g}") for i in order[:ROWS].tolist()]
            if len(order) > ROWS:
                rows.append((f"  and {len(order) - ROWS} smaller ones", "", ""))
        return rows

    def _feature(self, i: int) -> str:
        return f"feature {i}" if self.feature_names is None else str(self.feature_names[i])

    def __str__(self) -> str:
        rows = [("parameter", "start", "tuned"), *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}".rstrip() for a, b, c in rows]
        return "\n".join([self._title(), *lines])

    def _repr_html_(self) -> str:
        rows = [("parameter", "start", "tuned"), *self._rows()]
        cells = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in rows)
        table = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<p>{html.escape(self._title())}</p><table>{table}</table>"


def values_by_name(point: Hyperparameters) -> dict[str, Value]:
    """Values of all parameters, as ``set_params`` takes them."""
    found: dict[str, Value] = {}
    for name, value in point.shapes.items():
        found[f"kernel__{name}"] = value.copy() if value.ndim else float(value)
    if point.penalty is not None:
        found[point.penalty] = point.alpha
    return found


def relevances_of(kernel: Kernel, prefix: str = "kernel__") -> dict[str, NDArray[np.float64]]:
    """One over every vector of widths: of parameters that must be > 0, since points are divided by them."""
    found = {}
    for name, value, spec in kernel._fields:
        if (
            spec is not None
            and spec.scale == "log"
            and spec.low == 0
            and spec.open_low
            and np.ndim(value) == 1
        ):
            found[prefix + name] = 1.0 / np.asarray(value, dtype=np.float64)
    for name, child in kernel._children:
        found.update(relevances_of(child, f"{prefix}{name}__"))
    return found


def _short(value: Value) -> str:
    if np.ndim(value) == 0:
        return f"{float(value):.4g}"
    array = np.asarray(value)
    return f"{array.min():.4g} to {array.max():.4g} ({array.size})"
