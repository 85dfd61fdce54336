"""Graphs whose edges and vertices carry kernels: their structure, checked, and the program of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, TypeAlias

from ..algebra.nodes import Node, is_scalar, scalar
from ..errors import ParameterError
from ..expression import Path
from ..kernel import Kernel
from .path_programs import PathProgram

__all__ = ["LabelledGraph", "Weighted"]

#: What an edge or a vertex carries: a kernel, the name of one, or a number.
Label: TypeAlias = Kernel | str | float

#: From, to, and the inputs whose product is the weight.
Weighted: TypeAlias = tuple[Any, Any, list[int]]


class LabelledGraph(Node):
    """The parameters of a kernel graph, and what follows from them before there are points."""

    edges: Any
    source: Any
    sink: Any
    kernels: Any = field(default=None, kw_only=True)
    vertices: Any = field(default=None, kw_only=True)

    def _validate(self) -> None:
        for name in ("kernels", "vertices"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, Mapping):
                raise ParameterError(f"KernelGraph: `{name}` must be a mapping. Got {given!r}.")
            object.__setattr__(self, name, given or None)
        if not isinstance(self.edges, tuple) or not self.edges:
            raise ParameterError(
                "KernelGraph: `edges` must be a nonempty sequence of triples (u, v, kernel). "
                f"Got {self.edges!r}."
            )
        self._check_names()
        object.__setattr__(self, "edges", tuple(self._edge(edge) for edge in self.edges))
        self._check_vertices()
        named = {label for label in self._labels.values() if isinstance(label, str)}
        if unused := [name for name in self.kernels or () if name not in named]:
            raise ParameterError(
                f"KernelGraph: every name of `kernels` must stand on an edge or a vertex. Got {unused[0]!r}."
            )
        if not self._slots:
            raise ParameterError(
                "KernelGraph: at least one label must be a kernel. Write Constant(c) for a number c."
            )
        _ = self.domain  # kernels without common points are refused here

    def _check_vertices(self) -> None:
        known = {vertex for u, v, _ in self.edges for vertex in (u, v)}
        for name, vertex in (("source", self.source), ("sink", self.sink)):
            if not (_is_hashable(vertex) and vertex in known):
                raise ParameterError(f"KernelGraph: `{name}` must be a vertex of `edges`. Got {vertex!r}.")
        if self.vertices is None:
            return
        labels = {}
        for vertex, label in self.vertices.items():
            if vertex not in known:
                raise ParameterError(
                    f"KernelGraph: `vertices` must mention vertices of `edges` only. Got {vertex!r}."
                )
            labels[vertex] = self._label(label, f"the vertex {vertex!r}")
        object.__setattr__(self, "vertices", type(self.vertices)(labels))

    def _check_names(self) -> None:
        fields = {name for name, _ in self._declared}
        for name, kernel in (self.kernels or {}).items():
            if not (isinstance(name, str) and name.isidentifier()) or "__" in name or name in fields:
                raise ParameterError(
                    "KernelGraph: a name of `kernels` must be an identifier without `__`, and none of "
                    f"{', '.join(sorted(fields))}. Got {name!r}."
                )
            if not isinstance(kernel, Kernel):
                raise ParameterError(f"KernelGraph: `kernels[{name!r}]` must be a kernel. Got {kernel!r}.")

    def _edge(self, edge: Any) -> tuple[Any, Any, Label]:
        if isinstance(edge, tuple) and len(edge) == 2 and self.vertices is not None:
            edge = (*edge, 1.0)
        if not (isinstance(edge, tuple) and len(edge) == 3):
            raise ParameterError(
                f"KernelGraph: each of `edges` must be a triple (u, v, kernel). Got {edge!r}."
            )
        u, v, label = edge
        if not (_is_hashable(u) and _is_hashable(v)):
            raise ParameterError(f"KernelGraph: vertices must be hashable. Got the edge {edge!r}.")
        return u, v, self._label(label, f"the edge {u!r} -> {v!r}")

    def _label(self, label: Any, place: str) -> Label:
        if isinstance(label, str) and label not in (self.kernels or {}):
            names = ", ".join(self.kernels or ()) or "none"
            raise ParameterError(f"KernelGraph: {place} carries {label!r}; `kernels` has the names: {names}.")
        if isinstance(label, Kernel | str):
            return label
        if is_scalar(label) and not isinstance(label, bool):
            return scalar(label, f"KernelGraph: {place}")
        raise ParameterError(
            f"KernelGraph: {place} must carry a kernel, a number or a name of `kernels`. Got {label!r}."
        )

    @cached_property
    def _labels(self) -> dict[Path, Label]:
        """Labels by their places."""
        found: dict[Path, Label] = {("edges", i, 2): edge[2] for i, edge in enumerate(self.edges)}
        return found | {("vertices", v): label for v, label in (self.vertices or {}).items()}

    @cached_property
    def _slots(self) -> tuple[tuple[str, Path, Kernel], ...]:
        named = self.kernels or {}
        found: list[tuple[str, Path, Kernel]] = [(name, ("kernels", name), k) for name, k in named.items()]
        for i, (path, label) in enumerate(self._labels.items()):
            if isinstance(label, Kernel):
                edge = path[0] == "edges"
                name = f"edge{i}" if edge else f"vertex{i - len(self.edges)}"
                if name in named:
                    raise ParameterError(
                        f"KernelGraph: `kernels` must not name {name!r}, as a kernel without a name has it."
                    )
                found.append((name, path, label))
        return tuple(found)

    @cached_property
    def _inputs(self) -> tuple[Kernel | float, ...]:
        """What the sum is computed from: the nested kernels, then the numbers other than 1."""
        numbers = {label for label in self._labels.values() if isinstance(label, float) and label != 1.0}
        return (*(child for _, child in self._children), *sorted(numbers))

    @cached_property
    def _weights(self) -> tuple[list[int], list[Weighted]]:
        """Inputs that multiply at the source, and on each edge with the vertex that it leads to."""
        number: dict[Any, int] = {path: i for i, (_, path, _) in enumerate(self._slots)}
        number |= {value: i for i, value in enumerate(self._inputs) if isinstance(value, float)}

        def inputs(path: Path) -> list[int]:
            label = self._labels.get(path, 1.0)
            if isinstance(label, float):
                return [] if label == 1.0 else [number[label]]
            return [number["kernels", label] if isinstance(label, str) else number[path]]

        return inputs(("vertices", self.source)), [
            (u, v, inputs(("edges", i, 2)) + inputs(("vertices", v)))
            for i, (u, v, _) in enumerate(self.edges)
        ]

    @cached_property
    def _paths(self) -> PathProgram:
        """The sum over all paths."""
        start, edges = self._weights
        return PathProgram(len(self._inputs), edges, self.source, self.sink, start)

    @cached_property
    def _distinct(self) -> tuple[list[Kernel], list[int]]:
        """The nested kernels without repetitions, and the place of each nested kernel among them."""
        kernels: list[Kernel] = []  # compared one by one: a kernel that holds a function may have no hash
        places: list[int] = []
        for _, child in self._children:
            if child not in kernels:
                kernels.append(child)
            places.append(kernels.index(child))
        return kernels, places

    @cached_property
    def _used(self) -> list[int]:
        """The distinct kernels on paths from source to sink."""
        _, places = self._distinct
        return sorted({places[i] for i in self._paths.inputs if i < len(places)})

    def _between(self, usable: Callable[[list[int]], bool]) -> list[Weighted]:
        """Edges on the paths from source to sink that consist of usable edges."""
        edges = [edge for edge in self._weights[1] if usable(edge[2])]
        after = _reached(self.source, [(u, v) for u, v, _ in edges])
        before = _reached(self.sink, [(v, u) for u, v, _ in edges])
        return [edge for edge in edges if edge[0] in after and edge[1] in before]


def _is_hashable(vertex: Any) -> bool:
    try:
        hash(vertex)
    except TypeError:
        return False
    return True


def _reached(start: Any, pairs: list[tuple[Any, Any]]) -> set[Any]:
    """Vertices that arcs lead to, the start included."""
    following: dict[Any, list[Any]] = {}
    for u, v in pairs:
        following.setdefault(u, []).append(v)
    found, stack = {start}, [start]
    while stack:
        new = [v for v in following.get(stack.pop(), []) if v not in found]
        found.update(new)
        stack += new
    return found
