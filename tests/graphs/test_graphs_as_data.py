"""Graphs go wherever data go: into machines, cross-validation, frames, stores and pickles."""

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split

import mercer
from mercer.domains import Graph, Graphs
from mercer.errors import InputError
from mercer.graphs import as_graphs
from mercer.kernels import Gaussian, VertexHistogram
from mercer.machines import SVC

CALLS: list[int] = []


class SharedLabels(mercer.Kernel):
    """Pairs of nodes, one of each graph, that have the same label."""

    version = "1"
    domain = Graphs()

    def _define(self, x: Graph, y: Graph, m: Any) -> Any:
        there, here = Counter(x.labels), Counter(y.labels)
        CALLS.append(1)
        return m.fsum([float(there[label] * here[label]) for label in there])


K = SharedLabels()


def molecules(n: int = 40) -> tuple[list[nx.Graph], np.ndarray]:
    """Random graphs of two classes that differ in how often each label is there."""
    rng, y = np.random.default_rng(0), np.arange(n) % 2
    graphs = [nx.gnp_random_graph(6, 0.4, seed=i) for i in range(n)]
    for g, c in zip(graphs, y, strict=True):
        nx.set_node_attributes(g, {v: "CO"[int(rng.random() < (0.9 if c else 0.1))] for v in g}, "label")
    return graphs, y


@pytest.mark.parametrize("k", [K, VertexHistogram()], ids=repr)
def test_machines_take_lists_of_graphs_and_batches(k: mercer.Kernel) -> None:
    graphs, y = molecules()
    machine = SVC(k).fit(graphs[:30], y[:30])
    assert machine.score(graphs[30:], y[30:]) == 1.0
    batch = as_graphs(graphs)
    again = SVC(k).fit(batch[:30], y[:30])
    np.testing.assert_array_equal(again.decision_function(batch[30:]), machine.decision_function(graphs[30:]))
    copied = pickle.loads(pickle.dumps(machine))
    np.testing.assert_array_equal(copied.predict(graphs), machine.predict(graphs))


def test_the_graphs_of_a_machine_do_not_change_with_the_callers() -> None:
    graphs, y = molecules()
    probe = as_graphs(graphs[:5])
    machine = SVC(K).fit(graphs, y)
    before = machine.decision_function(probe)
    for g in graphs:
        nx.set_node_attributes(g, "N", "label")
    np.testing.assert_array_equal(machine.decision_function(probe), before)


def test_scikit_learn_splits_lists_and_batches_alike() -> None:
    graphs, y = molecules()
    batch = as_graphs(graphs)
    lists, batches = (cross_val_predict(SVC(K), X, y, cv=4) for X in (graphs, batch))
    np.testing.assert_array_equal(lists, batches)
    assert (lists == y).mean() > 0.9
    assert GridSearchCV(SVC(K), {"C": [0.1, 1.0]}, cv=3).fit(batch, y).best_score_ > 0.9
    train, test = train_test_split(batch, test_size=10, random_state=0)
    assert (len(as_graphs(train)), len(as_graphs(test))) == (30, 10)


def frame(kind: str, columns: dict[str, Any]) -> Any:
    if kind == "pandas":
        return pd.DataFrame({**columns, "g": pd.Series(columns["g"], dtype=object)})
    if kind == "polars":
        return pl.DataFrame({**columns, "g": pl.Series(columns["g"], dtype=pl.Object)})
    return columns


@pytest.mark.parametrize("kind", ["pandas", "polars", "mapping"])
def test_a_column_of_graphs(kind: str) -> None:
    graphs, y = molecules(20)
    numbers = np.linspace(0, 1, 20)
    k = mercer.columns({"g": K.normalized(), "x": Gaussian(1.0)})
    rows = frame(kind, {"g": graphs, "x": numbers.tolist()})
    expected = K.normalized().block(graphs) + Gaussian(1.0).block(numbers[:, None])
    np.testing.assert_allclose(k.block(rows), expected, rtol=1e-14)
    assert SVC(k).fit(rows, y).score(rows, y) > 0.8
    with pytest.raises(InputError, match=r"X\['g'\]\[3\] must be a graph.*Got str"):
        k.block(frame(kind, {"g": [*graphs[:3], "CCO", *graphs[4:]], "x": numbers.tolist()}))


def test_one_column_alone_is_a_sequence_of_graphs() -> None:
    graphs, _ = molecules(6)
    expected = K.block(graphs)
    for column in (pd.Series(graphs, dtype=object), pl.Series(graphs, dtype=pl.Object)):
        np.testing.assert_array_equal(K.block(column), expected)
    array = np.empty(6, dtype=object)
    array[:] = graphs
    np.testing.assert_array_equal(K.block(array), expected)


def test_a_kernel_of_the_library_has_the_same_values() -> None:
    graphs, _ = molecules(12)
    np.testing.assert_array_equal(VertexHistogram().block(graphs), K.block(graphs))


def test_a_store_knows_graphs_by_their_content(tmp_path: Path) -> None:
    graphs, _ = molecules(12)
    first = np.asarray(mercer.gram(K, graphs, store=mercer.GramStore(tmp_path)))
    done = len(CALLS)
    again = np.asarray(mercer.gram(K, as_graphs(graphs)[::-1], store=mercer.GramStore(tmp_path)))
    np.testing.assert_array_equal(again, first[::-1, ::-1])
    assert len(CALLS) == done > 0, "values are read, not computed again"


def test_a_gram_matrix_pickles_its_graphs() -> None:
    graphs, _ = molecules(12)
    gram = mercer.gram(K, graphs)
    values = np.asarray(gram)
    copied = pickle.loads(pickle.dumps(gram))
    np.testing.assert_array_equal(np.asarray(copied), values)
