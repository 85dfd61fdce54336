"""The same input is the same points, or the same error, in every kernel on strings."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from mercer.errors import DomainError, InputError
from mercer.kernels import (
    AllSubsequences,
    BagOfWords,
    Compression,
    ContextTree,
    EditDistance,
    Factors,
    GappedKmer,
    GappyNGram,
    LocalAlignment,
    Mismatch,
    NGram,
    RegexCount,
    Spectrum,
    Subsequence,
    WeightedDegree,
    Wildcard,
)
from mercer.machines import SVC
from mercer.sequences import DNA, FastaRecord, SequencesOver, read_fasta, write_fasta

STRINGS = ["GATTACAT", "CATCATGG", "GATTCATG", "CAGCATTA"]
LABELS = np.array([0, 1, 0, 1])

KERNELS = [
    NGram(2),
    Spectrum(2),
    Spectrum(2, reverse_complement=True),
    GappyNGram(2, 0.5),
    GappedKmer(3, 2),
    GappedKmer(3, 2, ambiguity="skip"),
    Wildcard(3, 1),
    Mismatch(3, 1),
    Subsequence(2, 0.5),
    AllSubsequences(0.5),
    LocalAlignment("dna", beta=0.1),
    LocalAlignment("blosum62", beta=0.1),
    EditDistance(),
    WeightedDegree(2),
    Factors(0.5),
    ContextTree(2, 4),
    BagOfWords(pattern="CAT|GAT"),
    Compression(),
    RegexCount("CA."),
]

#: Every way to hold the same strings.
CONTAINERS: dict[str, Any] = {
    "tuple": tuple,
    "generator": iter,
    "array": np.array,
    "column": lambda x: np.array(x)[:, None],
    "objects": lambda x: np.array(x, dtype=object)[:, None],
    "bytes": lambda x: [s.encode() for s in x],
    "bytearrays": lambda x: [bytearray(s.encode()) for s in x],
    "array of bytes": lambda x: np.array([s.encode() for s in x]),
    "mixed": lambda x: [s.encode() if i % 2 else s for i, s in enumerate(x)],
    "records": lambda x: [FastaRecord(f"s{i}", "text", s) for i, s in enumerate(x)],
    "other records": lambda x: [SimpleNamespace(sequence=s.encode()) for s in x],
    "pandas": lambda x: pd.Series(x, index=range(7, 7 + len(x))),
    "pandas strings": lambda x: pd.Series(x, dtype="string"),
    "categories": lambda x: pd.Series(x, dtype="category"),
    "index": pd.Index,
    "polars": pl.Series,
    "frame": lambda x: pd.DataFrame({"sequence": x}),
    "polars frame": lambda x: pl.DataFrame({"sequence": x}),
}


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("kind", CONTAINERS)
def test_containers(kernel: Any, kind: str) -> None:
    want = kernel.block(STRINGS)
    assert np.ptp(want) > 0
    np.testing.assert_array_equal(kernel.block(CONTAINERS[kind](STRINGS)), want)
    np.testing.assert_array_equal(kernel.block(CONTAINERS[kind](STRINGS), STRINGS[:2]), want[:, :2])


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_one_pair_reads_points_as_a_block_does(kernel: Any) -> None:
    x, y = STRINGS[:2]
    for given in (x.encode(), FastaRecord("name", "", x), np.array(list(x)), np.str_(x)):
        if isinstance(given, np.ndarray) and isinstance(kernel, BagOfWords):
            continue  # a list of words, not a text
        assert kernel(given, y) == kernel(x, y)


WRONG: dict[str, tuple[Any, str]] = {
    "string": ("GATTACA", r"X must be a sequence of .* Got str\. For a single one pass a list of one: \[X\]"),
    "bytes": (b"GATTACA", r"Got bytes\. For a single one pass a list of one"),
    "record": (FastaRecord("a", "b", "C"), r"Got FastaRecord\. For a single one pass a list of one"),
    "none": (None, "X must be a sequence of .* Got NoneType"),
    "array of text": (np.array("GATTACA"), r"X must be .* Got an array of shape \(\)"),
    "floats": (
        np.zeros((4, 3)),
        r"X must be .* Got an array of float64 with shape \(4, 3\)\. Use a kernel on v",
    ),
    "integers": (np.zeros((4, 1), dtype=int), r"X must be .* Got an array of int64 .*list of symbols"),
    "numbers": (np.arange(3.0), r"X must be .* Got an array of float64 with shape \(3,\)"),
    "rows of floats": (list(np.zeros((4, 3))), r"X\[0\] must hold symbols\. Got an array of float64"),
    "sparse": (scipy.sparse.eye_array(3).tocsr(), r"X must be .* Got a sparse matrix of shape \(3, 3\)"),
    "letters": (np.full((2, 5), "a"), r"X must be one column.*shape \(2, 5\).*X\.tolist\(\) if each row"),
    "cube": (np.full((2, 2, 2), "a"), r"X must be .* Got an array of shape \(2, 2, 2\)"),
    "two columns": (pd.DataFrame({"a": ["x"], "b": ["y"]}), r"X must be one column.*\['a', 'b'\]"),
    "polars columns": (pl.DataFrame({"a": ["x"], "b": ["y"]}), r"X must be one column.*\['a', 'b'\]"),
    "lazy": (pl.LazyFrame({"a": ["x"]}), r"X must be an eager frame.*\.collect\(\)"),
    "column of numbers": (pd.Series([1.0, 2.0]), r"X must be .* Got a column of numbers \(Float64\)"),
    "numeric frame": (pl.DataFrame({"a": [1, 2]}), r"X must be .* Got a column of numbers \(Int64\)"),
    "set": ({"a", "b"}, r"X must have an order"),
    "None": (["a", None], r"X\[1\] is missing \(None\)\. Leave the row out"),
    "NaN": (["a", "b", float("nan")], r"X\[2\] is missing \(nan\)"),
    "pandas null": (pd.Series(["a", None, "b"], dtype="string"), r"X\[1\] is missing"),
    "polars null": (pl.Series(["a", "b", None]), r"X\[2\] is missing \(None\)"),
    "Latin-1": (
        ["a", b"caf\xe9"],
        r"X\[1\] must be text, or bytes of ASCII\. Got the byte 233 at position 3",
    ),
    "number": (["a", 3], r"X\[1\] must be a .*Got"),
}


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("kind", WRONG)
def test_what_is_refused(kernel: Any, kind: str) -> None:
    given, message = WRONG[kind]
    with pytest.raises(InputError, match=message):
        kernel.block(given)
    with pytest.raises(InputError, match=message):
        SVC(kernel=kernel).fit(given, [0, 1])


def test_bytes_within_a_list_are_text_too() -> None:
    assert NGram(1)([b"the", b"cat"], ["the", "dog"]) == 1.0
    assert BagOfWords()(np.array([b"the", b"cat"]), "the dog") == 1.0
    with pytest.raises(InputError, match=r"x\[1\] must be text, or bytes of ASCII"):
        NGram(1)(["the", b"\xff"], "a")


# -- machines -------------------------------------------------------------------------------------
def test_a_fasta_file_goes_into_a_machine_as_it_is(tmp_path: Any) -> None:
    """Names and descriptions are no letters: they tell the classes apart perfectly, and must not."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["with", "without"], 20)
    sequences = ["".join(rng.choice(list("ACGT"), 30)) for _ in labels]
    sequences[:20] = [s[:12] + "TATAAT" + s[18:] for s in sequences[:20]]
    path = tmp_path / "all.fa"
    write_fasta([(f"s{i}", labels[i], s) for i, s in enumerate(sequences)], path)
    records = read_fasta(path)
    machine = SVC(kernel=Spectrum(4).normalized()).fit(records, labels)
    plain = SVC(kernel=Spectrum(4).normalized()).fit(sequences, labels)
    np.testing.assert_array_equal(machine.decision_function(records), plain.decision_function(sequences))
    found = machine.explain(records[0])
    assert found.value == pytest.approx(abs(machine.decision_function(sequences[:1])[0]))
    assert {c.pattern for c in plain.explain(sequences[0])} == {c.pattern for c in found}
    with pytest.raises(InputError, match=r"SVC\.explain: `x` must be one point"):
        machine.explain(records[:2])


def test_training_on_text_and_predicting_on_bytes() -> None:
    machine = SVC(kernel=NGram(2).normalized()).fit(STRINGS, LABELS)
    want = machine.decision_function(STRINGS)
    assert np.ptp(want) > 0
    np.testing.assert_array_equal(machine.decision_function([s.encode() for s in STRINGS]), want)
    backwards = SVC(kernel=NGram(2).normalized()).fit([s.encode() for s in STRINGS], LABELS)
    np.testing.assert_array_equal(backwards.decision_function(STRINGS), want)


@pytest.mark.parametrize("kernel", [NGram(2), BagOfWords(), RegexCount("CA.")], ids=repr)
@pytest.mark.parametrize("several", [list, tuple, np.array], ids=["list", "tuple", "array"])
def test_points_are_explained_one_at_a_time(kernel: Any, several: Any) -> None:
    machine = SVC(kernel=kernel).fit(STRINGS, LABELS)
    with pytest.raises(InputError, match=r"SVC\.explain: `x` must be one point.*Call explain for each"):
        machine.explain(several(STRINGS[:2]))
    assert machine.explain(STRINGS[0]).value == pytest.approx(abs(machine.decision_function(STRINGS[:1])[0]))


def test_sequences_of_words_are_explained_one_at_a_time() -> None:
    points = [["the", "cat"], ["the", "dog"], ["no", "way"]]
    machine = SVC(kernel=NGram(1)).fit(points, [0, 0, 1])
    assert {c.pattern for c in machine.explain(["the", "way"])} >= {("the",), ("way",)}
    with pytest.raises(InputError, match="must be one point"):
        machine.explain([("the", "cat"), ("no",)])
    nested = SVC(kernel=NGram(1)).fit([[(1, 2), (3,)], [(3,)]], [0, 1])
    assert ((3,),) in {c.pattern for c in nested.explain([(3,)])}


# -- case -----------------------------------------------------------------------------------------
FOLDED = [
    Spectrum(2, reverse_complement=True),
    Spectrum(2, ambiguity="skip"),
    Spectrum(2, ambiguity="expand"),
    GappedKmer(3, 2, reverse_complement=True),
    GappedKmer(3, 2, ambiguity="skip"),
    Wildcard(3, 1, ambiguity="skip"),
    Mismatch(3, 1),
    LocalAlignment("dna", beta=0.1),
    NGram(2) + Mismatch(3, 1),
]


@pytest.mark.parametrize("kernel", [*FOLDED, LocalAlignment("blosum62", beta=0.1)], ids=repr)
def test_small_letters_are_capitals_where_the_alphabet_is_one_of_biology(kernel: Any) -> None:
    X, small = STRINGS, [s[:3].lower() + s[3:] for s in STRINGS]
    want = kernel.block(X)
    np.testing.assert_array_equal(kernel.block(small, X), kernel.block(list(X), X))
    np.testing.assert_array_equal(kernel.block(small), want)
    assert kernel(small[0], X[1]) == kernel(X[0], X[1]) == pytest.approx(want[0, 1], rel=1e-12)


@pytest.mark.parametrize("kernel", FOLDED, ids=repr)
def test_uracil_is_thymine_for_dna(kernel: Any) -> None:
    rna = [s.replace("T", "u") for s in STRINGS]
    np.testing.assert_array_equal(kernel.block(rna, STRINGS), kernel.block(list(STRINGS), STRINGS))


@pytest.mark.parametrize("kernel", [NGram(2), Spectrum(2), GappedKmer(3, 2), Wildcard(3, 1)], ids=repr)
def test_letters_of_plain_strings_keep_their_case(kernel: Any) -> None:
    with pytest.warns(UserWarning, match="looks like DNA in capitals and in small letters"):
        assert kernel("GATTACA", "gattaca") == 0.0
    assert kernel("gattaca", "gattaca") > 0


def test_scores_of_the_user_keep_the_case() -> None:
    k = LocalAlignment({("A", "A"): 1.0, ("A", "a"): -1.0, ("a", "a"): 1.0})
    assert k("A", "a") < k("A", "A")
    with pytest.raises(InputError, match=r"x\[1\] must be one of 'A', 'a'. Got 'C'"):
        k("AC", "A")


def test_a_sum_takes_the_letters_that_all_its_parts_know() -> None:
    k = LocalAlignment("dna", beta=0.1) + Mismatch(2)
    assert k.domain == DNA(ambiguous=False)
    with pytest.raises(InputError, match=r"X\[0\]\[1\] must be A, C, G or T. Got 'N'"):
        k.block(["AN"])
    both = LocalAlignment("dna", beta=0.1) + Spectrum(2, reverse_complement=True)
    assert both.domain == DNA(ambiguous="N")
    X = ["gattacaN", "CATN"]
    parts = LocalAlignment("dna", beta=0.1).block(X) + Spectrum(2, reverse_complement=True).block(X)
    np.testing.assert_allclose(both.block(X), parts, rtol=1e-12)
    with pytest.raises(InputError, match=r"a letter of DNA \(ACGTN\).* Got 'R'"):
        both.block(["AR"])
    assert (Mismatch(2, alphabet="abc") + Mismatch(2, alphabet="cab")).domain == SequencesOver(tuple("abc"))
    with pytest.raises(DomainError):
        Mismatch(2, alphabet="ab") + Mismatch(2, alphabet="xy")
    with pytest.raises(DomainError):
        Mismatch(2, alphabet="ab") + Spectrum(2, reverse_complement=True)
