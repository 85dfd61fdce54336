"""Images: arrays of grey levels or of colours, images of Pillow, files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, MissingExtraError, ParameterError
from .base import Data, Domain
from .containers import points_of, refuse_masked

__all__ = ["Images", "read_image"]


@dataclass(frozen=True)
class Images(Domain):
    """Images of any sizes, grey or of three colours, with values from 0 (black) to 1 (white).

    An image is an array of shape (height, width), (height, width, 1), (height, width, 3) or (height, width,
    4), an image of Pillow, or the path of a file, as text or ``Path``.  Numbers are floats between 0 and 1;
    those of type bool, uint8 or uint16 are divided by 1, 255 or 65535.  Where the fourth channel, opacity, is
    below 1, white shines through.  Many images come as a list, a column of paths, or an array with a further
    first axis.  Files need Pillow (``pip install mercer[images]``) and are turned as their camera says.

    Points are float64 arrays of shape (height, width) or (height, width, 3).

    Parameters
    ----------
    channels : {None, 1, 3}
        With 3, grey images become colour images of equal red, green and blue; with 1, colour images are an
        error; ``None`` leaves images as they are, all of them grey or all of them coloured.
    least : int, default=1
        Smallest height and width in pixels.
    equal : bool, default=False
        Whether all images must have one shape.

    Examples
    --------
    >>> import numpy as np
    >>> black, white = Images(channels=3).validate([np.zeros((2, 3)), np.full((4, 4), 255, dtype=np.uint8)])
    >>> black.shape, white.shape, float(white.max())
    ((2, 3, 3), (4, 4, 3), 1.0)
    """

    channels: int | None = None
    least: int = 1
    equal: bool = False

    def __post_init__(self) -> None:
        if self.channels not in (None, 1, 3):
            raise ParameterError(f"Images: `channels` must be None, 1 or 3. Got {self.channels!r}.")
        if type(self.least) is not int or self.least < 1:
            raise ParameterError(f"Images: `least` must be an integer >= 1. Got {self.least!r}.")

    def validate(self, X: Any, name: str = "X") -> list[np.ndarray]:
        images = [self.point(x, f"{name}[{i}]") for i, x in enumerate(_points(X, name))]
        for i, image in enumerate(images):
            self._compare(image, images[0], f"{name}[{i}]", f"{name}[0]")
        return images

    def point(self, x: Any, name: str = "x") -> np.ndarray:
        image = _levels(_pixels(x, name), name)
        if min(image.shape[:2]) < self.least:
            raise InputError(
                f"{name} must have at least {self.least} x {self.least} pixels. "
                f"Got {image.shape[0]} x {image.shape[1]}."
            )
        if self.channels == 1 and image.ndim == 3:
            raise InputError(f"{name} must be grey. Got three colours: mercer.images.grey makes it grey.")
        if self.channels == 3 and image.ndim == 2:
            return np.broadcast_to(image[:, :, None], (*image.shape, 3))
        return image

    def pair(self, x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
        a, b = self.point(x, "x"), self.point(y, "y")
        self._compare(b, a, "y", "x")
        return a, b

    def match(self, X: Data, Y: Data | None) -> None:
        if Y is not None and X and Y:
            self._compare(Y[0], X[0], "Y[0]", "X[0]")

    def _compare(self, image: np.ndarray, first: np.ndarray, name: str, other: str) -> None:
        """Raise unless an image has the channels of another, and its shape if all have one."""
        if image.ndim != first.ndim:
            kinds = {2: "grey", 3: "coloured"}
            raise InputError(
                f"{name} must be {kinds[first.ndim]} as {other} is. Got a {kinds[image.ndim]} one: "
                "mercer.images.grey makes images grey."
            )
        if self.equal and image.shape != first.shape:
            raise InputError(
                f"{name} must have the shape of {other}, {first.shape}. Got {image.shape}. Resize the "
                "images, as by skimage.transform.resize."
            )

    def sample(self, n: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Small images of noise, of stripes and of one level."""
        side = max(self.least, 4)
        shape = (side, side, 3) if self.channels == 3 else (side, side)
        kinds = (
            lambda: rng.random(shape),
            lambda: np.where(rng.random((side, *shape[1:])) < 0.5, rng.random(), rng.random()),
            lambda: np.full(shape, rng.random()),
        )
        return [kinds[int(rng.integers(3))]() for _ in range(n)]

    def _meet(self, other: Domain) -> Domain | None:
        if not isinstance(other, Images):
            return None
        known = {c for c in (self.channels, other.channels) if c is not None}
        if len(known) > 1:
            return None
        channels = known.pop() if known else None
        return Images(channels, max(self.least, other.least), self.equal or other.equal)

    def __str__(self) -> str:
        kind = {None: "images", 1: "grey images", 3: "colour images"}[self.channels]
        least = f" of at least {self.least} x {self.least} pixels" if self.least > 1 else ""
        return kind + (" of one size" if self.equal else "") + least


def read_image(path: Any, name: str = "path") -> np.ndarray:
    """Pixels of an image file, as stored; ``name`` is what errors call it."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as error:
        raise MissingExtraError(
            f"{name} is a file, and reading images needs Pillow, which is not installed: "
            "pip install mercer[images]"
        ) from error
    try:
        with Image.open(path) as image:
            return _pillow_pixels(ImageOps.exif_transpose(image))
    except FileNotFoundError as error:
        raise InputError(f"{name}: there is no file {str(path)!r}.") from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{name}: {str(path)!r} cannot be read as an image: {error}.") from error


def _points(X: Any, name: str) -> Iterable[Any]:
    """The images of a collection."""
    what = "a collection of images"
    if isinstance(X, os.PathLike) or _is_pillow(X):
        raise InputError(f"{name} must be {what}. For a single image pass a list of one: [{name}].")
    if not hasattr(X, "__array__") or getattr(X, "ndim", 0) < 2:
        return points_of(X, name, what)
    refuse_masked(X, name)
    X = np.asarray(X)
    looks_single = X.ndim == 3 and X.shape[2] in (3, 4) and X.shape[1] != X.shape[2]
    if X.ndim not in (3, 4) or looks_single:
        raise InputError(
            f"{name} must be an array of shape (n, height, width) or (n, height, width, channels), or a list "
            f"of images. Got shape {X.shape}. For a single image pass a list of one: [{name}]."
        )
    return list(X)


def _pixels(x: Any, name: str) -> np.ndarray:
    """The array of one image as it was given."""
    if isinstance(x, str | os.PathLike):
        return read_image(x, name)
    if _is_pillow(x):
        return _pillow_pixels(x)
    refuse_masked(x, name)
    try:
        array = np.asarray(x)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "buif":
        raise InputError(
            f"{name} must be an image: an array of numbers, an image of Pillow, or the path of a file. "
            f"Got {type(x).__name__}."
        )
    return array


def _is_pillow(x: Any) -> bool:
    """Whether it is an image of Pillow, told by its methods."""
    return hasattr(x, "getbands") and hasattr(x, "convert")


def _pillow_pixels(image: Any) -> np.ndarray:
    # The pixels of these modes are taken as they are; others become RGB, or RGBA.
    if image.mode not in ("1", "L", "RGB", "RGBA", "I", "F", "I;16", "I;16L", "I;16B"):
        has_opacity = "transparency" in image.info or image.mode in ("LA", "PA", "La", "RGBa")
        image = image.convert("RGBA" if has_opacity else "RGB")
    return np.asarray(image)


def _levels(array: np.ndarray, name: str) -> np.ndarray:
    """Levels between 0 and 1, of shape (height, width) or (height, width, 3)."""
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
        raise InputError(
            f"{name} must have the shape (height, width) or (height, width, channels) with 1, 3 or 4 "
            f"channels. Got {array.shape}."
        )
    if array.size == 0:
        raise InputError(f"{name} must have pixels. Got an empty image of shape {array.shape}.")
    white = {"bool": 1.0, "uint8": 255.0, "uint16": 65535.0}
    if array.dtype.kind == "f":
        levels = np.asarray(array, dtype=np.float64)
        wrong = ~((levels >= 0) & (levels <= 1))
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            value = float(levels[place])
            if np.isnan(value):
                raise InputError(f"{name} must have no missing pixels. Got NaN at {place}.")
            hint = f" Divide by 255, as in {name} / 255." if 1 < value <= 255 else ""
            raise InputError(
                f"{name} must be between 0 and 1 where it is floats. Got {value:g} at {place}.{hint}"
            )
    elif array.dtype.name in white:
        levels = array / white[array.dtype.name]
    else:
        raise InputError(
            f"{name} must be uint8, uint16, bool, or floats between 0 and 1. Got {array.dtype}, whose white "
            "is not known: use .astype(numpy.uint8), or divide by the value of white."
        )
    if levels.ndim == 3 and levels.shape[2] == 1:
        return levels[:, :, 0]
    if levels.ndim == 3 and levels.shape[2] == 4:
        opacity = levels[:, :, 3:]
        return np.asarray(levels[:, :, :3] * opacity + (1.0 - opacity))
    return levels
