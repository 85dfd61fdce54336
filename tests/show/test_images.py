"""Pictures of images."""

import numpy as np
import pytest

from mercer.contributions import Contribution, Contributions
from mercer.errors import InputError
from mercer.kernels import Gaussian, NestedHistograms, Patches
from mercer.show import image, nested_histogram
from mercer.show.canvas import COLOURS

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex

RNG = np.random.default_rng(0)


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_an_image_is_drawn_as_it_is():
    pixels = RNG.random((5, 4, 3))
    [drawn] = image(pixels).images
    np.testing.assert_array_equal(drawn.get_array(), pixels)


def test_patches_have_the_colours_of_their_signs():
    found = [
        Contribution((0, 0, 2, 2), 0.4),
        Contribution((2, 2, 4, 4), -0.8),
        Contribution("(intercept)", 0.3),
    ]
    ax = image(RNG.random((4, 5)), Contributions(found))
    overlay = np.asarray(ax.images[1].get_array())
    assert to_hex(overlay[0, 0, :3]) == COLOURS["blue"]
    assert to_hex(overlay[3, 3, :3]) == COLOURS["vermilion"]
    np.testing.assert_allclose(overlay[[3, 0, 0], [3, 0, 4], 3] / overlay[3, 3, 3], [1.0, 0.5, 0.0])
    assert texts(ax) == [
        "adds, up to 0.1 per pixel",
        "takes away, up to 0.2 per pixel",
        "+0.3 belongs to no patch",
    ]


def test_weights_of_patches_that_overlap_add_up():
    k = Patches(Gaussian(1.0), 4, 2)
    x, y = RNG.random((2, 8, 8))
    ax = image(x, k.contributions(x, y))
    strength = np.asarray(ax.images[1].get_array())[:, :, 3]
    assert strength.argmax() in {8 * r + c for r in range(2, 6) for c in range(2, 6)}


def test_no_weights_no_colours():
    ax = image(np.eye(4), Contributions([Contribution((0, 0, 2, 2), 0.0)]))
    assert np.asarray(ax.images[1].get_array())[:, :, 3].max() == 0


def test_wrong_contributions():
    with pytest.raises(InputError, match=r"image: `contributions` must come from"):
        image(np.eye(4), {})
    with pytest.raises(InputError, match=r"The patch \(0, 0, 8, 8\) is no part of an image of 4 x 4 pixels"):
        image(np.eye(4), Contributions([Contribution((0, 0, 8, 8), 1.0)]))


@pytest.mark.parametrize("options", [{}, {"joint": True}, {"space": "hsv"}], ids=repr)
def test_bars_are_histograms_of_cells(options):
    k = NestedHistograms(1, bins=2, **options)
    x = RNG.random((6, 8, 3))
    ax = nested_histogram(x, k)
    assert [t.get_text() for t in ax.texts] == ["image", "1 cell", "4 cells"]
    bars = [b for c in ax.collections if type(c).__name__ == "PolyCollection" for b in c.get_paths()]
    assert len(bars) == 5 * k.histogram.size
    tops = np.array([np.ptp(b.vertices[:, 1]) for b in bars])
    whole = k.histogram.cells(k.domain.point(x), 0)[0]
    np.testing.assert_allclose(tops[: len(whole)] / tops[: len(whole)].max(), whole / whole.max(), atol=1e-12)


def test_nested_histogram_wants_its_kernel():
    with pytest.raises(InputError, match="`kernel` must be a NestedHistograms"):
        nested_histogram(np.eye(8), Gaussian(1.0))
    assert len(nested_histogram(np.zeros((64, 64)), NestedHistograms(6, bins=1)).texts) == 6
