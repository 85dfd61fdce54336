"""One ordered tree with labels, in the forms that it may come in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from .containers import plain
from .sequences import check_symbols

__all__ = ["Tree", "children_of", "read_tree"]

#: Brackets and labels of a bracket string.
TOKEN = re.compile(r"[()]|[^\s()]+")

FORMS = "a bracket string such as '(S (NP John))', nested tuples such as ('S', ('NP', 'John')), or a Tree"


class Tree:
    """One ordered tree with labels, an immutable value.

    Nodes are numbered in pre-order: a node comes before its children, from left to right, and the subtree
    below a node is a stretch of numbers.

    Parameters
    ----------
    form : str, tuple, list or object
        A bracket string: every node is ``(label child child ...)``, and a leaf may be its label alone, as in
        ``"(S (NP John) (VP sleeps))"``; ``"(S(NP(John))(VP(sleeps)))"`` is the same tree.  Labels hold no
        white space and no brackets.  Or nested tuples or lists ``(label, child, ...)``, where whatever is no
        tuple or list is the label of a leaf.  Or an object with a method ``label()`` that iterates over its
        children, such as a tree of nltk.

    Attributes
    ----------
    labels : tuple
        Labels of the nodes.
    arities : int32 array
        Numbers of children of the nodes.

    Examples
    --------
    >>> t = Tree(("S", ("NP", "John"), ("VP", "sleeps")))
    >>> t
    Tree('(S (NP John) (VP sleeps))')
    >>> t == Tree("(S(NP(John))(VP(sleeps)))")
    True
    >>> t.labels, t.arities.tolist()
    (('S', 'NP', 'John', 'VP', 'sleeps'), [2, 1, 0, 1, 0])
    """

    __slots__ = ("arities", "labels")

    labels: tuple[Any, ...]
    arities: np.ndarray

    def __init__(self, form: Any) -> None:
        self._set(*read_tree(form, "Tree: `form`"))

    def _set(self, labels: Sequence[Any], arities: Any) -> None:
        object.__setattr__(self, "labels", tuple(labels))
        numbers = np.array(arities, dtype=np.int32)
        numbers.flags.writeable = False
        object.__setattr__(self, "arities", numbers)

    @classmethod
    def _of(cls, labels: Sequence[Any], arities: Any) -> Tree:
        """A tree of labels and numbers of children that are known to be right."""
        tree = cls.__new__(cls)
        tree._set(labels, arities)
        return tree

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Tree never changes: `{name}` cannot be set.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Tree._of, (self.labels, self.arities)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.arities, other.arities)

    def __hash__(self) -> int:
        return hash((self.labels, self.arities.tobytes()))

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @property
    def children(self) -> list[list[int]]:
        """The children of each node."""
        return children_of(self.arities)

    @property
    def sizes(self) -> np.ndarray:
        """Number of nodes of the subtree below each node: node v has the nodes ``v:v + sizes[v]``."""
        sizes = [1] * len(self)
        for v, found in reversed(list(enumerate(self.children))):
            sizes[v] += sum(sizes[c] for c in found)
        return np.array(sizes)

    def subtree(self, v: int) -> Tree:
        """The tree of node v and all nodes below it."""
        v = range(len(self))[v]
        end = v + int(self.sizes[v])
        return Tree._of(self.labels[v:end], self.arities[v:end])

    def __str__(self) -> str:
        """Return the bracket string."""
        return _written(self, str, "({}".format, " ") if len(self) > 1 else f"({self.labels[0]})"

    def __repr__(self) -> str:
        if all(isinstance(x, str) and TOKEN.fullmatch(x) and x not in ("(", ")") for x in self.labels):
            return f"Tree({str(self)!r})"
        return f"Tree({_written(self, '({!r},)'.format, '({!r}'.format, ', ')})"


def _written(tree: Tree, leaf: Callable[[Any], str], node: Callable[[Any], str], separator: str) -> str:
    """Write a tree with brackets; ``node`` opens one, which is closed after the last child."""
    parts: list[str] = []
    remaining: list[int] = []  # children still to come of the open nodes
    for label, arity in zip(tree.labels, tree.arities.tolist(), strict=True):
        parts.append((separator if parts else "") + (node if arity else leaf)(label))
        if arity:
            remaining.append(arity)
            continue
        while remaining:
            remaining[-1] -= 1
            if remaining[-1]:
                break
            remaining.pop()
            parts.append(")")
    return "".join(parts)


def children_of(arities: np.ndarray) -> list[list[int]]:
    """The children of each node of one or more trees, by numbers of children in pre-order."""
    counts = arities.tolist()
    children: list[list[int]] = [[]] * len(counts)
    waiting: list[int] = []  # roots of the subtrees to the right, the leftmost last
    for v in reversed(range(len(counts))):
        if counts[v]:
            children[v] = waiting[: -counts[v] - 1 : -1]
            del waiting[-counts[v] :]
        waiting.append(v)
    return children


def read_tree(form: Any, name: str) -> tuple[Sequence[Any], Any]:
    """Labels and numbers of children in pre-order."""
    if isinstance(form, Tree):
        return form.labels, form.arities
    form = plain(form, name)
    if isinstance(form, str):
        return _parse(form, name)
    if _node(form, name) is None:
        raise InputError(f"{name} must be a tree: {FORMS}. Got {type(form).__name__}.")
    labels, arities = _walk(form, name)
    labels = [x.item() if isinstance(x, np.generic) else x for x in labels]
    check_symbols(labels, f"{name}: label", "label")
    return labels, arities


def _node(form: Any, name: str) -> tuple[Any, Iterable[Any]] | None:
    """Label and children of a node; None for the label of a leaf."""
    label = getattr(form, "label", None)
    if callable(label) and isinstance(form, Iterable):
        return label(), form
    if not isinstance(form, tuple | list):
        return None
    if not form:
        raise InputError(f"{name} must be a tree. A {type(form).__name__} in it is empty: it has no label.")
    return form[0], form[1:]


def _walk(form: Any, name: str) -> tuple[list[Any], list[int]]:
    labels: list[Any] = []
    arities: list[int] = []
    opened: list[tuple[Iterator[Any], int, Any]] = []  # children to come, number and object of a node
    inside: set[int] = set()
    end = object()

    def enter(form: Any) -> None:
        if isinstance(form, Tree):
            labels.extend(form.labels)
            arities.extend(form.arities.tolist())
            return
        found = _node(form, name)
        if found is not None:
            if id(form) in inside:
                raise InputError(
                    f"{name} must be a tree. A {type(form).__name__} in it contains itself: a cycle."
                )
            inside.add(id(form))
            opened.append((iter(found[1]), len(labels), form))
        labels.append(form if found is None else found[0])
        arities.append(0)

    enter(form)
    while opened:
        children, node, form = opened[-1]
        child = next(children, end)
        if child is end:
            opened.pop()
            inside.discard(id(form))
        else:
            arities[node] += 1
            enter(child)
    return labels, arities


def _parse(text: str, name: str) -> tuple[list[str], list[int]]:
    labels: list[str] = []
    arities: list[int] = []
    opened: list[tuple[int, int]] = []  # number of a node, position of its bracket
    fresh = False  # after an opening bracket: the label follows
    for match in TOKEN.finditer(text):
        token, at = match[0], match.start()
        if not opened and (labels or token != "("):
            what = "ends before" if labels else "must begin with '('; got"
            raise InputError(f"{name}: a bracket string {what} {token[:20]!r} at position {at}.")
        if token == ")":
            if fresh:
                raise InputError(f"{name}: the node at position {opened[-1][1]} has no label.")
            opened.pop()
        elif fresh and token != "(":
            labels[-1] = token
        else:
            if opened:
                arities[opened[-1][0]] += 1
            if token == "(":
                opened.append((len(labels), at))
            labels.append("" if token == "(" else token)
            arities.append(0)
        fresh = token == "("
    if opened:
        raise InputError(
            f"{name}: the bracket at position {opened[-1][1]} is not closed: {len(opened)} ')' missing."
        )
    if not labels:
        raise InputError(f"{name} must be a tree: {FORMS}. Got the text {text!r}.")
    return labels, arities
