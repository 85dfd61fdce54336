"""Weighted transducers: machines that read one string, write another, and weigh the pair.

===================  ===========================================================================
labels, semirings    what arcs carry: symbols, epsilon, classes of symbols; weights
transducer, builder  :class:`Transducer`, the value, and :class:`Builder`, which makes one
algebra              union, concatenation, star, reversal, inverse
evaluation           the weight of a pair of strings
enumeration          accepting paths one by one
strings, regex       automata of strings and of regular expressions (``syntax``: the parser,
                     ``positions``: from trees to automata, ``determinism``: minimal ones)
counting             transducers that count occurrences
drawing, layout      pictures: DOT, SVG, display in notebooks
===================  ===========================================================================
"""

from .builder import Builder
from .counting import counting
from .drawing import to_dot, to_svg
from .enumeration import Path, paths
from .labels import ANY, EPSILON, AnyExcept
from .regex import determinize, from_regex
from .semirings import BOOLEAN, LOG, REAL, TROPICAL, Semiring
from .strings import string
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
    "counting",
    "determinize",
    "from_regex",
    "paths",
    "string",
    "to_dot",
    "to_svg",
    "union",
]
