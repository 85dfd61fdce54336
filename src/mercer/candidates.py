"""From a suspicious set of points to a confirmed, short witness.

A candidate knows where its points come from: :class:`Sampled` points may still be moved and rounded,
:class:`Given` ones are the user's and are only selected.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from .certificate import Property, Witness
from .domains import Data, Similarities, items, take
from .errors import InputError, ParameterError
from .gram.witnesses import (
    ULPS,
    clarity,
    confirm,
    confirm_asymmetry,
    confirm_values,
    looks_single,
    short_coefficients,
    worst_direction,
)
from .kernel import Kernel

__all__ = ["Asymmetry", "Given", "Sampled"]

_COUNTS = (*range(1, 13), 16, 24, 32, 48, 64, 128, 256)

#: A pair of points, and the two values ``k(x, y)`` and ``k(y, x)``.
Asymmetry: TypeAlias = tuple[tuple[Any, Any], tuple[float, float]]


class Sampled:
    """Points drawn from the domain: they may still be changed to make the witness short."""

    def __init__(self, k: Kernel, points: Any) -> None:
        self.k, self.points = k, points

    def _of(self, points: Any) -> np.ndarray | None:
        try:
            with np.errstate(all="ignore"):
                K = np.asarray(self.k.block(points), dtype=np.float64)
        except (InputError, ParameterError, ArithmeticError):
            return None
        return K if np.isfinite(K).all() else None

    def asymmetric(self, i: int, j: int) -> Asymmetry | None:
        pair = _plain(self.points[i]), _plain(self.points[j])
        values = confirm_asymmetry(self.k, *pair)
        return None if values is None else (pair, values)

    def witness(self, K: np.ndarray, c: np.ndarray, tested: Property) -> Witness | None:
        """A confirmed witness, as short as it can be made, else as it was found."""
        full = self._confirmed(self.points, K, c, tested)
        index = _fewest(K, c, tested)
        points = (
            self.points[index] if isinstance(self.points, np.ndarray) else [self.points[i] for i in index]
        )
        points = self._rounded(points, tested)
        part = self._of(points)
        if part is None:
            return full
        return self._confirmed(points, part, worst_direction(part, tested)[1], tested) or full

    def _confirmed(self, points: Any, K: np.ndarray, c: np.ndarray, tested: Property) -> Witness | None:
        c = short_coefficients(K, c, tested)
        used = np.flatnonzero(c)
        return confirm(self.k, [_plain(points[i]) for i in used], c[used].tolist(), tested)

    def _rounded(self, points: Any, tested: Property) -> Any:
        """Vectors in few dimensions, near the origin and with few digits, while they still refute."""
        K = self._of(points)
        if not isinstance(points, np.ndarray) or K is None:
            return points
        goal = 0.3 * clarity(K, worst_direction(K, tested)[1], tested)
        open_dim = getattr(self.k.domain, "dim", 0) is None
        for column in reversed(range(points.shape[1])) if open_dim else ():
            rest = np.delete(points, column, axis=1)
            K = self._of(rest) if rest.shape[1] else None
            if K is not None and clarity(K, worst_direction(K, tested)[1], tested) >= goal:
                points = rest
        for start in (points - points[0], points):
            magnitude = int(np.floor(np.log10(np.abs(start).max() or 1.0)))
            for digits in range(6):
                candidate = np.round(start, digits - magnitude) + 0.0
                K = self._of(candidate)
                if K is not None and clarity(K, worst_direction(K, tested)[1], tested) >= goal:
                    return candidate
        return points


class Given:
    """Points of a sample: a witness consists of some of them."""

    def __init__(self, k: Kernel, data: Data, index: np.ndarray) -> None:
        self.k, self.data, self.index = k, data, index

    def _point(self, i: int) -> Any:
        if isinstance(self.k.domain, Similarities):
            return int(self.index[i])
        return _plain(items(take(self.data, self.index[i : i + 1]))[0])

    def asymmetric(self, i: int, j: int) -> Asymmetry | None:
        if isinstance(self.k.domain, Similarities):
            return None  # its own validation has accepted the matrix
        pair = self._point(i), self._point(j)
        values = confirm_asymmetry(self.k, *pair)
        return None if values is None else (pair, values)

    def witness(self, K: np.ndarray, c: np.ndarray, tested: Property) -> Witness | None:
        index = _fewest(K, c, tested)
        part = K[np.ix_(index, index)]
        c = short_coefficients(part, worst_direction(part, tested)[1], tested)
        used = np.flatnonzero(c)
        points = [self._point(index[i]) for i in used]
        if isinstance(self.k.domain, Similarities):
            part, c = part[np.ix_(used, used)], c[used]
            eps = float(np.finfo(np.float32 if looks_single(part) else np.float64).eps)
            return confirm_values(points, c, part, ULPS * eps * float(np.abs(part).max()), tested)
        return confirm(self.k, points, c[used].tolist(), tested)


def _fewest(K: np.ndarray, c: np.ndarray, tested: Property) -> np.ndarray:
    """Positions of as few points as keep a fifth of the violation, dropping those that matter least."""
    # A violation of this size, as ``clarity`` measures it, is clear enough to prefer fewer points.
    goal = min(0.2 * clarity(K, c, tested), 1e-3)
    index = np.argsort(-np.abs(c) * np.sqrt(np.abs(K.diagonal()) + 1e-300), kind="stable")
    least = 1 if tested is Property.POSITIVE else 2
    for count in (n for n in _COUNTS if least <= n < len(index)):  # the heaviest few may do
        if _clear(K, index[:count], tested) >= goal:
            index = index[:count]
            break
    dropped = True
    while dropped and least < len(index) <= 64:
        dropped = False
        for i in reversed(range(len(index))):
            rest = np.delete(index, i)
            if _clear(K, rest, tested) >= goal:
                index, dropped = rest, True
                break
    return np.sort(index)


def _clear(K: np.ndarray, index: np.ndarray, tested: Property) -> float:
    part = K[np.ix_(index, index)]
    return clarity(part, worst_direction(part, tested)[1], tested)


def _plain(point: Any) -> Any:
    """A vector of one entry as a number, for witnesses that read well."""
    if isinstance(point, np.ndarray) and point.shape == (1,):
        return float(point[0])
    return point
