"""What a search has to know of its scorer."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["accepts_weight", "sees_points"]


def sees_points(scorer: Any) -> bool:
    """Whether a scorer may read the points itself; those of scikit-learn pass them to the machine."""
    parts = getattr(scorer, "_scorers", {"": scorer}).values()
    return any(not type(part).__module__.startswith("sklearn.metrics") for part in parts)


def accepts_weight(scorer: Any) -> bool:
    """Whether a scorer takes weights."""
    accepts = getattr(scorer, "_accept_sample_weight", None)
    if accepts is not None:
        return bool(accepts())
    return callable(scorer) and "sample_weight" in inspect.signature(scorer).parameters
