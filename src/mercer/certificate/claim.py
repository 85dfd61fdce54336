"""Claims: one property of one kernel, and the proof of it as a tree of claims."""

from __future__ import annotations

import enum
import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .witness import Property, Witness

__all__ = ["ASSERTED", "Claim", "Status", "negated"]

#: Rule name of claims that rest on the user's word.
ASSERTED = "asserted"


class Status(enum.Enum):
    """What is known about a claim."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Claim:
    """One property of one kernel: its status, and the reason for it.

    ``strict`` sharpens a proved claim for distinct points.  Positive: their Gram matrix is nonsingular.
    Negative: they are at a positive distance, ``k(x, y) > (k(x, x) + k(y, y)) / 2``.  Conditional: the same
    for ``-k``.  ``order`` is the order m of a conditional claim, which speaks of coefficients with
    ``sum_i c_i p(x_i) = 0`` for every polynomial p of degree below m.
    """

    about: Property
    status: Status
    subject: str
    rule: str
    reason: str = ""
    premises: tuple[Claim, ...] = ()
    conditions: tuple[str, ...] = ()
    strict: bool = False
    order: int = 0
    witness: Witness | None = field(default=None, compare=False)

    @property
    def proved(self) -> bool:
        """Whether the property holds."""
        return self.status is Status.PROVED

    @property
    def refuted(self) -> bool:
        """Whether the property fails."""
        return self.status is Status.REFUTED

    def proves_order(self, order: int) -> bool:
        """Whether a conditional claim is proved, of this order or a lower one, which implies it."""
        return self.proved and self.order <= order

    @property
    def asserted(self) -> bool:
        """Whether the claim, or any claim it rests on, is only the user's word."""
        return any(claim.rule == ASSERTED for claim in self.walk())

    @property
    def contradicted(self) -> str:
        """What a confirmed witness says of this claim, as a sentence."""
        assumed = next((claim for claim in self.walk() if claim.rule == ASSERTED), None)
        if assumed is not None:
            return f"So what was assumed of {assumed.subject} is wrong ({assumed.reason})."
        return f"So the certificate is wrong: its rule `{self.rule}` does not hold for {self.subject}."

    @property
    def label(self) -> str:
        """The claim in one word, as shown in proof trees."""
        if self.status is Status.UNKNOWN:
            return "UNKNOWN"
        if self.about is Property.POSITIVE:
            return "REFUTED" if self.refuted else ("STRICT" if self.strict else "PSD")
        if self.about is Property.CONDITIONAL:
            return f"{'not ' if self.refuted else ''}CPD of order {self.order}"
        return "not NDS" if self.refuted else "NDS"

    def walk(self) -> Iterator[Claim]:
        """Iterate over the claim and everything it rests on, parents first."""
        yield self
        for premise in self.premises:
            yield from premise.walk()

    def all_conditions(self) -> tuple[str, ...]:
        """Collect the conditions of the whole proof, without repetition."""
        return tuple(dict.fromkeys(c for claim in self.walk() for c in claim.conditions))

    def tree(self) -> str:
        """Draw the proof as text."""
        return "\n".join(_draw(self, "", ""))

    @property
    def evidence(self) -> str:
        """The witness of a refuted claim, or that there is none; empty for other claims."""
        if self.witness is not None:
            return f"witness: {self.witness}"
        if not self.refuted or any(claim.witness is not None for claim in self.walk()):
            return ""
        return "no witness: refuted by the theorem alone"

    def _html(self) -> str:
        """Draw the proof as HTML, with nodes that fold."""
        colour = _COLOURS.get(self.label.partition(" of order")[0], "#9a6700")
        notes = [f"<i>{html.escape(self.rule)}</i> {html.escape(self.reason)}"]
        notes += [f"if {html.escape(c)}" for c in self.conditions]
        if self.evidence:
            notes.append(html.escape(self.evidence))
        body = "<br>".join(notes) + "".join(premise._html() for premise in self.premises)
        return (
            f'<details open style="margin-left:1em"><summary><b style="color:{colour}">{self.label}</b> '
            f"<code>{html.escape(self.subject)}</code></summary>"
            f'<div style="margin-left:1em">{body}</div></details>'
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python data."""
        return {
            "about": self.about.value,
            "status": self.status.value,
            "label": self.label,
            "subject": self.subject,
            "rule": self.rule,
            "reason": self.reason,
            "strict": self.strict,
            "order": self.order,
            "conditions": list(self.conditions),
            "witness": None if self.witness is None else self.witness.to_dict(),
            "premises": [premise.to_dict() for premise in self.premises],
        }


def negated(negative: Claim) -> Claim:
    """From a negative definite kernel ``k`` to ``-k``, conditionally positive definite of order 1."""
    subject = f"-({negative.subject})"
    if not negative.proved:
        return Claim(Property.CONDITIONAL, Status.UNKNOWN, subject, "", negative.reason, (negative,))
    reason = "minus a negative definite kernel"
    return Claim(
        Property.CONDITIONAL,
        Status.PROVED,
        subject,
        "negation",
        reason,
        (negative,),
        strict=negative.strict,
        order=1,
    )


def _draw(claim: Claim, head: str, indent: str) -> Iterator[str]:
    yield f"{head}{claim.label}  {claim.subject}"
    bar = "│ " if claim.premises else "  "
    if claim.rule or claim.reason:
        yield f"{indent}{bar}  {': '.join(filter(None, (claim.rule, claim.reason)))}"
    for condition in claim.conditions:
        yield f"{indent}{bar}  if {condition}"
    if claim.evidence:
        yield f"{indent}{bar}  {claim.evidence}"
    for i, premise in enumerate(claim.premises):
        last = i == len(claim.premises) - 1
        yield from _draw(premise, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))


_COLOURS = {
    "STRICT": "#1a7f37",
    "PSD": "#1a7f37",
    "NDS": "#0969da",
    "CPD": "#0969da",
    "REFUTED": "#cf222e",
    "not NDS": "#cf222e",
}
