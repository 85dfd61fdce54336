"""Tasks: data, and kernels tried on it.  Each trial becomes a row of the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Task", "Trial"]


@dataclass(frozen=True)
class Trial:
    """One row: a kernel (or, if it is not ours, another library's machine) and its score on the data."""

    kernel: str
    score: Callable[[Any], float]
    ours: bool = True


@dataclass(frozen=True)
class Task:
    """Data and the trials on it.

    Attributes
    ----------
    name, measure : str
        Of the rows: what is predicted, and what the score is.
    note : callable
        ``note(data)`` says in a sentence what the data are and how the score is measured.
    load : callable
        ``load(quick)`` returns the data that every trial gets; its time does not count.
    trials : tuple of Trial
    """

    name: str
    measure: str
    note: Callable[[Any], str]
    load: Callable[[bool], Any]
    trials: tuple[Trial, ...]
