"""Time series of any lengths, with one or several channels."""

from typing import Any

import numpy as np
import pytest

from mercer.arithmetic import FLOAT
from mercer.domains import Series, Vectors, items, join, lower, meet, take
from mercer.errors import DomainError, InputError, ParameterError

DOMAIN = Series()
NAN, INF = float("nan"), float("inf")


def lists(X: Any, domain: Series = DOMAIN) -> list[Any]:
    return [x.tolist() for x in domain.validate(X)]


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ([], []),
        ([3], [[3.0]]),
        ((1, 2.5), [[1.0], [2.5]]),
        (np.array([1, 2], dtype=np.int8), [[1.0], [2.0]]),
        (np.array([True, False]), [[1.0], [0.0]]),
        ([[1, 2], [3, 4], [5, 6]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        (np.arange(6.0).reshape(3, 2).T, [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]),
        (range(3), [[0.0], [1.0], [2.0]]),
        (np.array([1, 2], dtype=object), [[1.0], [2.0]]),
        (np.zeros((0, 3)), []),
    ],
    ids=repr,
)
def test_what_a_series_may_be(given: Any, steps: list[Any]) -> None:
    assert lists([given]) == [steps]
    assert DOMAIN.point(given).tolist() == steps


def test_many_series_in_any_container() -> None:
    assert lists(np.array([[1, 2], [3, 4]])) == [[[1.0], [2.0]], [[3.0], [4.0]]]
    assert lists(np.arange(8).reshape(2, 2, 2)) == [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0], [6.0, 7.0]]]
    assert lists(x for x in ([1], [2, 3])) == [[[1.0]], [[2.0], [3.0]]]
    assert lists(np.array([[1.0], [2.0, 3.0]], dtype=object)) == [[[1.0]], [[2.0], [3.0]]]
    assert lists([]) == []
    assert lists(np.empty((0, 5))) == []
    data = DOMAIN.validate([[1.0]])
    assert DOMAIN.validate(data) is data
    assert data.values.flags.c_contiguous
    assert data.values.dtype == np.float64


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
    assert lists([frame]) == [[[1.0, 3.0], [2.0, 4.0]]]
    assert lists([pandas.Series([1, 2]), pandas.Series([3.0])]) == [[[1.0], [2.0]], [[3.0]]]
    assert lists(frame) == [[[1.0], [3.0]], [[2.0], [4.0]]]  # rows are series, as in an array
    assert lists([pandas.Series([1, None])], Series(missing="drop")) == [[[1.0]]]


def test_empty_series_fit_any_number_of_channels() -> None:
    data = DOMAIN.validate([[], [[1.0, 2.0]], []])
    assert (data.channels, data.lengths.tolist()) == (2, [0, 1, 0])
    DOMAIN.match(DOMAIN.validate([[]]), data)
    x, y = DOMAIN.pair([], [[1.0, 2.0]])
    assert (len(x), y.tolist()) == (0, [[1.0, 2.0]])
    assert Series(channels=3).validate([[]]).channels == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abc", r"X must be a collection of time series. Got str"),
        (3.0, r"X must be a collection .* Got float. For a single series pass a list of one: \[X\]"),
        (np.array([1.0, 2.0]), r"X must be an array of shape \(n, length\) .* Got shape \(2,\)"),
        (np.zeros((1, 1, 1, 1)), r"Got shape \(1, 1, 1, 1\)"),
        ([1.0, 2.0], r"X\[0\] must be a series of numbers or of vectors. Got 1.0"),
        ([[1.0], "ab"], r"X\[1\] must be a series .* Got 'ab'"),
        ([["a", "b"]], r"X\[0\] must be real numbers. Got list of type <U1"),
        ([[1j, 2]], r"X\[0\] must be real numbers. Got list of type complex128"),
        ([[[1, 2], [3]]], r"X\[0\] must be numbers, or rows of equally many numbers"),
        ([np.zeros((2, 2, 2))], r"X\[0\] must be an array of shape"),
        ([[1.0], [], [[1.0, 2.0]]], r"X\[2\] must have as many channels .* Got 2 and 1"),
        ([np.zeros((2, 0))], "X must have at least one channel"),
        ([[1.0], [1.0, 2.0, NAN]], r"X\[1\] must have no missing numbers. Got NaN at step 2"),
        ([[1.0], [[1.0], [INF]]], r"X\[1\] must be finite numbers up to 1e\+150, .* Got inf at step 1"),
        ([[-INF, NAN]], r"X\[0\] must be finite .* Got -inf at step 0"),
        ([[1.0, -2e150]], r"whose squares do not overflow. Got -2e\+150 at step 1"),
        (np.array([[1.0, NAN]]), r"X\[0\] must have no missing .* at step 1"),
        ([np.ma.masked_array([1.0, 2.0], [False, True])], r"X\[0\] must have no missing .* at step 1"),
    ],
)
def test_what_is_not_a_series(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DOMAIN.validate(given)


def test_missing_steps_may_be_dropped() -> None:
    drop = Series(missing="drop")
    assert lists([[NAN, 1.0], [NAN]], drop) == [[[1.0]], []]
    assert lists([[[1.0, NAN], [2.0, 3.0]]], drop) == [[[2.0, 3.0]]]
    assert lists(np.ma.masked_invalid([[NAN, 1.0], [2.0, 3.0]]), drop) == [[[1.0]], [[2.0], [3.0]]]
    with pytest.raises(InputError, match="Got inf at step 0"):
        drop.validate([[INF, NAN]])


def test_parameters_of_the_domain() -> None:
    with pytest.raises(ParameterError, match="`missing` must be 'error' or 'drop'"):
        Series(missing="fill")
    with pytest.raises(ParameterError, match="`channels` must be an integer >= 1 or None"):
        Series(channels=0)
    with pytest.raises(InputError, match=r"x\[0\] must have 2 channel\(s\). Got 1"):
        Series(channels=2).point([1.0])
    with pytest.raises(InputError, match="Y must have as many channels as X"):
        DOMAIN.match(DOMAIN.validate([[[1.0, 2.0]]]), DOMAIN.validate([[1.0]]))
    assert meet(Series(), Series(2), Series(missing="drop")) == Series(2)
    assert meet(Series(missing="drop"), Series(missing="drop")) == Series(missing="drop")
    for other in (Series(3), Vectors()):
        with pytest.raises(DomainError):
            meet(Series(2), other)
    assert (str(Series()), str(Series(2))) == ("time series", "time series of 2 channel(s)")


def test_selections() -> None:
    data = DOMAIN.validate([[1, 2, 3], [], [4], [5, 6]])
    flat = [[1.0, 2.0, 3.0], [], [4.0], [5.0, 6.0]]

    def values(selection: Any) -> list[list[float]]:
        return [x[:, 0].tolist() for x in items(selection)]

    assert values(take(data, slice(1, 3))) == flat[1:3]
    assert values(take(take(data, slice(1, 4)), np.array([2, 0, 2]))) == [flat[3], [], flat[3]]
    assert values(take(data, slice(3, 1))) == []
    assert values(take(data, np.array([True, False, False, True]))) == [flat[0], flat[3]]
    assert take(data, slice(2, 4)).steps[:, 0].tolist() == [4.0, 5.0, 6.0]
    assert values(join(DOMAIN, data, DOMAIN.validate([[7]]))) == [*flat, [7.0]]


def test_digests_go_by_the_numbers() -> None:
    a, b, c, d = DOMAIN.digests([[0.0, 1.0], [-0.0, 1], [1.0, 0.0], []])
    assert a == b == DOMAIN.digest(np.array([[0.0], [1.0]]))
    assert len({a, c, d}) == 3


def test_lifting_and_lowering() -> None:
    x = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(lower(DOMAIN.lift(x, FLOAT)), x)
    assert lower(DOMAIN.lift(x[:0], FLOAT)).shape == (0, 2)


def test_samples_are_series() -> None:
    sample = Series(2).sample(50, np.random.default_rng(0))
    assert {x.shape[1] for x in Series(2).validate(sample)} == {2}
    assert 0 in Series(2).validate(sample).lengths
