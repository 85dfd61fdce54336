"""Kernels on strings: sequences of letters or of any hashable symbols.

=================  ====================================================================
``ngrams``         stretches of n letters, counted
``spectrum``       the same of biological sequences, with options for DNA
``gappy``          n letters in order with gaps between them
=================  ====================================================================

``windows``, ``grams`` and ``slices`` hold what several of them share.
"""

from .gappy import GappyNGram
from .ngrams import NGram
from .spectrum import Spectrum

__all__ = ["GappyNGram", "NGram", "Spectrum"]
