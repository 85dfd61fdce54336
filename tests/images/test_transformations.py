"""Tangents against transformed images, and copies against their description."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage

from mercer.errors import InputError, ParameterError
from mercer.images import TransformedCopies, tangent_vectors
from mercer.images.transformations import NAMES
from mercer.kernels import Gaussian, Jittered

V, U = np.mgrid[0:40, 0:40] - 19.5
#: A smooth image that vanishes at its border, without symmetries.
SMOOTH = np.exp(-((U - 1.5) ** 2) / 36 - (V + 0.8) ** 2 / 54 - U * V / 90)
RATE = 0.02


def moved(matrix: np.ndarray, shift: tuple[float, float] = (0.0, 0.0)) -> np.ndarray:
    """The image whose points (v, u), from the centre, have moved to ``matrix (v, u) + shift``."""
    back = np.linalg.inv(matrix)
    offset = np.full(2, 19.5) - back @ (np.full(2, 19.5) + shift)
    return scipy.ndimage.affine_transform(SMOOTH, back, offset=offset, order=5, mode="nearest")


MOVED = {
    "shift_x": moved(np.eye(2), (0.0, RATE)),
    "shift_y": moved(np.eye(2), (RATE, 0.0)),
    "axis": moved(np.diag([1 - RATE, 1 + RATE])),
    "diagonal": moved(np.array([[1, RATE], [RATE, 1]])),
    "scale": moved(np.eye(2) * (1 + RATE)),
    "rotation": scipy.ndimage.rotate(SMOOTH, np.rad2deg(RATE), reshape=False, order=5, mode="nearest"),
}


@pytest.mark.parametrize("name", MOVED)
def test_tangents_are_derivatives_of_moved_images(name: str) -> None:
    tangent = tangent_vectors(SMOOTH[None], [name], 0.0)[0, 0]
    difference = (MOVED[name] - SMOOTH) / RATE
    assert np.linalg.norm(tangent - difference) < 0.06 * np.linalg.norm(difference)


def test_smoothing_is_that_of_scipy() -> None:
    image = np.random.default_rng(0).random((9, 7))
    smooth = scipy.ndimage.gaussian_filter(image, 1.3, mode="nearest", truncate=4.0)
    dx, dy = (
        scipy.ndimage.correlate1d(smooth, [-0.5, 0.0, 0.5], axis=axis, mode="nearest")[1:-1, 1:-1]
        for axis in (1, 0)
    )
    found = tangent_vectors(image[None], ["shift_x", "shift_y", "thickness", "brightness"], 1.3)[0]
    inside = found[:, 1:-1, 1:-1]
    np.testing.assert_allclose(inside[0], -dx, atol=5e-4)  # SciPy rounds the reach of the Gaussian
    np.testing.assert_allclose(inside[1], -dy, atol=5e-4)
    np.testing.assert_allclose(inside[2], dx**2 + dy**2, atol=5e-4)
    assert (inside[3] == 1).all()


def test_no_derivative_along_an_axis_without_change() -> None:
    rows = np.repeat(np.random.default_rng(0).random((6, 1)), 5, axis=1)
    tangents = tangent_vectors(rows[None], NAMES, 0.9)[0]
    assert not tangents[0].any()
    assert tangents[1].any()
    assert not tangent_vectors(np.full((1, 4, 4), 0.3), NAMES[:-1], 0.9).any()


def test_copies() -> None:
    image = np.random.default_rng(0).random((6, 5))
    copies = TransformedCopies(shifts=1, angles=[90.0, -10.0], factors=[1.1])(image)
    assert len(copies) == 12
    assert (copies[0] == image).all()
    down = [c for c in copies[1:9] if (c[1:] == image[:-1]).all()]
    assert len(down) == 1
    assert (down[0][0] == image[0]).all()
    square = image[:5]
    turned = TransformedCopies(shifts=0, angles=[90.0])(square)[1]
    np.testing.assert_allclose(turned, np.rot90(square), atol=1e-12)
    larger = TransformedCopies(shifts=0, factors=[2.0])(np.eye(5))[1]
    np.testing.assert_allclose(larger[2], [0.0, 0.5, 1.0, 0.5, 0.0], atol=1e-12)


def test_jittered_copies_are_certified_and_nearly_invariant() -> None:
    k = Jittered(Gaussian(2.0), TransformedCopies((8, 8), shifts=1)).normalized()
    image = np.zeros((8, 8))
    image[2:6, 3] = 1.0
    shifted = np.roll(image, 1, axis=1)
    assert k.certificate.is_psd
    assert k(image.ravel(), shifted.ravel()) > Gaussian(2.0)(image.ravel(), shifted.ravel()) + 0.3
    assert eval(repr(k.base.deform)) == k.base.deform


def test_errors_name_the_argument() -> None:
    with pytest.raises(ParameterError, match="`shifts` must be an integer >= 0 and <= 16"):
        TransformedCopies(shifts=1.5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`factors` must be finite numbers > 0"):
        TransformedCopies(factors=(0.0,))
    with pytest.raises(ParameterError, match="`angles` must be finite numbers"):
        TransformedCopies(angles="x")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="`shape` must be a height and a width"):
        TransformedCopies(shape=(3,))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="rows of 3 x 4 pixels"):
        TransformedCopies((3, 4))(np.zeros(11))
    with pytest.raises(InputError, match="State `shape` for flat rows"):
        TransformedCopies()(np.zeros(9))
