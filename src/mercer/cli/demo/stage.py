"""Where the demonstration is shown: the terminal and, if there is one, the page."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ...certificate import Certificate, Verdict
from ...errors import MercerError, MissingExtraError
from ...kernel import Kernel
from ...show import Fragment, Report
from ...show.canvas import matplotlib
from ...show.proofs import badge
from ..tables import aligned

__all__ = ["Chapter", "Stage"]

T = TypeVar("T")


class OutputError(MercerError, OSError):
    """The page cannot be written where it should go."""


@dataclass(frozen=True)
class Chapter:
    """A part of the demonstration."""

    title: str
    show: Callable[[Stage], None]
    needs_page: bool = False


@dataclass(frozen=True)
class Stage:
    """Takes text, proofs, tables and figures, and shows them wherever it can."""

    page: Report | None
    quick: bool

    @classmethod
    def open(cls, output: Path | None, quick: bool) -> Stage:
        """Prepare the page, finding out now, not after the work, whether it can be made."""
        if output is None:
            return cls(None, quick)
        if not output.parent.is_dir():
            raise OutputError(f"there is no folder {str(output.parent)!r} for the page; see --output")
        if output.is_dir():
            raise OutputError(f"{str(output)!r} is a folder; --output takes the path of a file")
        try:
            matplotlib("matplotlib.figure")
        except MissingExtraError as error:
            raise MissingExtraError(f"{error} (or run: mercer demo --no-page)") from error
        from . import LEAD

        return cls(Report("mercer: a demonstration", LEAD), quick)

    def heading(self, text: str) -> None:
        """Begin a chapter."""
        print(f"\n{text}\n{'═' * len(text)}", flush=True)
        if self.page is not None:
            self.page.heading(text)

    def text(self, text: str) -> None:
        """Say something; words between backticks are code on the page."""
        print("\n" + textwrap.fill(text.replace("`", ""), 100, break_long_words=False), flush=True)
        if self.page is not None:
            self.page.text(text)

    def code(self, text: str) -> None:
        """Show lines as they are."""
        print("\n" + textwrap.indent(text, "    "), flush=True)
        if self.page is not None:
            self.page.code(text)

    def proof(self, certified: Certificate | Kernel) -> None:
        """Show the proof of the verdict as a tree."""
        certificate = certified.certificate if isinstance(certified, Kernel) else certified
        print("\n" + textwrap.indent(certificate.deciding.tree(), "    "), flush=True)
        if self.page is not None:
            self.page.proof(certificate)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
        """Show a table of text, as in :meth:`text`; ``right`` are the columns of numbers."""
        plain = [[cell.replace("`", "") for cell in row] for row in rows]
        print("\n" + textwrap.indent(aligned(columns, plain, right), "    "), flush=True)
        if self.page is not None:
            verdicts = Verdict.__members__  # they get their colours
            cells = [[Fragment(badge(cell)) if cell in verdicts else cell for cell in row] for row in rows]
            self.page.table(columns, cells, right=right)

    def figure(self, draw: Callable[[], Any], caption: str) -> None:
        """Put a figure on the page; without a page it is not even drawn."""
        if self.page is not None:
            self.page.figure(draw(), caption)

    def progress(self, items: Sequence[T], what: str) -> Iterable[T]:
        """Iterate with a bar, if it takes more than a second and somebody is watching."""
        from tqdm import tqdm

        bar: Iterable[T] = tqdm(items, desc=what, delay=1, leave=False, disable=not sys.stderr.isatty())
        return bar
