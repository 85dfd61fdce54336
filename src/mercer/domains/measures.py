"""Measures as points: subsets of a finite universe, and Gaussian measures."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic import Arithmetic
from ..errors import InputError
from .base import ArithmeticVector, Data, Domain
from .clouds import Cloud, Clouds
from .sets import Sets
from .vectors import Vectors, _as_float, check_finite

__all__ = ["GaussianData", "Gaussians", "Subsets"]


@dataclass(frozen=True)
class Subsets(Sets):
    """Subsets of a finite universe of hashables.

    Parameters
    ----------
    universe : frozenset
        The elements that a set may have; any other is an error.
    """

    universe: frozenset[Hashable] = frozenset()

    def validate(self, X: Any, name: str = "X") -> list[frozenset[Hashable]]:
        sets = super().validate(X, name)
        for i, x in enumerate(sets):
            self._inside(x, f"{name}[{i}]")
        return sets

    def point(self, x: Any, name: str = "x") -> frozenset[Hashable]:
        return self._inside(super().point(x, name), name)

    def pair(self, x: Any, y: Any) -> tuple[frozenset[Hashable], frozenset[Hashable]]:
        return self.point(x, "x"), self.point(y, "y")

    def _inside(self, x: frozenset[Hashable], name: str) -> frozenset[Hashable]:
        for element in x:
            if element not in self.universe:
                raise InputError(f"{name} must be a subset of the universe. Got the element {element!r}.")
        return x

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        elements = sorted(self.universe, key=repr)
        return [frozenset(e for e in elements if rng.random() < 0.5) for _ in range(n)]

    def _meet(self, other: Domain) -> Domain | None:
        if isinstance(other, Subsets):
            return Subsets(self.universe & other.universe)
        return self if isinstance(other, Sets) else None

    def __str__(self) -> str:
        return f"subsets of a universe of {len(self.universe)} elements"


@dataclass(frozen=True, eq=False)
class GaussianData:
    """Validated Gaussian measures: ``means`` of shape (n, d), ``covariances`` of shape (n, d, d)."""

    means: np.ndarray
    covariances: np.ndarray

    def __len__(self) -> int:
        return len(self.means)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return iter(zip(self.means, self.covariances, strict=True))

    def take(self, index: slice | np.ndarray) -> GaussianData:
        """Select points."""
        return GaussianData(self.means[index], self.covariances[index])


@dataclass(frozen=True)
class Gaussians(Domain):
    """Pairs ``(mean, covariance)`` with a positive definite covariance.

    On the line a pair of numbers ``(mean, variance)`` will do.  A :class:`Cloud` of vectors stands for its
    mean and covariance (with weights, not divided by n - 1), a :class:`mercer.models.Normal` for its
    parameters.  Covariances have to be symmetric up to
    rounding (their two halves are averaged) and nonsingular: for a sample covariance of few points add a
    multiple of the identity first.

    Parameters
    ----------
    dim : int or None
        Required dimension; ``None`` accepts any.
    """

    dim: int | None = None

    def validate(self, X: Any, name: str = "X") -> GaussianData:
        if isinstance(X, GaussianData):
            return X
        if isinstance(X, str | bytes) or not isinstance(X, Iterable):
            raise InputError(
                f"{name} must be a sequence of pairs (mean, covariance). Got {type(X).__name__}."
            )
        points = [self._point(x, f"{name}[{i}]") for i, x in enumerate(X)]
        if not points:
            d = self.dim or 1
            return GaussianData(np.empty((0, d)), np.empty((0, d, d)))
        d = len(points[0][0])
        for i, (mean, _) in enumerate(points):
            if len(mean) != d:
                raise InputError(
                    f"{name} must hold measures of one dimension. "
                    f"Got {d} in {name}[0] and {len(mean)} in {name}[{i}]."
                )
        return GaussianData(np.array([p[0] for p in points]), np.array([p[1] for p in points]))

    def _point(self, x: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(x, Cloud):
            x = _moments(x, name)
        elif hasattr(x, "covariance"):  # a model
            x = (x.mean, x.covariance)
        no_pair = isinstance(x, str | bytes | set | frozenset | dict) or hasattr(x, "columns")
        if no_pair or not hasattr(x, "__len__") or len(x) != 2:
            raise InputError(f"{name} must be a pair (mean, covariance). Got {x!r}.")
        mean = np.atleast_1d(_as_float(x[0], f"{name}[0]").astype(np.float64))
        covariance = np.atleast_2d(_as_float(x[1], f"{name}[1]").astype(np.float64))
        d = len(mean)
        if mean.ndim != 1 or d == 0 or covariance.shape != (d, d):
            raise InputError(
                f"{name} must be a mean of shape (d,) and a covariance of shape (d, d). "
                f"Got shapes {np.shape(x[0])} and {np.shape(x[1])}."
            )
        if self.dim is not None and d != self.dim:
            raise InputError(f"{name} must be a measure on R^{self.dim}. Got dimension {d}.")
        check_finite(mean[None, :], f"{name}[0]")
        check_finite(covariance, f"{name}[1]")
        gap = np.abs(covariance - covariance.T).max()
        if gap > 1e-8 * np.abs(covariance).max():
            raise InputError(f"{name}[1] must be a symmetric covariance. Got an asymmetry of {gap:.6g}.")
        covariance = (covariance + covariance.T) / 2
        try:
            np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError as error:
            least = float(np.linalg.eigvalsh(covariance)[0])
            raise InputError(
                f"{name}[1] must be a positive definite covariance. Got least eigenvalue {least:.6g}. "
                "Add a small multiple of the identity."
            ) from error
        return mean, covariance

    def match(self, X: Data, Y: Data | None) -> None:
        if Y is not None and len(X) and len(Y) and X.means.shape[1] != Y.means.shape[1]:
            raise InputError(
                f"X and Y must be measures of one dimension. Got {X.means.shape[1]} and {Y.means.shape[1]}."
            )

    def to_arithmetic(
        self, x: Any, numbers: Arithmetic
    ) -> tuple[ArithmeticVector, tuple[ArithmeticVector, ...]]:
        mean, covariance = x
        rows = tuple(ArithmeticVector(map(numbers.real, row)) for row in covariance.tolist())
        return ArithmeticVector(map(numbers.real, mean.tolist())), rows

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        d = self.dim if self.dim is not None else int(rng.integers(1, 4))
        factors = rng.standard_normal((n, d, d))
        covariances = factors @ factors.transpose(0, 2, 1) + 0.05 * np.eye(d)
        return list(zip(3 * rng.standard_normal((n, d)), covariances, strict=True))

    def _meet(self, other: Domain) -> Domain | None:
        if not isinstance(other, Gaussians):
            return None
        dims = {d for d in (self.dim, other.dim) if d is not None}
        return None if len(dims) > 1 else Gaussians(dims.pop() if dims else None)

    def __str__(self) -> str:
        return f"Gaussian measures{'' if self.dim is None else f' on R^{self.dim}'}"


def _moments(cloud: Cloud, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of a cloud of vectors."""
    data = Clouds(Vectors(dense=True)).validate([cloud], name)
    mean = data.weights @ data.points
    centred = data.points - mean
    covariance = (centred * data.weights[:, None]).T @ centred
    spectrum = np.linalg.eigvalsh(covariance)
    if spectrum[0] <= data.points.size * np.finfo(np.float64).eps * spectrum[-1]:
        raise InputError(
            f"{name} must have a nonsingular covariance. Got {len(cloud)} point(s) that do not span "
            f"R^{len(mean)} about their mean. CloudVariance(Linear(), eta) takes any clouds."
        )
    return mean, covariance
