"""Unordered values that are equal or not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .base import Domain, Objects
from .containers import is_missing

__all__ = ["Categories"]


@dataclass(frozen=True)
class Categories(Objects):
    """Hashable values: strings, numbers, tuples, dates.  An array of one column is that column."""

    def validate(self, X: Any, name: str = "X") -> list[Any]:
        if isinstance(X, np.ndarray):
            if X.ndim == 2 and X.shape[1] != 1:
                raise InputError(
                    f"{name} must be one column of categories. Got {X.shape[1]} columns. Give each column "
                    "its own kernel with mercer.columns, or pass rows as tuples to compare them as a whole."
                )
            X = X.ravel().tolist()
        values = super().validate(X, name)
        for row, value in enumerate(values):
            if not isinstance(value, Hashable):
                raise InputError(
                    f"{name} must hold hashable categories such as strings, numbers or tuples. "
                    f"Got {type(value).__name__} in row {row}."
                )
            if is_missing(value):
                raise InputError(
                    f"{name} must have a category in every row. Got {value!r} in row {row}. Fill it, or use "
                    'mercer.columns(..., missing="own"), where a missing value is a category of its own.'
                )
        return values

    def point(self, x: Any, name: str = "x") -> Any:
        return self.validate([x], name)[0]

    def pair(self, x: Any, y: Any) -> tuple[Any, Any]:
        return self.point(x, "x"), self.point(y, "y")

    def _meet(self, other: Domain) -> Domain | None:
        return self if type(other) is Objects else other

    def __str__(self) -> str:
        return "categories"
