"""Region graphs against loops over pixels; segmentations; bad input by name."""

import builtins
import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mercer.errors import InputError, MissingExtraError, ParameterError
from mercer.images import RegionGraph, SegmentedImages, segment, to_space

rng = np.random.default_rng(0)
#: Strange labels, regions of several parts, one pixel, one row.
SEGMENTED = [
    (rng.random((5, 7, 3)), rng.integers(-3, 4, (5, 7))),
    (rng.integers(0, 256, (4, 4, 3)).astype(np.uint8), rng.integers(0, 2, (4, 4)).astype(bool)),
    (rng.random((6, 3)), rng.integers(0, 3, (6, 3)).astype(np.uint64) + np.uint64(2**63)),
    (rng.random((1, 8, 3)), np.arange(8)[None, ::-1]),
    (np.ones((1, 1)), [[12]]),
]


def by_hand(
    image: np.ndarray, labels: np.ndarray, space: str, bins: int
) -> tuple[list[Any], list[Any], set[Any]]:
    """Histograms and means of regions in the order of their labels, and the pairs that touch."""
    colours, (height, width) = to_space(image, space), labels.shape
    names = sorted(set(labels.ravel().tolist()))
    histograms = [[Fraction(0)] * (3 * bins) for _ in names]
    pixels: list[list[np.ndarray]] = [[] for _ in names]
    touching = set()
    for i, j in itertools.product(range(height), range(width)):
        region = names.index(labels[i, j].item())
        pixels[region].append(colours[i, j])
        for c in range(3):
            histograms[region][c * bins + min(int(colours[i, j, c] * bins), bins - 1)] += 1
        for s, t in ((i + 1, j), (i, j + 1)):
            if s < height and t < width and labels[s, t] != labels[i, j]:
                other = names.index(labels[s, t].item())
                touching |= {(region, other), (other, region)}
    shares = [[float(count / (3 * len(p))) for count in h] for h, p in zip(histograms, pixels, strict=True)]
    means = [[*np.mean(p, axis=0), len(p) / labels.size] for p in pixels]
    return shares, means, touching


@pytest.mark.parametrize(("space", "bins"), [("rgb", 8), ("hsv", 3), ("lab", 1)])
@pytest.mark.parametrize("number", range(len(SEGMENTED)))
def test_graphs_are_those_of_a_loop_over_pixels(number: int, space: str, bins: int) -> None:
    image, labels = SEGMENTED[number]
    shares, means, touching = by_hand(SegmentedImages().point(image)[0], np.asarray(labels), space, bins)
    g = RegionGraph(space=space, bins=bins)((image, labels))
    assert set(zip(g.sources.tolist(), g.targets.tolist(), strict=True)) == touching
    assert len(g.sources) == len(touching)
    np.testing.assert_allclose(g.attributes, shares, rtol=1e-14)
    m = RegionGraph(space=space, bins=bins, attributes="mean")((image, labels))
    np.testing.assert_allclose(m.attributes, means, rtol=1e-13, atol=1e-16)
    assert m.labels == g.labels
    boxes = [tuple(min(int(v * bins), bins - 1) for v in row[:3]) for row in m.attributes.tolist()]
    assert g.labels == tuple(boxes)


def test_names_of_labels_do_not_matter() -> None:
    image, labels = SEGMENTED[0]
    assert RegionGraph()((image, labels)) == RegionGraph()((image, 10 * np.asarray(labels) + 7))
    regions = RegionGraph().regions((image, labels))
    assert regions.min() == 0
    assert regions.max() == len(np.unique(labels)) - 1


# -- segmentations ---------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["slic", "watershed"])
def test_stripes_are_found(method: str) -> None:
    pytest.importorskip("skimage")
    image = np.zeros((24, 36, 3))
    image[:, 12:24] = [1.0, 0.0, 0.0]
    image[:, 24:] = [0.0, 0.0, 1.0]
    labels = segment(image, method, 12)
    assert labels.shape == (24, 36)
    assert set(np.unique(labels)) == set(range(labels.max() + 1))
    np.testing.assert_array_equal(segment(image, method, 12), labels)
    g = RegionGraph(method, 12, attributes="mean")(image)
    assert g == RegionGraph(attributes="mean")((image, labels))
    stripes = [{*labels[:, columns].ravel()} for columns in ([0, 9], [14, 21], [26, 35])]  # off the edges
    assert all(a.isdisjoint(b) for a, b in itertools.combinations(stripes, 2))
    assert len(set(g.labels)) >= 3


@pytest.mark.parametrize("method", ["slic", "watershed"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 1), (3, 4, 3)])
def test_one_colour_is_one_region(method: str, shape: tuple[int, ...]) -> None:
    g = RegionGraph(method, 20)(np.full(shape, 0.3))
    assert (g.n, len(g.sources)) == (1, 0)
    assert g.attributes is not None
    assert g.attributes.sum() == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("method", ["slic", "watershed"])
@pytest.mark.parametrize("shape", [(1, 9), (7, 1), (2, 2), (5, 4)])
def test_small_images_are_divided(method: str, shape: tuple[int, int]) -> None:
    pytest.importorskip("skimage")
    image = np.random.default_rng(3).random((*shape, 3))
    for segments in (1, 2, 1000):
        g = RegionGraph(method, segments)(image)
        assert 1 <= g.n <= image.shape[0] * image.shape[1]
    assert RegionGraph(method, 1)(image).n == 1


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__
    monkeypatch.setattr(
        "importlib.import_module", lambda name: real("no_such_module") if "skimage" in name else real(name)
    )
    image = np.eye(4)
    with pytest.raises(MissingExtraError, match=r"pip install mercer\[images\]"):
        segment(image)
    assert RegionGraph()((image, np.eye(4, dtype=int))).n == 2


# -- bad input -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros((2, 3), dtype=int), r"x\[1\] must have the shape of the image, \(3, 3\).*Got \(2, 3\)"),
        (np.zeros((3, 3, 1), dtype=int), r"x\[1\] must have the shape of the image"),
        (np.zeros((0, 3), dtype=int), r"x\[1\] must have a label for each pixel. Got an empty array"),
        ([], r"x\[1\] must have a label for each pixel. Got an empty array"),
        (np.zeros((3, 3)), r"x\[1\] must be integers, a label for each pixel. Got float64"),
        (np.full((3, 3), np.nan), r"x\[1\] must be integers"),
        ([["a"] * 3] * 3, r"x\[1\] must be integers"),
        ([[1, 2], [3]], r"x\[1\] must be integers, a label for each pixel. Got list"),
        ("labels.png", r"x\[1\] must be integers"),
    ],
)
def test_bad_labels_are_named(labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RegionGraph()((np.ones((3, 3)), labels))


def test_bad_images_and_parameters_are_named() -> None:
    bad = np.ones((3, 3))
    bad[1, 2] = np.nan
    with pytest.raises(InputError, match=r"x\[0\] must have no missing pixels"):
        RegionGraph()((bad, np.zeros((3, 3), dtype=int)))
    with pytest.raises(InputError, match=r"X\[1\]\[1\] must be integers"):
        SegmentedImages().validate([np.eye(3), (np.eye(3), np.eye(3))])
    with pytest.raises(InputError, match="collection"):
        SegmentedImages().validate(3)
    for name, value in (
        ("method", "quickshift"),
        ("segments", 0),
        ("segments", 2.5),
        ("attributes", "texture"),
        ("space", "cmyk"),
        ("bins", 0),
    ):
        with pytest.raises(ParameterError, match=f"RegionGraph: `{name}` must be"):
            RegionGraph(**{name: value})
    with pytest.raises(ParameterError, match="segment: `method` must be"):
        segment(np.eye(3), "grid")


def test_collections_of_all_kinds() -> None:
    stacked = np.random.default_rng(1).random((4, 5, 5))
    assert [labels for _, labels in SegmentedImages().validate(stacked)] == [None] * 4
    again = SegmentedImages().validate(SegmentedImages().validate(SEGMENTED))
    assert [image.shape for image, _ in again] == [(5, 7, 3), (4, 4, 3), (6, 3, 3), (1, 8, 3), (1, 1, 3)]
    digests = SegmentedImages().digests(SEGMENTED)
    assert len({*digests, SegmentedImages().digest(SEGMENTED[0][0])}) == 6
