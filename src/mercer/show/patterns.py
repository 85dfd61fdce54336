"""Pictures of what patterns add: to a kernel value, or to the decision of a machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contributions import Contributions
from ..errors import InputError, ParameterError
from ..machines import Explanation
from .canvas import COLOURS, GUIDE, INK, canvas, drawing, matplotlib
from .matrices import _is_count

__all__ = ["plot_contributions", "plot_sequence"]

FOR, AGAINST = COLOURS["blue"], COLOURS["vermilion"]

#: The strongest colour lets this much of the ground through, so that letters stay legible on it.
STRONGEST = 0.65
#: Size of the text under the letters, in points.
SMALL = 8.5


def plot_contributions(contributions: Contributions, n: int = 15, ax: Any = None) -> Any:
    """Draw the strongest patterns as bars, the strongest on top.

    Patterns that add are blue and point to the right; those that take away are vermilion and point to the
    left.  What the patterns that are left out add in all is the last bar, so that the bars add up to the
    value.

    Parameters
    ----------
    contributions : Contributions
        Of ``kernel.contributions(x, y)`` or of ``machine.explain(x)``.
    n : int, default=15
        The most patterns to name.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.kernels import NGram
    >>> ax = plot_contributions(NGram(2).contributions("banana", "bananas"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ["'an'", "'na'", "'ba'"]
    """
    check("plot_contributions", contributions)
    if not _is_count(n):
        raise ParameterError(f"plot_contributions: `n` must be an integer >= 1. Got {n!r}.")
    shown, rest = list(contributions)[:n], list(contributions)[n:]
    names, weights = [shortened(repr(c.pattern), 30) for c in shown], [c.weight for c in shown]
    colours = [FOR if w >= 0 else AGAINST for w in weights]
    if rest:
        names.append(f"{len(rest)} more")
        weights.append(math.fsum(c.weight for c in rest))
        colours.append(GUIDE)
    if ax is None:
        _, ax = canvas(5.6, 0.9 + 0.26 * max(len(names), 1))
    with drawing(ax) as ax:
        rows = np.arange(len(names))
        ax.barh(rows, weights, color=colours, height=0.72)
        ax.axvline(0.0, color=INK, linewidth=0.8)
        ax.set_yticks(rows, labels=names, parse_math=False)
        ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.grid(axis="x", color=GUIDE, alpha=0.25, linewidth=0.6)
        text = "weight, "
        if isinstance(contributions, Explanation) and contributions.against is not None:
            prediction, against = _sides(contributions)
            text = f"← {against}      weight      {prediction} →\n"
        ax.set_xlabel(f"{text}{contributions.total:.4g} in all", parse_math=False)
    return ax


def plot_sequence(x: Any, contributions: Contributions, ax: Any = None, *, side: str = "x") -> Any:
    """Write a sequence with its letters coloured by what the patterns that cover them add.

    What a pattern adds at a place is divided evenly among the letters there; so letters add up to the value,
    but for patterns that have no place, which are named under the picture.  Blue letters
    add, vermilion ones take away, and the strongest colour is that of the letter with the largest weight.

    Parameters
    ----------
    x : sequence
        Text, or any other sequence of symbols: what the places of the patterns refer to.
    contributions : Contributions
        Of ``kernel.contributions(x, y)`` or of ``machine.explain(x)``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of the size that the letters need.  Of a sequence with more
        than 1,200 letters the stretch with the largest weights is shown.
    side : {"x", "y"}, default="x"
        Which of the two sequences of ``kernel.contributions(x, y)`` is given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from mercer.kernels import NGram
    >>> ax = plot_sequence("banana", NGram(3).contributions("banana", "panama"))
    >>> "".join(text.get_text() for text in ax.texts)
    'banana'
    """
    check("plot_sequence", contributions)
    if side not in ("x", "y"):
        raise ParameterError(f'plot_sequence: `side` must be "x" or "y". Got {side!r}.')
    weights = spread(len(x), contributions, side, "plot_sequence", "the sequence given has {} symbols")
    shown, most = range(len(weights)), 1200
    if len(weights) > most:  # the stretch with the largest weights
        sums = np.concatenate([[0.0], np.cumsum(np.abs(weights))])
        start = int(np.argmax(sums[most:] - sums[:-most]))
        shown = range(start, start + most)
    cells = _wrapped(x, shown, 60)  # letters in a row at most
    rows = 1.3 + max((cell.row for cell in cells), default=0)
    rows += 0.9 * sum([(weights > 0).any(), (weights < 0).any()])  # lines of the legend
    wide = max((cell.left + cell.width for cell in cells), default=1)
    # Size of letters in points; what a letter takes of it from side to side, and a row from top to bottom.
    points, pitch, line = 10.0, 0.7, 1.8
    if ax is None:
        wide, inch = max(wide, 40), points / 72  # the least number of letters that fit into a new figure
        _, ax = canvas(0.5 + wide * pitch * inch, 0.3 + rows * line * inch)
    with drawing(ax) as ax:
        ax.set(xlim=(0, wide), ylim=(rows, 0), xticks=[])
        begin = [cell for cell in cells if cell.left == 0]
        ax.set_yticks([cell.row + 0.5 for cell in begin], labels=[str(cell.index) for cell in begin])
        ax.tick_params(axis="y", length=0, labelsize=7.5, labelcolor=GUIDE)
        ax.spines[:].set_visible(False)
        # A letter fills its cell, but is not larger than usual.
        box, (width, height) = ax.get_position(), ax.figure.get_size_inches()
        across, down = 72 * width * box.width / wide, 72 * height * box.height / rows
        _write(ax, cells, weights, float(min(points, across / pitch, down / line)))
        patch = matplotlib("matplotlib.patches").Patch
        handles = [
            patch(facecolor=colour, linewidth=0, label=text)
            for text, colour in explained_colours(contributions, weights, "letter").items()
        ]
        if handles:
            legend = ax.legend(
                handles=handles, loc="lower left", borderaxespad=0, borderpad=0, fontsize=SMALL
            )
            for text in legend.get_texts():
                text.set_parse_math(False)
        notes = [unplaced_note(contributions, side)]
        if len(cells) < len(weights):
            stretch = f"{shown[0]:,} to {shown[-1]:,} of {len(weights):,} symbols"
            notes.insert(0, f"the stretch with the largest weights: {stretch}")
        ax.set_xlabel("\n".join(note for note in notes if note), loc="left", fontsize=SMALL, parse_math=False)
    return ax


# -- weights of letters ------------------------------------------------------------------------------------
def spread(n: int, contributions: Contributions, side: str, caller: str, given: str) -> np.ndarray:
    """What each of the n letters adds; ``given`` says how many there are, for errors."""
    weights = np.zeros(n)
    for c in contributions:
        for (start, end), weight in c.placed(side).items():
            if not 0 <= start <= end <= n:
                raise InputError(
                    f"{caller}: `contributions` must be those of `{side}`. Pattern {c.pattern!r} stands "
                    f"at {start}:{end} there, and {given.format(n)}."
                )
            weights[start:end] += weight / max(end - start, 1)
    return weights


# -- letters on paper --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cell:
    """A symbol and its place on paper, in letters and rows."""

    index: int
    text: str
    row: int
    left: int

    @property
    def width(self) -> int:
        return len(self.text)


def _wrapped(x: Any, shown: range, most: int) -> list[Cell]:
    """Symbols one after the other, in rows; with a space between them if they are words."""
    letters = isinstance(x, str | bytes)
    texts = [letter(x[i : i + 1] if letters else x[i]) for i in shown]
    space = 0 if letters or all(len(text) == 1 for text in texts) else 1
    cells, row, left = [], 0, 0
    for i, text in zip(shown, texts, strict=True):
        if left and left + len(text) > most:
            row, left = row + 1, 0
        cells.append(Cell(i, text, row, left))
        left += len(text) + space
    return cells


def letter(symbol: Any) -> str:
    """A symbol as it is written: what cannot be seen is escaped."""
    if isinstance(symbol, bytes):
        return repr(symbol)[2:-1]
    text = str(symbol)
    return text if text.isprintable() and text else repr(text)[1:-1] or "''"


def _write(ax: Any, cells: list[Cell], weights: np.ndarray, size: float) -> None:
    rectangle = matplotlib("matplotlib.patches").Rectangle
    largest = float(np.abs(weights).max(initial=0.0))
    for cell in cells:
        weight = weights[cell.index]
        if weight:
            colour, alpha = FOR if weight > 0 else AGAINST, STRONGEST * abs(weight) / largest
            corner = (cell.left, cell.row + 0.12)
            ax.add_patch(rectangle(corner, cell.width, 0.76, facecolor=colour, alpha=alpha, linewidth=0))
        ax.text(
            cell.left + cell.width / 2,
            cell.row + 0.5,
            cell.text,
            ha="center",
            va="center_baseline",
            fontsize=size,
            family="monospace",
            color=INK,
            parse_math=False,
        )


def explained_colours(
    contributions: Contributions, weights: np.ndarray, unit: str
) -> dict[str, tuple[str, float]]:
    """What the colours say, with each of those that are there."""
    speaks = _sides(contributions)
    strengths = ((FOR, speaks[0], weights.max(initial=0.0)), (AGAINST, speaks[1], -weights.min(initial=0.0)))
    return {
        f"{name}, up to {strength:.3g} per {unit}": (colour, STRONGEST)
        for colour, name, strength in strengths
        if strength > 0
    }


def unplaced_note(contributions: Contributions, side: str) -> str:
    """What the patterns without a place add; empty if all have one."""
    unplaced = [c for c in contributions if all(start == end for start, end in c.placed(side))]
    if len(unplaced) == 1:
        return f"without a place: {shortened(repr(unplaced[0].pattern), 30)}, {unplaced[0].weight:+.3g}"
    total = math.fsum(c.weight for c in unplaced)
    return f"without a place: {len(unplaced)} patterns, {total:+.3g} in all" if unplaced else ""


# -- words -------------------------------------------------------------------------------------------------
def check(caller: str, contributions: Any) -> None:
    if not isinstance(contributions, Contributions):
        raise InputError(
            f"{caller}: `contributions` must come from `kernel.contributions(x, y)` or "
            f"`machine.explain(x)`. Got {type(contributions).__name__}."
        )


def shortened(text: str, most: int) -> str:
    """A name, the middle of long ones left out."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _sides(contributions: Contributions) -> tuple[str, str]:
    """What the two signs mean."""
    if isinstance(contributions, Explanation) and contributions.against is not None:
        return f"for {contributions.prediction!r}", f"for {contributions.against!r}"
    return "adds", "takes away"
