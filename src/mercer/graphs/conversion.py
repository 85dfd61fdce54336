"""Graphs of other libraries, matrices and lists of edges as graphs of mercer."""

from __future__ import annotations

from typing import Any

from ..domains import Graph, GraphBatch, Graphs
from ..errors import MissingExtraError

__all__ = ["as_graph", "as_graphs", "to_networkx"]


def as_graphs(
    X: Any,
    *,
    label: str | None = "label",
    edge_label: str | None = "label",
    weight: str | None = "weight",
    attributes: str | None = "attributes",
    directed: bool = False,
) -> GraphBatch:
    """Read graphs, under the names that their attributes have.

    Kernels read graphs themselves, under the default names.  For other names, for directed graphs given as
    matrices, or to read a long list only once, pass what this function returns to kernels and machines.  A
    graph without labels, but with other attributes that are not read, is warned of; with ``label=None`` and
    ``edge_label=None`` it is not.

    Parameters
    ----------
    X : sequence of graphs
        Graphs of networkx, igraph or PyTorch Geometric, square adjacency matrices, dense or sparse, pairs
        (adjacency, labels), (n, edges) or (n, edges, labels); see :class:`~mercer.domains.Graphs`.
    label, edge_label, weight, attributes : str or None
        Names of the attributes that hold labels of nodes and edges, weights of edges, and vectors of nodes.
        None reads nothing.  Under the default names, attributes may be absent; a name of your own must be
        there.
    directed : bool, default=False
        Whether matrices and lists of edges are directed graphs; graphs of libraries know it themselves.

    Returns
    -------
    GraphBatch

    Raises
    ------
    InputError
        If a graph is none; the message names it.

    Examples
    --------
    >>> import networkx
    >>> g = networkx.path_graph(3)
    >>> networkx.set_node_attributes(g, {0: "C", 1: "C", 2: "O"}, "element")
    >>> as_graphs([g], label="element")[0].labels
    ('C', 'C', 'O')
    """
    uses = frozenset({"label", "edge_label", "weight", "attributes"})
    return Graphs(label, edge_label, weight, attributes, directed, uses).validate(X)


def as_graph(
    x: Any,
    *,
    label: str | None = "label",
    edge_label: str | None = "label",
    weight: str | None = "weight",
    attributes: str | None = "attributes",
    directed: bool = False,
) -> Graph:
    """Read one graph; see :func:`as_graphs`.

    Examples
    --------
    >>> as_graph([[0, 2.5], [2.5, 0]]).weights.tolist()
    [2.5, 2.5]
    """
    return Graphs(label, edge_label, weight, attributes, directed).point(x)


def to_networkx(graph: Graph) -> Any:
    """The graph of networkx with the same nodes, arcs, labels, weights and vectors.

    It is undirected if every arc has its reverse, and a multigraph if there are parallel edges.  None is no
    label and is left out.

    Examples
    --------
    >>> g = to_networkx(Graph(2, [(0, 1)], labels="CO", weights=[2.0]))
    >>> g.nodes[1], g[0][1]
    ({'label': 'O'}, {'weight': 2.0})
    """
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError(
            "to_networkx needs networkx, which is not installed: pip install mercer[graphs]"
        ) from error
    symmetric = graph.is_symmetric
    arcs = list(zip(graph.sources.tolist(), graph.targets.tolist(), strict=True))
    found = (networkx.MultiGraph if symmetric else networkx.MultiDiGraph)()
    for v, label in enumerate(graph.labels):
        vector = {} if graph.attributes is None else {"attributes": graph.attributes[v].tolist()}
        found.add_node(v, **({} if label is None else {"label": label}), **vector)
    for (u, v), label, weight in zip(arcs, graph.edge_labels, graph.weights.tolist(), strict=True):
        if not symmetric or u <= v:
            found.add_edge(u, v, **({} if label is None else {"label": label}), weight=weight)
    if len(set(arcs)) < len(arcs):
        return found
    return networkx.Graph(found) if symmetric else networkx.DiGraph(found)
