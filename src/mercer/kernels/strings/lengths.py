"""Weights of patterns by their length."""

from __future__ import annotations

import math
from typing import Any

from ...errors import ParameterError

__all__ = ["as_length_weights"]


def as_length_weights(owner: str, weights: Any, longest: int) -> tuple[float, ...]:
    """Validate a parameter ``weights``: one number >= 0 for each length up to the longest."""
    try:
        found = tuple(float(w) for w in weights)
    except (TypeError, ValueError):
        found = ()
    if len(found) != longest or not all(math.isfinite(w) and w >= 0 for w in found):
        raise ParameterError(
            f"{owner}: `weights` must be {longest} finite numbers >= 0, one for each length from 1 on. "
            f"Got {weights!r}."
        )
    return found
