"""Tangent distances against least squares over both planes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage

import mercer
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.images import tangent_vectors
from mercer.images.transformations import NAMES
from mercer.kernels import TangentDistance, tangent_distances
from mercer.machines import SVC

pytestmark = pytest.mark.native

ALL = NAMES[:-1]
RNG = np.random.default_rng(0)
IMAGES = scipy.ndimage.gaussian_filter(RNG.random((9, 10, 12)), (0, 1.0, 1.0))


def residual(difference: np.ndarray, *tangents: np.ndarray) -> float:
    """Squared distance of a vector from the span of others, by least squares."""
    A = np.concatenate(tangents).T
    lengths = np.linalg.norm(A, axis=0)
    A = A[:, lengths > 0] / lengths[lengths > 0]
    if not A.shape[1]:
        return float(difference @ difference)
    a = np.linalg.lstsq(A, difference, rcond=1e-8)[0]
    rest = difference - A @ a
    return float(rest @ rest)


def spans(images: np.ndarray, names: tuple[str, ...], smoothing: float) -> np.ndarray:
    return tangent_vectors(images, names, smoothing).reshape(len(images), len(names), -1)


@pytest.mark.parametrize("smoothing", [0.0, 0.9])
@pytest.mark.parametrize("names", [ALL, NAMES, ("rotation",), ("brightness", "shift_y")])
def test_values_are_those_of_least_squares(names: tuple[str, ...], smoothing: float) -> None:
    T, flat = spans(IMAGES, names, smoothing), IMAGES.reshape(len(IMAGES), -1)
    one = np.array([[residual(x - y, A) for y in flat] for x, A in zip(flat, T, strict=True)])
    two = np.array(
        [[residual(x - y, A, B) for y, B in zip(flat, T, strict=True)] for x, A in zip(flat, T, strict=True)]
    )
    options = {"tangents": names, "smoothing": smoothing}
    scale = one.max()
    for got, want in (
        (TangentDistance(**options).block(IMAGES), two),
        (TangentDistance((10, 12), **options).block(flat, flat.copy()), two),
        (TangentDistance(sides=1, **options).block(IMAGES), (one + one.T) / 2),
        (tangent_distances(IMAGES, IMAGES[:4], **options), one[:, :4]),
        (tangent_distances(IMAGES, sides=2, **options), two),
    ):
        np.testing.assert_allclose(got, want, atol=1e-12 * scale, rtol=1e-9)


def test_tiles_make_no_difference() -> None:
    many = RNG.random((150, 16))
    k = TangentDistance((4, 4), tangents=("shift_x", "shift_y"))
    K = k.block(many)
    assert (K == K.T).all()
    np.testing.assert_allclose(K, k.block(many, many.copy()), atol=1e-12)
    np.testing.assert_allclose(K[77, 3], k(many[77], many[3]), rtol=1e-10)
    one = tangent_distances(np.concatenate([many, many]), many, shape=(4, 4))
    np.testing.assert_allclose(one[150:], one[:150], atol=1e-12)


def test_a_small_shift_is_hardly_a_distance() -> None:
    v, u = np.mgrid[0:16, 0:16] - 7.5
    image = np.exp(-((np.hypot(u, v) - 4.0) ** 2) / 4) / (1 + np.exp(-u))  # a ring, open on one side
    for copy in (
        scipy.ndimage.shift(image, (0.4, -0.3)),
        scipy.ndimage.rotate(image, 4.0, reshape=False),
        scipy.ndimage.affine_transform(image, np.eye(2) / 1.04, offset=7.5 - 7.5 / 1.04),
        image + 0.3 * tangent_vectors(image[None], ["thickness"], 0.9)[0, 0],
    ):
        euclid = ((image - copy) ** 2).sum()
        assert TangentDistance((16, 16))(image.ravel(), copy.ravel()) < 0.1 * euclid


def test_equal_images_and_nearly_equal_ones() -> None:
    k, x = TangentDistance(), IMAGES[0][:6, :6]
    near = np.stack([x, x, *(x + h * RNG.random(x.shape) for h in (1e-3, 1e-6, 1e-9))])
    K = k.block(near, near.copy())
    assert not K[:2, :2].any()
    want = np.array([[float(k.precise(a, b, 30)) for b in near[:1]] for a in near[2:]])
    np.testing.assert_allclose(K[2:, :1], want, rtol=1e-5, atol=1e-30)


def test_constant_images_have_no_tangents() -> None:
    dark, bright = np.full((2, 5, 5), [[[0.2]], [[0.6]]])
    k = TangentDistance()
    assert k(dark, bright) == pytest.approx(25 * 0.4**2)
    assert k.block([dark, bright])[0, 1] == pytest.approx(25 * 0.4**2)
    assert TangentDistance(tangents=("brightness",)).block([dark, bright])[0, 1] < 1e-30


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize("names", [ALL, NAMES, *((name,) for name in ALL)])
@pytest.mark.parametrize("shape", [None, (3, 3), (7, 5), (16, 16)])
def test_it_is_refuted_whatever_moves(
    sides: int, names: tuple[str, ...], shape: tuple[int, int] | None
) -> None:
    k = TangentDistance(shape, sides=sides, tangents=names)
    if shape == (3, 3) and sides == 2 and len(names) > 6:
        assert not k.certificate.is_nds  # fourteen tangents span all images of nine pixels
        return
    w = k.certificate.negative.witness
    assert k.certificate.negative.refuted
    assert w is not None
    assert w.value > 1e3 * w.error
    values = k.block(np.stack(w.points))
    assert np.array(w.coefficients) @ values @ np.array(w.coefficients) == pytest.approx(w.value, rel=1e-6)


@pytest.mark.parametrize("t", [1e-4, 1.0, 1e6])
def test_no_exponential_of_it_is_positive_definite(t: float) -> None:
    k = TangentDistance((4, 4), tangents=("shift_x",)).schoenberg(t)
    assert k.certificate.verdict is Verdict.REFUTED
    w = k.certificate.witness
    assert w is not None
    precise = sum(
        a * b * k.precise(x, y)
        for a, x in zip(w.coefficients, w.points, strict=True)
        for b, y in zip(w.coefficients, w.points, strict=True)
    )
    assert precise < 0
    assert abs(float(precise) - w.value) <= w.error + 1e-9 * abs(w.value)


def test_without_motion_it_is_a_squared_distance() -> None:
    assert TangentDistance(tangents=()).certificate.verdict is Verdict.NDS
    assert TangentDistance(tangents=("brightness",)).schoenberg(1.0).certificate.is_psd


def test_machines_repair_its_exponential() -> None:
    X = np.concatenate([IMAGES, IMAGES + 0.01]).reshape(18, -1)
    y = np.arange(18) % 9 < 4
    machine = SVC(TangentDistance((10, 12)).schoenberg(5.0), C=100.0, indefinite="clip").fit(X, y)
    assert (machine.predict(X) == y).all()
    assert mercer.gram(machine.kernel, X).repair("clip") is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": (2, 5)}, "`shape` must be a height and a width, integers >= 3"),
        ({"shape": 16}, "`shape` must be a height and a width"),
        ({"tangents": ("shift_x", "shear")}, "`tangents` must be different names among 'shift_x'.*'shear'"),
        ({"tangents": ("scale", "scale")}, "`tangents` must be different names"),
        ({"tangents": "scale"}, "`tangents` must be different names"),
        ({"sides": 3}, "`sides` must be an integer >= 1 and <= 2"),
        ({"smoothing": -1.0}, "`smoothing` must be a finite number >= 0 and <= 100"),
    ],
)
def test_parameters_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=f"TangentDistance: {message}"):
        TangentDistance(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shape", "X", "message"),
    [
        (None, np.zeros((2, 2, 5)), "at least 3 x 3 pixels"),
        (None, [np.zeros((4, 4)), np.zeros((4, 5))], "shape"),
        (None, np.zeros((2, 5, 5, 3)), "grey"),
        (None, np.full((1, 4, 4), np.nan), "NaN"),
        ((4, 4), np.zeros((2, 15)), "16"),
        ((4, 4), np.full((1, 16), np.nan), "NaN"),
    ],
)
def test_images_are_named(shape: tuple[int, int] | None, X: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        TangentDistance(shape).block(X)
