"""What is known about a kernel: a claim on each of the two properties, and the verdict."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from .claim import Claim, Status
from .witness import Property, Witness

__all__ = ["Certificate", "Verdict"]


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
        trees = "".join(claim._html() for claim in self._shown())
        return f'<div class="mercer-proof">{trees}</div>'


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
