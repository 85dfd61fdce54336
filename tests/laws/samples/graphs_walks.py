"""Samples of the kernels on walks: awkward graphs, with and without labels."""

from __future__ import annotations

from mercer.domains import Graph
from mercer.kernels import Categorical, Constant, Gaussian, Linear
from mercer.kernels.graphs import MarginalizedWalk, RandomWalk, TreeWalk

from ..cases import Case

__all__ = ["CASES", "LABELLED", "PLAIN"]

#: Empty, one node, no edges, loops, parallel edges, two parts, weights, arcs, labels of mixed types, repeats.
LABELLED = [
    Graph(0),
    Graph(1, labels="C"),
    Graph(3, labels="CCO"),
    Graph(3, [(0, 1), (1, 2)], labels="CCO", edge_labels=[1, 2]),
    Graph(3, [(0, 1), (1, 2)], labels="CCO", edge_labels=[1, 2]),
    Graph(2, [(0, 0), (0, 1), (0, 1)], labels=["C", ("O", 1)], edge_labels=[1, 1, "="]),
    Graph(4, [(0, 1), (2, 3)], labels=["C", None, 1, "O"], weights=[0.5, 2.0]),
    Graph(3, [(0, 1), (1, 2), (2, 0)], labels="COC", edge_labels=[1, 1, 1], directed=True),
]
PLAIN = [
    Graph(0),
    Graph(1),
    Graph(3),
    Graph(3, [(0, 1), (1, 2)]),
    Graph(3, [(0, 1), (1, 2)]),
    Graph(2, [(0, 0), (0, 1), (0, 1)]),
    Graph(4, [(0, 1), (2, 3), (0, 2), (1, 3)], weights=[0.5, 2.0, 1.0, 0.25]),
]
#: Nodes with vectors, two of them alike.
VECTORS = [
    Graph(n, [(i, i + 1) for i in range(n - 1)], attributes=[[0.5 * i - n % 3, 1.0] for i in range(n)])
    for n in (1, 2, 3, 3, 4, 5)
]

CASES: list[Case] = [
    *(
        Case(RandomWalk(decay, form=form), points)
        for decay in (0.0, 0.05, -0.05)
        for form in ("sum", "uniform")
        for points in (LABELLED, PLAIN)
    ),
    *(Case(RandomWalk(0.5, length=length), points) for length in (0, 3) for points in (LABELLED, PLAIN)),
    *(Case(RandomWalk(0.5, series="exponential"), points) for points in (LABELLED, PLAIN)),
    Case(RandomWalk(0.05, node=Constant(1.0), edge=Constant(1.0)), LABELLED),
    Case(RandomWalk(0.05, edge=Constant(0.5)), LABELLED),
    Case(RandomWalk(0.1, node=Gaussian("median")), VECTORS),
    Case(RandomWalk(0.02, node=Linear(), edge=Constant(1.0), length=4), VECTORS),
    Case(RandomWalk(0.05, node=Categorical(0.5)), [g for g in LABELLED if None not in g.labels]),
    *(
        Case(TreeWalk(depth, arity=arity), points)
        for depth, arity in ((1, 2), (2, 1), (3, 2), (3, 4))
        for points in (LABELLED, PLAIN)
    ),
    Case(TreeWalk(3, decay=0.5, edge=Constant(0.5)), LABELLED),
    Case(TreeWalk(2, decay=0.0), LABELLED),
    Case(TreeWalk(3, node=Gaussian("median")), VECTORS),
    *(Case(MarginalizedWalk(stop), points) for stop in (0.1, 1.0) for points in (LABELLED, PLAIN)),
    *(Case(MarginalizedWalk(0.3, tottering=False, morgan=n), LABELLED) for n in (0, 2)),
]
