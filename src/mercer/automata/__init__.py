"""Weighted transducers: machines that read one string, write another, and weigh the pair.

===================  ===========================================================================
labels, semirings    what arcs carry: symbols, epsilon, classes of symbols; weights
transducer, builder  :class:`Transducer`, the value, and :class:`Builder`, which makes one
algebra              union, concatenation, star, reversal, inverse
evaluation           the weight of a pair of strings
enumeration          accepting paths one by one
===================  ===========================================================================
"""

from .builder import Builder
from .enumeration import Path, paths
from .labels import ANY, EPSILON, AnyExcept
from .semirings import BOOLEAN, LOG, REAL, TROPICAL, Semiring
from .transducer import Arc, Transducer, concat, union

__all__ = [
    "ANY",
    "BOOLEAN",
    "EPSILON",
    "LOG",
    "REAL",
    "TROPICAL",
    "AnyExcept",
    "Arc",
    "Builder",
    "Path",
    "Semiring",
    "Transducer",
    "concat",
    "paths",
    "union",
]
