"""Chapter: graphs, trees, and kernels that are paths through a graph."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...graphs import Graph, GraphBatch, read_tu
from ...kernel import Kernel
from ...kernels import (
    Gaussian,
    KernelGraph,
    Linear,
    ShortestPath,
    SubsetTree,
    VertexHistogram,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from ...machines import SVC
from ...show import automaton, graph, tree
from .stage import Chapter, Stage
from .structured import data_folder, structured_rows

__all__ = ["CHAPTER", "KERNELS", "load_graphs"]


KERNELS: tuple[tuple[str, Kernel], ...] = (
    ("`VertexHistogram`: labels alone, the baseline", VertexHistogram().normalized()),
    ("`ShortestPath`", ShortestPath().normalized()),
    ("`WeisfeilerLehman(3)`", WeisfeilerLehman(3).normalized()),
    ("`WLOptimalAssignment(3)`", WLOptimalAssignment(3).normalized()),
)
SENTENCES = (
    "(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))))",
    "(S (NP (D the) (N cat)) (VP (V saw) (NP (D the) (N dog))))",
)


def _show(stage: Stage) -> None:
    source, graphs, labels = load_graphs(stage.quick)
    stage.text(f"Graphs: {source}. Kernels between them, with the proof of the third:")
    stage.proof(WeisfeilerLehman(3))
    folds = 3 if stage.quick else 5
    rows = []
    for name, kernel in stage.progress(KERNELS, "graphs"):
        started = time.perf_counter()
        score = _accuracy(kernel, graphs, labels, folds)
        rows.append([name, f"{score:.3f}", f"{time.perf_counter() - started:.2f} s"])
    stage.text(f"Support vector machines, {folds} folds, C = 10:")
    stage.table(["kernel, normalised", "accuracy", "time"], rows, right=[1, 2])
    machine = SVC(WeisfeilerLehman(2).normalized(), C=10).fit(list(graphs)[1:], labels[1:])
    reasons = machine.explain(graphs[0])
    stage.figure(
        lambda: graph(graphs[0], reasons).figure,
        f"A graph that the machine has not seen, held for {reasons.prediction!r}; its nodes by what the "
        "rooted subgraphs around them add.",
    )

    k = SubsetTree(0.5)
    shared = k.contributions(*SENTENCES)
    stage.text(f"Trees: `{k!r}` of two sentences is {shared.total:.4g}, a sum over the fragments they share:")
    rows = [[f"`{c.pattern}`", f"{c.weight:.4g}"] for c in list(shared)[:6]]
    stage.table(["fragment", "adds"], rows, right=[1])
    stage.figure(
        lambda: tree(SENTENCES[0], shared).figure, "The first sentence; its nodes by what fragments add."
    )
    _show_paths(stage)
    if not stage.quick:
        structured = structured_rows(data_folder())
        if structured:
            stage.text("Machines on trees, fingerprints and graphs of molecules:")
            found = [[data, kernel, score, f"{seconds:.2f} s"] for data, kernel, score, seconds in structured]
            stage.table(["data", "kernel", "score", "time"], found, right=[2, 3])


def _show_paths(stage: Stage) -> None:
    k = KernelGraph(
        [("s", "a", Gaussian(1.0)), ("a", "a", 0.25 * Gaussian(2.0)), ("a", "t", Linear()), ("s", "t", 0.5)],
        "s",
        "t",
    )
    value = k([1.0, 2.0], [0.0, 1.0])
    stage.text(
        f"A kernel graph sums, over all paths from s to t, the products of the kernels on the edges: here "
        f"{value:.6g}. It has a loop, and its proof says why it is positive definite:"
    )
    stage.proof(k)
    stage.figure(lambda: automaton(k.automaton()).figure, "The kernel graph.")


def load_graphs(quick: bool) -> tuple[str, GraphBatch, np.ndarray]:
    """Molecules of MUTAG, or generated graphs: rings with a tail, and the same nodes without the ring."""
    folder = data_folder() / "MUTAG"
    if not quick and folder.is_dir():
        graphs, y = read_tu(folder)
        return f"{len(graphs)} molecules of MUTAG", graphs, np.where(y > 0, "mutagenic", "harmless")
    rng = np.random.default_rng(0)
    n = 120 if quick else 200
    found = [_generated(rng, ring=i % 2 == 0) for i in range(n)]
    labels = np.where(np.arange(n) % 2 == 0, "ring", "no ring")
    return f"{n} generated graphs with three labels, half of them with a ring", GraphBatch.of(found), labels


def _generated(rng: np.random.Generator, ring: bool) -> Graph:
    """A random tree of labelled nodes that begins as a path of six, which may be closed."""
    n = int(rng.integers(8, 14))
    edges = [(i, i + 1) for i in range(5)] + [(int(rng.integers(0, i)), i) for i in range(6, n)]
    return Graph(n, edges + [(0, 5)] * ring, labels=rng.choice(list("CNO"), n, p=[0.8, 0.1, 0.1]).tolist())


def _accuracy(kernel: Kernel, graphs: Any, labels: np.ndarray, folds: int) -> float:
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    kept = StratifiedKFold(folds, shuffle=True, random_state=0)
    return float(cross_val_score(SVC(kernel, C=10), list(graphs), labels, cv=kept).mean())


CHAPTER = Chapter("Graphs, trees, kernel graphs", _show)
