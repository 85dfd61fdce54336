"""Sums over hidden paths where floats do not hold the weights of all states."""

import mpmath
import numpy as np
import pytest

from mercer.models import HMM, Normal

pytestmark = pytest.mark.native

RTOL = 1e-11


def sums_of(start, transitions, shown):
    """Log-likelihood, moves and posteriors in the arithmetic of mpmath, whose exponents have no end."""
    T, S = len(shown), len(start)
    A = [[mpmath.mpf(p) for p in row] for row in transitions]
    forward = [[mpmath.mpf(p) * e for p, e in zip(start, shown[0], strict=True)]]
    for t in range(1, T):
        forward.append(
            [mpmath.fsum(forward[-1][i] * A[i][j] for i in range(S)) * shown[t][j] for j in range(S)]
        )
    backward = [[mpmath.mpf(1)] * S]
    for t in range(T - 1, 0, -1):
        backward.insert(
            0, [mpmath.fsum(A[i][j] * shown[t][j] * backward[0][j] for j in range(S)) for i in range(S)]
        )
    total = mpmath.fsum(forward[-1])
    moves = [
        [
            float(
                mpmath.fsum(
                    forward[t][i] * A[i][j] * shown[t + 1][j] * backward[t + 1][j] for t in range(T - 1)
                )
                / total
            )
            for j in range(S)
        ]
        for i in range(S)
    ]
    posteriors = [
        [float(a * b / total) for a, b in zip(*pair, strict=True)]
        for pair in zip(forward, backward, strict=True)
    ]
    return float(mpmath.log(total)), moves, posteriors


def shown_of(model, x):
    if model.is_discrete:
        return [
            [mpmath.mpf(p) for p in model.emissions[:, model.alphabet.index(symbol)].tolist()] for symbol in x
        ]
    return [[mpmath.exp(mpmath.mpf(g.log_likelihood(step))) for g in model.emissions] for step in x]


def agrees(model, x):
    value, moves, posteriors = sums_of(model.start.tolist(), model.transitions.tolist(), shown_of(model, x))
    found = model.expected([x])
    np.testing.assert_allclose(found.log_likelihoods, [value], rtol=RTOL)
    np.testing.assert_allclose(found.moves[0], moves, rtol=RTOL, atol=1e-13)
    np.testing.assert_allclose(found.posteriors, posteriors, rtol=RTOL, atol=1e-13)
    assert np.isfinite(model.scores([x])).all()
    if model.is_discrete:
        counts = [
            np.array(posteriors)[[symbol == a for symbol in x]].sum(axis=0).tolist() for a in model.alphabet
        ]
        np.testing.assert_allclose(model.symbol_counts([x])[0].T, counts, rtol=RTOL, atol=1e-13)


CLEAR = [[0.999, 0.001], [0.001, 0.999]]
APART = [Normal([0.0], [[1.0]]), Normal([100.0], [[1.0]])]
FORWARD = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("model", "x"),
    [
        # the state that explains the end has a weight of 1e-600 in the middle
        (HMM([0.5, 0.5], np.eye(2), CLEAR, "ab"), "a" * 200 + "b" * 250),
        # a state that cannot be reached explains everything
        (HMM([1.0, 0.0], np.eye(2), CLEAR, "ab"), "b" * 400),
        (HMM([1.0, 0.0], np.eye(2), CLEAR, "ab"), "b" * 103),
        # the first state is lost for good, and does not matter
        (HMM([1.0, 0.0, 0.0], FORWARD, [*CLEAR, [0.5, 0.5]], "ab"), "a" * 5 + "b" * 700),
        (HMM([1.0, 0.0, 0.0], FORWARD, [[0.5, 0.5], *CLEAR], "ab"), "b" * 300 + "a" * 500),
        # probabilities that are small themselves
        (HMM([1.0, 1e-300], np.eye(2), CLEAR, "ab"), "b" * 150),
        (HMM([0.5, 0.5], [[1.0, 1e-200], [1e-200, 1.0]], CLEAR, "ab"), "a" * 5 + "b" * 150),
        (HMM([0.5, 0.5], np.eye(2), [[1.0, 1e-200], [0.5, 0.5]], "ab"), "aabba"),
        (HMM([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], [[1e-180, 1.0], [1.0, 1e-180]], "ab"), "ab" * 3),
        # densities
        (HMM([1.0, 0.0], np.eye(2), APART), [[100.0]]),
        (HMM([1.0, 0.0], np.eye(2), APART), [[100.0], [99.0], [0.0]]),
        (HMM([1.0, 0.0], [[0.5, 0.5], [0.5, 0.5]], APART), [[100.0], [0.0], [1.0]]),
        (HMM([0.5, 0.5], np.eye(2), APART), [[100.0], [-5.0]]),
        (HMM([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], APART), [[100.0], [-5.0], [50.0]]),
    ],
)
def test_weights_that_floats_do_not_hold(model, x):
    agrees(model, x)


@pytest.mark.parametrize("seed", range(12))
def test_random_chains_with_impossible_transitions(seed):
    rng = np.random.default_rng(seed)
    S = int(rng.integers(2, 5))
    A = rng.dirichlet(np.ones(S), S) * (rng.random((S, S)) < 0.4) + np.eye(S)
    start = rng.dirichlet(np.ones(S)) * (rng.random(S) < 0.6) + 1e-9 * np.eye(S)[0]
    shown = 10.0 ** rng.uniform(-12, 0, (S, 3))
    parts = (start, A, shown)
    model = HMM(*(p / p.sum(axis=-1, keepdims=True) for p in parts), "abc")
    agrees(model, "".join(rng.choice(list("abc"), p=[0.1, 0.2, 0.7], size=60)) + "a" * 40)


def test_the_other_sequences_of_a_batch_stay_as_they_are():
    model = HMM([0.5, 0.5], np.eye(2), CLEAR, "ab")
    X = ["ab", "a" * 200 + "b" * 250, "", "b" * 300, "a" * 300 + "b" * 100, "ba"]
    together, counts = model.expected(X), model.symbol_counts(X)
    ends = np.cumsum([0, *map(len, X)])
    for i, x in enumerate(X):
        alone = model.expected([x])
        np.testing.assert_array_equal(alone.log_likelihoods[0], together.log_likelihoods[i])
        np.testing.assert_array_equal(alone.first[0], together.first[i])
        np.testing.assert_array_equal(alone.moves[0], together.moves[i])
        np.testing.assert_array_equal(alone.posteriors, together.posteriors[ends[i] : ends[i + 1]])
        np.testing.assert_array_equal(model.symbol_counts([x])[0], counts[i])
    part = model.domain.validate(X).take(slice(1, 5))
    np.testing.assert_array_equal(model._log_likelihoods(part), together.log_likelihoods[1:5])


def test_what_is_impossible_stays_so():
    model = HMM([1.0, 0.0], np.eye(2), [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1]], "abc")
    X = ["a" * 400 + "b" * 400 + "c", "ab"]
    logs, first, moves, posteriors = model.expected(X)
    assert logs[0] == -np.inf
    assert not first[0].any()
    assert not moves[0].any()
    assert not posteriors[:801].any()
    assert np.isfinite(logs[1])
