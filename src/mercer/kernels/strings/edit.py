"""The edit distance, which is not negative definite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arithmetic import FLOAT, Arithmetic
from ...certificate import Certificate, Claim, Property, Status, Witness
from ...contributions import Contribution
from ...domains import EncodedSequences
from ...engine.string_pairs import Pairs, edits
from ...intervals import Interval
from ...parameters import parameter
from .base import PairKernel
from .common import require_room

__all__ = ["EditDistance"]


class EditDistance(PairKernel):
    r"""Edit distance: the least cost of turning one sequence into the other.

    .. math:: k(x, y) = \min \left\{ \text{gap} \cdot \#\text{insertions and deletions}
              + \text{substitute} \cdot \#\text{substitutions} \right\}

    With unit costs the Levenshtein distance; with ``substitute >= 2 * gap`` the number of symbols, times
    ``gap``, that both sequences have beside a longest common subsequence.  Insertions and deletions cost the
    same, or the distance would not be symmetric.

    It is **not** negative definite, whatever the costs: five strings of at most three letters are a witness.
    (Only if substitutions are free is it so, being the difference of the lengths.)  By Schoenberg's theorem
    :math:`\exp(-t\,k)`, ``EditDistance().schoenberg(t)``, then fails to be positive definite for some t > 0;
    for a given t its certificate is open, ``mercer.refute`` searches for a witness, and machines report what
    they find on the training data and repair it with ``indefinite="clip"``, ``"flip"`` or ``"shift"``; so
    does ``mercer.gram(k, X).repair(...)``.  Block cost: O(1) per pair of symbols.

    Parameters
    ----------
    gap : float, default=1.0
        Cost of inserting or deleting a symbol, > 0.
    substitute : float, default=1.0
        Cost of replacing a symbol by another, >= 0.

    Examples
    --------
    >>> EditDistance()("kitten", "sitting")
    3.0
    >>> print(EditDistance().contributions("kitten", "sitting"))
    weight  pattern
       1.0  ('', 'g')  [6:6 | 6:7]
       1.0  ('e', 'i')  [4:5 | 4:5]
       1.0  ('k', 's')  [0:1 | 0:1]
    >>> print(EditDistance().certificate.negative.label)
    not NDS
    """

    gap: float = parameter(default=1.0, low=0.0, open_low=True)
    substitute: float = parameter(default=1.0, low=0.0)

    def _define(self, x: Any, y: Any, m: Arithmetic) -> Any:
        return self._costs(x, y, m)[-1][-1]

    def _costs(self, x: Any, y: Any, m: Arithmetic) -> list[list[Any]]:
        """Costs between all beginnings of x and of y."""
        gap, substitute = m.real(self.gap), m.real(self.substitute)
        costs = [[gap * j for j in range(len(y) + 1)]]
        for i, a in enumerate(x):
            row = [gap * (i + 1)]
            for j, b in enumerate(y):
                exchanged = costs[i][j] + (0 if a == b else substitute)
                row.append(min(exchanged, costs[i][j + 1] + gap, row[j] + gap))
            costs.append(row)
        return costs

    def _values(self, pairs: Pairs) -> np.ndarray:
        return edits(pairs, self.gap, self.substitute)

    def _diagonal(self, X: EncodedSequences) -> np.ndarray:
        return np.zeros(len(X))

    def _contributions(self, x: Any, y: Any) -> Iterator[Contribution]:
        """The edits of one cheapest script, each as what it takes away and what it puts there."""
        require_room(x, y, 1)
        costs = self._costs(x, y, FLOAT)
        i, j = len(x), len(y)
        while i or j:
            cost = costs[i][j]
            if i and j and cost == costs[i - 1][j - 1] + (0 if x[i - 1] == y[j - 1] else self.substitute):
                i, j = i - 1, j - 1
                if x[i] != y[j]:
                    yield self._edit(x, y, (i, i + 1), (j, j + 1), self.substitute)
            elif i and cost == costs[i - 1][j] + self.gap:
                i -= 1
                yield self._edit(x, y, (i, i + 1), (j, j), self.gap)
            else:
                j -= 1
                yield self._edit(x, y, (i, i), (j, j + 1), self.gap)

    def _edit(self, x: Any, y: Any, old: tuple[int, int], new: tuple[int, int], cost: float) -> Contribution:
        return Contribution((x[slice(*old)], y[slice(*new)]), cost, (old,), (new,))

    # -- definiteness -------------------------------------------------------------------------
    def _certify(self) -> Certificate:
        pair = Witness.of(self, ["", "a"], [1.0, -1.0])
        if self.substitute == 0:
            reason = "the difference of the lengths, a distance on the line"
            return Certificate.nds(self, "Schoenberg", reason, zero_diagonal=True, witness=pair)
        # Five strings against negative definiteness, if a substitution costs at least as much as a gap:
        # c'Dc = 12 gap.
        points, c = ("b", "ab", "ba", "aba", "bab"), (2.0, -3.0, -3.0, 2.0, 2.0)
        if self.substitute <= self.gap:
            # Coefficients of strings of one length sum to zero, so that costs of gaps cancel, and
            # c'Dc = 2 substitute.
            points, c = ("ba", "bb", "aba", "abb", "bba"), (2.0, -2.0, -3.0, 2.0, 1.0)
        negative = Claim(
            Property.NEGATIVE,
            Status.REFUTED,
            repr(self),
            "five strings",
            "c'Dc > 0 although sum(c) = 0",
            witness=Witness.of(self, points, c, Property.NEGATIVE),
        )
        reason = "k(x, x) = 0 but k(x, y) != 0, so k(x, y)^2 <= k(x, x) k(y, y) fails"
        return Certificate.refuted(self, "Cauchy-Schwarz", reason, witness=pair, negative=negative)

    diagonal_bounds = Interval(0.0, 0.0)
