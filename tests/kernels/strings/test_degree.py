"""The weighted degree kernel against enumeration, and the inequality that makes shifts positive definite."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.certificate import Verdict
from mercer.errors import ParameterError
from mercer.kernels import WeightedDegree

from .brute import strings, weighted_degree

WORDS = st.text("ab", max_size=9)


@given(WORDS, WORDS, st.lists(st.integers(0, 3), min_size=1, max_size=4), st.integers(0, 5))
def test_definition_and_block_against_enumeration(x, y, weights, shift):
    want = float(weighted_degree(x, y, [Fraction(w) for w in weights], shift))
    k = WeightedDegree(len(weights), weights, shift)
    assert k(x, y) == pytest.approx(want, rel=1e-14)
    assert k.block([x], [y])[0, 0] == pytest.approx(want, rel=1e-14)


@given(WORDS, st.integers(1, 5))
def test_default_weights_count_every_position_of_a_long_match_once(x, d):
    tail = sum(sum(2 * (d - k) / (d * (d + 1)) for k in range(r)) for r in range(1, min(d, len(x) + 1)))
    full = max(0, len(x) - d + 1)
    assert WeightedDegree(d)(x, x) == pytest.approx(full + tail, rel=1e-13)


def test_a_shift_lets_matches_slip():
    k = WeightedDegree(3, [0.0, 0.0, 1.0])
    assert k("xabc", "abcx") == 0.0
    assert k.replace(shift=1)("xabc", "abcx") == pytest.approx(1 / 4)
    assert k.replace(shift=100)("xabc", "abcx") == pytest.approx(1 / 4)


# -- definiteness ---------------------------------------------------------------------------------
@pytest.mark.parametrize("shift", [1, 2, 3, 5, 10, 40, 300])
def test_the_inequality_of_rogosinski_and_szego(shift):
    s, theta = np.arange(1, shift + 1), np.linspace(0, np.pi, 4001)[:, None]
    assert (1 + (np.cos(s * theta) / (s + 1)).sum(axis=1)).min() >= 0.5 - 1e-12


@pytest.mark.parametrize("shift", [0, 1, 4])
def test_definite_on_all_short_strings(shift):
    k = WeightedDegree(3, [1.0, 0.5, 2.0], shift)
    assert np.linalg.eigvalsh(k.block(strings("ab", 5)))[0] > -1e-10
    assert k.certificate.verdict is Verdict.PSD


# -- the rest -------------------------------------------------------------------------------------
@given(WORDS, WORDS, st.integers(0, 3))
def test_contributions_add_up(x, y, shift):
    k = WeightedDegree(3, [1.0, 0.0, 2.0], shift)
    found = k.contributions(x, y)
    assert found.total == pytest.approx(k(x, y), rel=1e-12, abs=1e-15)
    for c in found:
        assert all(x[a:b] == c.pattern for a, b in c.x_places)
        assert all(y[a:b] == c.pattern for a, b in c.y_places)


def test_a_hundred_thousand_letters():
    x = "acgt" * 25_000
    want = 100_000 + 2 * 99_996 / 10  # shifts by 4 have weight 1/10, and 99,996 positions each way
    assert WeightedDegree(1, shift=4).block([x])[0, 0] == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "`degree`"),
        ((2, [1.0]), "`weights` must be 2"),
        ((1, None, -1), "`shift`"),
        ((1, [-1.0]), "`weights`"),
    ],
)
def test_parameters_are_checked(arguments, message):
    with pytest.raises(ParameterError, match=f"WeightedDegree: {message}"):
        WeightedDegree(*arguments)
