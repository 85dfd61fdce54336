"""What Markov chains and hidden Markov models share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import ParameterError
from .base import checked_number, probabilities, simplex_scores

__all__ = [
    "chain_scores",
    "checked_chain",
    "equal_lengths",
    "letters_of",
    "normalized_rows",
    "points_once",
    "sample_paths",
    "symbols",
    "transition_counts",
]


def checked_chain(start: Any, transitions: Any, caller: str) -> tuple[np.ndarray, np.ndarray]:
    """The start and the transitions, of as many states, or an error that names the argument."""
    first = probabilities(start, caller, "start")
    A = probabilities(transitions, caller, "transitions", axes=2)
    if A.shape != (len(first), len(first)):
        raise ParameterError(
            f"{caller}: `transitions` must have shape {(len(first), len(first))}, as `start` has "
            f"{len(first)} entries. Got {A.shape}."
        )
    return first, A


def points_once(X: Any) -> Any:
    """Points that can be gone through more than once: those of an iterator as a list."""
    return list(X) if isinstance(X, Iterator) else X


def letters_of(alphabet: Any, caller: str) -> tuple[Any, ...]:
    """The symbols of an alphabet, or an error that names the caller."""
    try:
        letters = tuple(alphabet)
        hash(letters)
    except TypeError as error:
        raise ParameterError(
            f"{caller}: `alphabet` must be a sequence of hashable symbols. Got {alphabet!r}."
        ) from error
    return letters


def symbols(alphabet: Any, k: int, caller: str) -> tuple[Any, ...]:
    """The k symbols of an alphabet, or an error that names the caller."""
    letters = tuple(range(k)) if alphabet is None else letters_of(alphabet, caller)
    if len(letters) != k or len(set(letters)) != k:
        raise ParameterError(f"{caller}: `alphabet` must have {k} different symbols. Got {alphabet!r}.")
    return letters


def chain_scores(model: Any, first: np.ndarray, moves: np.ndarray, parametrization: str) -> np.ndarray:
    """Scores of the start and of the rows of the transitions, from counts."""
    rows = [
        simplex_scores(moves[:, s], model.transitions[s], parametrization) for s in range(len(model.start))
    ]
    return np.hstack([simplex_scores(first, model.start, parametrization), *rows])


def transition_counts(X: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """First symbols and numbers of transitions of sequences, shapes (n, k) and (n, k * k)."""
    n, begin = len(X), int(X.starts[0])
    codes, starts = X.codes[begin : int(X.starts[-1])].astype(np.int64), X.starts - begin
    first = np.zeros((n, k))
    some = np.flatnonzero(np.diff(starts) > 0)
    first[some, codes[starts[:-1][some]]] = 1
    owner = np.repeat(np.arange(n), np.diff(starts))
    inside = owner[1:] == owner[:-1]
    keys = (owner[1:] * k + codes[:-1]) * k + codes[1:]
    return first, np.bincount(keys[inside], minlength=n * k * k).reshape(n, k * k).astype(np.float64)


def normalized_rows(counts: np.ndarray) -> np.ndarray:
    """Rows divided by their sums; rows of zeros become uniform."""
    sums = counts.sum(axis=1, keepdims=True)
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1), 1 / counts.shape[1])


def equal_lengths(n: Any, length: Any, caller: str) -> list[int]:
    """The lengths of n sequences, all the same, or an error that names the argument."""
    checked_number(n, f"{caller}.sample", "n", integer=True)
    if length is None:
        raise ParameterError(
            f"{caller}.sample: `length` must be an integer >= 0: a chain has no length of its own. Got None. "
            "sample_sequences(lengths) draws sequences of several lengths."
        )
    checked_number(length, f"{caller}.sample", "length", integer=True)
    return [int(length)] * int(n)


def sample_paths(
    start: np.ndarray, transitions: np.ndarray, lengths: Sequence[int], rng: np.random.Generator
) -> list[list[int]]:
    """A path of states of each length."""
    if not isinstance(lengths, Iterable):
        raise ParameterError(f"sample_sequences: `lengths` must be a sequence of integers. Got {lengths!r}.")
    k, found = len(start), []
    for length in lengths:
        checked_number(length, "sample_sequences", "lengths", integer=True)
        path: list[int] = []
        for _ in range(length):
            path.append(int(rng.choice(k, p=transitions[path[-1]] if path else start)))
        found.append(path)
    return found
