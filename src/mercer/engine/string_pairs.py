"""Recursions over pairs of sequences, in native code.

A list of :class:`Pairs` says which sequences to compare; every function gives one value per pair.  Sums that
outgrow floating-point numbers come as ``m * 2 ** e``, two arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mercer import _native
from mercer.domains import EncodedSequences
from mercer.engine.runs import checkpoint
from mercer.engine.threads import num_threads

__all__ = ["Pairs", "Scaled", "edits", "local_alignments", "subsequences", "weighted_degree"]

#: Numbers ``m * 2 ** e``: mantissas and whole exponents.
Scaled: TypeAlias = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of sequences, long ones first: neighbours are worked on together, and should be of like length.

    Attributes
    ----------
    X, Y : EncodedSequences
        In one coding.
    rows, cols : int64 arrays
        Which sequence of X is compared with which one of Y.
    mirrored : bool
        Whether X is Y, and the pair (i, j) stands for (j, i) too.
    """

    X: EncodedSequences
    Y: EncodedSequences
    rows: np.ndarray
    cols: np.ndarray
    mirrored: bool = False

    @classmethod
    def block(cls, X: EncodedSequences, Y: EncodedSequences | None) -> Pairs:
        """Every sequence of X with every one of Y, or each two of X once."""
        down = _longest_first(X)
        if Y is None:
            i, j = np.tril_indices(len(X))
            return cls(X, X, down[i], down[j], mirrored=True)
        Y = Y.coded_like(X)
        across = _longest_first(Y)
        return cls(X, Y, np.repeat(down, len(Y)), np.tile(across, len(X)))

    @classmethod
    def diagonal(cls, X: EncodedSequences) -> Pairs:
        """Every sequence with itself."""
        own = _longest_first(X)
        return cls(X, X, own, own)

    def __len__(self) -> int:
        return len(self.rows)

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Values of a block as a matrix."""
        K = np.empty((len(self.X), len(self.Y)))
        K[self.rows, self.cols] = values
        if self.mirrored:
            K[self.cols, self.rows] = values
        return K

    def vector(self, values: np.ndarray) -> np.ndarray:
        """Values of a diagonal in the order of the sequences."""
        d = np.empty(len(self.X))
        d[self.rows] = values
        return d

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the native functions take."""
        return (self.X.codes, self.X.starts, self.Y.codes, self.Y.starts, self.rows, self.cols)


def _longest_first(X: EncodedSequences) -> np.ndarray:
    return np.argsort(-X.lengths, kind="stable").astype(np.int64)


def subsequences(pairs: Pairs, n: int, decay: float) -> Scaled:
    """Common subsequences of the lengths 1..n, each ``decay`` to the number of symbols that both skip.

    Returns
    -------
    m, e : ndarrays of shape (len(pairs), n)
    """
    sums, exponents = np.empty((len(pairs), n)), np.empty((len(pairs), n))
    _native.subsequences(pairs.arrays, n, decay, sums, exponents, num_threads(), checkpoint)
    return sums, exponents


def local_alignments(
    pairs: Pairs, weights: np.ndarray | tuple[float, float], open_factor: float, extend_factor: float
) -> Scaled:
    """Local alignments, the empty one not counted.

    Parameters
    ----------
    pairs : Pairs
    weights : ndarray of shape (a + 1, a + 1), or (equal, other)
        Weights of pairs of codes below a, with a row and a column of zeros at the end; or those of equal and
        of other symbols.
    open_factor, extend_factor : float
        Of the first symbol of a gap and of every further one, between ``exp(-100)`` and 1.

    Returns
    -------
    m, e : ndarrays of shape (len(pairs),)
    """
    table, other = (np.zeros((0, 0)), weights) if isinstance(weights, tuple) else (weights, (0.0, 0.0))
    sums, exponents = np.empty(len(pairs)), np.empty(len(pairs))
    _native.local_alignments(
        pairs.arrays,
        table,
        *other,
        open_factor,
        extend_factor,
        sums,
        exponents,
        num_threads(),
        checkpoint,
    )
    return sums, exponents


def edits(pairs: Pairs, gap: float, substitute: float) -> np.ndarray:
    """Least costs of turning one sequence into the other."""
    costs = np.empty(len(pairs))
    _native.edits(pairs.arrays, gap, substitute, costs, num_threads(), checkpoint)
    return costs


def weighted_degree(pairs: Pairs, gains: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Substrings that match in place: ``gains[r]`` for every place where r symbols in a row have matched.

    Places that differ by s count ``shifts[s]`` times; ``gains[0]`` is 0, and longer runs gain the last one.
    """
    values: Any = np.empty(len(pairs))
    _native.weighted_degree(pairs.arrays, gains, shifts, values, num_threads(), checkpoint)
    return np.asarray(values)
