"""Every public kernel as a row of a table."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from ..kernel import Kernel
from ..parameters import Spec
from .expressions import evaluate
from .tables import aligned

__all__ = ["Entry", "entries", "listing"]

#: Examples of kernels that need more than numbers.  Those that need functions have none.
EXAMPLES = {
    "Agreement": "Agreement({1, 2, 3})",
    "AnovaOf": "AnovaOf((Gaussian(1.0), Linear()), 2)",
    "CloudVariance": "CloudVariance(Gaussian(1.0))",
    "DerivedSubsets": "DerivedSubsets(Gaussian(1.0))",
    "DualWords": "DualWords([{'a', 'b'}, {'b', 'c'}])",
    "EarthMover": "EarthMover(PowerDistance(1.0))",
    "EventCovariance": "EventCovariance({'a': 0.5, 'b': 0.5})",
    "MeanMap": "MeanMap(Gaussian(1.0))",
    "SampledIntersection": "SampledIntersection(['a', 'b', 'a'])",
    "UnionComplement": "UnionComplement({1, 2, 3})",
}


@dataclass(frozen=True)
class Entry:
    """A public kernel.

    ``expression`` shows how to make one, and ``kernel`` is what it makes; None where only its user can.
    """

    name: str
    family: str
    expression: str
    kernel: Kernel | None


def entries() -> list[Entry]:
    """Return the public kernels, family by family."""
    from .. import kernels

    found = []
    for name in kernels.__all__:
        cls = getattr(kernels, name)
        if isinstance(cls, type) and issubclass(cls, Kernel):
            text = _expression(cls)
            family = cls.__module__.rpartition(".")[2]
            found.append(Entry(name, family, text or f"{name}(...)", evaluate(text) if text else None))
    return sorted(found, key=lambda entry: (entry.family, entry.name))


def listing() -> str:
    """Return the table as text."""
    rows = []
    for entry in entries():
        if entry.kernel is None:
            domain, verdict, rule = "depends", "depends", "on the arguments"
        else:
            certificate = entry.kernel.certificate
            domain, verdict, rule = str(entry.kernel.domain), str(certificate.verdict), certificate.rule
        rows.append([entry.family, entry.expression, domain, verdict, rule])
    note = (
        f"{len(rows)} kernels. The verdict is that of the arguments shown, others being the defaults; "
        "`mercer explain EXPRESSION` proves more.\n"
        "STRICT and PSD: positive definite; NDS: negative definite; REFUTED: not positive definite."
    )
    return aligned(["family", "kernel", "domain", "verdict", "by"], rows) + "\n\n" + note


def _expression(cls: type[Kernel]) -> str | None:
    """How to make a kernel: its defaults, and values in range for numbers that have none."""
    if cls.__name__ in EXAMPLES:
        return EXAMPLES[cls.__name__]
    arguments = []
    for field in dataclasses.fields(cls):
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            spec: Spec | None = field.metadata.get("mercer")
            if spec is None:  # not a number: a function, a kernel...
                return None
            arguments.append(f"{field.name}={_value(spec)!r}")
    return f"{cls.__name__}({', '.join(arguments)})"


def _value(spec: Spec) -> Any:
    """A plain value that a parameter accepts."""
    if spec.choices:
        return spec.choices[0]
    if spec.integer:
        return int(max(2, spec.low))
    middle = (max(spec.low, -1.0) + min(spec.high, 1.0)) / 2
    value = 1.0 if spec.low < 1.0 < spec.high else middle
    return value if 0 in spec.ndim else [value] if 1 in spec.ndim else [[value]]
