"""Nested histograms against enumeration of all complete subtrees."""

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from mercer import Verdict
from mercer.errors import InputError, ParameterError
from mercer.images import Histogram
from mercer.kernels import (
    ChiSquare,
    ColorHistogram,
    Constant,
    Intersection,
    Jensen,
    Linear,
    NestedHistograms,
    ProbabilityProduct,
)

RNG = np.random.default_rng(0)
Cell = tuple[int, int, int]  # level, row, column


def subtrees(cell: Cell, depth: int) -> Iterator[tuple[list[Cell], int]]:
    """Complete subtrees below a cell: the cells that are left whole, and how many are divided."""
    yield [cell], 0
    level, row, column = cell
    if level < depth:
        children = [(level + 1, 2 * row + i, 2 * column + j) for i in (0, 1) for j in (0, 1)]
        for parts in itertools.product(*(list(subtrees(child, depth)) for child in children)):
            leaves = [leaf for whole, _ in parts for leaf in whole]
            yield leaves, 1 + sum(divided for _, divided in parts)


def enumerated(depth: int, e: Fraction, value: Callable[[Cell], Fraction]) -> Fraction:
    """The kernel as a sum over all subtrees, in exact arithmetic."""
    total = Fraction(0)
    for leaves, divided in subtrees((0, 0, 0), depth):
        whole = sum(level < depth for level, _, _ in leaves)
        total += (
            e**divided * (1 - e) ** whole * math.prod((value(leaf) for leaf in leaves), start=Fraction(1))
        )
    return total


def values(x: np.ndarray, y: np.ndarray, base: object, bins: int) -> Callable[[Cell], Fraction]:
    def value(cell: Cell) -> Fraction:
        level, row, column = cell
        h, w = (side >> level for side in x.shape[:2])
        part = slice(row * h, (row + 1) * h), slice(column * w, (column + 1) * w)
        return Fraction(base(Histogram(bins=bins)(x[part]), Histogram(bins=bins)(y[part])))

    return value


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize(
    "base",
    [Intersection(), Jensen().schoenberg(1.0), 5.0 * ProbabilityProduct(), ChiSquare().schoenberg(100.0)],
    ids=repr,
)
def test_it_is_the_sum_over_all_subtrees(depth: int, base: object) -> None:
    x, y = RNG.random((2, 8, 8, 3))
    k = NestedHistograms(depth, 0.375, base, bins=2)
    exact = float(enumerated(depth, Fraction(3, 8), values(x, y, base, 2)))
    assert k(x, y) == pytest.approx(exact, rel=1e-13)
    assert k.block([x], [y])[0, 0] == pytest.approx(exact, rel=1e-13)
    X = k._prepare(k.domain.validate([x, y]))
    assert k._block(X, None)[0, 1] == pytest.approx(exact, rel=1e-12)  # in logarithms


def test_there_are_83522_subtrees_of_depth_three() -> None:
    counts = [
        NestedHistograms(depth)._recurse(lambda cell: 1, lambda own, children: own + math.prod(children))
        for depth in range(5)
    ]
    assert counts[:4] == [1, 2, 17, 83522]
    assert [sum(1 for _ in subtrees((0, 0, 0), depth)) for depth in range(3)] == [1, 2, 17]
    assert counts[4] == 1 + 83522**4


def test_depth_three_by_all_83522_products() -> None:
    x, y = RNG.random((2, 8, 8, 3))
    base, e = Intersection(), 0.6
    value = values(x, y, base, 2)

    def below(cell: Cell) -> np.ndarray:
        """Weighted products of all subtrees of a cell, one number each."""
        own, (level, row, column) = float(value(cell)), cell
        if level == 3:
            return np.array([own])
        parts = [below((level + 1, 2 * row + i, 2 * column + j)) for i in (0, 1) for j in (0, 1)]
        return np.append((1 - e) * own, e * np.einsum("i,j,k,l->ijkl", *parts).ravel())

    terms = below((0, 0, 0))
    assert len(terms) == 83522
    assert NestedHistograms(3, e, base, bins=2)(x, y) == pytest.approx(math.fsum(terms), rel=1e-12)


def test_probabilities_add_up_to_one() -> None:
    x = RNG.random((16, 16, 3))
    for e in (0.0, 0.2, 1.0):
        assert NestedHistograms(4, e)(x, x) == pytest.approx(1.0, rel=1e-13)


def test_the_ends_of_epsilon() -> None:
    x, y = RNG.random((2, 8, 8, 3))
    assert NestedHistograms(3, 0.0, bins=2)(x, y) == pytest.approx(ColorHistogram(bins=2)(x, y), rel=1e-15)
    cells = [Histogram(bins=2).cells(image, 2)[5:] for image in (x, y)]
    base = ChiSquare().schoenberg(0.1)
    product = math.prod(base(a, b) for a, b in zip(*cells, strict=True))
    k = NestedHistograms(2, 1.0, base, bins=2)
    assert k(x, y) == pytest.approx(product, rel=1e-13)
    assert k._block(k._prepare([x, y]), None)[0, 1] == pytest.approx(product, rel=1e-13)


def test_values_of_zero() -> None:
    black, white = np.zeros((4, 4)), np.ones((4, 4))
    half = np.vstack([black[:2], white[2:]])
    for base in (Intersection(), 3.0 * Intersection()):
        k = NestedHistograms(2, 0.5, base, bins=2)
        np.testing.assert_array_equal(k.block([black], [white]), [[0.0]])
        assert k.block([black], [half])[0, 0] == pytest.approx(k(black, half), rel=1e-14)


def test_products_beyond_the_range_of_floats_may_meet() -> None:
    """Those of the 64 cells of a quarter are 1e384 on the left and 1e-384 on the right."""
    x, y = np.zeros((16, 16)), np.zeros((16, 16))
    x[:, 8:] = 1.0
    k = NestedHistograms(4, 1.0, 1e6 * Intersection() + Constant(1e-6), bins=2)
    product = math.exp(128 * (math.log(1e6 + 1e-6) + math.log(1e-6)))
    assert k(x, y) == pytest.approx(product, rel=1e-11)
    assert k.block([x], [y])[0, 0] == pytest.approx(product, rel=1e-11)
    with pytest.raises(ParameterError, match="overflows on these points"):
        k(x, x)


def test_certificates_and_bounds() -> None:
    assert NestedHistograms().certificate.verdict is Verdict.PSD
    assert "Schur" in NestedHistograms().certificate.positive.rule
    assert NestedHistograms().bounds.high == 1.0
    assert NestedHistograms(kernel=Intersection()).bounds.high == math.inf
    assert NestedHistograms(kernel=ChiSquare()).certificate.verdict is Verdict.UNKNOWN


def test_wrong_arguments() -> None:
    with pytest.raises(ParameterError, match=r"NestedHistograms: `kernel` must be known to be >= 0"):
        NestedHistograms(kernel=Linear())
    with pytest.raises(ParameterError, match=r"NestedHistograms: `epsilon` must be .* Got 1.5"):
        NestedHistograms(epsilon=1.5)
    with pytest.raises(ParameterError, match=r"NestedHistograms: `depth` must be an integer >= 0 and <= 6"):
        NestedHistograms(7)
    with pytest.raises(InputError, match=r"X\[0\] must have at least 8 x 8 pixels. Got 7 x 9"):
        NestedHistograms(3).block([np.zeros((7, 9))])
