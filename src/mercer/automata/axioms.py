"""The axioms of a semiring, checked on given weights."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ParameterError

if TYPE_CHECKING:
    from .semirings import Semiring

__all__ = ["check_axioms", "check_element"]

#: Relative difference of two floats that may come from rounding.
ROUNDING = 1e-9


def check_axioms(ring: Semiring, weights: Sequence[Any]) -> None:
    """Raise :class:`~mercer.errors.ParameterError` with the first law that fails on these weights."""
    for a in weights:
        _check(ring, _laws_of_one(ring, a), {"a": a}, f"Semiring {ring.name!r}")
        _check(ring, _laws_of_star(ring, a), {"a": a}, f"Semiring {ring.name!r}")
    for a, b in product(weights, repeat=2):
        _check(ring, _laws_of_two(ring, a, b), {"a": a, "b": b}, f"Semiring {ring.name!r}")
    for a, b, c in product(weights, repeat=3):
        _check(ring, _laws_of_three(ring, a, b, c), {"a": a, "b": b, "c": c}, f"Semiring {ring.name!r}")


def check_element(ring: Semiring, a: Any, caller: str) -> None:
    """Raise if a value is no weight: zero and one must be neutral to it, and zero annihilate it."""
    _check(ring, _laws_of_one(ring, a), {"a": a}, f"{caller}: a weight of {ring!r}")


class _Law(NamedTuple):
    """How a law is written, its two sides, and terms that may cancel within them: they set the rounding."""

    text: str
    left: Callable[[], Any]
    right: Callable[[], Any]
    terms: Callable[[], tuple[Any, ...]] = tuple


def _laws_of_one(ring: Semiring, a: Any) -> Iterator[_Law]:
    plus, times, zero, one = ring.plus, ring.times, ring.zero, ring.one
    yield _Law("a = a", lambda: a, lambda: a)
    yield _Law("plus(zero, a) = a", lambda: plus(zero, a), lambda: a)
    yield _Law("plus(a, zero) = a", lambda: plus(a, zero), lambda: a)
    yield _Law("times(one, a) = a", lambda: times(one, a), lambda: a)
    yield _Law("times(a, one) = a", lambda: times(a, one), lambda: a)
    yield _Law("times(zero, a) = zero", lambda: times(zero, a), lambda: zero)
    yield _Law("times(a, zero) = zero", lambda: times(a, zero), lambda: zero)


def _laws_of_star(ring: Semiring, a: Any) -> Iterator[_Law]:
    if ring.star is None:
        return
    try:
        s = ring.star(a)
    except ArithmeticError:
        return
    plus, times, one = ring.plus, ring.times, ring.one
    sides: tuple[Callable[[], Any], ...] = (lambda: times(a, s), lambda: times(s, a))
    for text, side in zip(("times(a, star(a))", "times(star(a), a)"), sides, strict=True):
        yield _Law(
            f"star(a) = plus(one, {text})",
            lambda: s,
            lambda side=side: plus(one, side()),  # type: ignore[misc]
            lambda side=side: (one, side()),  # type: ignore[misc]
        )


def _laws_of_two(ring: Semiring, a: Any, b: Any) -> Iterator[_Law]:
    yield _Law("plus(a, b) = plus(b, a)", lambda: ring.plus(a, b), lambda: ring.plus(b, a))
    if ring.commutative:
        yield _Law("times(a, b) = times(b, a)", lambda: ring.times(a, b), lambda: ring.times(b, a))


def _laws_of_three(ring: Semiring, a: Any, b: Any, c: Any) -> Iterator[_Law]:
    plus, times = ring.plus, ring.times
    yield _Law(
        "plus(plus(a, b), c) = plus(a, plus(b, c))",
        lambda: plus(plus(a, b), c),
        lambda: plus(a, plus(b, c)),
        lambda: (a, b, c),
    )
    yield _Law(
        "times(times(a, b), c) = times(a, times(b, c))",
        lambda: times(times(a, b), c),
        lambda: times(a, times(b, c)),
    )
    yield _Law(
        "times(a, plus(b, c)) = plus(times(a, b), times(a, c))",
        lambda: times(a, plus(b, c)),
        lambda: plus(times(a, b), times(a, c)),
        lambda: (times(a, b), times(a, c)),
    )
    yield _Law(
        "times(plus(a, b), c) = plus(times(a, c), times(b, c))",
        lambda: times(plus(a, b), c),
        lambda: plus(times(a, c), times(b, c)),
        lambda: (times(a, c), times(b, c)),
    )


def _check(ring: Semiring, laws: Iterator[_Law], weights: dict[str, Any], caller: str) -> None:
    given = ", ".join(f"{name} = {value!r}" for name, value in weights.items())
    for law in laws:
        try:
            left, right = law.left(), law.right()
            if ring.equal is not None:
                holds = bool(ring.equal(left, right))
            else:
                holds = _equal(left, right, ROUNDING * max(map(_size, law.terms()), default=0.0))
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            raise ParameterError(f"{caller} must obey {law.text}. Got {error!r} for {given}.") from error
        if not holds:
            raise ParameterError(f"{caller} must obey {law.text}. Got {left!r} and {right!r} for {given}.")


def _equal(a: Any, b: Any, error: float) -> bool:
    """Equality up to rounding for floats, and for tuples of them."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_equal(x, y, error) for x, y in zip(a, b, strict=True))
    floats = isinstance(a, float | complex) or isinstance(b, float | complex)
    if floats and isinstance(a, Number) and isinstance(b, Number):
        return cmath.isclose(a, b, rel_tol=ROUNDING, abs_tol=error)  # type: ignore[arg-type]
    return bool(a == b)


def _size(value: Any) -> float:
    """The largest finite float in a weight."""
    if isinstance(value, tuple):
        return max(map(_size, value), default=0.0)
    size = abs(value) if isinstance(value, float | complex) else 0.0
    return size if math.isfinite(size) else 0.0
