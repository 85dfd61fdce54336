"""The context-tree kernel, against sums over all trees in fractions and the integral itself."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from mercer import _native
from mercer.errors import InputError, ParameterError
from mercer.kernels import ContextTree

pytestmark = pytest.mark.native


def trees(letters, depth, context=""):
    """All complete trees of contexts, each as its leaves and the number of its splits."""
    yield [context], 0
    if depth == 0:
        return
    for below in product(*(list(trees(letters, depth - 1, a + context)) for a in letters)):
        yield [leaf for leaves, _ in below for leaf in leaves], 1 + sum(splits for _, splits in below)


def dirichlet(counts, prior):
    """Integral of prod theta^counts over the Dirichlet distribution, for whole numbers."""
    value = Fraction(1)
    for c in counts:
        for i in range(c):
            value *= prior + i
    for i in range(sum(counts)):
        value /= len(counts) * prior + i
    return value


def brute_force(x, y, letters, depth, split, prior):
    """The plain kernel: a sum over all trees of products of Dirichlet integrals."""
    total = Fraction(0)
    for leaves, splits in trees(letters, depth):
        shallow = sum(len(leaf) < depth for leaf in leaves)
        probability = split**splits * (1 - split) ** shallow
        for leaf in leaves:
            counts = [
                sum(s[i] == a and s[:i].endswith(leaf) for s in (x, y) for i in range(depth, len(s)))
                for a in letters
            ]
            probability *= dirichlet(counts, prior)
        total += probability
    return total


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize(("letters", "split", "prior"), [("ab", (1, 3), (1, 2)), ("abc", (1, 2), (2, 1))])
def test_sum_over_all_trees_in_fractions(depth, letters, split, prior):
    rng = np.random.default_rng(depth)
    n = 7  # letters drawn; sigma = n is the kernel without renormalised lengths
    X = ["".join(rng.choice(list(letters), size=n + depth)) for _ in range(4)]
    k = ContextTree(depth, len(letters), sigma=n, split=split[0] / split[1], prior=prior[0] / prior[1])
    want = [
        [float(brute_force(x, y, letters, depth, Fraction(*split), Fraction(*prior))) for y in X] for x in X
    ]
    np.testing.assert_allclose(k.block(X), want, rtol=1e-12)
    np.testing.assert_allclose([[k(x, y) for y in X] for x in X], want, rtol=1e-12)


def test_renormalised_lengths_are_powers_under_the_integral():
    # One letter is drawn 3 and 2 times of 4, the other 1 and 2: int t^a (1 - t)^b over the arcsine law.
    sigma, (x, y) = 1.5, ("abaa", "abab")
    a, b = sigma * (3 / 4 + 2 / 4), sigma * (1 / 4 + 2 / 4)
    want = mpmath.quad(lambda t: t ** (a - 0.5) * (1 - t) ** (b - 0.5) / mpmath.pi, [0, 0.5, 1])
    k = ContextTree(0, 2, sigma=sigma)
    assert k(x, y) == pytest.approx(float(want), rel=1e-10)
    assert k.block([x], [y])[0, 0] == pytest.approx(float(want), rel=1e-10)


def test_letters_that_never_occur_count():
    small, large = ContextTree(1, 2), ContextTree(1, 20)
    assert large("abab", "abba") < small("abab", "abba")


def test_short_strings_have_nothing_to_draw():
    k = ContextTree(3, 2)
    K = k.block(["", "ab", "bab", "abab"])
    assert K[:3, :3].tolist() == np.ones((3, 3)).tolist()
    assert (K[3, :3] == K[3, 0]).all()
    marked = ContextTree(3, 2, boundary=True).block(["", "ab", "bab", "abab"])
    assert len(np.unique(marked.diagonal())) == 4


def test_the_begin_of_a_string_is_a_context_of_its_own():
    # Without splits all contexts are one, whatever stands before.
    k, plain = ContextTree(2, 2, split=0.0, boundary=True), ContextTree(0, 2)
    X = ["a", "ab", "abba", ""]
    np.testing.assert_allclose(k.block(X), plain.block(X), rtol=1e-13)
    # With all splits, the first letters of x and of y share a context with nobody else.
    full = ContextTree(1, 2, split=1.0, boundary=True, sigma=2.0)
    # behind the begin: a from x, a from y, half of 2 letters each; behind a: b from x, and b from y
    want = 0.5 * 1.5 / (1 * 2)
    assert full("ab", "ab") == pytest.approx(want**2, rel=1e-13)


def test_letters_of_a_partner_keep_their_order_apart():
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("cab"), size=20)) for _ in range(4)]
    Y = ["".join(rng.choice(list("zbxa"), size=20)) for _ in range(5)]
    k = ContextTree(3, 6, sigma=5.0)
    want = [[k(x, y) for y in Y] for x in X]
    np.testing.assert_allclose(k.block(X, Y), want, rtol=1e-12)
    np.testing.assert_allclose(k.block(Y, X), np.transpose(want), rtol=1e-12)


def test_more_letters_than_the_alphabet_has_are_refused():
    k = ContextTree(1, 2)
    with pytest.raises(InputError, match="3 different ones"):
        k("ab", "bc")
    with pytest.raises(InputError, match="3 different ones"):
        k.block(["ab", "ba"], ["bc"])
    with pytest.raises(InputError, match="3 different ones"):
        k.block(["ab", "bc"])


def test_underflow_is_an_error():
    k = ContextTree(1, 4, sigma=2000.0)
    x = "ACGTTGCATGCATGACCATG"
    with pytest.raises(ParameterError, match="Lower `sigma`"):
        k.block([x])
    with pytest.raises(ParameterError, match="Lower `sigma`"):
        k.diagonal([x])
    with pytest.raises(ParameterError, match="Lower `sigma`"):
        k(x, x)


def test_hundred_thousand_letters_by_symmetry():
    # A long period is as good as a short one: counts are proportional.
    k = ContextTree(4, 2, boundary=False)
    short, long = "ab" * 50 + "abab", "ab" * 50_000 + "abab"
    K = k.block([short, long])
    np.testing.assert_allclose(K, K[0, 0], rtol=1e-11)


@pytest.mark.parametrize("boundary", [False, True], ids=["skip", "mark"])
def test_contributions_are_shares_of_the_value(boundary):
    k = ContextTree(2, 3, sigma=4.0, boundary=boundary)
    found = k.contributions("abcabca", "abab")
    assert found.total == pytest.approx(k("abcabca", "abab"), rel=1e-12)
    assert all(c.weight > 0 for c in found)
    at = next(c for c in found if c.pattern == "ab")
    assert at.x_places == ((0, 2), (3, 5))
    assert at.y_places == ((0, 2),)
    assert k.contributions("", "").total == 1.0


def test_contributions_find_the_order_of_the_model():
    # Letters are decided by the one before, and by nothing less.
    k = ContextTree(3, 2, sigma=200.0)
    shares = {c.pattern: c.weight for c in k.contributions("ab" * 60, "ba" * 60)}
    assert shares[""] < 1e-6 * sum(shares.values())
    assert shares["a"] + shares["b"] > 0.45 * sum(shares.values())


@pytest.mark.parametrize("b", [1e-3, 0.5, 2.0, 40.0])
@pytest.mark.parametrize("r", [0.0, 1e-9, 1e-4, 0.3, 5.0, 1e4])
def test_rising_factorials_to_full_precision(b, r):
    with mpmath.workdps(50):
        want = mpmath.loggamma(mpmath.mpf(b) + mpmath.mpf(r)) - mpmath.loggamma(mpmath.mpf(b))
    assert _native.log_rising(b, r) == pytest.approx(float(want), rel=1e-14, abs=0)


def test_threads_and_slices_do_not_change_the_bits(monkeypatch):
    from mercer.engine import substrings

    rng = np.random.default_rng(5)
    X = ["".join(rng.choice(list("acgt"), size=int(n))) for n in rng.integers(0, 80, size=30)]
    k = ContextTree(4, 4)
    want, diagonal = k.block(X), k.diagonal(X)
    monkeypatch.setenv("MERCER_NUM_THREADS", "3")
    monkeypatch.setattr(substrings, "_NODES", 500)
    np.testing.assert_array_equal(k.block(X), want)
    np.testing.assert_array_equal(k.diagonal(X), diagonal)


def test_certificate_states_the_alphabet():
    certificate = ContextTree(2, 4).certificate
    assert certificate.verdict.value == "PSD"
    assert certificate.conditions == ("all strings are over one alphabet of 4 letters",)


@pytest.mark.parametrize(
    "arguments",
    [(-1, 4), (2, 0), (2, 4, 0.0), (2, 4, 1.0, 1.5), (2, 4, 1.0, 0.5, 0.0), (101, 4)],
    ids=["depth", "alphabet", "sigma", "split", "prior", "deep"],
)
def test_bad_parameters_are_errors(arguments):
    with pytest.raises(ParameterError):
        ContextTree(*arguments)


@pytest.mark.parametrize("size", [300, 344, 1000, 10**6, 10**12])
def test_large_alphabets(size):
    k, x, y = ContextTree(1, alphabet_size=size, sigma=2.0), "abcab", "bcaab"
    assert k(x, y) == pytest.approx(float(k.precise(x, y)), rel=1e-10)
    assert k.block([x, y])[0, 1] == pytest.approx(k(x, y), rel=1e-10)
