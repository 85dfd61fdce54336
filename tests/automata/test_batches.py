"""Many strings at once: weights of pairs, what a transducer writes, intersections of automata."""

import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from mercer.automata import (
    ANY,
    EPSILON,
    Transducer,
    intersect_weights,
    output_automata,
    pack,
    weights_between,
)
from mercer.domains import Sequences
from mercer.errors import DivergenceError, InputError, ParameterError

from .oracle import joined, random_machine, relation, strings

pytestmark = pytest.mark.native


def bigrams(semiring="real"):
    one = 1.0 if semiring == "real" else 0.0
    skips = [(q, q, ANY, EPSILON, one) for q in (0, 2)]
    return Transducer(
        [*skips, (0, 1, ANY, ANY, one), (1, 2, ANY, ANY, one)], {0: one}, {2: one}, semiring=semiring
    )


def bigram_kernel(x, y):
    return sum(a == b for a in pairwise(x) for b in pairwise(y))


HARD = ["", "a", "aa", "aab", "abab", "\0\0a\0\0a", "𝔘𝔘𝔘", "e\u0301e\u0301", "banana" * 20]


def test_bigram_kernel_in_three_ways():
    T = bigrams()
    expected = [[bigram_kernel(x, y) for y in HARD] for x in HARD]
    assert bigram_kernel("aab", "aab") == 2  # F, example 6.22
    A = output_automata(T, HARD)
    np.testing.assert_array_equal(intersect_weights(A), expected)
    np.testing.assert_array_equal(intersect_weights(A, A), expected)
    np.testing.assert_array_equal(intersect_weights(A, elementwise=True), np.diag(expected))
    U = T @ T.inverse()
    np.testing.assert_array_equal(weights_between(HARD, U), expected)
    np.testing.assert_array_equal(weights_between(HARD, U, HARD, elementwise=True), np.diag(expected))
    np.testing.assert_array_equal([[(x @ y).total_weight() for y in A] for x in A], expected)


def test_gappy_bigrams_with_decay():
    decay = 0.5
    arcs = [(q, q, ANY, EPSILON, w) for q, w in ((0, 1.0), (1, decay), (2, 1.0))]
    T = Transducer([*arcs, (0, 1, ANY, ANY, 1.0), (1, 2, ANY, ANY, 1.0)], {0: 1.0}, {2: 1.0})
    U = T @ T.inverse()
    assert U("aab", "aab") == 1 + (1 + decay) ** 2  # F, example 6.22
    assert intersect_weights(output_automata(T, ["aab"])).item() == 1 + (1 + decay) ** 2


def test_other_alphabets_at_prediction():
    T = bigrams()
    X, Y = ["abcabc", "xyxy", ""], ["zyxyz", "bcab", "qq", "xy"]
    expected = [[bigram_kernel(x, y) for y in Y] for x in X]
    A, B = output_automata(T, X), output_automata(T, Y)
    np.testing.assert_array_equal(intersect_weights(A, B), expected)
    np.testing.assert_array_equal(intersect_weights(B, A), np.transpose(expected))
    np.testing.assert_array_equal(
        intersect_weights(A.take(slice(1, 2)), B.take(np.array([3, 0]))), [[expected[1][3], expected[1][0]]]
    )
    np.testing.assert_array_equal(weights_between(X, T @ T.inverse(), Y), expected)
    tokens = [[("the", 1), 2, ("the", 1), 2], [2, ("the", 1)]]
    expected = [[bigram_kernel(x, y) for y in tokens] for x in tokens]
    np.testing.assert_array_equal(intersect_weights(output_automata(T, tokens)), expected)
    np.testing.assert_array_equal(weights_between(tokens, T @ T.inverse()), expected)


def test_outputs_of_random_transducers():
    rng = np.random.default_rng(5)
    X = strings(3)
    for _ in range(30):
        m = random_machine(rng, n=4, arcs=8)
        T, r = m.build(), relation(m)
        A = output_automata(T, X)
        for x, automaton in zip(X, A, strict=True):
            written = {z: w for (u, z), w in r.items() if u == x}
            assert {z: automaton(z) for z in written} == written
            assert automaton.total_weight() == sum(written.values())
        kernel = joined(r, {(y, x): w for (x, y), w in r.items()})
        np.testing.assert_array_equal(intersect_weights(A), [[kernel.get((x, y), 0) for y in X] for x in X])


def test_outputs_with_cycles():
    # Writes b any number of times after each symbol, each at half the weight: 4/3 for b's in common.
    T = Transducer([(0, 0, "a", "a", 1.0), (0, 0, EPSILON, "b", 0.5)], {0: 1.0}, {0: 1.0})
    A = output_automata(T, ["", "a", "aa"])
    assert not A.acyclic.any()
    np.testing.assert_allclose(intersect_weights(A), np.diag([4 / 3, 16 / 9, 64 / 27]), rtol=1e-14)
    B = output_automata(bigrams(), ["", "ab", "aab"])
    assert B.acyclic.all()
    expected = [
        [sum(T(x, z) * bigrams()(y, z) for z in strings(2)) for y in ("", "ab", "aab")]
        for x in ("", "a", "aa")
    ]
    np.testing.assert_allclose(intersect_weights(A, B), expected)
    np.testing.assert_allclose(intersect_weights(B, A), np.transpose(expected))


@pytest.mark.parametrize("semiring", ["log", "tropical", "boolean"])
def test_intersections_in_other_semirings(semiring):
    X = ["abab", "ba", "bb", ""]
    T = bigrams()
    counts = intersect_weights(output_automata(T, X))
    found = intersect_weights(output_automata(T.in_semiring(semiring), X))
    with np.errstate(divide="ignore"):
        expected = {
            "log": -np.log(counts),
            "tropical": np.where(counts > 0, 0.0, np.inf),
            "boolean": counts > 0,
        }[semiring]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_kernel_between_automata():
    rng = np.random.default_rng(6)
    machines = [random_machine(rng, n=4, arcs=7).build().project("output") for _ in range(20)]
    A = pack(machines)
    expected = [[(a @ b).total_weight() for b in machines] for a in machines]
    np.testing.assert_allclose(intersect_weights(A), expected, rtol=1e-12)
    with pytest.raises(ParameterError, match="both tapes"):
        pack([bigrams()])
    with pytest.raises(ParameterError, match="ANY"):
        pack([Transducer([(0, 0, ANY, ANY, 1.0)], {0: 1.0}, {0: 1.0})])
    with pytest.raises(ParameterError, match="semiring"):
        intersect_weights(A, pack([machines[0].in_semiring("boolean")]))


def test_batches_refuse_what_has_no_answer():
    T = bigrams()
    with pytest.raises(InputError, match="equally many"):
        weights_between(["a"], T, ["a", "b"], elementwise=True)
    with pytest.raises(DivergenceError, match="any symbol"):
        output_automata(Transducer([(0, 0, "a", ANY, 1.0)], {0: 1.0}, {0: 1.0}), ["a"])
    endless = Transducer([(0, 0, EPSILON, EPSILON, 1.0), (0, 0, "a", "a", 1.0)], {0: 1.0}, {0: 1.0})
    with pytest.raises(DivergenceError, match="diverges"):
        output_automata(endless, ["a"])
    assert weights_between([], T).shape == (0, 0)
    assert intersect_weights(output_automata(T, ["a"]), output_automata(T, [])).shape == (1, 0)


def test_strings_that_are_already_encoded():
    X = Sequences().validate(["abab", "ba", "bb"])
    T = bigrams()
    U = T @ T.inverse()
    whole = weights_between(X, U)
    np.testing.assert_array_equal(weights_between(X.take(slice(1, 3)), U, X), whole[1:])


def test_long_strings():
    x = "acgt" * 25_000
    A = output_automata(bigrams(), [x])
    assert intersect_weights(A).item() == 3 * 25_000**2 + 24_999**2
    assert next(iter(A)).n_arcs == 8


def test_whoever_waits_can_stop(monkeypatch):
    class Enough(Exception):
        pass

    def look():
        raise Enough

    U = bigrams() @ bigrams().inverse()
    monkeypatch.setattr("mercer.automata.strings.checkpoint", look)
    with pytest.raises(Enough):
        weights_between(["ab" * 5000, "ba" * 5000], U)


SCRIPT = """
import hashlib
import numpy as np
from mercer.automata import ANY, EPSILON, AnyExcept, Transducer
from mercer.automata import intersect_weights, output_automata, weights_between
rng = np.random.default_rng(0)
arcs = [(0, 0, ANY, EPSILON, 0.9), (0, 1, AnyExcept({"q", "z", ("k", 1)}), "w", 0.3), (1, 1, ANY, ANY, 0.7)]
T = Transducer([*arcs, (1, 0, "b", EPSILON, 0.1), (1, 0, EPSILON, "b", 0.1)], {0: 1.0}, {1: 1.0, 0: 0.3})
X = ["".join(rng.choice(list("abqz"), 12)) for _ in range(12)]
U = T @ T.inverse()
values = [weights_between(X, U), intersect_weights(output_automata(T, X))]
text = b"".join(v.tobytes() for v in values) + U.machine.weight.tobytes() + U.machine.target.tobytes()
print(hashlib.sha256(text).hexdigest())
"""


def test_results_do_not_depend_on_hash_seeds_and_threads():
    runs = [("1", "1"), ("12345", "3")]
    digests = set()
    for seed, threads in runs:
        env = {**os.environ, "PYTHONHASHSEED": seed, "MERCER_NUM_THREADS": threads}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1
