"""Time series of any lengths, with one or several channels."""

from typing import Any

import numpy as np
import pytest

from mercer.arithmetic import FLOAT
from mercer.domains import Series, Vectors, items, join, meet, take, to_float
from mercer.errors import DomainError, InputError, ParameterError

DOMAIN = Series()
NAN, INF = float("nan"), float("inf")


def lists(X: Any, domain: Series = DOMAIN) -> list[Any]:
    return [x.tolist() for x in domain.validate(X)]


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        ([3], [[3.0]]),
        ((1, 2.5), [[1.0], [2.5]]),
        (np.array([1, 2], dtype=np.int8), [[1.0], [2.0]]),
        (np.array([True, False]), [[1.0], [0.0]]),
        ([[1, 2], [3, 4], [5, 6]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        (np.arange(6.0).reshape(3, 2).T, [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]),
        (range(3), [[0.0], [1.0], [2.0]]),
        (np.array([1, 2], dtype=object), [[1.0], [2.0]]),
    ],
    ids=repr,
)
def test_what_a_series_may_be(given: Any, steps: list[Any]) -> None:
    assert lists([given]) == [steps]
    assert DOMAIN.point(given).tolist() == steps


def test_many_series_in_any_container() -> None:
    assert lists(np.array([[1, 2], [3, 4]])) == [[[1.0], [2.0]], [[3.0], [4.0]]]
    assert lists(np.array([[[1], [2]], [[3], [4]]])) == [[[1.0], [2.0]], [[3.0], [4.0]]]
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


# -- axes ---------------------------------------------------------------------------------------
STACK = np.arange(24.0).reshape(2, 3, 4)


def test_axes_are_read_as_the_layout_says() -> None:
    for given in (STACK, list(STACK), STACK.tolist(), np.array([*STACK, None], dtype=object)[:-1]):
        assert lists(given, Series(layout="time_first")) == STACK.tolist()
        assert lists(given, Series(layout="channels_first")) == STACK.transpose(0, 2, 1).tolist()
    assert lists(list(STACK)) == STACK.tolist()  # a series of two axes has time first
    for layout in ("time_first", "channels_first"):
        domain = Series(layout=layout)
        assert lists(np.array([[1, 2], [3, 4]]), domain) == [[[1.0], [2.0]], [[3.0], [4.0]]]
        assert lists([[1, 2], [3]], domain) == [[[1.0], [2.0]], [[3.0]]]
        with pytest.raises(InputError, match="must have as many channels"):
            domain.validate([np.zeros((2, 3)), np.zeros((3, 4))])
    first = Series(layout="channels_first")
    assert [x.shape for x in first.validate([np.zeros((2, 5)), np.zeros((2, 9))])] == [(5, 2), (9, 2)]


def test_an_array_that_could_be_either_is_refused() -> None:
    for shape in ((2, 3, 4), (5, 4, 4), (7, 1, 30), (2, 30, 3)):
        for channels in (None, 4 if shape[1:] == (4, 4) else 8):
            with pytest.raises(
                InputError, match=r"X must say which axis is time. .*'time_first'.*'channels_first'"
            ):
                Series(channels).validate(np.zeros(shape))
    assert DOMAIN.validate(np.zeros((2, 30, 1))).lengths.tolist() == [30, 30]
    assert lists(STACK, Series(4)) == STACK.tolist()
    assert lists(STACK, Series(3)) == STACK.transpose(0, 2, 1).tolist()
    assert DOMAIN.validate(np.zeros((2, 1, 1))).lengths.tolist() == [1, 1]

    class Tensor:  # an array of another library
        ndim = 3

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return STACK

        def __iter__(self) -> Any:
            return iter(STACK)

    with pytest.raises(InputError, match="which axis is time"):
        DOMAIN.validate(Tensor())


def test_validated_series_are_not_turned_again() -> None:
    domain = Series(layout="channels_first")
    data = domain.validate(STACK)
    assert lists(items(data), domain) == lists(data, domain)
    assert lists(join(domain, data, take(data, np.array([1]))), domain) == lists(STACK[[0, 1, 1]], domain)
    assert domain.point(domain.point(STACK[0])).shape == (4, 3)
    assert "array([[ 0.,  4.,  8.]" in repr(domain.point(STACK[0]))
    assert domain.digests(STACK) == Series(layout="time_first").digests(STACK.transpose(0, 2, 1))
    sample = Series(2, layout="channels_first").sample(9, np.random.default_rng(0))
    assert Series(2, layout="channels_first").validate(sample).channels == 2


def test_rows_of_a_frame_are_steps_in_any_layout() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [3.0, 4.0, 5.0]})
    assert lists([frame], Series(layout="channels_first")) == [[[1.0, 3.0], [2.0, 4.0], [3.0, 5.0]]]


def test_layouts_that_do_not_agree_have_no_series_in_common() -> None:
    first, last = Series(layout="channels_first"), Series(layout="time_first")
    assert meet(first, Series(3)) == Series(3, layout="channels_first")
    with pytest.raises(DomainError, match="channels first"):
        meet(first, last)
    with pytest.raises(ParameterError, match="`layout` must be one of None, 'time_first', 'channels_first'"):
        Series(layout="rows")


@pytest.mark.parametrize("given", [[[1.0], []], [[1.0], np.zeros((0, 3))], [[[1.0, 2.0]], np.zeros((0, 2))]])
def test_empty_series_are_named(given: Any) -> None:
    with pytest.raises(InputError, match=r"X\[1\] must have at least one step. Got an empty series"):
        DOMAIN.validate(given)
    with pytest.raises(InputError, match=r"X\[0\] must have at least one step"):
        DOMAIN.validate(np.empty((3, 0)))


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abc", r"X must be a collection of time series. Got str"),
        (3.0, r"X must be a collection .* Got float. For a single series pass a list of one: \[X\]"),
        (np.array([1.0, 2.0]), r"X must be an array of two axes \(n, length\), .* Got shape \(2,\)"),
        (np.zeros((1, 1, 1, 1)), r"Got shape \(1, 1, 1, 1\)"),
        ([1.0, 2.0], r"X\[0\] must be a series of numbers or of vectors. Got 1.0"),
        ([[1.0], "ab"], r"X\[1\] must be a series .* Got 'ab'"),
        ([["a", "b"]], r"X\[0\] must be real numbers. Got list of type <U1"),
        ([[1j, 2]], r"X\[0\] must be real numbers. Got list of type complex128"),
        ([[[1, 2], [3]]], r"X\[0\] must be numbers, or rows of equally many numbers"),
        ([np.zeros((2, 2, 2))], r"X\[0\] must be an array of one axis"),
        ([[1.0], [2.0], [[1.0, 2.0]]], r"X\[2\] must have as many channels .* Got 2 and 1"),
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
    assert lists([[NAN, 1.0], [2.0]], drop) == [[[1.0]], [[2.0]]]
    with pytest.raises(InputError, match=r"X\[1\] must have a step without missing .* each of 2 steps"):
        drop.validate([[NAN, 1.0], [NAN, NAN]])
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
    data = DOMAIN.validate([[1, 2, 3], [9], [4], [5, 6]])
    flat = [[1.0, 2.0, 3.0], [9.0], [4.0], [5.0, 6.0]]

    def values(selection: Any) -> list[list[float]]:
        return [x[:, 0].tolist() for x in items(selection)]

    assert values(take(data, slice(1, 3))) == flat[1:3]
    assert values(take(take(data, slice(1, 4)), np.array([2, 0, 2]))) == [flat[3], flat[1], flat[3]]
    assert values(take(data, slice(3, 1))) == []
    assert values(take(data, np.array([True, False, False, True]))) == [flat[0], flat[3]]
    assert take(data, slice(2, 4)).steps[:, 0].tolist() == [4.0, 5.0, 6.0]
    assert values(join(DOMAIN, data, DOMAIN.validate([[7]]))) == [*flat, [7.0]]


def test_digests_go_by_the_numbers() -> None:
    a, b, c, d = DOMAIN.digests([[0.0, 1.0], [-0.0, 1], [1.0, 0.0], [0.0]])
    assert a == b == DOMAIN.digest(np.array([[0.0], [1.0]]))
    assert len({a, c, d}) == 3


def test_to_arithmetic_and_to_float() -> None:
    x = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(to_float(DOMAIN.to_arithmetic(x, FLOAT)), x)
    assert to_float(DOMAIN.to_arithmetic(x[:0], FLOAT)).shape == (0, 2)


def test_samples_are_series() -> None:
    sample = Series(2).sample(50, np.random.default_rng(0))
    assert {x.shape[1] for x in Series(2).validate(sample)} == {2}
    assert set(Series(2).validate(sample).lengths.tolist()) == set(range(1, 9))
