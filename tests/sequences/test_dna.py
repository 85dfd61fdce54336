"""Letters of DNA, and sequences over an alphabet."""

import itertools

import numpy as np
import pytest

from mercer.domains import Sequences, meet
from mercer.errors import DomainError, InputError
from mercer.sequences import DNA, IUPAC, SequencesOver, complement, expand, reverse_complement
from mercer.sequences.dna import COMPLEMENT_CODES, LETTERS


def test_every_set_of_nucleotides_has_one_letter():
    sets = {frozenset(s) for r in range(1, 5) for s in itertools.combinations("ACGT", r)}
    assert {frozenset(meaning) for meaning in IUPAC.values()} == sets
    assert len(IUPAC) == 15


def test_complements_are_an_involution_of_meanings():
    pairs = {"A": "T", "T": "A", "C": "G", "G": "C"}
    for i, letter in enumerate(LETTERS):
        other = complement(letter)
        assert {pairs[c] for c in IUPAC[letter]} == set(IUPAC[other])
        assert complement(other) == letter
        assert LETTERS[COMPLEMENT_CODES[i]] == other


def test_reverse_complement():
    assert reverse_complement("GATTACA") == "TGTAATC"
    assert reverse_complement("") == ""
    assert reverse_complement("gauRn") == "NYATC"


def test_expansion():
    assert expand("") == [""]
    assert expand("AN") == ["AA", "AC", "AG", "AT"]
    with pytest.raises(InputError, match=r"at most 4,096.*1,073,741,824"):
        expand("N" * 15)


def test_domain_brings_letters_to_one_form():
    data = DNA().validate(["acgtu", ["A", "n"], ""])
    assert list(data) == ["ACGTT", "AN", ""]
    assert data.alphabet is DNA().validate(["TTT"]).alphabet
    assert list(DNA().validate(data.take(np.array([1, 0])))) == ["AN", "ACGTT"]
    assert list(DNA().validate(Sequences().validate(["xx", "ac"]).take(slice(1, 2)))) == ["AC"]
    assert DNA().digest("acgu") == DNA().digest("ACGT")


@pytest.mark.parametrize("bad", ["AC-T", b"AC-T", ["A", 1], "\u0410"])
def test_what_is_no_dna_is_named(bad):
    with pytest.raises(InputError, match=r"^X\[1\]\[\d\] must be a letter of DNA"):
        DNA().validate(["A", bad])
    with pytest.raises(InputError, match=r"^x\[\d\] must be a letter of DNA"):
        DNA().point(bad)


def test_ambiguous_letters_may_be_refused():
    with pytest.raises(InputError, match=r"X\[0\]\[1\] must be A, C, G or T. Got 'N'"):
        DNA(ambiguous=False).validate(["AN"])


def test_meetings():
    assert meet(DNA(), Sequences()) == meet(Sequences(), DNA()) == DNA()
    assert meet(DNA(), DNA(ambiguous=False)) == DNA(ambiguous=False)
    with pytest.raises(DomainError):
        meet(SequencesOver(("a", "b")), SequencesOver(("c",)))


def test_samples_belong_to_the_domain():
    rng = np.random.default_rng(0)
    for domain in (DNA(), DNA(ambiguous=False), SequencesOver((1, "b"))):
        assert len(domain.validate(domain.sample(20, rng))) == 20
