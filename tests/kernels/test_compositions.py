"""Semigroup kernels on strings, sets and own compositions against explicit features and other kernels."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import mercer
from mercer.certificate import Verdict
from mercer.domains import Objects, Sequences, Vectors
from mercer.errors import ParameterError
from mercer.kernels import LaplaceMixture, Semicharacters, Semigroup, UnionComplement

STRINGS = ["".join(s) for n in range(4) for s in product("ab", repeat=n)]

#: One symmetric matrix for each letter: a representation of strings with reversal as the adjoint.
LETTERS = {"a": np.array([[0.5, 0.2], [0.2, -0.3]]), "b": np.array([[0.1, -0.4], [-0.4, 0.6]])}
START = np.array([1.0, 2.0])


def represented(s):
    return START @ np.linalg.multi_dot([np.eye(2), *(LETTERS[c] for c in s), START]) if s else START @ START


def product_of_weights(s):
    return math.prod(0.5 if c == "a" else -2.0 for c in s)


# -- strings --------------------------------------------------------------------------------------
def test_a_representation_by_symmetric_matrices_is_positive_definite_under_reversal():
    """phi(x y*) = <A_x' v, A_y' v>: the rows v' A_x are explicit features."""
    k = Semigroup(represented, "reversal", compose="concatenation")
    features = []
    for s in STRINGS:
        row = START
        for c in s:
            row = row @ LETTERS[c]
        features.append(row)
    want = np.array(features) @ np.array(features).T
    np.testing.assert_allclose(k.block(STRINGS), want, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(k.block(STRINGS[:3], STRINGS), want[:3], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(k.diagonal(STRINGS), np.diag(want), rtol=1e-12)
    assert k.certificate.verdict is Verdict.UNKNOWN
    assert k.assume("PSD").certificate.verdict is Verdict.PSD


def test_without_the_reversal_it_is_not_symmetric():
    k = Semigroup(represented, compose="concatenation")
    with pytest.raises(ParameterError, match="not symmetric"):
        k("ab", "b")
    with pytest.raises(ParameterError, match="not symmetric"):
        k.block(STRINGS)


def test_a_mixture_of_all_semicharacters_of_the_length_is_hilberts_matrix():
    k = Semigroup(lambda s: 1 / (1 + len(s)), compose="concatenation")
    n = [0, 1, 2, 5]
    K = k.block(["a" * i for i in n])
    np.testing.assert_allclose(K, [[1 / (1 + i + j) for j in n] for i in n], rtol=1e-15)
    assert np.linalg.eigvalsh(K)[0] > 0


def test_a_function_that_is_not_positive_definite_is_refuted_by_search():
    k = Semigroup(len, compose="concatenation")
    assert k.certificate.verdict is Verdict.UNKNOWN
    report = mercer.refute(k, X=["", "a", "aa"])
    assert report.witness is not None
    assert report.witness.value < 0


def test_symbols_may_be_anything():
    k = Semigroup(len, compose="concatenation")
    assert k((1, 2), "ab") == 4.0
    assert k.block([(1, 2), "ab", ""]).tolist() == [[4, 4, 2], [4, 4, 2], [2, 2, 0]]
    seen = []
    Semigroup(lambda s: seen.append(s) or 0.0, compose="concatenation")("ab", "c")
    assert "abc" in seen  # text where all symbols are letters


# -- semicharacters -------------------------------------------------------------------------------
def test_semicharacters_on_strings_are_phi_of_the_composition():
    k = Semicharacters([product_of_weights], [3.0], compose="concatenation", involution="reversal")
    phi = Semigroup(k.phi, "reversal", compose="concatenation")
    np.testing.assert_allclose(k.block(STRINGS), phi.block(STRINGS), rtol=1e-12)
    assert k.certificate.verdict is Verdict.PSD
    assert np.linalg.matrix_rank(k.block(STRINGS)) == 1
    assert k.features(STRINGS).shape == (len(STRINGS), 1)


def test_union_complements_are_mixtures_of_semicharacters():
    universe = list("abcd")
    weights = {"a": 1.0, "b": 0.5, "c": 2.0, "d": 3.0}
    lacking = [lambda s, e=e: float(e not in s) for e in universe]
    X = [set(), {"a"}, {"a", "c"}, set("abcd"), {"d"}]
    k = Semicharacters(lacking, [weights[e] / 6.5 for e in universe], compose="union")
    np.testing.assert_allclose(k.block(X), UnionComplement(universe, weights).block(X), atol=1e-14)


def test_exponentials_on_the_orthant_are_a_laplace_mixture():
    rates, weights = np.array([[1.0, 0.5], [0.0, 2.0]]), np.array([0.3, 2.0])
    exponentials = [lambda x, a=a: math.exp(-a @ x) for a in rates]
    X = np.abs(np.random.default_rng(0).standard_normal((5, 2)))
    want = LaplaceMixture(rates, weights).block(X)
    np.testing.assert_allclose(Semicharacters(exponentials, weights).block(X), want, rtol=1e-13)


def test_a_composition_of_ones_own():
    """Numbers under the maximum have the semicharacters 1[x <= t]."""
    steps = [lambda x, t=t: float(x <= t) for t in range(1, 6)]
    k = Semicharacters(steps, compose=max, source=Objects())
    X = [1, 4, 2, 5, 4]
    np.testing.assert_array_equal(k.block(X), [[6 - max(x, y) for y in X] for x in X])
    assert Semigroup(lambda s: 6 - s, compose=max)(2, 5) == 1.0


def test_what_is_not_multiplicative_is_an_error():
    k = Semicharacters([product_of_weights, len], compose="concatenation")
    with pytest.raises(ParameterError, match=r"`characters\[1\]` must have rho.* Got 3 and 2"):
        k("ab", "c")
    with pytest.raises(ParameterError, match=r"characters\[1\]"):
        k.block(["", "a"])
    signs = Semicharacters([lambda x: math.exp(x.sum())], involution="negation")  # rho(x*) != rho(x)
    with pytest.raises(ParameterError, match=r"characters\[0\]"):
        signs([1.0], [2.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Semigroup(len, compose="product"), "Semigroup: `compose` must be one of 'addition'"),
        (
            lambda: Semigroup(len, "negation", compose="union"),
            "Semigroup: `involution` must be one",
        ),
        (lambda: Semigroup(len, "reversal"), "Semigroup: `involution`"),
        (lambda: Semigroup(len, compose="union", vectorized=True), "`vectorized` is for vectors"),
        (
            lambda: Semigroup(len, compose="union", nonnegative=True),
            "`nonnegative` is for vectors",
        ),
        (lambda: Semigroup(len, nonnegative=True, source=Vectors()), "leave `nonnegative` out"),
        (lambda: Semigroup(len, compose="union", source=Sequences()), "`source` must be finite sets"),
        (lambda: Semicharacters([]), "Semicharacters: `characters`"),
        (lambda: Semicharacters([3.0]), "Semicharacters: `characters`"),
        (lambda: Semicharacters([len], [1.0, 2.0]), "Semicharacters: `weights` must have one entry"),
        (lambda: Semicharacters([len], -1.0), "Semicharacters: `weights`"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
