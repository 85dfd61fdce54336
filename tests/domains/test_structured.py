"""Tuples of points, and matrices of similarities."""

import pickle
from typing import Any

import numpy as np
import pytest

from mercer.arithmetic import multiprecision
from mercer.domains import (
    NONNEGATIVE,
    Objects,
    Sets,
    Similarities,
    TupleColumns,
    Tuples,
    Vectors,
    items,
    take,
)
from mercer.errors import InputError

PAIRS = Tuples((Vectors(), Sets()))
ROWS: list[Any] = [([1.0, 2.0], {1}), ([3.0, 4.0], [1, 2]), (np.zeros(2), ())]


def test_tuples_are_stored_by_component() -> None:
    data = PAIRS.validate(ROWS)
    assert isinstance(data, TupleColumns)
    assert len(data) == 3
    np.testing.assert_array_equal(data.parts[0], [[1.0, 2.0], [3.0, 4.0], [0.0, 0.0]])
    assert data.parts[1] == [{1}, {1, 2}, frozenset()]
    points = items(take(data, np.array([2, 0])))
    assert [p[1] for p in points] == [frozenset(), {1}]
    assert PAIRS.validate(data) is data


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([([1.0], {1}), ([1.0],)], r"X\[1\] must be a tuple of 2 objects"),
        ([5], r"X\[0\] must be a tuple of 2 objects. Got 5"),
        (["ab"], r"X\[0\] must be a tuple of 2 objects. Got 'ab'"),
        (5, "X must be a sequence of tuples. Got int"),
        ([([1.0], {1}), ([np.nan], {1})], r"X\[:\]\[0\] must be finite. Got NaN in row 1"),
        ([([1.0], "abc")], r"X\[:\]\[1\]\[0\] must be a set"),
        ([([1.0], {1}), ([1.0, 2.0], {1})], r"X\[:\]\[0\] must be an array of real numbers"),
    ],
)
def test_errors_name_component_and_point(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PAIRS.validate(rows)


def test_components_must_match_between_x_and_y() -> None:
    X, Y = PAIRS.validate(ROWS), PAIRS.validate([([1.0], {1})])
    with pytest.raises(InputError, match=r"same number of columns. Got 2 and 1"):
        PAIRS.match(X, Y)
    PAIRS.match(X, None)
    PAIRS.match(X, PAIRS.validate([]))


def test_no_tuples() -> None:
    assert len(PAIRS.validate([])) == 0


def test_to_arithmetic_and_sample_go_by_component() -> None:
    point = PAIRS.point(ROWS[0])
    vector, elements = PAIRS.to_arithmetic(point, multiprecision(30))
    assert [float(v) for v in vector] == [1.0, 2.0]
    assert elements == {1}
    domain = Tuples((Vectors(dim=2, region=NONNEGATIVE), Sets()))
    domain.validate(domain.sample(10, np.random.default_rng(0)))


# -- similarities -------------------------------------------------------------------------------
K = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])


def test_rows_of_a_matrix_remember_their_columns() -> None:
    data = Similarities().validate(K)
    part = take(data, np.array([2, 0]))
    np.testing.assert_array_equal(part.values, K[[2, 0]])
    assert part.ids.tolist() == [2, 0]
    Similarities().match(part, data)
    np.testing.assert_array_equal(part.columns(np.array([1, 2])), K[[2, 0]][:, [1, 2]])
    np.testing.assert_array_equal(part.columns(np.array([2, 0])), K[np.ix_([2, 0], [2, 0])])


def test_rows_are_selected_without_a_copy_and_pickled_without_the_rest() -> None:
    A = np.eye(200)
    part = take(Similarities().validate(A), np.arange(5, 8))
    assert part.matrix is A
    assert np.shares_memory(part.values, A)
    data = pickle.dumps(part)
    assert len(data) < 4 * 200 * 8
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.values, A[5:8])
    np.testing.assert_array_equal(again.columns(again.ids), np.eye(3))
    np.testing.assert_array_equal(take(again, np.array([1])).columns(np.array([6])), [[1.0]])


def test_asymmetry_is_found_anywhere_and_a_part_need_not_have_it() -> None:
    A = np.ones((600, 600))
    A[3, 520] += 0.25
    data = Similarities().validate(A)
    assert data.asymmetry == (0.25, 3, 520)
    assert take(data, np.r_[0:3, 4:600]).asymmetry[0] == 0
    assert take(data, np.array([520, 3])).asymmetry[0] == 0.25
    single = np.ones((3, 3), dtype=np.float32)
    single[0, 1] += 1e-6
    assert Similarities().validate(single).asymmetry[0] == 0
    assert Similarities().validate(single.astype(np.float64)).asymmetry[0] > 0


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (K[:2], "square kernel matrix"),
        (K + np.triu(np.ones((3, 3)), 1), r"The largest asymmetry is 1, between entries \(0, 1\)"),
        (np.full((2, 2), np.inf), "infinity in row 0, column 0"),
        ([[1.0, "a"], ["a", 1.0]], "matrix of kernel values"),
        ([1.0, 2.0], "2-D matrix of kernel values. Got 1-D"),
    ],
)
def test_training_matrices_that_are_refused(matrix: Any, message: str) -> None:
    domain = Similarities()
    with pytest.raises(InputError, match=message):
        domain.match(domain.validate(matrix), None)


def test_asymmetry_of_rounding_is_accepted_and_lists_and_integers_too() -> None:
    domain = Similarities()
    domain.match(domain.validate(K + 1e-12 * np.triu(np.ones((3, 3)), 1)), None)
    domain.match(domain.validate([[1, 0], [0, 1]]), None)
    domain.match(domain.validate(np.zeros((0, 0))), None)
    assert domain.validate(K.astype(np.float32)).values.dtype == np.float32


def test_new_rows_need_all_training_columns() -> None:
    domain = Similarities()
    train = domain.validate(K)
    domain.match(domain.validate(np.ones((5, 3))), train)
    with pytest.raises(InputError, match="Got 2 columns for 3 training points"):
        domain.match(domain.validate(np.ones((5, 2))), train)


# -- anything -----------------------------------------------------------------------------------
def test_objects_take_any_sequence_but_not_a_single_thing() -> None:
    assert Objects().validate((1, "a", None)) == [1, "a", None]
    for single in ("abc", b"abc", {"a": 1}, 3, None):
        with pytest.raises(InputError, match="sequence of objects"):
            Objects().validate(single)
    assert Objects().pair("abc", {"a": 1}) == ("abc", {"a": 1})
