"""PAC-Bayes, compression, leave-one-out and stability bounds: by hand, and on known distributions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

from mercer.errors import InputError, ParameterError
from mercer.guarantees import (
    compression_bound,
    kernel_stability,
    pac_bayes_bound,
    stability_bound,
    support_vector_bound,
)
from mercer.guarantees.binomial import binary_entropy, largest_probability, log_binomial
from mercer.kernels import Gaussian
from mercer.machines import SVC, KernelRidge

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("q", [0.0, 1e-9, 0.1, 0.5, 0.999])
@pytest.mark.parametrize("entropy", [0.0, 1e-12, 0.01, 1.0, 50.0])
def test_the_inverse_of_the_relative_entropy(q: float, entropy: float) -> None:
    p = largest_probability(q, entropy)
    assert q <= p <= 1
    if p < 1 - 1e-12:
        assert binary_entropy(q, p) == pytest.approx(entropy, rel=1e-6, abs=1e-13)
    assert largest_probability(1.0, entropy) == 1.0
    assert largest_probability(q, math.inf) == 1.0


def test_relative_entropy_by_its_definition() -> None:
    for q, p in ((0.2, 0.7), (0.0, 0.3), (1.0, 0.3), (0.4, 0.4)):
        terms = [a * math.log(a / b) for a, b in ((q, p), (1 - q, 1 - p)) if a > 0]
        assert binary_entropy(q, p) == pytest.approx(sum(terms), abs=1e-15)
    assert binary_entropy(0.5, 1.0) == math.inf
    assert log_binomial(50, 20) == pytest.approx(math.log(math.comb(50, 20)))


@pytest.mark.parametrize("m", [1, 2, 3, 5, 7, 8, 20, 200])
def test_the_constant_of_the_pac_bayes_theorem(m: int) -> None:
    """E exp(m kl(mean of m coins, p)) is at most 2 sqrt(m), for every p."""
    for p in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000)):
        k = np.arange(m + 1)
        logs = binom.logpmf(k, m, float(p)) + [m * binary_entropy(i / m, float(p)) for i in k]
        assert np.exp(logs).sum() <= 2 * math.sqrt(m) * (1 + 1e-12)


def test_pac_bayes_by_hand() -> None:
    z, mu, delta = np.array([0.5, 0.2, -0.1]), 3.0, 0.1
    bound = pac_bayes_bound(z, delta=delta, scale=mu)
    mean = norm.cdf(-mu * z).mean()
    entropy = (mu**2 / 2 + math.log(2 * math.sqrt(3) / delta)) / 3
    assert binary_entropy(mean, bound.value / 2) == pytest.approx(entropy)
    assert bound.vacuous
    assert "never exceeds 1" in bound.vacuous_because
    grid = [pac_bayes_bound(z, scale=s).value for s in np.geomspace(0.01, 100, 200)]
    assert pac_bayes_bound(z).value <= min(grid) + 1e-9


def test_compression_by_hand() -> None:
    bound = compression_bound(20, 3, 0, delta=0.1)
    # no errors: (1 - p)^17 = delta / (20 C(20, 3))
    assert bound.value == pytest.approx(1 - (0.1 / (20 * math.comb(20, 3))) ** (1 / 17))
    some = compression_bound(200, 10, 7, delta=0.1)
    exact = beta.isf(
        0.1 / (200 * math.comb(200, 10)), 8, 190 - 7
    )  # the exact tail is tighter than Chernoff's
    assert exact <= some.value <= 1.15 * exact
    assert compression_bound(10, 10, 0).vacuous
    assert compression_bound(5_000, 4_000, 10).vacuous  # beyond the range of floats, in logarithms


def test_the_share_of_support_vectors_bounds_the_leave_one_out_error() -> None:
    X = RNG.normal(size=(60, 2))
    y = X[:, 0] + 0.5 * RNG.normal(size=60) > 0
    for C in (0.1, 1.0, 100.0):
        model = SVC(Gaussian(1.0), C=C).fit(X, y)
        bound = support_vector_bound(60, len(model.support_))
        errors = []
        for i in range(60):
            kept = np.arange(60) != i
            errors.append(SVC(Gaussian(1.0), C=C).fit(X[kept], y[kept]).predict(X[i : i + 1])[0] != y[i])
        assert np.mean(errors) <= bound.value + 1e-12


def test_leaving_out_a_point_changes_no_value_by_more_than_the_stability() -> None:
    X = RNG.uniform(-2, 2, size=(30, 1))
    y = np.sin(3 * X[:, 0])
    grid = np.linspace(-2, 2, 50)[:, None]
    for alpha in (0.5, 5.0):
        model = KernelRidge(Gaussian(0.5), alpha=alpha).fit(X, y)
        penalty = alpha / 30
        lipschitz = 2 * (
            1 + 1 / math.sqrt(penalty)
        )  # of the square, for |y| <= 1 and |f| <= 1 / sqrt(penalty)
        change = kernel_stability(1.0, penalty=penalty, lipschitz=lipschitz, n=30) / lipschitz
        for i in range(30):
            # the penalty beside the mean over m points, one of which is left out
            kept = np.arange(30) != i
            other = KernelRidge(Gaussian(0.5), alpha=alpha).fit(X[kept], y[kept])
            assert np.abs(model.predict(grid) - other.predict(grid)).max() <= change


def test_stability_by_hand() -> None:
    bound = stability_bound(0.1, 0.002, n=400, loss_bound=2.0, delta=0.1)
    expected = 0.1 + 0.004 + (4 * 400 * 0.002 + 2) * math.sqrt(math.log(10) / 800)
    assert bound.value == pytest.approx(expected)
    assert set(bound.terms) == {"training loss", "stability", "confidence"}
    assert stability_bound(0.1, 0.1, n=10).vacuous
    assert stability_bound(0.1, 1e-6, n=10**6, trivial=0.05).vacuous


def test_bounds_hold_on_a_known_distribution() -> None:
    """Labels by a noisy linear rule on the circle; the error of each machine on a fine sample."""
    rng = np.random.default_rng(1)

    def draw(n):
        t = rng.uniform(0, 2 * np.pi, n)
        y = np.where((np.sin(t) > 0) ^ (rng.random(n) < 0.05), 1, -1)
        return np.c_[np.cos(t), np.sin(t)], y

    test, labels = draw(4000)
    for _ in range(10):
        X, y = draw(300)
        model = SVC(Gaussian(1.0), C=1.0, fit_intercept=False).fit(X, y)
        error = np.mean(model.predict(test) != labels)
        K = Gaussian(1.0).block(model.expansion_._X)
        norm_of = math.sqrt(model.dual_coef_[0] @ K @ model.dual_coef_[0])
        z = y * model.decision_function(X) / norm_of
        bound = pac_bayes_bound(z)
        assert error <= bound.value < 1
        out = np.setdiff1d(np.arange(300), model.support_)
        assert error <= compression_bound(300, len(model.support_), int((z[out] < 0).sum())).value


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InputError, match=r"`cosines` must be in \[-1, 1\]"):
        pac_bayes_bound([0.5, 1.5])
    with pytest.raises(ParameterError, match="`delta`"):
        pac_bayes_bound([0.5], delta=1.0)
    with pytest.raises(ParameterError, match="`scale`"):
        pac_bayes_bound([0.5], scale=0.0)
    with pytest.raises(ParameterError, match="`size` must be at most n"):
        compression_bound(10, 11, 0)
    with pytest.raises(ParameterError, match="`errors` must be at most"):
        compression_bound(10, 5, 6)
    with pytest.raises(ParameterError, match="`n_support` must be at most"):
        support_vector_bound(10, 11)
    with pytest.raises(ParameterError, match="`penalty`"):
        kernel_stability(1.0, penalty=0.0, lipschitz=1.0, n=10)
    with pytest.raises(ParameterError, match="`loss_bound`"):
        stability_bound(0.1, 0.1, n=10, loss_bound=0.0)
