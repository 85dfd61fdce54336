"""Samples of kernels on the columns of a table, with missing values."""

from __future__ import annotations

from typing import Any

from mercer.kernels.categorical import Categorical
from mercer.kernels.dot import Linear
from mercer.kernels.frames import columns
from mercer.kernels.histograms import TotalVariation
from mercer.kernels.radial import Gaussian
from mercer.kernels.sets import Jaccard

from ..cases import Case

__all__ = ["CASES", "FULL", "TABLE"]

#: Rows with nothing missing, a column missing, half of a group missing, everything missing; one repeated.
TABLE: list[dict[str, Any]] = [
    {"age": 30, "x": 1.0, "y": 0.0, "tags": {"a", "b"}},
    {"age": None, "x": 2.0, "y": 1.0, "tags": {"b"}},
    {"age": 50, "x": float("nan"), "y": 1.0, "tags": set()},
    {"age": 20, "x": 0.0, "y": 1.0, "tags": None},
    {"age": None, "x": None, "y": None, "tags": None},
    {"age": None, "x": None, "y": None, "tags": None},
    {"age": 30, "x": 1.0, "y": 0.0, "tags": {"a", "b"}},
]
FULL: list[dict[str, Any]] = [
    {"age": age, "x": x, "y": y, "tags": tags}
    for age, x, y, tags in (
        (30, 1.0, 0.0, {"a"}),
        (30, 1.0, 0.0, {"a"}),
        (30, 2.0, 0.0, set()),
        (-4, 2.0, 1e3, {"a", "b"}),
        (0, 0.0, 0.0, {"c"}),
        (71, 0.5, 0.25, {"b"}),
    )
]

#: Equal numbers of different types are one category.
CATEGORIES = ["a", "", ("a", 1), 1, 1.0, frozenset({1, 2}), "a", 1j, -2.5]

_MIXED = {"age": Gaussian(10.0), ("x", "y"): Linear(), "tags": Jaccard()}
_STRICT = {"age": Gaussian(10.0), ("x", "y"): Gaussian([1.0, 3.0]), "tags": Jaccard()}

CASES: list[Case] = [
    *(Case(Categorical(rho), CATEGORIES) for rho in (0.0, 0.25, 0.999)),
    *(
        Case(columns(kernels, combine=combine, missing=missing), TABLE)
        for kernels in (_MIXED, _STRICT)
        for combine in ("sum", "product")
        for missing in ("zero", "own")
    ),
    *(Case(columns(_STRICT, combine=combine, missing="error"), FULL) for combine in ("sum", "product")),
    Case(columns({"age": Gaussian("median"), ("x", "y"): Linear()}), TABLE),
    Case(columns(x=TotalVariation(), y=TotalVariation(), missing="error"), FULL),
    Case(columns(age=Gaussian(5.0)) * columns(tags=Jaccard(), missing="own") + columns(x=Linear()), TABLE),
]
