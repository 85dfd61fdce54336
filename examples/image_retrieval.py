"""Which photograph is this piece from?  Retrieval of pieces of six photographs by kernels on images.

The photographs come with scikit-learn (china, flower) and scikit-image (astronaut, chelsea, coffee, rocket).
Pieces of 64 x 64 pixels from the left half of each are the collection; each piece from the right half is a
query, and the collection is ordered by the normalised kernel.  No pixel is in both.  A piece that comes from
the photograph of the query is right.  Each row has the share of right ones among the first five, and the mean
average precision.  One setting for each row; the rows below the three
colour spaces take the space that came out best of them.

Run: python examples/image_retrieval.py [nested.png patches.png]
"""

import sys

import numpy as np
from sklearn.datasets import load_sample_images
from sklearn.metrics import average_precision_score

from mercer import Kernel
from mercer.images import grey
from mercer.kernels import (
    ChiSquare,
    ColorHistogram,
    Gaussian,
    Intersection,
    NestedHistograms,
    Patches,
    SpatialPyramid,
)
from mercer.machines import SVC
from mercer.show import image, nested_histogram

SIDE, COLLECTION, QUERIES, FIRST = 64, 20, 10, 5

KERNELS: dict[str, Kernel] = {
    "grey pixels, Gaussian": Gaussian(8.0).on(lambda x: grey(x).ravel()),
    "colours, RGB": ColorHistogram("rgb", 8),
    "colours, HSV": ColorHistogram("hsv", 8),
    "colours, L*a*b*": ColorHistogram("lab", 8),
    "colours, HSV, joint, intersection": ColorHistogram("hsv", 8, Intersection(), joint=True),
    "spatial pyramid of 3 levels, HSV": SpatialPyramid(2, space="hsv"),
    "nested histograms of depth 3, HSV": NestedHistograms(3, 0.5, ChiSquare().schoenberg(0.1), space="hsv"),
    "patches of 8 x 8, Gaussian": Patches(Gaussian(2.0), 8, 8),
}


def photographs() -> dict[str, np.ndarray]:
    try:
        from skimage import data
    except ImportError:
        print("This example reads images of scikit-image: pip install mercer[images].")
        sys.exit(0)
    china, flower = load_sample_images().images
    others = {name: getattr(data, name)() for name in ("astronaut", "chelsea", "coffee", "rocket")}
    return {"china": china, "flower": flower, **others}


def pieces(photograph: np.ndarray, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    rows = rng.integers(0, photograph.shape[0] - SIDE + 1, count)
    columns = rng.integers(0, photograph.shape[1] - SIDE + 1, count)
    return [photograph[r : r + SIDE, c : c + SIDE] for r, c in zip(rows, columns, strict=True)]


def halves(photos: dict[str, np.ndarray]) -> list[tuple[list[np.ndarray], np.ndarray]]:
    """Pieces of the left halves and of the right halves, each with the names of their photographs."""
    rng = np.random.default_rng(0)
    left, right = [], []
    for photo in photos.values():
        middle = photo.shape[1] // 2
        left += pieces(photo[:, :middle], COLLECTION, rng)
        right += pieces(photo[:, middle:], QUERIES, rng)
    names = list(photos)
    return [(left, np.repeat(names, COLLECTION)), (right, np.repeat(names, QUERIES))]


def main() -> None:
    photos = photographs()
    (collection, names), (queries, truth) = halves(photos)
    right = truth[:, None] == names
    print(f"{'':40s} first {FIRST}   average precision")
    print(f"{'by chance':40s} {right.mean():7.1%} {right.mean():10.1%}")
    for name, kernel in KERNELS.items():
        K = kernel.normalized().block(queries, collection)
        first = np.take_along_axis(right, np.argsort(-K, axis=1)[:, :FIRST], axis=1).mean()
        precision = np.mean([average_precision_score(r, k) for r, k in zip(right, K, strict=True)])
        print(f"{name:40s} {first:7.1%} {precision:10.1%}")
    if len(sys.argv) > 2:
        draw(photos["china"], collection, names, *sys.argv[1:3])


def draw(china: np.ndarray, collection: list[np.ndarray], names: np.ndarray, *files: str) -> None:
    """Nested histograms of a photograph, and the patches by which a machine knows it."""
    ax = nested_histogram(china, NestedHistograms(3))
    ax.figure.savefig(files[0], dpi=110, bbox_inches="tight", facecolor="white")
    two = np.isin(names, ["china", "flower"])
    machine = SVC(Patches(Gaussian(2.0), 8, 8), C=1000.0)
    machine.fit([x for x, chosen in zip(collection, two, strict=True) if chosen], names[two])
    part = china[140:400:2, 200:620:2]
    ax = image(part, machine.explain(part))
    ax.figure.savefig(files[1], dpi=110, bbox_inches="tight", facecolor="white")


if __name__ == "__main__":
    main()
