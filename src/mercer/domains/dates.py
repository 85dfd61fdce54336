"""Dates and times are not numbers until the user says in which unit, and from when."""

from __future__ import annotations

import datetime
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from ..errors import InputError

__all__ = ["AS_NUMBERS", "is_date", "refuse_dates"]

_KINDS = (nw.Datetime, nw.Date, nw.Duration, nw.Time)
#: What to do about dates, in an error message.
AS_NUMBERS = (
    "Map them to numbers in the unit that counts: hours of the day, days since a date, or sine and cosine of "
    "the time of the year."
)


def is_date(value: Any) -> bool:
    """Whether a value is a date, a time, or a difference of such."""
    kinds = datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64
    return isinstance(value, kinds)


def refuse_dates(X: Any, name: str) -> None:
    """Raise if an array or a frame holds dates or times: a conversion to floats takes them in any unit."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "mM":
        raise InputError(f"{name} must hold numbers. Got an array of type {X.dtype}. {AS_NUMBERS}")
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        for column, kind in frame.collect_schema().items():
            if kind in _KINDS:
                raise InputError(f"{name} must hold numbers. Got dates in column {column!r}. {AS_NUMBERS}")
