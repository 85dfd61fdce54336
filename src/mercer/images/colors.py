"""Colour spaces, in NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..domains import Images
from ..errors import ParameterError

__all__ = ["SPACES", "check_space", "coordinates", "grey", "to_space"]

#: Colour spaces and the names of their coordinates.
SPACES = {"rgb": ("red", "green", "blue"), "hsv": ("hue", "saturation", "value"), "lab": ("L", "a", "b")}

#: Least and largest L, a and b of the colours of sRGB, rounded outwards.
LAB_LOW, LAB_HIGH = np.array([0.0, -87.0, -108.0]), np.array([100.0, 99.0, 95.0])


def grey(x: Any) -> np.ndarray:
    """Brightness of an image, an array of shape (height, width): 0.2125 red + 0.7154 green + 0.0721 blue.

    Examples
    --------
    >>> import numpy as np
    >>> grey(np.ones((2, 2, 3))).shape
    (2, 2)
    """
    image = Images().point(x)
    if image.ndim == 2:
        return image
    return np.asarray(image @ np.array([0.2125, 0.7154, 0.0721]))  # as the eye sees it (ITU-R BT.709)


def to_space(x: Any, space: str) -> np.ndarray:
    """Coordinates of the pixels of an image in a colour space, each scaled to [0, 1].

    Parameters
    ----------
    x : image
        Anything that :class:`~mercer.domains.Images` accepts; grey is a colour.
    space : {"rgb", "hsv", "lab"}
        ``"hsv"``: hue, 0 for grey, where it has none; saturation; value.  ``"lab"``: CIE L*a*b* of sRGB under
        D65, where L from 0 to 100, a from -87 to 99 and b from -108 to 95, the range of sRGB, become [0, 1].

    Returns
    -------
    array of shape (height, width, 3)

    Examples
    --------
    >>> import numpy as np
    >>> red = np.zeros((1, 1, 3)) + [1, 0, 0]
    >>> to_space(red, "hsv").ravel().tolist()
    [0.0, 1.0, 1.0]
    """
    check_space(space, "to_space")
    return coordinates(Images(channels=3).point(x), space)


def coordinates(rgb: np.ndarray, space: str) -> np.ndarray:
    """The same for a validated colour image."""
    if space == "hsv":
        return _hsv(rgb)
    return (_lab(rgb) - LAB_LOW) / (LAB_HIGH - LAB_LOW) if space == "lab" else rgb


def check_space(space: str, caller: str) -> None:
    """Raise unless it is the name of a colour space."""
    if space not in SPACES:
        raise ParameterError(
            f"{caller}: `space` must be one of {', '.join(map(repr, SPACES))}. Got {space!r}."
        )


def _hsv(rgb: np.ndarray) -> np.ndarray:
    red, green, blue = np.moveaxis(rgb, 2, 0)
    value = rgb.max(axis=2)
    spread = value - rgb.min(axis=2)
    some = np.where(spread > 0, spread, 1.0)
    sextant = np.select(
        [spread == 0, value == red, value == green],
        [0.0, (green - blue) / some, 2.0 + (blue - red) / some],
        4.0 + (red - green) / some,
    )
    saturation = spread / np.where(value > 0, value, 1.0)
    return np.stack([sextant / 6.0 % 1.0, saturation, value], axis=2)


def _lab(rgb: np.ndarray) -> np.ndarray:
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    # CIE XYZ of the linear red, green and blue of sRGB, and of its white (D65, observer of 2 degrees).
    XYZ = np.array(
        [[0.412453, 0.357580, 0.180423], [0.212671, 0.715160, 0.072169], [0.019334, 0.119193, 0.950227]]
    )
    t = linear @ XYZ.T / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.moveaxis(np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16.0 / 116.0), 2, 0)
    return np.stack([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)], axis=2)
