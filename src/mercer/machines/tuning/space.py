"""What may move in a search, and how far: bounds, fixed parameters and priors by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import ParameterError
from .hyperparameters import Hyperparameters
from .priors import Prior
from .scales import Scales
from .search import SearchSpace

__all__ = ["search_space"]

Entries: TypeAlias = NDArray[np.intp]


def search_space(
    start: Hyperparameters,
    scales: Scales,
    *,
    bounds: Mapping[str, Any] | None = None,
    fixed: Iterable[str] = (),
    priors: Mapping[str, Any] | None = None,
    caller: str = "tune",
) -> SearchSpace:
    """Read bounds, fixed parameters and priors, each by the names of ``start.names``.

    The name of a vector, without an index, stands for all of its entries.

    Parameters
    ----------
    start : Hyperparameters
    scales : Scales
        What is usual for the data.
    bounds : mapping, optional
        Pairs ``(low, high)`` of values, not of logarithms.
    fixed : names
        What stays at its start.
    priors : mapping, optional
        Log-densities of values; see :class:`Prior`.
    caller : str
        For errors.
    """
    if not len(start.theta):
        raise ParameterError(
            f"{caller}: there is nothing to tune: `kernel` must have a parameter > 0 with a logarithmic "
            f"scale. Got {start.kernel!r}. Declare one by parameter(..., scale='log')."
        )
    # positions of each entry by its own name, and of all entries of a vector by the vector's
    places = {name: np.array([i]) for i, name in enumerate(start.names)}
    for i, name in enumerate(start.names):
        if name.endswith("]"):
            whole = name[: name.rindex("[")]
            places[whole] = np.append(places.get(whole, np.empty(0, dtype=np.intp)), i)
    space = SearchSpace.around(start, scales)
    limits, free, asked = space.bounds.copy(), space.free.copy(), space.asked.copy()
    for name, pair in _mapping(bounds, "bounds", caller).items():
        entries = _find(name, places, "bounds", caller)
        limits[entries], asked[entries] = _checked_pair(name, pair, start, caller), True
    for name in (fixed,) if isinstance(fixed, str) else fixed:
        free[_find(name, places, "fixed", caller)] = False
    if not free.any():
        raise ParameterError(
            f"{caller}: `fixed` must leave something to tune. Got all of {', '.join(start.names)}."
        )
    densities = tuple(
        Prior.of(name, prior, _find(name, places, "priors", caller))
        for name, prior in _mapping(priors, "priors", caller).items()
    )
    return SearchSpace(start, scales, limits, free, asked, densities)


def _mapping(given: Any, argument: str, caller: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(f"{caller}: `{argument}` must map names of parameters. Got {given!r}.")
    return given


def _find(name: Any, places: Mapping[str, Entries], argument: str, caller: str) -> Entries:
    if name not in places:
        known = [key for key in places if not key.endswith("]")]
        raise ParameterError(f"{caller}: `{argument}` must name parameters among {known}. Got {name!r}.")
    return places[name]


def _checked_pair(name: str, pair: Any, start: Hyperparameters, caller: str) -> NDArray[np.float64]:
    """The logarithms of bounds that are positive, ordered, and within the range of the parameter."""
    try:
        low, high = (float(value) for value in pair)
    except (TypeError, ValueError):
        low = high = np.nan
    if not 0 < low < high < np.inf:
        raise ParameterError(
            f"{caller}: `bounds` must be pairs of numbers 0 < low < high. Got {pair!r} for {name!r}. "
            "What should not move belongs into `fixed`."
        )
    inner = name.removeprefix("kernel__").partition("[")[0]
    if name != start.penalty:
        least, most = (float(np.exp(value)) for value in start.range_of(inner))
        if low < least * (1 - 1e-12) or high > most * (1 + 1e-12):
            raise ParameterError(
                f"{caller}: `bounds` of {name!r} must lie between {least:g} and {most:g}, the range of the "
                f"parameter. Got {pair!r}."
            )
    return np.log([low, high])
