"""Strings and documents as they come: lists, arrays, columns of frames, records of FASTA files.

Every domain of strings reads its input here, so that the same input is the same points, or the same error, in
all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse

from ..errors import InputError
from .sparse import check_sparse

__all__ = [
    "frame_of",
    "indexable",
    "is_missing",
    "plain",
    "plain_symbols",
    "points_of",
    "refuse_iterator",
    "refuse_masked",
]

#: Types that hold text as bytes.
BYTES = bytes | bytearray | memoryview


def points_of(X: Any, name: str, what: str) -> list[Any]:
    """The points of a list, an array, a column, or whatever else holds one point in each row.

    Parameters
    ----------
    X : object
        As the user passed it.
    name : str
        Name of the argument, for errors.
    what : str
        What X must be, for errors: "a sequence of texts".
    """
    if isinstance(X, list | tuple) and not hasattr(X, "sequence"):
        return list(X)
    if isinstance(X, set | frozenset):
        raise InputError(
            f"{name} must have an order. Got a {type(X).__name__}. Pass a list, such as sorted({name})."
        )
    frame = frame_of(X, name)
    column = (
        nw.from_native(X, pass_through=True, allow_series=True) if frame is None else _column(frame, name)
    )
    if isinstance(column, nw.Series):
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            raise _numbers(name, what, f"a column of numbers ({column.dtype})")
        return column.to_list()
    if isinstance(X, str | BYTES | dict) or hasattr(X, "sequence"):
        raise _single(X, name, what)
    if scipy.sparse.issparse(X):
        raise _numbers(name, what, f"a sparse matrix of shape {X.shape}")
    if hasattr(X, "to_pylist"):  # an array of Arrow
        return list(X.to_pylist())
    if hasattr(X, "__array__"):
        refuse_masked(X, name)
        return _entries(np.asarray(X), name, what)
    if not isinstance(X, Iterable):
        raise _single(X, name, what)
    return list(X)


def frame_of(X: Any, name: str) -> Any:
    """The data frame, as narwhals has it, or None if it is none.

    Lazy frames are refused, and names of several columns.
    """
    if isinstance(X, np.ndarray | list | tuple | str | BYTES) or scipy.sparse.issparse(X):
        return None
    if type(X).__name__ == "RecordBatch":  # of Arrow: narwhals reads tables alone
        from pyarrow import Table

        X = Table.from_batches([X])
    is_pandas = hasattr(X, "iloc") and hasattr(X, "columns")
    labels = X.columns if is_pandas else getattr(X, "column_names", ())
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise InputError(
            f"{name} must have columns of different names. Got several of {', '.join(map(repr, twice))}. "
            "Rename or drop them."
        )
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise InputError(f"{name} must be an eager frame. Got a lazy one; call .collect() first.")
    return frame if isinstance(frame, nw.DataFrame) else None


def indexable(X: Any, name: str) -> Any:
    """Points whose rows can be taken: sparse matrices in CSR, tables of Arrow, arrays."""
    refuse_iterator(X, name)
    if scipy.sparse.issparse(X):
        check_sparse(X, name)
        return X.tocsr()
    frame = frame_of(X, name)
    if frame is not None:
        return frame.to_native()
    return np.asarray(X) if hasattr(X, "__array__") and not hasattr(X, "__getitem__") else X


def refuse_iterator(X: Any, name: str) -> None:
    """Raise if data can be read only once: whoever reads them again finds nothing, and no error."""
    if isinstance(X, Iterator):
        raise InputError(
            f"{name} must be data that can be read again. Got a {type(X).__name__}, which can be read only "
            "once. Pass a list of what it yields."
        )


def refuse_masked(X: Any, name: str) -> None:
    """Raise if entries of an array are masked: the numbers below the mask are not meant."""
    if np.ma.is_masked(X):
        raise InputError(
            f"{name} must have no masked entries. Got {int(np.ma.getmaskarray(X).sum())} of them. Drop these "
            "rows, or fill them with .filled(value)."
        )


def _column(X: Any, name: str) -> Any:
    """The column of a frame that has only one."""
    if len(X.columns) != 1:
        raise InputError(
            f"{name} must be one column, with a point in each row. Got a {type(X.to_native()).__name__} with "
            f"the columns {list(X.columns)}. Pass one of them, or use mercer.columns for several."
        )
    return X[X.columns[0]]


def _entries(X: np.ndarray, name: str, what: str) -> list[Any]:
    """The entries of an array of one dimension, or with one column."""
    if X.dtype.kind in "biufc" and X.size:
        raise _numbers(name, what, f"an array of {X.dtype} with shape {X.shape}")
    if X.ndim == 2 and X.shape[1] == 1:
        X = X[:, 0]
    if X.ndim == 2:
        raise InputError(
            f"{name} must be one column, with a point in each row. Got an array of shape {X.shape}. Pass one "
            f"column, such as {name}[:, 0], or {name}.tolist() if each row is a sequence of symbols."
        )
    if X.ndim != 1:
        raise InputError(
            f"{name} must be {what}, in an array of one dimension. Got an array of shape {X.shape}."
        )
    return list(X.tolist())


def _single(X: Any, name: str, what: str) -> InputError:
    return InputError(
        f"{name} must be {what}. Got {type(X).__name__}. For a single one pass a list of one: [{name}]."
    )


def _numbers(name: str, what: str, got: str) -> InputError:
    return InputError(
        f"{name} must be {what}. Got {got}. Use a kernel on vectors, such as Gaussian, for numbers; if they "
        "stand for symbols, pass a list with a list of symbols for each point."
    )


def plain(x: Any, name: str) -> Any:
    """One point: of a record its sequence, of bytes the text; None, NaN and arrays of floats are errors."""
    if isinstance(x, str):
        return str(x)
    x = getattr(x, "sequence", x)
    refuse_masked(x, name)
    if isinstance(x, BYTES):
        return _text(bytes(x), name)
    if not isinstance(x, Iterable) and is_missing(x):
        raise InputError(f"{name} is missing ({x!r}). Leave the row out, or fill it.")
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc" and x.size:
        raise InputError(
            f"{name} must hold symbols. Got an array of {x.dtype}. Use a kernel on vectors or on series for "
            "numbers; if they stand for symbols, pass a list."
        )
    return x


def plain_symbols(symbols: Iterable[Any], name: str) -> tuple[Any, ...]:
    """Symbols as Python objects, bytes as text."""
    found = tuple(symbols)
    if any(issubclass(kind, np.generic | bytes) for kind in set(map(type, found))):
        found = tuple(s.item() if isinstance(s, np.generic) else s for s in found)
        found = tuple(_text(s, f"{name}[{i}]") if isinstance(s, bytes) else s for i, s in enumerate(found))
    return found


def _text(x: bytes, name: str) -> str:
    try:
        return x.decode("ascii")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} must be text, or bytes of ASCII. Got the byte {x[error.start]} at position "
            f"{error.start}. Decode text, as by x.decode('utf-8'); list(x) is the sequence of the bytes as "
            "numbers."
        ) from error


def is_missing(value: Any) -> bool:
    """Whether the value is None or masked, or differs from itself as NaN and NaT do, or is pandas' NA."""
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    try:
        return not scipy.sparse.issparse(value) and bool(value != value)  # SciPy follows broken indices
    except (TypeError, ValueError):  # arrays
        return False
