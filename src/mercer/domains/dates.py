"""Dates and times are not numbers until the user says in which unit, and from when."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

__all__ = ["AS_NUMBERS", "DATES", "is_date"]

#: Types of dates, times and differences of such.
DATES = datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64
#: What to do about dates, in an error message.
AS_NUMBERS = (
    "Map them to numbers in the unit that counts: hours of the day, days since a date, or sine and cosine of "
    "the time of the year."
)


def is_date(value: Any) -> bool:
    """Whether a value is a date, a time, or a difference of such."""
    return isinstance(value, DATES)
