"""A report: text, tables, proofs and figures in one HTML file that needs nothing else."""

from __future__ import annotations

import html
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Self

from ..certificate import Certificate
from ..errors import InputError
from ..kernel import Kernel
from .proofs import PROOF_CSS, Fragment, tree
from .svg import inline_svg

__all__ = ["Report", "write_atomically"]

PAGE_CSS: Final = Path(__file__).with_name("page.css").read_text(encoding="utf-8")

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{lead}</header>
{contents}<main>
{body}
</main>
</body>
</html>
"""


class Report:
    """A self-contained HTML page, built piece by piece.

    Every method but :meth:`html` and :meth:`save` returns the report, so that calls can be chained.  Text is
    escaped; numbers are written as Python writes them, whatever the locale.

    Parameters
    ----------
    title : str
    lead : str, optional
        A sentence under the title.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> page = Report("Kernels").heading("Linear").proof(Linear())
    >>> "inner product" in page.html()
    True
    """

    def __init__(self, title: str, lead: str = "") -> None:
        self.title = title
        self.lead = lead
        self._headings: list[tuple[str, str]] = []
        self._parts: list[str] = []
        self._figures = 0

    # -- pieces -------------------------------------------------------------------------------
    def heading(self, text: str) -> Self:
        """Begin a section; it appears in the list of contents."""
        anchor = f"section-{len(self._headings) + 1}"
        self._headings.append((anchor, text))
        return self._add(f'<h2 id="{anchor}">{html.escape(text)}</h2>')

    def text(self, text: str) -> Self:
        """Add a paragraph; words between backticks become code."""
        return self._add(f"<p>{_inline(text)}</p>")

    def code(self, text: str) -> Self:
        """Add preformatted text."""
        return self._add(f'<pre tabindex="0"><code>{html.escape(text)}</code></pre>')

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        caption: str = "",
        *,
        right: Sequence[int] = (),
    ) -> Self:
        """Add a table.  Columns of numbers, and the positions in ``right``, are set to the right.

        Cells are text as in :meth:`text`, numbers, or a :class:`~mercer.show.Fragment` of HTML.
        """
        body = [[_cell(value) for value in row] for row in rows]
        if any(len(row) != len(columns) for row in body):
            raise InputError(f"Report.table: every row must have {len(columns)} cells, one per column.")
        numeric = [bool(body) and all(row[j][1] for row in body) for j in range(len(columns))]
        kinds = [' class="number"' if n or j in right else "" for j, n in enumerate(numeric)]
        head = "".join(
            f'<th scope="col"{kind}>{html.escape(c)}</th>' for c, kind in zip(columns, kinds, strict=True)
        )
        lines = "\n".join(
            "<tr>"
            + "".join(f"<td{kind}>{text}</td>" for (text, _), kind in zip(row, kinds, strict=True))
            + "</tr>"
            for row in body
        )
        title = f"<caption>{_inline(caption)}</caption>" if caption else ""
        return self._add(
            f'<div class="scroll" tabindex="0"><table>{title}<thead><tr>{head}</tr></thead>\n'
            f"<tbody>\n{lines}\n</tbody></table></div>"
        )

    def proof(self, certificate: Certificate | Kernel) -> Self:
        """Add a proof tree whose nodes fold."""
        return self._add(tree(certificate))

    def figure(self, figure: Any, caption: str, description: str = "") -> Self:
        """Add a matplotlib figure as SVG; ``description`` is for readers who cannot see it."""
        self._figures += 1
        drawing = inline_svg(figure, description or caption.replace("`", ""), f"figure{self._figures}")
        return self._add(f"<figure>\n{drawing}\n<figcaption>{_inline(caption)}</figcaption>\n</figure>")

    def _add(self, part: str) -> Self:
        self._parts.append(part)
        return self

    # -- the page -----------------------------------------------------------------------------
    def html(self) -> str:
        """Return the page."""
        contents = ""
        if len(self._headings) > 1:
            links = "".join(f'<li><a href="#{a}">{html.escape(t)}</a></li>' for a, t in self._headings)
            contents = f'<nav aria-label="Contents"><ol>{links}</ol></nav>\n'
        return _PAGE.format(
            title=html.escape(self.title),
            style=PAGE_CSS + PROOF_CSS,
            lead=f'<p class="lead">{_inline(self.lead)}</p>\n' if self.lead else "",
            contents=contents,
            body="\n".join(self._parts),
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page and return where it is.  A page that was there stays whole until the new one is."""
        return write_atomically(path, self.html())


def write_atomically(path: str | os.PathLike[str], text: str) -> Path:
    """Write a UTF-8 text file aside, bring it to the disk, and only then give it its name."""
    target = Path(path)
    if target.is_symlink():
        target = target.resolve()
    descriptor, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():  # its permissions, else those of a plain new file
            mode = target.stat().st_mode & 0o777
        else:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(aside, mode)
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    if os.name == "posix":  # the new name, too: elsewhere a folder cannot be opened
        descriptor = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    return target


def _inline(text: str) -> str:
    """Escape, and set what is between backticks as code."""
    pieces = html.escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if i % 2 else piece for i, piece in enumerate(pieces))


def _cell(value: Any) -> tuple[str, bool]:
    """A cell as HTML, and whether it is a number."""
    if isinstance(value, Fragment):
        return str(value), False
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _inline(str(value)), False
    return html.escape(f"{value:,}" if isinstance(value, int) else f"{value:.4g}"), True
