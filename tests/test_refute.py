import sys
import time
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

import mercer
from mercer.certificate import Certificate, Property
from mercer.domains import Box, Reals, Simplex, Vectors
from mercer.errors import DomainError, InputError, ParameterError, UnresolvedError
from mercer.kernel import Kernel
from mercer.kernels import Cutoff, Gaussian, LaplacianKernel, Linear
from mercer.refute import Refutation, refute

N_TRIALS = 80  # plenty for what is refutable at all; the false-alarm tests spend all of it


class Formula(Kernel):
    """A kernel given by a formula in any arithmetic: no certificate, fifty digits."""

    formula: Any
    where: Any = Vectors()

    @property
    def domain(self):
        return self.where

    def _define(self, x, y, m):
        return self.formula(x, y, m)


class Float(Formula):
    """The same with floats only: confirmed in rational arithmetic with an allowance."""

    is_precise = False


def dot(x, y, m):
    return m.fsum(a * b for a, b in zip(x, y, strict=True))


def distance(x, y, m):
    return m.sqrt(m.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def power_exponential(p):
    return lambda x, y, m: m.exp(-(distance(x, y, m) ** m.real(p))) if x != y else m.real(1)


def information_diffusion(t):
    def formula(x, y, m):
        cosine = m.fsum(m.sqrt(a * b) for a, b in zip(x, y, strict=True))
        return m.exp(-(m.acos(min(cosine, m.real(1))) ** 2) / m.real(t))

    return formula


def earth_mover(x, y, m):
    """exp of minus the squared work to move one histogram on three bins to another, in bins."""
    moved, carry = m.real(0), m.real(0)
    for a, b in zip(x, y, strict=True):
        carry = carry + a - b
        moved = moved + abs(carry)
    return m.exp(-4 * moved**2)


REFUTABLE = {
    "sigmoid": lambda x, y, m: m.tanh(dot(x, y, m)),
    "sigmoid, flat": lambda x, y, m: m.tanh(dot(x, y, m) / 100 + 1),
    "sigmoid, b < 0": lambda x, y, m: m.tanh(dot(x, y, m) - m.real(0.5)),
    "exp(-d^2.5)": power_exponential(2.5),
    "exp(-d^3)": power_exponential(3.0),
    "distance": distance,
    "Epanechnikov": lambda x, y, m: max(m.real(0), 1 - distance(x, y, m) ** 2),
    "difference of Gaussians": lambda x, y, m: (
        m.exp(-(distance(x, y, m) ** 2) / 2) - m.real(0.6) * m.exp(-2 * distance(x, y, m) ** 2)
    ),
    "max": lambda x, y, m: m.fsum(max(a, b) for a, b in zip(x, y, strict=True)),
    "zero diagonal": lambda x, y, m: m.real(0) if x == y else m.real(1),
}


def recomputed(k, witness):
    """The quadratic form of a witness with eighty digits, straight from the definition."""
    with mpmath.workdps(80):
        value = mpmath.mpf(0)
        for a, x in zip(witness.coefficients, witness.points, strict=True):
            for b, y in zip(witness.coefficients, witness.points, strict=True):
                value += mpmath.mpf(a) * mpmath.mpf(b) * mpmath.mpf(str(k.precise(x, y, 60)))
        return value


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", REFUTABLE)
def test_what_is_not_positive_definite_is_found(name, seed):
    k = Formula(REFUTABLE[name])
    result = refute(k, n_trials=N_TRIALS, random_state=seed)
    assert result
    assert result.kind == "indefinite"
    assert result.witness.digits == 50
    value = recomputed(k, result.witness)
    assert value < 0
    assert float(value) == pytest.approx(result.witness.value, rel=1e-12)
    assert len(result.witness.points) <= 6
    assert all(float(c).is_integer() for c in result.witness.coefficients)
    assert "not positive definite" in str(result)


@pytest.mark.parametrize("name", REFUTABLE)
def test_with_floats_alone_too(name):
    k = Float(REFUTABLE[name])
    result = refute(k, n_trials=N_TRIALS)
    assert result.witness.digits == 15
    assert result.witness.value < -result.witness.error < 0
    assert recomputed(Formula(REFUTABLE[name]), result.witness) < 0


@pytest.mark.parametrize("t", [20.0, 5.0])
def test_information_diffusion_on_three_categories(t):
    k = Formula(information_diffusion(t), Vectors(dim=3, region=Simplex()))
    result = refute(k, budget=20.0)
    assert result, result.statement
    assert recomputed(k, result.witness) < 0
    for point in result.witness.points:
        assert sum(point) == pytest.approx(1.0, abs=1e-6)


def test_two_categories_are_not_refuted():
    # on two categories arccos is a distance on the line, and exp(-d^2/t) a Gaussian
    k = Formula(information_diffusion(20.0), Vectors(dim=2, region=Simplex()))
    result = refute(k, n_trials=N_TRIALS)
    assert not result
    assert result.n_sets > N_TRIALS // 2


def test_earth_movers_square_is_found():
    assert refute(Formula(earth_mover, Vectors(dim=3, region=Simplex())), n_trials=300)


def test_divergences_are_asymmetric():
    def divergence(x, y, m):
        return m.fsum(a * m.log(a / b) for a, b in zip(x, y, strict=True))

    for cls in (Formula, Float):
        k = cls(divergence, Vectors(region=Box(0.0, open_low=True)))
        result = refute(k, n_trials=N_TRIALS)
        assert result.kind == "asymmetry"
        x, y = result.pair
        assert result.values == pytest.approx((k(x, y), k(y, x)), rel=1e-14)
        assert result.values[0] != pytest.approx(result.values[1])
        assert "not symmetric" in str(result)
        assert result.witness is None


PSD = [
    Gaussian(1.0),
    Gaussian(1e4),  # every Gram matrix is singular to working precision
    Gaussian(1e-3),
    Linear(),
    Linear() ** 5,
    Gaussian(1e3) * Linear() + Gaussian(10.0) ** 2,
    (Linear() + 1.0) ** 8,
    Gaussian(1e4).normalized() * 1e-8,
    Formula(lambda x, y, m: m.exp(-m.fsum(abs(a - b) for a, b in zip(x, y, strict=True)))),
    Formula(power_exponential(2.0)),
    Formula(lambda x, y, m: min(x[0], y[0]), Reals(region=Box(0.0))),
    Formula(lambda x, y, m: min(x[0], y[0]) - x[0] * y[0], Reals(region=Box(0.0, 1.0))),
]


@pytest.mark.parametrize("k", PSD)
@pytest.mark.parametrize("precise", [True, False])
def test_no_false_alarm(k, precise):
    if not precise:
        if not isinstance(k, Formula):
            k = mercer.kernel(k.__call__, domain=k.domain)
        else:
            k = Float(k.formula, k.where)
    result = refute(k, n_trials=N_TRIALS if precise else N_TRIALS // 2)
    assert not result, result.statement
    assert result.kind == "none"
    assert "proves nothing" in result.statement
    assert result.n_sets > 0
    assert result.n_points > result.n_sets


def random_expression(rng, depth):
    """A random expression that is certified by construction: sums, products, powers, exponentials..."""
    if depth == 0:
        return Gaussian(float(10 ** rng.uniform(-1, 3))) if rng.random() < 0.6 else 0.01 * Linear()
    a = random_expression(rng, depth - 1)
    operation = int(rng.integers(6))
    if operation == 0:
        return a + random_expression(rng, depth - 1)
    if operation == 1:
        return a * random_expression(rng, depth - 1)
    if operation == 2:
        return a**2
    if operation == 3:
        return a.normalized()
    if operation == 4:
        return float(rng.uniform(0, 3)) * a + 0.5
    return (0.1 * a.normalized()).exp()


@pytest.mark.parametrize("seed", range(12))
def test_no_false_alarm_on_random_certified_expressions(seed):
    k = random_expression(np.random.default_rng(seed), 3)
    assert k.certificate.is_psd
    result = refute(k, n_trials=30, random_state=seed)
    assert not result, f"{k!r}: {result.statement}"
    X = np.random.default_rng(seed).standard_normal((40, 3)) * 3
    assert not refute(k, X, n_trials=3)


def test_no_false_alarm_from_formulas_that_cancel():
    def covariance(x, y):
        return float(np.mean(x * y) - np.mean(x) * np.mean(y))

    def shifted(x, y):
        return covariance(np.asarray(x) + 1e7, np.asarray(y) + 1e7)

    k = mercer.kernel(shifted, domain=Vectors(dim=3))
    result = refute(k, n_trials=N_TRIALS)
    assert not result, result.statement


def test_no_false_alarm_from_single_precision():
    def single(x, y):
        x, y = np.asarray(x, dtype=np.float32), np.asarray(y, dtype=np.float32)
        return float(np.exp(-np.sum((x - y) ** 2) * np.float32(0.05)))

    k = mercer.kernel(single, domain=Vectors())
    result = refute(k, n_trials=N_TRIALS)
    assert not result, result.statement


# -- negative definiteness ----------------------------------------------------------------------
def test_negative_definiteness_is_attacked_where_it_is_claimed():
    class Claimed(Formula):
        def _certify(self):
            return Certificate.nds(self, "hope", "")

    true = refute(Claimed(distance), n_trials=N_TRIALS)
    assert true.tested is Property.NEGATIVE
    assert not true
    wrong = Claimed(lambda x, y, m: distance(x, y, m) ** 3)
    result = refute(wrong, n_trials=N_TRIALS)
    assert result.tested is Property.NEGATIVE
    assert sum(map(Fraction, result.witness.coefficients)) == 0
    assert recomputed(wrong, result.witness) > 0
    assert "not negative definite" in str(result)


def test_the_property_can_be_chosen():
    assert refute(Gaussian(1.0), property="negative", n_trials=20)
    assert not refute(-Gaussian(1.0), property=Property.NEGATIVE, n_trials=20)
    assert refute(-Gaussian(1.0), property="positive", n_trials=20).witness.points
    with pytest.raises(ParameterError, match="`property`"):
        refute(Gaussian(1.0), property="neither")


# -- given points -------------------------------------------------------------------------------
def test_given_points_are_the_only_ones_used():
    X = np.array([[1.0], [0.1], [5.0]])
    result = refute(Formula(REFUTABLE["sigmoid"]), X, n_trials=10)
    assert result
    assert {float(p) for p in result.witness.points} <= {1.0, 0.1, 5.0}
    assert not refute(Formula(REFUTABLE["sigmoid"]), X[:1], n_trials=10)


def test_any_objects_when_they_are_given():
    def longest(x, y):  # length of the longer word
        return float(max(len(x), len(y)))

    k = mercer.kernel(longest)
    with pytest.raises(DomainError, match="pass the points"):
        refute(k)
    result = refute(k, ["a", "abc", "b"], n_trials=10)
    assert result
    assert set(result.witness.points) <= {"a", "abc", "b"}
    with pytest.raises(InputError, match="at least one point"):
        refute(k, [])


@pytest.mark.parametrize("given", [{"n_trials": 1}, {"budget": 20.0}])
def test_given_points_are_tested_all_together(given):
    """I - J / (n - 1) is positive definite on any n - 1 points: only all n of them refute it."""
    n = 150

    def simplex(i, j):
        return float(i == j) - 1.0 / (n - 1)

    k, X = mercer.kernel(simplex), list(range(n))
    assert not refute(k, X[:-1], n_trials=5)
    assert mercer.gram(k, X).check().witness is not None
    assert len(refute(k, X, **given).witness.points) == n


def test_given_points_are_judged_as_finely_as_by_check():
    """A violation of one part in 10^12 is far above rounding, and far below what sampling looks at."""
    k = mercer.kernel(lambda i, j: 1.0 + (0.0 if i == j else 1e-12))
    assert mercer.gram(k, [0, 1]).check().verdict == "refuted"
    assert refute(k, [0, 1], n_trials=1)


def test_many_given_points_come_in_chunks(monkeypatch):
    monkeypatch.setattr(sys.modules["mercer.refute"], "MOST_TOGETHER", 50)
    X = np.random.default_rng(0).standard_normal((130, 2))
    nothing = refute(Gaussian("median"), X, n_trials=9)
    assert not nothing
    assert nothing.n_sets == 9
    assert nothing.n_points >= 130
    assert refute(Formula(REFUTABLE["sigmoid"]), X, n_trials=9)


def test_slow_kernels_are_tried_on_few_points_within_the_budget():
    calls = []

    def slow(x, y):
        calls.append(1)
        time.sleep(1e-4)
        return float(min(x, y))

    assert not refute(mercer.kernel(slow), np.arange(2000.0).tolist(), budget=0.3)
    assert len(calls) < 100_000  # not the 160,000 of one full chunk


def test_many_given_points_end_with_the_budget():
    """What one step of the search needs, rows of a large graph or all eigenvalues, exceeds it many times."""
    nodes = range(2501)
    ring = (2501, [(i, (i + 1) % 2501) for i in nodes])
    X = np.random.default_rng(0).standard_normal((2501, 2))
    begun = time.process_time()
    assert not refute(LaplacianKernel(ring, Cutoff(0.8)), nodes, budget=0.2)
    assert not refute(Gaussian(1.0), X, budget=0.2)
    assert not refute(mercer.kernel(np.dot), X, budget=0.2)
    assert time.process_time() - begun < 2.5


def test_an_interrupt_ends_the_search():
    calls = []

    def interrupted(x, y):
        calls.append(1)
        if len(calls) == 500:
            raise KeyboardInterrupt
        return float(min(x, y))

    with pytest.raises(KeyboardInterrupt):
        refute(mercer.kernel(interrupted), np.arange(2000.0).tolist(), budget=60.0)


def test_widths_that_wait_for_data():
    with pytest.raises(UnresolvedError):
        refute(Gaussian("median"))
    assert not refute(Gaussian("median"), [[0.0], [1.0], [5.0]], n_trials=5)


# -- the search itself --------------------------------------------------------------------------
def test_the_same_seed_gives_the_same_outcome():
    first, second = (
        refute(Formula(REFUTABLE["Epanechnikov"]), n_trials=50, random_state=3) for _ in range(2)
    )
    assert str(first) == str(second)
    assert first.n_sets == second.n_sets


def test_witnesses_are_short():
    result = refute(Formula(REFUTABLE["exp(-d^3)"]), n_trials=50)
    assert len(result.witness.points) == 3
    assert len(str(result.witness)) < 120


def test_kernels_that_overflow_or_refuse_points_are_survived():
    k = (Linear() + 1.0) ** 200
    assert not refute(k, n_trials=30)


def test_arguments_are_checked():
    with pytest.raises(ParameterError, match="must be a Kernel"):
        refute(lambda x, y: 1.0)
    for bad in ({"budget": 0.0}, {"n_trials": 0}, {"max_points": 1}):
        with pytest.raises(ParameterError, match="refute"):
            refute(Linear(), **bad)


def test_nothing_found_is_false():
    assert not Refutation("none", Property.POSITIVE)
