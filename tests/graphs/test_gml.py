"""GML files: names, classes, and errors that name the line."""

import gzip
from pathlib import Path

import networkx as nx
import pytest

from mercer.domains import Graph, Nodes
from mercer.errors import InputError
from mercer.graphs import as_graph, read_gml, to_networkx

TEXT = """Creator "someone"
# a comment
graph
[
  directed 0
  node [ id 7 label "Ann &amp; Co" value "c" graphics [ x 1.5 y -2e3 ] ]
  node [ id 3 label "Bob" value "n" ]
  node [ id 5 label "" value "c" ]
  edge [ source 7 target 3 weight 2.5 ]
  edge [ source 3 target 5 weight 1 ]
]
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "net.gml"
    path.write_text(text, encoding="utf-8")
    return path


def test_names_and_classes(tmp_path: Path) -> None:
    graph, nodes = read_gml(write(tmp_path, TEXT))
    assert graph == Graph(3, [(0, 1), (1, 2)], labels="cnc", weights=[2.5, 1.0])
    assert nodes == {"id": [7, 3, 5], "label": ["Ann & Co", "Bob", ""], "value": ["c", "n", "c"]}
    assert len(Nodes(graph).validate(range(3))) == 3


def test_zipped_and_other_keys(tmp_path: Path) -> None:
    path = tmp_path / "net.gml.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    graph, _ = read_gml(path, label="label", weight=None)
    assert graph == Graph(3, [(0, 1), (1, 2)], labels=["Ann & Co", "Bob", ""])
    with pytest.raises(InputError, match=r"net.gml.gz: no node has the attribute 'colour' \(`label`\)"):
        read_gml(path, label="colour")


def test_directed_graphs_without_classes_and_with_vectors(tmp_path: Path) -> None:
    text = "graph [ directed 1 node [ id 0 at 1 at 2.5 ] node [ id 1 at 3 at 4 ] edge [ source 1 target 0 ] ]"
    graph, nodes = read_gml(write(tmp_path, text), attributes="at")
    assert graph == Graph(2, [(1, 0)], attributes=[[1, 2.5], [3, 4]], directed=True)
    assert nodes["at"] == [(1, 2.5), (3, 4)]


def test_parallel_edges_and_loops(tmp_path: Path) -> None:
    text = "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] edge [ source 1 target 0 ] "
    graph, _ = read_gml(write(tmp_path, text + "edge [ source 1 target 1 ] ]"))
    assert graph == Graph(2, [(0, 1), (1, 0), (1, 1)])


def test_as_networkx_reads_it(tmp_path: Path) -> None:
    g = nx.les_miserables_graph()
    path = tmp_path / "miserables.gml"
    nx.write_gml(g, path)
    graph, nodes = read_gml(path)
    assert graph == as_graph(g)
    assert nodes["label"] == list(g)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "source 7",
            "source 8",
            "line 9: the `source` of an edge must be the id of a node; no node has the id 8",
        ),
        ("target 5", "", "line 10: the `target` of an edge .*; it is missing"),
        ("id 3", "id 7", "line 7: the id 7 is taken"),
        ("id 5", "", "line 8: a node must have an `id`"),
        ('"Bob"', "", "line 7: the key `label` of line 7 has no value"),
        ('"Bob"', "%", "line 7: expected a key, a number, a string or a bracket. Got '% value"),
        ("weight 1 ", "1 ", "line 10: `1` must follow a key"),
        ("weight 1 ]\n]", "weight 1 ]", "line 10: the file ends within a list"),
        ("weight 1 ]\n]", "weight 1 ] ] ]", "line 10: a `]` that closes nothing"),
        ("edge [ source 3 target 5 weight 1 ]", "edge 4", "line 10: the `source` of an edge"),
        ("node [ id 5", "node 5 more [ id 5", "line 8: `node` must be a list"),
        ("graph\n", "net\n", "must hold one graph, .* It holds 0"),
        ("weight 1 ", 'weight "heavy" ', "`weights` must be numbers"),
        (' value "n"', "", "node 3 has no attribute 'value'"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = TEXT.replace(old, new)
    assert text != TEXT
    with pytest.raises(InputError, match=rf"^read_gml: .*net.gml.*{message}"):
        read_gml(write(tmp_path, text))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`path` must be a file"):
        read_gml(tmp_path / "nothing.gml")


@pytest.mark.parametrize(
    "graph",
    [
        Graph(0),
        Graph(3, [(0, 1), (1, 2), (2, 2)], labels="abc", edge_labels="xyz", weights=[1, 2, 3]),
        Graph(3, [(0, 1), (1, 2)], directed=True, attributes=[[1.0], [2.0], [3.0]]),
        Graph(2, [(0, 1), (0, 1)], edge_labels=["one", "two"]),
        Graph(2, [(0, 1), (0, 1)], directed=True),
    ],
)
def test_networkx_and_back(graph: Graph) -> None:
    assert as_graph(to_networkx(graph)) == graph


def test_networkx_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(ImportError, match=r"pip install mercer\[graphs\]"):
        to_networkx(Graph(1))
