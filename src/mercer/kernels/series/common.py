"""What the kernels over alignments share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arithmetic import FLOAT, Arithmetic
from ...certificate import Witness
from ...contributions import Contribution
from ...domains import SeriesData
from ...domains.series import Series
from ...engine.series import Steps
from ...errors import ParameterError
from ...kernel import Kernel
from ...parameters import parameter

__all__ = [
    "LONG",
    "check_band",
    "domain_of",
    "gap",
    "is_long",
    "missing",
    "shared_by_empty",
    "steps_of",
    "width",
    "witness_among",
]

#: Pairs of steps from which on one value is computed by the native core instead of the plain definition,
#: which takes a microsecond per pair of steps and, in floats, overflows beyond 400 steps.
LONG = 64 * 64


def missing() -> Any:
    """Declare what is done about missing numbers: see :class:`~mercer.domains.Series`."""
    return parameter(default="error", choices=("error", "drop"), kw_only=True)


def width() -> Any:
    """Declare a width."""
    return parameter(default=1.0, low=0.0, open_low=True, scale="log", rules=("median",))


def check_band(owner: str, band: Any, low: int) -> None:
    """Raise unless the band is None or a whole number from ``low`` on."""
    if band is not None and (type(band) is not int or band < low):
        raise ParameterError(f"{owner}: `band` must be an integer >= {low} or None. Got {band!r}.")


def is_long(x: Any, y: Any, m: Arithmetic) -> bool:
    """Whether one value is better left to the native core."""
    return m is FLOAT and len(x) * len(y) > LONG


def gap(x: Any, y: Any, m: Arithmetic) -> Any:
    """Squared distance of two steps."""
    return m.fsum([(a - b) * (a - b) for a, b in zip(x, y, strict=True)])


def steps_of(data: SeriesData, ratios: SeriesData | None = None) -> Steps:
    """What the engine takes."""
    if ratios is None:
        return Steps(data.values, data.starts)
    return Steps(data.values, data.starts, ratios.values[:, 0])


def witness_among(kernel: Kernel, points: list[np.ndarray]) -> Witness | None:
    """A witness against positive definiteness on the given points, or None if there is none."""
    values, vectors = np.linalg.eigh(kernel.block(points))
    if values[0] >= 0:
        return None
    coefficients = np.round(vectors[:, 0] / np.abs(vectors[:, 0]).max(), 3)
    witness = Witness.of(kernel, points, coefficients.tolist())
    return witness if witness.value < 0 else None


def shared_by_empty(value: float) -> Contribution:
    """What two empty series have in common."""
    return Contribution("both series are empty", value)


def domain_of(kernel: Any) -> Series:
    """The domain that the parameter ``missing`` asks for."""
    return Series(missing=kernel.missing)
