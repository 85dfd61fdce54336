"""Hidden Markov models of sequences of symbols and of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse

from .. import _native
from ..domains import Data, Domain, Sequences, Series, SeriesData
from ..engine.runs import checkpoint
from ..engine.threads import num_threads
from ..errors import InputError, ParameterError
from ..sequences import SequencesOver
from .base import Model, checked_number, generator, probabilities, simplex_scores
from .chains import (
    chain_scores,
    checked_chain,
    equal_lengths,
    letters_of,
    normalized_rows,
    points_once,
    sample_paths,
    symbols,
)
from .log_paths import lost_sequences, path_sums_in_logs
from .normal import Normal, spread

__all__ = ["HMM", "Expected"]


class Expected(NamedTuple):
    """What the posterior of the hidden states expects of each sequence.

    Attributes
    ----------
    log_likelihoods : array of shape (n,)
    first : array of shape (n, states)
        Probabilities of the first state.
    moves : array of shape (n, states, states)
        Expected numbers of transitions.
    posteriors : array of shape (steps, states)
        Probabilities of the states at all steps, one sequence after the other.
    """

    log_likelihoods: np.ndarray
    first: np.ndarray
    moves: np.ndarray
    posteriors: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class HMM(Model):
    r"""Hidden Markov model: a Markov chain of states, of which each step shows a symbol or a vector.

    .. math:: p(x) = \sum_{s_1, \ldots, s_T} \pi_{s_1} b_{s_1}(x_1)
              \prod_{t=2}^{T} A_{s_{t-1} s_t} b_{s_t}(x_t)

    Sums over hidden paths are those of the forward-backward recursion, scaled at every step, in
    :math:`O(T S^2)`.  Where transitions are impossible, and the likelihoods of states differ by more than
    floats hold, it runs in logarithms, which takes longer.  Parameters are the start, the transitions row by
    row, then the emissions: rows of probabilities, or mean and covariance of each state.  One draw is one
    sequence, whose information has no closed form.

    Parameters
    ----------
    start : array of shape (S,)
        Probabilities of the first state.
    transitions : array of shape (S, S)
        Probabilities of the next state, in the row of each state.
    emissions : array of shape (S, k), or sequence of S Normal
        Probabilities of the symbols in each state, or the distribution of the vectors that it shows.
    alphabet : sequence of k hashables, optional
        The symbols; 0, ..., k - 1 by default.

    Examples
    --------
    >>> model = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.3, 0.7]], alphabet="ab")
    >>> round(model.log_likelihood("aab"), 6)
    -2.215261
    """

    start: Any
    transitions: Any
    emissions: Any
    alphabet: Any = None

    def __post_init__(self) -> None:
        start, A = checked_chain(self.start, self.transitions, "HMM")
        emissions, alphabet = self.emissions, None
        if isinstance(emissions, Normal):
            emissions = (emissions,)
        if isinstance(emissions, list | tuple) and len(emissions) and isinstance(emissions[0], Normal):
            emissions = tuple(emissions)
            normal = all(isinstance(g, Normal) for g in emissions)
            if not normal or len(emissions) != len(start) or len({len(g.mean) for g in emissions}) != 1:
                raise ParameterError(
                    f"HMM: `emissions` must be {len(start)} Normal of one dimension, one for each state. "
                    f"Got {', '.join(type(g).__name__ for g in emissions)}."
                )
            if self.alphabet is not None:
                raise ParameterError("HMM: `alphabet` belongs to emissions of symbols, not of vectors.")
        else:
            emissions = probabilities(emissions, "HMM", "emissions", axes=2)
            if len(emissions) != len(start):
                raise ParameterError(
                    f"HMM: `emissions` must have a row for each of the {len(start)} states. Got "
                    f"{len(emissions)}."
                )
            alphabet = symbols(self.alphabet, emissions.shape[1], "HMM")
        self._set(start=start, transitions=A, emissions=emissions, alphabet=alphabet)

    @property
    def is_discrete(self) -> bool:
        """Whether states show symbols; else they show vectors."""
        return isinstance(self.emissions, np.ndarray)

    @property
    def parameters(self) -> np.ndarray:
        shown = self.emissions if self.is_discrete else [g.parameters for g in self.emissions]
        return np.concatenate([self.start, self.transitions.ravel(), *shown])

    @property
    def domain(self) -> Domain:
        return (
            SequencesOver(self.alphabet) if self.is_discrete else Series(channels=len(self.emissions[0].mean))
        )

    def _shown_logs(self, X: Data) -> np.ndarray:
        """Logarithms of the likelihoods of all steps in each state."""
        begin, end = int(X.starts[0]), int(X.starts[-1])
        if self.is_discrete:
            with np.errstate(divide="ignore"):
                return np.asarray(np.log(self.emissions.T)[X.codes[begin:end]])
        return np.column_stack([g._log_likelihoods(X.values[begin:end]) for g in self.emissions])

    def expected(self, X: Any) -> Expected:
        """Posterior expectations of the hidden states of sequences: see :class:`Expected`."""
        return self._expected(self.domain.validate(X))

    def _expected(self, X: Data) -> Expected:
        posteriors = np.empty((int(X.starts[-1] - X.starts[0]), len(self.start)))
        logs, first, moves, _ = self._path_sums(X, posteriors=posteriors)
        return Expected(logs, first, moves, posteriors)

    def _path_sums(
        self, X: Data, *, shown: bool = False, posteriors: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        """Log-likelihoods, first states, moves and, if asked for, numbers of (state, symbol); posteriors are
        written where they are wanted.
        """
        # Likelihoods in each state: of the symbols, or of the steps, up to factors given by their logarithms.
        codes = factors = None
        if self.is_discrete:
            rows = np.ascontiguousarray(self.emissions.T)
            codes = np.ascontiguousarray(X.codes[int(X.starts[0]) : int(X.starts[-1])], dtype=np.int32)
        else:
            logs = self._shown_logs(X)
            top = logs.max(axis=1)
            factors = np.where(np.isneginf(top), 0.0, top)  # densities smaller than any logarithm stay 0
            rows = np.exp(logs - factors[:, None])
        starts, n, S = np.ascontiguousarray(X.starts - X.starts[0], dtype=np.int64), len(X), len(self.start)
        sums, first, moves = np.empty(n), np.empty((n, S)), np.empty((n, S, S))
        counts = np.empty((n, len(rows), S)) if shown else None
        _native.forward_backward(
            self.start,
            self.transitions,
            rows,
            codes,
            starts,
            sums,
            first,
            moves,
            counts,
            posteriors,
            num_threads(),
            checkpoint,
        )
        some = np.diff(starts) > 0
        if factors is not None and some.any():
            # each sequence by itself: in a running total a step far from all states would swallow the others
            sums[some] += np.add.reduceat(factors, starts[:-1][some])
        lost = lost_sequences(self.start, self.transitions, rows, codes, starts, (sums, first, moves))
        if len(lost):
            self._sum_in_logs(X, lost, (sums, first, moves, counts, posteriors))
        return sums, first, moves, None if counts is None else counts.transpose(0, 2, 1)

    def _sum_in_logs(self, X: Data, lost: np.ndarray, found: tuple[Any, ...]) -> None:
        """Overwrite the sums of sequences that the scaled recursion gets wrong."""
        sums, first, moves, counts, posteriors = found
        again = X.take(lost)
        begin = again.starts[0]
        lengths, logs = np.diff(again.starts), self._shown_logs(again)
        sums[lost], first[lost], moves[lost], states = path_sums_in_logs(
            self.start, self.transitions, logs, again.starts - begin
        )
        if posteriors is not None:
            places = np.repeat(X.starts[lost] - X.starts[0] - again.starts[:-1] + begin, lengths)
            posteriors[places + np.arange(len(logs))] = states
        if counts is not None:
            n, k = len(lost), counts.shape[1]
            cells = np.repeat(np.arange(n), lengths) * k + again.codes[begin : begin + len(logs)]
            columns = [np.bincount(cells, column, n * k).reshape(n, k) for column in states.T]
            counts[lost] = np.stack(columns, axis=2)

    def _log_likelihoods(self, X: Data) -> np.ndarray:
        return self._path_sums(X)[0]

    def symbol_counts(self, X: Any) -> np.ndarray:
        """Expected numbers of (state, symbol) in each sequence, shape (n, S, k)."""
        if not self.is_discrete:
            raise InputError("HMM.symbol_counts: the states of this model show vectors, not symbols.")
        counts = self._path_sums(self.domain.validate(X), shown=True)[3]
        assert counts is not None
        return counts

    def _scores(self, X: Data, parametrization: str) -> np.ndarray:
        if not self.is_discrete:
            expected = self._expected(X)
            self._check_possible(expected.log_likelihoods)
            chain = chain_scores(self, expected.first, expected.moves, parametrization)
            return np.hstack([chain, *self._vector_scores(X, expected)])
        logs, first, moves, counts = self._path_sums(X, shown=True)
        assert counts is not None
        self._check_possible(logs)
        shown = [
            simplex_scores(counts[:, s], self.emissions[s], parametrization) for s in range(len(self.start))
        ]
        return np.hstack([chain_scores(self, first, moves, parametrization), *shown])

    def _vector_scores(self, X: SeriesData, expected: Expected) -> list[np.ndarray]:
        """Scores of the means and covariances: those of the steps, weighted by the posteriors, summed."""
        begin, end = int(X.starts[0]), int(X.starts[-1])
        steps = X.values[begin:end]
        owner = np.repeat(np.arange(len(X)), np.diff(X.starts))
        sums = scipy.sparse.csr_array(
            (np.ones(end - begin), (owner, np.arange(end - begin))), (len(X), end - begin)
        )
        return [
            np.asarray(sums @ g._weighted_scores(steps, expected.posteriors[:, s]))
            for s, g in enumerate(self.emissions)
        ]

    @classmethod
    def fit(
        cls,
        X: Any,
        n_states: int,
        *,
        alphabet: Any = None,
        pseudocount: float = 1e-3,
        ridge: float = 1e-3,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> Self:
        """A local maximum of the likelihood, by the Baum-Welch iteration from a random start.

        Parameters
        ----------
        X : sequences of symbols, or series of vectors
            Texts, and lists of anything but numbers, are sequences of symbols; pass the alphabet if symbols
            are numbers.
        n_states : int
        alphabet : sequence of hashables, optional
            The symbols; those of X, in order of appearance, by default.
        pseudocount : float, default=1e-3
            Added to every expected count of a transition or a symbol.
        ridge : float, default=1e-3
            Added to the variances of vectors, in units of the variance of all of them.
        max_iter : int, default=300
        tol : float, default=1e-6
            The iteration ends when the mean log-likelihood per step grows by less.
        random_state : int, Generator or None
        """
        checked_number(n_states, "HMM.fit", "n_states", integer=True, low=1)
        checked_number(max_iter, "HMM.fit", "max_iter", integer=True)
        for name, value in (("pseudocount", pseudocount), ("ridge", ridge), ("tol", tol)):
            checked_number(value, "HMM.fit", name)
        rng, X = generator(random_state), points_once(X)
        model: Self = _first_guess(cls, X, int(n_states), alphabet, ridge, rng)
        data = model.domain.validate(X)
        steps = int(data.starts[-1] - data.starts[0])
        if not steps:
            raise InputError("HMM.fit: X has no steps.")
        best = -np.inf
        for _ in range(max_iter):
            checkpoint()
            value, better = model._improved(data, pseudocount, ridge)
            if value / steps - best < tol:
                break
            best, model = value / steps, better
        return model

    def _improved(self, X: Data, pseudocount: float, ridge: float) -> tuple[float, Self]:
        """The log-likelihood, and the model of the expected counts: one step of Baum-Welch."""
        shown: Any
        if self.is_discrete:
            logs, first, moves, counts = self._path_sums(X, shown=True)
            assert counts is not None
            shown = normalized_rows(counts.sum(axis=0) + pseudocount)
        else:
            logs, first, moves, posteriors = self._expected(X)
            steps = X.values[int(X.starts[0]) : int(X.starts[-1])]
            shown = [_weighted_normal(steps, q, ridge) for q in posteriors.T]
        start = normalized_rows(first.sum(axis=0, keepdims=True) + pseudocount)[0]
        A = normalized_rows(moves.sum(axis=0) + pseudocount)
        return float(logs.sum()), type(self)(start, A, shown, self.alphabet)

    def sample(self, n: int, random_state: Any = None, *, length: int | None = None) -> list[Any]:
        """Sequences of one length, drawn from the model; see :meth:`sample_sequences` for several lengths."""
        return self.sample_sequences(equal_lengths(n, length, "HMM"), random_state)

    def _sample(self, n: int, rng: np.random.Generator) -> Any:
        raise TypeError("HMM: a sequence has a length")

    def sample_sequences(self, lengths: Sequence[int], random_state: Any = None) -> list[Any]:
        """A sequence of each length, drawn from the model."""
        rng = generator(random_state)
        paths = sample_paths(self.start, self.transitions, lengths, rng)
        if not self.is_discrete:
            d = len(self.emissions[0].mean)
            steps = [[self.emissions[s]._sample(1, rng)[0] for s in path] for path in paths]
            return [np.array(series).reshape(-1, d) for series in steps]
        k = self.emissions.shape[1]
        return [tuple(self.alphabet[rng.choice(k, p=self.emissions[s])] for s in path) for path in paths]


def _weighted_normal(steps: np.ndarray, weights: np.ndarray, ridge: float) -> Normal:
    if not weights.sum() >= np.finfo(np.float64).tiny:  # a state without any step starts again
        weights = np.ones(len(steps))
    total = float(weights.sum())
    mean = weights @ steps / total
    centred = steps - mean
    level = ridge * spread(steps, "HMM.fit") ** 2
    return Normal(mean, (weights[:, None] * centred).T @ centred / total + level * np.eye(steps.shape[1]))


def _first_guess(cls: Any, X: Any, S: int, alphabet: Any, ridge: float, rng: np.random.Generator) -> Any:
    start, A = np.full(S, 1 / S), normalized_rows(rng.uniform(0.5, 1.5, (S, S)) + S * np.eye(S))
    numeric = isinstance(X, SeriesData)
    if alphabet is None and not numeric:
        first = next(iter(X), None) if isinstance(X, Iterable) else None
        if first is not None and not isinstance(first, str):
            numeric = np.asarray(first).dtype.kind in "fiub"
    if alphabet is None and numeric:
        data = Series().validate(X)
        steps = data.steps
        chosen = steps[rng.choice(len(steps), S, replace=len(steps) < S)]
        spread = _weighted_normal(steps, np.ones(len(steps)), ridge).covariance
        return cls(start, A, [Normal(mean, spread) for mean in chosen])
    known = Sequences().validate(X).alphabet.elements if alphabet is None else alphabet
    letters = letters_of(known, "HMM.fit")
    if not letters:
        raise InputError("HMM.fit: X has no symbols. Pass the alphabet, or other data.")
    return cls(start, A, rng.dirichlet(np.ones(len(letters)), size=S), letters)
