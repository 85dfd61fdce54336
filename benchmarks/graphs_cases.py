"""Cases of the kernels between graphs, against GraKeL on data of the TU collection.

``MERCER_DATA`` names the directory with the folders ENZYMES, MUTAG...; GraKeL comes with the extra ``bench``.
Both libraries begin with Python objects, one for each graph, and end with the Gram matrix.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from mercer.graphs import Graph, read_tu
from mercer.kernels import Constant, Graphlets, RandomWalk, ShortestPath, VertexHistogram, WeisfeilerLehman

from .harness import Case, Skipped


def tu_folder(name: str) -> Path:
    """Where a data set of the TU collection is."""
    folder = Path(os.environ.get("MERCER_DATA", Path(__file__).parents[2] / "shared" / "data")) / name
    if not folder.exists():
        raise Skipped(f"{folder} is missing: set MERCER_DATA")
    return folder


@cache
def tu_graphs(name: str) -> list[Graph]:
    """The graphs of a folder of the TU collection."""
    folder = tu_folder(name)
    if find_spec("grakel") is None:
        raise Skipped("grakel is not installed: pip install '.[bench]'")
    return list(read_tu(folder)[0])


@cache
def as_grakel(name: str) -> list[Any]:
    """The same as pairs of edges with weights and labels."""
    return [
        [
            dict.fromkeys(zip(g.sources.tolist(), g.targets.tolist(), strict=True), 1.0),
            dict(enumerate(g.labels)),
        ]
        for g in tu_graphs(name)
    ]


def grakel_gram(kernel: str, name: str, **options: Any) -> Callable[[Any], np.ndarray]:
    """The Gram matrix of a kernel of GraKeL."""

    def gram(_: Any) -> np.ndarray:
        import grakel

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(getattr(grakel, kernel)(**options).fit_transform(as_grakel(name)))

    return gram


def same(ours: np.ndarray, peer: np.ndarray) -> bool:
    return bool(np.array_equal(ours, peer))


# -- shortest paths and graphlets -----------------------------------------------------------------
def enzymes() -> list[Graph]:
    graphs = tu_graphs("ENZYMES")
    as_grakel("ENZYMES")
    return graphs


def graphlet_case(size: int) -> Case:
    # No agreement: the exact mode of GraKeL misses sets of nodes (of a star with three leaves it finds two of
    # the three paths of three nodes).
    return Case(
        f"graphlets-{size}",
        f"Graphlets({size}, connected=True), exact, ENZYMES",
        "GraKeL GraphletSampling without sampling",
        enzymes,
        Graphlets(size, connected=True).block,
        grakel_gram("GraphletSampling", "ENZYMES", k=size),
        repeats=1,
        target=20.0,
        warm=False,
    )


# -- Weisfeiler-Lehman colours --------------------------------------------------------------------
def colours_case(name: str, repeats: int) -> Case:
    """Labels of nodes alone: GraKeL ignores those of edges."""
    return Case(
        f"colours-{name}",
        f"WeisfeilerLehman(5, edge_labels=False), {name}",
        "GraKeL WeisfeilerLehman",
        lambda: (tu_graphs(name), as_grakel(name))[0],
        WeisfeilerLehman(5, edge_labels=False).block,
        grakel_gram("WeisfeilerLehman", name, n_iter=5),
        same,
        repeats=repeats,
        target=20.0,
        warm=repeats > 1,
    )


# -- random walks ---------------------------------------------------------------------------------
#: Below 1 / rho^2 = 0.139 of MUTAG, so that GraKeL keeps it; its solver stops at 1e-6.
DECAY = 0.05


def mutag() -> list[Graph]:
    graphs = tu_graphs("MUTAG")
    as_grakel("MUTAG")
    return graphs


def labelled_walks(graphs: list[Graph]) -> np.ndarray:
    """As GraKeL counts them: pairs of nodes with different labels are walks of no steps, too.

    Its fast method, which takes non-symmetric matrices for symmetric ones, is up to 1 % off its own baseline.
    """
    sizes = np.array([g.n for g in graphs], dtype=float)
    K = RandomWalk(DECAY, edge=Constant(1.0)).block(graphs)
    return np.asarray(K + np.outer(sizes, sizes) - VertexHistogram().block(graphs))


def walk_case(
    name: str, kernel: str, ours: Callable[[list[Graph]], np.ndarray], tol: float, target: float | None = None
) -> Case:
    return Case(
        name,
        f"RandomWalk({DECAY}), {name.replace('-', ' ')}, MUTAG",
        f'GraKeL {kernel}, "fast"',
        mutag,
        ours,
        grakel_gram(kernel, "MUTAG", lamda=DECAY),
        lambda a, b: bool(np.allclose(a, b, rtol=tol)),
        repeats=1,
        target=target,
    )


CASES = [
    colours_case("MUTAG", 5),
    colours_case("PTC_MR", 5),
    colours_case("NCI1", 1),
    walk_case(
        "plain-walks",
        "RandomWalk",
        RandomWalk(DECAY, node=Constant(1.0), edge=Constant(1.0)).block,
        1e-5,
        50.0,
    ),
    walk_case("labelled-walks", "RandomWalkLabeled", labelled_walks, 1e-2),
    Case(
        "shortest-path",
        "ShortestPath(), ENZYMES",
        "GraKeL ShortestPath",
        enzymes,
        ShortestPath().block,
        grakel_gram("ShortestPath", "ENZYMES"),
        same,
        repeats=3,
        target=20.0,
    ),
    graphlet_case(3),
    graphlet_case(4),
]
