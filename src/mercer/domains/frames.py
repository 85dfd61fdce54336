"""Rows of a table: a pandas or polars frame, a mapping of columns, or a list of records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from ..arithmetic import Arithmetic
from ..digests import digest
from ..errors import InputError
from .base import Data, Domain, items, size, take
from .containers import frame_of, is_missing
from .dates import AS_NUMBERS, is_date
from .vectors import Vectors

__all__ = [
    "MISSING",
    "Component",
    "FrameData",
    "Frames",
    "Part",
    "Row",
    "categorical_columns",
    "column_names",
    "read_table",
]


class _Missing:
    """The value of a component that a row does not have."""

    def __repr__(self) -> str:
        return "missing"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING = _Missing()


@dataclass(frozen=True)
class Component:
    """One or more columns of a table with the domain of their values.

    Attributes
    ----------
    names : tuple of str
        The columns.
    domain : Domain
        What the values are: vectors get the columns side by side as numbers; any other domain gets the raw
        values, as tuples if there are several columns.
    missing : bool
        Whether values may be missing (None, NaN, NaT); a row lacks a component if any of its columns does.
    """

    names: tuple[str, ...]
    domain: Domain
    missing: bool

    def label(self, name: str) -> str:
        """Name the columns in an error message."""
        return f"{name}[{', '.join(map(repr, self.names))}]"


class Row(dict[Component, Any]):
    """One validated row: the value of each component, or :data:`MISSING`."""


@dataclass(frozen=True, eq=False)
class Part:
    """The values that a component has, and for each row the position among them, or -1."""

    data: Data
    position: np.ndarray

    def take(self, index: slice | np.ndarray) -> Part:
        """Select rows."""
        kept = self.position[index]
        present = kept >= 0
        position = np.where(present, np.cumsum(present) - 1, -1)
        return Part(take(self.data, kept[present]), position)


@dataclass(frozen=True, eq=False)
class FrameData:
    """Validated rows, stored by component."""

    parts: Mapping[Component, Part]
    n: int

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[Row]:
        values = {component: items(part.data) for component, part in self.parts.items()}
        for i in range(self.n):
            positions = {component: part.position[i] for component, part in self.parts.items()}
            yield Row({c: values[c][p] if p >= 0 else MISSING for c, p in positions.items()})

    def take(self, index: slice | np.ndarray) -> FrameData:
        """Select rows by position."""
        n = len(np.arange(self.n)[index])
        return FrameData({component: part.take(index) for component, part in self.parts.items()}, n)


@dataclass(frozen=True)
class Frames(Domain):
    """Rows of a table that has the columns of the given components.  Rows go by position, never by index.

    A table is a pandas, polars or other eager frame known to narwhals, a mapping from column names to
    sequences, or a sequence of records (mappings from column names to values).
    """

    components: tuple[Component, ...]

    def validate(self, X: Any, name: str = "X") -> FrameData:
        if isinstance(X, FrameData):
            return X
        if isinstance(X, list) and X and all(isinstance(row, Row) for row in X):
            parts = {}
            for component in self.components:  # validated values are put back together
                values = [row[component] for row in X]
                there: Any = [v for v in values if v is not MISSING]
                if isinstance(component.domain, Vectors) and not there:
                    there = np.empty((0, component.domain.dim or 1))
                present = np.array([v is not MISSING for v in values])
                position = np.where(present, np.cumsum(present) - 1, -1)
                parts[component] = Part(component.domain.validate(there), position)
            return FrameData(parts, len(X))
        table, n = read_table(X, name, [c for component in self.components for c in component.names])
        return FrameData({component: _part(component, table, n, name) for component in self.components}, n)

    def pair(self, x: Any, y: Any) -> tuple[Any, Any]:
        a, b = (
            self.validate([v] if frame_of(v, name) is None else v, name) for v, name in ((x, "x"), (y, "y"))
        )
        for v, name in ((a, "x"), (b, "y")):
            if len(v) != 1:
                raise InputError(f"{name} must be one row. Got a frame of {len(v)} rows.")
        self.match(a, b)
        return next(iter(a)), next(iter(b))

    def point(self, x: Any, name: str = "x") -> Any:
        return self.pair(x, x)[0]

    def match(self, X: FrameData, Y: FrameData | None) -> None:
        for component in self.components:
            left = X.parts[component].data
            right = None if Y is None else Y.parts[component].data
            if size(left) and (right is None or size(right)):
                component.domain.match(left, right)

    def _digests(self, X: FrameData) -> list[str]:
        columns = []
        for component in self.components:
            part = X.parts[component]
            there = component.domain._digests(part.data)
            columns.append([there[p] if p >= 0 else "missing" for p in part.position.tolist()])
        return [digest(row) for row in zip(*columns, strict=True)]

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> Row:
        return Row({c: v if v is MISSING else c.domain.to_arithmetic(v, numbers) for c, v in x.items()})

    @property
    def columns(self) -> set[str]:
        """Names of all columns."""
        return {name for component in self.components for name in component.names}

    def separated_by(self, domains: Iterable[Domain]) -> bool:
        return self.columns <= {c for d in domains if isinstance(d, Frames) for c in d.columns}

    def _meet(self, other: Domain) -> Domain | None:
        if not isinstance(other, Frames):
            return None
        return Frames(tuple(dict.fromkeys((*self.components, *other.components))))

    def __str__(self) -> str:
        columns = dict.fromkeys(c for component in self.components for c in component.names)
        return f"frames with the columns {', '.join(map(repr, columns))}"


# -- reading tables -----------------------------------------------------------------------------
Table = dict[
    str, tuple[Any, np.ndarray]
]  # values, as an array of numbers or a list, and where they are missing


def column_names(X: Any, name: str) -> list[str]:
    """Names of the columns of a table, those of the first record if it is a list of records."""
    frame = frame_of(X, name)
    if frame is not None:
        return list(frame.columns)
    if isinstance(X, Mapping):
        return list(X)
    if isinstance(X, list) and X and hasattr(X[0], "keys"):
        return list(X[0].keys())
    raise InputError(
        f"{name} must be a pandas or polars frame, a mapping of columns or a list of records. "
        f"Got {type(X).__name__}."
    )


def categorical_columns(X: Any) -> set[str]:
    """Columns of a frame that are declared to hold categories."""
    frame = frame_of(X, "X")
    if frame is None:
        return set()
    return {name for name, kind in frame.schema.items() if kind in (nw.Categorical, nw.Enum)}


def read_table(X: Any, name: str, columns: list[str]) -> tuple[Table, int]:
    """Values of some columns and where they are missing, and the number of rows."""
    frame = frame_of(X, name)
    if frame is not None:
        _require(columns, frame.columns, name)
        return {c: _read_series(frame[c]) for c in columns}, len(frame)
    if isinstance(X, Mapping):
        _require(columns, X, name)
        lists = {c: list(X[c]) for c in columns}
        lengths = {c: len(values) for c, values in lists.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"{name} must have columns of equal length. Got {lengths}.")
        return {c: _read_list(values) for c, values in lists.items()}, max(lengths.values(), default=0)
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise InputError(f"{name} must be a frame with the columns {columns}. Got {type(X).__name__}.")
    records = list(X)
    for i, record in enumerate(records):
        if not (hasattr(record, "keys") and hasattr(record, "__getitem__")):
            raise InputError(
                f"{name} must be a pandas or polars frame, a mapping of columns or a list of records. "
                f"Got {type(X).__name__} with {type(record).__name__} in row {i}."
            )
        _require(columns, record.keys(), f"{name}[{i}]")
    return {c: _read_list([record[c] for record in records]) for c in columns}, len(records)


def _require(columns: list[str], given: Iterable[Any], name: str) -> None:
    have = set(given)
    for column in columns:
        if column not in have:
            raise InputError(f"{name} must have the column {column!r}. It has {', '.join(map(repr, given))}.")


def _read_series(series: Any) -> tuple[Any, np.ndarray]:
    numeric = series.dtype.is_numeric() or series.dtype == nw.Boolean
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if numeric and not series.dtype.is_decimal():
        values = np.asarray(series.to_numpy())
        if values.dtype.kind in "biuf":
            return values, missing | np.isnan(values) if values.dtype.kind == "f" else missing
    listed, more = _read_list(series.to_list())
    return listed, missing | more


def _read_list(values: list[Any]) -> tuple[list[Any], np.ndarray]:
    return values, np.array([is_missing(v) for v in values], dtype=bool)


def _part(component: Component, table: Table, n: int, name: str) -> Part:
    """Validate the values of one component, those that are there."""
    label = component.label(name)
    missing = np.zeros(n, dtype=bool)
    for column in component.names:
        missing |= table[column][1]
    present = np.flatnonzero(~missing)
    if not component.missing and len(present) < n:
        row = int(np.flatnonzero(missing)[0])
        column = next(c for c in component.names if table[c][1][row])
        raise InputError(
            f"{name} must have a value in every row of column {column!r}. Got a missing one in row {row}. "
            'Drop the rows, fill them, or choose missing="zero" or missing="own".'
        )
    columns = []
    for column in component.names:
        values = table[column][0]
        there = values[present] if isinstance(values, np.ndarray) else [values[i] for i in present]
        columns.append((column, there))
    try:
        if isinstance(component.domain, Vectors):
            data = component.domain.validate(_numbers(columns, component.domain), label)
        elif len(columns) == 1:
            data = component.domain.validate(list(columns[0][1]), label)
        else:
            data = component.domain.validate(list(zip(*(v for _, v in columns), strict=True)), label)
    except InputError as error:
        raise InputError(_in_rows_of_table(str(error), label, present, component.names)) from error
    position = np.full(n, -1, dtype=np.intp)
    position[present] = np.arange(len(present))
    return Part(data, position)


def _numbers(columns: list[tuple[str, Any]], domain: Vectors) -> np.ndarray:
    """Put numeric columns side by side; one column may also hold vectors."""
    arrays = []
    for column, values in columns:
        try:
            array = np.asarray(values)
            if array.dtype.kind not in "biuf":
                if any(isinstance(v, str | bytes) or is_date(v) for v in values):
                    raise ValueError("text or dates")
                array = np.array([np.asarray(v, dtype=np.float64) for v in values])
        except (TypeError, ValueError) as error:
            kind = next((type(v).__name__ for v in values if not isinstance(v, int | float)), "mixed types")
            remedy = f" {AS_NUMBERS}" if any(map(is_date, values)) else ""
            raise InputError(
                f"column {column!r} must hold numbers for a kernel on {domain}. Got values of type "
                f"{kind}.{remedy}"
            ) from error
        arrays.append(array.reshape(len(values), -1) if len(values) else np.empty((0, 1)))
    single = all(array.dtype == np.float32 for array in arrays)
    numbers = np.hstack(arrays).astype(np.float32 if single else np.float64)
    return numbers if len(numbers) or domain.dim is None else np.empty((0, domain.dim))


def _in_rows_of_table(message: str, label: str, present: np.ndarray, names: tuple[str, ...]) -> str:
    """Rename rows and columns of the validated values into those of the table."""

    def row(match: re.Match[str]) -> str:
        return f"{match[1]}{present[int(match[2])]}{match[3]}"

    def column(match: re.Match[str]) -> str:
        return f"column {names[int(match[1])]!r}" if int(match[1]) < len(names) else match[0]

    message = re.sub(r"(\brow )(\d+)()", row, message)
    message = re.sub(rf"({re.escape(label)}\[)(\d+)(\])", row, message)
    return re.sub(r"\bcolumn (\d+)", column, message)
