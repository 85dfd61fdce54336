"""Integrals of products of densities: the definition on one pair, and logarithms on many.

``weights`` are pairs ``(t, w)``: sequences of length t count with the factor exp(w).  Models of vectors have
none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy.special import logsumexp

from ...arithmetic import Arithmetic
from ...domains.measures import GaussianData
from ...engine.runs import checkpoint
from ...models import HMM, MarkovChain, Mixture, Normal
from ...models.domain import ModelBatch
from ..measures import GaussianProduct

__all__ = ["log_overlaps", "log_squares", "overlap"]

#: Lengths of sequences with the logarithms of their factors.
Weights: TypeAlias = Sequence[tuple[int, float]]


# -- one pair, in any arithmetic ------------------------------------------------------------------
def overlap(p: Any, q: Any, power: float, weights: Weights | None, m: Arithmetic) -> Any:
    """The integral of ``p^power q^power``."""
    if isinstance(p, Normal):
        return GaussianProduct(power)._define(_numbers(p, m), _numbers(q, m), m)
    if isinstance(p, Mixture):
        return m.fsum(
            m.real(v) * m.real(w) * overlap(g, h, 1.0, None, m)
            for v, g in zip(p.weights.tolist(), p.normals, strict=True)
            for w, h in zip(q.weights.tolist(), q.normals, strict=True)
        )
    start, moves = (_chain if isinstance(p, MarkovChain) else _pairs_of_states)(p, q, power, m)
    factors = {t: m.exp(m.real(w)) for t, w in weights or ()}
    terms, sums = [factors[0]] if 0 in factors else [], start
    for t in range(1, max(factors) + 1):
        if t > 1:
            sums = [m.fsum(a * row[j] for a, row in zip(sums, moves, strict=True)) for j in range(len(start))]
        if t in factors:
            terms.append(factors[t] * m.fsum(sums))
    return m.fsum(terms)


def _numbers(g: Normal, m: Arithmetic) -> tuple[list[Any], list[list[Any]]]:
    return [m.real(v) for v in g.mean.tolist()], [list(map(m.real, row)) for row in g.covariance.tolist()]


def _chain(p: MarkovChain, q: MarkovChain, power: float, m: Arithmetic) -> tuple[list[Any], list[list[Any]]]:
    """Start and moves of the symbols that both chains know."""
    both = [(i, q.alphabet.index(a)) for i, a in enumerate(p.alphabet) if a in q.alphabet]

    def product(a: float, b: float) -> Any:
        return m.power(m.real(a) * m.real(b), power)

    start = [product(p.start[i], q.start[j]) for i, j in both]
    moves = [[product(p.transitions[i, k], q.transitions[j, n]) for k, n in both] for i, j in both]
    return start, moves


def _pairs_of_states(p: HMM, q: HMM, power: float, m: Arithmetic) -> tuple[list[Any], list[list[Any]]]:
    """Start and moves of pairs of states, which show the same with a probability (or density)."""

    def shown(i: int, j: int) -> Any:
        if not p.is_discrete:
            return overlap(p.emissions[i], q.emissions[j], 1.0, None, m)
        known = [(k, q.alphabet.index(a)) for k, a in enumerate(p.alphabet) if a in q.alphabet]
        return m.fsum(m.real(p.emissions[i, k]) * m.real(q.emissions[j, n]) for k, n in known)

    states = [(i, j, shown(i, j)) for i in range(len(p.start)) for j in range(len(q.start))]
    start = [m.real(p.start[i]) * m.real(q.start[j]) * o for i, j, o in states]
    moves = [
        [m.real(p.transitions[i, k]) * m.real(q.transitions[j, n]) * o for k, n, o in states]
        for i, j, _ in states
    ]
    return start, moves


# -- many pairs, in logarithms ----------------------------------------------------------------------
def log_overlaps(X: ModelBatch, Y: ModelBatch | None, power: float, weights: Weights | None) -> np.ndarray:
    """Logarithms of the integrals of all pairs; exactly symmetric for ``Y=None``."""
    Z = X if Y is None else Y
    if X.kind is Normal:
        logs = GaussianProduct(power)._logs(_gaussians(X.models), _gaussians(Z.models))[0]
    elif X.kind is Mixture:
        logs = _of_mixtures(X.models, Z.models)
    else:
        table = _chain_table if X.kind is MarkovChain else _hidden_table
        row = table(X.models, Z.models, power, weights or ())
        logs = np.empty((len(X), len(Z)))
        for i in range(len(X)):
            first = i if Y is None else 0
            logs[i, first:] = row(i, first)
    if Y is None:
        below = np.tril_indices(len(X), -1)
        logs[below] = logs.T[below]
    return np.asarray(logs + X.logs[:, None] + Z.logs)


def log_squares(X: ModelBatch, power: float, weights: Weights | None) -> np.ndarray:
    """The same of each model with itself."""
    each = [log_overlaps(X.take(slice(i, i + 1)), None, power, weights)[0, 0] for i in range(len(X))]
    return np.array(each)


def _gaussians(normals: Sequence[Normal]) -> GaussianData:
    return GaussianData(np.array([g.mean for g in normals]), np.array([g.covariance for g in normals]))


def _of_mixtures(X: Sequence[Mixture], Z: Sequence[Mixture]) -> np.ndarray:
    """Products of all components, added up within pairs of mixtures."""
    parts = [_gaussians([g for mixture in models for g in mixture.normals]) for models in (X, Z)]
    with np.errstate(divide="ignore"):
        rows, columns = (np.log(np.concatenate([mixture.weights for mixture in M])) for M in (X, Z))
    logs = GaussianProduct(1.0)._logs(*parts)[0] + rows[:, None] + columns
    ends = [np.cumsum([len(mixture.weights) for mixture in M])[:-1] for M in (X, Z)]
    return np.array(
        [
            [logsumexp(part) for part in np.split(band, ends[1], axis=1)]
            for band in np.split(logs, ends[0], axis=0)
        ]
    )


def _chain_table(
    X: Sequence[MarkovChain], Z: Sequence[MarkovChain], power: float, weights: Weights
) -> Callable[[int, int], np.ndarray]:
    """A function of (i, first): logarithms of the pairs of ``X[i]`` with ``Z[first:]``."""
    symbols = _union(X, Z)

    def tables(models: Sequence[MarkovChain]) -> tuple[np.ndarray, np.ndarray]:
        k = len(symbols)
        start, moves = np.zeros((len(models), k)), np.zeros((len(models), k, k))
        for s, A, model in zip(start, moves, models, strict=True):
            known = [symbols[a] for a in model.alphabet]
            s[known], A[np.ix_(known, known)] = model.start**power, model.transitions**power
        return start, moves

    (start, moves), (starts, others) = tables(X), tables(Z)

    def row(i: int, first: int) -> np.ndarray:
        W = moves[i] * others[first:]
        return _path_sums(start[i] * starts[first:], lambda v: (v[:, None] @ W)[:, 0], weights)

    return row


def _hidden_table(
    X: Sequence[HMM], Z: Sequence[HMM], power: float, weights: Weights
) -> Callable[[int, int], np.ndarray]:
    """The same for hidden states; models with fewer states than others have some of probability 0."""
    S = max(len(model.start) for model in Z)
    starts, moves = np.zeros((len(Z), S)), np.zeros((len(Z), S, S))
    for j, model in enumerate(Z):
        s = len(model.start)
        starts[j, :s], moves[j, :s, :s] = model.start, model.transitions
    symbols = _union(X, Z) if X[0].is_discrete else {}

    def row(i: int, first: int) -> np.ndarray:
        p = X[i]
        shown = np.zeros((len(Z) - first, len(p.start), S))
        tops = np.zeros(len(Z) - first)
        for j, q in enumerate(Z[first:]):
            shown[j, :, : len(q.start)], tops[j] = _shown(p, q, symbols)
        begin = p.start[:, None] * starts[first:, None, :] * shown
        A, others = p.transitions.T, moves[first:]
        return _path_sums(begin, lambda M: (A @ M @ others) * shown, weights, tops)

    return row


def _shown(p: HMM, q: HMM, symbols: dict[Any, int]) -> tuple[np.ndarray, float]:
    """Overlaps of what states show, up to a factor, and the logarithm of the factor."""
    if not p.is_discrete:
        logs = GaussianProduct(1.0)._logs(_gaussians(p.emissions), _gaussians(q.emissions))[0]
        return np.exp(logs - logs.max()), float(logs.max())
    emissions = []
    for model in (p, q):
        known = np.zeros((len(model.start), len(symbols)))
        known[:, [symbols[a] for a in model.alphabet]] = model.emissions
        emissions.append(known)
    return emissions[0] @ emissions[1].T, 0.0


def _union(*batches: Sequence[Any]) -> dict[Any, int]:
    """Numbers for the symbols of all alphabets."""
    known = dict.fromkeys(a for models in batches for model in models for a in model.alphabet)
    return {a: i for i, a in enumerate(known)}


def _path_sums(
    v: np.ndarray, step: Callable[[np.ndarray], np.ndarray], weights: Weights, tops: Any = 0.0
) -> np.ndarray:
    """Logarithms of ``sum_t exp(w_t + t top) |step^(t-1) v|``, scaled to the sum 1 at every step."""
    n, axes = len(v), tuple(range(1, v.ndim))
    factors, logs, total = dict(weights), np.zeros(n), np.full(n, -np.inf)
    if 0 in factors:
        total[:] = factors[0]
    for t in range(1, max(factors) + 1):
        if t % 64 == 0:
            checkpoint()
        v = v if t == 1 else step(v)
        sums = v.sum(axis=axes)
        with np.errstate(divide="ignore"):
            logs = logs + np.log(sums) + tops
        v = v / np.where(sums > 0, sums, 1).reshape(n, *(1 for _ in axes))
        if t in factors:
            total = np.logaddexp(total, factors[t] + logs)
    return total
