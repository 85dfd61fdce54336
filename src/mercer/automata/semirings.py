"""Semirings: how weights add over paths and multiply along them.

=========== ============================ =============== ============= ============= =================
name        a weight is                  plus            times         zero, one     star
=========== ============================ =============== ============= ============= =================
REAL        a real number                a + b           a b           0, 1          1 / (1 - a)
LOG         -log of a nonnegative number -log(e^-a+e^-b) a + b         inf, 0        log(1 - e^-a)
TROPICAL    a cost                       min(a, b)       a + b         inf, 0        0
BOOLEAN     a truth value                a or b          a and b       False, True   True
=========== ============================ =============== ============= ============= =================

These four run on the native core.  Any other :class:`Semiring` is computed by its own functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from operator import add, mul
from typing import Any, TypeAlias

import numpy as np

from ..errors import DivergenceError, ParameterError
from .axioms import check_axioms, check_element

__all__ = ["BOOLEAN", "LOG", "REAL", "TROPICAL", "Semiring", "Weight", "convert", "semiring_of"]

Weight: TypeAlias = Any
Operation: TypeAlias = Callable[[Any, Any], Any]

#: Closer to divergence than this, a sum of floats is refused: it would have no digit that counts.
SLACK = 1e-12


@dataclass(frozen=True, repr=False)
class Semiring:
    r"""Weights with a sum and a product.

    Both are associative, the sum is commutative, the product distributes over it from both sides, ``zero``
    and ``one`` are neutral, and ``zero`` annihilates: :math:`0 \otimes a = a \otimes 0 = 0`.  These axioms
    are checked on ``samples``, and on weights of every machine that is built; a violation is an error.

    Parameters
    ----------
    name : str
        For messages; not that of a built-in semiring.
    plus, times : callable
        Sum and product of two weights.  Weights may be any values that ``==`` compares.
    zero, one : weight
        Weight of no path at all, and of a path without arcs.
    star : callable, optional
        :math:`a^* = 1 \oplus a \oplus a^2 \oplus \dots`, for sums over cycles; it raises an
        ``ArithmeticError`` (``ZeroDivisionError``, :class:`~mercer.errors.DivergenceError`) where there is
        no sum.  Without it powers are added until the sum stays the same (*k-closed* semirings), at most a
        thousand.
    commutative : bool, default=True
        Whether ``times`` is commutative (checked).  Composition and reversal need it: they reorder products.
    equal : callable, optional
        Whether two weights are equal up to rounding, for the check of the axioms.  By default floats, and
        tuples of them, may differ by 1e-9 of their size; other values must be equal.
    samples : iterable of weights, default=()
        Weights on which the axioms are checked at once; the cost is cubic in their number.

    Examples
    --------
    The most probable path (the Viterbi semiring):

    >>> from mercer.automata import Semiring, Transducer
    >>> viterbi = Semiring("viterbi", max, lambda a, b: a * b, 0.0, 1.0, samples=[0.25, 0.5])
    >>> arcs = [(0, 1, "a", "a", 0.5), (0, 1, "a", "a", 0.25), (1, 1, "b", "b", 0.5)]
    >>> T = Transducer(arcs, {0: 1.0}, {1: 1.0}, semiring=viterbi)
    >>> T("ab"), T.total_weight()
    (0.25, 0.5)
    """

    name: str
    plus: Operation
    times: Operation
    zero: Weight
    one: Weight
    star: Callable[[Any], Any] | None = field(default=None, kw_only=True)
    commutative: bool = field(default=True, kw_only=True)
    equal: Callable[[Any, Any], bool] | None = field(default=None, kw_only=True)
    samples: Sequence[Weight] = field(default=(), kw_only=True, compare=False)
    #: Number of a built-in semiring in the native core; others have none.
    code: int = field(default=-1, init=False, compare=False)

    def __init_subclass__(cls) -> None:
        raise TypeError("Semiring has no subclasses: pass plus, times, zero and one to its constructor")

    def __post_init__(self) -> None:
        if self.name in _BUILT_IN:
            raise ParameterError(
                f"Semiring: `name` must not be that of a built-in semiring. Got {self.name!r}."
            )
        for name in ("plus", "times", "star", "equal"):
            function = getattr(self, name)
            if not callable(function) and not (function is None and name in ("star", "equal")):
                raise ParameterError(f"Semiring: `{name}` must be a function. Got {function!r}.")
        object.__setattr__(self, "samples", tuple(self.samples))
        check_axioms(self, [self.zero, self.one, *self.samples])

    @property
    def native(self) -> bool:
        """Whether it is built in, and computed by the native core."""
        return self.code >= 0

    @cached_property
    def idempotent(self) -> bool:
        """Whether a + a = a: then a path counts once, however often it occurs."""
        return bool(self.plus(self.one, self.one) == self.one)

    def closure(self, a: Weight) -> Weight:
        """The star of a weight; raise :class:`~mercer.errors.DivergenceError` if there is no sum."""
        if self.star is not None:
            try:
                return self.star(a)
            except ArithmeticError as error:
                raise DivergenceError(f"{self.name}: {a!r} has no star: {error}.") from error
        total = self.one
        for _ in range(1000):
            # 1 + a S is the next partial sum; once it equals S, so do all that follow.
            following = self.plus(self.one, self.times(a, total))
            if following == total:
                return total
            total = following
        raise DivergenceError(
            f"{self.name}: the powers of {a!r} have no sum after 1000 terms. Give the semiring a "
            "`star` if there is one."
        )

    def weight(self, value: Any, caller: str) -> Weight:
        """The value as a weight; raise :class:`~mercer.errors.ParameterError` if it is none."""
        if not self.native:
            check_element(self, value, caller)
            return value
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

    def value(self, weight: Weight) -> Weight:
        """The weight as the user sees it."""
        if not self.native:
            return weight
        return bool(weight) if self.name == "boolean" else float(weight)

    def array(self, weights: Iterable[Weight]) -> np.ndarray:
        """Weights as a vector: of float64 in built-in semirings, of objects in others."""
        found = list(weights)
        dtype = np.float64 if self.native else object
        return np.fromiter(found, dtype=dtype, count=len(found))

    def zeros(self, n: int) -> np.ndarray:
        """A vector of n zeros."""
        return self.array([self.zero] * n)

    def is_zero(self, weights: np.ndarray) -> np.ndarray:
        """Which weights of a vector are zero."""
        if not self.native:
            return np.fromiter((w == self.zero for w in weights), dtype=bool, count=len(weights))
        return np.asarray(weights == self.zero)

    @property
    def on_arrays(self) -> tuple[Operation, Operation]:
        """Sum and product of arrays, element by element."""
        if not self.native:
            return np.frompyfunc(self.plus, 2, 1), np.frompyfunc(self.times, 2, 1)
        return _ON_ARRAYS[self.code]

    def __hash__(self) -> int:
        return hash((Semiring, self.name))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.native:
            return semiring_of, (self.name,)
        return partial(Semiring, **{f.name: getattr(self, f.name) for f in fields(self) if f.init}), ()

    def __repr__(self) -> str:
        return self.name.upper() if self.native else f"<Semiring {self.name!r}>"


# -- built-in semirings ---------------------------------------------------------------------------
def _add_logs(a: float, b: float) -> float:
    low, high = min(a, b), max(a, b)
    return low if high == math.inf else low - math.log1p(math.exp(low - high))


def _or(a: float, b: float) -> float:
    return bool(a or b)


def _and(a: float, b: float) -> float:
    return bool(a and b)


def _real_star(a: float) -> float:
    if not abs(a) < 1 - SLACK:
        raise ArithmeticError("the weight must be below one in absolute value")
    return 1 / (1 - a)


def _log_star(a: float) -> float:
    if not a > SLACK:
        raise ArithmeticError("the weight must be positive, -log of a number below one")
    return math.log(-math.expm1(-a))


def _tropical_star(a: float) -> float:
    if not a >= 0:
        raise ArithmeticError("the cost must not be negative")
    return 0.0


def _boolean_star(a: float) -> float:
    return True


def _add_log_arrays(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(-np.logaddexp(-a, -b))


_BUILT_IN: dict[str, Semiring] = {}
REAL = Semiring("real", add, mul, 0.0, 1.0, star=_real_star)
LOG = Semiring("log", _add_logs, add, math.inf, 0.0, star=_log_star)
TROPICAL = Semiring("tropical", min, add, math.inf, 0.0, star=_tropical_star)
BOOLEAN = Semiring("boolean", _or, _and, 0.0, 1.0, star=_boolean_star)

#: Sum and product of arrays, by code.
_ON_ARRAYS: tuple[tuple[Operation, Operation], ...] = (
    (np.add, np.multiply),
    (_add_log_arrays, np.add),
    (np.minimum, np.add),
    (np.maximum, np.multiply),
)

for _code, _ring in enumerate((REAL, LOG, TROPICAL, BOOLEAN)):  # as in native/automata/semirings.hpp
    object.__setattr__(_ring, "code", _code)
    _BUILT_IN[_ring.name] = _ring


def semiring_of(semiring: Semiring | str, caller: str = "mercer.automata") -> Semiring:
    """The semiring of a name, or the semiring itself."""
    if isinstance(semiring, Semiring):
        return semiring
    found = _BUILT_IN.get(str(semiring))
    if found is None:
        raise ParameterError(
            f"{caller}: `semiring` must be one of {', '.join(map(repr, _BUILT_IN))}, or a Semiring. "
            f"Got {semiring!r}."
        )
    return found


def convert(
    weights: np.ndarray, old: Semiring, new: Semiring, by: Callable[[Any], Any] | None = None
) -> np.ndarray:
    """Weights in another semiring, by a function where it is given.

    LOG and TROPICAL hold -log of what REAL holds, BOOLEAN whether a weight is other than zero.
    """
    if by is not None:
        return new.array(new.weight(by(old.value(w)), "in_semiring") for w in weights.tolist())
    if old == new or {old, new} == {LOG, TROPICAL}:
        return weights
    if new == BOOLEAN:
        return np.where(old.is_zero(weights), 0.0, 1.0)
    if old == BOOLEAN:
        return new.array(new.one if w else new.zero for w in weights.tolist())
    if not (old.native and new.native):
        raise ParameterError(
            f"in_semiring: `by` must say what a weight of {old!r} is in {new!r}: "
            "in_semiring(ring, by=function)."
        )
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
