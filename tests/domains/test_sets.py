"""Sets of any hashables, subsets of a universe, Gaussian measures."""

from typing import Any

import numpy as np
import pytest

from mercer.domains import Objects, Sets, Vectors, meet
from mercer.domains.measures import GaussianData, Gaussians, Subsets
from mercer.errors import DomainError, InputError


@pytest.mark.parametrize(
    ("given", "elements"),
    [
        ({1, 2}, {1, 2}),
        ([1, 1, 2], {1, 2}),
        (("a", ("b", 1)), {"a", ("b", 1)}),
        (np.array([3, 3, 4]), {3, 4}),
        ({"k": 1}, {"k"}),
        (range(3), {0, 1, 2}),
        ([None, frozenset(), 1.5, b"x"], {None, frozenset(), 1.5, b"x"}),
        ((), set()),
    ],
)
def test_what_a_set_may_be(given: Any, elements: set[Any]) -> None:
    assert Sets().validate([given]) == [frozenset(elements)]
    assert Sets().point(given) == elements
    assert Sets().pair(given, given) == (elements, elements)


def test_sets_come_in_any_sequence_and_generators_too() -> None:
    assert Sets().validate({i} for i in range(2)) == [{0}, {1}]
    assert Sets().validate(np.array([[1, 2], [2, 2]])) == [{1, 2}, {2}]
    assert Sets().validate([]) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abc", "X must be a sequence of sets. Got str"),
        (3, "X must be a sequence of sets. Got int"),
        ([{1}, "abc"], r"X\[1\] must be a set of hashables. Got the string 'abc'; write set\(X\[1\]\)"),
        ([[1], [[2]]], r"X\[1\] must be a set of hashables: .*unhashable"),
        ([{1}, 5], r"X\[1\] must be a set of hashables"),
    ],
)
def test_what_is_not_a_sequence_of_sets(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Sets().validate(given)


def test_subsets_of_a_universe() -> None:
    domain = Subsets(frozenset("abc"))
    assert domain.validate([{"a"}, []]) == [{"a"}, frozenset()]
    with pytest.raises(InputError, match=r"X\[1\] must be a subset of the universe. Got the element 'z'"):
        domain.validate([{"a"}, {"z"}])
    with pytest.raises(InputError, match="y must be a subset"):
        domain.pair({"a"}, {"z"})
    for point in domain.sample(20, np.random.default_rng(0)):
        domain.point(point)


def test_meets_of_set_domains() -> None:
    abc, bcd = Subsets(frozenset("abc")), Subsets(frozenset("bcd"))
    assert meet(abc, bcd) == Subsets(frozenset("bc"))
    assert meet(Sets(), abc) == abc == meet(abc, Sets())
    assert meet(Objects(), abc) == abc
    with pytest.raises(DomainError):
        meet(abc, Vectors())


def test_gaussians_are_validated_once_and_sliced() -> None:
    domain = Gaussians()
    data = domain.validate([(0.0, 1.0), ([2.0], [[3.0]])])
    assert isinstance(data, GaussianData)
    assert data.means.shape == (2, 1)
    assert data.covariances.shape == (2, 1, 1)
    assert domain.validate(data) is data
    assert data.take(np.array([1])).means.tolist() == [[2.0]]
    mean, covariance = domain.point((0.0, 1.0))
    assert (mean.tolist(), covariance.tolist()) == ([0.0], [[1.0]])


def test_gaussians_of_given_dimension_meet_and_sample() -> None:
    assert meet(Gaussians(), Gaussians(2)) == Gaussians(2)
    with pytest.raises(DomainError):
        meet(Gaussians(3), Gaussians(2))
    with pytest.raises(InputError, match=r"measure on R\^2. Got dimension 1"):
        Gaussians(2).validate([(0.0, 1.0)])
    Gaussians(2).validate(Gaussians(2).sample(10, np.random.default_rng(0)))
