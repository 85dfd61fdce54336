"""Graphs in GML files."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..domains import Graph, Graphs
from ..errors import InputError
from .files import read_text

__all__ = ["read_gml"]

TOKEN = re.compile(
    r"""\s+ | \#[^\n]*                       # white space and comments
    | (?P<string>"[^"]*")
    | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<key>[A-Za-z_]\w*)
    | (?P<open>\[) | (?P<close>\])""",
    re.VERBOSE,
)


class _Entry(NamedTuple):
    """A key, its value, and the line where it stands; the value of a list is the list of its entries."""

    key: str
    value: Any
    line: int


def read_gml(
    path: str | os.PathLike[str],
    *,
    label: str | None = "value",
    edge_label: str | None = "label",
    weight: str | None = "weight",
    attributes: str | None = None,
) -> tuple[Graph, dict[str, list[Any]]]:
    """Read the graph of a GML file, plain or gzipped, and what the file says about its nodes.

    In GML the ``label`` of a node is its *name*; the class of a node often is its ``value``.  So labels of
    nodes are read from ``value``, and names are in the table.  Nodes are numbered in the order of the file.

    Parameters
    ----------
    path : path
    label, edge_label, weight, attributes : str or None
        Keys that hold labels of nodes and edges, weights of edges and vectors of nodes; None reads nothing.
        Under the default keys they may be absent.  Some files have the weights of edges in ``value``.

    Returns
    -------
    graph : Graph
        Directed if the file says ``directed 1``.
    nodes : dict of lists
        What the file says about nodes: a list of n values for each key, such as "id", "label" and "value";
        None where a node has none.

    Raises
    ------
    InputError
        If the file is no GML file of one graph; the message names the line.

    Examples
    --------
    >>> graph, nodes = read_gml("data/polbooks.gml")  # doctest: +SKIP
    >>> nodes["label"][0], nodes["value"][0]  # doctest: +SKIP
    ('1000 Years for Revenge', 'n')
    """
    source = Path(path)
    if not source.is_file():
        raise InputError(f"read_gml: `path` must be a file. There is none at {source}.")
    entries = _parse(read_text(source, "read_gml"), source)
    graphs = [entry for entry in entries if entry.key == "graph"]
    if len(graphs) != 1 or not isinstance(graphs[0].value, list):
        raise InputError(f"read_gml: {source} must hold one graph, `graph [ ... ]`. It holds {len(graphs)}.")
    content = graphs[0].value
    nodes = [_record(entry, source) for entry in content if entry.key == "node"]
    edges = [entry for entry in content if entry.key == "edge"]
    numbers = _numbers([entry for entry in content if entry.key == "node"], nodes, source)
    ends = [_ends(entry, numbers, source) for entry in edges]
    directed = any(entry.key == "directed" and entry.value == 1 for entry in content)
    if label == "value" and not any("value" in node for node in nodes):
        label = None
    reader = Graphs(label, edge_label, weight, attributes)
    try:
        graph = reader.from_records(list(numbers), nodes, ends, [_record(e, source) for e in edges], directed)
    except InputError as error:
        raise InputError(f"read_gml: {source}: {str(error).removeprefix('Graph: ')}") from error
    keys = dict.fromkeys(key for node in nodes for key in node)
    return graph, {key: [node.get(key) for node in nodes] for key in keys}


def _parse(text: str, source: Path) -> list[_Entry]:
    """The entries of a file; lists within lists by a stack."""
    found: list[_Entry] = []
    stack: list[list[_Entry]] = [found]
    key: tuple[str, int] | None = None
    line = 1
    for kind, token, line in _tokens(text, source):
        if kind == "close":
            if key is not None or len(stack) == 1:
                raise _error(source, line, "a `]` that closes nothing." if key is None else _without(key))
            stack.pop()
        elif kind == "key" and key is None:
            key = (token, line)
        elif key is None or kind == "key":
            raise _error(source, line, f"`{token}` must follow a key." if key is None else _without(key))
        else:
            value: Any = []
            if kind == "string":
                value = html.unescape(token[1:-1])
            elif kind == "number":
                value = int(token) if re.fullmatch(r"[+-]?\d+", token) else float(token)
            stack[-1].append(_Entry(key[0], value, key[1]))
            if kind == "open":
                stack.append(value)
            key = None
    if key is not None or len(stack) > 1:
        raise _error(source, line, "the file ends within a list." if key is None else _without(key))
    return found


def _tokens(text: str, source: Path) -> Iterator[tuple[str, str, int]]:
    position, line = 0, 1
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            rest = text[position : position + 20].split("\n")[0]
            raise _error(source, line, f"expected a key, a number, a string or a bracket. Got {rest!r}.")
        if match.lastgroup is not None:
            yield match.lastgroup, match[0], line
        line += match[0].count("\n")
        position = match.end()


def _record(entry: _Entry, source: Path) -> dict[str, Any]:
    """The attributes of a node or an edge; numbers under a key that is repeated are a vector."""
    if not isinstance(entry.value, list):
        raise _error(source, entry.line, f"`{entry.key}` must be a list in brackets.")
    record: dict[str, Any] = {}
    for key, value, _ in entry.value:
        if isinstance(value, list):  # such as graphics
            continue
        known = record.get(key)
        record[key] = value if known is None else (*(known if type(known) is tuple else (known,)), value)
    return record


def _numbers(entries: list[_Entry], nodes: list[dict[str, Any]], source: Path) -> dict[Any, int]:
    numbers: dict[Any, int] = {}
    for entry, node in zip(entries, nodes, strict=True):
        if "id" not in node or node["id"] in numbers:
            what = f"the id {node['id']} is taken." if "id" in node else "a node must have an `id`."
            raise _error(source, entry.line, what)
        numbers[node["id"]] = len(numbers)
    return numbers


def _ends(entry: _Entry, numbers: dict[Any, int], source: Path) -> tuple[int, int]:
    found = {key: value for key, value, _ in entry.value} if isinstance(entry.value, list) else {}
    for key in ("source", "target"):
        if key not in found or found[key] not in numbers:
            what = f"no node has the id {found[key]}" if key in found else "it is missing"
            raise _error(source, entry.line, f"the `{key}` of an edge must be the id of a node; {what}.")
    return numbers[found["source"]], numbers[found["target"]]


def _without(key: tuple[str, int]) -> str:
    return f"the key `{key[0]}` of line {key[1]} has no value."


def _error(source: Path, line: int, message: str) -> InputError:
    return InputError(f"read_gml: {source}, line {line}: {message}")
