"""Regular expressions over kernels: kernel graphs, written as text."""

from __future__ import annotations

from collections import Counter
from itertools import count

from ..automata.syntax import Alternatives, Repeat, Sequence, Symbols, Weight, nodes, parse
from ..automata.syntax import Node as Expression
from ..errors import ParameterError
from ..kernel import Kernel
from .kernel_graphs import KernelGraph

__all__ = ["RegularLanguage"]

#: The word that stands for the empty one.
EMPTY = "1"

Edge = tuple[int, int, str | float]


def RegularLanguage(pattern: str, /, **kernels: Kernel) -> KernelGraph:
    r"""Kernel graph of a regular expression over kernels.

    ===================  ==========================================================================
    ``f``                the kernel that is given as ``f``
    ``f g``              a product
    ``f|g``              a sum
    ``f*``               :math:`1 + f + f^2 + \dots = 1 / (1 - f)`
    ``f+``, ``f?``       ``f f*`` and ``1|f``
    ``f{2}``             ``f f``; ``f{2,4}`` is ``f{2}|f{3}|f{4}``, ``f{2,}`` is ``f{2} f*``
    ``( )``              a group
    ``1``                the empty word
    ``<0.5>``            a number
    ===================  ==========================================================================

    The expression stands for a rational power series, not for a set: a word counts as often as there are
    ways to read it.  ``f|f`` is ``2 f``, and ``(f*)*`` diverges for every ``f``, since the empty word can be
    read in infinitely many ways.  As kernels commute, ``f g|g f`` is twice a product.

    The value is the sum over the paths of a graph with one edge for each kernel of the expression, whatever
    the number of words.  Positive definite if all kernels are and no number is negative, where the stars
    converge: see :class:`KernelGraph`, which also says when they do.

    Parameters
    ----------
    pattern : str
        The expression; names are separated by white space or operators.
    **kernels : Kernel
        What the names stand for; all of them must occur.  They are also the names of nested parameters:
        ``f__sigma``.

    Returns
    -------
    KernelGraph

    Raises
    ------
    ParameterError
        If the expression cannot be read, with the position, or if a name is unknown or unused.
    DivergenceError
        If the expression diverges whatever the kernels are.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = RegularLanguage("f (g|h)* f", f=Linear(), g=0.5 * Gaussian(1.0), h=0.25 * Gaussian(2.0))
    >>> k([1.0], [1.0])
    4.0
    >>> RegularLanguage("(1|f){2}", f=Linear())([3.0], [1.0])
    16.0
    """
    for name, kernel in kernels.items():
        if not isinstance(kernel, Kernel):
            raise ParameterError(f"RegularLanguage: `{name}` must be a kernel. Got {kernel!r}.")
    tree = parse(pattern, words=True, caller="RegularLanguage")
    names = dict.fromkeys(name for node in nodes(tree) if isinstance(node, Symbols) for name in _names(node))
    known = ", ".join(kernels) or "none"
    for name in names:
        if name != EMPTY and name not in kernels:
            raise ParameterError(
                f"RegularLanguage: `pattern` must name kernels that are given: {known}. Got {name!r}."
            )
    for name in kernels:
        if name not in names:
            raise ParameterError(f"RegularLanguage: `{name}` must occur in `pattern`. Got {pattern!r}.")
    if not kernels:
        raise ParameterError(f"RegularLanguage: `pattern` must name a kernel. Got {pattern!r}.")
    edges, source, sink = _contracted(_edges(tree), 0, 1)
    return KernelGraph(edges, source, sink, kernels=kernels)


def _names(node: Symbols) -> list[str]:
    if node.negated:
        raise ParameterError(
            "RegularLanguage: `pattern` must name kernels one by one. Got `.` or a negated class."
        )
    return sorted(map(str, node.symbols))


def _edges(tree: Expression) -> list[Edge]:
    """A graph whose paths from 0 to 1 are the ways to read a word: Thompson's construction."""
    edges: list[Edge] = []
    fresh = count(2)

    def edge(u: int, v: int, label: str | float) -> None:
        most = 10_000
        if len(edges) == most:
            raise ParameterError(
                f"RegularLanguage: `pattern` has more than {most:,} edges once its repetitions are "
                "written out. Repeat less often, or without an upper bound."
            )
        edges.append((u, v, label))

    def add(node: Expression, u: int, v: int) -> None:
        match node:
            case Symbols():
                for name in _names(node):
                    edge(u, v, 1.0 if name == EMPTY else name)
            case Weight(value):
                edge(u, v, value)
            case Sequence(parts):
                for part in parts:
                    before, u = u, next(fresh)
                    add(part, before, u)
                edge(u, v, 1.0)
            case Alternatives(parts):
                for part in parts:
                    add(part, u, v)
            case Repeat(part, low, high):
                for i in range(low if high is None else high):
                    if i >= low:
                        edge(u, v, 1.0)
                    before, u = u, next(fresh)
                    add(part, before, u)
                if high is None:
                    before, u = u, next(fresh)
                    edge(before, u, 1.0)
                    add(part, u, u)
                edge(u, v, 1.0)

    add(tree, 0, 1)
    return edges


def _contracted(edges: list[Edge], source: int, sink: int) -> tuple[list[Edge], int, int]:
    """The same paths without edges 1 that are the only way on from a vertex, or the only way to one."""
    merged: dict[int, int] = {}

    def find(vertex: int) -> int:
        root = vertex
        while root in merged:
            root = merged[root]
        while vertex in merged:  # shortens the way for the next search
            merged[vertex], vertex = root, merged[vertex]
        return root

    leaving, entering = Counter(u for u, _, _ in edges), Counter(v for _, v, _ in edges)
    leaving[sink] += 1  # a path may end there, which is one more way on
    entering[source] += 1
    while True:
        kept: list[Edge] = []
        for u, v, label in edges:
            p, q = find(u), find(v)
            if label == 1.0 and p != q and (leaving[p] == 1 or entering[q] == 1):
                merged[p] = q
                leaving[q] += leaving[p] - 1
                entering[q] += entering[p] - 1
            else:
                kept.append((u, v, label))
        if len(kept) == len(edges):
            break
        edges = kept
    number: dict[int, int] = {find(source): 0}
    for u, v, _ in edges:
        for vertex in (u, v):
            number.setdefault(find(vertex), len(number))
    return [(number[find(u)], number[find(v)], label) for u, v, label in edges], 0, number[find(sink)]
