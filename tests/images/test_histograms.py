"""Histograms of images and of their cells against NumPy's."""

import numpy as np
import pytest
from skimage.util import view_as_blocks

from mercer.errors import InputError, ParameterError
from mercer.images import Histogram, patches, to_space
from mercer.images.patches import corners

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("space", ["rgb", "hsv", "lab"])
def test_histograms_are_numpys(space: str) -> None:
    image = RNG.random((9, 7, 3))
    pixels = to_space(image, space).reshape(-1, 3)
    joint, _ = np.histogramdd(pixels, bins=5, range=[(0, 1)] * 3)
    np.testing.assert_array_equal(Histogram(space, 5, True)(image), joint.ravel() / len(pixels))
    single = [np.histogram(pixels[:, c], bins=5, range=(0, 1))[0] for c in range(3)]
    np.testing.assert_allclose(
        Histogram(space, 5)(image), np.concatenate(single) / len(pixels) / 3, rtol=1e-15
    )


@pytest.mark.parametrize("joint", [False, True])
def test_cells_are_histograms_of_their_parts(joint: bool) -> None:
    histogram = Histogram(bins=3, joint=joint)
    image = RNG.random((8, 12, 3))
    found = histogram.cells(image, 2)
    assert found.shape == (1 + 4 + 16, histogram.size)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-15)
    first = 0
    for level in range(3):
        blocks = view_as_blocks(image, (8 >> level, 12 >> level, 3))[:, :, 0]
        parts = [histogram(block) for row in blocks for block in row]
        np.testing.assert_allclose(found[first : first + len(parts)], parts, rtol=1e-15)
        first += len(parts)


def test_cells_of_sides_without_a_middle_contain_each_pixel_once() -> None:
    image = np.zeros((5, 7, 3))
    image[4, 6] = 1.0
    cells = Histogram(bins=2).cells(image, 1)[:, 1] * 3
    np.testing.assert_allclose(cells, [1 / 35, 0, 0, 0, 1 / (2 * 3)])  # rows 0-2 and 3-4, columns 0-3 and 4-6


def test_many_images_are_rows_of_cells() -> None:
    images = [RNG.random((4, 5, 3)) for _ in range(3)]
    dense = Histogram(bins=2).of_cells(images, 1)
    sparse = Histogram(bins=2, joint=True).of_cells(images, 1)
    for cell in range(5):
        for i, image in enumerate(images):
            np.testing.assert_array_equal(dense[cell][i], Histogram(bins=2).cells(image, 1)[cell])
            joint = Histogram(bins=2, joint=True).cells(image, 1)[cell]
            np.testing.assert_array_equal(sparse[cell].toarray()[i], joint)
    assert [part.shape for part in Histogram(joint=True).of_cells([], 1)] == [(0, 512)] * 5


def test_white_and_black_are_in_the_last_and_first_bin() -> None:
    image = np.array([[0, 255]], dtype=np.uint8)
    np.testing.assert_allclose(Histogram(bins=4)(image) * 6, [1, 0, 0, 1] * 3)
    image = np.arange(256, dtype=np.uint8)[None]
    np.testing.assert_allclose(Histogram(bins=256)(image), 1 / 768)


def test_wrong_parameters() -> None:
    for bins in (0, 257, 2.5, True, "8"):
        with pytest.raises(ParameterError, match=r"Histogram: `bins` must be an integer from 1 to 256"):
            Histogram(bins=bins)
    with pytest.raises(ParameterError, match=r"Histogram: `space` must be one of"):
        Histogram("cmyk")
    with pytest.raises(ParameterError, match=r"`bins=256` has too many bins for 4 cells"):
        Histogram(bins=256, joint=True).cells(np.zeros((2, 2, 3)), 1)


def test_patches_are_windows() -> None:
    image = RNG.random((6, 7, 3))
    found = patches(image, 3, 2)
    places = corners(image, 3, 2)
    assert places.tolist() == [[r, c] for r in (0, 2) for c in (0, 2, 4)]
    for row, (r, c) in zip(found, places, strict=True):
        np.testing.assert_array_equal(row.reshape(3, 3, 3), image[r : r + 3, c : c + 3])
    np.testing.assert_array_equal(
        patches(image[:, :, 0], 6), [image[:6, i : i + 6, 0].ravel() for i in (0, 1)]
    )
    with pytest.raises(ParameterError, match=r"patches: `stride` must be an integer >= 1. Got 0"):
        patches(image, 3, 0)
    with pytest.raises(InputError, match=r"at least 8 x 8 pixels. Got 6 x 7"):
        patches(image, 8)
