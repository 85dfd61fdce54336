"""Formulas as MathML, which browsers draw by themselves: pages need no script and no network."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def render(source: str, display: str) -> str:
    """Convert a formula; several lines are aligned at ``&``."""
    if "\\\\" in source and "\\begin" not in source:
        source = rf"\begin{{aligned}}{source}\end{{aligned}}"
    return convert(source, display=display)


def visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(render(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(render(node.astext(), "block") + "</div>")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
