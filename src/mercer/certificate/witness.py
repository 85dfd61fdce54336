"""Witnesses: points and coefficients that refute a claim, for anyone to recompute."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

__all__ = ["Property", "Witness"]


class Property(enum.Enum):
    """The properties a certificate speaks about."""

    POSITIVE = "positive definite"
    NEGATIVE = "negative definite"
    CONDITIONAL = "conditionally positive definite"


class _Precise(Protocol):
    """What a witness needs of a kernel."""

    def precise(self, x: Any, y: Any, digits: int = 50) -> Any: ...


@dataclass(frozen=True)
class Witness:
    """Points and coefficients whose quadratic form has the forbidden sign.

    Attributes
    ----------
    points : tuple
        The points ``x_1, ..., x_m``.
    coefficients : tuple of float
        The coefficients ``c_1, ..., c_m`` (summing to zero against negative definiteness).
    value : float
        ``sum_ij c_i c_j k(x_i, x_j)``, rounded from the precise evaluation.
    refutes : Property
        The property that the value contradicts.
    digits : int
        Decimal digits carried in the recomputation (15 when only floats were available).
    error : float
        Bound on the error of ``value``; always smaller than ``abs(value)``.
    """

    points: tuple[Any, ...]
    coefficients: tuple[float, ...]
    value: float
    refutes: Property = Property.POSITIVE
    digits: int = 50
    error: float = 0.0

    @classmethod
    def of(
        cls,
        kernel: _Precise,
        points: Sequence[Any],
        coefficients: Sequence[float],
        refutes: Property = Property.POSITIVE,
        digits: int = 50,
    ) -> Witness:
        """Evaluate the quadratic form with ``digits`` decimal digits and keep it as a witness."""
        weights = [float(c) for c in coefficients]
        terms = [
            kernel.precise(x, y, digits) * ci * cj
            for ci, x in zip(weights, points, strict=True)
            for cj, y in zip(weights, points, strict=True)
        ]
        error = 0.0
        if not getattr(kernel, "is_precise", True):  # floats only: each term may be off by a few ulp
            digits = 15
            error = 8 * float(np.finfo(np.float64).eps) * sum(abs(float(term)) for term in terms)
        return cls(tuple(points), tuple(weights), float(sum(terms)), refutes, digits, error)

    def __str__(self) -> str:
        positive = self.refutes is Property.POSITIVE
        conclusion = f"c'Kc = {self.value:.6g} {'< 0' if positive else '> 0 although sum(c) = 0'}"
        if len(self.points) > 12:
            return f"{len(self.points)} points (see .points and .coefficients): {conclusion}"
        points = ", ".join(_short(p) for p in self.points)
        coefficients = ", ".join(f"{c:.6g}" for c in self.coefficients)
        return f"points [{points}], c = ({coefficients}): {conclusion}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python data."""
        return {
            "points": [_plain(p) for p in self.points],
            "coefficients": list(self.coefficients),
            "value": self.value,
            "refutes": self.refutes.value,
            "digits": self.digits,
            "error": self.error,
        }


def _plain(point: Any) -> Any:
    """Arrays, tuples and sets as lists, so that the result can be written as JSON."""
    if isinstance(point, np.ndarray | np.generic):
        return point.tolist()
    if isinstance(point, frozenset | set):
        return [_plain(p) for p in sorted(point, key=repr)]
    return [_plain(p) for p in point] if isinstance(point, tuple | list) else point


def _short(point: Any, width: int = 60) -> str:
    text = repr(point.tolist()) if isinstance(point, np.ndarray) else repr(point)
    return text if len(text) <= width else text[: width - 3] + "..."
