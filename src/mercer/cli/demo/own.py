"""Chapter: a kernel of the user's own, on strings."""

from __future__ import annotations

import inspect

from . import words
from .stage import Chapter, Stage

__all__ = ["CHAPTER"]


def _show(stage: Stage) -> None:
    stage.text("Points may be any Python objects. Two kernels on words, one a plain function:")
    # the lines of ``words`` that define the kernels, as they are
    source = inspect.getsource(words)
    body = source[source.index("# begin\n") + len("# begin\n") : source.index("# end\n")]
    stage.code(body.replace("  # type: ignore[no-untyped-def]", "").strip())
    k = words.letters.normalized() + words.shared_pairs
    stage.text(
        "A plain function has no proof, only its author's word, and the tree says so; the second kernel is "
        "certified, for pulling a kernel back through any function keeps it positive definite:"
    )
    stage.proof(k)
    rows = [
        [a, b, f"{k(a, b):.3f}"] for a, b in (("light", "night"), ("light", "notte"), ("mondo", "grande"))
    ]
    stage.table(["x", "y", "k(x, y)"], rows, right=[2])


CHAPTER = Chapter("A kernel of your own, on strings", _show)
