"""The result of every guarantee: a number that carries its assumptions with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

__all__ = ["Bound"]


@dataclass(frozen=True, repr=False)
class Bound:
    """A bound as a number, with what it assumes and whether it says anything.

    Immutable.  ``float(bound)`` is the value; ``int(bound)`` works for sample sizes only.  ``str(bound)`` and
    :meth:`explain` give the full account, ``repr(bound)`` one line.

    Parameters
    ----------
    value : float or int
        The bound, never clipped: a probability bound may exceed 1, and is then vacuous.  Sample sizes are
        ints.
    name : str
        What is bounded.
    formula : str
        The inequality, in plain text.
    assumptions : tuple of str
        What must be true for the bound to hold.  Nothing here is checked against data unless it says so.
    holds_with_probability : float or None
        Confidence of the statement; None when it holds surely (or is itself a statement about a probability).
    vacuous : bool
        True when the bound is not below the value that is known without it.
    terms : mapping of str to float
        The addends of ``value``; a single entry when the formula is not a sum.
    inputs : mapping of str to object
        The numbers that went in.
    vacuous_because : str
        The reason, empty when the bound is not vacuous.

    Examples
    --------
    >>> from mercer.guarantees import perceptron_mistake_bound
    >>> bound = perceptron_mistake_bound(radius=2.0, margin=0.5)
    >>> float(bound), bound.vacuous
    (16.0, False)
    >>> bound
    Bound('mistakes of the perceptron', value=16, vacuous=False)
    """

    value: float | int
    name: str
    formula: str
    assumptions: tuple[str, ...]
    holds_with_probability: float | None
    vacuous: bool
    terms: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, object] = field(default_factory=dict)
    vacuous_because: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", MappingProxyType(dict(self.terms)))
        object.__setattr__(self, "inputs", MappingProxyType(dict(self.inputs)))

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        if not isinstance(self.value, int):
            raise TypeError(f"`Bound`: only a sample size converts to int. Got {self.name!r}; use float.")
        return self.value

    def __hash__(self) -> int:
        return hash((self.name, self.value))

    # A mapping proxy cannot be pickled: rebuild from plain dicts (deepcopy takes this way too).
    def __reduce__(self) -> tuple[type[Bound], tuple[object, ...]]:
        state = (getattr(self, f.name) for f in fields(self))
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in state)

    def __repr__(self) -> str:
        return f"Bound({self.name!r}, value={_number(self.value)}, vacuous={self.vacuous})"

    def __str__(self) -> str:
        return self.explain()

    def explain(self) -> str:
        """Return the account: value, formula, confidence, addends, assumptions, and whether it is vacuous."""
        if self.holds_with_probability is None:
            holds = "always, under the assumptions"
        else:
            holds = f"with probability at least {self.holds_with_probability:.6g}"
        lines = [
            f"{self.name}: {_number(self.value)}",
            f"  formula: {self.formula}",
            f"  holds:   {holds}",
        ]
        if len(self.terms) > 1:
            lines.append("  terms:   " + " + ".join(f"{_number(v)} ({k})" for k, v in self.terms.items()))
        if self.inputs:
            lines.append("  inputs:  " + ", ".join(f"{k}={_number(v)}" for k, v in self.inputs.items()))
        lines.append("  assumes:")
        lines += [f"    - {assumption}" for assumption in self.assumptions]
        lines.append(f"  vacuous: {'yes, ' + self.vacuous_because if self.vacuous else 'no'}")
        return "\n".join(lines)


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
