"""Cases of hidden Markov models, against NumPy over all sequences at once and hmmlearn."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from mercer.models import HMM

from .harness import Case, Skipped

SEQUENCES, LENGTH, STATES, SYMBOLS = 2000, 200, 10, 4


def model() -> HMM:
    rng = np.random.default_rng(0)
    start, moves = rng.dirichlet(np.ones(STATES)), rng.dirichlet(np.ones(STATES), size=STATES)
    return HMM(start, moves, rng.dirichlet(np.ones(SYMBOLS), size=STATES))


def setup() -> tuple[HMM, np.ndarray, Any]:
    """The model, random sequences as rows of symbols, and the same validated."""
    hmm, X = model(), np.random.default_rng(1).integers(0, SYMBOLS, (SEQUENCES, LENGTH))
    return hmm, X, hmm.domain.validate(X.tolist())


def ours(data: tuple[HMM, np.ndarray, Any]) -> np.ndarray:
    return data[0].scores(data[2])


def by_numpy(data: tuple[HMM, np.ndarray, Any]) -> np.ndarray:
    """The same recursion, one step of all sequences after the other; scores of logits."""
    hmm, X, _ = data
    A, seen = hmm.transitions, hmm.emissions.T[X]  # (n, T, S)
    n, T, S = seen.shape
    forward, scales = np.empty_like(seen), np.empty((n, T))
    a = hmm.start * seen[:, 0]
    for t in range(T):
        if t:
            a = (a @ A) * seen[:, t]
        scales[:, t] = a.sum(axis=1)
        a = a / scales[:, [t]]
        forward[:, t] = a
    posteriors, moves, b = np.empty_like(seen), np.zeros((n, S, S)), np.ones((n, S))
    posteriors[:, -1] = forward[:, -1]
    for t in range(T - 2, -1, -1):
        w = seen[:, t + 1] * b / scales[:, [t + 1]]
        moves += forward[:, t, :, None] * w[:, None, :]
        b = w @ A.T
        posteriors[:, t] = forward[:, t] * b
    moves *= A
    shown = np.stack([(posteriors * np.equal(X, c)[:, :, None]).sum(axis=1) for c in range(SYMBOLS)], axis=2)
    parts = [posteriors[:, 0] - hmm.start]
    for counts, p in ((moves, A), (shown, hmm.emissions)):
        parts.append((counts - counts.sum(axis=2, keepdims=True) * p).reshape(n, -1))
    return np.hstack(parts)


def by_hmmlearn(data: tuple[HMM, np.ndarray, Any]) -> np.ndarray:
    """Posteriors of the states alone: hmmlearn has no scores of single sequences."""
    if find_spec("hmmlearn") is None:
        raise Skipped("hmmlearn is not installed")
    from hmmlearn.hmm import CategoricalHMM

    hmm, X, _ = data
    peer = CategoricalHMM(STATES, n_features=SYMBOLS)
    peer.startprob_, peer.transmat_, peer.emissionprob_ = hmm.start, hmm.transitions, hmm.emissions
    return np.asarray(peer.predict_proba(X.reshape(-1, 1), [LENGTH] * SEQUENCES))


def same_scores(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.allclose(a, b, atol=1e-8))


def same_posteriors(a: Any, b: np.ndarray) -> bool:
    return bool(np.allclose(a.posteriors, b, atol=1e-8))


WORK = f"{SEQUENCES:,} sequences of length {LENGTH}, {STATES} states"

CASES = [
    Case(
        "hmm-scores",
        f"Fisher scores, {WORK}",
        "NumPy, all sequences at once",
        setup,
        ours,
        by_numpy,
        same_scores,
        target=10.0,
    ),
    Case(
        "hmm-posteriors",
        f"forward-backward, {WORK}",
        "hmmlearn CategoricalHMM.predict_proba",
        setup,
        lambda data: data[0].expected(data[2]),
        by_hmmlearn,
        same_posteriors,
        target=3.0,
    ),
]
