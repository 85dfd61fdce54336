"""Files of examples in the format of KeLP."""

from __future__ import annotations

import os
import re
from typing import IO, Any, NamedTuple

from ..domains import Tree
from ..errors import InputError
from ..textfiles import read_lines

__all__ = ["KelpExamples", "read_kelp"]


class KelpExamples(NamedTuple):
    """The examples of a file, one item per line in every list.

    Attributes
    ----------
    labels : list of str
        What stands before the representations.
    trees : dict from str to list of Tree
        By the names of the representations.
    texts : dict from str to list of str
        The same for text.
    """

    labels: list[str]
    trees: dict[str, list[Tree]]
    texts: dict[str, list[str]]


def read_kelp(source: str | os.PathLike[str] | IO[Any]) -> KelpExamples:
    r"""Read labels, trees and texts of a file in the format of KeLP, plain or gzipped.

    A line is an example: its label, then representations such as ``|BT:name| (S(NP(John))) |ET|`` for a tree
    and ``|BS:name| John |ES|`` for text.  Representations of other kinds (vectors) are not read.  Empty lines
    are left out.

    Parameters
    ----------
    source : path or file
        Opened for text or for bytes; a file is read from where it stands and stays open.

    Raises
    ------
    InputError
        If a tree is malformed, or a line has other trees or texts than the first; the message names the line.

    Examples
    --------
    >>> import io
    >>> found = read_kelp(io.StringIO("HUM |BS:text| Who slept ? |ES| |BT:tree| (S(who)(slept)) |ET|\n"))
    >>> found.labels, found.texts, found.trees
    (['HUM'], {'text': ['Who slept ?']}, {'tree': [Tree('(S who slept)')]})
    """
    lines, name = read_lines(source, "read_kelp")
    found = KelpExamples([], {}, {})
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"read_kelp: {name}, line {number}"
        label, bar, content = line.partition("|")
        first, seen = not found.labels, set()
        read: dict[str, dict[str, list[Any]]] = {"T": found.trees, "S": found.texts}
        # ``|BT:name| content |ET|``: a representation with its kind, its name and its content.
        for kind, key, text in re.findall(r"\|B([A-Z]+):([^|]*)\|(.*?)\|E\1\|", bar + content):
            if kind not in read:
                continue
            lists = read[kind]
            if (kind, key) in seen or not (first or key in lists):
                what = "twice" if (kind, key) in seen else "here, and not in the first line"
                raise InputError(f"{where}: the representation {key!r} is {what}.")
            seen.add((kind, key))
            try:
                lists.setdefault(key, []).append(Tree(text) if kind == "T" else text.strip())
            except InputError as error:
                message = str(error).removeprefix("Tree: `form`").lstrip(": ")
                raise InputError(f"{where}, tree {key!r}: {message}") from error
        expected = {("T", key) for key in found.trees} | {("S", key) for key in found.texts}
        if missing := sorted(key for _, key in expected - seen):
            raise InputError(f"{where}: there is no representation {missing[0]!r}, which the first line has.")
        if not seen:
            raise InputError(
                f"{where}: there is no tree '|BT:name| ... |ET|' and no text '|BS:name| ... |ES|'."
            )
        found.labels.append(label.strip())
    return found
