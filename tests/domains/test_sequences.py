"""Sequences of letters or of any symbols."""

from typing import Any

import numpy as np
import pytest

from mercer.domains import Sequences, items, join, take
from mercer.errors import DigestError, InputError
from mercer.kernels import BagOfWords, NGram

DOMAIN = Sequences()


def decoded(X: Any) -> list[tuple[Any, ...]]:
    """Symbols of each sequence, read off the codes."""
    data = DOMAIN.validate(X)
    symbols = data.alphabet.elements
    spans = zip(data.starts[:-1], data.starts[1:], strict=True)
    return [tuple(symbols[c] for c in data.codes[a:b]) for a, b in spans]


@pytest.mark.parametrize(
    ("given", "point"),
    [
        ("", ""),
        ("gattaca", "gattaca"),
        ("a\0b", "a\0b"),
        ("\U0001f600x\U0001f600", "\U0001f600x\U0001f600"),
        ("e\u0301", "e\u0301"),
        ("\ud800", "\ud800"),
        (np.str_("ab"), "ab"),
        (["a", "b"], "ab"),
        (("a", "bc"), ("a", "bc")),
        ((), ""),
        (b"ab", "ab"),
        ([b"ab", 1], ("ab", 1)),
        (np.array([3, 1, 3]), (3, 1, 3)),
        (np.array(["x", "yz"]), ("x", "yz")),
        ([None, 1, "1", (2, 3)], (None, 1, "1", (2, 3))),
        (range(3), (0, 1, 2)),
        ([np.int64(2), 2], (2, 2)),
    ],
)
def test_what_a_sequence_may_be(given: Any, point: Any) -> None:
    assert DOMAIN.point(given) == point
    assert decoded([given]) == [tuple(point)]
    assert items(DOMAIN.validate([given])) == [point]
    assert decoded([given, (("other",),)]) == [tuple(point), (("other",),)]


def test_many_sequences_in_any_container() -> None:
    assert decoded(np.array([["ab"], ["b"]])) == decoded(np.array(["ab", "b"])) == [("a", "b"), ("b",)]
    assert decoded(s for s in ("ab", "", "b")) == [("a", "b"), (), ("b",)]
    assert decoded([]) == []
    assert decoded(["ab", ["b", "zz"]]) == [("a", "b"), ("b", "zz")]


def test_selections_share_the_alphabet() -> None:
    data = DOMAIN.validate(["abc", "", "cab", "d"])
    assert items(take(data, slice(1, 3))) == ["", "cab"]
    assert items(take(take(data, slice(1, 4)), np.array([2, 0, 2]))) == ["d", "", "d"]
    assert items(take(data, slice(3, 1))) == []
    assert items(take(data, np.array([True, False, False, True]))) == ["abc", "d"]
    assert take(data, slice(1, 3)).alphabet is data.alphabet
    assert items(join(DOMAIN, data, DOMAIN.validate(["xyz"]))) == ["abc", "", "cab", "d", "xyz"]


def test_codes_of_another_alphabet() -> None:
    X, Y = DOMAIN.validate(["ac"]), DOMAIN.validate(["", "cabx", "y"])
    moved = take(Y, slice(1, 3)).coded_like(X)
    codes = [moved.codes[a:b].tolist() for a, b in zip(moved.starts, moved.starts[1:], strict=False)]
    (c, a, b, x), (y,) = codes
    assert (a, c) == (0, 1)
    assert len({a, b, c, x, y}) == 5
    assert min(b, x, y) >= 2
    assert X.coded_like(X) is X


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abc", r"X must be a sequence of strings .* Got str. For a single one pass a list of one: \[X\]"),
        (b"abc", "X must be a sequence of strings .* Got bytes"),
        (3, "X must be a sequence of strings .* Got int"),
        (["a", 3], r"X\[1\] must be a string or a sequence of hashable symbols. Got 3"),
        (["a", None], r"X\[1\] is missing \(None\)"),
        ([{"a", "b"}], r"X\[0\] must be .* Got set, which has no order"),
        (["a", ["b", []]], r"X\[1\]\[1\] must be a hashable symbol: unhashable type: 'list'"),
        ([[1.0, float("nan")]], r"X\[0\]\[1\] is nan, which does not equal itself"),
        ([np.zeros((2, 2), dtype=int)], r"X\[0\] must be a one-dimensional array of symbols"),
        (np.full((2, 2, 2), "a"), "X must be .* in an array of one dimension"),
    ],
)
def test_what_is_not_a_sequence(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DOMAIN.validate(given)


def test_digests_go_by_the_symbols() -> None:
    a, b, c = DOMAIN.digests(["ab", ["a", "b"], ["ab"]])
    assert a == b == DOMAIN.digest(("a", "b")) != c
    with pytest.raises(DigestError, match="point 0"):
        DOMAIN.digests([[object()]])


def test_samples_are_sequences() -> None:
    sample = DOMAIN.sample(50, np.random.default_rng(0))
    assert items(DOMAIN.validate(sample)) == sample
    assert "" in sample


@pytest.mark.parametrize("kernel", [NGram(1), BagOfWords()], ids=repr)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_refused_with_their_columns(kernel, library):
    """Iterating over them gives the names of the columns, or whole columns, but no points."""
    frame = pytest.importorskip(library).DataFrame({"text": ["a b", "b"], "other": ["c", "d"]})
    with pytest.raises(
        InputError, match=r"X must be one column.*DataFrame with the columns \['text', 'other'\]"
    ):
        kernel.block(frame)
    assert kernel.block(frame["text"]).shape == (2, 2)


@pytest.mark.parametrize("kernel", [NGram(1), BagOfWords()], ids=repr)
def test_sets_are_refused_for_they_have_no_order(kernel):
    with pytest.raises(InputError, match=r"X must have an order. Got a set.*sorted\(X\)"):
        kernel.block({"a", "b"})
