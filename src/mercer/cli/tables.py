"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["aligned"]


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Return rows as text, each column as wide as its widest cell.

    Parameters
    ----------
    columns : sequence of str
        Headings.
    rows : sequence of sequences of str
    right : sequence of int
        Positions of the columns that are set to the right.

    Examples
    --------
    >>> print(aligned(["task", "score"], [["digits", "0.98"], ["diabetes", "0.5"]], right=[1]))
    task      score
    ───────────────
    digits     0.98
    diabetes    0.5
    """
    widths = [max(len(row[j]) for row in [columns, *rows]) for j in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        padded = (
            c.rjust(w) if j in right else c.ljust(w)
            for j, (c, w) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(columns), "─" * (sum(widths) + 2 * (len(widths) - 1)), *map(line, rows)])
