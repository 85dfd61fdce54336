"""Shortest distances: sums of the weights of the paths between states."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import ParameterError
from .path_sums import Graph, all_path_sums, leaving_arcs, path_sums
from .semirings import BOOLEAN
from .sums import infinite_classes
from .transducer import Transducer, is_state

__all__ = ["shortest_distance", "shortest_distances"]


def shortest_distance(T: Transducer, source: int | None = None) -> np.ndarray:
    r"""Sums over all paths from one state to each state, in any semiring.

    .. math:: d(q) = \bigoplus_{\pi: p \to q} w(\pi)

    where the weight of a path is the product of the weights of its arcs, whatever they read and write; the
    path without arcs is among those from p to p.  In the tropical semiring these are the lengths of shortest
    paths, in the boolean one they say what can be reached, in the real one they are sums over all paths.

    Components of the graph are taken in topological order, so that a machine without cycles costs one product
    per arc.  In a cyclic component of m states a queue of states is worked off (Mohri's generic algorithm),
    if the sum is idempotent or the semiring has no star; otherwise equations are solved by elimination,
    O(m^3).

    Parameters
    ----------
    T : Transducer
        Of any semiring; the product need not commute.
    source : int, optional
        The state p.  By default paths begin in the initial states, with their weights.

    Returns
    -------
    array of shape (n_states,)
        The zero of the semiring for states out of reach.  float64 in the semirings REAL, LOG and TROPICAL,
        bool in BOOLEAN, objects in others.

    Raises
    ------
    DivergenceError
        A cycle within reach has no sum: see :meth:`Transducer.total_weight`.

    Examples
    --------
    >>> from mercer.automata import Transducer, shortest_distance
    >>> roads = [(0, 1, "a", "a", 5.0), (0, 2, "b", "b", 1.0), (2, 1, "c", "c", 2.0), (1, 0, "d", "d", 0.0)]
    >>> shortest_distance(Transducer(roads, {0: 0.0}, {1: 0.0}, semiring="tropical"), source=0)
    array([0., 3., 1.])
    """
    ring = T.semiring
    if source is not None and not is_state(source, T.n_states):
        raise ParameterError(
            f"shortest_distance: `source` must be the number of a state, below {T.n_states}. Got {source!r}."
        )
    starts = dict(T.initial) if source is None else {int(source): ring.one}
    graph = leaving_arcs(T.machine, ring)
    _refuse_classes(T, _reached(graph, starts), "shortest_distance")
    found = path_sums(graph, starts, ring, "shortest_distance")
    sums = ring.array(found.get(q, ring.zero) for q in range(T.n_states))
    return sums.astype(bool) if ring is BOOLEAN else sums


def shortest_distances(T: Transducer) -> np.ndarray:
    r"""Sums over all paths between all pairs of states, in any semiring: see :func:`shortest_distance`.

    Kleene's algorithm, of which those of Floyd and Warshall and of Gauss and Jordan are special cases:
    intermediate states k are allowed one after the other,
    :math:`d_{ij} \oplus d_{ik} \otimes d_{kk}^* \otimes d_{kj}`.  Cost O(n^3) for n states, memory O(n^2);
    for few sources on a sparse machine :func:`shortest_distance` is faster.

    Returns
    -------
    array of shape (n_states, n_states)
        Entry (p, q) is the sum over the paths from p to q.

    Raises
    ------
    DivergenceError
        A cycle has no sum.

    Examples
    --------
    >>> from mercer.automata import Transducer, shortest_distances
    >>> T = Transducer([(0, 0, "a", "a", 0.5), (0, 1, "b", "b", 1.0)], {0: 1.0}, {1: 1.0})
    >>> shortest_distances(T)
    array([[2., 2.],
           [0., 1.]])
    """
    ring = T.semiring
    _refuse_classes(T, range(T.n_states), "shortest_distances")
    sums = all_path_sums(leaving_arcs(T.machine, ring), ring, "shortest_distances")
    return sums.astype(bool) if ring is BOOLEAN else sums


def _reached(graph: Graph, starts: Iterable[int]) -> list[int]:
    found, stack = dict.fromkeys(starts), list(starts)
    while stack:
        new = {target for target, _ in graph[stack.pop()]} - found.keys()
        found.update(dict.fromkeys(new))
        stack += new
    return list(found)


def _refuse_classes(T: Transducer, states: Iterable[int], caller: str) -> None:
    """An arc with a class stands for infinitely many arcs, which count once only in an idempotent sum."""
    m = T.machine
    classes = ((m.input < 0) | (m.output < 0)) & ~T.semiring.is_zero(m.weight)
    if not T.semiring.idempotent and classes[np.isin(m.source, list(states))].any():
        raise infinite_classes(caller)
