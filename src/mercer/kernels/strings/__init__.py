"""Kernels on strings: sequences of letters or of any hashable symbols.

=================  ====================================================================
``rational``       any function of two strings that a weighted transducer computes
``regex_count``    matches of a regular expression
=================  ====================================================================

``plans`` holds the ways to compute rational kernels.
"""

from .rational import Rational
from .regex_count import RegexCount

__all__ = ["Rational", "RegexCount"]
