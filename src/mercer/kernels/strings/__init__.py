"""Kernels on strings: sequences of letters or of any hashable symbols.

=================  ====================================================================
``subsequences``   common subsequences, gaps weighted
=================  ====================================================================
"""

from .subsequences import AllSubsequences, Subsequence

__all__ = ["AllSubsequences", "Subsequence"]
