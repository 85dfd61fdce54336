"""Recursions over pairs of sequences: lanes, threads, numbers beyond floats, interrupts."""

import math
import os
import signal
from fractions import Fraction

import numpy as np
import pytest

from mercer.domains import Sequences
from mercer.engine import string_pairs as engine
from mercer.engine.string_pairs import Pairs

pytestmark = pytest.mark.native


def encode(X):
    return Sequences().validate(X)


def draw(rng, lengths, letters="abcd"):
    return ["".join(rng.choice(list(letters), size)) for size in lengths]


# -- plain versions, in any arithmetic ------------------------------------------------------------
def subsequence_sums(x, y, n, decay):
    S = [[[0 * decay] * (len(y) + 1) for _ in range(len(x) + 1)] for _ in range(n + 1)]
    S[0] = [[decay**0] * (len(y) + 1) for _ in range(len(x) + 1)]
    sums = []
    for k in range(1, n + 1):
        sums.append(0 * decay)
        for i in range(1, len(x) + 1):
            along = 0 * decay
            for j in range(1, len(y) + 1):
                ends = S[k - 1][i - 1][j - 1] if x[i - 1] == y[j - 1] else 0 * decay
                sums[-1] += ends
                along = decay * along + ends
                S[k][i][j] = decay * S[k][i - 1][j] + along
    return sums


def alignment_sum(x, y, weight, first, further):
    """Every alignment is the one before it and one more pair: O(n^2 m^2), straight from the definition."""

    def gap(skipped):
        return first * further ** (skipped - 1) if skipped else 1

    M = {}
    for i in range(len(x)):
        for j in range(len(y)):
            before = sum(M[p, q] * gap(i - p - 1) * gap(j - q - 1) for p in range(i) for q in range(j))
            M[i, j] = weight(x[i], y[j]) * (1 + before)
    return sum(M.values())


X = draw(np.random.default_rng(0), [0, 1, 13, 7, 7, 2, 11, 5, 12, 3, 9])
Y = draw(np.random.default_rng(1), [6, 0, 12, 4, 9], "abcdxyz")


@pytest.mark.parametrize("n", [1, 2, 4, 5, 6, 9, 10])
def test_subsequences(n):
    pairs = Pairs.block(encode(X), encode(Y))
    m, e = engine.subsequences(pairs, n, 0.5)
    want = [
        subsequence_sums(X[i], Y[j], n, Fraction(1, 2)) for i, j in zip(pairs.rows, pairs.cols, strict=True)
    ]
    np.testing.assert_array_equal(m, np.array(want, dtype=float))
    assert not e.any()


@pytest.mark.parametrize("table", [False, True])
def test_local_alignments(table):
    rng = np.random.default_rng(2)
    A, B = encode(X), encode(X[2:8])
    weights = np.pad(rng.integers(0, 9, (4, 4)) / 4, (0, 1)) if table else (1.5, 0.25)
    pairs = Pairs.block(A, B)
    index = A.alphabet.index

    def weight(a, b):
        return weights[index[a], index[b]] if table else weights[int(a != b)]

    m, e = engine.local_alignments(pairs, weights, 0.5, 0.25)
    want = [
        alignment_sum(X[i], X[2:8][j], weight, 0.5, 0.25) for i, j in zip(pairs.rows, pairs.cols, strict=True)
    ]
    np.testing.assert_allclose(m, want, rtol=1e-13)
    assert not e.any()


def test_edits_of_known_words():
    words = ["", "kitten", "sitting", "saturday", "sunday", "intention", "execution"]
    pairs = Pairs.block(encode(words), None)
    D = pairs.matrix(engine.edits(pairs, 1.0, 1.0))
    assert (D[1, 2], D[3, 4], D[5, 6]) == (3.0, 3.0, 5.0)
    np.testing.assert_array_equal(D[0], [len(word) for word in words])
    D = pairs.matrix(engine.edits(pairs, 1.0, 2.0))
    assert (D[1, 2], D[5, 6]) == (5.0, 8.0)


# -- numbers beyond floats ------------------------------------------------------------------------
def test_plain_and_wide_numbers_agree():
    """A heavy pair does not change what stands in the lanes beside it, and is itself exact."""
    texts = ["a" * 700, "a" * 20, "ab" * 10, "", "a" * 650]
    A = encode(texts)
    m, e = engine.local_alignments(Pairs.diagonal(A), (1.0, 0.0), 1.0, 1.0)
    pairs = Pairs.diagonal(A)
    for p, i in enumerate(pairs.rows):
        alone, nothing = engine.local_alignments(Pairs.diagonal(encode([texts[i]])), (1.0, 0.0), 1.0, 1.0)
        assert (m[p], e[p]) == (alone[0], nothing[0])
    heavy = [p for p in range(5) if e[p] > 0]
    assert {int(pairs.rows[p]) for p in heavy} == {0, 4}
    for p in heavy:
        exact = math.comb(2 * len(texts[pairs.rows[p]]), len(texts[pairs.rows[p]])) - 1
        assert Fraction(m[p]) * 2 ** int(e[p]) / exact == pytest.approx(1.0, rel=1e-12)


def test_a_small_number_is_not_lost_beside_a_large_one():
    """Weights of 2^140: after a few symbols nothing fits a float; stretches that begin later still count."""
    x, y = "abcdefgh" + "uvwxyzstuv", "uvwxyzstuv" + "abcdefgh"
    big, half = Fraction(2) ** 140, Fraction(1, 2)
    pairs = Pairs.block(encode([x]), encode([y]))
    m, e = engine.local_alignments(pairs, (2.0**140, 2.0**-140), 2.0**-140, 0.5)
    exact = alignment_sum(x, y, lambda a, b: big if a == b else 1 / big, 1 / big, half)
    assert e[0] > 1390
    assert Fraction(m[0]) * 2 ** int(e[0]) / exact == pytest.approx(1.0, rel=1e-13)


# -- the same bits --------------------------------------------------------------------------------
def test_a_value_depends_on_its_pair_alone(monkeypatch):
    rng = np.random.default_rng(3)
    texts = draw(rng, rng.integers(0, 60, 40))
    A = encode(texts)
    pairs = Pairs.block(A, None)
    K = pairs.matrix(engine.subsequences(pairs, 3, 0.7)[0][:, 2])
    order = rng.permutation(40)
    shuffled = Pairs.block(A.take(order), A)
    np.testing.assert_array_equal(
        shuffled.matrix(engine.subsequences(shuffled, 3, 0.7)[0][:, 2])[np.argsort(order)][
            np.tril_indices(40, -1)
        ],
        Pairs.block(A, A).matrix(engine.subsequences(Pairs.block(A, A), 3, 0.7)[0][:, 2])[
            np.tril_indices(40, -1)
        ],
    )
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("MERCER_NUM_THREADS", threads)
        np.testing.assert_array_equal(pairs.matrix(engine.subsequences(pairs, 3, 0.7)[0][:, 2]), K)


def test_pairs_of_slices_and_of_nothing():
    A = encode(X)
    part = A.take(slice(2, 6))
    pairs = Pairs.block(part, A.take(np.array([8, 2])))
    got = pairs.matrix(engine.edits(pairs, 1.0, 1.0))
    whole = Pairs.block(A, None)
    np.testing.assert_array_equal(got, whole.matrix(engine.edits(whole, 1.0, 1.0))[2:6][:, [8, 2]])
    assert Pairs.block(A.take(slice(0, 0)), A).matrix(np.empty(0)).shape == (0, len(X))
    assert engine.subsequences(Pairs.diagonal(A.take(slice(0, 0))), 3, 0.5)[0].shape == (0, 3)


# -- interrupts -----------------------------------------------------------------------------------
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_the_work(threads, monkeypatch):
    """Pressed while the native core is at work on sequences that would take it minutes."""
    monkeypatch.setenv("MERCER_NUM_THREADS", threads)
    looks = []

    def press():
        looks.append(None)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(engine, "checkpoint", press)
    long = encode(["ab" * 200_000] * 9)
    with pytest.raises(KeyboardInterrupt):
        engine.subsequences(Pairs.diagonal(long), 4, 0.5)
    assert len(looks) == 1


def test_what_the_watch_raises_ends_the_work(monkeypatch):
    def refuse():
        raise RuntimeError("enough")

    monkeypatch.setattr(engine, "checkpoint", refuse)
    long = encode(["ab" * 200_000] * 9)
    with pytest.raises(RuntimeError, match="enough"):
        engine.local_alignments(Pairs.diagonal(long), (1.0, 0.0), 0.5, 0.5)
