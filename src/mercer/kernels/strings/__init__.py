"""Kernels on strings: sequences of letters or of any hashable symbols.

=================  ====================================================================
``subsequences``   common subsequences, gaps weighted
``alignment``      sums over local alignments
``edit``           the edit distance
``degree``         substrings that match at the same positions
=================  ====================================================================

``base``, ``lengths``, ``scores``, ``search``, ``common`` and ``stretches`` hold what they share: numbers
beyond floats, weights and scores, and the search for the heaviest patterns.
"""

from .alignment import LocalAlignment
from .degree import WeightedDegree
from .edit import EditDistance
from .subsequences import AllSubsequences, Subsequence

__all__ = ["AllSubsequences", "EditDistance", "LocalAlignment", "Subsequence", "WeightedDegree"]
