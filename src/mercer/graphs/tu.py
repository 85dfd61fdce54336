"""Folders of the TU collection: many graphs with labels, as text files of numbers."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np

from ..domains import GraphBatch, Vocabulary
from ..domains.base import starts_of
from ..errors import InputError
from .files import read_text

__all__ = ["read_tu"]


def read_tu(
    folder: str | os.PathLike[str], name: str | None = None, *, directed: bool = False
) -> tuple[GraphBatch, np.ndarray]:
    """Read a data set of the TU collection, its files plain or gzipped.

    ==========================  ==========================================================================
    ``NAME_A``                  an arc ``source, target`` in each line; nodes count from 1 over all graphs
    ``NAME_graph_indicator``    the graph of each node, from 1
    ``NAME_graph_labels``       the class of each graph; ``NAME_graph_attributes`` if there are no classes
    ``NAME_node_labels``        optional: label of each node, a tuple if there are several columns
    ``NAME_edge_labels``        optional: label of each arc
    ``NAME_node_attributes``    optional: vector of each node
    ==========================  ==========================================================================

    The names end in ``.txt`` or ``.txt.gz``.  An undirected edge is there twice, once in each direction, and
    is one edge.  Other files, such as ``NAME_edge_attributes``, are not read.

    Parameters
    ----------
    folder : path
    name : str, optional
        The name of the data set in the names of its files; by default the one that has files there.
    directed : bool, default=False
        Whether an arc may be without its reverse; otherwise that is an error.

    Returns
    -------
    graphs : GraphBatch
    y : array
        Classes of the graphs, or numbers to predict.

    Raises
    ------
    InputError
        If a file is missing or wrong; the message names the file and the line.

    Examples
    --------
    >>> graphs, y = read_tu("data/MUTAG")  # doctest: +SKIP
    >>> graphs  # doctest: +SKIP
    <GraphBatch of 188 graphs with 3371 nodes and 7442 arcs, node labels 0 1 2 3 4 ..., edge labels 0 1 2 3>
    """
    files = _Files(Path(folder), name)
    y = files.targets()
    graph_of = files.graph_of(len(y))
    starts = starts_of(np.bincount(graph_of, minlength=len(y)))
    arcs = files.arcs(graph_of)
    order = np.lexsort((arcs[:, 1], arcs[:, 0]))
    sources, targets = arcs[order].T
    node_codes, node_labels = files.labels("node_labels", len(graph_of))
    arc_codes, edge_labels = files.labels("edge_labels", len(arcs))
    if not directed:
        files.check_reverses(arcs, arc_codes)
    graphs = GraphBatch(
        starts,
        starts_of(np.bincount(sources, minlength=len(graph_of))),
        (targets - starts[graph_of[targets]]).astype(np.int32),
        node_codes,
        arc_codes[order],
        np.ones(len(arcs)),
        files.table("node_attributes", np.float64, rows=len(graph_of)),
        node_labels,
        edge_labels,
    )
    return graphs, y


class _Files:
    """The files of one data set, as tables of numbers."""

    def __init__(self, folder: Path, name: str | None) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise InputError(f"read_tu: `folder` must be a folder. There is none at {folder}.")
        indicator = "_graph_indicator.txt"
        found = sorted({path.name.split(indicator)[0] for path in folder.glob(f"*{indicator}*")})
        if name is None and len(found) != 1:
            what = f"those of {', '.join(found)}: pass `name`" if found else f"no file NAME{indicator}"
            raise InputError(f"read_tu: {folder} must have the files of one data set. It has {what}.")
        self.name = found[0] if name is None else name

    def path(self, part: str) -> Path | None:
        plain = self.folder / f"{self.name}_{part}.txt"
        return next((p for p in (plain, plain.with_name(f"{plain.name}.gz")) if p.exists()), None)

    def error(self, part: str, line: int, message: str) -> InputError:
        return InputError(f"read_tu: {self.path(part)}, line {line}: {message}")

    def table(self, part: str, dtype: type, rows: int | None = None) -> np.ndarray | None:
        """The numbers of a file, shape (lines, columns); None if there is no such file."""
        path = self.path(part)
        if path is None:
            return None
        text = read_text(path, "read_tu").rstrip()
        numbers: np.ndarray = np.zeros((0, 2 if part == "A" else 1), dtype)
        try:
            if text:
                numbers = np.loadtxt(io.StringIO(text), dtype, comments=None, delimiter=",", ndmin=2)
        except ValueError as error:
            raise self.error(part, *_wrong_line(text, dtype)) from error
        if rows is not None and len(numbers) != rows:
            raise InputError(f"read_tu: {path} must have {rows} lines. It has {len(numbers)}.")
        if dtype is np.float64 and not np.isfinite(numbers).all():
            line = int(np.flatnonzero(~np.isfinite(numbers).all(axis=1))[0]) + 1
            raise self.error(part, line, "all numbers must be finite.")
        return numbers

    def required(self, part: str, dtype: type) -> np.ndarray:
        numbers = self.table(part, dtype)
        if numbers is None:
            raise InputError(f"read_tu: {self.folder} must have the file {self.name}_{part}.txt, or .txt.gz.")
        return numbers

    def targets(self) -> np.ndarray:
        """Classes of the graphs, or numbers to predict."""
        y = self.table("graph_attributes", np.float64) if self.path("graph_labels") is None else None
        y = self.required("graph_labels", np.float64) if y is None else y
        y = y[:, 0] if y.shape[1] == 1 else y
        return y.astype(np.int64) if (y == np.rint(y)).all() else y

    def graph_of(self, graphs: int) -> np.ndarray:
        """The graph of each node, from 0."""
        numbers = self.required("graph_indicator", np.int64)[:, 0]
        if (wrong := np.flatnonzero((numbers < 1) | (numbers > graphs))).size:
            got = numbers[wrong[0]]
            raise self.error(
                "graph_indicator", int(wrong[0]) + 1, f"the graphs are 1 to {graphs}. Got {got}."
            )
        if (falls := np.flatnonzero(np.diff(numbers) < 0)).size:
            raise self.error("graph_indicator", int(falls[0]) + 2, "the numbers must not decrease.")
        return np.asarray(numbers - 1)

    def arcs(self, graph_of: np.ndarray) -> np.ndarray:
        """Source and target of each arc, from 0 over all graphs."""
        arcs = self.required("A", np.int64)
        if arcs.shape[1] != 2:
            raise self.error("A", 1, f"must be a pair `source, target`. Got {arcs.shape[1]} numbers.")
        n = len(graph_of)
        if (wrong := np.flatnonzero(((arcs < 1) | (arcs > n)).any(axis=1))).size:
            got = tuple(arcs[wrong[0]].tolist())
            raise self.error("A", int(wrong[0]) + 1, f"the nodes are 1 to {n}. Got {got}.")
        arcs = arcs - 1
        if (apart := np.flatnonzero(np.diff(graph_of[arcs], axis=1)[:, 0])).size:
            raise self.error("A", int(apart[0]) + 1, "the two nodes are of different graphs.")
        return np.asarray(arcs)

    def labels(self, part: str, count: int) -> tuple[np.ndarray, Vocabulary]:
        """Numbers of labels, and the labels: integers, or tuples of them; None without the file."""
        table = self.table(part, np.int64, rows=count)
        if table is None:
            return np.zeros(count, dtype=np.int32), Vocabulary([None])
        distinct, codes = np.unique(table, axis=0, return_inverse=True)
        single = table.shape[1] == 1
        names = distinct[:, 0].tolist() if single else [tuple(row) for row in distinct.tolist()]
        return codes.reshape(-1).astype(np.int32), Vocabulary(names)

    def check_reverses(self, arcs: np.ndarray, codes: np.ndarray) -> None:
        """Raise if an arc has no reverse of the same label."""
        forth = np.lexsort((codes, arcs[:, 1], arcs[:, 0]))
        back = np.lexsort((codes, arcs[:, 0], arcs[:, 1]))
        rows = np.column_stack([arcs, codes])
        given, reversed_ = rows[forth], rows[back][:, [1, 0, 2]]
        if (differ := np.flatnonzero((given != reversed_).any(axis=1))).size:
            i = int(differ[0])  # the smaller of the two is missing among the others
            line = int((forth if given[i].tolist() < reversed_[i].tolist() else back)[i]) + 1
            raise self.error(
                "A",
                line,
                f"the arc {tuple((arcs[line - 1] + 1).tolist())} has no reverse of the same label. Pass "
                "directed=True if the graphs are directed.",
            )


def _wrong_line(text: str, dtype: type) -> tuple[int, str]:
    """The first line that is not as many numbers as the first one, and what is wrong with it."""
    lines = text.split("\n")
    columns = lines[0].count(",")
    for number, line in enumerate(lines, 1):
        try:
            np.array([part.strip() for part in line.split(",")], dtype=str).astype(dtype)
        except ValueError:
            kind = "integers" if dtype is np.int64 else "numbers"
            return number, f"must be {kind}, with commas between them. Got {line[:40]!r}."
        if line.count(",") != columns:
            return number, f"must have {columns + 1} numbers, as line 1 has. Got {line[:40]!r}."
    raise AssertionError("every line is as it should be")
