"""Images divided into regions: given label arrays, or the segmentations of scikit-image."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..domains import Domain, Images
from ..domains.containers import points_of
from ..errors import InputError, MissingExtraError, ParameterError
from .colors import grey

__all__ = ["METHODS", "MOST_SEGMENTS", "SegmentedImages", "check_method", "segment"]

METHODS = ("slic", "watershed")

#: Regions of one image that can be asked for; kernels compare all pairs of regions of two images.
MOST_SEGMENTS = 10_000

COLOURED = Images(channels=3)


@dataclass(frozen=True)
class SegmentedImages(Domain):
    """Images, alone or with their segmentations.

    A point is anything that :class:`~mercer.domains.Images` accepts, or a pair ``(image, labels)`` with an
    integer for each pixel: pixels with the same integer are a region, connected or not.

    Validated points are pairs of a float64 array of shape (height, width, 3) and of labels or None.

    Examples
    --------
    >>> import numpy as np
    >>> image, labels = SegmentedImages().point((np.eye(2), [[7, 7], [3, 3]]))
    >>> image.shape, labels.tolist()
    ((2, 2, 3), [[7, 7], [3, 3]])
    """

    def validate(self, X: Any, name: str = "X") -> list[tuple[np.ndarray, np.ndarray | None]]:
        if getattr(X, "ndim", 0) > 2:
            return [(image, None) for image in COLOURED.validate(X, name)]
        points = points_of(X, name, "a collection of images or of pairs (image, labels)")
        return [self.point(x, f"{name}[{i}]") for i, x in enumerate(points)]

    def point(self, x: Any, name: str = "x") -> tuple[np.ndarray, np.ndarray | None]:
        if not (isinstance(x, tuple) and len(x) == 2):
            return COLOURED.point(x, name), None
        image = COLOURED.point(x[0], f"{name}[0]")
        return image, None if x[1] is None else _labels(x[1], image.shape[:2], f"{name}[1]")

    def pair(self, x: Any, y: Any) -> tuple[Any, Any]:
        return self.point(x, "x"), self.point(y, "y")

    def sample(self, n: int, rng: np.random.Generator) -> list[Any]:
        """Small images with random labels."""
        images = COLOURED.sample(n, rng)
        return [(image, rng.integers(0, 4, image.shape[:2])) for image in images]

    def _meet(self, other: Domain) -> Domain | None:
        """With kernels on images there are images alone."""
        return COLOURED._meet(other) if isinstance(other, Images) else super()._meet(other)

    def __str__(self) -> str:
        return "images, or pairs (image, labels)"


def segment(x: Any, method: str = "slic", segments: int = 50) -> np.ndarray:
    """Divide an image into regions of similar colours.

    Parameters
    ----------
    x : image
        Anything that :class:`~mercer.domains.Images` accepts.
    method : {"slic", "watershed"}, default="slic"
        ``"slic"``: clusters of pixels by colour, in CIE L*a*b*, and place (Achanta and others 2012);
        ``"watershed"``: basins of the gradient of the brightness, flooded from points on a grid (Vincent and
        Soille 1991).  Both are those of scikit-image, and use no random numbers.
    segments : int, default=50
        About how many regions; an image of one colour is one region.

    Returns
    -------
    int array of shape (height, width)
        Labels 0, 1, ..., one for each region.

    Examples
    --------
    >>> import numpy as np
    >>> image = np.zeros((20, 30))
    >>> image[:, 15:] = 1.0
    >>> labels = segment(image, segments=2)
    >>> labels[0, [0, 14, 15, 29]].tolist()
    [0, 0, 1, 1]
    """
    check_method("segment", method, segments)
    image = COLOURED.point(x)
    if segments == 1 or (image == image[0, 0]).all():
        return np.zeros(image.shape[:2], dtype=np.intp)
    if method == "slic":
        # 10, the default of scikit-image, weighs nearness against likeness of colours.
        found = _scikit_image("segmentation").slic(image, segments, 10.0, start_label=0)
    else:
        gradient = _scikit_image("filters").sobel(grey(image))
        found = _scikit_image("segmentation").watershed(gradient, segments)
    return compact(np.asarray(found))


def check_method(caller: str, method: Any, segments: Any) -> None:
    """Raise unless they are a method and a number of segments."""
    if method not in METHODS:
        raise ParameterError(
            f'{caller}: `method` must be "slic" or "watershed". Got {method!r}. Segmentations of your own '
            "come with the images, as pairs (image, labels)."
        )
    if type(segments) is not int or not 1 <= segments <= MOST_SEGMENTS:
        raise ParameterError(
            f"{caller}: `segments` must be an integer from 1 to {MOST_SEGMENTS:,}. Got {segments!r}."
        )


def compact(labels: np.ndarray) -> np.ndarray:
    """The same regions with the labels 0, 1, ..., in the order of the old ones."""
    return np.unique(labels, return_inverse=True)[1].reshape(labels.shape)


def _scikit_image(part: str) -> Any:
    try:
        return importlib.import_module(f"skimage.{part}")
    except ImportError as error:
        raise MissingExtraError(
            "segment: segmentations need scikit-image, which is not installed: pip install mercer[images]. "
            "Those of your own come as pairs (image, labels)."
        ) from error


def _labels(labels: Any, shape: tuple[int, ...], name: str) -> np.ndarray:
    try:
        array = np.asarray(labels)
    except ValueError:  # rows of several lengths
        array = np.asarray(None)
    if array.size == 0:
        raise InputError(f"{name} must have a label for each pixel. Got an empty array, shape {array.shape}.")
    if array.dtype.kind not in "biu":
        raise InputError(
            f"{name} must be integers, a label for each pixel. Got "
            f"{array.dtype if array.ndim else type(labels).__name__}."
        )
    if array.shape != shape:
        raise InputError(
            f"{name} must have the shape of the image, {shape}: a label for each pixel. Got {array.shape}."
        )
    return array.astype(np.int64) if array.dtype.kind == "b" else array
