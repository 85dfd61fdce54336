"""Labels that spread over a network: football teams, books on politics, political blogs.

Three networks with known classes: American college football teams that played each other (the class is the
conference), books on politics that were bought together (liberal, neutral, conservative), and blogs that link
to each other (left, right).  A few nodes of each class are labelled, and the others are to be found from the
edges alone.  Each number is the accuracy on the nodes without a label, the mean of ten random choices of
the labelled ones, the same for all rows.

Nothing is tuned: one setting for each row, the same for the three networks.  The first row guesses the class
that is most frequent.

Run: python examples/node_labels.py [node_labels.png]
"""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _data import find

from mercer.graphs import Adjacency, Graph, components, layout, read_gml
from mercer.kernels import Diffusion, LaplacianKernel, PathKernel, Regularized, VonNeumann
from mercer.machines import SVC, LabelPropagation, LabelSpreading
from mercer.show import canvas
from mercer.show import graph as draw

NETWORKS = ("football", "polbooks", "polblogs")
PER_CLASS = (1, 2, 4, 8)
DRAWS = 10

#: What predicts the classes of all nodes, given some: a machine on the nodes of a graph.
MACHINES: dict[str, Callable[[Adjacency], Any]] = {
    "propagation along edges": lambda g: LabelPropagation(PathKernel(g, 1)),
    "propagation, diffusion t = 1": lambda g: LabelPropagation(Diffusion(g, 1.0, laplacian="normalized")),
    "spreading along edges": lambda g: LabelSpreading(PathKernel(g, 1), alpha=0.9),
    "SVC, diffusion t = 3": lambda g: SVC(Diffusion(g, 3.0, laplacian="normalized").normalized(), C=10.0),
    "SVC, regularised Laplacian": lambda g: SVC(LaplacianKernel(g, Regularized(0.05)).normalized(), C=10.0),
    "SVC, walks (von Neumann)": lambda g: SVC(
        VonNeumann(g, 0.5 / float(g.degrees.max())).normalized(), C=10.0
    ),
}


def load(name: str) -> tuple[Graph, Adjacency, np.ndarray]:
    """The largest component of a network, with names of nodes, and the classes."""
    graph, nodes = read_gml(find(f"nodes/{name}.gml"), label="value")
    _, component = components(graph)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    matrix = Adjacency.of(graph).matrix[kept][:, kept]
    network = Adjacency.of(matrix, names=[nodes["label"][i] for i in kept])
    upper = [(int(i), int(j)) for i, j in zip(*matrix.nonzero(), strict=True) if i <= j]
    return Graph(len(kept), upper), network, np.array([str(nodes["value"][i]) for i in kept])


def labelled(classes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Some nodes of each class, but never more than half of it."""
    chosen = []
    for name in np.unique(classes):
        members = np.flatnonzero(classes == name)
        chosen.append(rng.choice(members, min(count, len(members) // 2), replace=False))
    return np.sort(np.concatenate(chosen))


def predict(machine: Any, names: Any, classes: np.ndarray, known: np.ndarray) -> np.ndarray:
    if isinstance(machine, SVC):
        return machine.fit([names[i] for i in known], classes[known]).predict(names)
    partial = np.full(len(classes), -1, dtype=object)
    partial[known] = classes[known]
    return machine.fit(names, partial).transduction_


def accuracies(network: Adjacency, classes: np.ndarray) -> dict[str, np.ndarray]:
    """Mean accuracy of each machine for each number of labelled nodes."""
    scores = {name: np.zeros((len(PER_CLASS), DRAWS)) for name in ("most frequent class", *MACHINES)}
    machines = {name: make(network) for name, make in MACHINES.items()}
    for row, count in enumerate(PER_CLASS):
        for draw_number in range(DRAWS):
            known = labelled(classes, count, np.random.default_rng(draw_number))
            rest = np.setdiff1d(np.arange(len(classes)), known)
            counts = np.unique(classes[rest], return_counts=True)[1]
            scores["most frequent class"][row, draw_number] = counts.max() / len(rest)
            for name, machine in machines.items():
                found = predict(machine, network.names, classes, known)
                scores[name][row, draw_number] = np.mean(found[rest] == classes[rest])
    return {name: values.mean(axis=1) for name, values in scores.items()}


def show(path: str, books: tuple[Graph, Adjacency, np.ndarray], results: dict[str, Any]) -> None:
    """Accuracy against the number of labels, and the books with what eight labels of each class say."""
    figure, axes = canvas(11.0, 4.6, columns=2)
    for name, values in results["polbooks"].items():
        axes[0].plot(PER_CLASS, values, marker="o", label=name)
    axes[0].set(xscale="log", xticks=PER_CLASS, xticklabels=PER_CLASS, xlabel="labelled books of each class")
    axes[0].set(ylabel="accuracy on the others", title="Books on politics")
    axes[0].minorticks_off()
    axes[0].legend(fontsize=8, frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.3))
    graph, network, classes = books
    known = labelled(classes, 8, np.random.default_rng(0))
    found = predict(MACHINES["SVC, diffusion t = 3"](network), network.names, classes, known)
    words = {"c": "conservative", "l": "liberal", "n": "neutral"}
    draw(graph, ax=axes[1], classes=[words[c] for c in found], places=layout(graph))
    rest = np.setdiff1d(np.arange(len(classes)), known)
    right = np.mean(found[rest] == classes[rest])
    axes[1].set_title(f"classes found from {len(known)} labels: {right:.0%} of the others right")
    figure.savefig(path, dpi=110)
    print(f"wrote {path}")


def main(arguments: list[str]) -> None:
    loaded = {name: load(name) for name in NETWORKS}
    results = {}
    for name, (_, network, classes) in loaded.items():
        print(f"\n{name}: {network.n} nodes, {network.n_edges} edges, {len(set(classes))} classes")
        print(f"{'labelled nodes of each class':32}" + "".join(f"{count:8}" for count in PER_CLASS))
        results[name] = accuracies(network, classes)
        for row, values in results[name].items():
            print(f"{row:32}" + "".join(f"{value:8.3f}" for value in values), flush=True)
    if arguments:
        show(arguments[0], loaded["polbooks"], results)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        main(sys.argv[1:])
