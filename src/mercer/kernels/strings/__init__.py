"""Kernels on strings: sequences of letters or of any hashable symbols.

=================  ====================================================================
``ngrams``         stretches of n letters, counted
``spectrum``       the same of biological sequences, with options for DNA
``gappy``          n letters in order with gaps between them
``gapped``         stretches of which some letters do not count
``mismatch``       stretches with some letters changed
=================  ====================================================================

``windows``, ``grams``, ``products``, ``matching``, ``strands`` and ``slices`` hold what several share.
"""

from .gapped import GappedKmer, Wildcard
from .gappy import GappyNGram
from .mismatch import Mismatch
from .ngrams import NGram
from .spectrum import Spectrum

__all__ = ["GappedKmer", "GappyNGram", "Mismatch", "NGram", "Spectrum", "Wildcard"]
