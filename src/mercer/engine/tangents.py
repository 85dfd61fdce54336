"""Distances between tangent planes of images, on the native core."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mercer import _native
from mercer.engine.pairwise import dot, squared_distances
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads

__all__ = ["Planes", "one_sided", "planes", "two_sided"]

Array: TypeAlias = npt.NDArray[np.float64]


class Planes(NamedTuple):
    """Images with orthonormal tangents.

    Attributes
    ----------
    rows : array of shape (n, p + 1, d)
        The image, then its tangents; zeros where there are fewer than p.
    own : array of shape (n, p)
        Inner products of the tangents with their image.
    """

    rows: Array
    own: Array


def planes(images: Array, tangents: Array) -> Planes:
    """Images of shape (n, d) with tangents of shape (n, p, d), made orthonormal; dependent ones are zero.

    Vectors are taken by their distance from those taken before, in units of their length; what is nearer than
    1e-6 counts as dependent.
    """
    vectors = np.array(tangents, dtype=np.float64, order="C")
    _native.orthonormalise(vectors, num_threads(), checkpoint)
    return Planes(
        np.concatenate([images[:, None, :], vectors], axis=1), np.einsum("npd,nd->np", vectors, images)
    )


def one_sided(X: Planes, Y: Planes) -> Array:
    """Squared distances of the images in Y from the planes at the images in X."""
    n, p = X.own.shape
    D = squared_distances(X.rows[:, 0], Y.rows[:, 0])
    across = dot(X.rows[:, 1:].reshape(n * p, X.rows.shape[2]), Y.rows[:, 0]).reshape(n, p, len(Y.rows))
    across -= X.own[:, :, None]
    D -= np.einsum("npm,npm->nm", across, across)
    return np.maximum(D, 0.0)


def two_sided(X: Planes, Y: Planes) -> Array:
    """Squared distances of the planes at the images in X from those at the images in Y."""
    D = squared_distances(X.rows[:, 0], Y.rows[:, 0])
    pixels = X.rows.shape[2]
    products = dot(X.rows.reshape(-1, pixels), Y.rows.reshape(-1, pixels))
    _native.plane_distances(X.rows, X.own, Y.rows, Y.own, products, D, num_threads(), checkpoint)
    return D
