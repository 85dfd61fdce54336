"""Clouds: finite collections of points of any kind, with weights if they have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse

from ..arithmetic import Arithmetic
from ..digests import digest
from ..errors import InputError
from .base import ArithmeticCloud, ArithmeticVector, Data, Domain, items, size, starts_of, take
from .numeric import check_numbers
from .vectors import Vectors

__all__ = ["Cloud", "CloudData", "Clouds"]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points with weights: the measure that has mass ``weights[i]`` at ``points[i]``.

    Parameters
    ----------
    points : sequence of points
        For vectors an array of shape (n, d).
    weights : array of shape (n,), optional
        Finite, >= 0 and not all zero; a domain divides them by their sum.  Equal weights by default.

    Examples
    --------
    >>> from mercer.domains import Cloud
    >>> from mercer.kernels import Linear, MeanMap
    >>> MeanMap(Linear())(Cloud([[0.0], [4.0]], [3, 1]), [[1.0]])  # the mean is 1
    1.0
    """

    points: Any
    weights: Any = None

    def __len__(self) -> int:
        return size(self.points)


@dataclass(frozen=True, eq=False)
class CloudData:
    """Clouds one after the other.

    Attributes
    ----------
    points : Data
        Points of all clouds, validated; cloud i has those from ``starts[i]`` to ``starts[i + 1]``.
    weights : float64 array
        Weights of the points; those of a cloud sum to one.
    starts : int64 array of shape (n + 1,)
    """

    points: Data
    weights: np.ndarray
    starts: np.ndarray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[Cloud]:
        for i in range(len(self)):
            own = slice(int(self.starts[i]), int(self.starts[i + 1]))
            yield Cloud(take(self.points, own), self.weights[own])

    @property
    def lengths(self) -> np.ndarray:
        """Number of points of each cloud."""
        return np.diff(self.starts)

    def take(self, index: slice | np.ndarray) -> CloudData:
        """Select clouds."""
        chosen = np.arange(len(self))[index]
        own = [np.arange(self.starts[i], self.starts[i + 1]) for i in chosen.tolist()]
        positions = np.concatenate([np.empty(0, dtype=np.int64), *own])
        return CloudData(
            take(self.points, positions), self.weights[positions], starts_of(self.lengths[chosen])
        )


@dataclass(frozen=True)
class Clouds(Domain):
    """Clouds of points of a domain, of any sizes: sequences of points, or each a :class:`Cloud` with weights.

    A cloud has at least one point.  Clouds of vectors are arrays of shape (n, d); numbers will do on the
    line.  Weights are divided by their sum, so that every cloud is a probability measure.  Where weights or
    the order of points make no difference to the measure, they make none to a kernel.

    Parameters
    ----------
    members : Domain
        What the points are.
    """

    members: Domain

    def validate(self, X: Any, name: str = "X") -> CloudData:
        if isinstance(X, CloudData):
            return X
        if isinstance(X, str | bytes | dict | Cloud) or not isinstance(X, Iterable):
            raise InputError(
                f"{name} must be a sequence of clouds, each a sequence of points. Got {type(X).__name__}."
            )
        line = isinstance(self.members, Vectors) and self.members.dim == 1
        if isinstance(X, np.ndarray) and X.dtype != object and X.ndim < (2 if line else 3):
            raise InputError(
                f"{name} must be a list of clouds, or an array of shape (n, points, d). Got shape {X.shape}. "
                f"For a single cloud pass a list of one: [{name}]; for rows of numbers, {name}[:, :, None]."
            )
        clouds = [x if isinstance(x, Cloud) else Cloud(x) for x in X]
        parts = [self._points(x, f"{name}[{i}]") for i, x in enumerate(clouds)]
        weights = [
            _weights(x.weights, size(p), f"{name}[{i}]")
            for i, (x, p) in enumerate(zip(clouds, parts, strict=True))
        ]
        starts = starts_of(np.array([len(w) for w in weights], dtype=np.int64))
        return CloudData(self._joined(parts, name), np.concatenate([np.empty(0), *weights]), starts)

    def _points(self, cloud: Cloud, name: str) -> Data:
        points = cloud.points
        if isinstance(self.members, Vectors):
            if isinstance(points, list | tuple):
                are_numbers = len(points) > 0 and all(isinstance(p, Real) for p in points)
            else:
                are_numbers = getattr(points, "ndim", None) == 1
            points = np.reshape(points, (-1, 1)) if are_numbers else points  # on the line
        found = self.members.validate(points, name)
        if size(found) == 0:
            raise InputError(f"{name} must have at least one point. Got an empty cloud.")
        return found

    def _joined(self, parts: list[Data], name: str) -> Data:
        if not parts:
            return self.members.validate([], name)
        if not isinstance(self.members, Vectors):
            return self.members.validate([p for part in parts for p in items(part)], name)
        for i, part in enumerate(parts):
            if part.shape[1] != parts[0].shape[1]:
                raise InputError(
                    f"{name} must have clouds of one dimension. "
                    f"Got {parts[0].shape[1]} in {name}[0] and {part.shape[1]} in {name}[{i}]."
                )
        sparse = any(map(scipy.sparse.issparse, parts))
        return scipy.sparse.vstack(parts, format="csr") if sparse else np.concatenate(parts)

    def match(self, X: Data, Y: Data | None) -> None:
        if Y is not None:
            self.members.match(X.points, Y.points)

    def to_arithmetic(self, x: Any, numbers: Arithmetic) -> ArithmeticCloud:
        points = tuple(self.members.to_arithmetic(p, numbers) for p in items(x.points))
        weights = [numbers.real(w) for w in x.weights.tolist()]
        total = numbers.fsum(weights)  # in floats they add up to one except for rounding
        return ArithmeticCloud(points, ArithmeticVector(w / total for w in weights), x)

    def _digests(self, X: Data) -> list[str]:
        names = self.members._digests(X.points)
        own = [slice(a, b) for a, b in pairwise(X.starts.tolist())]
        return [digest((tuple(names[s]), X.weights[s])) for s in own]

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        """Clouds of one to five points with equal weights."""
        sizes = rng.integers(1, 6, size=n)
        points = self.members.sample(int(sizes.sum()), rng)
        ends = np.cumsum(sizes).tolist()
        return [points[end - k : end] for k, end in zip(sizes.tolist(), ends, strict=True)]

    def _meet(self, other: Domain) -> Domain | None:
        if not isinstance(other, Clouds):
            return None
        both = self.members._meet(other.members) or other.members._meet(self.members)
        return None if both is None else Clouds(both)

    def __str__(self) -> str:
        return f"clouds of {self.members}"


def _weights(weights: Any, n: int, name: str) -> np.ndarray:
    """Weights that sum to one."""
    if weights is None:
        return np.full(n, 1.0 / n)
    check_numbers(weights, f"{name}.weights", dense=True)
    try:
        w = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        w = np.empty(0)
    if w.shape != (n,):
        raise InputError(f"{name}.weights must be {n} numbers, one for each point. Got shape {w.shape}.")
    if not (np.isfinite(w).all() and (w >= 0).all()):
        wrong = int(np.flatnonzero(~(np.isfinite(w) & (w >= 0)))[0])
        raise InputError(f"{name}.weights must be finite and >= 0. Got {w[wrong]:g} at position {wrong}.")
    if w.max() == 0:
        raise InputError(f"{name}.weights must not all be zero: they are divided by their sum.")
    w /= w.max()  # sums of large weights do not overflow
    return np.asarray(w / w.sum())
