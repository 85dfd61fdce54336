"""The AT&T text format: worked texts, round trips, and OpenFst's own reading and printing."""

import math
import random

import pytest

from mercer.automata import (
    EPSILON,
    Transducer,
    from_att,
    from_regex,
    from_symbol_table,
    numbering,
    string,
    to_att,
    to_symbol_table,
)
from mercer.errors import InputError, ParameterError

#: A machine over a and b with epsilons, two final states and a cycle.
MACHINE = Transducer(
    [
        (1, 0, "a", "b", 3.0),
        (1, 1, "b", EPSILON, 0.5),
        (0, 2, EPSILON, "a", 1.0),
        (0, 0, "a", "a", 2.0),
        (2, 1, "b", "b", 0.25),
    ],
    {1: 1.0},
    {2: 0.5, 0: 1.0},
)


def random_pairs(count=150):
    rng = random.Random(0)
    return [tuple("".join(rng.choices("ab", k=rng.randrange(5))) for _ in range(2)) for _ in range(count)]


def assert_same_weights(A, B):
    weights = [A(x, y) for x, y in random_pairs()]
    assert [B(x, y) for x, y in random_pairs()] == pytest.approx(
        weights, rel=1e-5
    )  # it prints single precision
    assert len(set(weights)) > 3


def test_text_of_a_small_machine():
    lines = to_att(MACHINE).splitlines()
    assert lines[0].startswith("1\t")  # the initial state comes first
    assert set(lines) == {
        "1\t0\ta\tb\t3",
        "1\t1\tb\t<eps>\t0.5",
        "0\t2\t<eps>\ta",
        "0\t0\ta\ta\t2",
        "2\t1\tb\tb\t0.25",
        "2\t0.5",
        "0",
    }


def test_round_trip():
    assert from_att(to_att(MACHINE)) == MACHINE
    numbers = numbering(MACHINE)
    symbols = {number: symbol for symbol, number in numbers.items()}
    assert from_att(to_att(MACHINE, numbers=numbers), symbols=symbols) == MACHINE


@pytest.mark.parametrize("semiring", ["tropical", "log"])
def test_round_trip_in_other_semirings(semiring):
    T = MACHINE.in_semiring(semiring)
    back = from_att(to_att(T), semiring=semiring)
    assert back == T


def test_several_initial_states_get_one_before_them():
    T = string("ab") | string("b", weight=0.5) | string("")
    back = from_att(to_att(T))
    assert len(back.initial) == 1
    assert [back(x) for x in ("ab", "b", "", "a")] == [1.0, 0.5, 1.0, 0.0]


@pytest.mark.parametrize(
    "T", [string(""), Transducer([], {}, {}), from_regex("a")], ids=["empty", "none", "a"]
)
def test_machines_with_few_states(T):
    back = from_att(to_att(T))
    assert [back(x) for x in ("", "a")] == [T(x) for x in ("", "a")]


def test_acceptors_have_one_label():
    A = from_regex("(ab)+")
    text = to_att(A, acceptor=True)
    assert all(len(line.split()) in (1, 3) for line in text.splitlines())
    assert from_att(text, acceptor=True) == A
    with pytest.raises(ParameterError, match="acceptor"):
        to_att(MACHINE, acceptor=True)


def test_symbol_tables():
    table = to_symbol_table(numbering(MACHINE))
    assert table.splitlines()[0] == "<eps>\t0"
    assert from_symbol_table(table) == {number: symbol for symbol, number in numbering(MACHINE).items()}
    with pytest.raises(InputError, match="line 2"):
        from_symbol_table("a 1\nb")


def test_symbols_that_cannot_be_written():
    for symbol in (" ", "a b", "", "<eps>", 7, "x\n"):
        T = string([symbol])
        with pytest.raises(ParameterError, match="numbers"):
            to_att(T)
        numbers = numbering(T)
        assert from_att(to_att(T, numbers=numbers), symbols={1: symbol}) == T
    with pytest.raises(ParameterError, match=r"T\.over"):
        to_att(from_regex("."))
    assert from_att(to_att(from_regex(".").over("ab")))("b") == 1.0
    with pytest.raises(ParameterError, match="for 'a'"):
        to_att(from_regex("a"), numbers={"b": 1})


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("0 1 a", 1, "fields"),
        ("0 1 a b 1 2", 1, "fields"),
        ("0 1 a b\nx", 2, "not the number of a state"),
        ("0 -1 a b", 1, "not the number"),
        ("0 1 a b heavy", 1, "heavy"),
        ("0\n0 nan", 2, "nan"),
    ],
)
def test_lines_that_are_neither_arc_nor_state(text, line, words):
    with pytest.raises(InputError, match=f"line {line} .*{words}"):
        from_att(text)


def test_numbers_without_a_symbol():
    with pytest.raises(InputError, match="number 2"):
        from_att("0 1 1 2\n1", symbols={1: "a"})


def test_repeated_final_states_add_up():
    assert from_att("0 1\n0 2")("", "") == 3.0


def test_openfst_reads_what_we_write_and_we_read_what_it_prints():
    pynini = pytest.importorskip("pynini")
    pywrapfst = pytest.importorskip("pywrapfst")
    T = MACHINE.in_semiring("log")
    numbers = numbering(T)
    compiler = pywrapfst.Compiler(arc_type="log")
    compiler.write(to_att(T, numbers=numbers))
    theirs = compiler.compile()
    assert (theirs.num_states(), theirs.start()) == (3, 0)  # it numbers states as they appear
    symbols = {number: symbol for symbol, number in numbers.items()}
    back = from_att(theirs.print(), symbols=symbols, semiring="log")
    assert_same_weights(MACHINE, back.in_semiring("real"))
    fst = pynini.Fst.from_pywrapfst(theirs)
    for x, y in random_pairs(40):
        parts = [_acceptor(pynini, [numbers[a] for a in s]) for s in (x, y)]
        both = pynini.compose(pynini.compose(parts[0], fst), parts[1])
        found = both.num_states() and float(pynini.shortestdistance(both, reverse=True)[both.start()])
        want = MACHINE(x, y)
        assert (math.exp(-found) if both.num_states() else 0.0) == pytest.approx(want, rel=1e-5)


def _acceptor(pynini, labels):
    fst = pynini.Fst("log")
    fst.add_states(len(labels) + 1)
    fst.set_start(0)
    fst.set_final(len(labels))
    for i, label in enumerate(labels):
        fst.add_arc(i, pynini.Arc(label, label, pynini.Weight.one("log"), i + 1))
    return fst


def test_what_is_no_text_is_named():
    for text in (3, None, b"0 1 a b"):
        with pytest.raises(InputError, match="`text` must be the text itself"):
            from_att(text)
    with pytest.raises(InputError, match=r"Got inf\.$"):
        from_att("0 1 a b inf\n1")
