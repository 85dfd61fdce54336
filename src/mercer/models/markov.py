"""Markov chains of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.special

from ..domains import Data, Domain, Sequences
from ..errors import InputError
from ..sequences import SequencesOver
from .base import Model, checked_number, generator
from .chains import (
    chain_scores,
    checked_chain,
    equal_lengths,
    letters_of,
    normalized_rows,
    points_once,
    sample_paths,
    symbols,
    transition_counts,
)

__all__ = ["MarkovChain"]


@dataclass(frozen=True, eq=False, repr=False)
class MarkovChain(Model):
    r"""Markov chain of symbols.

    .. math:: p(x) = \pi_{x_1} \prod_{t=2}^{T} A_{x_{t-1} x_t}

    the probability of a sequence among those of its length.  The empty sequence has probability 1.
    Parameters are the start, then the transitions, row by row; one draw is one sequence, whose information
    has no closed form unless its length is known.

    Parameters
    ----------
    start : array of shape (k,)
        Probabilities of the first symbol.
    transitions : array of shape (k, k)
        Probabilities of the next symbol, in the row of each symbol.
    alphabet : sequence of k hashables, optional
        The symbols; 0, ..., k - 1 by default.

    Examples
    --------
    >>> model = MarkovChain.fit(["ABAB", "ABBA"], alphabet="AB")
    >>> model.transitions.round(3).tolist()
    [[0.0, 1.0], [0.667, 0.333]]
    """

    start: Any
    transitions: Any
    alphabet: Any = None

    def __post_init__(self) -> None:
        start, A = checked_chain(self.start, self.transitions, "MarkovChain")
        self._set(start=start, transitions=A, alphabet=symbols(self.alphabet, len(start), "MarkovChain"))

    @classmethod
    def fit(cls, X: Any, *, alphabet: Any = None, pseudocount: float = 0.0) -> Self:
        """The maximum-likelihood model of sequences.

        Parameters
        ----------
        X : sequences of symbols
        alphabet : sequence of hashables, optional
            The symbols; those of X, in order of appearance, by default.
        pseudocount : float, default=0.0
            Added to every count.  Without it, rows of symbols that nothing follows are uniform.
        """
        checked_number(pseudocount, "MarkovChain.fit", "pseudocount")
        X = points_once(X)
        known = Sequences().validate(X).alphabet.elements if alphabet is None else alphabet
        letters = letters_of(known, "MarkovChain.fit")
        k = len(letters)
        if not k:
            raise InputError("MarkovChain.fit: X has no symbols. Pass the alphabet, or other data.")
        data = SequencesOver(letters).validate(X)
        first, moves = (counts.sum(axis=0) + pseudocount for counts in transition_counts(data, k))
        start = normalized_rows(first[None, :])[0]
        return cls(start, normalized_rows(moves.reshape(k, k)), letters)

    @property
    def parameters(self) -> np.ndarray:
        return np.concatenate([self.start, self.transitions.ravel()])

    @property
    def domain(self) -> Domain:
        return SequencesOver(self.alphabet)

    def _log_likelihoods(self, X: Data) -> np.ndarray:
        first, moves = transition_counts(X, len(self.start))
        return np.asarray(
            scipy.special.xlogy(first, self.start).sum(axis=1)
            + scipy.special.xlogy(moves, self.transitions.ravel()).sum(axis=1)
        )

    def _scores(self, X: Data, parametrization: str) -> np.ndarray:
        self._check_possible(self._log_likelihoods(X))
        first, moves = transition_counts(X, len(self.start))
        return chain_scores(self, first, moves.reshape(len(X), *self.transitions.shape), parametrization)

    def sample(self, n: int, random_state: Any = None, *, length: int | None = None) -> list[tuple[Any, ...]]:
        """Sequences of one length, drawn from the model; see :meth:`sample_sequences` for several lengths."""
        return self.sample_sequences(equal_lengths(n, length, "MarkovChain"), random_state)

    def _sample(self, n: int, rng: np.random.Generator) -> list[tuple[Any, ...]]:
        raise TypeError("MarkovChain: a sequence has a length")

    def sample_sequences(self, lengths: Sequence[int], random_state: Any = None) -> list[tuple[Any, ...]]:
        """A sequence of each length, drawn from the model."""
        rng = generator(random_state)
        return [
            tuple(self.alphabet[c] for c in path)
            for path in sample_paths(self.start, self.transitions, lengths, rng)
        ]
