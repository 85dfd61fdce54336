"""Kernels between region graphs of images: compositions, and hand-made values."""

import numpy as np
import pytest

from mercer.errors import DomainError, ParameterError
from mercer.images import RegionGraph
from mercer.kernels import (
    ChiSquare,
    ColorHistogram,
    Gaussian,
    Intersection,
    RandomWalk,
    SegmentationGraph,
    TreeWalk,
    VertexHistogram,
    WeisfeilerLehman,
)
from mercer.machines import SVC

rng = np.random.default_rng(0)
POINTS = [(rng.random((6, 5, 3)), rng.integers(0, 4, (6, 5))) for _ in range(6)]
BASES = [
    TreeWalk(3, node=Intersection()),
    RandomWalk(0.05, length=3, node=ChiSquare().schoenberg(1.0)),
    TreeWalk(2, node=Gaussian("median")),
    VertexHistogram(),
]


@pytest.mark.parametrize("base", BASES, ids=str)
def test_it_is_the_kernel_of_the_graphs(base: TreeWalk) -> None:
    k = SegmentationGraph(base, bins=3)
    graphs = [RegionGraph(bins=3)(x) for x in POINTS]
    want = base.resolve(graphs).block(graphs)
    k = k.resolve(POINTS)
    np.testing.assert_allclose(k.block(POINTS), want, rtol=1e-14)
    np.testing.assert_allclose(k.block(POINTS[:2], POINTS[2:]), want[:2, 2:], rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(POINTS), want.diagonal(), rtol=1e-12)
    assert k(POINTS[0], POINTS[1]) == pytest.approx(want[0, 1], rel=1e-12)
    np.testing.assert_allclose(base.on(RegionGraph(bins=3)).resolve(POINTS).block(POINTS), want, rtol=1e-14)
    assert k.certificate.positive.proved
    assert k.certificate.positive.rule == "same values"


def test_two_halves_by_hand() -> None:
    # Black beside white, and black alone: the histograms meet in nothing, or in all.
    halves, black = np.zeros((2, 4)), np.zeros((3, 3))
    halves[:, 2:] = 1.0
    x, y = (halves, [[0, 0, 1, 1]] * 2), (black, np.zeros((3, 3), dtype=int))
    k = SegmentationGraph(TreeWalk(2, decay=0.5, node=Intersection()))
    assert k(x, y) == pytest.approx(1.0)  # black with black
    assert k(x, x) == pytest.approx(2 * (1 + 0.5))  # each node with itself, and its edge
    assert k(y, y) == pytest.approx(1.0)


def test_graphs_know_more_than_histograms() -> None:
    stripes = [[0, 1, 2]]
    x, y = (np.array([[0.0, 0.5, 1.0]]), stripes), (np.array([[0.5, 0.0, 1.0]]), stripes)
    colours = SegmentationGraph(VertexHistogram(), bins=3).normalized()
    edges = SegmentationGraph(WeisfeilerLehman(1), bins=3).normalized()
    assert colours(x, y) == pytest.approx(1.0)
    assert edges(x, y) < 1.0


def test_what_spoke_stands_at_regions() -> None:
    k = SegmentationGraph(RandomWalk(0.1, length=1), bins=2)
    x = (np.array([[0.0, 1.0, 0.0]]), [[0, 1, 2]])
    found = k.contributions(x, x)
    assert sum(c.weight for c in found) == pytest.approx(k(x, x))
    assert {place for c in found for place in c.placed("x")} == {(0, 1), (1, 2), (2, 3)}


def test_images_alone_are_segmented() -> None:
    pytest.importorskip("skimage")
    images = rng.random((6, 16, 16, 3)) * np.repeat([0.3, 1.0], 3)[:, None, None, None]
    k = SegmentationGraph(TreeWalk(2, node=Intersection()), segments=6, method="watershed").normalized()
    assert SVC(k).fit(images, [0, 0, 0, 1, 1, 1]).predict(images).tolist() == [0, 0, 0, 1, 1, 1]


def test_other_kernels_are_refused() -> None:
    for bad in (Gaussian(1.0), "TreeWalk", None):
        with pytest.raises(
            ParameterError, match="SegmentationGraph: `kernel` must be a kernel between graphs"
        ):
            SegmentationGraph(bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="segments"):
        SegmentationGraph(TreeWalk(2), segments=0)


def test_it_adds_to_kernels_on_images() -> None:
    images = [image for image, _ in POINTS]
    one, other = SegmentationGraph(TreeWalk(2, node=Intersection()), segments=4), ColorHistogram()
    want = one.block(images) + other.block(images)
    np.testing.assert_allclose((one + other).block(images), want, rtol=1e-12)
    assert (one + other)(images[0], images[1]) == pytest.approx(want[0, 1], rel=1e-12)
    with pytest.raises(DomainError, match="no common points"):
        _ = one + TreeWalk(2)
