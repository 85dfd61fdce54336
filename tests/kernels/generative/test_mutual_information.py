"""Mutual information kernels against quadrature, exact fractions and sampling."""

from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from scipy.integrate import quad

from mercer.errors import ParameterError
from mercer.kernels import ContextTree, Fisher, Gaussian, MutualInformation, SampledMutualInformation
from mercer.models import Dirichlet, MarkovChain, Multinomial, Normal, NormalMean

RNG = np.random.default_rng(0)
COINS = np.array([[0, 0], [1, 0], [3, 2], [0, 4]])


def test_a_coin_of_which_nothing_is_known():
    """The integral of p^h (1 - p)^t is h! t! / (h + t + 1)!, exactly."""
    K = MutualInformation(Dirichlet([1.0, 1.0])).block(COINS)
    for i, (a, b) in enumerate(COINS.tolist()):
        for j, (c, d) in enumerate(COINS.tolist()):
            integral = Fraction(factorial(a + c) * factorial(b + d), factorial(a + b + c + d + 1))
            assert K[i, j] == pytest.approx(float(integral * comb(a + b, a) * comb(c + d, c)), rel=1e-12)


def test_a_beta_prior_by_quadrature():
    k = MutualInformation(Dirichlet([0.5, 2.0]))
    norm = quad(lambda p: p**-0.5 * (1 - p), 0, 1)[0]
    value = quad(lambda p: p**-0.5 * (1 - p) * 10 * p**3 * (1 - p) ** 2 * p, 0, 1)[0] / norm
    assert k([3, 2], [1, 0]) == pytest.approx(value, rel=1e-8)


def test_the_mean_of_a_normal_by_quadrature():
    k = MutualInformation(NormalMean([0.3], [[2.0]], [[0.5]]))
    x, y = 0.7, -1.1
    prior, seen = Normal([0.3], [[2.0]]), lambda m: Normal([m], [[0.5]])

    def integrand(m):
        logs = prior.log_likelihood([m]) + seen(m).log_likelihood([x]) + seen(m).log_likelihood([y])
        return np.exp(logs)

    assert k([x], [y]) == pytest.approx(quad(integrand, -15, 15)[0], rel=1e-8)


def test_the_normalised_kernel_of_a_normal_mean_is_a_gaussian_kernel():
    """Prior variance t and noise s leave the difference alone: exp(-(x - y)^2 t / (2 s (s + 2 t)))."""
    t, s = 2.0, 0.5
    k = MutualInformation(NormalMean([0.0], [[t]], [[s]])).normalized()
    X = RNG.standard_normal((6, 1))
    # -log k = (x-y)^2 (1/(4s) - 1/(4s+8t)) of the joint density of sum and difference
    sigma = np.sqrt(s * (s + 2 * t) / (2 * t)) * np.sqrt(2)
    np.testing.assert_allclose(k.block(X), Gaussian(float(sigma)).block(X), rtol=1e-10)


def test_the_fisher_kernel_is_a_limit():
    """A narrow prior leaves, to first order, the scores: k / (p(x) p(y)) - 1 ~ Fisher / concentration."""
    p, concentration = np.array([0.5, 0.2, 0.3]), 1e6
    X = RNG.poisson(2, (5, 3)).astype(float)
    model = Multinomial(p)
    likelihoods = np.exp(model.log_likelihoods(X))
    ratio = MutualInformation(Dirichlet(concentration * p)).block(X) / np.outer(likelihoods, likelihoods)
    own = 1 + np.array([_curvature(x, p) for x in X]) / concentration
    first = (ratio / np.outer(own, own) - 1) * concentration
    np.testing.assert_allclose(first, Fisher(model).block(X), atol=5e-2)


def _curvature(x, p):
    """Second-order term of the mean likelihood of one observation, times the concentration."""
    N = x.sum()
    return 0.5 * ((x * (x - 1) / p).sum() - N * (N - 1))


def test_many_draws_do_not_underflow():
    k = MutualInformation(Dirichlet([1.0, 1.0, 1.0]))
    X = np.array([[4000.0, 3000, 3000], [4100, 2900, 3000], [0, 0, 10000]])
    assert (k.log_block(X) < -10).all()
    K = k.normalized().block(X)
    assert K[0, 0] == pytest.approx(1)
    assert 0.1 < K[0, 1] < 1
    assert K[0, 2] < 1e-300


def test_sampled_models():
    prior = Dirichlet([2.0, 1.0, 0.5])
    X = np.array([[1.0, 0, 0], [2, 1, 0], [0, 0, 3]])
    k = SampledMutualInformation.from_prior(prior, 4000, random_state=0)
    exact = MutualInformation(prior)
    for x in X:
        for y in X:
            assert abs(k(x, y) - exact(x, y)) < 5 * k.standard_error(x, y)
    likelihoods = np.exp(np.column_stack([m.log_likelihoods(X) for m in k.models]))
    np.testing.assert_allclose(k.block(X), likelihoods @ likelihoods.T / 4000, rtol=1e-10)
    own = SampledMutualInformation.from_prior(lambda rng: Multinomial(rng.dirichlet([1, 1, 1])), 3, 0)
    assert len(own.models) == 3


def test_bad_parameters():
    with pytest.raises(ParameterError, match="`alpha` must be two or more numbers > 0"):
        Dirichlet([1.0, 0.0])
    with pytest.raises(ParameterError, match="`prior` must be a prior"):
        MutualInformation(Multinomial([0.5, 0.5]))
    with pytest.raises(ParameterError, match="`models` must be models"):
        SampledMutualInformation([1])
    with pytest.raises(ParameterError, match=r"`models` must be models of mercer.models. Got 5"):
        SampledMutualInformation(5)
    for n in (0, 2.5, "x"):
        with pytest.raises(ParameterError, match="from_prior: `n` must be an integer >= 1"):
            SampledMutualInformation.from_prior(Dirichlet([1.0, 1.0]), n)
    with pytest.raises(ParameterError, match=r"from_prior: `prior` must be a prior of mercer.models, or a"):
        SampledMutualInformation.from_prior(3, 5)


def test_context_trees_without_contexts_are_letters_with_a_dirichlet_prior():
    """Of depth 0 there is one tree: the probability of a string is that of its counts, in one order."""
    strings, b = ["aabac", "ccccc", "abcab", "bbbbb"], 0.7
    counts = np.array([[x.count(a) for a in "abc"] for x in strings], dtype=float)
    orders = np.array([factorial(5) / np.prod([factorial(int(c)) for c in row]) for row in counts])
    expected = MutualInformation(Dirichlet([b] * 3)).block(counts) / np.outer(orders, orders)
    tree = ContextTree(0, 3, sigma=5.0, prior=b)
    np.testing.assert_allclose(tree.block(strings), expected, rtol=1e-10)


def test_context_trees_of_one_letter_are_markov_chains_drawn_from_a_prior():
    strings, letters = ["abbab", "aaaab", "babab"], "ab"

    def draw(rng):
        return MarkovChain([0.5, 0.5], rng.dirichlet([0.5, 0.5], size=2), letters)

    sampled = SampledMutualInformation.from_prior(draw, 500, random_state=0)
    tree = ContextTree(1, 2, sigma=4.0, split=1.0, prior=0.5)  # the first letter is a context only
    for x, y in ((strings[0], strings[1]), (strings[2], strings[2])):
        assert abs(4 * sampled(x, y) - tree(x, y)) < 5 * 4 * sampled.standard_error(x, y)
