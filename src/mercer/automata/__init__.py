"""Weighted transducers: machines that read one string, write another, and weigh the pair.

===================  ===============================================================================
labels, semirings    what arcs carry: symbols, epsilon, classes of symbols; weights
transducer, builder  :class:`Transducer`, the value; :class:`Builder` makes one step by step
operations           what can be made of transducers
machine, coding      the arrays behind it: compact arcs, labels as numbers
algebra              union, concatenation, star, reversal, inverse, on arrays
sums                 composition, total weight and epsilon removal, on the native core
strings, evaluation  weights of pairs of strings, on the native core
collection           what a transducer writes for each of many strings, and intersections of these
enumeration          accepting paths one by one
===================  ===============================================================================
"""

from .builder import Builder
from .collection import Automata, intersect_weights, output_automata, pack
from .enumeration import Path, paths
from .evaluation import weight_between, weights_between
from .labels import ANY, EPSILON, AnyExcept
from .operations import compose, concat, n_way, total_weight, union
from .semirings import BOOLEAN, LOG, REAL, TROPICAL, Semiring
from .transducer import Arc, Transducer

__all__ = [
    "ANY",
    "BOOLEAN",
    "EPSILON",
    "LOG",
    "REAL",
    "TROPICAL",
    "AnyExcept",
    "Arc",
    "Automata",
    "Builder",
    "Path",
    "Semiring",
    "Transducer",
    "compose",
    "concat",
    "intersect_weights",
    "n_way",
    "output_automata",
    "pack",
    "paths",
    "total_weight",
    "union",
    "weight_between",
    "weights_between",
]
