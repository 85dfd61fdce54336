"""A matplotlib figure as inline SVG: nothing external, ids of its own, colours that follow the page."""

from __future__ import annotations

import html
import io
import re
from typing import Any

from .canvas import COLOURS, INK, STYLE, follows_theme, matplotlib

__all__ = ["inline_svg"]


def inline_svg(figure: Any, description: str, prefix: str) -> str:
    """Return a figure as an ``<svg>`` element.

    Parameters
    ----------
    figure : matplotlib Figure
    description : str
        What it shows, for readers who cannot see it.
    prefix : str
        Put before every id, so that several figures live on one page.
    """
    buffer = io.StringIO()
    with matplotlib().rc_context(STYLE):
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = buffer.getvalue()
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(xmlns|xmlns:xlink|version)="[^"]*"', "", text)
    text = text.replace("xlink:href=", "href=")
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = text.replace("url(#", f"url(#{prefix}-").replace('href="#', f'href="#{prefix}-')
    text = re.sub(r"\s*image-rendering:[^;\"]*;?", "", text)  # else browsers drop rows when they scale down
    theme = ""
    if follows_theme(figure):
        # Ink becomes the colour of the text around, and each named colour a variable of the page.
        text = re.sub(re.escape(INK), "currentColor", text, flags=re.IGNORECASE)
        for name, value in COLOURS.items():
            text = re.sub(re.escape(value), f"var(--{name}, {value})", text, flags=re.IGNORECASE)
        # One sans-serif family for the page and its figures.
        text = re.sub(r"'[^']*(?:DejaVu|Helvetica)[^;\"]*sans-serif", "var(--sans, sans-serif)", text)
    else:  # somebody's own colours were chosen for paper
        theme = "; background: white; color: black"
    width = f"{figure.get_figwidth():g}in"
    label = html.escape(description, quote=True)
    head = f'<svg role="img" aria-label="{label}" style="width: {width}{theme}" '
    text = re.sub(r'\s(?:width|height)="[\d.]+pt"', "", text, count=2)
    return text.replace("<svg ", head, 1)
