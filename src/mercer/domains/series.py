"""Time series: finite sequences of real numbers or of real vectors, of any lengths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..errors import InputError, ParameterError
from .base import ArithmeticRows, ArithmeticVector, Data, Domain, starts_of
from .containers import frame_of
from .numeric import check_numbers

__all__ = ["Series", "SeriesData"]


#: How the axes of an array may be meant.
LAYOUTS = (None, "time_first", "channels_first")


class _Steps(np.ndarray):
    """One validated series, of shape (length, channels) whatever the layout of the domain."""

    def __repr__(self) -> str:
        return repr(np.asarray(self))


@dataclass(frozen=True, eq=False)
class SeriesData:
    """Series one after the other.

    Attributes
    ----------
    values : float64 array of shape (steps, channels)
        Steps of all series; series i is ``values[starts[i]:starts[i + 1]]``.
    starts : int64 array of shape (n + 1,)
        Need not begin at 0: a slice of series shares the values of the whole.
    """

    values: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[np.ndarray]:
        for start, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield self.values[start:end].view(_Steps)

    @property
    def channels(self) -> int:
        """Numbers per step."""
        return int(self.values.shape[1])

    @property
    def lengths(self) -> np.ndarray:
        """Number of steps of each series."""
        return np.diff(self.starts)

    @property
    def steps(self) -> np.ndarray:
        """The steps of these series alone, shape (steps, channels)."""
        return self.values[self.starts[0] : self.starts[-1]]

    def take(self, index: slice | np.ndarray) -> SeriesData:
        """Select series."""
        if isinstance(index, slice) and index.step in (None, 1):
            first, last, _ = index.indices(len(self))
            return SeriesData(self.values, self.starts[first : max(first, last) + 1])
        chosen = np.arange(len(self))[index]
        parts = [self.values[self.starts[i] : self.starts[i + 1]] for i in chosen.tolist()]
        return SeriesData(np.concatenate([self.values[:0], *parts]), starts_of(self.lengths[chosen]))


@dataclass(frozen=True)
class Series(Domain):
    """Time series of any lengths, each step a number or a vector of ``channels`` numbers.

    A series is a list or array of numbers (one channel), an array of shape (length, channels), a list of
    such rows, or a pandas Series or DataFrame (rows are steps).  Many of them come as a list, as an array of
    shape (n, length), whose rows are series of one channel, or as an array of three axes, whose ``layout``
    must be stated unless the last axis has length one.  All have at least one step, and the same number of
    channels.

    Parameters
    ----------
    channels : int or None
        Required number of channels; ``None`` accepts any.
    missing : {"error", "drop"}, default="error"
        What to do about NaN and masked entries.  ``"error"`` names the series and the step; ``"drop"`` leaves
        out steps in which a channel is missing.  Infinities, and numbers beyond 1e150, are always an error.
    layout : {None, "time_first", "channels_first"}, default=None
        The axes of arrays: (n, length, channels) and (length, channels), as in tslearn, or (n, channels,
        length) and (channels, length), as in aeon and sktime.  With ``None`` an array of two axes that is a
        single series has time first; an array of three axes is refused where it could be either.

    Examples
    --------
    >>> data = Series(missing="drop").validate([[1.0, 2.0], [3.0, float("nan"), 5.0, 6.0]])
    >>> data.lengths.tolist(), data.channels
    ([2, 3], 1)
    """

    channels: int | None = None
    missing: str = "error"
    layout: str | None = None

    def __post_init__(self) -> None:
        if self.layout not in LAYOUTS:
            raise ParameterError(
                f"Series: `layout` must be one of {', '.join(map(repr, LAYOUTS))}. Got {self.layout!r}."
            )
        if self.missing not in ("error", "drop"):
            raise ParameterError(f"Series: `missing` must be 'error' or 'drop'. Got {self.missing!r}.")
        if self.channels is not None and (type(self.channels) is not int or self.channels < 1):
            raise ParameterError(
                f"Series: `channels` must be an integer >= 1 or None. Got {self.channels!r}."
            )

    def validate(self, X: Any, name: str = "X") -> SeriesData:
        if isinstance(X, SeriesData):
            self._check_channels(X.channels if len(X) else None, name)
            return X
        frame_of(X, name)
        is_frame = hasattr(X, "columns")  # its rows are series
        if hasattr(X, "__array__") and not is_frame and getattr(X, "ndim", 0) > 1:
            X = X if isinstance(X, np.ndarray) else np.asarray(X)  # of another library
        if isinstance(X, str | bytes | dict) or not isinstance(X, Iterable):
            raise InputError(
                f"{name} must be a collection of time series. Got {type(X).__name__}. "
                f"For a single series pass a list of one: [{name}]."
            )
        if isinstance(X, np.ndarray) and X.dtype != object and X.ndim not in (2, 3):
            raise InputError(
                f"{name} must be an array of two axes (n, length), or of three, or a list of series. "
                f"Got shape {X.shape}. For a single series pass a list of one: [{name}]."
            )
        if is_frame or (isinstance(X, np.ndarray) and X.dtype != object):  # all series in one array
            whole = _as_numbers(X, name)
            points = list(whole[:, :, None] if whole.ndim == 2 else self._time_first(whole, name))
        else:
            points = [self._one(x, f"{name}[{i}]") for i, x in enumerate(X)]
        channels = self._common_channels(points, name)
        points = [self._complete(p, f"{name}[{i}]") for i, p in enumerate(points)]
        values = np.ascontiguousarray(np.concatenate([np.empty((0, channels)), *points]))
        return SeriesData(values, starts_of(np.array([len(p) for p in points], dtype=np.int64)))

    def match(self, X: Data, Y: Data | None) -> None:
        if Y is not None and X.channels != Y.channels and len(X) and len(Y):
            raise InputError(f"Y must have as many channels as X. Got {Y.channels} and {X.channels}.")

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> ArithmeticRows:
        rows = (ArithmeticVector(map(numbers.real, row)) for row in x.tolist())
        return ArithmeticRows(rows, x.shape[1])

    def sample(self, n: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Random walks of one to eight steps, of several sizes."""
        channels = self.channels or 1
        walks = [
            rng.choice([0.3, 1.0, 3.0])
            * rng.standard_normal((int(rng.integers(1, 9)), channels)).cumsum(axis=0)
            for _ in range(n)
        ]
        return [walk.T if self.layout == "channels_first" else walk for walk in walks]

    def _digest(self, x: Any, position: int) -> str:
        return super()._digest(np.asarray(x), position)

    def _meet(self, other: Domain) -> Domain | None:
        if not isinstance(other, Series):
            return None
        known = {c for c in (self.channels, other.channels) if c is not None}
        layouts = {domain.layout for domain in (self, other)} - {None}
        if len(known) > 1 or len(layouts) > 1:
            return None
        return Series(
            known.pop() if known else None,
            min(self.missing, other.missing, key=("error", "drop").index),
            layouts.pop() if layouts else None,
        )

    def __str__(self) -> str:
        channels = "" if self.channels is None else f" of {self.channels} channel(s)"
        layout = "" if self.layout is None else f", {self.layout.replace('_', ' ')}"
        return f"time series{channels}{layout}"

    def _time_first(self, whole: np.ndarray, name: str) -> np.ndarray:
        """An array of three axes as (n, length, channels)."""
        n, second, last = whole.shape
        layout = self.layout
        if layout is None and (last == 1 or (last == self.channels != second)):
            layout = "time_first"
        elif layout is None and second == self.channels != last:
            layout = "channels_first"
        if layout is None:
            raise InputError(
                f"{name} must say which axis is time. Got an array of shape {whole.shape}: {n} series of "
                f"{second} steps with {last} channels, or of {last} steps with {second} channels? State the "
                "layout in the kernel, as in DTW(layout='time_first') for (n, length, channels), which "
                "tslearn has, or DTW(layout='channels_first') for (n, channels, length), which aeon and "
                "sktime have."
            )
        return whole.transpose(0, 2, 1) if layout == "channels_first" else whole

    def _one(self, x: Any, name: str) -> np.ndarray:
        """One series as an array of shape (length, channels); the rows of a frame are its steps."""
        if isinstance(x, str | bytes | dict) or not isinstance(x, Iterable):
            raise InputError(f"{name} must be a series of numbers or of vectors. Got {x!r}.")
        array = _as_numbers(x if hasattr(x, "__array__") else list(x), name)
        if array.ndim == 1:
            return array[:, None]
        if array.ndim != 2:
            raise InputError(
                f"{name} must be an array of one axis (length,) or of two, (length, channels) or, with "
                f"layout='channels_first', (channels, length). Got {array.shape}."
            )
        known = isinstance(x, _Steps) or hasattr(x, "columns")
        return array.T if self.layout == "channels_first" and not known else array

    def _check_channels(self, channels: int | None, name: str) -> None:
        if self.channels is not None and channels not in (None, self.channels):
            raise InputError(f"{name} must have {self.channels} channel(s). Got {channels}.")

    def _common_channels(self, points: list[np.ndarray], name: str) -> int:
        """Number of channels of all series."""
        found: int | None = None
        for i, p in enumerate(points):
            if len(p) == 0:
                raise InputError(f"{name}[{i}] must have at least one step. Got an empty series.")
            if found is None:
                found = p.shape[1]
                self._check_channels(found, f"{name}[{i}]")
            elif p.shape[1] != found:
                raise InputError(
                    f"{name}[{i}] must have as many channels as the series before it. "
                    f"Got {p.shape[1]} and {found}."
                )
        if found == 0:
            raise InputError(f"{name} must have at least one channel. Got steps of no numbers.")
        return found or self.channels or 1

    def _complete(self, steps: np.ndarray, name: str) -> np.ndarray:
        """Return steps without missing numbers, none of them too large."""
        with np.errstate(invalid="ignore"):
            large = np.abs(steps) > 1e150  # all kernels on series square them
        if large.any():
            raise InputError(
                f"{name} must be finite numbers up to 1e+150, whose squares do not overflow. "
                f"Got {steps[large][0]:g} at step {_first(large)}."
            )
        absent = np.isnan(steps)
        if not absent.any():
            return steps
        if self.missing == "drop":
            complete = np.asarray(steps[~absent.any(axis=1)])
            if len(complete) == 0:
                raise InputError(
                    f"{name} must have a step without missing numbers. Got NaN in each of {len(steps)} steps."
                )
            return complete
        raise InputError(
            f"{name} must have no missing numbers. Got NaN at step {_first(absent)}. "
            "Fill the gaps (numpy.interp), or leave such steps out with missing='drop'."
        )


def _first(marked: np.ndarray) -> int:
    return int(np.flatnonzero(marked.any(axis=1))[0])


def _as_numbers(x: Any, name: str) -> np.ndarray:
    """Return real numbers as a float64 array; masked entries become NaN."""
    masked = np.ma.isMaskedArray(x)
    try:
        array = np.asarray(np.ma.getdata(x) if masked else x)
    except ValueError:
        raise InputError(
            f"{name} must be numbers, or rows of equally many numbers. Got rows of several lengths."
        ) from None
    if array.dtype.kind == "O":
        check_numbers(array, name)
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            array = np.asarray("")
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must be real numbers. Got {type(x).__name__} of type {np.asarray(x).dtype}."
        )
    array = array.astype(np.float64)
    if masked:
        array[np.ma.getmaskarray(x)] = np.nan
    return array
