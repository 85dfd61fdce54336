"""Ordered trees with labels: their forms, batches, and what is no tree."""

import copy
import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mercer.domains import Tree, Trees, items, join, owned, take
from mercer.errors import DigestError, InputError

DOMAIN = Trees()
DEEP = 100_000


class Node:
    """A tree in the manner of nltk: a method for the label, iteration over children."""

    def __init__(self, label: Any, *children: Any) -> None:
        self._label, self._children = label, list(children)

    def label(self) -> Any:
        return self._label

    def __iter__(self) -> Any:
        return iter(self._children)


SENTENCE = Tree._of(("S", "NP", "D", "the", "N", "dog", "VP", "sleeps"), [2, 2, 1, 0, 1, 0, 1, 0])


@pytest.mark.parametrize(
    "form",
    [
        "(S (NP (D the) (N dog)) (VP sleeps))",
        "(S(NP(D(the))(N(dog)))(VP(sleeps)))",
        " ( S\n (NP(D the)(N\tdog)) (VP sleeps ) ) ",
        b"(S (NP (D the) (N dog)) (VP sleeps))",
        np.str_("(S (NP (D the) (N dog)) (VP sleeps))"),
        ("S", ("NP", ("D", "the"), ("N", "dog")), ("VP", "sleeps")),
        ["S", ["NP", ("D", "the"), ["N", ["dog"]]], ("VP", np.str_("sleeps"))],
        ("S", Tree("(NP (D the) (N dog))"), Node("VP", "sleeps")),
        Node("S", Node("NP", Node("D", "the"), ("N", "dog")), Node("VP", "sleeps")),
        SENTENCE,
    ],
)
def test_the_forms_of_a_tree(form: Any) -> None:
    assert Tree(form) == DOMAIN.point(form) == DOMAIN.validate([form])[0] == SENTENCE


def test_trees_of_nltk() -> None:
    nltk = pytest.importorskip("nltk")
    assert Tree(nltk.Tree.fromstring(str(SENTENCE))) == SENTENCE
    with pytest.raises(InputError, match=r"Got one tree. Pass a list of one"):
        DOMAIN.validate(nltk.Tree.fromstring(str(SENTENCE)))


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Tree("(a)"), "Tree('(a)')"),
        (Tree("(a b (c d) e)"), "Tree('(a b (c d) e)')"),
        (Tree(("a b", 1, (None, ("c",)))), "Tree(('a b', (1,), (None, ('c',))))"),
        (Tree("( (S a))"), "Tree(('', ('S', ('a',))))"),
        (Tree((("N", 1), (("x",),))), "Tree((('N', 1), (('x',),)))"),
        (Tree(("(",)), "Tree(('(',))"),
    ],
)
def test_what_is_printed_can_be_read(tree: Tree, text: str) -> None:
    assert repr(tree) == text
    assert eval(text, {"Tree": Tree}) == tree


def test_a_tree_is_a_value() -> None:
    same, other = Tree(str(SENTENCE)), Tree("(S (NP (D the)) (N dog) (VP sleeps))")  # the labels alone agree
    assert same == SENTENCE
    assert hash(same) == hash(SENTENCE)
    assert other.labels == SENTENCE.labels
    assert other != SENTENCE
    assert SENTENCE != "S"
    assert pickle.loads(pickle.dumps(SENTENCE)) == copy.deepcopy(SENTENCE) == SENTENCE
    with pytest.raises(AttributeError, match="never changes"):
        SENTENCE.labels = ()
    with pytest.raises(ValueError, match="read-only"):
        SENTENCE.arities[0] = 1


def test_nodes_in_pre_order() -> None:
    assert len(SENTENCE) == 8
    assert SENTENCE.children == [[1, 6], [2, 4], [3], [], [5], [], [7], []]
    assert SENTENCE.sizes.tolist() == [8, 5, 2, 1, 2, 1, 2, 1]
    assert SENTENCE.subtree(1) == Tree("(NP (D the) (N dog))")
    assert SENTENCE.subtree(-1) == Tree("(sleeps)")


def test_batches() -> None:
    data = DOMAIN.validate(["(a b)", SENTENCE, "(a)", ("b", "a", ("b", "a"))])
    assert data.sizes.tolist() == [2, 8, 1, 4]
    assert items(take(data, slice(1, 3))) == [SENTENCE, Tree("(a)")]
    assert items(take(take(data, slice(1, 4)), np.array([2, 0, 2]))) == [data[3], SENTENCE, data[3]]
    assert items(take(data, np.array([True, False, True, False]))) == [Tree("(a b)"), Tree("(a)")]
    assert take(data, slice(0, 1)).labels is data.labels
    assert items(join(DOMAIN, data, DOMAIN.validate(["(z)"])))[3:] == [data[3], Tree("(z)")]
    assert len(DOMAIN.validate([])) == 0
    codes, vocabulary = take(data, np.array([0, 2, 3])).productions
    assert [vocabulary.elements[c] for c in codes] == [
        ("a", "b"), ("b",), ("a",), ("b", "a", "b"), ("a",), ("b", "a"), ("a",)
    ]  # fmt: skip
    assert items(pickle.loads(pickle.dumps(data))) == items(data)


def test_owned_points_stay() -> None:
    given = [["S", ["NP", "dog"]]]
    data = owned(DOMAIN.validate(given), given)
    given[0][1][1] = "cat"  # type: ignore[index]
    assert items(data) == [Tree("(S (NP dog))")]


def test_columns_of_frames() -> None:
    forms = ["(a b)", ("a", "b"), Tree("(a b)")]
    frame = pd.DataFrame({"t": pd.Series(forms, dtype=object)})
    assert items(DOMAIN.validate(frame["t"])) == items(DOMAIN.validate(frame)) == [Tree("(a b)")] * 3


def test_deep_and_wide_trees() -> None:
    text = "(a " * DEEP + "b" + ")" * DEEP
    nested: Any = "b"
    for _ in range(DEEP):
        nested = ("a", nested)
    tree = Tree(text)
    assert str(tree) == text
    assert Tree(nested) == tree == pickle.loads(pickle.dumps(tree))
    assert repr(tree) == f"Tree({text!r})"
    assert tree.sizes[0] == DEEP + 1
    assert len(DOMAIN.digests([tree])[0]) == 32
    assert len(DOMAIN.validate([tree]).productions[1]) == 3
    wide = Tree(("a", *map(str, range(DEEP))))
    assert wide.children[0] == list(range(1, DEEP + 1))


CYCLE: list[Any] = ["S", "a"]
CYCLE.append(["NP", CYCLE])
NODE_CYCLE = Node("S")
NODE_CYCLE._children.append(NODE_CYCLE)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("(S (NP John)", r"x: the bracket at position 0 is not closed: 1 '\)' missing"),
        ("(S (NP John", r"x: the bracket at position 3 is not closed: 2 '\)' missing"),
        ("(S a))", r"x: a bracket string ends before '\)' at position 5"),
        ("(S a) (T b)", r"x: a bracket string ends before '\(' at position 6"),
        ("S a", r"x: a bracket string must begin with '\('; got 'S' at position 0"),
        ("(S ())", r"x: the node at position 3 has no label"),
        ("", r"x must be a tree: .* Got the text ''"),
        (CYCLE, r"x must be a tree. A list in it contains itself: a cycle"),
        (NODE_CYCLE, r"x must be a tree. A Node in it contains itself: a cycle"),
        (("S", ()), r"x must be a tree. A tuple in it is empty: it has no label"),
        (("S", "a", {}), r"x: label\[2\] must be a hashable label: unhashable type: 'dict'"),
        (([1], "a"), r"x: label\[0\] must be a hashable label"),
        (("S", float("nan")), r"x: label\[1\] is nan, which does not equal itself"),
        (None, r"x is missing"),
        (3, r"x must be a tree: .* Got int"),
        ({"S": "a"}, r"x must be a tree: .* Got dict"),
    ],
)
def test_what_is_no_tree(form: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DOMAIN.point(form)
    with pytest.raises(InputError, match=message.replace("x", r"X\[1\]", 1)):
        DOMAIN.validate([("a",), form])


def test_one_subtree_in_two_places_is_no_cycle() -> None:
    part = ["NP", "dog"]
    assert Tree(["S", part, part]) == Tree("(S (NP dog) (NP dog))")


@pytest.mark.parametrize("X", ["(S a)", SENTENCE, ("S", ("NP", "a")), ["S", "a"], Node("S", "a"), 5])
def test_one_tree_instead_of_a_list(X: Any) -> None:
    with pytest.raises(InputError, match=r"Pass a list of one|pass a list of one"):
        DOMAIN.validate(X)


def test_digests() -> None:
    first, second = DOMAIN.digests(["(S (NP a) b)", "(S (NP a b))"])
    assert first != second
    assert DOMAIN.digest(("S", ["NP", "a"], "b")) == first
    with pytest.raises(DigestError, match="point 1"):
        DOMAIN.digests([("a",), (frozenset, "b")])
    code = "from mercer.domains import Trees; print(Trees().digest('(S (NP a) b)'))"
    for seed in "01":
        found = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        assert found.stdout.strip() == first


def test_random_trees() -> None:
    found = DOMAIN.sample(50, np.random.default_rng(0))
    assert len(set(found)) > 10
    assert all(Tree(str(tree)) == tree for tree in found)
