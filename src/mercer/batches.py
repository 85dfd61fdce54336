"""Data that are read a batch at a time, as often as needed: from arrays, Arrow tables, Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from .domains import check_numbers, frame_of, indexable
from .errors import InputError, MissingExtraError, ParameterError

__all__ = ["Batches"]

#: A re-iterable, or a function that makes an iterator.
Source: TypeAlias = Iterable[Any] | Callable[[], Iterable[Any]]

#: Rows of a batch: large enough for matrix products at full speed, 10 MB for 20 columns.
SIZE = 1 << 16

#: Rows of a sample: five for each of 2,000 landmarks.
SAMPLE = 10_000


class Batches:
    """Batches ``(X, y)`` or ``(X, y, sample_weight)`` that can be read again and again.

    A machine that takes them holds one batch at a time.

    Parameters
    ----------
    source : iterable, or callable
        A re-iterable of batches, such as a list or an object whose ``__iter__`` starts anew; or a function
        without arguments that returns an iterator from the start.  An iterator is refused: it can be read
        only once.
    total : int, optional
        Number of batches, for the progress bar.
    sample : int, default=10000
        Rows of the sample, drawn uniformly from the whole stream, from which a machine learns what a feature
        map and data-dependent parameters of a kernel need to know.

    Examples
    --------
    >>> import numpy as np
    >>> def draw():
    ...     rng = np.random.default_rng(0)
    ...     for _ in range(20):
    ...         X = rng.standard_normal((500, 2))
    ...         yield X, np.sin(X[:, 0])
    >>> from mercer.features import RandomFourier
    >>> from mercer.kernels import Gaussian
    >>> from mercer.machines import KernelRidge
    >>> model = KernelRidge(alpha=0.1, approximation=RandomFourier(Gaussian(1.0), 200))
    >>> model.fit(Batches(draw, total=20)).n_samples_seen_
    10000
    """

    def __init__(self, source: Source, *, total: int | None = None, sample: int = SAMPLE) -> None:
        if isinstance(source, Iterator):
            raise InputError(
                f"Batches: `source` must start anew for each pass. Got a {type(source).__name__}, which can "
                "be read only once. Pass the function that makes it, or a list."
            )
        if not (callable(source) or isinstance(source, Iterable)):
            raise InputError(
                "Batches: `source` must be an iterable of batches, or a function that returns one. "
                f"Got {source!r}."
            )
        self._source = source
        self.total = None if total is None else _count("total", total)
        self.sample = _count("sample", sample)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._source() if callable(self._source) else self._source)

    @classmethod
    def from_arrays(
        cls, X: Any, y: Any, sample_weight: Any = None, *, size: int = SIZE, sample: int = SAMPLE
    ) -> Batches:
        """Consecutive rows of arrays, which may be memory-mapped: slices are read when their turn comes.

        Parameters
        ----------
        X : points
            Whatever a slice gives points of.
        y : array
        sample_weight : array, optional
        size : int, default=65536
            Rows of a batch.
        sample : int
            As of the class.

        Examples
        --------
        >>> import numpy as np
        >>> batches = Batches.from_arrays(np.zeros((10, 2)), np.arange(10.0), size=4)
        >>> [len(X) for X, y in batches]
        [4, 4, 2]
        """
        size, X = _count("size", size), indexable(X, "Batches.from_arrays: `X`")
        columns = [X, y] if sample_weight is None else [X, y, sample_weight]
        for name, column in zip(("y", "sample_weight"), columns[1:], strict=False):
            check_numbers(column, f"Batches.from_arrays: `{name}`", dense=True)
        lengths = [int(c.shape[0]) if hasattr(c, "shape") else len(c) for c in columns]
        if len(set(lengths)) > 1:
            raise InputError(
                "Batches.from_arrays: `X`, `y` and `sample_weight` must have the same length. "
                f"Got {', '.join(map(str, lengths))}."
            )

        def read() -> Iterator[Any]:
            for start in range(0, lengths[0], size):
                yield tuple(c[start : start + size] for c in columns)

        return cls(read, total=max(1, -(-lengths[0] // size)), sample=sample)

    @classmethod
    def from_arrow(
        cls,
        source: Any,
        *,
        target: str | Sequence[str],
        columns: str | Sequence[str] | None = None,
        weight: str | None = None,
        total: int | None = None,
        sample: int = SAMPLE,
    ) -> Batches:
        """Record batches of Arrow, or tables.

        Parameters
        ----------
        source : table, data set, iterable of record batches, or callable
            A table or a data set of Arrow (whatever has ``to_batches``); or as of the class.
        target : str or list of str
            The column of targets, or several.
        columns : list of str or str, optional
            The columns of the vectors; by default all others.  One name alone: the points are the values of
            this column, such as strings.
        weight : str, optional
            The column of weights.
        total, sample
            As of the class.
        """
        if not isinstance(source, Iterator) and hasattr(source, "to_batches"):
            source = source.to_batches
        batches = cls(source, total=total, sample=sample)

        def read() -> Iterator[Any]:
            for number, batch in enumerate(batches):
                yield _rows(batch, number, target, columns, weight)

        return cls(read, total=total, sample=sample)

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        *,
        target: str | Sequence[str],
        columns: str | Sequence[str] | None = None,
        weight: str | None = None,
        size: int = SIZE,
        sample: int = SAMPLE,
    ) -> Batches:
        """One Parquet file or several, one after the other.  Needs pyarrow.

        Parameters
        ----------
        path : path or list of paths
        target, columns, weight
            As of :meth:`from_arrow`; columns that are not asked for are not read.
        size : int, default=65536
            Rows of a batch.
        sample : int
            As of the class.
        """
        size, paths = _count("size", size), [path] if isinstance(path, str | os.PathLike) else list(path)
        parquet = _parquet()
        wanted = None
        if columns is not None:
            wanted = [*_names(columns), *_names(target), *([] if weight is None else [weight])]

        def read() -> Iterator[Any]:
            for name in paths:
                with parquet.ParquetFile(name, pre_buffer=False) as file:  # which would hold the whole file
                    yield from file.iter_batches(batch_size=size, columns=wanted)

        counts = [parquet.read_metadata(name).num_rows for name in paths]
        total = max(1, sum(-(-count // size) for count in counts))
        return cls.from_arrow(read, target=target, columns=columns, weight=weight, total=total, sample=sample)


def _rows(batch: Any, number: int, target: Any, columns: Any, weight: str | None) -> tuple[Any, ...]:
    """Points, targets and weights of a record batch."""
    frame_of(batch, f"Batches: batch {number}")
    present = list(batch.schema.names)
    others = {*_names(target), *([] if weight is None else [weight])}
    chosen = [name for name in present if name not in others] if columns is None else _names(columns)
    missing = [name for name in [*chosen, *sorted(others)] if name not in present]
    if missing:
        raise InputError(f"Batches: batch {number} has no column {missing[0]!r}. It has {present}.")

    def values(name: str) -> np.ndarray:
        column = np.asarray(batch.column(name).to_numpy(zero_copy_only=False))
        check_numbers(column, f"Batches: column {name!r} of batch {number}")
        return column

    X = batch.column(columns).to_pylist() if isinstance(columns, str) else _stacked(map(values, chosen))
    y = values(target) if isinstance(target, str) else _stacked(map(values, target))
    return (X, y) if weight is None else (X, y, values(weight))


def _stacked(columns: Iterable[np.ndarray]) -> np.ndarray:
    return np.column_stack(list(columns))


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ParameterError(f"Batches: `{name}` must be an integer >= 1. Got {value!r}.")
    return int(value)


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtraError(
            "Batches.from_parquet: Parquet files need pyarrow, which is not installed: "
            "pip install mercer[arrow]."
        ) from error
    return parquet
