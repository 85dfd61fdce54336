"""Local alignments of two sequences, summed rather than maximised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ...arithmetic import FLOAT, Arithmetic, multiprecision
from ...certificate import Certificate, Witness
from ...contributions import Contribution
from ...domains import Domain, EncodedSequences, Sequences
from ...engine.string_pairs import Pairs, Scaled, local_alignments
from ...errors import ParameterError
from ...intervals import Interval
from ...parameters import parameter
from ...sequences.alphabets import SequencesOver
from ...sequences.dna import DNA
from .base import ScaledKernel
from .scores import Table, as_scores, named_table
from .stretches import aligned_stretches

__all__ = ["LocalAlignment"]

#: Digits of the elimination that proves a table positive definite, and how large its pivots must be.
DIGITS, LEAST_PIVOT = 60, 1e-40

THEOREM = (
    "a sum of convolutions of exp(beta s) on symbols with products of gap factors; exp(beta s) is positive "
    "definite on symbols"
)


class LocalAlignment(ScaledKernel):
    r"""Local alignment kernel: the sum over all local alignments of the exponential of their scores.

    .. math::
        k(x, y) = \sum_{p \ge 0} \sum_{i_1 < \dots < i_p} \sum_{j_1 < \dots < j_p} \exp \beta \Big(
        \sum_{q = 1}^{p} s(x_{i_q}, y_{j_q})
        - \sum_{q = 2}^{p} g(i_q - i_{q-1} - 1) + g(j_q - j_{q-1} - 1) \Big)

    with :math:`g(0) = 0` and :math:`g(l) = \text{open} + (l - 1)\,\text{extend}` (Saigo, Vert, Ueda and
    Akutsu, 2004; Vert, Saigo and Akutsu, 2004).  The empty alignment, p = 0, counts 1.  As :math:`\beta`
    grows, :math:`\frac1\beta \log k` tends to the Smith-Waterman score.

    Positive definite **iff** the matrix :math:`\exp(\beta s(a, b))` on the alphabet is: one direction by
    convolution, the other because :math:`k - 1` is that matrix on sequences of one symbol, and 1 the value
    with the empty sequence.  It is so for every :math:`\beta` iff s is conditionally positive definite
    (Schoenberg).  The certificate checks the matrix: elimination in 60 digits shows it strictly positive
    definite, and then so is k; or a witness is found and recomputed; or it stays open.  With (match,
    mismatch) no numbers are needed: match must not be below mismatch.

    Values grow exponentially with the length.  Those beyond every float are an error, while ``normalized()``
    and :meth:`log_block` work on scaled numbers and give results at any length.  Note that the logarithm,
    often used in practice, is not positive definite.  Block cost: O(1) per pair of symbols.

    Parameters
    ----------
    scores : "blosum62", "dna", (match, mismatch), or mapping, default="blosum62"
        Score s of two symbols: a table by name (amino acids with B, Z, X and the stop ``*``; or A, C, G, T,
        N), two numbers for equal and for other symbols of any kind, or a mapping from pairs of symbols,
        in either order, to numbers.  Symbols that a table does not know are an error.  With a table by name
        small letters are read as capitals, and U as T with "dna"; else letters keep their case.
    beta : float, default=0.5
        The factor :math:`\beta`, > 0.
    open, extend : float, default=11.0, 1.0
        Costs >= 0 of the first and of every further symbol of a gap.  None of ``beta`` times a cost or a
        score may exceed 100 in size.

    Examples
    --------
    >>> k = LocalAlignment((1.0, -1.0), beta=1.0, open=2.0, extend=1.0)
    >>> round(k("a", "ab"), 6)  # 1 + e + 1/e
    4.086161
    >>> print(k.certificate.verdict, LocalAlignment("blosum62").certificate.verdict)
    STRICT STRICT
    >>> print(LocalAlignment((-1.0, 1.0)).certificate.verdict)
    REFUTED
    >>> k.contributions("gatta", "atta")[0].pattern
    ('atta', 'atta')
    """

    scores: Any = "blosum62"
    beta: float = parameter(default=0.5, low=0.0, open_low=True)
    open: float = parameter(default=11.0, low=0.0)
    extend: float = parameter(default=1.0, low=0.0)

    def _validate(self) -> None:
        object.__setattr__(self, "scores", as_scores("LocalAlignment", self.scores))
        largest = float(np.abs(self.scores if self._table is None else self._table.scores).max())
        most = 100.0  # of exponents of weights and gap factors
        for name, size in (("scores", largest), ("open", self.open), ("extend", self.extend)):
            if self.beta * size > most:
                raise ParameterError(
                    f"LocalAlignment: `beta` times `{name}` must be at most {most:g} in size. "
                    f"Got {self.beta * size:g}. Lower `beta`."
                )

    @cached_property
    def _table(self) -> Table | None:
        """The table of scores, if there is one."""
        if isinstance(self.scores, tuple):
            return None
        return named_table(self.scores) if isinstance(self.scores, str) else Table.of(self.scores)

    @property
    def domain(self) -> Domain:
        if self._table is None:
            return Sequences()
        if self.scores == "dna":
            return DNA(ambiguous="N")
        return SequencesOver(self._table.vocabulary.elements, fold=isinstance(self.scores, str))

    def _weight(self, a: Any, b: Any, m: Arithmetic) -> Any:
        """Weight of a pair of symbols."""
        score = self.scores[int(a != b)] if self._table is None else self._table.score(a, b)
        return m.exp(m.real(self.beta) * m.real(score))

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        first, further = (m.exp(-m.real(self.beta) * m.real(cost)) for cost in (self.open, self.extend))
        weight = {(a, b): self._weight(a, b, m) for a in set(x) for b in set(y)}
        zero, total = m.real(0), m.real(1)
        paired, in_x, all_ends = ([zero] * (len(y) + 1) for _ in range(3))  # of the row before
        for a in x:
            row_paired, row_in_x, row_all = [zero], [zero], [zero]
            in_y = zero
            for j, b in enumerate(y):
                in_y = first * (row_paired[j] + row_in_x[j]) + further * in_y
                row_paired.append(weight[a, b] * (1 + all_ends[j]))
                row_in_x.append(first * paired[j + 1] + further * in_x[j + 1])
                row_all.append(row_paired[-1] + row_in_x[-1] + in_y)
                total += row_paired[-1]
            paired, in_x, all_ends = row_paired, row_in_x, row_all
        return total

    def _prepare(self, X: EncodedSequences) -> EncodedSequences:
        return X if self._table is None else self._table.coded(X)

    def _scaled_values(self, pairs: Pairs) -> Scaled:
        weights: Any
        if self._table is None:
            weights = tuple(math.exp(self.beta * score) for score in self.scores)
        else:
            weights = np.pad(np.exp(self.beta * self._table.scores), (0, 1))
        m, e = local_alignments(
            pairs, weights, math.exp(-self.beta * self.open), math.exp(-self.beta * self.extend)
        )
        return m + np.exp2(-np.minimum(e, 1000.0)), e

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        weights = np.array([[self._weight(a, b, FLOAT) for b in y] for a in x]).reshape(len(x), len(y))
        factors = (math.exp(-self.beta * self.open), math.exp(-self.beta * self.extend))
        return aligned_stretches(x, y, weights, *factors)

    # -- definiteness -------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        if self._table is not None:
            pivot = _least_pivot(self._table.scores, self.beta)
            if pivot > LEAST_PIVOT:
                reason = f"{THEOREM}: elimination in {DIGITS} digits has no pivot below {pivot:.3g}"
                return Certificate.psd(self, "convolution", reason, strict=True)
            witness = self._witness(self._table)
            if witness.value < 0:
                reason = (
                    "exp(beta s) is not positive definite, and k - 1 equals it on sequences of one symbol"
                )
                return Certificate.refuted(self, "one symbol", reason, witness=witness)
            return Certificate.unknown(self, "exp(beta s) on symbols is singular, or too close to it to tell")
        match, mismatch = self.scores
        if match < mismatch:
            witness = Witness.of(self, ["a", "b"], [1.0, -1.0])
            reason = "c = (1, -1) on two symbols gives 2 (exp(beta match) - exp(beta mismatch)) < 0"
            return Certificate.refuted(self, "one symbol", reason, witness=witness)
        reason = f"{THEOREM}, for match {'>' if match > mismatch else '='} mismatch"
        return Certificate.psd(self, "convolution", reason, strict=match > mismatch)

    def _witness(self, table: Table) -> Witness:
        """Sequences of one symbol, and the empty one, whose values with all others are 1."""
        c = np.linalg.eigh(np.exp(self.beta * table.scores))[1][:, 0]
        points = [(symbol,) for symbol in table.vocabulary.elements]
        return Witness.of(self, [*points, ()], [*c, -c.sum()])

    bounds = Interval(1.0, math.inf)


def _least_pivot(scores: np.ndarray, beta: float) -> float:
    """Least pivot of elimination on ``exp(beta scores)``, relative to the diagonal, in many digits."""
    m = multiprecision(DIGITS)
    A = [[m.exp(m.real(beta) * m.real(float(s))) for s in row] for row in scores]
    least = math.inf
    for s, row in enumerate(A):
        least = min(least, float(row[s]) / math.exp(beta * scores[s, s]))
        if least <= LEAST_PIVOT:
            break
        for below in A[s + 1 :]:
            ratio = below[s] / row[s]
            for j in range(s, len(A)):
                below[j] -= ratio * row[j]
    return least
