"""What the kernels over alignments share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...arithmetic import FLOAT, Arithmetic
from ...certificate import Witness
from ...domains import Data, Domain, Series, SeriesData, to_float
from ...domains.series import LAYOUTS
from ...engine.series import Steps
from ...engine.tiles import PAIRWISE_TILE_SIZE
from ...errors import ParameterError
from ...intervals import Interval
from ...kernel import Kernel
from ...parameters import parameter

__all__ = [
    "LONG",
    "check_band",
    "gap",
    "layout",
    "missing",
    "steps_of",
    "width",
    "witness_among",
]

#: Square of the length from which on one value is computed by the native core instead of the plain
#: definition, which takes a microsecond per pair of steps and, in floats, overflows beyond 400 steps.
LONG = 64 * 64


def missing() -> Any:
    """Declare what is done about missing numbers: see :class:`~mercer.domains.Series`."""
    return parameter(default="error", choices=("error", "drop"), kw_only=True)


def layout() -> Any:
    """Declare how the axes of arrays are meant: see :class:`~mercer.domains.Series`."""
    return parameter(default=None, choices=LAYOUTS, kw_only=True)


def width() -> Any:
    """Declare a width."""
    return parameter(default=1.0, low=0.0, open_low=True, scale="log", rules=("median",))


def check_band(owner: str, band: Any, low: int) -> None:
    """Raise unless the band is None or a whole number from ``low`` on."""
    if band is not None and (type(band) is not int or band < low):
        raise ParameterError(f"{owner}: `band` must be an integer >= {low} or None. Got {band!r}.")


def gap(x: Any, y: Any, m: Arithmetic) -> Any:
    """Squared distance of two steps."""
    return m.fsum([(a - b) * (a - b) for a, b in zip(x, y, strict=True)])


def steps_of(data: SeriesData, ratios: SeriesData | None = None) -> Steps:
    """What the engine takes."""
    if ratios is None:
        return Steps(data.values, data.starts)
    return Steps(data.values, data.starts, ratios.values[:, 0])


def is_ordinary(*widths: float) -> bool:
    """Whether steps at these distances can be compared: far from where squares underflow or overflow."""
    return all(1e-50 < width < 1e50 for width in widths)


def witness_among(kernel: Kernel, points: list[np.ndarray]) -> Witness | None:
    """A witness against positive definiteness on the given points, or None if there is none."""
    values, vectors = np.linalg.eigh(kernel.block(points))
    if values[0] >= 0:
        return None
    coefficients = np.round(vectors[:, 0] / np.abs(vectors[:, 0]).max(), 3)
    witness = Witness.of(kernel, points, coefficients.tolist())
    return witness if witness.value < 0 else None


class _Aligned(Kernel):
    """Kernels over alignments, with ``k(x, x) = 1``.  Subclasses give the plain definition as ``_value``."""

    _always_double: ClassVar[bool] = True
    _tile_size = PAIRWISE_TILE_SIZE

    if TYPE_CHECKING:  # a field of each subclass, so that other parameters may come before it

        @property
        def missing(self) -> str: ...

        @property
        def layout(self) -> str | None: ...

    @property
    def domain(self) -> Domain:
        return Series(missing=self.missing, layout=self.layout)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        if m is FLOAT and max(len(x), len(y)) ** 2 > LONG:
            alone = (SeriesData(to_float(z), np.array([0, len(z)], dtype=np.int64)) for z in (x, y))
            return self._block(*map(self._prepare, alone))[0, 0]
        return self._value(x, y, m)

    def _value(self, x: Any, y: Any, m: Arithmetic) -> Any:
        raise TypeError(f"{type(self).__name__} must define _value")

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.ones(len(X))

    diagonal_bounds = Interval(1.0, 1.0)
