"""Sequences of letters or of any symbols."""

import warnings
from typing import Any

import numpy as np
import pytest

from mercer import gram
from mercer.domains import Sequences, items, join, take
from mercer.errors import DigestError, InputError
from mercer.features import Explicit, Nystrom
from mercer.kernels import BagOfWords, EditDistance, Mismatch, NGram, Spectrum
from mercer.machines import SVC, KernelPCA, KernelRidge

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


# -- one alphabet in two cases ----------------------------------------------------------------------
def warnings_of(call: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught if "in capitals and in small letters" in str(w.message)]


RNG = np.random.default_rng(0)
CAPITALS = ["".join(RNG.choice([*"ACGT"], 30)) for _ in range(8)]
SMALL = [s.lower() for s in CAPITALS]
MIXED = CAPITALS[:4] + SMALL[4:]
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
PROTEINS = ["".join(RNG.choice([*AMINO_ACIDS], 40)) for _ in range(8)]
SOFT_MASKED = [s[:10] + s[10:20].lower() + s[20:] for s in PROTEINS]


@pytest.mark.parametrize(
    ("points", "kind", "remedy"),
    [
        (MIXED, "DNA", 'Mismatch(3, 1, alphabet="ACGT")'),
        ([s[:10] + s[10:].lower() for s in CAPITALS], "DNA", 'Spectrum(3, ambiguity="skip")'),
        ([s.replace("T", "U").replace("t", "u") for s in MIXED], "DNA", "Spectrum"),
        ([*MIXED, "ACGTNRY", "acgtnry"], "DNA", "Spectrum"),
        (SOFT_MASKED, "proteins", 'LocalAlignment("blosum62")'),
        (PROTEINS[:4] + [s.lower() for s in PROTEINS[4:]], "proteins", 'LocalAlignment("blosum62")'),
    ],
)
def test_one_alphabet_in_two_cases_is_warned_of_once(points: list[str], kind: str, remedy: str) -> None:
    y = np.arange(8) % 2
    for use in (
        lambda: Spectrum(3).block(points),
        lambda: gram(NGram(2) + EditDistance(), points).dense(),
        lambda: SVC(Spectrum(3)).fit(points[:8], y),
        lambda: KernelRidge(Spectrum(3)).fit(points[:8], y),
        lambda: KernelPCA(Spectrum(3), n_components=1).fit_transform(points[:8]),
        lambda: Explicit(Spectrum(3)).fit(points),
        lambda: Spectrum(3).block(np.array(points)),
        lambda: Spectrum(3).block([list(p) for p in points]),
    ):
        (message,) = warnings_of(use)
        assert message.startswith(f"X looks like {kind} in capitals")
        assert "X = [x.upper() for x in X]" in message
        assert remedy in message


def test_new_points_in_the_other_case_are_warned_of() -> None:
    y = np.arange(8) % 2
    k = Spectrum(3)
    for machine in (SVC(k), KernelRidge(k), KernelRidge(approximation=Nystrom(k, 4))):
        assert warnings_of(lambda machine=machine: machine.fit(CAPITALS, y)) == []
        assert warnings_of(lambda machine=machine: machine.predict(CAPITALS)) == []
        assert len(warnings_of(lambda machine=machine: machine.predict(SMALL))) == 1
        assert len(warnings_of(lambda machine=machine: machine.predict(SMALL[:1]))) == 1
    features = Explicit(Spectrum(3)).fit(CAPITALS)
    assert len(warnings_of(lambda: features.transform(SMALL))) == 1
    assert len(warnings_of(lambda: gram(Spectrum(3), CAPITALS).cross(SMALL))) == 1
    assert len(warnings_of(lambda: Spectrum(3).block(CAPITALS, SMALL))) == 1
    assert len(warnings_of(lambda: Spectrum(3)(CAPITALS[0], SMALL[0]))) == 1


def test_the_warning_names_the_line_of_the_user() -> None:
    with pytest.warns(UserWarning, match="looks like DNA") as caught:
        SVC(Spectrum(3)).fit(MIXED, np.arange(8) % 2)
    assert [w.filename for w in caught] == [__file__]


SMILES = [
    "CCO", "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "CCl", "CBr", "c1ccsc1", "C1CCCCC1",
    "NC(N)=N", "Cn1cnc2c1", "CCN", "CSC", "ClCCBr", "CCNCC", "NCCCl", "FCF", "CSCC", "BrCC", "CNN", "CCCCCCl",
]  # fmt: skip
SURNAMES = [
    "Smith", "Johnson", "Miller", "Garcia", "Tang", "Chang", "Nagata", "Tanaka", "Cattan", "Gatt", "Hansen",
    "Lee", "Patel", "Meyer", "Andersen", "Grant", "Fischer", "Eriksen", "Darwin", "Watts", "Vance", "Knight",
]  # fmt: skip
MESSAGES = [
    "Free entry in a weekly comp to win tickets", "Ok lar, see you at ten", "CALL NOW to claim",
    "Nah I dont think so", "catch a cat at a taxi", "Thanks, at gate C",
]  # fmt: skip


@pytest.mark.parametrize(
    "points",
    [
        CAPITALS, SMALL, PROTEINS, [s.lower() for s in PROTEINS], SMILES, SURNAMES, MESSAGES,
        [s for s in SMILES if s.isalpha()] * 9, [m.replace(" ", "") for m in MESSAGES],
        ["Anna", "Nat", "Tan"], ["Aa", "bB", "cC"] * 20,
        [["ACGT", "acgt"], ["ACG", "acg"]] * 9, [list("Tag"), ["tag"]], [(1, 2), (2, "a")], ["", ""], [],
        ["GATTACA", "gattaca"][:1], ["abcdefghi", "ABCDEFGHI"] * 20, SURNAMES + SMILES,
    ],
)  # fmt: skip
def test_words_names_and_molecules_have_cases_of_their_own(points: Any) -> None:
    assert warnings_of(lambda: Spectrum(2).block(points)) == []


def test_declared_alphabets_are_not_warned_of() -> None:
    for kernel in (Spectrum(3, ambiguity="skip"), Mismatch(3, 1), Spectrum(2, reverse_complement=True)):
        assert warnings_of(lambda kernel=kernel: kernel.block(MIXED)) == []
        np.testing.assert_array_equal(kernel.block(MIXED), kernel.block(CAPITALS))
    assert warnings_of(lambda: Mismatch(2, 1, alphabet="ACGTacgt").block(MIXED)) == []
    assert warnings_of(lambda: Mismatch(2, 1, alphabet="ACGTacgt")(CAPITALS[0], SMALL[0])) == []
