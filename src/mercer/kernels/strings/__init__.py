"""Kernels on strings: sequences of letters or of any hashable symbols.

=================  ====================================================================
``ngrams``         stretches of n letters, counted
``spectrum``       the same of biological sequences, with options for DNA
``gappy``          n letters in order with gaps between them
``gapped``         stretches of which some letters do not count
``mismatch``       stretches with some letters changed
``subsequences``   common subsequences, weighted by their gaps
``alignment``      local alignments, summed
``edit``           edit distances
``degree``         stretches at the same place, or nearby
``rational``       what a weighted transducer computes
``regex_count``    matches of a regular expression, counted
=================  ====================================================================

``common``, ``grams``, ``lengths``, ``matching``, ``plans``, ``scaled``, ``scores``, ``search``, ``slices``,
``strands``, ``stretches`` and ``windows`` hold what several of them share.
"""

from .alignment import LocalAlignment
from .degree import WeightedDegree
from .edit import EditDistance
from .gapped import GappedKmer, Wildcard
from .gappy import GappyNGram
from .mismatch import Mismatch
from .ngrams import NGram
from .rational import Rational
from .regex_count import RegexCount
from .spectrum import Spectrum
from .subsequences import AllSubsequences, Subsequence

__all__ = [
    "AllSubsequences",
    "EditDistance",
    "GappedKmer",
    "GappyNGram",
    "LocalAlignment",
    "Mismatch",
    "NGram",
    "Rational",
    "RegexCount",
    "Spectrum",
    "Subsequence",
    "WeightedDegree",
    "Wildcard",
]
