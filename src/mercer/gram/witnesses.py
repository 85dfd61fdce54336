"""Witnesses: found in floating point, believed only in higher precision.

A witness against positive definiteness is points and coefficients with ``c'Kc < 0``; against negative
definiteness, with ``c'Kc > 0`` and ``sum(c) = 0``.  Eigenvalues of a matrix in floating point propose them.
:func:`confirm` recomputes the quadratic form

- with fifty digits, where the kernel can give them (``k.is_precise``), and if that contradicts the claim with
  a hundred: the difference of the two is the rounding of the first, and the form has to lie beyond it; else
- exactly, in rational arithmetic, from the float values, each allowed to be wrong by :data:`ULPS` units in
  the last place of the largest number that it was computed from; the form has to keep its sign for all
  values within that allowance.

:func:`confirm_asymmetry` does the same for two values ``k(x, y)`` and ``k(y, x)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..arithmetic import multiprecision
from ..certificate import Property, Witness
from ..domains import Domain, Simplex, Tuples, Vectors
from ..engine.factorizations import eigh
from ..engine.runs import checkpoint
from ..errors import MercerError
from ..kernel import Kernel

__all__ = [
    "clarity",
    "confirm",
    "confirm_asymmetry",
    "confirm_values",
    "describe",
    "error_allowance",
    "looks_single",
    "short_coefficients",
    "worst_direction",
]

#: Error allowed to a float value of a kernel without a multiprecision definition, in units in the last place.
ULPS = 64

#: Decimal digits of the multiprecision recomputation.
DIGITS = 50

#: The form must exceed this part of ``sum |c_i c_j k_ij|``; in fifty digits rounding is far below it.
SLACK = 1e-14

#: A value must exceed its rounding, the difference of its fifty and its hundred digits, by this factor.
CERTAIN = 1000

_LADDER = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100, 1000, 10**4, 10**6, 10**9, 10**12)


# -- proposing ----------------------------------------------------------------------------------
def worst_direction(K: np.ndarray, refutes: Property) -> tuple[float, np.ndarray]:
    """Least eigenvalue of the matrix scaled to unit diagonal, and its coefficients.

    Against negative definiteness the matrix is first shifted, ``K_i0 + K_0j - K_ij - K_00``, which is
    positive semidefinite exactly when ``K`` is negative definite; the coefficients then sum to zero.
    """
    if refutes is Property.NEGATIVE:
        if len(K) < 2:
            return 0.0, np.zeros(len(K))
        score, c = worst_direction(K[1:, :1] + K[:1, 1:] - K[1:, 1:] - K[0, 0], Property.POSITIVE)
        return score, np.concatenate([[-c.sum()], c])
    size = np.abs(K)
    diagonal = np.sqrt(size.diagonal())
    rest = np.sqrt(size.max(axis=1))
    scale = np.where(diagonal > 1e-6 * rest, diagonal, np.where(rest > 0, rest, 1.0))
    scaled = K / scale[:, None] / scale
    values, vectors = np.linalg.eigh(scaled) if len(K) <= 64 else eigh(scaled, subset=(0, 0))
    return float(values[0]), vectors[:, 0] / scale


def clarity(K: np.ndarray, c: np.ndarray, refutes: Property) -> float:
    """Size of the violation: the form over ``sum |c_i c_j k_ij|``, positive if its sign is forbidden."""
    weight = np.abs(c) @ np.abs(K) @ np.abs(c)
    form = float(c @ K @ c)
    return (-form if refutes is Property.POSITIVE else form) / weight if weight > 0 else 0.0


def short_coefficients(K: np.ndarray, c: np.ndarray, refutes: Property, keep: float = 0.5) -> np.ndarray:
    """Small whole numbers in place of ``c`` that keep at least the part ``keep`` of the violation."""
    target = keep * clarity(K, c, refutes)
    z = c
    for top in _LADDER:
        z = np.rint(c / np.abs(c).max() * top)
        if refutes is Property.NEGATIVE:
            z[np.argmax(np.abs(z))] -= z.sum()
        if z.any() and clarity(K, z, refutes) >= target > 0:
            common = math.gcd(*(int(v) for v in z)) if top <= 1000 else 1
            return np.asarray(z / common)
    return z if refutes is Property.NEGATIVE else c


# -- confirming ---------------------------------------------------------------------------------
def confirm(
    kernel: Kernel, points: Sequence[Any], coefficients: Sequence[float], refutes: Property
) -> Witness | None:
    """Return the witness if the recomputed form has the forbidden sign beyond doubt, else None."""
    exact = [Fraction(float(c)) for c in coefficients]
    if refutes is Property.NEGATIVE and sum(exact) != 0:
        return None
    # Number of points up to which every pair is recomputed in multiprecision.
    if kernel.is_precise and len(points) <= 64:
        return _confirm_precisely(kernel, points, coefficients, refutes)
    values = _table(kernel, points)
    if not np.isfinite(values).all():
        return None
    allowance = error_allowance(kernel, points, values)
    value = error = Fraction(0)
    for i, ci in enumerate(exact):
        checkpoint()
        for j, cj in enumerate(exact):
            value += ci * cj * Fraction(float(values[i, j]))
            error += abs(ci * cj) * Fraction(float(allowance[i, j]))
    if not (-value if refutes is Property.POSITIVE else value) > error:
        return None
    return Witness(tuple(points), tuple(map(float, exact)), float(value), refutes, 15, float(error))


def _confirm_precisely(
    kernel: Kernel, points: Sequence[Any], coefficients: Sequence[float], refutes: Property
) -> Witness | None:
    # Points may satisfy the conditions of the domain only within its tolerance.
    slack = 1e-6 if _has_tolerance(kernel.domain) else SLACK
    sign = -1 if refutes is Property.POSITIVE else 1
    first, weight = _form(kernel, points, coefficients, DIGITS)
    if not sign * first > weight * slack:
        return None
    value, weight = _form(kernel, points, coefficients, 2 * DIGITS)
    error = CERTAIN * abs(value - first)
    if not sign * value > max(weight * slack, error) or not float(value):
        return None
    c = tuple(map(float, coefficients))
    return Witness(tuple(points), c, float(value), refutes, DIGITS, float(error))


def _form(
    kernel: Kernel, points: Sequence[Any], coefficients: Sequence[float], digits: int
) -> tuple[Any, Any]:
    """``sum c_i c_j k_ij`` and ``sum |c_i c_j k_ij|``, computed with many digits."""
    m = multiprecision(digits)
    domain = kernel.domain
    converted = [domain.to_arithmetic(domain.point(x), m) for x in points]
    c = [m.real(float(v)) for v in coefficients]
    value = weight = m.real(0)
    for i, x in enumerate(converted):
        for j in range(i + 1):
            checkpoint()
            term = c[i] * c[j] * kernel._define(x, converted[j], m) * (1 if i == j else 2)
            value, weight = value + term, weight + abs(term)
    return value, weight


def confirm_values(
    points: Sequence[Any], c: np.ndarray, K: np.ndarray, allowance: float | np.ndarray, refutes: Property
) -> Witness | None:
    """The same for many points, in floats: the error of the sum itself is bounded and added."""
    size = np.abs(c)
    value = float(c @ K @ c)
    rounding = (2 * len(c) + 8) * np.finfo(np.float64).eps
    error = float(size @ (np.abs(K) * rounding + allowance) @ size)
    if refutes is Property.NEGATIVE:  # the coefficients sum to zero only up to rounding
        error += abs(float(c.sum())) * float((np.abs(K) @ size).max()) * 2
    if not (-value if refutes is Property.POSITIVE else value) > error:
        return None
    return Witness(tuple(points), tuple(map(float, c)), value, refutes, 15, error)


def confirm_asymmetry(kernel: Kernel, x: Any, y: Any) -> tuple[float, float] | None:
    """The values ``k(x, y)`` and ``k(y, x)`` if they differ beyond their own rounding, else None."""
    if not kernel.is_precise:
        there, back = kernel(x, y), kernel(y, x)
        values = np.array([[kernel(x, x), there], [back, kernel(y, y)]])
        differ = abs(there - back) > 2 * error_allowance(kernel, [x, y], values).max()
        return (there, back) if differ else None
    gaps = []
    for digits in (DIGITS, 2 * DIGITS):
        m = multiprecision(digits)
        a, b = m.real(kernel.precise(x, y, digits)), m.real(kernel.precise(y, x, digits))
        gaps.append(a - b)
        if not abs(gaps[-1]) > SLACK * (abs(a) + abs(b)):
            return None
    return (float(a), float(b)) if abs(gaps[1]) > CERTAIN * abs(gaps[1] - gaps[0]) else None


def describe(witness: Witness | None) -> str:
    """The witness in words; one on many points only by its size."""
    if witness is None or len(witness.points) <= 12:
        return str(witness)
    sign = "<" if witness.refutes is Property.POSITIVE else ">"
    return f"c'Kc = {witness.value:.6g} {sign} 0 with coefficients on {len(witness.points)} points"


# -- how wrong a float value may be -------------------------------------------------------------
def error_allowance(kernel: Kernel, points: Sequence[Any], values: np.ndarray) -> np.ndarray:
    """Allowed error of each float value ``k(x_i, x_j)``.

    64 units in the last place of the larger of the value and ``sqrt |k_ii k_jj|``, and 16 times what is seen
    of a formula that cancels: the distance of a few values from their fifty digits.  Without these, the
    distance from the definition, the noise along a short line, the common unit of values that are small
    multiples of it, and 64 units in the last place of the values of the kernels that it is composed of.
    Values that all fit single precision count as single precision.
    """
    norms = np.sqrt(np.abs(values.diagonal()))
    magnitude = np.maximum(np.abs(values), norms[:, None] * norms)
    some = np.unique(np.linspace(0, len(points) - 1, 8).astype(int))
    of_pair: Any = kernel.precise if kernel.is_precise else kernel
    pairs = [(i, j) for i in some for j in some if i <= j]
    seen: Any = max(float(abs(of_pair(points[i], points[j]) - values[i, j])) for i, j in pairs)
    if not kernel.is_precise:
        composed = _magnitudes(kernel, points)
        magnitude = magnitude if composed is None else np.maximum(magnitude, composed)
        seen = np.maximum(_noise(kernel, points), max(seen, _unit(values)))
    eps = np.finfo(np.float32 if looks_single(values) else np.float64).eps
    return np.asarray(ULPS * float(eps) * magnitude + 16 * seen)


def _magnitudes(kernel: Kernel, points: Sequence[Any]) -> np.ndarray | None:
    """Largest absolute value among the nested kernels, of a pair or its points; None if there are none."""
    largest = None
    for _, child in kernel._children:
        try:
            inner = np.abs(_table(child, points))
        except (MercerError, TypeError, ValueError):
            continue  # a kernel on other objects, behind a map
        inner = np.maximum(inner, np.maximum.outer(inner.diagonal(), inner.diagonal()))
        deeper = _magnitudes(child, points)
        inner = inner if deeper is None else np.maximum(inner, deeper)
        largest = inner if largest is None else np.maximum(largest, inner)
    return largest


def _noise(kernel: Kernel, points: Sequence[Any]) -> np.ndarray:
    """Noise in the values at numeric points, from high differences along a short line (as in ECnoise).

    Differences of order five of a smooth function vanish on that scale; what they show is the rounding of
    a formula that cancels inside.  Zero for points that are not numbers.
    """
    noise = np.zeros((len(points), len(points)))
    try:
        arrays = np.array([np.asarray(x, dtype=np.float64) for x in points])
    except (TypeError, ValueError):
        return noise
    if arrays.ndim > 2 or not np.isfinite(arrays).all():
        return noise
    scale = float(np.ptp(arrays, axis=0).max(initial=0.0)) or float(np.abs(arrays).max(initial=0.0)) or 1.0
    direction = np.random.default_rng(0).uniform(0.5, 1.5, size=arrays.shape) * scale
    for step in (2.0**-26, 2.0**-17):
        for sign in (1.0, -1.0):  # one of them may lead out of the domain
            try:
                moved = [arrays + sign * step * t * direction for t in range(7)]
                values = [_table(kernel, P.tolist() if P.ndim == 1 else list(P)) for P in moved]
            except (MercerError, TypeError, ValueError, ArithmeticError):
                continue
            fifth = np.abs(np.diff(values, n=5, axis=0)).max(axis=0) / math.sqrt(math.comb(10, 5))
            noise = np.maximum(noise, np.where(np.isfinite(fifth), fifth, 0.0))
            break
    return noise


def _unit(values: np.ndarray) -> float:
    """Largest power of two that divides all values: differences of larger numbers are small multiples of it.

    Zero if it is 2^-30 or more, as for counts and short fractions, which are exact, or if values are large
    multiples.
    """
    mantissas, exponents = np.frexp(values[values != 0])
    digits = np.ldexp(mantissas, 53).astype(np.int64)
    unit = np.ldexp((digits & -digits).astype(np.float64), exponents - 53).min(initial=1.0)
    return float(unit) if unit < 2.0**-30 and np.abs(values).max() < 2.0**20 * unit else 0.0


def _table(kernel: Kernel, points: Sequence[Any]) -> np.ndarray:
    """Values of the definition on all pairs."""
    values = np.empty((len(points), len(points)))
    for i, x in enumerate(points):
        for j, y in enumerate(points):
            checkpoint()
            values[i, j] = kernel(x, y)
    return values


def looks_single(values: np.ndarray) -> bool:
    """Whether the values were rounded to single precision (short fractions do not tell)."""
    with np.errstate(over="ignore"):
        if not (values == values.astype(np.float32)).all():
            return False
    mantissa = np.frexp(values)[0] * 2.0**12
    return bool((mantissa != np.rint(mantissa)).any())


def _has_tolerance(domain: Domain) -> bool:
    """Whether points need to satisfy the conditions of the domain only within a tolerance."""
    if isinstance(domain, Tuples):
        return any(map(_has_tolerance, domain.components))
    regions: list[Any] = [domain.region] if isinstance(domain, Vectors) else []
    while regions:
        region = regions.pop()
        if isinstance(region, Simplex):
            return True
        regions += [
            part for part in (getattr(region, "first", None), getattr(region, "second", None)) if part
        ]
    return False
