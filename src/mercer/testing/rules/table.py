"""The table of laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..trial import Trial

__all__ = ["LAWS", "Law", "law"]


@dataclass(frozen=True)
class Law:
    """A named law with its statement."""

    name: str
    statement: str
    check: Callable[[Trial], None]


#: The laws by name.
LAWS: dict[str, Law] = {}


def law(check: Callable[[Trial], None]) -> Callable[[Trial], None]:
    """Enter a function into the table; its docstring is the statement of the law."""
    name, statement = check.__name__, check.__doc__ or ""
    LAWS[name] = Law(name, statement, check)
    return check
