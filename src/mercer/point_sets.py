"""Sets of points to try a kernel on: where functions that are not positive definite give themselves away.

Equally spaced points on a line see the spectrum of a shift-invariant function, tight clusters its
derivatives, lattices and corners the behaviour at special points, scattered points the rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from .domains import Domain, Region, Simplex, Vectors
from .errors import DomainError, InputError

__all__ = ["inside", "moved", "point_sets"]

_DIMS = (1, 1, 2, 1, 3, 2, 1, 5)


def point_sets(domain: Domain, rng: np.random.Generator, max_points: int) -> Iterator[Any]:
    """Endless sets of points of a domain, of many sizes: small ones first, then a mixture.

    Vectors come as arrays of shape (m, d), other objects as lists.
    """
    if isinstance(domain, Vectors):
        makers = (_grid, _scattered, _lattice, _grid, _cluster, _scattered, _symmetric)
        dims = itertools.cycle(_DIMS)
        while True:
            for size, make in itertools.product(_sizes(max_points), makers):
                own, dim = domain.dim, next(dims)
                if own is None and isinstance(domain.region, Simplex):
                    dim += 2
                P = make(domain.region, size, dim if own is None else own, rng)
                kept = inside(domain.region, P)
                if len(kept):
                    yield kept
    while True:
        for size in _sizes(max_points):
            points = list(domain.sample(size, rng))
            if not points:
                raise DomainError(
                    f"{domain} cannot be sampled: pass the points to search among, as in refute(k, X=points)"
                )
            yield points


def _sizes(max_points: int) -> Iterator[int]:
    yield from (s for s in (2, 3, 4, 6, 3, 8, 5, 12, 4, 20, max_points) if s <= max_points)


def inside(region: Region, P: np.ndarray) -> np.ndarray:
    """The rows of ``P`` that lie in the region."""
    try:
        region.check(P, "X")
    except InputError:
        return np.array([row for row in P if _accepts(region, row)]).reshape(-1, P.shape[1])
    return P


def _accepts(region: Region, row: np.ndarray) -> bool:
    try:
        region.check(row[None, :], "x")
    except InputError:
        return False
    return True


# -- makers: (region, size, dim, rng) -> array, some rows of which may lie outside --------------
def _scattered(region: Region, size: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    if isinstance(region, Simplex):  # corners first, then histograms with small entries among others
        return np.vstack([np.eye(dim), rng.dirichlet(np.full(dim, 0.5), size=size)])[:size]
    return np.asarray(region.sample(size, dim, rng), dtype=np.float64)


def _grid(region: Region, size: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Equally spaced points on a line; on the simplex, on the segment between two of its points."""
    if isinstance(region, Simplex):
        ends = rng.permutation(_scattered(region, dim + 3, dim, rng))[:2]
        t = np.linspace(0.0, 1.0, size)[:, None]
        return np.asarray((1 - t) * ends[0] + t * ends[1])
    direction = rng.standard_normal(dim)
    if rng.random() < 0.5:
        direction = np.abs(direction)
    direction /= np.linalg.norm(direction) or 1.0
    step = 10.0 ** rng.uniform(-1.5, 0.7)
    start = np.zeros(dim) if rng.random() < 0.5 else _scattered(region, 1, dim, rng)[0]
    return np.asarray(start + step * np.arange(size)[:, None] * direction)


def _cluster(region: Region, size: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Points close to one another."""
    centre = _scattered(region, 1, dim, rng)[0]
    spread = 10.0 ** rng.uniform(-2.5, -0.3) * max(1.0, float(np.abs(centre).max(initial=0.0)))
    P = centre + spread * rng.standard_normal((size, len(centre)))
    if isinstance(region, Simplex):
        P = np.abs(P)
        P /= P.sum(axis=1, keepdims=True)
    return np.asarray(P)


def _lattice(region: Region, size: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """Points with small whole coordinates (on the simplex: small fractions), distinct."""
    if isinstance(region, Simplex):
        counts = rng.integers(0, 3, size=(size, dim))
        counts[counts.sum(axis=1) == 0] = 1
        P = counts / counts.sum(axis=1, keepdims=True)
    else:
        unit = (1.0, 0.5, 0.1, 2.0)[int(rng.integers(4))]
        P = unit * rng.integers(0, 4, size=(size, dim)).astype(np.float64)
        if rng.random() < 0.5:
            P -= unit * 2
    return np.unique(P, axis=0)


def _symmetric(region: Region, size: int, dim: int, rng: np.random.Generator) -> np.ndarray:
    """The origin, the axes in both directions, and pairs of opposite points."""
    if isinstance(region, Simplex):
        return _scattered(region, size, dim, rng)
    scale = 10.0 ** rng.uniform(-1, 1)
    axes = scale * np.eye(dim)
    P = np.vstack([np.zeros((1, dim)), axes, -axes, axes.sum(axis=0, keepdims=True)])
    return P[: max(size, 3)]


# -- local moves --------------------------------------------------------------------------------
def moved(region: Region, P: np.ndarray, step: float, rng: np.random.Generator) -> np.ndarray:
    """A random change of a set of vectors: one point, all points, or the scale of the set."""
    size = float(np.abs(P - P.mean(axis=0)).max(initial=0.0)) or float(np.abs(P).max(initial=0.0)) or 1.0
    kind = rng.random()
    Q = P.copy()
    if kind < 0.45:
        Q[rng.integers(len(P))] += step * size * rng.standard_normal(P.shape[1])
    elif kind < 0.75:
        Q += step * size * rng.standard_normal(P.shape)
    elif kind < 0.9:
        origin = P[rng.integers(len(P))] if rng.random() < 0.5 else 0.0
        Q = origin + (P - origin) * np.exp(step * rng.standard_normal())
    else:
        i, j = rng.integers(len(P), size=2)
        Q[i] = P[j] + step * (P[i] - P[j])
    if isinstance(region, Simplex):
        Q = np.abs(Q)
        Q /= Q.sum(axis=1, keepdims=True)
    return Q
