"""The edit distance against enumeration, the witnesses against negative definiteness, and the repair."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mercer
from mercer.certificate import Property, Status, Verdict
from mercer.errors import ParameterError
from mercer.kernels import EditDistance

from .brute import edit_distance

WORDS = st.text("abc", max_size=5)
COSTS = st.tuples(st.integers(1, 6), st.integers(0, 15))  # eighths: exact


@given(WORDS, WORDS, COSTS)
def test_definition_and_block_against_enumeration(x, y, costs):
    gap, substitute = (Fraction(c, 8) for c in costs)
    want = float(edit_distance(x, y, gap, substitute))
    k = EditDistance(float(gap), float(substitute))
    assert k(x, y) == k(y, x) == want
    assert k.block([x], [y])[0, 0] == want


def test_many_lengths_at_once():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ab"), n)) for n in (0, 1, 2, 5, 9, 14, 30, 30, 41, 3, 0, 7)]
    k = EditDistance(1.0, 1.5)
    want = [[k(x, y) for y in X[3:]] for x in X]
    np.testing.assert_array_equal(k.block(X, X[3:]), want)
    np.testing.assert_array_equal(k.block(X), k.block(X, list(X)))


@given(WORDS, WORDS, WORDS)
def test_triangle(x, y, z):
    k = EditDistance(0.75, 1.0)
    assert k(x, z) <= k(x, y) + k(y, z)


# -- definiteness ---------------------------------------------------------------------------------
def quadratic_form(witness, gap, substitute):
    points, c = witness.points, list(map(Fraction, witness.coefficients))
    assert sum(c) == 0
    return sum(
        a * b * edit_distance(x, y, gap, substitute)
        for a, x in zip(c, points, strict=True)
        for b, y in zip(c, points, strict=True)
    )


def test_the_five_strings_refute_every_cost():
    """Distances are concave and piecewise linear in the costs: these forms are exact on the whole range."""
    cheap = EditDistance(1.0, 0.5).certificate.negative.witness  # a substitution costs no more than a gap
    for eighths in range(1, 9):
        assert quadratic_form(cheap, Fraction(1), Fraction(eighths, 8)) == Fraction(eighths, 4)
    dear = EditDistance(1.0, 2.0).certificate.negative.witness
    for eighths in (8, 9, 12, 15, 16, 17, 80):
        assert quadratic_form(dear, Fraction(1), Fraction(eighths, 8)) == 12


@pytest.mark.parametrize(
    "costs", [(1.0, 1.0), (1.0, 1e-6), (1.0, 0.6), (3.0, 4.0), (1.0, 100.0), (1e-3, 1e3)]
)
def test_the_certificate_refutes_with_a_witness(costs):
    k = EditDistance(*costs)
    assert k.certificate.verdict is Verdict.REFUTED
    witness = k.certificate.negative.witness
    assert witness.refutes is Property.NEGATIVE
    assert witness.value > 0
    assert witness.digits == 50


def test_free_substitutions_leave_the_lengths():
    k = EditDistance(2.0, 0.0)
    assert k("abcd", "xy") == 4.0
    assert k.certificate.verdict is Verdict.NDS
    assert k.schoenberg(0.1).certificate.is_psd


def test_exponentials_are_open_and_can_be_repaired():
    k = EditDistance().schoenberg(0.3)
    assert k.certificate.positive.status is Status.UNKNOWN
    words = ["ab", "ba", "aba", "bab", "b", "a", "bb", "aa", "abb", "bba"]
    G = mercer.gram(k, words)
    assert G.check("positive").verdict == "refuted"
    assert G.repair("clip").spectrum().min() > -1e-12


# -- contributions --------------------------------------------------------------------------------
@given(WORDS, WORDS, COSTS)
def test_contributions_are_a_script(x, y, costs):
    k = EditDistance(costs[0] / 8, costs[1] / 8)
    script = list(k._contributions(x, y))
    assert sum(c.weight for c in script) == k(x, y)
    made = x
    for c in script:  # from the end on, so that places stay what they were
        ((a, b),) = c.x_places
        assert made[a:b] == c.pattern[0]
        made = made[:a] + c.pattern[1] + made[b:]
    assert made == y


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="EditDistance: `gap` must be a finite number > 0"):
        EditDistance(0.0)
    with pytest.raises(ParameterError, match="EditDistance: `substitute`"):
        EditDistance(1.0, -1.0)
