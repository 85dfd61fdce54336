"""Folders of the TU collection: the graphs they mean, and errors that name file and line."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from mercer.domains import Graph
from mercer.errors import InputError
from mercer.graphs import read_tu

#: Two labelled paths with an empty graph between them; the arcs are in no order.
FILES = {
    "A": "2, 1\n1, 2\n5,4\n3, 2\n2, 3\n4, 5\n",
    "graph_indicator": "1\n1\n1\n3\n3\n",
    "graph_labels": "1\n-1\n1\n",
    "node_labels": "6\n6\n8\n7\n6\n",
    "edge_labels": "0\n0\n2\n1\n1\n2\n",
}
EXPECTED = [
    Graph(3, [(0, 1), (1, 2)], labels=[6, 6, 8], edge_labels=[0, 1]),
    Graph(0),
    Graph(2, [(0, 1)], labels=[7, 6], edge_labels=[2]),
]


def write(folder: Path, name: str = "SET", zipped: bool = False, **changes: str | None) -> Path:
    for part, text in {**FILES, **changes}.items():
        if text is not None and zipped:
            (folder / f"{name}_{part}.txt.gz").write_bytes(gzip.compress(text.encode()))
        elif text is not None:
            (folder / f"{name}_{part}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("zipped", [False, True])
def test_each_undirected_edge_is_one_edge(tmp_path: Path, zipped: bool) -> None:
    graphs, y = read_tu(write(tmp_path, zipped=zipped))
    assert list(graphs) == EXPECTED
    assert y.tolist() == [1, -1, 1]
    assert y.dtype == np.int64


def test_without_labels(tmp_path: Path) -> None:
    graphs, _ = read_tu(write(tmp_path, node_labels=None, edge_labels=None))
    assert list(graphs) == [Graph(3, [(0, 1), (1, 2)]), Graph(0), Graph(2, [(0, 1)])]


def test_vectors_and_several_columns_of_labels(tmp_path: Path) -> None:
    vectors = " 1.5, 2\n3, 4e-1\n5,6\n7,8\n9,10\n"
    graphs, _ = read_tu(write(tmp_path, node_attributes=vectors, node_labels="1,2\n1,2\n3,4\n3,4\n1,2"))
    assert graphs[0].labels == ((1, 2), (1, 2), (3, 4))
    assert graphs[2].attributes.tolist() == [[7, 8], [9, 10]]


def test_numbers_to_predict(tmp_path: Path) -> None:
    _, y = read_tu(write(tmp_path, graph_labels=None, graph_attributes="0.5\n1.5\n2\n"))
    assert y.tolist() == [0.5, 1.5, 2.0]


def test_the_name_is_that_of_the_files(tmp_path: Path) -> None:
    write(tmp_path, "ONE")
    assert len(read_tu(tmp_path)[0]) == 3
    write(tmp_path, "TWO", graph_labels="5\n6\n7\n")
    assert read_tu(str(tmp_path), "TWO")[1].tolist() == [5, 6, 7]
    with pytest.raises(InputError, match="those of ONE, TWO: pass `name`"):
        read_tu(tmp_path)


def test_directed_graphs_and_parallel_arcs(tmp_path: Path) -> None:
    write(tmp_path, A="1, 2\n1, 2\n2, 3\n", edge_labels=None)
    graphs, _ = read_tu(tmp_path, directed=True)
    assert graphs[0] == Graph(3, [(0, 1), (0, 1), (1, 2)], labels=[6, 6, 8], directed=True)
    with pytest.raises(
        InputError, match=r"SET_A.txt, line 1: the arc \(1, 2\) has no reverse.*directed=True"
    ):
        read_tu(tmp_path)


def test_no_graphs_and_no_edges(tmp_path: Path) -> None:
    empty = dict.fromkeys(FILES, "")
    assert len(read_tu(write(tmp_path, **empty))[0]) == 0
    graphs, _ = read_tu(write(tmp_path, A="", edge_labels=""))
    assert graphs[0] == Graph(3, labels=[6, 6, 8])


@pytest.mark.parametrize(
    ("part", "text", "message"),
    [
        ("A", "1, 2\n2, x\n", r"SET_A.txt, line 2: must be integers.*Got '2, x'"),
        ("A", "1, 2\n2\n", "SET_A.txt, line 2: must have 2 numbers"),
        ("A", "1\n2\n", "SET_A.txt, line 1: must be a pair"),
        ("A", "1, 2\n2, 9\n", r"SET_A.txt, line 2: the nodes are 1 to 5. Got \(2, 9\)"),
        ("A", "1, 2\n2, 1\n3, 4\n", "SET_A.txt, line 3: the two nodes are of different graphs"),
        ("A", "2, 1\n1, 2\n3, 2\n", r"SET_edge_labels.txt must have 3 lines. It has 6"),
        (
            "edge_labels",
            "0\n0\n2\n3\n1\n2\n",
            "SET_A.txt, line [45]: the arc .* no reverse of the same label",
        ),
        ("node_labels", "1\n2\n", "SET_node_labels.txt must have 5 lines. It has 2"),
        (
            "node_attributes",
            "1\n2\nnan\n4\n5\n",
            "SET_node_attributes.txt, line 3: all numbers must be finite",
        ),
        (
            "graph_indicator",
            "1\n1\n1\n4\n3\n",
            "SET_graph_indicator.txt, line 4: the graphs are 1 to 3. Got 4",
        ),
        (
            "graph_indicator",
            "1\n1\n2\n1\n3\n",
            "SET_graph_indicator.txt, line 4: the numbers must not decrease",
        ),
        ("graph_labels", None, "must have the file SET_graph_labels.txt, or .txt.gz"),
        ("A", None, "must have the file SET_A.txt"),
        ("graph_indicator", None, "no file NAME_graph_indicator.txt"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, part: str, text: str | None, message: str) -> None:
    with pytest.raises(InputError, match=rf"^read_tu: .*{message}"):
        read_tu(write(tmp_path, **{part: text}))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`folder` must be a folder"):
        read_tu(tmp_path / "nowhere")
    write(tmp_path)
    (tmp_path / "SET_A.txt").write_bytes(b"\x1f\x8bno gzip")
    with pytest.raises(InputError, match=r"SET_A.txt is gzipped but damaged"):
        read_tu(tmp_path)
    (tmp_path / "SET_A.txt").write_bytes(b"1, 2\n\xff")
    with pytest.raises(InputError, match=r"SET_A.txt, line 2: not UTF-8 text"):
        read_tu(tmp_path)
