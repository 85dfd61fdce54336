"""Samples of the kernels of shortest paths and of graphlets."""

from __future__ import annotations

import numpy as np

from mercer.graphs import Graph
from mercer.kernels.categorical import Categorical
from mercer.kernels.dot import Linear
from mercer.kernels.graphs.graphlets import Graphlets
from mercer.kernels.graphs.paths import ShortestPath
from mercer.kernels.radial import Gaussian
from mercer.kernels.reals import Min

from ..cases import Case

__all__ = ["CASES", "GRAPHS"]


def _ring(n: int, **options: object) -> Graph:
    return Graph(n, [(i, (i + 1) % n) for i in range(n)], **options)  # type: ignore[arg-type]


#: The empty graph, one node, no edges, two components, loops, parallel edges, arcs, labels of several types.
GRAPHS: list[Graph] = [
    Graph(0),
    Graph(1, labels=["a"]),
    Graph(3),
    Graph(1, [(0, 0)]),
    Graph(2, [(0, 1)], labels="ab"),
    Graph(2, [(0, 1)], labels="ab"),
    Graph(6, [(0, 1), (1, 2), (3, 4)], labels=["a", 1, None, "a", 1.0, True]),
    _ring(5, labels="abaab", weights=[1, 2, 0.5, 0, 3]),
    Graph(4, [(0, 1), (0, 1), (1, 2), (2, 2), (2, 3)], labels="aabb", weights=[3, 1, 1, 7, 2]),
    Graph(5, [(0, 1), (1, 2), (2, 0), (2, 3), (4, 3)], labels="aabba", directed=True),
    Graph(6, [(i, j) for i in range(6) for j in range(i)], labels="aaabbb"),
]

#: The same with a vector and a category at each node.
VECTORS: list[Graph] = [
    Graph(
        g.n,
        list(zip(g.sources.tolist(), g.targets.tolist(), strict=True)),
        labels=["even" if v % 2 == 0 else "odd" for v in range(g.n)],
        weights=g.weights,
        attributes=np.cos(np.arange(2.0 * g.n)).reshape(g.n, 2),
        directed=True,
    )
    for g in GRAPHS
]

CASES: list[Case] = [
    *(Case(ShortestPath(weighted=weighted), GRAPHS) for weighted in (True, False)),
    *(Case(ShortestPath(length=length), GRAPHS) for length in (Min(), Gaussian(2.0))),
    *(
        Case(ShortestPath(node=node, length=length), VECTORS)
        for node in (Categorical(0.5), Linear(), Gaussian("median"))
        for length in (None, Min())
    ),
    *(
        Case(Graphlets(size, connected=connected), GRAPHS)
        for size in (3, 4, 5)
        for connected in (False, True)
    ),
    Case(Graphlets(4, samples=20), GRAPHS),
    Case(Graphlets(3, connected=True, samples=7, random_state=5), GRAPHS),
]
