"""Tangent distance: how far images are apart that may still be moved a little."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...arithmetic import Arithmetic
from ...certificate import Certificate, Claim, Property, Status, Witness
from ...domains import Data, Domain, Images, Vectors
from ...engine import tangents as engine
from ...engine import tiles
from ...errors import ParameterError
from ...images.transformations import NAMES, checked_shape, tangent_vectors
from ...intervals import NONNEGATIVE, ZERO
from ...kernel import Kernel, Prepared
from ...parameters import parameter

__all__ = ["TangentDistance", "tangent_distances"]

#: Images on either side of a tile of one-sided distances, whose products take a few MiB then.
ONE_SIDED_TILE_SIZE = 256

#: The smallest image with central differences in its inside.
LEAST = 3


class TangentDistance(Kernel):
    r"""Squared tangent distance of grey images of one size.

    .. math:: k(x, y) = \min_{a, b} \|x + T_x a - y - T_y b\|^2

    The columns of :math:`T_x` are tangents: derivatives of x under small shifts, axis and diagonal
    deformations, scaling, rotation and a change of thickness.  The distance of the two planes that they span
    hardly changes when an image is moved a little.  Tangents that are zero, or nearer to the span of the
    others than 1e-6 of their length, are left out: a constant image has none.  With ``sides=1`` the value is
    the mean of the two one-sided distances,

    .. math:: k(x, y) = \tfrac12 \min_a \|x + T_x a - y\|^2 + \tfrac12 \min_b \|x - y - T_y b\|^2 ,

    each of which is not symmetric; :func:`tangent_distances` has the one from x to y.

    It is **not negative definite**: images that differ by a tangent have the distance 0 and different
    distances from a third.  By Schoenberg's theorem and since :math:`k(sx, sy) = s^2 k(x, y)`, the kernel
    ``TangentDistance(...).schoenberg(t)``, that is :math:`\exp(-t\,k)`, is positive definite for no t > 0.
    Machines repair its Gram matrix (``indefinite="clip"``, ``"flip"`` or ``"shift"``) or refuse it.
    :class:`Jittered` with :class:`TransformedCopies` is the positive definite way to the same end.  Without
    tangents, or with ``"brightness"`` alone, k is a squared distance of vectors and negative definite.

    Block cost: products of (p + 1) vectors per image, O(n m p^2 d) by BLAS, and O(p^3) per pair for d pixels
    and p tangents; one-sided O(n m p d).

    Parameters
    ----------
    shape : pair of int, optional
        Height and width, each >= 3.  Then points are rows of height * width real numbers, the rows of an
        image one after the other.  By default points are images, see :class:`~mercer.domains.Images`.
    sides : {1, 2}, default=2
    tangents : sequence of str
        Among ``"shift_x"``, ``"shift_y"``, ``"axis"``, ``"diagonal"``, ``"scale"``, ``"rotation"``,
        ``"thickness"`` and ``"brightness"``, which adds a constant; by default all but the last.
    smoothing : float, default=0.9
        Standard deviation in pixels of the Gaussian that an image is smoothed with for its derivatives, >= 0
        and at most 100.  The images that are compared are not smoothed.

    Notes
    -----
    The distance was introduced by Simard, LeCun, Denker and Victorri (1998); exponentials of it as kernels
    by Haasdonk and Keysers (2002).

    Examples
    --------
    >>> v, u = np.mgrid[:9, :9]
    >>> blot, shifted = (np.exp(-((u - s) ** 2) / 4 - (v - 4) ** 2 / 8) for s in (4.0, 4.5))
    >>> k = TangentDistance()
    >>> bool(k(blot, shifted) < 0.05 * ((blot - shifted) ** 2).sum())
    True
    >>> print(k.certificate.negative.label)
    not NDS
    """

    _always_double: ClassVar[bool] = True

    shape: tuple[int, int] | None = None
    sides: int = parameter(default=2, low=1, high=2, integer=True, kw_only=True)
    tangents: Sequence[str] = dataclasses.field(default=NAMES[:-1], kw_only=True)
    smoothing: float = parameter(default=0.9, low=0.0, high=100.0, kw_only=True)

    def _validate(self) -> None:
        if self.shape is not None:
            object.__setattr__(self, "shape", checked_shape(self.shape, "TangentDistance", LEAST))
        names = self.tangents
        if not isinstance(names, tuple) or not set(names) <= set(NAMES) or len(set(names)) < len(names):
            raise ParameterError(
                f"TangentDistance: `tangents` must be different names among {', '.join(map(repr, NAMES))}. "
                f"Got {names!r}."
            )

    @property
    def domain(self) -> Domain:
        if self.shape is None:
            return Images(channels=1, least=LEAST, equal=True)
        return Vectors(dim=self.shape[0] * self.shape[1], dense=True)

    # -- the definition -----------------------------------------------------------------------
    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        a, b = (self._numbers(z, m) for z in (x, y))
        rest = (a - b).ravel()
        if not rest.any():
            return m.real(0)
        A, B = (self._tangents(z[None])[0] for z in (a, b))
        if self.sides == 1:
            return (_outside(rest, _extended([], A, m)) + _outside(rest, _extended([], B, m))) / 2
        return _outside(rest, _extended(_extended([], A, m), _extended([], B, m), m))

    def _numbers(self, x: Any, m: Arithmetic) -> np.ndarray:
        """One image in an arithmetic: an array of floats, or of objects."""
        flat = [m.real(v) for v in np.asarray(x, dtype=object).ravel()]
        return np.array(flat).reshape(np.shape(x) if self.shape is None else self.shape)

    def _tangents(self, images: np.ndarray) -> np.ndarray:
        """Tangents of shape (n, p, d)."""
        found = tangent_vectors(images, self.tangents, self.smoothing)
        return found.reshape(*found.shape[:2], math.prod(images.shape[1:]))

    # -- many points --------------------------------------------------------------------------
    def _prepare(self, X: Data) -> Prepared:
        n = len(X)
        size = self.shape or (X[0].shape if n else (LEAST, LEAST))
        images = np.asarray(X, dtype=np.float64).reshape(n, *size)
        rows, own = engine.planes(images.reshape(n, math.prod(size)), self._tangents(images))
        return Prepared((), (rows, own))

    def _block(self, X: Prepared, Y: Prepared | None) -> np.ndarray:
        a, b = _planes(X), _planes(X if Y is None else Y)
        if self.sides == 2:
            return engine.two_sided(a, b)
        D = engine.one_sided(a, b)
        return np.asarray((D + (D if Y is None else engine.one_sided(b, a)).T) / 2)

    def _diagonal(self, X: Prepared) -> np.ndarray:
        return np.zeros(len(X))

    @property
    def _tile_size(self) -> int:
        return tiles.PAIRWISE_TILE_SIZE if self.sides == 2 else ONE_SIDED_TILE_SIZE

    # -- definiteness -------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        moving = [name for name in self.tangents if name != "brightness"]
        level, x, *moved = self._pictures(moving)
        pair = self._witness([x, level], [1.0, -1.0], Property.POSITIVE)
        if not moving:
            reason = "|x - y|^2 without the part along constant images" if self.tangents else "|x - y|^2"
            return Certificate.nds(
                self,
                "squared distance",
                reason,
                separating=not self.tangents,
                zero_diagonal=True,
                witness=pair,
            )
        if self.sides == 1:
            reason = "an image between two others, along a tangent, is too near to both"
            witness = self._witness([x, *moved], [-2.0, 1.0, 1.0], Property.NEGATIVE)
        else:
            reason = "two images at distance zero have different distances from a third"
            near, far = sorted((x, moved[0]), key=lambda z: self(z, level))
            # With D = 0 between the first two, c'Dc = 2 e ((1 - e) far - near): greatest at this e.
            e = 0.5 - 0.5 * self(near, level) / self(far, level)
            witness = self._witness([near, far, level], [1.0, e - 1.0, -e], Property.NEGATIVE)
        negative = None
        if witness.value > witness.error:
            negative = Claim(
                Property.NEGATIVE, Status.REFUTED, repr(self), "along a tangent", reason, witness=witness
            )
        reason = "k(x, x) = 0 but k(x, y) != 0, so k(x, y)^2 <= k(x, x) k(y, y) fails"
        return Certificate.refuted(self, "Cauchy-Schwarz", reason, witness=pair, negative=negative)

    def _witness(self, points: list[np.ndarray], coefficients: list[float], refutes: Property) -> Witness:
        """A witness in floats with a bound on its error: fifty digits take seconds for a digit of USPS."""
        c = np.outer(coefficients, coefficients)
        D = np.array([[self(x, y) for y in points] for x in points])
        far = np.array([[((x - y) ** 2).sum() for y in points] for x in points])
        # Bound on the error of a value in floats, in units of |x - y|^2: rounding errors of 1e-14, for a
        # thousand pixels, may grow by one over the smallest sine.
        error = float(1e-8 * (np.abs(c) * far).sum())
        return Witness(tuple(points), tuple(coefficients), float((c * D).sum()), refutes, 15, error)

    def _pictures(self, moving: list[str]) -> list[np.ndarray]:
        """A constant image, one with a small pattern, and this moved along a tangent, forth and back."""
        # A pattern without symmetries, for witnesses; in units of its largest value.
        pattern = (
            np.array([[1.0, 3.0, 0.0, 2.0], [2.0, 5.0, 4.0, 0.0], [0.0, 4.0, 6.0, 1.0], [1.0, 0.0, 2.0, 3.0]])
            / 6
        )
        h, w = self.shape or pattern.shape
        rows, columns = min(h, pattern.shape[0]), min(w, pattern.shape[1])
        x = np.full((h, w), 0.5)
        top, left = (h - rows) // 2, (w - columns) // 2
        x[top : top + rows, left : left + columns] += 0.1 * pattern[:rows, :columns]
        images = [np.full((h, w), 0.5), x]
        if moving:
            tangent = tangent_vectors(x[None], moving[:1], self.smoothing)[0, 0]
            step = 0.2 * tangent / np.abs(tangent).max()
            images += [x + step, x - step]
        return [image if self.shape is None else image.ravel() for image in images]

    def _homogeneity(self) -> float | None:
        return 2.0

    bounds = NONNEGATIVE

    diagonal_bounds = ZERO


def tangent_distances(
    X: Any,
    Y: Any = None,
    *,
    sides: int = 1,
    shape: tuple[int, int] | None = None,
    tangents: Sequence[str] = NAMES[:-1],
    smoothing: float = 0.9,
) -> np.ndarray:
    r"""Squared tangent distances of all pairs of images, as for nearest neighbours.

    .. math:: D_{ij} = \min_a \|x_i + T_{x_i} a - y_j\|^2

    With ``sides=1`` only the images in X are moved: the matrix is not symmetric, even if Y is X.  In a
    comparison of new images with known ones, X are the new ones.  With ``sides=2`` both are moved, and the
    values are those of :class:`TangentDistance`, whose parameters the others are.

    Examples
    --------
    >>> v, u = np.mgrid[:9, :9]
    >>> blots = [np.exp(-((u - s) ** 2) / 4 - (v - 4) ** 2 / 8) for s in (4.0, 4.5, 5.0)]
    >>> tangent_distances(blots).round(2)
    array([[0.  , 0.04, 0.21],
           [0.04, 0.  , 0.04],
           [0.21, 0.04, 0.  ]])
    """
    k = TangentDistance(shape, sides=sides, tangents=tuple(tangents), smoothing=smoothing)
    A, B = k._prepare_pair(X, Y)
    if sides == 2:
        return k._tiles(A, B, progress=True)
    B = A if B is None else B

    def tile(rows: slice, columns: slice) -> np.ndarray:
        return engine.one_sided(_planes(A.take(rows)), _planes(B.take(columns)))

    return tiles.run(tile, len(A), len(B), tile_size=ONE_SIDED_TILE_SIZE, progress=True)


def _planes(X: Prepared) -> engine.Planes:
    return engine.Planes(*X.arrays)


def _extended(basis: list[np.ndarray], vectors: Any, m: Arithmetic) -> list[np.ndarray]:
    """An orthonormal basis of a space and of vectors, always the farthest next, in units of its length."""
    basis = list(basis)
    lengths = [(v * v).sum() for v in vectors]
    rests = [(_rest(v, basis), s) for v, s in zip(vectors, lengths, strict=True) if s > 0]
    while rests:
        shares = [(v * v).sum() / length for v, length in rests]
        best = max(range(len(shares)), key=shares.__getitem__)
        # As in the native core, a vector of this squared sine of the angle to a plane counts as lying in it.
        if shares[best] <= 1e-12:
            break
        v = _rest(rests.pop(best)[0], basis)
        unit = v / m.sqrt((v * v).sum())
        basis.append(unit)
        rests = [(_rest(r, [unit]), length) for r, length in rests]
    return basis


def _rest(v: np.ndarray, basis: list[np.ndarray]) -> np.ndarray:
    for q in basis:
        v = v - (q * v).sum() * q
    return v


def _outside(v: np.ndarray, basis: list[np.ndarray]) -> Any:
    """Squared distance of a vector from a space."""
    rest = _rest(v, basis)
    return (rest * rest).sum()
