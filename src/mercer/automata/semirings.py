"""The numbers that arcs carry: how weights add over paths and multiply along them.

=========== ============================ =============== ============= ==========================
name        a weight is                  plus            times         zero, one
=========== ============================ =============== ============= ==========================
REAL        a real number                a + b           a b           0, 1
LOG         -log of a nonnegative number -log(e^-a+e^-b) a + b         inf, 0
TROPICAL    a cost                       min(a, b)       a + b         inf, 0
BOOLEAN     a truth value                a or b          a and b       False, True
=========== ============================ =============== ============= ==========================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError

__all__ = ["BOOLEAN", "LOG", "REAL", "TROPICAL", "Semiring", "convert", "semiring_of"]


@dataclass(frozen=True, repr=False)
class Semiring:
    """Weights with a sum and a product; one of REAL, LOG, TROPICAL and BOOLEAN.

    Attributes
    ----------
    name : str
        "real", "log", "tropical" or "boolean".
    zero, one : float
        Weight of no path at all, and of a path without arcs.
    idempotent : bool
        Whether a + a = a: then a path counts once, however often it occurs.
    """

    name: str
    code: int
    zero: float
    one: float
    idempotent: bool

    def plus(self, a: float, b: float) -> float:
        """Weight of two paths together."""
        if self.name == "real":
            return a + b
        if self.name == "boolean":
            return bool(a or b)
        low, high = min(a, b), max(a, b)
        if self.name == "tropical" or high == math.inf:
            return low
        return low - math.log1p(math.exp(low - high))

    def times(self, a: float, b: float) -> float:
        """Weight of one path after another."""
        if self.name == "boolean":
            return bool(a and b)
        return a * b if self.name == "real" else a + b

    def weight(self, value: Any, caller: str) -> float:
        """The value as a weight; raise :class:`~mercer.errors.ParameterError` if it is none."""
        try:
            found = math.nan if isinstance(value, str | bytes) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = math.nan
        if self.name == "boolean" and found not in (0.0, 1.0):
            raise ParameterError(f"{caller}: a weight must be True or False. Got {value!r}.")
        if math.isfinite(found) or (found == self.zero):
            return found
        allowed = "a finite number" if self.name == "real" else "a finite number or inf (no path)"
        raise ParameterError(f"{caller}: a weight must be {allowed}. Got {value!r}.")

    def value(self, weight: float) -> float:
        """The weight as the user sees it."""
        return bool(weight) if self.name == "boolean" else float(weight)

    def __reduce__(self) -> tuple[Any, ...]:
        return semiring_of, (self.name,)

    def __repr__(self) -> str:
        return self.name.upper()


REAL = Semiring("real", 0, 0.0, 1.0, False)
LOG = Semiring("log", 1, math.inf, 0.0, False)
TROPICAL = Semiring("tropical", 2, math.inf, 0.0, True)
BOOLEAN = Semiring("boolean", 3, 0.0, 1.0, True)

_BY_NAME = {s.name: s for s in (REAL, LOG, TROPICAL, BOOLEAN)}


def semiring_of(semiring: Semiring | str, caller: str = "mercer.automata") -> Semiring:
    """The semiring of a name, or the semiring itself."""
    if isinstance(semiring, Semiring):
        return semiring
    found = _BY_NAME.get(str(semiring))
    if found is None:
        raise ParameterError(
            f"{caller}: `semiring` must be one of {', '.join(map(repr, _BY_NAME))}. Got {semiring!r}."
        )
    return found


def convert(weights: np.ndarray, old: Semiring, new: Semiring) -> np.ndarray:
    """Weights in another semiring: LOG and TROPICAL hold -log of what REAL holds, BOOLEAN if there is any."""
    if old == new or {old, new} == {LOG, TROPICAL}:
        return weights
    if new == BOOLEAN:
        return np.where(weights == old.zero, 0.0, 1.0)
    if old == BOOLEAN:
        return np.where(weights == 0.0, new.zero, new.one)
    if new == REAL:
        with np.errstate(over="ignore"):
            real: np.ndarray = np.exp(-weights)
        if np.isinf(real).any():
            raise ParameterError(
                f"in_semiring: a {old.name} weight of {weights.min():g} has no real number exp(-weight)."
            )
        return real
    if (weights < 0).any():
        raise ParameterError(
            f"in_semiring: a negative weight has no logarithm. Got {weights.min():g}; stay with REAL."
        )
    with np.errstate(divide="ignore"):
        logs: np.ndarray = -np.log(weights) + 0.0
    return logs
