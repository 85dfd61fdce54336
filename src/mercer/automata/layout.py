"""Where the states and arcs of a machine stand in a picture: in layers, from left to right.

The usual four steps: arcs that close a cycle are set apart, a state comes one layer after the last of those
that lead to it, states of a layer are sorted to avoid crossings, and are then moved towards their neighbours.
An arc over several layers passes through a point of its own in each, so that it does not run into states.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["LINE", "RADIUS", "Curve", "Layout", "Point", "layout"]

Point = tuple[float, float]
Pair = tuple[int, int]
#: Left, top, right, bottom.
Box = tuple[float, float, float, float]

Texts = Mapping[Pair, Sequence[str]]

#: Radius of a state, height of a line of text and width of a letter, in pixels.
RADIUS = 18.0
LINE = 15.0
LETTER = 7.2

#: How far apart the arcs from one state to another and back run.
BEND = 14.0

#: Sweeps over the layers, to the right and to the left, that sort and move states.
SWEEPS = 8


@dataclass(frozen=True)
class Curve:
    """The arcs between two states: Bezier curves end to end, and the middle of the text beside them."""

    points: tuple[Point, ...]
    text: Point


@dataclass(frozen=True)
class Layout:
    """Centres of the states, curves of the arcs by source and target, and the size of the picture."""

    states: tuple[Point, ...]
    curves: dict[Pair, Curve]
    width: float
    height: float


def layout(n: int, initial: Sequence[int], texts: Texts) -> Layout:
    """Lay out ``n`` states; ``texts`` holds the lines of text beside the arcs between two states."""
    pairs = [(p, q) for p, q in texts if p != q]
    forward = _without_cycles(n, initial, pairs)
    layer = _layers(n, forward)
    #: The points that each forward arc passes, ends included; points between are numbered from n on.
    chains: dict[Pair, list[int]] = {}
    for p, q in forward:
        between = range(len(layer), len(layer) + layer[q] - layer[p] - 1)
        layer.extend(range(layer[p] + 1, layer[q]))
        chains[p, q] = [p, *between, q]
    columns = _sorted_columns(layer, chains)
    widest = max((len(line) for lines in texts.values() for line in lines), default=0)
    tallest = max((len(lines) for lines in texts.values()), default=0)
    across = 2 * RADIUS + 34 + LETTER * widest
    down = 2 * RADIUS + 40 + 1.5 * LINE * tallest
    heights = _heights(columns, chains, down)
    at = {v: (across * column, heights[v]) for column, vs in enumerate(columns) for v in vs}
    states = [at[q] for q in range(n)]
    return _fitted(_separated(_curves(texts, at, layer, chains), states, texts), states, texts)


# -- layers -------------------------------------------------------------------------------------
def _without_cycles(n: int, initial: Sequence[int], pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs that do not lead back to a state on the way to them, in a search from the initial states."""
    targets: dict[int, list[int]] = defaultdict(list)
    for p, q in sorted(pairs):
        targets[p].append(q)
    kept: list[Pair] = []
    state = dict.fromkeys(range(n), "new")
    for root in [*initial, *range(n)]:
        if state[root] != "new":
            continue
        state[root] = "open"
        stack: list[tuple[int, Iterator[int]]] = [(root, iter(targets[root]))]
        while stack:
            p, rest = stack[-1]
            q = next(rest, -1)
            if q < 0:
                state[p] = "done"
                stack.pop()
                continue
            if state[q] != "open":
                kept.append((p, q))
            if state[q] == "new":
                state[q] = "open"
                stack.append((q, iter(targets[q])))
    return kept


def _layers(n: int, forward: Sequence[Pair]) -> list[int]:
    """Length of the longest way to each state."""
    layer, waiting = [0] * n, [0] * n
    targets: dict[int, list[int]] = defaultdict(list)
    for p, q in forward:
        targets[p].append(q)
        waiting[q] += 1
    ready = [q for q in range(n) if waiting[q] == 0]
    while ready:
        p = ready.pop()
        for q in targets[p]:
            layer[q] = max(layer[q], layer[p] + 1)
            waiting[q] -= 1
            if waiting[q] == 0:
                ready.append(q)
    return layer


def _neighbours(chains: dict[Pair, list[int]]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    before: dict[int, list[int]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    for chain in chains.values():
        for v, w in pairwise(chain):
            after[v].append(w)
            before[w].append(v)
    return before, after


def _sorted_columns(layer: Sequence[int], chains: dict[Pair, list[int]]) -> list[list[int]]:
    """The points of each layer from top to bottom, each near the middle of its neighbours."""
    columns: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for v, number in enumerate(layer):
        columns[number].append(v)
    before, after = _neighbours(chains)
    for sweep in range(SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for column in columns if sweep % 2 == 0 else reversed(columns):
            place = {v: i / max(len(vs) - 1, 1) for vs in columns for i, v in enumerate(vs)}
            column.sort(key=lambda v: _mean([place[w] for w in neighbours[v]], place[v]))
    return columns


def _heights(columns: list[list[int]], chains: dict[Pair, list[int]], down: float) -> dict[int, float]:
    """Heights near those of the neighbours, at least ``down`` apart within a layer."""
    heights = {v: down * (i - (len(vs) - 1) / 2) for vs in columns for i, v in enumerate(vs)}
    before, after = _neighbours(chains)
    for sweep in range(SWEEPS):
        neighbours = before if sweep % 2 == 0 else after
        for column in columns if sweep % 2 == 0 else reversed(columns):
            wanted = [_mean([heights[w] for w in neighbours[v]], heights[v]) for v in column]
            spread = [h - i * down for i, h in enumerate(wanted)]
            for i, (v, h) in enumerate(zip(column, _monotone(spread), strict=True)):
                heights[v] = h + i * down
    return heights


def _monotone(values: Sequence[float]) -> list[float]:
    """The closest sequence that does not fall: means over pools of neighbours that are out of order."""
    pools: list[list[float]] = []
    for value in values:
        pools.append([value])
        while len(pools) > 1 and _mean(pools[-2]) > _mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    return [_mean(pool) for pool in pools for _ in pool]


def _mean(values: Sequence[float], otherwise: float = 0.0) -> float:
    return math.fsum(values) / len(values) if values else otherwise


# -- curves -------------------------------------------------------------------------------------
def _curves(
    texts: Texts,
    at: dict[int, Point],
    layer: Sequence[int],
    chains: dict[Pair, list[int]],
) -> dict[Pair, Curve]:
    lowest = max((y for _, y in at.values()), default=0.0)
    curves = {}
    returning = 0
    for (p, q), lines in texts.items():
        if p == q:
            x, y = at[p]  # a loop on top of the state
            top, side = y - RADIUS - 34, 20.0
            start, end = (x - 9.0, y - RADIUS * 0.87), (x + 9.0, y - RADIUS * 0.87)
            text = (x, y - RADIUS - 30 - LINE * len(lines) / 2)
            curves[p, q] = Curve((start, (x - side, top), (x + side, top), end), text)
        elif (p, q) in chains:
            bend = -BEND if (q, p) in texts else 0.0
            curves[p, q] = _along([at[v] for v in chains[p, q]], bend, len(lines))
        elif layer[p] == layer[q] + 1:  # between neighbouring layers nothing is in the way
            curves[p, q] = _along([at[p], at[q]], BEND, len(lines))
        else:
            returning += 1
            curves[p, q] = _back(at[p], at[q], lowest, returning, len(lines))
    return curves


def _along(way: Sequence[Point], bend: float, lines: int) -> Curve:
    """A curve through points of successive layers, bent up or down beside its counterpart."""
    start, end = _edge(way[0], way[1]), _edge(way[-1], way[-2])
    stops = [start, *way[1:-1], end]
    points = [start]
    for i, (a, b) in enumerate(pairwise(stops)):
        third = (b[0] - a[0]) / 3
        flat_start, flat_end = i > 0, i < len(stops) - 2
        slope = (b[1] - a[1]) / 3
        points += [
            (a[0] + third, a[1] + (0.0 if flat_start else slope) + bend),
            (b[0] - third, b[1] - (0.0 if flat_end else slope) + bend),
            b,
        ]
    middle = 3 * ((len(points) - 1) // 6)
    x, y = _point_at(points[middle : middle + 4], 0.5)
    # Beside a steep arc the text moves up further, so that the arc does not run through it.
    rise = abs(end[1] - start[1]) / max(abs(end[0] - start[0]), 1.0)
    away = 7 + LINE * lines / 2 + min(18.0, 12 * rise)
    return Curve(tuple(points), (x, y + away if bend > 0 else y - away))


def _back(source: Point, target: Point, lowest: float, rank: int, lines: int) -> Curve:
    """A curve to an earlier layer, or within one, below everything else."""
    floor = lowest + RADIUS + 26 * rank + LINE * lines
    # A cubic curve with both controls at one height comes three quarters of the way to it.
    control = min(source[1], target[1]) + (floor - min(source[1], target[1])) * 4 / 3
    if source[0] == target[0]:  # a bow to the right of the layer
        side = source[0] + RADIUS + 40
        start, end = _edge(source, (side, target[1])), _edge(target, (side, source[1]))
        return Curve(
            (start, (side, source[1]), (side, target[1]), end), (side + 6, (source[1] + target[1]) / 2)
        )
    start = (source[0] - 6, source[1] + RADIUS * 0.95)
    end = (target[0] + 6, target[1] + RADIUS * 0.95)
    curve = (start, (start[0], control), (end[0], control), end)
    x, y = _point_at(curve, 0.5)
    return Curve(curve, (x, y + 5 + LINE * lines / 2))


def _edge(centre: Point, towards: Point) -> Point:
    """Where a line from the centre of a state leaves its circle."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    far = math.hypot(dx, dy) or 1.0
    return centre[0] + RADIUS * dx / far, centre[1] + RADIUS * dy / far


def _point_at(curve: Sequence[Point], t: float) -> Point:
    """Point of a cubic Bezier curve."""
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
    x, y = (sum(w * p[axis] for w, p in zip(weights, curve, strict=True)) for axis in (0, 1))
    return x, y


def _separated(curves: dict[Pair, Curve], states: list[Point], texts: Texts) -> dict[Pair, Curve]:
    """Move each text along its curve, or to the other side, until it covers no state, text or curve."""
    taken = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in states]
    lines = [(x, y, x, y) for curve in curves.values() for x, y in _samples(curve)]
    placed = {}
    for pair, curve in curves.items():
        places = [place for place in _places(curve, texts[pair]) if _is_free(place, texts[pair], taken)]
        best = (place for place in places if _is_free(place, texts[pair], lines, gap=0.0))
        text = next(best, places[0] if places else curve.text)
        taken.append(_box(text, texts[pair]))
        placed[pair] = Curve(curve.points, text)
    return placed


def _places(curve: Curve, lines: Sequence[str]) -> Iterator[Point]:
    """Where the text of a curve may stand, the best place first: above and below it, then to its sides."""
    yield curve.text
    pieces = [curve.points[i : i + 4] for i in range(0, len(curve.points) - 3, 3)]
    half, tall = _extent(lines)
    for dx, dy in ((0.0, tall + 7), (half + 7, 0.0), (0.0, tall + 18)):
        for t in (0.5, 0.35, 0.65, 0.2, 0.8):
            for piece in pieces:
                x, y = _point_at(piece, t)
                yield from ((x - dx, y - dy), (x + dx, y + dy))


def _extent(lines: Sequence[str]) -> Point:
    """Half the width and half the height of a text."""
    return LETTER * max(map(len, lines), default=0) / 2, LINE * len(lines) / 2


def _box(text: Point, lines: Sequence[str]) -> Box:
    half, tall = _extent(lines)
    return text[0] - half, text[1] - tall, text[0] + half, text[1] + tall


def _is_free(text: Point, lines: Sequence[str], taken: Sequence[Box], gap: float = 4.0) -> bool:
    """Whether a text at this place stays away from all boxes."""
    a = _box(text, lines)
    return not any(a[0] < b[2] + gap and b[0] < a[2] + gap and a[1] < b[3] and b[1] < a[3] for b in taken)


def _samples(curve: Curve) -> list[Point]:
    """Points along a curve."""
    pieces = [curve.points[i : i + 4] for i in range(0, len(curve.points) - 3, 3)]
    return [_point_at(piece, t / 12) for piece in pieces for t in range(13)]


def _fitted(curves: dict[Pair, Curve], states: list[Point], texts: Texts) -> Layout:
    """Move the picture so that everything lies within its size, with a margin."""
    corners = [(x + dx, y + dy) for x, y in states for dx in (-RADIUS, RADIUS) for dy in (-RADIUS, RADIUS)]
    for pair, curve in curves.items():
        box = _box(curve.text, texts[pair])
        corners += [box[:2], box[2:]]
        corners += _samples(curve)
    left, top = (min((c[axis] for c in corners), default=0.0) - 12 for axis in (0, 1))
    right, bottom = (max((c[axis] for c in corners), default=0.0) + 12 for axis in (0, 1))

    def moved(point: Point) -> Point:
        return point[0] - left, point[1] - top

    placed = {
        pair: Curve(tuple(map(moved, curve.points)), moved(curve.text)) for pair, curve in curves.items()
    }
    return Layout(tuple(map(moved, states)), placed, right - left, bottom - top)
