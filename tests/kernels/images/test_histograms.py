"""Colour histograms under kernels; sums over grids."""

import numpy as np
import pytest

from mercer import Verdict
from mercer.errors import InputError, ParameterError
from mercer.images import Histogram
from mercer.kernels import (
    ChiSquare,
    ColorHistogram,
    Gaussian,
    Intersection,
    Jensen,
    Linear,
    NGram,
    ProbabilityProduct,
    SpatialPyramid,
)

RNG = np.random.default_rng(0)
IMAGES = [RNG.random((8, 6 + i, 3)) ** (1 + i) for i in range(5)]


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize(
    "base", [Intersection(), Jensen().schoenberg(3.0), Gaussian(0.2), Linear()], ids=repr
)
def test_it_is_the_kernel_of_the_histograms(base: object, joint: bool) -> None:
    k = ColorHistogram("hsv", 4, base, joint=joint)
    composed = base.on(Histogram("hsv", 4, joint))
    H = [Histogram("hsv", 4, joint)(x) for x in IMAGES]
    np.testing.assert_allclose(k.block(IMAGES), base.block(H), rtol=1e-14)
    np.testing.assert_allclose(k.block(IMAGES, IMAGES[:2]), composed.block(IMAGES, IMAGES[:2]), rtol=1e-14)


def test_the_certificate_is_that_of_the_kernel() -> None:
    assert ColorHistogram().certificate.verdict is Verdict.PSD
    assert ColorHistogram(kernel=ChiSquare()).certificate.verdict is Verdict.NDS
    assert "Pullback" in repr(type(ColorHistogram()._simpler()[0]))
    assert ColorHistogram(kernel=ChiSquare()).schoenberg(2.0).certificate.is_psd


def test_features_and_gradients() -> None:
    k = ColorHistogram("rgb", 2, ProbabilityProduct(), joint=True)
    F = k.features(IMAGES)
    np.testing.assert_allclose((F @ F.T).toarray(), k.block(IMAGES), rtol=1e-14)
    pyramid = SpatialPyramid(1, ProbabilityProduct(), bins=2)
    F = pyramid.features(IMAGES)
    np.testing.assert_allclose((F @ F.T).toarray(), pyramid.block(IMAGES), rtol=1e-14)
    pyramid = SpatialPyramid(1, Gaussian(0.5), bins=2)
    [(name, slope)] = pyramid.gradient(IMAGES).items()
    assert name == "kernel__sigma"
    h = 1e-5
    up, down = (pyramid.replace(kernel__sigma=0.5 * np.exp(s)).block(IMAGES) for s in (h, -h))
    np.testing.assert_allclose(slope, (up - down) / (2 * h), atol=1e-8)


def test_rules_are_resolved_on_histograms() -> None:
    H = [Histogram(bins=4)(x) for x in IMAGES]
    k = ColorHistogram(bins=4, kernel=Gaussian("median")).resolve(IMAGES)
    assert k.kernel == Gaussian("median").resolve(H)


def test_the_pyramid_by_its_definition() -> None:
    base, levels = Intersection(), 2
    histogram = Histogram(bins=3)
    square = [x[:8, :4] for x in (RNG.random((8, 4, 3)), RNG.random((8, 4, 3)))]
    value = 0.0
    for level, weight in enumerate((1 / 4, 1 / 4, 1 / 2)):
        a, b = ([c for r in np.split(x, 2**level) for c in np.split(r, 2**level, axis=1)] for x in square)
        value += weight * np.mean([base(histogram(p), histogram(q)) for p, q in zip(a, b, strict=True)])
    assert SpatialPyramid(levels, base, bins=3)(*square) == pytest.approx(value, rel=1e-14)
    assert SpatialPyramid(0, base, bins=3)(*square) == ColorHistogram("rgb", 3, base)(*square)


def test_images_of_one_colour() -> None:
    black, white = np.zeros((4, 4)), np.ones((9, 5))
    for k in (ColorHistogram(), SpatialPyramid(2)):
        assert k(black, np.zeros((5, 7, 3))) == 1.0
        assert k(black, white) == pytest.approx(np.exp(-2.0), rel=1e-14)


def test_wrong_arguments() -> None:
    with pytest.raises(ParameterError, match=r"ColorHistogram: `space` must be one of 'rgb', 'hsv', 'lab'"):
        ColorHistogram("cmyk")
    with pytest.raises(ParameterError, match=r"ColorHistogram: `kernel` must be a kernel on histograms"):
        ColorHistogram(kernel="chi2")
    with pytest.raises(ParameterError, match=r"ColorHistogram: `kernel` must be a kernel on histograms"):
        ColorHistogram(kernel=NGram(2))
    with pytest.raises(ParameterError, match=r"SpatialPyramid: `levels` must be an integer >= 0 and <= 6"):
        SpatialPyramid(7)
    with pytest.raises(InputError, match=r"X\[1\] must have at least 4 x 4 pixels. Got 3 x 9"):
        SpatialPyramid(2).block([np.zeros((4, 4)), np.zeros((3, 9))])
