"""Rows that are no array of numbers: which row, which column, and what to do."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any

from scipy.sparse import issparse

from ..errors import InputError

__all__ = ["explain_rows"]

STRINGS = "For strings, use a kernel on strings, such as Spectrum(3)"


def explain_rows(X: Any, name: str) -> None:
    """Raise an error that names the row or the column, if rows differ in length or hold text.

    For input of which an array of numbers could not be made: rows are read one by one.
    """
    columns = [*X.columns] if hasattr(X, "columns") else None
    try:
        rows = X.to_numpy() if hasattr(X, "to_numpy") else X
        if isinstance(rows, str) or issparse(rows) or not all(isinstance(row, Sized) for row in rows):
            return
    except (TypeError, ValueError):
        return  # not even that
    length = None
    for i, row in enumerate(rows):
        if isinstance(row, str | bytes):
            raise InputError(
                f"{name} must be an array of real numbers. Row {i} is the text {_short(row)}. {STRINGS}."
            )
        length = len(row) if length is None else length
        if len(row) != length:
            raise InputError(
                f"{name} must be an array of real numbers. Row 0 has {length} entries and row {i} has "
                f"{len(row)}. For sequences of several lengths, use a kernel on series or on strings."
            )
        for j, value in enumerate(row):
            if isinstance(value, str | bytes):
                column = j if columns is None else repr(columns[j])
                found = f"Column {column} holds text: {_short(value)} in row {i}"
                raise InputError(
                    f"{name} must be an array of real numbers. {found}. "
                    "Leave it out, encode it, or give each column a kernel of its own with mercer.columns. "
                    f"{STRINGS}, on that column alone."
                )


def _short(text: str | bytes) -> str:
    plain = str(text) if isinstance(text, str) else bytes(text)  # NumPy's own have another repr
    return repr(plain) if len(plain) <= 30 else repr(plain[:30]) + "..."
