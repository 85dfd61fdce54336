"""Pictures of machines: DOT for graphviz, SVG as it stands, and display in notebooks.

As in the literature an initial state has a bold circle and a final one a double circle; the weight of ending
follows the number of the state after a slash.  Arcs are marked ``input:output/weight``, those of an automaton
``label/weight``; weights of one are left out.
"""

from __future__ import annotations

from html import escape
from typing import Any

from .labels import EPSILON
from .layout import LINE, RADIUS, Curve, Layout, Pair, layout
from .transducer import Arc, Transducer

__all__ = ["arc_texts", "picture", "state_text", "to_dot", "to_svg"]

#: Notebooks show the picture of machines up to this size; of larger ones nobody could read it.
MOST_STATES = 60


def to_dot(T: Transducer) -> str:
    """The machine in the language of graphviz.

    Examples
    --------
    >>> from mercer.automata import from_regex, to_dot
    >>> print(to_dot(from_regex("a")))
    digraph {
      rankdir=LR;
      node [shape=circle];
      0 [label="0", style=bold];
      1 [label="1", shape=doublecircle];
      0 -> 1 [label="a"];
    }
    """
    lines = ["digraph {", "  rankdir=LR;", "  node [shape=circle];"]
    for q in range(T.n_states):
        shape = ", shape=doublecircle" if q in T.final else ""
        style = ", style=bold" if q in T.initial else ""
        lines.append(f"  {q} [label={_quoted(state_text(T, q))}{shape}{style}];")
    lines += [f"  {arc.source} -> {arc.target} [label={_quoted(_arc_text(T, arc))}];" for arc in T.arcs]
    return "\n".join([*lines, "}"])


def to_svg(T: Transducer) -> str:
    """The machine as a picture: a complete ``<svg>`` element in the colour of the text around it.

    States stand in layers from left to right.  Nothing else has to be installed.

    Examples
    --------
    >>> from mercer.automata import from_regex, to_svg
    >>> to_svg(from_regex("ab|c")).count("<circle")  # three states; a final one has two circles
    4
    """
    texts = arc_texts(T)
    found = picture(T)
    size = f'width="{found.width:.0f}" height="{found.height:.0f}"'
    name = "automaton" if T.is_automaton else "transducer"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {found.width:.0f} {found.height:.0f}" '
        f'role="img" aria-label="{name} with {T.n_states} states and {T.n_arcs} arcs" '
        'font-family="sans-serif" font-size="13" fill="currentColor" stroke="none">'
    ]
    parts += [_svg_curve(curve, texts[pair]) for pair, curve in found.curves.items()]
    for q, (x, y) in enumerate(found.states):
        circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" fill="none" stroke="currentColor"'
        inner = f'{circle} r="{RADIUS - 3:g}" stroke-width="1.1"/>' if q in T.final else ""
        outer = f'{circle} r="{RADIUS:g}" stroke-width="{2.6 if q in T.initial else 1.1}"/>'
        parts.append(outer + inner + _svg_text(x, y, state_text(T, q)))
    return "\n".join([*parts, "</svg>"])


def picture(T: Transducer) -> Layout:
    """Where states and arcs stand."""
    return layout(T.n_states, list(T.initial), arc_texts(T))


def arc_texts(T: Transducer) -> dict[Pair, list[str]]:
    """What is written beside the arcs between two states, one line per arc."""
    texts: dict[Pair, list[str]] = {}
    for arc in T.arcs:
        texts.setdefault((arc.source, arc.target), []).append(_arc_text(T, arc))
    most = 6  # arcs between two states that are written out; further ones are counted
    return {
        pair: lines if len(lines) <= most else [*lines[: most - 1], f"({len(lines) - most + 1} more)"]
        for pair, lines in texts.items()
    }


def state_text(T: Transducer, q: int) -> str:
    """What is written into a state: its number, between the weights of beginning and ending there."""
    one = T.semiring.one
    before = f"{_number(T.initial[q])}/" if T.initial.get(q, one) != one else ""
    after = f"/{_number(T.final[q])}" if T.final.get(q, one) != one else ""
    return f"{before}{q}{after}"


def _arc_text(T: Transducer, arc: Arc) -> str:
    labels = _label(arc.input) if T.is_automaton else f"{_label(arc.input)}:{_label(arc.output)}"
    return labels if arc.weight == T.semiring.one else f"{labels}/{_number(arc.weight)}"


def _label(label: Any) -> str:
    """A label as text; what cannot be seen is escaped."""
    if label is EPSILON or not isinstance(label, str):
        return str(label)
    return label if label.isprintable() and label.strip() else repr(label)


def _number(weight: Any) -> str:
    return f"{weight:.4g}" if isinstance(weight, float | int) else str(weight)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# -- SVG ----------------------------------------------------------------------------------------
def _svg_curve(curve: Curve, lines: list[str]) -> str:
    start, *rest = (f"{x:.1f} {y:.1f}" for x, y in curve.points)
    bends = " ".join(f"C {', '.join(rest[i : i + 3])}" for i in range(0, len(rest), 3))
    path = f'<path d="M {start} {bends}" fill="none" stroke="currentColor" stroke-width="1.1"/>'
    # The head of the arrow is turned along the end of the curve.
    (ax, ay), (bx, by) = curve.points[-2:]
    far = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5 or 1.0
    dx, dy = (bx - ax) / far, (by - ay) / far
    corners = [
        (bx, by),
        (bx - 9 * dx - 3.6 * dy, by - 9 * dy + 3.6 * dx),
        (bx - 9 * dx + 3.6 * dy, by - 9 * dy - 3.6 * dx),
    ]
    head = f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>'
    x, y = curve.text
    top = y - LINE * (len(lines) - 1) / 2
    return path + head + "".join(_svg_text(x, top + LINE * i, text) for i, text in enumerate(lines))


def _svg_text(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">{escape(text)}</text>'


def _repr_svg_(self: Transducer) -> str | None:
    """Picture for notebooks; larger machines are left to their ``repr``."""
    return to_svg(self) if self.n_states <= MOST_STATES else None


# Installed here, because pictures stand above the machines that they show.
Transducer._repr_svg_ = _repr_svg_  # type: ignore[attr-defined]
