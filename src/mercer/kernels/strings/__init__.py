"""Kernels on strings: sequences of letters or of any hashable symbols.

=================  ====================================================================
``ngrams``         stretches of n letters, counted
=================  ====================================================================
"""

from .ngrams import NGram

__all__ = ["NGram"]
