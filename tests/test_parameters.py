"""What a parameter may be, how it is stored, and that every error names it."""

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from mercer.errors import MercerError, ParameterError
from mercer.kernels import Gaussian, Linear
from mercer.parameters import Spec, canonical, identity, show

WIDTH = Spec(low=0.0, open_low=True, scale="log", ndim=(0, 1), rules=("median",))
DEGREE = Spec(low=1, high=9, integer=True)


REFUSED = [0, -1.0, math.nan, math.inf, None, True, "medium", b"1", 1j, {}, 10**400]
REFUSED += [[1.0, -1.0], [1.0, math.nan], [[1.0]], [[1.0], [2.0, 3.0]], ["1", "2"], [True, False], [1j]]


@pytest.mark.parametrize("value", REFUSED, ids=lambda v: repr(v)[:20])
def test_refused_widths_name_class_and_parameter(value: object) -> None:
    with pytest.raises(
        ParameterError, match=r"^Gaussian: `sigma` must be a finite number or a vector > 0 or "
    ):
        Gaussian(value)


@pytest.mark.parametrize("value", [0, 10, 2.5, 2.0, "2", None, True, [1, 2]])
def test_refused_degrees(value: object) -> None:
    with pytest.raises(ParameterError, match=r"K: `degree` must be an integer >= 1 and <= 9\. Got"):
        DEGREE.check("K", "degree", canonical(value, DEGREE))


def test_errors_are_value_errors_too() -> None:
    with pytest.raises(ValueError) as caught:
        Gaussian(-1.0)
    assert isinstance(caught.value, MercerError)
    assert "Got -1.0" in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [2, 2.0, np.float64(2), np.float32(2), np.int64(2), np.array(2), np.array(2.0), Fraction(2)],
)
def test_numbers_are_stored_as_python_floats(value: object) -> None:
    k = Gaussian(value)
    assert type(k.sigma) is float
    assert k == Gaussian(2.0)
    assert hash(k) == hash(Gaussian(2.0))
    assert repr(k) == "Gaussian(sigma=2.0)"


@pytest.mark.parametrize("value", [3, np.int32(3), np.array(3)])
def test_whole_numbers_are_stored_as_python_ints(value: object) -> None:
    stored = canonical(value, DEGREE)
    assert type(stored) is int
    DEGREE.check("K", "degree", stored)


def test_vectors_of_whole_numbers_stay_whole() -> None:
    spec = Spec(integer=True, ndim=(1,))
    stored = canonical([1, 2], spec)
    assert stored.dtype.kind == "i"
    spec.check("K", "orders", stored)


@pytest.mark.parametrize(
    "value", [[1, 2], (1.0, 2.0), np.array([1, 2]), np.array([1.0, 2.0], dtype=np.float32)]
)
def test_vectors_are_stored_as_read_only_copies(value: object) -> None:
    k = Gaussian(value)
    assert k.sigma.dtype == np.float64
    assert not k.sigma.flags.writeable
    assert k == Gaussian([1.0, 2.0])
    assert hash(k) == hash(Gaussian([1.0, 2.0]))
    with pytest.raises(ValueError, match="read-only"):
        k.sigma[0] = 5.0


def test_the_callers_array_is_not_shared() -> None:
    sigma = np.array([1.0, 2.0])
    k = Gaussian(sigma)
    before = hash(k)
    sigma[0] = 7.0
    assert k.sigma.tolist() == [1.0, 2.0]
    assert hash(k) == before
    assert sigma.flags.writeable


def test_what_a_kernel_holds_cannot_change() -> None:
    held = canonical({"a": [1.0, 2.0], "b": {1, 2}})
    assert held == {"a": (1.0, 2.0), "b": frozenset({1, 2})}
    for change in (
        lambda: held.update(c=1),
        lambda: held.__setitem__("a", 0),
        lambda: held.pop("a"),
        lambda: held.clear(),
        lambda: held.setdefault("c", 1),
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    with pytest.raises(TypeError, match="cannot be changed"):
        held |= {"c": 1}
    for twin in (pickle.loads(pickle.dumps(held)), copy.deepcopy(held), copy.copy(held)):
        assert twin == held
        assert type(twin) is type(held)
    nested = canonical(([1.0], np.array([2.0])))
    assert nested[0] == (1.0,)
    assert not nested[1].flags.writeable


def test_identity_tells_values_apart() -> None:
    values = [
        1,
        1.0,
        True,
        "1",
        (1,),
        np.array([1.0]),
        np.array([1]),
        np.array([[1.0]]),
        None,
        {"a": 1},
        {"a": 2},
    ]
    identities = [identity(v) for v in values]
    assert len(set(identities)) == len(values)
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})
    assert identity(np.array([1.0])) == identity(np.array([1.0]))


def test_choices() -> None:
    spec = Spec(choices=("sum", "product"))
    spec.check("K", "combine", "sum")
    for value in ("mean", 1, np.array(["sum", "sum"]), None):
        with pytest.raises(ParameterError, match=r"K: `combine` must be one of 'sum', 'product'\. Got"):
            spec.check("K", "combine", value)


def test_show_evaluates_back() -> None:
    for value in ((1.0,), (1.0, (2, 3)), "a'b", {"k": (1.0, 2.0)}, None, 1e-300, frozenset({1})):
        assert eval(show(value)) == value
    assert eval(show(np.array([[1.0, 0.1]]))) == [[1.0, 0.1]]
    assert show(test_show_evaluates_back) == "test_show_evaluates_back"


def test_requirements_read_as_sentences() -> None:
    with pytest.raises(ParameterError, match=r"must be a finite number > 0 and < 2\. Got 2\.0\."):
        Spec(low=0, high=2, open_low=True, open_high=True).check("K", "p", 2.0)
    with pytest.raises(ParameterError, match=r"must be a matrix\. Got 1\.0\."):
        Spec(ndim=(2,)).check("K", "A", 1.0)


def test_free_parameters_are_listed_with_range_and_scale() -> None:
    k = 0.5 * Gaussian(2.0) + Linear()
    free = k.parameters
    assert set(free) == {"term0__factor", "term0__base__sigma"}
    sigma = free["term0__base__sigma"]
    assert (sigma.value, sigma.low, sigma.high, sigma.scale) == (2.0, 0.0, math.inf, "log")
