"""Proof trees as HTML."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..certificate import Certificate, Claim, Status
from ..kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PROOF_CSS", "Fragment", "badge", "proof", "tree"]

PROOF_CSS: Final = Path(__file__).with_name("proof.css").read_text(encoding="utf-8")

_KINDS = {
    "STRICT": "good",
    "PSD": "good",
    "NDS": "nds",
    "CPD": "nds",
    "REFUTED": "bad",
    "not NDS": "bad",
}


class Fragment(str):
    """A piece of HTML: a string that notebooks show as what it means."""

    def _repr_html_(self) -> str:
        return str(self)


def proof(certificate: Certificate | Kernel) -> Fragment:
    """Return the proof of a kernel as an HTML fragment, a tree whose nodes fold.

    Parameters
    ----------
    certificate : Certificate or Kernel

    Returns
    -------
    Fragment
        A string; it brings its own style, which follows the light or dark theme of the reader.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> "inner product" in proof(Linear())
    True
    """
    return Fragment(f"<style>{PROOF_CSS}</style>{tree(certificate)}")


def tree(certificate: Certificate | Kernel) -> str:
    """Return the same without the style, for pages that have it."""
    known = certificate.certificate if isinstance(certificate, Kernel) else certificate
    first = known.deciding
    others = [
        c for c in (known.positive, known.negative) if c is not first and c.status is not Status.UNKNOWN
    ]
    if known.conditional is not first and known.conditional.order > 0:  # order 0 repeats the positive claim
        others.append(known.conditional)
    # The other claims often repeat the whole first proof as their premise: fold them.
    nodes = "".join("".join(_node(claim, folded=claim is not first)) for claim in (first, *others))
    return f'<div class="mercer-proof">{nodes}</div>'


def badge(label: str) -> str:
    """Return a verdict as a coloured label."""
    kind = _KINDS.get(label.partition(" of order")[0], "open")
    return f'<span class="mercer-verdict {kind}">{html.escape(label)}</span>'


def _node(claim: Claim, folded: bool = False) -> Iterator[str]:
    yield f"<details{'' if folded else ' open'}><summary>{badge(claim.label)} "
    yield f"<code>{html.escape(claim.subject)}</code></summary>"
    if claim.rule or claim.reason:
        rule = f"<b>{html.escape(claim.rule)}</b>" if claim.rule else ""
        yield f"<p>{': '.join(filter(None, (rule, html.escape(claim.reason))))}</p>"
    for condition in claim.conditions:
        yield f'<p class="condition">if {html.escape(condition)}</p>'
    if claim.witness is not None:
        yield f'<p class="witness">witness: <code>{html.escape(str(claim.witness))}</code></p>'
    for premise in claim.premises:
        yield from _node(premise)
    yield "</details>"
