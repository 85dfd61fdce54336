"""Transducers as values: building, comparing, pickling, printing, and what they refuse."""

import copy
import pickle

import numpy as np
import pytest

from mercer.automata import (
    ANY,
    BOOLEAN,
    EPSILON,
    LOG,
    REAL,
    TROPICAL,
    AnyExcept,
    Arc,
    Builder,
    Transducer,
    paths,
)
from mercer.errors import InputError, ParameterError

from .oracle import random_machine

ARCS = [
    (0, 1, "a", "b", 2.0),
    (1, 0, "b", EPSILON, 3.0),
    (0, 0, ANY, ANY, 0.5),
    (1, 1, AnyExcept("ab"), "c", 1.0),
]


def example(**options):
    return Transducer(ARCS, {0: 1.0}, {1: 1.0, 0: 0.25}, **options)


def test_the_order_of_arcs_does_not_matter_and_their_number_does():
    other = Transducer(ARCS[::-1], {0: 1.0}, {0: 0.25, 1: 1.0})
    assert other == example()
    assert hash(other) == hash(example())
    assert Transducer([*ARCS, ARCS[0]], {0: 1.0}, {1: 1.0, 0: 0.25}) != example()


@pytest.mark.parametrize(
    "other",
    [
        Transducer(ARCS, {0: 1.0}, {1: 1.0}),
        Transducer(ARCS, {1: 1.0}, {1: 1.0, 0: 0.25}),
        Transducer([(0, 1, "a", "c", 2.0), *ARCS[1:]], {0: 1.0}, {1: 1.0, 0: 0.25}),
        Transducer([(0, 1, "a", "b", 2.5), *ARCS[1:]], {0: 1.0}, {1: 1.0, 0: 0.25}),
        Transducer(ARCS, {0: 1.0}, {1: 1.0, 0: 0.25}, n_states=3),
        Transducer(ARCS, {0: 1.0}, {1: 1.0, 0: 0.25}, semiring="log"),
        "a string",
    ],
    ids=["final", "initial", "label", "weight", "states", "semiring", "type"],
)
def test_unequal(other):
    assert example() != other


def test_round_trips():
    for T in (example(), example(semiring="tropical"), example(n_states=7), Transducer([], {}, {})):
        assert eval(repr(T)) == T
        again = pickle.loads(pickle.dumps(T))
        assert again == T
        assert hash(again) == hash(T)
        assert copy.deepcopy(T) == T
    assert pickle.loads(pickle.dumps(EPSILON)) is EPSILON
    assert pickle.loads(pickle.dumps(LOG)) == LOG
    assert str(EPSILON) == "ε"


def test_large_machines_are_described():
    T = Transducer([(i, i + 1, "a", "a", 1.0) for i in range(100)], {0: 1.0}, {100: 1.0})
    assert repr(T) == "<Automaton: 101 states, 100 arcs, 1 initial, 1 final, real semiring>"


def test_nothing_can_be_changed():
    T = example()
    with pytest.raises(AttributeError, match="cannot be changed"):
        T.semiring = LOG
    for array in T.machine.arrays:
        assert not array.flags.writeable
    with pytest.raises(TypeError):
        T.final[0] = 1.0
    with pytest.raises(AttributeError, match="cannot be changed"):
        ANY.excluded = ()


def test_what_it_tells():
    T = example()
    assert (T.n_states, T.n_arcs, dict(T.initial), dict(T.final)) == (2, 4, {0: 1.0}, {0: 0.25, 1: 1.0})
    assert set(T.alphabet) == {"a", "b", "c"}
    assert set(T.input_alphabet) == {"a", "b"}
    assert set(T.output_alphabet) == {"b", "c"}
    assert not T.is_automaton
    assert Arc(0, 1, "a", "b", 2.0) in T.arcs
    assert Transducer([(0, 0, "a", "a", 1.0), (0, 0, ANY, ANY, 1.0)], {0: 1.0}, {0: 1.0}).is_automaton


def test_builder_makes_the_same():
    b = Builder()
    zero, one = b.state(initial=1, final=0.25), b.state(final=1)
    b.arc(zero, one, "a", "b", 2)
    b.arc(one, zero, "b", EPSILON, 3)
    b.arc(zero, zero, ANY, weight=0.5)
    b.arc(one, one, AnyExcept("ab"), "c")
    assert b.build() == example()
    assert b.states(2) == [2, 3]


def test_symbols_of_any_kind():
    T = Transducer([(0, 0, ("x", 1), None, 2.0), (0, 0, 7, "z", 3.0)], {0: 1.0}, {0: 1.0})
    assert T([("x", 1), 7], [None, b"z"]) == 6.0  # bytes are text
    assert T([7.0], ["z"]) == 3.0  # 7 == 7.0: one symbol
    assert T(["\0", "𝔘"], [None]) == 0.0
    same = Transducer([(0, 0, "\0", "𝔘", 2.0)], {0: 1.0}, {0: 1.0})
    assert same("\0\0", "𝔘𝔘") == 4.0


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Builder("max"), ParameterError, "semiring"),
        (lambda: Builder().arc(0, 0, "a"), ParameterError, "source"),
        (lambda: Transducer([(0, 0, [1], "a", 1.0)], {}, {}), InputError, "hashable"),
        (lambda: Transducer([(0, 0, b"a", "a", 1.0)], {}, {}), InputError, "must be text"),
        (lambda: Transducer([(0, 0, float("nan"), "a", 1.0)], {}, {}), InputError, "equal itself"),
        (lambda: Transducer([(0, 0, ANY, AnyExcept("a"), 1.0)], {}, {}), ParameterError, "two arcs"),
        (lambda: Transducer([(0, 0, "a", "a", np.nan)], {}, {}), ParameterError, "weight"),
        (lambda: Transducer([(0, 0, "a", "a", np.inf)], {}, {}), ParameterError, "weight"),
        (lambda: Transducer([(0, 0, "a", "a", "2")], {}, {}), ParameterError, "weight"),
        (lambda: Builder().state(initial="x"), ParameterError, "weight"),
        (lambda: Transducer([(0, 0, "a", "a", -np.inf)], {}, {}, semiring="log"), ParameterError, "weight"),
        (lambda: Transducer([(0, 0, "a", "a", 2)], {}, {}, semiring="boolean"), ParameterError, "True or"),
        (lambda: Transducer([(0, -1, "a", "a", 1.0)], {}, {}), ParameterError, "state"),
        (lambda: Transducer([(0, 5, "a", "a", 1.0)], {}, {}, n_states=2), ParameterError, "state"),
        (lambda: Transducer([(0, 0.5, "a", "a", 1.0)], {}, {}), ParameterError, "state"),
        (lambda: AnyExcept([EPSILON]), ParameterError, "symbols"),
        (lambda: example()("ab"), InputError, "pairs"),
        (lambda: example()([ANY], "a"), InputError, "label of arcs"),
        (lambda: example()(3, "a"), InputError, "sequence"),
        (lambda: example() @ example(semiring="log"), ParameterError, "in_semiring"),
        (lambda: example().project("tape"), ParameterError, "tape"),
        (
            lambda: Transducer([(0, 0, "a", "a", -1.0)], {}, {}).in_semiring("log"),
            ParameterError,
            "logarithm",
        ),
    ],
)
def test_bad_input(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_semirings():
    assert REAL.plus(2.0, 3.0) == 5.0
    assert LOG.plus(0.0, 0.0) == pytest.approx(-np.log(2.0))
    assert LOG.plus(np.inf, np.inf) == np.inf
    assert TROPICAL.plus(2.0, 3.0) == 2.0
    assert TROPICAL.times(2.0, 3.0) == LOG.times(2.0, 3.0) == 5.0
    assert BOOLEAN.plus(True, False) is True
    assert BOOLEAN.times(True, False) is False
    for ring in (REAL, LOG, TROPICAL, BOOLEAN):
        assert ring.plus(ring.zero, ring.one) == ring.times(ring.one, ring.one) == ring.one


def test_weights_in_another_semiring():
    T = example()
    again = T.in_semiring("log").in_semiring("real")
    np.testing.assert_allclose(again.machine.weight, T.machine.weight, rtol=1e-15)
    x = ("aab", "ab")
    assert T.in_semiring("log")(*x) == pytest.approx(-np.log(T(*x)))
    assert T.in_semiring("boolean")(*x) is True
    assert T.in_semiring("boolean").in_semiring("tropical")(*x) == 0.0


def test_paths_are_the_accepting_ones():
    rng = np.random.default_rng(0)
    for _ in range(50):
        T = random_machine(rng).build()
        found = list(paths(T, T.n_states))
        assert len({p.arcs for p in found}) <= len(found)
        assert sum(p.weight for p in found) == T.total_weight()
        for p in found:
            assert all(
                first.target == second.source for first, second in zip(p.arcs, p.arcs[1:], strict=False)
            )


@pytest.mark.parametrize("arcs", [None, "abc", [(0, 1, "a")], [3]], ids=repr)
def test_arcs_that_are_none_are_named(arcs):
    with pytest.raises(ParameterError, match="`arcs` must be a list of"):
        Transducer(arcs, {0: 1}, {0: 1})


def test_states_that_are_none_are_named():
    with pytest.raises(ParameterError, match=r"a state must be an integer from 0 to 1\. Got 'x'"):
        Transducer([("x", 1, "a", "b", 1.0)], {0: 1}, {1: 1})
    with pytest.raises(ParameterError, match="a state must be an integer below"):
        Transducer([(0, 10**12, "a", "b", 1.0)], {0: 1}, {1: 1})
    for name, ends in (("initial", (3, {0: 1})), ("final", ({0: 1}, [0]))):
        with pytest.raises(ParameterError, match=f"`{name}` must be a dict from states to weights"):
            Transducer([(0, 0, "a", "b", 1.0)], *ends)
