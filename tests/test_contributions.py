"""What kernel values are made of, through the algebra."""

from collections.abc import Iterator
from typing import Any

import pytest

from mercer import Kernel
from mercer.contributions import Contribution, Contributions
from mercer.domains import Domain, Sequences
from mercer.errors import DomainError
from mercer.kernels import Gaussian


class Letters(Kernel):
    """Inner product of the counts of letters."""

    @property
    def domain(self) -> Domain:
        return Sequences()

    def __call__(self, x: Any, y: Any) -> float:
        return float(sum(x.count(a) * y.count(a) for a in set(x)))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        for a in set(x) & set(y):
            places = tuple(tuple((i, i + 1) for i, b in enumerate(s) if a == b) for s in (x, y))
            yield Contribution(a, float(x.count(a) * y.count(a)), *places)


def test_weights_add_up_and_the_largest_comes_first() -> None:
    found = Letters().contributions("abca", "aaxb")
    assert [(c.pattern, c.weight) for c in found] == [("a", 4.0), ("b", 1.0)]
    assert found.total == Letters()("abca", "aaxb") == 5.0
    assert found[0].x_places == ((0, 1), (3, 4))
    assert found[0].y_places == ((0, 1), (1, 2))
    assert str(found).splitlines()[1] == "   4.0  'a'  [0:1 3:4 | 0:1 1:2]"
    assert len(found[:1]) == 1
    assert "&#x27;a&#x27;" in found._repr_html_()


@pytest.mark.parametrize(
    "k",
    [
        2.5 * Letters(),
        Letters() + 3.0 * Letters(),
        Letters().normalized(),
        (Letters() - 0.5 * Letters().normalized()),
        Letters().assume("PSD"),
        Letters().on(lambda x: "".join(x).lower(), domain=Sequences()),
    ],
    ids=str,
)
def test_the_algebra_passes_them_on(k: Kernel) -> None:
    x, y = "abca", "aaxb"
    assert k.contributions(x, y).total == pytest.approx(k(x, y), rel=1e-14)


def test_nothing_shared() -> None:
    assert len(Letters().normalized().contributions("", "a")) == 0
    assert Contributions([]).total == 0.0


def test_kernels_that_have_no_patterns_say_so() -> None:
    with pytest.raises(DomainError, match=r"Gaussian\(\) does not know which patterns"):
        Gaussian(1.0).contributions([0.0], [1.0])


def test_long_tables_add_up_the_rest() -> None:
    found = Contributions(Contribution(i, 1.0 + i) for i in range(30))
    assert "in 10 more" in found._repr_html_()
    lines = str(found).splitlines()
    assert len(lines) == 22
    assert lines[-1].split() == ["55.0", "in", "10", "more"]


def test_places_keep_their_own_weights_when_contributions_become_one() -> None:
    parts = [
        Contribution("a", 3.0, ((0, 1), (4, 5)), ((2, 3),)),
        Contribution("a", 1.0, ((4, 5),), ((7, 8),)),
        Contribution("b", 0.5),
    ]
    a, b = Contributions(parts)
    assert a.placed() == {(0, 1): 1.5, (4, 5): 2.5}
    assert a.placed("y") == {(2, 3): 3.0, (7, 8): 1.0}
    assert a.scaled(2.0).placed() == {(0, 1): 3.0, (4, 5): 5.0}
    assert b.placed() == {}
    again = Contributions([*Contributions(parts)[:1], Contribution("a", 1.0, ((0, 1),))])
    assert again[0].placed() == {(0, 1): 2.5, (4, 5): 2.5}
