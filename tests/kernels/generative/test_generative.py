"""Kernels from models against their definitions."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from mercer.errors import DomainError, InputError, ParameterError
from mercer.kernels import Categorical, Fisher, FisherVector, Gaussian, Marginalized, TangentPosterior
from mercer.machines import SVC
from mercer.models import HMM, MarkovChain, Mixture, Multinomial, Normal

RNG = np.random.default_rng(0)
P = np.array([0.5, 0.2, 0.3])
COUNTS = RNG.poisson(2, (6, 3)).astype(float)
HIDDEN = HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], "abc")
STRINGS = ["abc", "cab", "bbb", "c", "aabbcc", ""]


def test_counts_under_the_full_information():
    centred = COUNTS - COUNTS.sum(axis=1, keepdims=True) * P
    expected = (centred / P) @ centred.T
    for parametrization in ("softmax", "tangent"):
        k = Fisher(Multinomial(P), parametrization=parametrization)
        np.testing.assert_allclose(k.block(COUNTS), expected, atol=1e-10)
    raw = Fisher(Multinomial(P), parametrization="raw")
    np.testing.assert_allclose(raw.block(COUNTS), (COUNTS / P) @ COUNTS.T, atol=1e-10)


def test_vectors_under_the_full_information():
    model = Normal([0.5, -1.0], [[1.0, 0.3], [0.3, 2.0]])
    X = RNG.standard_normal((5, 2))
    z = np.linalg.solve(np.linalg.cholesky(model.covariance), (X - model.mean).T).T
    inner = z @ z.T
    norms = (z**2).sum(axis=1)
    expected = inner + 0.5 * (inner**2 - norms[:, None] - norms + 2)
    np.testing.assert_allclose(Fisher(model).block(X), expected, atol=1e-12)


def test_identity_and_diagonal():
    model = Multinomial(P)
    U = model.scores(COUNTS)
    np.testing.assert_allclose(Fisher(model, information="identity").block(COUNTS), U @ U.T, atol=1e-12)
    J = np.diag(model.information())
    np.testing.assert_allclose(Fisher(model, information="diagonal").block(COUNTS), (U / J) @ U.T, atol=1e-10)


def test_the_information_is_estimated_from_data():
    with pytest.raises(ParameterError, match=r"HMM has no closed form. Estimate it by Fisher.from_data"):
        Fisher(HIDDEN)
    k = Fisher.from_data(HIDDEN, STRINGS, shrinkage=0.2)
    U = HIDDEN.scores(STRINGS)
    J = U.T @ U / len(U)
    J = 0.8 * J + 0.2 * np.trace(J) / len(J) * np.eye(len(J))
    np.testing.assert_allclose(k.block(STRINGS), U @ np.linalg.solve(J, U.T), atol=1e-9)
    assert "shrinkage=0.2" in repr(k)
    assert k.certificate.is_psd
    many = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]], "ab").sample_sequences(
        [6] * 4000, random_state=0
    )
    chain = MarkovChain([0.5, 0.5], [[0.9, 0.1], [0.3, 0.7]], "ab")
    estimate = Fisher.from_data(chain, many, shrinkage=0.0).estimate
    exact = np.zeros_like(estimate)
    for x in itertools.product("ab", repeat=6):
        s = chain.score(x)
        exact += np.exp(chain.log_likelihood(x)) * np.outer(s, s)
    assert np.abs(estimate - exact).max() < 0.1 * np.abs(exact).max()


def test_the_gaussian_form():
    k = Fisher(Multinomial(P))
    K, d = k.block(COUNTS), k.diagonal(COUNTS)
    expected = np.exp(-(d[:, None] + d - 2 * K) / (2 * 1.5**2))
    np.testing.assert_allclose(k.gaussian(1.5).block(COUNTS), expected)


def test_scores_of_a_likelihood_ratio():
    p, q = Multinomial(P), Multinomial([0.2, 0.2, 0.6])
    phi = np.hstack([p.scores(COUNTS), -q.scores(COUNTS)])
    np.testing.assert_allclose(TangentPosterior(p, q).block(COUNTS), phi @ phi.T)
    odds = p.log_likelihoods(COUNTS) - q.log_likelihoods(COUNTS)
    np.testing.assert_allclose(
        TangentPosterior(p, q, log_odds=True).block(COUNTS), phi @ phi.T + np.outer(odds, odds)
    )
    with pytest.raises(DomainError):
        TangentPosterior(p, HIDDEN)


def test_fisher_vectors():
    mixture = Mixture(
        [0.3, 0.7], [Normal([0.0, 1.0], np.diag([1.0, 2.0])), Normal([2.0, -1.0], np.diag([0.5, 0.7]))]
    )
    sets = [RNG.standard_normal((m, 2)) for m in (1, 5, 3)]

    def vector(x):
        q = mixture.responsibilities(x)
        found = []
        for k, g in enumerate(mixture.normals):
            z = (x - g.mean) / np.sqrt(np.diag(g.covariance))
            w = mixture.weights[k]
            found += [sum(q[t, k] * z[t] for t in range(len(x))) / (len(x) * np.sqrt(w))]
            found += [sum(q[t, k] * (z[t] ** 2 - 1) for t in range(len(x))) / (len(x) * np.sqrt(2 * w))]
        return np.concatenate(found)

    V = np.array([vector(x) for x in sets])
    np.testing.assert_allclose(FisherVector(mixture).block(sets), V @ V.T, rtol=1e-12)
    R = np.sign(V) * np.sqrt(np.abs(V))
    R /= np.linalg.norm(R, axis=1, keepdims=True)
    np.testing.assert_allclose(FisherVector(mixture, improved=True).block(sets), R @ R.T, rtol=1e-12)
    full = Mixture([1.0], [Normal([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])])
    with pytest.raises(ParameterError, match="diagonal covariances"):
        FisherVector(full)


def test_marginalized_counts_by_enumeration():
    def features(x, order):
        total, counts = 0.0, np.zeros((2, 3) if order == 1 else (2, 2))
        codes = ["abc".index(c) for c in x]
        for path in itertools.product(range(2), repeat=len(x)):
            p = HIDDEN.start[path[0]] * np.prod(
                [HIDDEN.emissions[s, c] for s, c in zip(path, codes, strict=True)]
            )
            p *= np.prod([HIDDEN.transitions[a, b] for a, b in itertools.pairwise(path)])
            total += p
            for place in zip(path, codes, strict=True) if order == 1 else itertools.pairwise(path):
                counts[place] += p
        return counts / total / len(x)

    X = STRINGS[:-1]
    alike = Gaussian(1.0).on(lambda c: [float(ord(c))])
    L = alike.block(list("abc"))
    for order in (1, 2):
        F = np.array([features(x, order) for x in X])
        expected = np.einsum("isa,jsa->ij", F, F)
        np.testing.assert_allclose(Marginalized(HIDDEN, order=order).block(X), expected, rtol=1e-12)
        if order == 1:
            similar = np.einsum("isa,ab,jsb->ij", F, L, F)
            np.testing.assert_allclose(Marginalized(HIDDEN, symbols=alike).block(X), similar, rtol=1e-10)
            equal = Marginalized(HIDDEN, symbols=Categorical())
            np.testing.assert_allclose(equal.block(X), expected, rtol=1e-10)
    assert Marginalized(HIDDEN)("", "abc") == 0
    with pytest.raises(ParameterError, match="`symbols` must be a kernel on symbols, for order=1"):
        Marginalized(HIDDEN, order=2, symbols=Categorical())


def test_machines_learn_from_scores():
    one = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.9, 0.1], [0.1, 0.9]], "ab")
    two = HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]], "ab")
    X = one.sample_sequences([40] * 60, random_state=0) + two.sample_sequences([40] * 60, random_state=1)
    y = np.repeat([0, 1], 60)
    k = Fisher.from_data(HMM.fit(X, 2, alphabet="ab", random_state=0), X).normalized()
    train = np.arange(120) % 2 == 0
    model = SVC(k, C=1.0).fit([x for x, t in zip(X, train, strict=True) if t], y[train])
    assert model.score([x for x, t in zip(X, train, strict=True) if not t], y[~train]) > 0.8


def test_bad_input():
    with pytest.raises(ParameterError, match=r"`model` must be a Model of mercer.models"):
        Fisher(3)
    with pytest.raises(InputError, match="'x'"):
        Marginalized(HIDDEN).block(["abx"])
    with pytest.raises(ParameterError, match="`estimate` must be a square matrix"):
        Fisher(HIDDEN, estimate=[[1.0, 2.0]])
    with pytest.raises(ParameterError, match=r"`estimate` must be numbers. Got 'x'"):
        Fisher(HIDDEN, estimate="x")
    with pytest.raises(ParameterError, match="`estimate` must be symmetric"):
        Fisher(HIDDEN, estimate=np.eye(12) + np.eye(12, k=1))
    with pytest.raises(ParameterError, match=r"positive semidefinite. Got the eigenvalue -1"):
        Fisher(HIDDEN, estimate=-np.eye(12))
    with pytest.raises(ParameterError, match="for the 12 parameters of the model"):
        Fisher(HIDDEN, estimate=np.eye(3)).block(["abc"])


def test_the_page_runs(capsys):
    page = (Path(__file__).parents[3] / "docs" / "generative.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, flags=re.S | re.M):
        exec(compile(block, "docs/generative.md", "exec"), names)
    verdict, *accuracies = capsys.readouterr().out.split()
    assert verdict.endswith("PSD")
    assert len(accuracies) == 2
    assert min(map(float, accuracies)) > 0.8
