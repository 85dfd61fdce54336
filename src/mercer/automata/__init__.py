"""Weighted transducers: machines that read one string, write another, and weigh the pair.

===========================  ===============================================================================
``labels``, ``semirings``    what arcs carry: symbols, epsilon, classes of symbols; weights
``axioms``                   what a semiring must obey, checked on given weights
``transducer``, ``builder``  :class:`Transducer`, the value; :class:`Builder` makes one step by step
``operations``               what can be made of transducers
``machine``, ``coding``      the arrays behind it: compact arcs, labels as numbers
``algebra``                  union, concatenation, star, reversal, inverse, on arrays
``sums``                     composition, total weight and epsilon removal: native for built-in semirings,
                             ``generic`` for others
``distances``                sums over the paths between states, in any semiring (``path_sums``)
``strings``, ``evaluation``  weights of pairs of strings, on the native core
``collection``               what a transducer writes for each of many strings, and intersections of these
``enumeration``              accepting paths one by one
``literals``, ``regex``      automata of strings and of regular expressions (``syntax`` reads the pattern,
                             ``positions`` makes an automaton of it, ``determinism`` the minimal one)
``counting``, ``pairs``      transducers that count patterns; pair hidden Markov models
``text``                     the AT&T format that other tools read and write
``drawing``, ``layout``      pictures: DOT, SVG, display in notebooks
``outputs``, ``weighing``    what a transducer writes as a list; sums over paths by their definition
``domain``                   strings and automata as points of kernels
===========================  ===============================================================================
"""

from .builder import Builder
from .collection import Automata, intersect_weights, output_automata, pack
from .counting import counting
from .distances import shortest_distance, shortest_distances
from .domain import StringsAndAutomata
from .drawing import to_dot, to_svg
from .enumeration import Path, paths
from .evaluation import weight_between, weights_between
from .labels import ANY, EPSILON, AnyExcept
from .literals import string
from .operations import compose, concat, n_way, total_weight, union
from .pairs import conditional_pair_hmm, pair_hmm
from .regex import determinize, from_regex
from .semirings import BOOLEAN, LOG, REAL, TROPICAL, Semiring
from .text import from_att, from_symbol_table, numbering, to_att, to_symbol_table
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
    "StringsAndAutomata",
    "Transducer",
    "compose",
    "concat",
    "conditional_pair_hmm",
    "counting",
    "determinize",
    "from_att",
    "from_regex",
    "from_symbol_table",
    "intersect_weights",
    "n_way",
    "numbering",
    "output_automata",
    "pack",
    "pair_hmm",
    "paths",
    "shortest_distance",
    "shortest_distances",
    "string",
    "to_att",
    "to_dot",
    "to_svg",
    "to_symbol_table",
    "total_weight",
    "union",
    "weight_between",
    "weights_between",
]
