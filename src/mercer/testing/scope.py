"""The names that ``repr`` of a kernel may use."""

from __future__ import annotations

import sys
from itertools import chain
from typing import Any

import numpy as np

import mercer
import mercer.algebra
import mercer.automata
import mercer.domains
import mercer.kernels
import mercer.models

from ..kernel import Kernel
from .trial import nodes

__all__ = ["evaluate", "scope"]


def scope(k: Kernel) -> dict[str, Any]:
    """Public names of mercer, and the classes and named functions that the kernel itself is made of."""
    names: dict[str, Any] = {"np": np, "inf": float("inf"), "nan": float("nan"), "frozenset": frozenset}
    modules = (
        mercer.domains,
        mercer.domains.regions,
        mercer.automata,
        mercer.models,
        mercer.algebra,
        mercer,
        mercer.kernels,
    )
    for module in modules:
        names.update({name: getattr(module, name) for name in getattr(module, "__all__", ())})
    for node in nodes(k):
        names[type(node).__name__] = type(node)
        values = node.get_params(deep=False).values()
        for held in chain.from_iterable(v if isinstance(v, tuple) else (v,) for v in values):
            if callable(held) and not isinstance(held, Kernel) and hasattr(held, "__qualname__"):
                head = held.__qualname__.partition(".")[0]  # a decorator may have made a kernel of it
                names.setdefault(head, getattr(sys.modules.get(held.__module__), head, held))
    return names


def evaluate(text: str, k: Kernel) -> Any:
    """Evaluate the representation of a kernel."""
    return eval(text, scope(k))
