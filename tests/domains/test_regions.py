"""Subsets of R^d: membership, messages, intersections, samples."""

import math

import numpy as np
import pytest
import scipy.sparse

from mercer.domains import EVERYWHERE, NONNEGATIVE, POSITIVE, UNIT_INTERVAL, Ball, Box, Region, Simplex
from mercer.domains.regions import Intersection
from mercer.errors import InputError

OPEN = Box(0.0, 1.0, open_low=True, open_high=True)


@pytest.mark.parametrize(
    ("region", "row", "inside"),
    [
        (EVERYWHERE, [-1e300, 1e300], True),
        (NONNEGATIVE, [0.0, 1e300], True),
        (NONNEGATIVE, [0.0, -1e-300], False),
        (POSITIVE, [1e-300, 1.0], True),
        (POSITIVE, [0.0, 1.0], False),
        (UNIT_INTERVAL, [0.0, 1.0], True),
        (UNIT_INTERVAL, [0.0, 1.0 + 1e-15], False),
        (OPEN, [0.5, 1.0], False),
        (OPEN, [0.5, 0.999], True),
        (Ball(2.0), [1.2, 1.6], False),
        (Ball(2.0, closed=True), [1.2, 1.6], True),
        (Ball(2.0), [1.2, 1.59], True),
        (Simplex(), [0.25, 0.75], True),
        (Simplex(), [0.25, 0.75 + 5e-7], True),
        (Simplex(), [0.25, 0.76], False),
        (Simplex(), [-0.25, 1.25], False),
        (Ball(1.0) & NONNEGATIVE, [0.5, 0.5], True),
        (Ball(1.0) & NONNEGATIVE, [0.5, -0.5], False),
        (Ball(1.0) & NONNEGATIVE, [2.0, 0.5], False),
    ],
)
def test_membership_dense_and_sparse(region: Region, row: list[float], inside: bool) -> None:
    for rows in (np.array([row]), scipy.sparse.csr_array([row])):
        if inside:
            region.check(rows, "X")
        else:
            with pytest.raises(InputError, match=r"^X must have"):
                region.check(rows, "X")


def test_messages_name_row_column_and_value() -> None:
    with pytest.raises(InputError, match=r"X must have entries >= 0. Got -2.0 in row 1, column 0\."):
        NONNEGATIVE.check(np.array([[1.0, 0.0], [-2.0, -3.0]]), "X")
    with pytest.raises(InputError, match=r"entries in \(0, 1\). Got 1.0 in row 0, column 1\."):
        OPEN.check(np.array([[0.5, 1.0]]), "X")
    with pytest.raises(InputError, match=r"norm below 1. Got norm 5 in row 1. Rescale"):
        Ball(1.0).check(np.array([[0.0, 0.0], [3.0, 4.0]]), "X")
    with pytest.raises(InputError, match=r"rows summing to 1. Got sum 3 in row 0. Divide"):
        Simplex().check(np.array([[1.0, 2.0]]), "X")


def test_sparse_rows_report_the_same_place_as_dense_ones() -> None:
    rows = np.array([[0.0, 0.0, 4.0], [0.0, -1.0, 0.0]])
    for form in (rows, scipy.sparse.csr_array(rows)):
        with pytest.raises(InputError, match=r"Got -1.0 in row 1, column 1"):
            NONNEGATIVE.check(form, "X")
    with pytest.raises(InputError, match=r"Got 0.0 in row 0, column 0"):
        POSITIVE.check(scipy.sparse.csr_array(rows), "X")


# -- intersections ------------------------------------------------------------------------------
def test_boxes_intersect_into_a_box_with_the_right_ends() -> None:
    assert NONNEGATIVE & POSITIVE == POSITIVE
    assert Box(0.0, 1.0, open_low=True) == POSITIVE & UNIT_INTERVAL
    assert Box(-1.0, 0.5) & Box(0.0, 2.0, open_low=True) == Box(0.0, 0.5, open_low=True)
    assert Box(-1.0, 1.0, open_high=True) & UNIT_INTERVAL == Box(0.0, 1.0, open_high=True)


def test_everywhere_is_neutral_and_the_simplex_absorbs_the_cube() -> None:
    for region in (NONNEGATIVE, Ball(), Simplex()):
        assert region & EVERYWHERE == region == EVERYWHERE & region
    assert Simplex() & NONNEGATIVE == Simplex() == NONNEGATIVE & Simplex()
    assert Simplex() & UNIT_INTERVAL == Simplex()
    assert isinstance(Simplex() & POSITIVE, Intersection)  # 0 is a coordinate of the simplex


# -- samples ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "region",
    [
        EVERYWHERE,
        NONNEGATIVE,
        POSITIVE,
        UNIT_INTERVAL,
        OPEN,
        Box(-math.inf, 3.0),
        Ball(0.3),
        Ball(0.3, closed=True),
        Simplex(),
        Ball(1.0) & NONNEGATIVE,
        Simplex() & POSITIVE,
    ],
)
def test_samples_lie_inside(region: Region) -> None:
    X = region.sample(40, 3, np.random.default_rng(0))
    assert X.shape[0] > 0
    assert X.shape[1] == 3
    region.check(X, "sample")
