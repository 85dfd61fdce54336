"""Fragments behind values and decisions, against their enumeration."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mercer.domains import Tree, Trees
from mercer.errors import InputError, ParameterError
from mercer.kernels import PartialTree, SubsetTree, SubTree, search
from mercer.kernels.trees import comparison
from mercer.machines import SVC, KernelRidge

from .oracle import inner, nested, nodes, partial_fragments, subset_fragments

pytestmark = pytest.mark.native

FORMS = [
    "(S (NP John) (VP (V saw) (NP Mary)))",
    "(S (NP Mary) (VP (V saw) (NP Mary)))",
    "(a)",
    "(a b b (a b))",
    "(a b (b c) b (a b b))",
    "(a (a (a a) a) a)",
]
TREES = [*map(Tree, FORMS), *Trees().sample(6, np.random.default_rng(3))]
KERNELS = [
    SubTree(0.5),
    SubTree(0.5, leaves=True),
    SubsetTree(0.5),
    SubsetTree(1.0, leaves=True),
    PartialTree(0.5, 0.5),
    PartialTree(0.25, 1.0, leaves=True),
]


def features(k: Any, tree: Tree) -> Counter[str]:
    """The feature of each fragment, by its bracket string; products of two are what it adds."""
    found: Counter[str] = Counter()
    for t in nodes(nested(tree)):
        if len(t) == 1 and not k.leaves:
            continue
        if isinstance(k, PartialTree):
            parts = list(partial_fragments(t, Fraction(k.gap_decay)))
        elif isinstance(k, SubTree) or len(t) == 1:
            parts = [(t, Fraction(1))]
        else:
            parts = [(f, Fraction(1)) for f in subset_fragments(t)]
        for fragment, weight in parts:
            size = len(list(nodes(fragment))) if isinstance(k, PartialTree) else max(inner(fragment), 1)
            # the same fragment has the same size: its root goes into one factor below
            found[str(Tree(fragment)), size] += weight
    return found


def expected(k: Any, x: Tree, y: Tree) -> dict[str, float]:
    a, b = features(k, x), features(k, y)
    both = {key: float(a[key] * b[key] * Fraction(k.decay) ** key[1]) for key in a if key in b}
    return {text: weight for (text, _), weight in both.items()}


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_contributions_are_the_common_fragments(k: Any) -> None:
    for x in TREES:
        for y in TREES:
            found = k.contributions(x, y)
            assert {c.pattern: c.weight for c in found} == pytest.approx(expected(k, x, y), rel=1e-13)
            assert found.total == pytest.approx(k(x, y), rel=1e-13)


def test_places_are_those_of_the_roots() -> None:
    found = {c.pattern: c for c in SubsetTree(0.5).contributions(FORMS[0], FORMS[1])}
    c = found["(NP Mary)"]
    assert (c.x_places, c.y_places) == (((6, 8),), ((1, 3), (6, 8)))
    assert found["(VP V (NP Mary))"].x_places == ((3, 8),)
    partial = {c.pattern: c for c in PartialTree(0.5, 0.5).contributions(FORMS[0], FORMS[1])}
    assert partial["(S (VP V))"].y_places == ((0, 8),)


@pytest.mark.parametrize("k", KERNELS, ids=repr)
def test_decisions_are_sums_over_fragments(k: Any) -> None:
    rng = np.random.default_rng(1)
    a, x = rng.standard_normal(len(TREES)), TREES[4]
    wanted: Counter[str] = Counter()
    for coefficient, point in zip(a, TREES, strict=True):
        for text, weight in expected(k, point, x).items():
            wanted[text] += coefficient * weight
    found = {c.pattern: c.weight for c in k._weighted_contributions(TREES, a, x)}
    assert found == pytest.approx({t: w for t, w in wanted.items() if w}, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("k", [SubsetTree(0.9), PartialTree(0.9, 0.9)], ids=repr)
def test_the_strongest_come_first_and_the_rest_is_summed(k: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.linspace(-1.0, 1.0, len(TREES))
    every = sorted(k._weighted_contributions(TREES, a, TREES[4]), key=lambda c: -abs(c.weight))
    monkeypatch.setattr(search, "MOST_PATTERNS", 4)
    *named, rest = k._weighted_contributions(TREES, a, TREES[4])
    assert rest.pattern == "all other fragments"
    assert [abs(c.weight) for c in named] == pytest.approx([abs(c.weight) for c in every[:4]])
    assert sum(c.weight for c in named) + rest.weight == pytest.approx(sum(c.weight for c in every))


def test_many_fragments() -> None:
    """A star with 60 pairs of children has 2^60 fragments: the heaviest are named, the sum is exact."""
    star = Tree(("s", *((f"p{i}", "w") for i in range(60))))
    found = SubsetTree(0.5).contributions(star, star)
    assert len(found) > 100
    assert {c.weight for c in found[1:121]} <= {0.5, 0.25}
    assert found.total == pytest.approx(SubsetTree(0.5)(star, star), rel=1e-12)


@pytest.mark.parametrize("k", [SubTree(0.5), SubsetTree(0.5).normalized(), PartialTree(0.5, 0.5)], ids=repr)
def test_machines_explain(k: Any) -> None:
    y = np.arange(len(TREES)) % 3
    machine = SVC(k, C=10.0).fit(TREES, y)
    for x in ("(S (NP John) (VP (V saw) (NP Mary)))", "(a b (b c) b)"):
        found = machine.explain(x)
        assert found.total == pytest.approx(found.value, abs=1e-9)
        assert found.prediction == machine.predict([x])[0]
        assert any(str(c.pattern).startswith("(") for c in found)
    ridge = KernelRidge(k, alpha=0.1).fit(TREES, y.astype(float))
    assert ridge.explain(FORMS[3]).total == pytest.approx(ridge.predict([FORMS[3]])[0], abs=1e-9)


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    star = Tree(("s", *((f"p{i}", "w") for i in range(1100))))
    with pytest.raises(ParameterError, match=r"the weights of these fragments overflow. Lower `decay`"):
        SubsetTree(1.0).contributions(star, star)
    monkeypatch.setattr(comparison, "MOST_NUMBERS", 100)
    with pytest.raises(InputError, match=r"contributions: the subtrees of x must have at most 100 nodes"):
        SubTree().contributions("(a " * 20 + ")" * 20, "(a)")
    with pytest.raises(InputError, match=r"contributions: tables of at most 100 numbers"):
        SubsetTree().contributions(("a", *"bcdefghijkl"), ("a", *"bcdefghijkl"))
