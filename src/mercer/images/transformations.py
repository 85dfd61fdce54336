"""What small transformations do to an image: tangents, and transformed copies."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError

__all__ = ["NAMES", "TransformedCopies", "tangent_vectors"]

#: The transformations that have tangents.
NAMES = ("shift_x", "shift_y", "axis", "diagonal", "scale", "rotation", "thickness", "brightness")


def tangent_vectors(images: np.ndarray, names: Sequence[str], smoothing: float) -> np.ndarray:
    r"""Derivatives of images by the parameter of each transformation, at the identity.

    A point (u, v), counted from the centre, v downwards, moves with the velocity f(u, v), and with it the
    image: its derivative is :math:`-f \cdot \nabla x`.

    ============  ================  =====================================================
    name          f(u, v)           at rate 1
    ============  ================  =====================================================
    shift_x       (1, 0)            one pixel to the right
    shift_y       (0, 1)            one pixel down
    axis          (u, -v)           wider and lower: axis deformation
    diagonal      (v, u)            longer along one diagonal: diagonal deformation
    scale         (u, v)            larger
    rotation      (v, -u)           counterclockwise, in radians
    thickness     none              :math:`+|\nabla x|^2`: bright strokes grow at their edges
    brightness    none              :math:`+1`
    ============  ================  =====================================================

    The gradient is that of the image convolved with a Gaussian, by central differences; beyond its border an
    image goes on with the values at the border.  An image that is constant along an axis has the derivative 0
    along it exactly.

    Parameters
    ----------
    images : array of shape (n, h, w)
        Floats, or objects of any arithmetic.
    names : sequence of str
    smoothing : float
        Standard deviation of the Gaussian, in pixels.

    Returns
    -------
    array of shape (n, len(names), h, w)
    """
    n, h, w = images.shape
    # To smooth the derivative instead of the image is the same, for beyond the border it is zero.
    along = images @ _differences(w).T
    down = _differences(h) @ images
    dx = _smoother(h, smoothing, True) @ along @ _smoother(w, smoothing, False).T
    dy = _smoother(h, smoothing, False) @ down @ _smoother(w, smoothing, True).T
    u, v = np.arange(w) - (w - 1) / 2, (np.arange(h) - (h - 1) / 2)[:, None]
    fields = {
        "shift_x": (1.0, 0.0),
        "shift_y": (0.0, 1.0),
        "axis": (u, -v),
        "diagonal": (v, u),
        "scale": (u, v),
        "rotation": (v, -u),
    }
    found = np.empty((n, len(names), h, w), dtype=images.dtype)
    for k, name in enumerate(names):
        if name in fields:
            found[:, k] = -(fields[name][0] * dx + fields[name][1] * dy)
        else:
            found[:, k] = dx * dx + dy * dy if name == "thickness" else 1.0
    return found


@lru_cache(maxsize=16)
def _differences(n: int) -> np.ndarray:
    """Matrix of central differences; the border is repeated."""
    D = np.zeros((n, n))
    i = np.arange(n)
    D[i, np.minimum(i + 1, n - 1)] += 0.5
    D[i, np.maximum(i - 1, 0)] -= 0.5
    return D


@lru_cache(maxsize=16)
def _smoother(n: int, width: float, repeat: bool) -> np.ndarray:
    """Matrix of the convolution with a Gaussian; beyond the border are its values or zeros."""
    # Beyond four standard deviations lies 1e-4 of the mass.  Widths up to 0.02 leave no weight in floats at a
    # distance of one pixel: exp(-1250) is zero.
    reach = int(np.ceil(4.0 * width)) if width > 0.02 else 0
    offsets = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (offsets / width) ** 2) if reach else np.ones(1)
    weights /= weights.sum()
    S = np.zeros((n, n))
    for offset, weight in zip(offsets, weights, strict=True):
        i = np.arange(n)
        j = i + offset
        inside = np.ones(n, dtype=bool) if repeat else (j >= 0) & (j < n)
        np.add.at(S, (i[inside], np.clip(j, 0, n - 1)[inside]), weight)
    return S


@dataclasses.dataclass(frozen=True)
class TransformedCopies:
    r"""An image and shifted, rotated and scaled copies of it: the ``deform`` of :class:`Jittered`.

    Called with an image, it returns the list of its copies: the image itself, then one for each shift other
    than (0, 0), then one for each angle and for each factor.  The kernel that sums over all copies of two
    images is positive definite, and nearly invariant under what the copies show.

    Parameters
    ----------
    shape : pair of int, optional
        Height and width, where images come as flat rows; the copies are flat then, too.
    shifts : int, default=1
        Copies are shifted by up to this many pixels in both directions, the diagonal ones included:
        ``(2 shifts + 1)^2`` of them.
    angles : sequence of float, default=()
        Rotations about the centre in degrees, counterclockwise.
    factors : sequence of float, default=()
        Enlargements about the centre, > 0.

    Notes
    -----
    Rotated and enlarged copies are interpolated linearly.  Beyond its border an image goes on with the
    values at the border.

    Examples
    --------
    >>> copies = TransformedCopies(shifts=1)(np.eye(3))
    >>> len(copies), copies[0].tolist() == np.eye(3).tolist()
    (9, True)
    """

    shape: tuple[int, int] | None = None
    shifts: int = 1
    angles: tuple[float, ...] = ()
    factors: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.shape is not None:
            object.__setattr__(self, "shape", checked_shape(self.shape, "TransformedCopies", 1))
        if type(self.shifts) is not int or not 0 <= self.shifts <= 16:
            raise ParameterError(
                f"TransformedCopies: `shifts` must be an integer >= 0 and <= 16. Got {self.shifts!r}."
            )
        for name, low in (("angles", -np.inf), ("factors", 0.0)):
            given = getattr(self, name)
            try:
                values = tuple(float(v) for v in given)
            except (TypeError, ValueError):
                values = (np.nan,)
            if not all(low < v < np.inf for v in values):
                what = "finite numbers" if name == "angles" else "finite numbers > 0"
                raise ParameterError(f"TransformedCopies: `{name}` must be {what}. Got {given!r}.")
            object.__setattr__(self, name, values)

    def __call__(self, image: Any) -> list[np.ndarray]:
        """The image and its copies."""
        image = np.asarray(image, dtype=np.float64)
        plane = image
        if self.shape is not None:
            if image.shape != (self.shape[0] * self.shape[1],):
                raise InputError(
                    f"TransformedCopies: images must be rows of {self.shape[0]} x {self.shape[1]} pixels. "
                    f"Got shape {image.shape}."
                )
            plane = image.reshape(self.shape)
        if plane.ndim != 2:
            raise InputError(
                f"TransformedCopies: an image must have the shape (height, width). Got {plane.shape}. State "
                "`shape` for flat rows."
            )
        h, w = plane.shape
        r, v, u = self.shifts, np.arange(h)[:, None], np.arange(w)
        copies = [plane]
        for down in range(-r, r + 1):
            for along in range(-r, r + 1):
                if down or along:
                    copies.append(plane[np.clip(v - down, 0, h - 1), np.clip(u - along, 0, w - 1)])
        turns = [(np.deg2rad(a), 1.0) for a in self.angles] + [(0.0, f) for f in self.factors]
        copies += [_turned(plane, angle, factor) for angle, factor in turns]
        return [copy.reshape(image.shape) for copy in copies]


def _turned(image: np.ndarray, angle: float, factor: float) -> np.ndarray:
    """The image rotated counterclockwise and enlarged, about its centre."""
    from scipy.ndimage import affine_transform

    centre = (np.array(image.shape) - 1) / 2
    # Where a pixel (v, u) comes from.
    back = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) / factor
    return np.asarray(affine_transform(image, back, offset=centre - back @ centre, order=1, mode="nearest"))


def checked_shape(shape: Any, owner: str, least: int) -> tuple[int, int]:
    """A pair of a height and a width, each at least ``least``."""
    good = isinstance(shape, tuple | list) and len(shape) == 2
    if not good or not all(isinstance(s, int | np.integer) and s >= least for s in shape):
        raise ParameterError(
            f"{owner}: `shape` must be a height and a width, integers >= {least}, or None. Got {shape!r}."
        )
    return int(shape[0]), int(shape[1])
