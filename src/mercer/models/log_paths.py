"""Sums over hidden paths in logarithms: slower than the scaled recursion, and safe where that loses paths.

The native recursion scales the weights of the states to the sum 1 at every step.  A state whose weight
becomes smaller than any float is lost, which makes no difference if the others reach it in the next step.
Where transitions are impossible it does: the state may be the one that explains the rest of the sequence.
"""

from __future__ import annotations

import numpy as np

from ..engine.runs import checkpoint

__all__ = ["lost_sequences", "path_sums_in_logs"]

#: Probabilities below this may make the weight of a state vanish in a few steps.
FAINT = 1e-100


def lost_sequences(
    start: np.ndarray,
    transitions: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray | None,
    starts: np.ndarray,
    sums: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Numbers of the sequences that the scaled recursion may get wrong, from its arguments and its sums.

    It reports lost weights by NaN, where none is lost at once because a probability is so small.
    """
    n, whole = len(starts) - 1, bool((transitions >= FAINT).all())
    if _is_faint(start) or (not whole and _is_faint(transitions)):
        return np.arange(n)
    if whole and (start > 0).all():
        return np.arange(0)
    faint = rows < FAINT
    if codes is None:  # densities up to a factor: one of 0 may have been small
        steps = np.flatnonzero(np.any(faint, axis=1))
    else:
        steps = np.flatnonzero(np.any(faint & (rows > 0), axis=1)[codes])
    if whole:  # from the second step on every state can be reached
        steps = np.intersect1d(steps, starts[:-1])
    lost = np.isnan(sums[0]) | np.isnan(sums[1]).any(axis=1) | np.isnan(sums[2]).any(axis=(1, 2))
    lost[np.searchsorted(starts, steps, side="right") - 1] = True
    return np.flatnonzero(lost)


def _is_faint(p: np.ndarray) -> bool:
    """Whether a probability is small, but not 0."""
    return bool(((p > 0) & (p < FAINT)).any())


def path_sums_in_logs(
    start: np.ndarray, transitions: np.ndarray, logs: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Log-likelihoods, first states, moves and posteriors of sequences; zeros where one is impossible.

    Parameters
    ----------
    start, transitions : arrays of shape (S,) and (S, S)
    logs : array of shape (steps, S)
        Logarithms of the likelihoods of the steps, one sequence after the other.
    starts : array of shape (n + 1,)
        Where the sequences start and end.
    """
    n, S = len(starts) - 1, len(start)
    sums, first, moves, posteriors = np.zeros(n), np.zeros((n, S)), np.zeros((n, S, S)), np.zeros(logs.shape)
    with np.errstate(divide="ignore"):
        begin, A = np.log(start), np.log(transitions)
    # Sequences of similar length go side by side, the longest first; empty ones are left out.
    lengths = np.diff(starts)
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > 0]
    while len(order):
        # 8 MiB for an array over sequences, states and states.
        count = max(1, (1 << 20) // (S * max(S, int(lengths[order[0]]))))
        _add_group(begin, A, logs, starts, order[:count], (sums, first, moves, posteriors))
        order = order[count:]
    return sums, first, moves, posteriors


def _add_group(
    begin: np.ndarray,
    A: np.ndarray,
    logs: np.ndarray,
    starts: np.ndarray,
    group: np.ndarray,
    found: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """The recursions of a group, longest first: the first ``alive[t]`` have a step t."""
    sums, first, moves, posteriors = found
    S, lengths = len(begin), starts[group + 1] - starts[group]
    longest = int(lengths[0])
    alive = np.searchsorted(-lengths, -np.arange(longest), side="left")
    forward = np.full((longest, len(group), S), -np.inf)
    forward[0] = begin + logs[starts[group]]
    for t in range(1, longest):
        checkpoint()
        m = alive[t]
        before = np.logaddexp.reduce(forward[t - 1, :m, :, None] + A, axis=1)
        forward[t, :m] = before + logs[starts[group[:m]] + t]
    total = np.logaddexp.reduce(forward[lengths - 1, np.arange(len(group))], axis=1)
    possible = np.asarray(~np.isneginf(total))
    backward = np.zeros((len(group), S))
    for t in range(longest - 1, -1, -1):
        checkpoint()
        m = alive[t]
        posteriors[starts[group[:m]] + t] = _shares(forward[t, :m] + backward[:m], possible[:m])
        if t:
            after = backward[:m] + logs[starts[group[:m]] + t]
            pairs = A + after[:, None, :]
            joint = forward[t - 1, :m, :, None] + pairs
            moves[group[:m]] += _shares(joint.reshape(m, S * S), possible[:m]).reshape(m, S, S)
            backward[:m] = np.logaddexp.reduce(pairs, axis=2)
    sums[group], first[group] = total, posteriors[starts[group]]


def _shares(logs: np.ndarray, possible: np.ndarray) -> np.ndarray:
    """Rows of probabilities from their logarithms up to a constant; zeros where nothing is possible."""
    top = np.where(possible, logs.max(axis=1), 0.0)
    weights = np.where(possible[:, None], np.exp(np.minimum(logs - top[:, None], 0.0)), 0.0)
    return np.asarray(weights / np.where(possible, weights.sum(axis=1), 1.0)[:, None])
