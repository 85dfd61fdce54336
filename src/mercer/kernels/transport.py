"""Distances of optimal transport between clouds: sliced Wasserstein, and the earth mover's distance."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.optimize
import scipy.sparse

from ..arithmetic import FLOAT, Arithmetic
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..domains import CloudData, Clouds, Domain, Vectors, take
from ..engine import pairwise
from ..engine.runs import checkpoint
from ..errors import InputError, MercerError, ParameterError
from ..intervals import NONNEGATIVE, ZERO, Interval
from ..kernel import Kernel
from ..parameters import parameter

__all__ = ["EarthMover", "SlicedWasserstein", "earth_mover"]


class SlicedWasserstein(Kernel):
    r"""Sliced Wasserstein distance of clouds of vectors.

    .. math:: \psi(\mu, \nu) = \frac{1}{L} \sum_{l=1}^{L} W_p^p(\theta_l^T \mu, \theta_l^T \nu), \qquad
              W_p^p = \int_0^1 |F^{-1}(u) - G^{-1}(u)|^p \, du, \quad p \in \{1, 2\}

    the mean over fixed directions :math:`\theta_l` of the transport cost between the projections, where F and
    G are their distribution functions.  On the line the one direction ``[[1.0]]`` gives the exact cost.
    Negative definite for any directions, as a sum of l1 distances (p = 1) or squared L2 distances (p = 2) of
    quantile functions: ``SlicedWasserstein(directions).schoenberg(t)`` is positive definite, and exactly so,
    for the directions are part of the kernel.  The transport cost in the plane itself is not negative
    definite: see :class:`EarthMover`.

    Block cost: O(L s) for each pair, where s is the number of different jumps of quantile functions in a tile
    of clouds: the number of points, for clouds of one size without weights.

    Parameters
    ----------
    directions : array of shape (L, d), default=[[1.0]]
        Vectors that are not zero; divided by their norms.  :meth:`random` draws them.
    power : {1, 2}, default=1
        The exponent p.

    Examples
    --------
    >>> SlicedWasserstein()([0.0, 1.0], [1.0, 4.0])  # numbers: clouds on the line
    2.0
    >>> psi = SlicedWasserstein.random(dim=2, n_directions=100, power=2, random_state=0)
    >>> print(psi.certificate.verdict, psi.schoenberg(0.5).certificate.verdict)
    NDS PSD
    """

    directions: Any = parameter(default=((1.0,),), ndim=(2,))
    power: int = parameter(default=1, integer=True, choices=(1, 2))

    @classmethod
    def random(
        cls, dim: int, n_directions: int = 50, *, power: int = 1, random_state: int | None = None
    ) -> Self:
        """The kernel of directions drawn uniformly from the sphere.

        Parameters
        ----------
        dim : int
            Dimension of the points, >= 1; on the line one direction is enough, and all there is.
        n_directions : int, default=50
            Number of directions, >= 1.  The mean over all of the sphere is approached as its inverse root.
        power : {1, 2}, default=1
        random_state : int or None
        """
        for name, value in (("dim", dim), ("n_directions", n_directions)):
            if type(value) is not int or value < 1:
                raise ParameterError(
                    f"SlicedWasserstein.random: `{name}` must be an integer >= 1. Got {value!r}."
                )
        if dim == 1:
            return cls([[1.0]], power)
        drawn = np.random.default_rng(random_state).standard_normal((n_directions, dim))
        return cls(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), power)

    def _validate(self) -> None:
        if not self.directions.size or not np.abs(self.directions).max(axis=1).all():
            raise ParameterError(
                "SlicedWasserstein: `directions` must be one or more vectors that are not zero. "
                f"Got {self.directions.tolist()!r}."
            )

    @property
    def domain(self) -> Domain:
        return Clouds(Vectors(dim=self.directions.shape[1], dense=True))

    _tile_size = 32  # quantile functions are compared on the union of all their jumps

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        costs = []
        for theta in self.directions.tolist():
            theta = [m.real(t) for t in theta]
            norm = m.sqrt(m.fsum(t * t for t in theta))
            a, b = (
                sorted(
                    (m.fsum(t * v for t, v in zip(theta, p, strict=True)) / norm, w)
                    for p, w in zip(cloud.points, cloud.weights, strict=True)
                )
                for cloud in (x, y)
            )
            costs += [abs(u - v) ** self.power * mass for u, v, mass in _coupled(a, b)]
        return m.fsum(costs) / len(self.directions)

    def _prepare(self, X: CloudData) -> CloudData:
        """Clouds of sorted projections, one column for each direction, with the masses up to each point."""
        scale = np.abs(self.directions).max(axis=1, keepdims=True)  # squares do not overflow
        unit = self.directions / scale
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        values = X.points.astype(np.float64) @ unit.T
        masses = np.empty_like(values)
        for a, b in itertools.pairwise(X.starts.tolist()):
            order = np.argsort(values[a:b], axis=0, kind="stable")
            values[a:b] = np.take_along_axis(values[a:b], order, axis=0)
            masses[a:b] = np.cumsum(X.weights[a:b][order], axis=0)
            masses[a:b] /= masses[b - 1]  # ends at 1, not at a rounded sum
        return CloudData(values, masses, X.starts)

    def _block(self, X: CloudData, Y: CloudData | None) -> np.ndarray:
        Z = X if Y is None else Y
        D = np.zeros((len(X), len(Z)))
        distances = pairwise.l1_distances if self.power == 1 else pairwise.squared_distances
        for column in range(len(self.directions) if D.size else 0):
            checkpoint()
            jumps = np.unique(np.concatenate([X.weights[:, column], Z.weights[:, column]]))
            jumps = jumps[jumps > 0]
            lengths = np.diff(jumps, prepend=0.0) ** (1.0 / self.power)
            rows = _quantiles(X, column, jumps) * lengths
            D += distances(rows, None if Y is None else _quantiles(Z, column, jumps) * lengths)
        return D / len(self.directions)

    def _diagonal(self, X: CloudData) -> np.ndarray:
        return np.zeros(len(X))

    def _certify(self) -> Certificate:
        rule, what = (
            ("l1 distance", "an l1 distance")
            if self.power == 1
            else ("squared distance", "a squared L2 distance")
        )
        d = self.directions.shape[1]
        witness = Witness.of(self, [np.zeros((1, d)), self.directions[:1]], [1.0, -1.0])
        return Certificate.nds(
            self,
            rule,
            f"a mean over fixed directions, each {what} of quantile functions of projections",
            zero_diagonal=True,
            witness=witness,
        )

    bounds = NONNEGATIVE

    diagonal_bounds = ZERO


def _coupled(a: list[Any], b: list[Any]) -> list[tuple[Any, Any, Any]]:
    """Pairs of values that the monotone coupling of two sorted clouds joins, with the mass that it moves."""
    found, i, j = [], 0, 0
    left, right = a[0][1], b[0][1]
    while True:
        mass = min(left, right)
        found.append((a[i][0], b[j][0], mass))
        left, right = left - mass, right - mass
        if left == 0:
            i += 1
            if i == len(a):
                return found
            left = a[i][1]
        if right == 0:
            j += 1
            if j == len(b):
                return found
            right = b[j][1]


def _quantiles(X: CloudData, column: int, jumps: np.ndarray) -> np.ndarray:
    """Quantile functions of prepared clouds on the intervals that end at the jumps."""
    found = np.empty((len(X), len(jumps)))
    for i, (a, b) in enumerate(itertools.pairwise(X.starts.tolist())):
        found[i] = X.points[a:b, column][np.searchsorted(X.weights[a:b, column], jumps)]
    return found


def earth_mover(p: Any, q: Any, cost: Any) -> float:
    r"""Earth mover's distance: the least cost of moving one distribution into another.

    .. math:: \min_{T \ge 0} \sum_{ij} T_{ij} c_{ij} \quad \text{subject to} \quad
              \sum_j T_{ij} = p_i, \; \sum_i T_{ij} = q_j

    Not negative definite, even for Euclidean distances in the plane as costs: see :class:`EarthMover`.  By
    the assignment problem if all masses are equal, else by linear programming.

    Parameters
    ----------
    p, q : arrays of shape (n,) and (m,)
        Finite masses >= 0 with one positive total.
    cost : array of shape (n, m)
        Finite cost of moving a unit of mass.

    Examples
    --------
    >>> earth_mover([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    1.0
    """
    p, q, C = (_numbers(v, name) for v, name in ((p, "p"), (q, "q"), (cost, "cost")))
    for name, masses in (("p", p), ("q", q)):
        if masses.ndim != 1 or not len(masses) or not (np.isfinite(masses) & (masses >= 0)).all():
            raise InputError(f"earth_mover: `{name}` must be finite masses >= 0. Got {masses!r}.")
    if C.shape != (len(p), len(q)) or not np.isfinite(C).all():
        raise InputError(
            f"earth_mover: `cost` must be finite numbers of shape {(len(p), len(q))}. Got shape {C.shape}."
        )
    if not p.sum() or not np.isclose(p.sum(), q.sum(), rtol=1e-9, atol=0):
        raise InputError(
            f"earth_mover: `p` and `q` must have one positive total mass. Got {p.sum():.6g} and "
            f"{q.sum():.6g}. Divide them by their sums."
        )
    if len(p) == len(q) and p.min() == p.max() == q.min() == q.max():
        rows, columns = scipy.optimize.linear_sum_assignment(C)
        return float(p[0] * C[rows, columns].sum())
    n, k = C.shape
    leaving = scipy.sparse.kron(scipy.sparse.eye_array(n), np.ones((1, k)))
    arriving = scipy.sparse.kron(np.ones((1, n)), scipy.sparse.eye_array(k))
    found = scipy.optimize.linprog(
        C.ravel(),
        A_eq=scipy.sparse.vstack([leaving, arriving], format="csr")[:-1],  # the last one follows
        b_eq=np.concatenate([p, q * (p.sum() / q.sum())])[:-1],
        method="highs",
    )
    if found.status != 0:
        raise InputError(f"earth_mover: the linear program was not solved: {found.message}")
    return float(found.fun)


def _shortest_paths(p: list[Any], q: list[Any], C: list[list[Any]], m: Arithmetic) -> Any:
    """Least cost of moving masses of one total, with many digits, by successive shortest paths.

    Nodes are the rows 0..n-1 and the columns n..n+k-1.  A column leads back to the rows that it receives
    mass from.  Masses and gains below rounding do not count.
    """
    n, k = len(p), len(q)
    T = [[m.real(0)] * k for _ in p]
    mass, gain = 1000 * m.eps, 1000 * m.eps * max(abs(c) for row in C for c in row)
    while any(left > mass for left in p):
        length = [m.real(0) if left > mass else math.inf for left in p] + [math.inf] * k
        before = [-1] * (n + k)
        changed = True
        while changed:  # Bellman and Ford
            changed = False
            for i, j in itertools.product(range(n), range(k)):
                if length[i] + C[i][j] < length[n + j] - gain:
                    length[n + j], before[n + j], changed = length[i] + C[i][j], i, True
                if T[i][j] > mass and length[n + j] - C[i][j] < length[i] - gain:
                    length[i], before[i], changed = length[n + j] - C[i][j], n + j, True
        node = n + min((j for j in range(k) if q[j] > mass), key=lambda j: length[n + j])
        path = [node]
        while before[path[-1]] >= 0:
            path.append(before[path[-1]])
        back = [T[i][j - n] for j, i in itertools.pairwise(reversed(path)) if j >= n]
        moved = min([p[path[-1]], q[node - n], *back])
        for b, a in itertools.pairwise(path):
            if a < n:
                T[a][b - n] += moved
            else:
                T[b][a - n] -= moved
        p[path[-1]] -= moved
        q[node - n] -= moved
    return m.fsum(t * c for row, costs in zip(T, C, strict=True) for t, c in zip(row, costs, strict=True))


def _numbers(value: Any, name: str) -> np.ndarray:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"earth_mover: `{name}` must be numbers. Got {value!r}.") from error


#: The four sides and the two diagonals of a square, as pairs of corners.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
_SIDES = [_CORNERS[[0, 1]], _CORNERS[[1, 2]], _CORNERS[[2, 3]], _CORNERS[[3, 0]]]
_DIAGONALS = [_CORNERS[[0, 2]], _CORNERS[[1, 3]]]


class EarthMover(Kernel):
    r"""Earth mover's distance of clouds: the least cost of moving one into the other.

    .. math:: \psi(\mu, \nu) = \min_{T \ge 0} \sum_{ij} T_{ij} \, c(x_i, y_j) \quad \text{with marginals }
              w \text{ and } w'

    for a symmetric cost c of moving a unit of mass from one point to another.  With the Euclidean distance
    it is the Wasserstein distance :math:`W_1`.  **Not negative definite** in the plane: the four sides and
    the two diagonals of a square, as pairs of corners, refute it, so that ``exp(-t psi)`` is not positive
    definite for all t.  :class:`SlicedWasserstein` is the relative that is; on the line they agree.

    Block cost: a linear program for each pair, or an assignment problem for clouds of one size without
    weights.

    Parameters
    ----------
    ground : Kernel
        The cost of moving a unit of mass, >= 0, such as ``PowerDistance(1.0)``, or a function of your own by
        :func:`mercer.kernel`.

    Examples
    --------
    >>> from mercer.kernels import PowerDistance
    >>> psi = EarthMover(PowerDistance(1.0))
    >>> psi([[0.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]])
    1.0
    >>> print(psi.certificate.negative.label, psi.schoenberg(0.1).certificate.verdict)
    not NDS UNKNOWN
    """

    ground: Kernel

    @property
    def domain(self) -> Domain:
        return Clouds(self.ground.domain)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        C = [[self.ground._define(p, q, m) for q in y.points] for p in x.points]
        if m is FLOAT:
            return earth_mover(x.weights, y.weights, C)
        return _shortest_paths(list(x.weights), list(y.weights), C, m)

    def _prepare(self, X: CloudData) -> CloudData:
        return CloudData(self.ground._prepare(X.points), X.weights, X.starts)

    def _block(self, X: CloudData, Y: CloudData | None) -> np.ndarray:
        Z = X if Y is None else Y
        D = np.empty((len(X), len(Z)))
        right = list(Z)
        for i, x in enumerate(X):
            for j, y in enumerate(right[: i + 1] if Y is None else right):
                checkpoint()
                D[i, j] = earth_mover(x.weights, y.weights, self.ground._block(x.points, y.points))
        if Y is None:
            upper = np.triu_indices(len(X), 1)
            D[upper] = D.T[upper]
        return D

    def _diagonal(self, X: CloudData) -> np.ndarray:
        return np.array([self._block(take(X, slice(i, i + 1)), None)[0, 0] for i in range(len(X))])

    def _resolve(self, X: CloudData, weight: np.ndarray | None) -> Self:
        if weight is not None:
            weight = np.repeat(weight, X.lengths) * X.weights
        return self.replace(ground=self.ground._resolve(X.points, weight))

    def _certify(self) -> Certificate:
        known = Certificate.unknown(self, "no rule applies to this cost")
        vectors = isinstance(self.ground.domain, Vectors) and self.ground.domain.dim in (None, 2)
        if not (vectors and self.ground.is_resolved):
            return known
        try:
            against = Witness.of(self, [*_SIDES, *_DIAGONALS], [1, 1, 1, 1, -2, -2], Property.NEGATIVE)
        except MercerError:  # costs that overflow, or a domain without the square
            return known
        if against.value <= against.error:
            return known
        negative = Claim(
            Property.NEGATIVE,
            Status.REFUTED,
            repr(self),
            "sides and diagonals of a square",
            "coefficients 1 and -2 give c'Kc > 0",
            witness=against,
        )
        positive = Witness.of(self, [_CORNERS[:1], _CORNERS[1:2]], [1.0, -1.0])
        if positive.value >= -positive.error:
            return replace(known, negative=negative)
        return Certificate.refuted(
            self, "two points", "c = (1, -1) gives c'Kc < 0", witness=positive, negative=negative
        )

    @property
    def bounds(self) -> Interval:
        return NONNEGATIVE if self.ground.bounds.is_nonnegative else Interval()
