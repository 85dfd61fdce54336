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
``factors``        the set of common substrings, or all of them counted
``context_tree``   mutual information under all context trees
``words``          bags of words, in stages
``compression``    what compressing two texts together saves
``rational``       what a weighted transducer computes
``regex_count``    matches of a regular expression, counted
``conversion``     the same kernels as rational ones
``transducers``    the machines behind them
=================  ====================================================================

``bags``, ``base``, ``common``, ``kmers``, ``lengths``, ``matching``, ``neighbours``, ``plans``,
``scores``, ``slices``, ``strands``, ``stretches`` and ``windows`` hold what several of them
share, and ``patterns`` gives weights to what they count.
"""

from .alignment import LocalAlignment
from .compression import Compression
from .context_tree import ContextTree
from .conversion import as_rational
from .degree import WeightedDegree
from .edit import EditDistance
from .factors import Factors
from .gapped import GappedKmer, Wildcard
from .gappy import GappyNGram
from .mismatch import Mismatch
from .ngrams import NGram
from .rational import Rational
from .regex_count import RegexCount
from .spectrum import Spectrum
from .subsequences import AllSubsequences, Subsequence
from .words import BagOfWords

__all__ = [
    "AllSubsequences",
    "BagOfWords",
    "Compression",
    "ContextTree",
    "EditDistance",
    "Factors",
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
    "as_rational",
]
