"""Certificates: what is known about the definiteness of a kernel, and why.

A certificate answers two questions, each with *proved*, *refuted* or *unknown*:

- is ``k`` **positive definite**: ``sum_ij c_i c_j k(x_i, x_j) >= 0`` for all points and coefficients?
- is ``k`` **negative definite**: ``sum_ij c_i c_j k(x_i, x_j) <= 0`` for all points and all
  coefficients with ``sum_i c_i = 0``?

Every answer is a :class:`Claim`: the theorem that gave it, the claims it rests on (a tree), the
conditions on the domain, and, where it is refuted, a :class:`Witness` that anyone can recompute.
Claims are derived from the structure of the expression and from parameters, never from numbers:
numbers can refute, they cannot prove.
"""

from __future__ import annotations

import enum
import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

__all__ = ["Certificate", "Claim", "Property", "Status", "Verdict", "Witness"]


class Status(enum.Enum):
    """What is known about a claim."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


class Property(enum.Enum):
    """The two properties a certificate speaks about."""

    POSITIVE = "positive definite"
    NEGATIVE = "negative definite"


class Verdict(enum.Enum):
    """One-word summary of a certificate.

    ``STRICT``: positive definite, and the Gram matrix of distinct points is nonsingular.
    ``PSD``: positive definite.  ``NDS``: negative definite (and not known to be positive definite).
    ``REFUTED``: shown not to be positive definite.  ``UNKNOWN``: no rule applies.
    """

    STRICT = "STRICT"
    PSD = "PSD"
    NDS = "NDS"
    REFUTED = "REFUTED"
    UNKNOWN = "UNKNOWN"

    def __str__(self) -> str:
        return self.value


class _Precise(Protocol):
    """What a witness needs of a kernel."""

    def precise(self, x: Any, y: Any, digits: int = 50) -> Any: ...


@dataclass(frozen=True)
class Witness:
    """Points and coefficients whose quadratic form has the forbidden sign.

    Attributes
    ----------
    points : tuple
        The points ``x_1, ..., x_m``.
    coefficients : tuple of float
        The coefficients ``c_1, ..., c_m`` (summing to zero against negative definiteness).
    value : float
        ``sum_ij c_i c_j k(x_i, x_j)``, rounded from the precise evaluation.
    refutes : Property
        The property that the value contradicts.
    digits : int
        Decimal digits carried in the recomputation (15 when only floats were available).
    error : float
        Bound on the error of ``value``; always smaller than ``abs(value)``.
    """

    points: tuple[Any, ...]
    coefficients: tuple[float, ...]
    value: float
    refutes: Property = Property.POSITIVE
    digits: int = 50
    error: float = 0.0

    @classmethod
    def of(
        cls,
        kernel: _Precise,
        points: Sequence[Any],
        coefficients: Sequence[float],
        refutes: Property = Property.POSITIVE,
        digits: int = 50,
    ) -> Witness:
        """Evaluate the quadratic form with ``digits`` decimal digits and keep it as a witness."""
        weights = [float(c) for c in coefficients]
        terms = [
            kernel.precise(x, y, digits) * ci * cj
            for ci, x in zip(weights, points, strict=True)
            for cj, y in zip(weights, points, strict=True)
        ]
        error = 0.0
        if not getattr(kernel, "is_precise", True):  # floats only: each term may be off by a few ulp
            digits = 15
            error = 8 * float(np.finfo(np.float64).eps) * sum(abs(float(term)) for term in terms)
        return cls(tuple(points), tuple(weights), float(sum(terms)), refutes, digits, error)

    def __str__(self) -> str:
        positive = self.refutes is Property.POSITIVE
        conclusion = f"c'Kc = {self.value:.6g} {'< 0' if positive else '> 0 although sum(c) = 0'}"
        if len(self.points) > 12:
            return f"{len(self.points)} points (see .points and .coefficients): {conclusion}"
        points = ", ".join(_short(p) for p in self.points)
        coefficients = ", ".join(f"{c:.6g}" for c in self.coefficients)
        return f"points [{points}], c = ({coefficients}): {conclusion}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python data."""
        return {
            "points": [_plain(p) for p in self.points],
            "coefficients": list(self.coefficients),
            "value": self.value,
            "refutes": self.refutes.value,
            "digits": self.digits,
            "error": self.error,
        }


@dataclass(frozen=True)
class Claim:
    """One property of one kernel: its status, and the reason for it.

    ``strict`` sharpens a proved claim for distinct points.  Positive: their Gram matrix is nonsingular.
    Negative: they are at a positive distance, ``k(x, y) > (k(x, x) + k(y, y)) / 2``.
    """

    about: Property
    status: Status
    subject: str
    rule: str
    reason: str = ""
    premises: tuple[Claim, ...] = ()
    conditions: tuple[str, ...] = ()
    strict: bool = False
    witness: Witness | None = field(default=None, compare=False)

    @property
    def proved(self) -> bool:
        """Whether the property holds."""
        return self.status is Status.PROVED

    @property
    def refuted(self) -> bool:
        """Whether the property fails."""
        return self.status is Status.REFUTED

    @property
    def asserted(self) -> bool:
        """Whether the claim, or any claim it rests on, is only the user's word."""
        return any(claim.rule == ASSERTED for claim in self.walk())

    @property
    def label(self) -> str:
        """The claim in one word, as shown in proof trees."""
        if self.status is Status.UNKNOWN:
            return "UNKNOWN"
        if self.about is Property.POSITIVE:
            return "REFUTED" if self.refuted else ("STRICT" if self.strict else "PSD")
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
            "conditions": list(self.conditions),
            "witness": None if self.witness is None else self.witness.to_dict(),
            "premises": [premise.to_dict() for premise in self.premises],
        }


#: Rule name of claims that rest on the user's word.
ASSERTED = "asserted"


@dataclass(frozen=True)
class Certificate:
    """What is known about the definiteness of a kernel.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> print((Gaussian(1.0) + 0.5 * Linear()).certificate.verdict)
    STRICT
    """

    positive: Claim
    negative: Claim

    def __post_init__(self) -> None:
        if self.positive.proved and self.positive.strict and self.negative.status is Status.UNKNOWN:
            object.__setattr__(self, "negative", _not_negative(self.positive))

    # -- construction -------------------------------------------------------------------------
    @classmethod
    def psd(
        cls,
        subject: object,
        rule: str,
        reason: str,
        *,
        strict: bool = False,
        conditions: Iterable[str] = (),
        premises: Iterable[Claim] = (),
    ) -> Certificate:
        """Certify positive definiteness; a strict kernel is then not negative definite."""
        text = repr(subject)
        positive = Claim(
            Property.POSITIVE,
            Status.PROVED,
            text,
            rule,
            reason,
            tuple(premises),
            tuple(conditions),
            strict,
        )
        return cls(positive, _open(Property.NEGATIVE, text))

    @classmethod
    def nds(
        cls,
        subject: object,
        rule: str,
        reason: str,
        *,
        conditions: Iterable[str] = (),
        premises: Iterable[Claim] = (),
        separating: bool = False,
        zero_diagonal: bool = False,
        witness: Witness | None = None,
    ) -> Certificate:
        """Certify negative definiteness.

        With ``separating`` distinct points are at a positive distance, which makes ``exp(-t k)`` strictly
        positive definite.  With ``zero_diagonal`` the kernel vanishes at ``(x, x)`` and not everywhere, so
        that it is not positive definite: ``k(x, y)^2 <= k(x, x) k(y, y)`` fails.
        """
        text = repr(subject)
        negative = Claim(
            Property.NEGATIVE,
            Status.PROVED,
            text,
            rule,
            reason,
            tuple(premises),
            tuple(conditions),
            separating,
        )
        if not zero_diagonal:
            return cls(_open(Property.POSITIVE, text), negative)
        positive = Claim(
            Property.POSITIVE,
            Status.REFUTED,
            text,
            "Cauchy-Schwarz",
            "k(x, x) = 0 but k(x, y) != 0 for some pair, so k(x, y)^2 <= k(x, x) k(y, y) fails",
            witness=witness,
        )
        return cls(positive, negative)

    @classmethod
    def refuted(
        cls,
        subject: object,
        rule: str,
        reason: str,
        *,
        witness: Witness | None = None,
        negative: Claim | None = None,
        conditions: Iterable[str] = (),
    ) -> Certificate:
        """State that the kernel is not positive definite."""
        text = repr(subject)
        positive = Claim(
            Property.POSITIVE, Status.REFUTED, text, rule, reason, (), tuple(conditions), witness=witness
        )
        return cls(positive, negative or _open(Property.NEGATIVE, text))

    @classmethod
    def unknown(
        cls, subject: object, reason: str = "no rule applies", premises: Iterable[Claim] = ()
    ) -> Certificate:
        """State that nothing is known."""
        text, premises = repr(subject), tuple(premises)
        return cls(
            replace(_open(Property.POSITIVE, text, reason), premises=premises),
            _open(Property.NEGATIVE, text, reason),
        )

    # -- reading ------------------------------------------------------------------------------
    @property
    def verdict(self) -> Verdict:
        """Summary of both claims."""
        if self.positive.proved:
            return Verdict.STRICT if self.positive.strict else Verdict.PSD
        if self.negative.proved:
            return Verdict.NDS
        return Verdict.REFUTED if self.positive.refuted else Verdict.UNKNOWN

    @property
    def deciding(self) -> Claim:
        """The claim that gives the verdict."""
        return self.negative if self.verdict is Verdict.NDS else self.positive

    @property
    def rule(self) -> str:
        """The theorem that gives the verdict."""
        return self.deciding.rule

    @property
    def premises(self) -> tuple[Claim, ...]:
        """The claims that the verdict rests on."""
        return self.deciding.premises

    @property
    def conditions(self) -> tuple[str, ...]:
        """Every condition on the domain that the proof uses."""
        return self.deciding.all_conditions()

    @property
    def witness(self) -> Witness | None:
        """A refuting witness of the positive claim, else of the negative one, if there is one."""
        return self.positive.witness or self.negative.witness

    @property
    def is_psd(self) -> bool:
        """Whether positive definiteness is proved (or asserted)."""
        return self.positive.proved

    @property
    def is_nds(self) -> bool:
        """Whether negative definiteness is proved (or asserted)."""
        return self.negative.proved

    def explain(self) -> str:
        """Print the proof as a tree, the theorem at each node.

        Where the deciding claim leaves the other property decided too (a kernel that is negative
        definite and shown not to be positive definite), that second claim follows.
        """
        return "\n".join(claim.tree() for claim in self._shown())

    def _shown(self) -> list[Claim]:
        """The deciding claim, and the other one if it is decided for a reason of its own."""
        other = self.positive if self.deciding is self.negative else self.negative
        own_reason = other.status is not Status.UNKNOWN and self.deciding not in other.premises
        return [self.deciding, other] if own_reason else [self.deciding]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python data."""
        return {
            "verdict": self.verdict.value,
            "positive": self.positive.to_dict(),
            "negative": self.negative.to_dict(),
        }

    def __str__(self) -> str:
        return f"{self.verdict}: {self.rule}" if self.rule else str(self.verdict)

    def _repr_html_(self) -> str:
        return f'<div class="mercer-proof">{"".join(map(_html, self._shown()))}</div>'


# -- helpers ----------------------------------------------------------------------------------
def _open(about: Property, subject: str, reason: str = "no rule applies") -> Claim:
    return Claim(about, Status.UNKNOWN, subject, "", reason)


def _not_negative(positive: Claim) -> Claim:
    return Claim(
        Property.NEGATIVE,
        Status.REFUTED,
        positive.subject,
        "strictness",
        "c = (1, -1) on two distinct points gives c'Kc > 0, for k is strictly positive definite",
        (positive,),
    )


def _plain(point: Any) -> Any:
    """Arrays, tuples and sets as lists, so that the result can be written as JSON."""
    if isinstance(point, np.ndarray | np.generic):
        return point.tolist()
    if isinstance(point, frozenset | set):
        return [_plain(p) for p in sorted(point, key=repr)]
    return [_plain(p) for p in point] if isinstance(point, tuple | list) else point


def _short(point: Any, width: int = 60) -> str:
    text = repr(point.tolist()) if isinstance(point, np.ndarray) else repr(point)
    return text if len(text) <= width else text[: width - 3] + "..."


def _draw(claim: Claim, head: str, indent: str) -> Iterator[str]:
    yield f"{head}{claim.label}  {claim.subject}"
    bar = "│ " if claim.premises else "  "
    if claim.rule or claim.reason:
        yield f"{indent}{bar}  {': '.join(filter(None, (claim.rule, claim.reason)))}"
    for condition in claim.conditions:
        yield f"{indent}{bar}  if {condition}"
    if claim.witness is not None:
        yield f"{indent}{bar}  witness: {claim.witness}"
    for i, premise in enumerate(claim.premises):
        last = i == len(claim.premises) - 1
        yield from _draw(premise, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))


_COLOURS = {
    "STRICT": "#1a7f37",
    "PSD": "#1a7f37",
    "NDS": "#0969da",
    "REFUTED": "#cf222e",
    "not NDS": "#cf222e",
}


def _html(claim: Claim) -> str:
    colour = _COLOURS.get(claim.label, "#9a6700")
    notes = [f"<i>{html.escape(claim.rule)}</i> {html.escape(claim.reason)}"]
    notes += [f"if {html.escape(c)}" for c in claim.conditions]
    if claim.witness is not None:
        notes.append(f"witness: <code>{html.escape(str(claim.witness))}</code>")
    body = "<br>".join(notes) + "".join(_html(p) for p in claim.premises)
    return (
        f'<details open style="margin-left:1em"><summary><b style="color:{colour}">{claim.label}</b> '
        f"<code>{html.escape(claim.subject)}</code></summary>"
        f'<div style="margin-left:1em">{body}</div></details>'
    )
