"""Pictures of regions."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.images import RegionGraph
from mercer.kernels import RandomWalk, SegmentationGraph
from mercer.show import regions
from mercer.show.canvas import COLOURS

pytest.importorskip("matplotlib")
from matplotlib.colors import to_rgb

IMAGE = np.zeros((4, 6, 3))
IMAGE[:, 2:4], IMAGE[:, 4:, 0] = 1.0, 1.0
STRIPES = (IMAGE, [[0, 0, 1, 1, 2, 2]] * 4)


def test_the_graph_is_drawn_over_the_image():
    ax = regions(STRIPES)
    white_borders, _, _, white_edges, _, nodes = ax.collections
    np.testing.assert_array_equal(ax.images[0].get_array(), IMAGE)
    assert len(white_borders.get_segments()) == 8  # two borders of four pixels
    at = nodes.get_offsets()
    assert all(STRIPES[1][int(y)][int(x)] == i for i, (x, y) in enumerate(at))  # nodes stand in their regions
    np.testing.assert_array_equal(np.array(white_edges.get_segments()), [at[[0, 1]], at[[1, 2]]])
    np.testing.assert_allclose(nodes.get_facecolors()[:, :3], [[0, 0, 0], [1, 1, 1], [1, 0, 0]])


def test_nodes_of_hollow_regions_stand_in_them():
    ring = np.ones((5, 5), dtype=int)
    ring[1:-1, 1:-1] = 0
    nodes = regions((np.zeros((5, 5)), ring)).collections[-1].get_offsets()
    assert [ring[int(y), int(x)] for x, y in nodes] == [0, 1]


def test_regions_that_add_are_blue():
    k = SegmentationGraph(RandomWalk(0.1, length=1), bins=2)
    found = k.contributions(STRIPES, STRIPES)
    for side in ("x", "y"):
        ax = regions(STRIPES, found, graph=k.graph, side=side)
        tint = ax.images[1].get_array()
        np.testing.assert_allclose(tint[0, 0, :3], to_rgb(COLOURS["blue"]))
        assert 0 < tint[0, 0, 3] < tint[0, 2, 3]  # the stripe in the middle has two neighbours
        assert "per region" in ax.get_legend().get_texts()[0].get_text()


def test_one_region_has_one_node():
    ax = regions(np.full((3, 3), 0.5), graph=RegionGraph("watershed"))
    assert len(ax.collections[-1].get_offsets()) == 1


def test_bad_input_is_named():
    found = SegmentationGraph(RandomWalk(0.1, length=1), bins=2).contributions(STRIPES, STRIPES)
    with pytest.raises(InputError, match="the image given has 1 regions"):
        regions(np.zeros((3, 3)), found)
    with pytest.raises(InputError, match="regions: `contributions` must come from"):
        regions(STRIPES, 3)
    with pytest.raises(ParameterError, match="regions: `side` must be"):
        regions(STRIPES, side="z")
