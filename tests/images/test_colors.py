"""Colour spaces against scikit-image."""

import numpy as np
import pytest
from skimage import color

from mercer.errors import ParameterError
from mercer.images import grey, to_space
from mercer.images.colors import LAB_HIGH, LAB_LOW

LEVELS = np.linspace(0, 1, 12)
CUBE = np.stack(np.meshgrid(LEVELS, LEVELS, LEVELS), axis=-1).reshape(12, -1, 3)


def test_spaces_are_those_of_scikit_image() -> None:
    np.testing.assert_array_equal(to_space(CUBE, "rgb"), CUBE)
    np.testing.assert_allclose(to_space(CUBE, "hsv"), color.rgb2hsv(CUBE), rtol=0, atol=1e-14)
    lab = to_space(CUBE, "lab") * (LAB_HIGH - LAB_LOW) + LAB_LOW
    np.testing.assert_allclose(lab, color.rgb2lab(CUBE), rtol=0, atol=1e-12)
    np.testing.assert_allclose(grey(CUBE), color.rgb2gray(CUBE), rtol=0, atol=1e-15)


@pytest.mark.parametrize("space", ["rgb", "hsv", "lab"])
def test_coordinates_fill_the_unit_interval(space: str) -> None:
    coordinates = to_space(CUBE, space)
    assert coordinates.min() >= 0
    assert coordinates.max() <= 1 + 1e-12
    assert (np.ptp(coordinates, axis=(0, 1)) > 0.9).all()


def test_grey_images_are_colours() -> None:
    level = np.array([[0.0, 0.25, 1.0]])
    np.testing.assert_array_equal(grey(level), level)
    np.testing.assert_array_equal(to_space(level, "hsv")[0, :, 2], level[0])


def test_unknown_spaces() -> None:
    with pytest.raises(
        ParameterError, match=r"to_space: `space` must be one of 'rgb', 'hsv', 'lab'. Got 'x'"
    ):
        to_space(CUBE, "x")
