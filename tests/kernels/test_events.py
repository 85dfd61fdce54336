"""Event kernels in exact fractions; exercise 6.16; sampled kernels against enumeration."""

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.guarantees import sampled_kernel_size
from mercer.kernels.events import BooleanFunctions, EventCovariance, SampledIntersection

Formula = Callable[[tuple[int, ...]], object]

ROUNDING = 1e-15
OUTCOMES = {"sun": Fraction(1, 2), "rain": Fraction(3, 8), "snow": Fraction(1, 8)}
EVENTS = [frozenset(s) for r in range(4) for s in itertools.combinations(OUTCOMES, r)]


def test_exercise_6_16_covariance_of_events() -> None:
    k = EventCovariance({o: float(p) for o, p in OUTCOMES.items()})

    def P(event: frozenset[str]) -> Fraction:
        return sum((OUTCOMES[o] for o in event), Fraction(0))

    want = np.array([[float(P(U & V) - P(U) * P(V)) for V in EVENTS] for U in EVENTS])
    np.testing.assert_allclose(k.block(EVENTS), want, atol=ROUNDING)
    np.testing.assert_allclose([[k(U, V) for V in EVENTS] for U in EVENTS], want, atol=ROUNDING)
    np.testing.assert_allclose(k.diagonal(EVENTS), want.diagonal(), atol=ROUNDING)
    assert k.certificate.verdict is Verdict.PSD
    assert np.linalg.eigvalsh(want)[0] > -ROUNDING
    # The proof: it is the covariance matrix of the indicators.
    indicators = np.array([[o in U for U in EVENTS] for o in OUTCOMES], dtype=float)
    weights = [float(p) for p in OUTCOMES.values()]
    np.testing.assert_allclose(
        np.cov(indicators, rowvar=False, aweights=weights, ddof=0), want, atol=ROUNDING
    )


def test_independent_events_have_covariance_zero() -> None:
    pairs = {(i, j): 1 / 36 for i in range(6) for j in range(6)}
    k = EventCovariance(pairs)
    first, second = {(2, j) for j in range(6)}, {(i, 5) for i in range(6)}
    assert k(first, second) == pytest.approx(0.0, abs=1e-17)
    assert k(first, first) == pytest.approx(5 / 36, rel=1e-12)


def test_probabilities_are_checked() -> None:
    with pytest.raises(ParameterError, match=r"EventCovariance: `probability` must sum to 1. Got 0.9"):
        EventCovariance({"a": 0.5, "b": 0.4})
    with pytest.raises(ParameterError, match=r"`probability` must be finite numbers >= 0. Got -0.5 for 'b'"):
        EventCovariance({"a": 1.5, "b": -0.5})
    with pytest.raises(InputError, match="Got the element 'hail'"):
        EventCovariance({"sun": 1.0}).block([{"hail"}])


FORMULAS: list[Formula] = [
    lambda z: z[0],
    lambda z: z[0] and not z[1],
    lambda z: z[0] ^ z[1] ^ z[2] ^ z[3],
    lambda z: (z[0] or z[1]) and (z[2] or not z[3]),
    lambda z: False,
    lambda z: True,
]


@pytest.mark.parametrize("agreement", [False, True])
def test_boolean_functions_on_all_assignments(agreement: bool) -> None:
    k = BooleanFunctions(4, n_samples=None, agreement=agreement)
    cube = list(itertools.product((0, 1), repeat=4))

    def exact(f: Formula, g: Formula) -> float:
        return sum(bool(f(z)) == bool(g(z)) if agreement else bool(f(z) and g(z)) for z in cube) / 16

    want = [[exact(f, g) for g in FORMULAS] for f in FORMULAS]
    np.testing.assert_array_equal(k.block(FORMULAS), want)
    np.testing.assert_array_equal([[k(f, g) for g in FORMULAS] for f in FORMULAS], want)
    np.testing.assert_array_equal(k.block(FORMULAS[:2], FORMULAS[1:]), np.array(want)[:2, 1:])
    np.testing.assert_array_equal(k.diagonal(FORMULAS), np.diagonal(want))


def test_sample_size_of_the_guarantee_is_enough() -> None:
    eps, n = 0.1, len(FORMULAS)
    size = int(sampled_kernel_size(bound=1.0, eps=eps, delta=0.001, n=n).value)
    sampled = BooleanFunctions(4, n_samples=size, random_state=7).block(FORMULAS)
    assert np.abs(sampled - BooleanFunctions(4, n_samples=None).block(FORMULAS)).max() <= eps


def test_sampled_kernels_are_psd_however_few_the_draws_and_repeatable() -> None:
    for n_samples in (1, 2, 17):
        k = BooleanFunctions(4, n_samples, random_state=3)
        assert k.certificate.verdict is Verdict.PSD
        K = k.block(FORMULAS)
        assert np.linalg.eigvalsh(K)[0] > -1e-14
        np.testing.assert_array_equal(K, BooleanFunctions(4, n_samples, random_state=3).block(FORMULAS))
    assert BooleanFunctions(4, 50, random_state=1).assignments != BooleanFunctions(4, 50).assignments


def test_sampled_intersection_counts_draws_in_both_sets() -> None:
    draws = np.random.default_rng(0).uniform(0, 2, size=500)
    k = SampledIntersection(draws, total=2.0)
    lengths = [0.0, 0.5, 1.0, 2.0]
    intervals = [lambda z, b=b: z < b for b in lengths]  # [0, b): the intersection kernel is min(b, b')
    K = k.block(intervals)
    want = [[2.0 * np.mean(draws < min(a, b)) for b in lengths] for a in lengths]
    np.testing.assert_allclose(K, want, rtol=1e-13)
    assert np.abs(K - np.minimum.outer(lengths, lengths)).max() < 0.2


def test_sampled_sets_may_be_containers_of_tuples() -> None:
    k = SampledIntersection(np.array([[0, 0], [0, 1], [1, 1]]))
    assert k({(0, 0), (1, 1)}, [(1, 1), (5, 5)]) == pytest.approx(1 / 3)
    assert k(lambda z: z[0] == 0, {(0, 1)}) == pytest.approx(1 / 3)
    assert eval(repr(k)) == k


def test_errors_name_the_argument() -> None:
    with pytest.raises(ParameterError, match="`draws` must hold at least one point"):
        SampledIntersection([])
    with pytest.raises(InputError, match="a set must be a function or answer `z in A`"):
        SampledIntersection([1, 2]).block([3])
    with pytest.raises(InputError, match="points must be functions"):
        BooleanFunctions(2).block(["x and y"])
    with pytest.raises(ParameterError, match="`n_variables` must be at most 20"):
        BooleanFunctions(30, n_samples=None)
    with pytest.raises(
        ParameterError,
        match=r"`n_samples` must be .* from 1 to 100,000 for 3 .* Got 0",
    ):
        BooleanFunctions(3, n_samples=0)
    assert BooleanFunctions(2).block([]).shape == (0, 0)
