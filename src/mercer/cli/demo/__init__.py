"""``mercer demo``: what the library does, on data that comes with scikit-learn or is generated.

=================  =====================================================================================
``contents``       the chapters and the tasks: **the list to add to**
``stage``          where chapters show things: the terminal, and the page
``tasks``          what a task and its rows are
``pictures``       chapter: Gram matrices, spectra and predictions; on the page only
``proofs``         chapter: composed kernels and their proof trees
``refutation``     chapter: a bad kernel, and the witness against it
``own``            chapter: a kernel of the user's own, on strings
``training``       chapter: the table (task, kernel, score, time)
``sequences``      chapter: kernels on strings, with ``strings``, where those come from
``shapes``         chapter: graphs, trees, kernel graphs; with ``structured``, rows of questions and molecules
``structure``      chapter: components, clusters, tests, semi-supervised learning
``data``           data that comes with scikit-learn
``diabetes``       rows: regression
``digits``         rows: classification by histogram kernels
``words``          rows: classification of strings
=================  =====================================================================================

A later kind of data adds a file with a ``TASK`` (or a ``CHAPTER``) and a line in ``contents``.
"""

from __future__ import annotations

import time
from pathlib import Path

__all__ = ["run"]

LEAD = "Kernels that carry a proof of their definiteness, and machines trained on them."


def run(output: Path | None, *, quick: bool = False) -> None:
    """Run the demonstration.

    Parameters
    ----------
    output : Path or None
        Where to write the page; None for none (then matplotlib is not needed).
    quick : bool, default=False
        Smaller data, no search over parameters.
    """
    from .contents import CHAPTERS
    from .data import QUICK_IMAGES, QUICK_PATIENTS
    from .stage import Stage

    started = time.perf_counter()
    stage = Stage.open(output, quick)
    if quick:
        stage.text(
            f"The quick version: the first {QUICK_PATIENTS} patients, the first {QUICK_IMAGES} images of "
            "each digit, every other word. `make demo` (or `mercer demo`) takes all of them."
        )
    shown = [chapter for chapter in CHAPTERS if stage.page is not None or not chapter.needs_page]
    for number, chapter in enumerate(shown, start=1):
        stage.heading(f"{number}. {chapter.title}")
        chapter.show(stage)
    if output is not None and stage.page is not None:
        where = stage.page.save(output)
        print(f"\nThe page: {where.resolve()}")
    print(f"\nDone in {time.perf_counter() - started:.1f} s.")
