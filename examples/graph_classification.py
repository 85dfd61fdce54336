"""Which molecules are mutagenic, which proteins are which enzymes?  Kernels between graphs compared.

Four data sets of the TU collection, in ten stratified folds.  C and the parameter of a kernel are chosen by
three folds within the training folds, never by the test fold.  The first rows are what a kernel must beat:
the most frequent class, and the counts of the labels of nodes, which know nothing about edges.  Accuracies
are means over the ten test folds with their standard deviation; differences of less than one standard
deviation say little.

The kernels here learn nothing from data, so each Gram matrix is computed once.

Then one molecule is explained by a machine that has not seen it: the rooted subgraphs that spoke, and the
atoms where they stand.

Run: python examples/graph_classification.py [--sets MUTAG,PTC_MR,ENZYMES,NCI1] [--picture graphs.png]
"""

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from _data import find
from sklearn.model_selection import StratifiedKFold

from mercer import Kernel
from mercer.graphs import GraphBatch, read_tu
from mercer.kernels import (
    Precomputed,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from mercer.machines import SVC
from mercer.show import canvas, graph, plot_contributions

FOLDS, INNER_FOLDS, SEED = 10, 3, 0
#: Penalties to choose from; of more than a thousand graphs from the three in the middle, to save time.
PENALTIES, MANY = 10.0 ** np.arange(-1, 4), 1000

#: The kernels of each row, by the parameter that is chosen.  Normalised, only proportions speak; with
#: Gaussians of counts, sizes do too.
ROWS: dict[str, dict[str, Kernel]] = {
    "labels of nodes": {"": VertexHistogram().normalized()},
    "labels of nodes, Gaussian": {str(s): VertexHistogram().gaussian(s) for s in (2.0, 5.0, 10.0, 20.0)},
    "shortest paths": {"": ShortestPath().normalized()},
    "Weisfeiler-Lehman": {str(h): WeisfeilerLehman(h).normalized() for h in range(1, 6)},
    "WL optimal assignment": {str(h): WLOptimalAssignment(h).normalized() for h in range(1, 6)},
}

ATOMS = dict(enumerate(["C", "N", "O", "F", "I", "Cl", "Br"]))
BONDS = dict(enumerate(":-=#"))  # aromatic, single, double, triple


def load(name: str) -> tuple[GraphBatch, np.ndarray]:
    files = ("graph_indicator.txt", "graph_indicator.txt.gz")
    return read_tu(find(*(f"{name}/{name}_{file}" for file in files)).parent)


def folds(y: np.ndarray, n: int) -> StratifiedKFold:
    return StratifiedKFold(n, shuffle=True, random_state=SEED).split(y, y)


def accuracies(
    K: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray, penalties: Any
) -> np.ndarray:
    """Accuracy on the test fold with each penalty."""
    inner, cross = K[np.ix_(train, train)], K[np.ix_(test, train)]
    machines = (SVC(Precomputed().assume("PSD", reason="the kernels are certified"), C=C) for C in penalties)
    return np.array([np.mean(m.fit(inner, y[train]).predict(cross) == y[test]) for m in machines])


def chosen(grams: Sequence[np.ndarray], y: np.ndarray, train: np.ndarray) -> tuple[int, float]:
    """The kernel and the penalty that do best within the training folds; of equals the first."""
    inner = list(folds(y[train], INNER_FOLDS))
    penalties = PENALTIES if len(y) <= MANY else PENALTIES[1:-1]
    scores = [sum(accuracies(K, y, train[a], train[b], penalties) for a, b in inner) for K in grams]
    kernel, penalty = np.unravel_index(int(np.argmax(scores)), (len(grams), len(penalties)))
    return int(kernel), float(penalties[penalty])


def nested(grams: Sequence[np.ndarray], y: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Accuracy in each fold, and the number of the kernel that was taken there."""
    scores, taken = [], []
    for train, test in folds(y, FOLDS):
        i, C = chosen(grams, y, train)
        scores.append(accuracies(grams[i], y, train, test, [C])[0])
        taken.append(i)
    return np.array(scores), taken


def compare(name: str) -> None:
    graphs, y = load(name)
    classes, counts = np.unique(y, return_counts=True)
    print(f"\n{name}: {graphs}, {len(classes)} classes")
    print(f"  {'most frequent class':26}{100 * counts.max() / len(y):5.1f}")
    for row, kernels in ROWS.items():
        start = time.perf_counter()
        grams = [k.block(graphs) for k in kernels.values()]
        seconds = time.perf_counter() - start
        scores, taken = nested(grams, y)
        which = f", chosen {' '.join(list(kernels)[i] for i in taken)}" if len(kernels) > 1 else ""
        print(
            f"  {row:26}{100 * scores.mean():5.1f} ± {100 * scores.std():4.1f}   "
            f"Gram matrices in {seconds:.2f} s{which}",
            flush=True,
        )


def explain(path: str | None) -> None:
    """Why one molecule of MUTAG is held for mutagenic, by a machine that has not seen it."""
    graphs, y = load("MUTAG")
    graphs = graphs.relabel(nodes=ATOMS, edges=BONDS)
    names = np.where(y == 1, "mutagenic", "harmless")
    others = np.arange(1, len(graphs))
    machine = SVC(WeisfeilerLehman(2).normalized(), C=10.0).fit(graphs[others], names[others])
    reasons = machine.explain(graphs[0])
    print(
        f"\nThe first molecule of MUTAG is {names[0]}.  A machine that has not seen it says:\n{reasons[:12]}"
    )
    if path is not None:
        figure, (left, right) = canvas(9.5, 3.6, columns=2)
        graph(graphs[0], reasons, left)
        plot_contributions(reasons, 10, right)
        figure.savefig(path, dpi=130, facecolor="white")
        print(f"\n{path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default="MUTAG,PTC_MR,ENZYMES,NCI1")
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    for name in arguments.sets.split(","):
        compare(name)
    explain(arguments.picture)


if __name__ == "__main__":
    main()
