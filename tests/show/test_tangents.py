"""The picture of tangents."""

from __future__ import annotations

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.images import tangent_vectors
from mercer.show import tangents


def test_the_picture_has_the_tangents_and_the_moved_images() -> None:
    pytest.importorskip("matplotlib")
    image = np.zeros((8, 8))
    image[2:6, 3] = 1.0
    axes = tangents(image, ["rotation", "thickness"], step=0.25)
    assert axes.shape == (3, 3)
    assert [ax.get_title() for ax in axes[0]] == ["image", "rotation", "thickness"]
    rotation = tangent_vectors(image[None], ["rotation"], 0.9)[0, 0]
    shown = [np.asarray(ax.images[0].get_array()) for ax in axes[:, 1]]
    np.testing.assert_allclose(shown[0], rotation)
    np.testing.assert_allclose(shown[2] - image, 0.25 * rotation / np.abs(rotation).max())
    np.testing.assert_allclose(shown[1] + shown[2], 2 * image, atol=1e-15)


def test_a_constant_image_stays_where_it_is() -> None:
    pytest.importorskip("matplotlib")
    axes = tangents(np.full((4, 4), 0.5))
    assert not np.asarray(axes[0, 1].images[0].get_array()).any()


def test_errors_name_the_argument() -> None:
    with pytest.raises(ParameterError, match="tangents: `names` must be among 'shift_x'"):
        tangents(np.zeros((4, 4)), ["shear"])
    with pytest.raises(InputError, match="image must be grey"):
        tangents(np.zeros((4, 4, 3)))
