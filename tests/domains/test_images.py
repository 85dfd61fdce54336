"""Images as they come: arrays, stacks, Pillow, files; what is wrong is named."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mercer.domains import Images, meet, owned
from mercer.errors import DomainError, InputError, MissingExtraError, ParameterError

RNG = np.random.default_rng(0)
COLOUR = RNG.integers(0, 256, (5, 4, 3), dtype=np.uint8)
GREY = RNG.integers(0, 256, (5, 4), dtype=np.uint8)


@pytest.mark.parametrize("image", [COLOUR, GREY], ids=["colour", "grey"])
def test_one_image_in_every_form_is_one_point(image: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    Image.fromarray(image).save(path)
    forms = [image, image / 255, (image / 255).tolist(), Image.fromarray(image), path, str(path)]
    points = Images().validate(forms)
    for point in points:
        assert point.dtype == np.float64
        np.testing.assert_array_equal(point, image / 255.0)
    assert len(set(Images().digests(forms))) == 1


def test_types_say_what_white_is() -> None:
    for dtype, white in ((bool, 1), (np.uint8, 255), (np.uint16, 65535), (np.float32, 1.0)):
        assert Images().point(np.full((2, 2), white, dtype=dtype)).max() == 1.0
    sixteen = RNG.integers(0, 65536, (3, 3), dtype=np.uint16)
    np.testing.assert_array_equal(Images().point(Image.fromarray(sixteen)), sixteen / 65535.0)


def test_opacity_is_blended_with_white() -> None:
    from skimage.color import rgba2rgb

    image = RNG.random((5, 4, 4))
    np.testing.assert_allclose(Images().point(image), rgba2rgb(image), rtol=0, atol=1e-15)
    palette = Image.fromarray(COLOUR).quantize(4)
    np.testing.assert_array_equal(Images().point(palette), np.asarray(palette.convert("RGB")) / 255.0)
    both = Image.fromarray(GREY).convert("LA")
    np.testing.assert_array_equal(Images().point(both)[:, :, 0], GREY / 255.0)


def test_files_are_turned_as_their_camera_says(tmp_path: Path) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6  # the camera was held upright
    Image.fromarray(COLOUR).save(tmp_path / "x.png", exif=turned)
    assert Images().point(tmp_path / "x.png").shape == (4, 5, 3)


def test_collections() -> None:
    import pandas

    assert [x.shape for x in Images().validate(np.zeros((2, 4, 6)))] == [(4, 6)] * 2
    assert [x.shape for x in Images().validate(np.zeros((2, 4, 4)))] == [(4, 4)] * 2
    assert [x.shape for x in Images().validate(np.zeros((2, 5, 4, 3)))] == [(5, 4, 3)] * 2
    assert [x.shape for x in Images().validate(np.zeros((2, 5, 4, 1)))] == [(5, 4)] * 2
    assert [x.shape for x in Images(channels=3).validate([GREY, COLOUR])] == [(5, 4, 3)] * 2
    assert Images().validate([]) == []
    with pytest.raises(InputError, match=r"X\[1\]: there is no file 'no.png'"):
        Images().validate(pandas.Series([GREY, "no.png"]))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (COLOUR, r"X must be an array of shape .* Got shape \(5, 4, 3\). For a single image .* \[X\]"),
        (GREY, r"Got shape \(5, 4\)"),
        (Image.fromarray(GREY), r"a list of one: \[X\]"),
        (Path("x.png"), r"a list of one: \[X\]"),
        ("x.png", "X must be a collection of images"),
        ([GREY, np.zeros((0, 3))], r"X\[1\] must have pixels"),
        ([GREY, np.zeros(3)], r"X\[1\] must have the shape \(height, width\)"),
        ([np.zeros((2, 2, 2))], r"1, 3 or 4 channels. Got \(2, 2, 2\)"),
        ([GREY, np.array([[0.5, np.nan]])], r"X\[1\] must have no missing pixels. Got NaN at \(0, 1\)"),
        ([np.array([[0.5, -0.1]])], r"between 0 and 1 where it is floats. Got -0.1 at \(0, 1\)\.$"),
        ([GREY.astype(float)], r"Divide by 255"),
        ([np.array([[np.inf]])], r"Got inf at \(0, 0\)"),
        ([GREY.astype(int)], r"X\[0\] must be uint8, uint16, bool, or floats between 0 and 1. Got int64"),
        ([[[0.1, 0.2], [0.3]]], r"X\[0\] must be an image"),
        ([None], r"X\[0\] must be an image.* Got NoneType"),
        ([GREY + 1j], r"X\[0\] must be an image"),
    ],
)
def test_what_is_wrong_is_named(X: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Images().validate(X)


def test_files_that_are_no_images(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_text("no image")
    Image.fromarray(COLOUR).save(tmp_path / "y.png")
    (tmp_path / "y.png").write_bytes((tmp_path / "y.png").read_bytes()[:60])
    for name in ("x.png", "y.png", "."):
        with pytest.raises(InputError, match=r"X\[1\]: .* cannot be read as an image"):
            Images().validate([GREY, tmp_path / name])


def test_files_need_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    Images().validate([GREY])
    with pytest.raises(MissingExtraError, match=r"X\[0\] is a file.*pip install mercer\[images\]"):
        Images().validate(["x.png"])


def test_requirements() -> None:
    with pytest.raises(InputError, match=r"X\[1\] must be grey"):
        Images(channels=1).validate([GREY, COLOUR])
    with pytest.raises(InputError, match=r"X\[0\] must have at least 8 x 8 pixels. Got 5 x 4"):
        Images(least=8).validate([GREY])
    with pytest.raises(InputError, match=r"X\[1\] must be grey as X\[0\] is. Got a coloured one"):
        Images().validate([GREY, COLOUR])
    equal = Images(equal=True)
    with pytest.raises(InputError, match=r"X\[1\] must have the shape of X\[0\], \(5, 4\). Got \(4, 5\)"):
        equal.validate([GREY, GREY.T])
    with pytest.raises(InputError, match="y must have the shape of x"):
        equal.pair(GREY, GREY.T)
    with pytest.raises(InputError, match=r"Y\[0\] must have the shape of X\[0\]"):
        equal.match(equal.validate([GREY]), equal.validate([GREY.T]))
    for wrong in ({"channels": 2}, {"least": 0}, {"least": True}):
        with pytest.raises(ParameterError):
            Images(**wrong)


def test_meeting() -> None:
    assert meet(Images(3, 4), Images(None, 2, True)) == Images(3, 4, True)
    with pytest.raises(DomainError):
        meet(Images(1), Images(3))
    assert str(Images(1, 3, True)) == "grey images of one size of at least 3 x 3 pixels"


def test_samples_are_points_of_the_domain() -> None:
    for domain in (Images(), Images(3, 9), Images(1, equal=True)):
        domain.validate(domain.sample(12, np.random.default_rng(0)))


def test_the_callers_array_is_neither_changed_nor_shared() -> None:
    image = RNG.random((3, 3))
    points = owned(Images(channels=3).validate([image]), [image])
    image[0, 0] = 0.0
    assert image.flags.writeable
    assert points[0][0, 0, 0] != 0.0
