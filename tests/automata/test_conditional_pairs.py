"""Conditionally symmetric pair HMMs against all alignments, in exact arithmetic."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from mercer.automata import Transducer, conditional_pair_hmm
from mercer.errors import ParameterError
from mercer.kernels import Rational

HIDDEN = {"h": Fraction(2, 3), "g": Fraction(1, 3)}
EMIT = {
    ("h", "a"): Fraction(3, 4),
    ("h", "b"): Fraction(1, 4),
    ("g", "b"): Fraction(1, 2),
    ("g", "c"): Fraction(1, 2),
}
INSERTED = {"a": Fraction(1, 5), "b": Fraction(3, 5), "c": Fraction(1, 5)}
BEGIN, GO_ON, END = Fraction(1, 6), Fraction(2, 7), Fraction(3, 10)


def run(u):
    """Probability that u stands between two aligned symbols, or before or after them all."""
    if not u:
        return 1 - BEGIN
    return BEGIN * GO_ON ** (len(u) - 1) * (1 - GO_ON) * math.prod(INSERTED[a] for a in u)


def joint(x, y):
    """Sum over all alignments: which symbols of x and y come from the same hidden symbols."""
    total = Fraction(0)
    for m in range(min(len(x), len(y)) + 1):
        for i in itertools.combinations(range(len(x)), m):
            for j in itertools.combinations(range(len(y)), m):
                p = END * (1 - END) ** m
                for s, t in zip(i, j, strict=True):
                    p *= sum(q * EMIT.get((h, x[s]), 0) * EMIT.get((h, y[t]), 0) for h, q in HIDDEN.items())
                for positions, word in ((i, x), (j, y)):
                    ends = (-1, *positions, len(word))
                    p *= math.prod(run(word[a + 1 : b]) for a, b in itertools.pairwise(ends))
                total += p
    return total


@pytest.fixture
def conditional():
    return Rational.pds(conditional_pair_hmm(HIDDEN, EMIT, INSERTED, open=BEGIN, extend=GO_ON, stop=END))


def test_conditional_pair_hmm_sums_over_alignments(conditional):
    for x, y in itertools.product(["", "a", "b", "ab", "cb", "bba", "abcb"], repeat=2):
        assert conditional(x, y) == pytest.approx(float(joint(x, y)), rel=1e-12)
    assert conditional("a", "d") == 0.0


def test_conditional_pair_hmm_is_positive_definite(conditional):
    assert conditional.certificate.is_psd
    strings = ["".join(p) for n in range(4) for p in itertools.product("abc", repeat=n)]
    K = conditional.block(strings)
    scale = 1 / np.sqrt(np.diagonal(K))
    assert np.linalg.eigvalsh(scale[:, None] * K * scale)[0] > -1e-13


def test_conditional_pair_hmm_is_a_distribution(conditional):
    """The probabilities of z and x, given z, add up to one; so then do those of z, x and y."""
    T = conditional.transducer
    roots = {h: math.sqrt(float(q) * float(1 - END)) for h, q in HIDDEN.items()}
    # sqrt(p(z)) p(x | z) times sqrt(p(z)), summed over z and x
    arcs = [arc._replace(weight=arc.weight * roots.get(arc.output, 1.0)) for arc in T.arcs]
    final = {state: weight * math.sqrt(END) for state, weight in T.final.items()}
    assert Transducer(arcs, T.initial, final, n_states=T.n_states).total_weight() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"open": -0.1}, "`open` must be a probability"),
        ({"stop": 1.5}, "`stop` must be a probability"),
        ({"hidden": {"h": -1.0}}, "`hidden`"),
        ({"emit": {("h", "a"): float("inf")}}, "`emit`"),
        ({"emit": {("k", "a"): 1.0}}, "`emit` must use symbols of `hidden`"),
    ],
)
def test_conditional_pair_hmm_refuses_what_is_no_model(change, words):
    good = {"hidden": HIDDEN, "emit": EMIT, "insert": INSERTED, "open": BEGIN, "extend": GO_ON, "stop": END}
    with pytest.raises(ParameterError, match=words):
        conditional_pair_hmm(**{**good, **change})
