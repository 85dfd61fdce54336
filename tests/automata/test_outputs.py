"""Listed outputs and sums over configurations against the weights of single pairs."""

import random

import numpy as np
import pytest

from mercer.arithmetic import FLOAT, multiprecision
from mercer.automata import ANY, EPSILON, AnyExcept, Transducer, counting, from_regex
from mercer.automata.outputs import list_outputs, listable
from mercer.automata.weighing import inner_weight, output_weights, pair_weight
from mercer.domains import Sequences
from mercer.errors import DivergenceError


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "1")


def random_transducer(rng):
    """Up to four states with signed weights, classes and arcs that read nothing; none has epsilon twice."""
    n = rng.randrange(1, 5)
    arcs = []
    for _ in range(rng.randrange(1, 9)):
        read = rng.choice(["a", "b", EPSILON, ANY, AnyExcept("a")])
        written = rng.choice(["a", "b", EPSILON, *([read] if isinstance(read, AnyExcept) else [])])
        if read is not EPSILON or written is not EPSILON:
            weight = rng.choice([1.0, 2.0, 0.5, -1.0])
            arcs.append((rng.randrange(n), rng.randrange(n), read, written, weight))
    final = {n - 1: 1.0, 0: 2.0} if rng.random() < 0.5 else {n - 1: 1.0}
    return Transducer(arcs, {0: 1.0}, final, n_states=n)


def listable_transducers(count, seed):
    rng = random.Random(seed)
    while count:
        T = random_transducer(rng)
        if listable(T) is None:
            count -= 1
            yield rng, T


def random_strings(rng, count, longest=5):
    return ["".join(rng.choices("abc", k=rng.randrange(longest + 1))) for _ in range(count)]


def listed(T, X):
    """Outputs of each string as a dict, without those whose weights cancel."""
    outputs = list_outputs(T, Sequences().validate(X))
    starts, nodes, weights = outputs.entries
    names = outputs.strings.elements
    return [
        {names[nodes[e]]: weights[e] for e in range(starts[i], starts[i + 1]) if weights[e]}
        for i in range(len(X))
    ]


def test_lists_every_output_with_its_weight():
    seen = 0
    for rng, T in listable_transducers(250, seed=0):
        X = random_strings(rng, 3)
        for x, found in zip(X, listed(T, X), strict=True):
            want = {z: w for z, (w, _) in output_weights(T, x, FLOAT).items() if w}
            assert found == want
            for z, weight in found.items():
                assert T(x, z) == weight
            seen += len(found)
    assert seen > 1000


def test_sums_over_configurations():
    for rng, T in listable_transducers(250, seed=1):
        x, y = random_strings(rng, 2)
        of_x, of_y = (output_weights(T, s, FLOAT) for s in (x, y))
        assert inner_weight(T, x, y, FLOAT) == sum(w * of_y[z][0] for z, (w, _) in of_x.items() if z in of_y)
        assert pair_weight(T, x, y, FLOAT) == T(x, y)


def test_cycles_are_solved_for():
    """1 + p + p^2 + ... on silent cycles, with many digits."""
    U = Transducer([(0, 0, EPSILON, EPSILON, 0.25), (0, 1, "a", "b", 3.0)], {0: 1.0}, {1: 1.0})
    m = multiprecision(50)
    assert pair_weight(U, "a", "b", m) == 4
    T = Transducer([(0, 0, EPSILON, "c", 0.5)], {0: 1.0}, {0: 2.0})
    assert inner_weight(T, "", "", m) == m.real(16) / 3


def test_cycles_that_have_no_sum():
    """Elimination alone would find 1 / (1 - 2) = -1."""
    U = Transducer([(0, 0, EPSILON, EPSILON, 2.0), (0, 1, "a", "b", 1.0)], {0: 1.0}, {1: 1.0})
    with pytest.raises(DivergenceError):
        pair_weight(U, "a", "b", FLOAT)
    assert pair_weight(U, "a", "a", FLOAT) == 0.0  # nothing comes of it


def test_automata_are_read_as_all_their_strings():
    A = Transducer([(0, 0, "a", "a", 0.5), (0, 1, "b", "b", 1.0)], {0: 1.0}, {1: 2.0})  # a^n b: 2 / 2^n
    copy = Transducer([(0, 0, ANY, ANY, 1.0)], {0: 1.0}, {0: 1.0})
    assert pair_weight(copy, A, "aab", FLOAT) == 0.5
    assert inner_weight(copy, A, A, multiprecision(30)) == multiprecision(30).real(16) / 3
    letters = counting(from_regex("a"))
    assert inner_weight(letters, A, "aa", FLOAT) == pytest.approx(2 * 2 * 2.0)  # the sum of n / 2^n is 2


def test_places_are_where_a_pattern_was_written():
    T = counting(from_regex("ab"), gap=0.5)
    weight, places = output_weights(T, "abxb", FLOAT, places=True)["a", "b"]
    assert weight == 1.25
    assert places == {(0, 2), (0, 4)}


def test_inner_products_of_two_data_sets():
    T = counting(from_regex(".{1,2}"))
    X, Y = ["abcab", "", "zzz", "a\0b"], ["cab", "zz", "q"]
    ours, theirs = (list_outputs(T, Sequences().validate(data)) for data in (X, Y))
    got = ours.inner_products(np.array([3, 0, 1, 2]), theirs, np.array([0, 1, 2]))
    dicts = listed(T, X), listed(T, Y)
    want = [[sum(w * b.get(z, 0) for z, w in dicts[0][i].items()) for b in dicts[1]] for i in (3, 0, 1, 2)]
    assert got.tolist() == want
    assert np.count_nonzero(got) == 3
    assert ours.squared_norms(np.arange(4)).tolist() == [sum(w * w for w in d.values()) for d in dicts[0]]


def test_why_outputs_cannot_be_listed():
    endless = Transducer([(0, 0, EPSILON, "c", 0.5)], {0: 1.0}, {0: 1.0})
    anything = Transducer([(0, 0, "a", ANY, 0.5)], {0: 1.0}, {0: 1.0})
    assert "reads nothing" in listable(endless) or "read nothing" in listable(endless)
    assert "class" in listable(anything)


def test_gives_up_after_so_many_steps():
    subsequences = Transducer([(0, 0, ANY, ANY, 1.0), (0, 0, ANY, EPSILON, 1.0)], {0: 1.0}, {0: 1.0})
    X = Sequences().validate(["abcdefghijklmnopqrstuvwxyz"])
    assert list_outputs(subsequences, X, limit=10_000) is None
    assert list_outputs(subsequences, X.take(slice(0, 0)), limit=10).count == 0
    assert list_outputs(subsequences, Sequences().validate(["abc"])).count == 8


def test_silent_machines_write_the_empty_string():
    T = counting(from_regex("a+"), silent=True)
    assert listed(T, ["aabaaa", "", "b", "a" * 999]) == [{(): 9.0}, {}, {}, {(): 999 * 1000 / 2}]


def test_counting_takes_steps_in_proportion_to_the_length():
    T = counting(from_regex(".{2}"))
    short, long = (list_outputs(T, Sequences().validate(["ab" * n])) for n in (50, 5000))
    assert long.steps <= 101 * short.steps
