"""Probability vectors as points of a sphere: the geodesic distance of the Fisher metric and its relatives.

The map ``x -> sqrt(x)`` puts the probability simplex of ``d`` categories onto the part of the unit sphere in
R^d with nonnegative coordinates, where the distance of two points is their angle.  Rows that sum to one
within 1e-6 are accepted and divided by their sum first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from ..algebra.simple import SimpleKernel
from ..arithmetic import ARRAYS, Arithmetic
from ..certificate import Certificate, Claim, Property, Status, Witness
from ..domains import Data, Domain, Simplex, Vectors, size
from ..engine import pairwise
from ..engine.program import Builder, Value
from ..errors import ParameterError
from ..intervals import ZERO, Interval
from ..kernel import Gradient
from ..parameters import parameter

__all__ = ["Geodesic", "InformationDiffusion", "SquaredGeodesic"]

TOLD_APART = "rows are told apart after division by their sums"
RIGHT_ANGLE = math.pi / 2 * (1 + 1e-15)  # an outer bound


class Spherical(SimpleKernel):
    """Functions of the squared chord between the directions of ``sqrt(x)`` and ``sqrt(y)``."""

    _overflow: ClassVar[str | None] = None

    @property
    def domain(self) -> Domain:
        return Vectors(region=Simplex())

    @staticmethod
    def _angle(chord: Any, m: Arithmetic) -> Any:
        """``arccos(sum sqrt(x_i y_i))``, from the squared chord so that small angles keep their digits."""
        return 2 * m.asin(m.sqrt(chord) / 2)

    def _pair(self, x: Any, y: Any, m: Arithmetic) -> tuple[Any]:
        p, q = m.sqrt(m.fsum(x)), m.sqrt(m.fsum(y))
        return (m.fsum((m.sqrt(a) / p - m.sqrt(b) / q) ** 2 for a, b in zip(x, y, strict=True)),)

    def _pairs(self, X: Data, Y: Data | None) -> tuple[np.ndarray]:
        return (pairwise.squared_distances(X, Y),)

    def _steps(self, b: Builder, X: Data, Y: Data | None) -> tuple[Value]:
        return (b.squared_distances(X, Y),)

    def _prepare(self, X: Data) -> Data:
        """Square roots, of unit length."""
        sums = np.asarray(X.sum(axis=1)).ravel()
        if scipy.sparse.issparse(X):
            roots = np.sqrt(X)
            roots.data /= np.repeat(np.sqrt(sums), np.diff(X.indptr))
            return roots
        return np.sqrt(X) / np.sqrt(sums)[:, None]

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.zeros(size(X), dtype=X.dtype)

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {}

    diagonal_bounds = ZERO


class Geodesic(Spherical):
    r"""Geodesic distance of probability vectors.

    .. math:: \psi(x, y) = \arccos \sum_i \sqrt{x_i y_i}

    Negative definite on the simplex of any number of categories: a random hyperplane through the origin
    separates two points of the sphere with probability :math:`\psi/\pi`, so that :math:`\psi` is a squared
    distance of indicator functions.  ``Geodesic().schoenberg(1 / t)`` is the kernel :math:`e^{-\psi/t}`.
    Block cost: O(n m d).

    Notes
    -----
    A survey prints :math:`\arccos \sqrt{x \cdot y}`; the sum of the square roots is right.

    Examples
    --------
    >>> round(Geodesic()([1.0, 0.0], [0.5, 0.5]), 12)  # pi / 4
    0.785398163397
    """

    def formula(self, chord: Any, m: Arithmetic) -> Any:
        return self._angle(chord, m)

    def _certify(self) -> Certificate:
        return Certificate.nds(
            self,
            "random hyperplanes",
            "the angle is pi times the probability that a random hyperplane separates the points",
            separating=True,
            conditions=[TOLD_APART],
            zero_diagonal=True,
            witness=Witness.of(self, _corners(2), [1.0, -1.0]),
        )

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, RIGHT_ANGLE)


class _Curved(Spherical):
    """Functions of the squared angle, right on an arc and wrong on a sphere; they declare ``categories``."""

    @property
    def _size(self) -> int | None:
        categories: int | None = getattr(self, "categories", None)
        return categories

    def _validate(self) -> None:
        d: Any = self._size
        most = 1000  # of points whose number of categories is given; witnesses have as many entries
        if d is not None and (isinstance(d, bool) or not isinstance(d, int) or not 2 <= d <= most):
            raise ParameterError(
                f"{type(self).__name__}: `categories` must be None or an integer from 2 to "
                f"{most:,}. Got {d!r}."
            )

    @property
    def domain(self) -> Domain:
        return Vectors(dim=self._size, region=Simplex())

    def _embed(self, points: Sequence[Sequence[float]]) -> list[np.ndarray]:
        """Put points of three categories into the simplex of this kernel."""
        d = self._size or 3
        return [np.array([*p, *[0.0] * (d - 3)]) for p in points]


class SquaredGeodesic(_Curved):
    r"""Squared geodesic distance of probability vectors.

    .. math:: \psi(x, y) = \arccos^2 \sum_i \sqrt{x_i y_i}

    Negative definite for two categories, where the quarter circle is isometric to an interval.  **Not**
    negative definite for three or more: the sphere is curved.  Block cost: O(n m d).

    Parameters
    ----------
    categories : int or None, default=None
        Number of categories, from 2 to 1000; ``None`` accepts any number.

    Examples
    --------
    >>> print(SquaredGeodesic(categories=2).certificate.verdict, SquaredGeodesic().certificate.verdict)
    NDS REFUTED
    """

    categories: int | None = None

    def formula(self, chord: Any, m: Arithmetic) -> Any:
        return self._angle(chord, m) ** 2

    def _certify(self) -> Certificate:
        d = self.categories
        flat = Certificate.nds(
            self,
            "isometry with an interval",
            "two categories make a quarter circle: |s - t|^2 of the arc lengths",
            separating=True,
            conditions=[TOLD_APART],
            zero_diagonal=True,
            witness=Witness.of(self, _corners(d or 2), [1.0, -1.0]),
        )
        if d == 2:
            return flat
        points, coefficients = ERRATUM
        negative = Claim(
            Property.NEGATIVE,
            Status.REFUTED,
            repr(self),
            "curvature",
            "a sphere with its geodesic distance embeds isometrically in no Hilbert space, not even locally",
            witness=Witness.of(self, self._embed(points), coefficients, Property.NEGATIVE),
        )
        return Certificate(flat.positive, negative)

    @property
    def bounds(self) -> Interval:
        return Interval(0.0, RIGHT_ANGLE**2)


class InformationDiffusion(_Curved):
    r"""Gaussian of the geodesic distance of probability vectors.

    .. math:: k(x, y) = \exp\left(-\frac{1}{t} \arccos^2 \sum_i \sqrt{x_i y_i}\right)

    Strictly positive definite for two categories, where the quarter circle is isometric to an interval.
    For three or more it is **not** positive definite, whatever :math:`t > 0`: were it so on a patch of the
    sphere, its analytic feature map could be continued over the whole sphere (which is simply connected), and
    :math:`e^{-\theta^2/t}` would have to be periodic along a great circle.  The negative eigenvalue falls off
    like :math:`e^{-c/t}`: about :math:`-10^{-3}` for t = 20, below :math:`10^{-17}` for t = 1.  A witness is
    given for :math:`t \ge 2`; below, it takes too many points (91 for t = 1).  The positive definite kernel
    to use instead is ``Geodesic().schoenberg(1 / t)``.  Block cost: O(n m d).

    Parameters
    ----------
    t : float, default=1.0
        Diffusion time, > 0.
    categories : int or None, default=None
        Number of categories, from 2 to 1000; ``None`` accepts any number.

    Notes
    -----
    A survey states that it is positive definite on the simplex of any dimension; that is wrong.

    Examples
    --------
    >>> InformationDiffusion(20.0).certificate.witness.value < 0
    True
    >>> print(InformationDiffusion(20.0, categories=2).certificate.verdict)
    STRICT
    """

    t: float = parameter(default=1.0, low=0.0, open_low=True, scale="log")
    categories: int | None = None

    def formula(self, chord: Any, m: Arithmetic) -> Any:
        return m.exp(-(self._angle(chord, m) ** 2) / m.real(self.t))

    def _diagonal(self, X: Data) -> np.ndarray:
        return np.ones(size(X), dtype=X.dtype)

    def _gradient(self, X: Data, Y: Data | None) -> tuple[np.ndarray, Gradient]:
        [chords] = self._pairs(X, Y)
        K = self._evaluate(chords)
        return K, {"t": K * self._angle(chords, ARRAYS) ** 2 / self.t}

    def _diagonal_gradient(self, X: Data) -> tuple[np.ndarray, Gradient]:
        return self._diagonal(X), {"t": np.zeros(size(X))}

    def _certify(self) -> Certificate:
        if self.categories == 2:
            return Certificate.psd(
                self,
                "pull-back of a Gaussian",
                "two categories make a quarter circle: a Gaussian of arc lengths, which tell points apart",
                strict=True,
                conditions=[TOLD_APART],
            )
        return Certificate.refuted(
            self,
            "analytic continuation",
            "a feature map on a patch of the sphere would extend to all of it, but exp(-theta^2/t) is not "
            "periodic along a great circle",
            witness=self._witness(),
        )

    def _witness(self) -> Witness | None:
        """Points and coefficients for t >= 2: the smaller of two grids that has a negative eigenvalue."""
        if self.t >= 16.0:
            points, coefficients = ERRATUM
            return Witness.of(self, self._embed(points), coefficients)
        for least, resolution in ((3.2, 4), (2.0, 6)):
            if self.t >= least:
                grid = self._embed(_grid(resolution))
                vector = np.linalg.eigh(self.block(np.array(grid)))[1][:, 0]
                return Witness.of(self, grid, vector.tolist())
        return None

    bounds = Interval(0.0, 1.0)

    diagonal_bounds = Interval(1.0, 1.0)


#: Four points of three categories on which the squared angle is not negative definite.
ERRATUM = (
    [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.5, 0.5)],
    [-1.0, 4.0, 4.0, -7.0],
)


def _corners(d: int) -> list[np.ndarray]:
    return list(np.eye(2, d))


def _grid(resolution: int) -> list[list[float]]:
    """Points of the simplex of three categories whose square roots are spread evenly over the sphere."""
    points = []
    for i in range(resolution + 1):
        for j in range(resolution + 1 - i):
            squares = np.sin(np.pi / 2 * np.array([i, j, resolution - i - j]) / resolution) ** 2
            points.append((squares / squares.sum()).tolist())
    return points
