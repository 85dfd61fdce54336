"""What is known about a kernel: a claim on each of the three properties, and the verdict."""

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
    ``CPD``: conditionally positive definite, of order ``certificate.conditional_order`` (and neither known to
    be positive definite nor to be negative definite).
    ``REFUTED``: shown not to be positive definite.  ``UNKNOWN``: no rule applies.
    """

    STRICT = "STRICT"
    PSD = "PSD"
    NDS = "NDS"
    CPD = "CPD"
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
    >>> from mercer.kernels import PowerDistance
    >>> minus_distance = (-PowerDistance(1.0)).certificate
    >>> minus_distance.is_psd, minus_distance.is_cpd(order=1), minus_distance.conditional_order
    (False, True, 1)
    """

    positive: Claim
    negative: Claim
    conditional: Claim = None  # type: ignore[assignment]  # by default what the positive claim implies

    def __post_init__(self) -> None:
        positive, about = self.positive, self.positive.subject
        if self.conditional is None:
            implied = _open(Property.CONDITIONAL, about, positive.reason)
            if positive.proved:
                reason = "c'Kc >= 0 for all coefficients"
                proof = "positive definite", reason, (positive,)
                implied = Claim(Property.CONDITIONAL, Status.PROVED, about, *proof, strict=positive.strict)
            object.__setattr__(self, "conditional", implied)
        if positive.proved and positive.strict and self.negative.status is Status.UNKNOWN:
            reason = "c = (1, -1) on two distinct points gives c'Kc > 0, for k is strictly positive definite"
            proof = "strictness", reason, (positive,)
            object.__setattr__(self, "negative", Claim(Property.NEGATIVE, Status.REFUTED, about, *proof))

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
        conditional: Claim | None = None,
        conditions: Iterable[str] = (),
    ) -> Certificate:
        """State that the kernel is not positive definite."""
        text = repr(subject)
        positive = Claim(
            Property.POSITIVE, Status.REFUTED, text, rule, reason, (), tuple(conditions), witness=witness
        )
        return cls(
            positive,
            negative or _open(Property.NEGATIVE, text),
            conditional or _open(Property.CONDITIONAL, text),
        )

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
        """Summary of the claims."""
        if self.positive.proved:
            return Verdict.STRICT if self.positive.strict else Verdict.PSD
        if self.negative.proved:
            return Verdict.NDS
        if self.conditional.proved:
            return Verdict.CPD
        return Verdict.REFUTED if self.positive.refuted else Verdict.UNKNOWN

    @property
    def deciding(self) -> Claim:
        """The claim that gives the verdict."""
        decides = {Verdict.NDS: self.negative, Verdict.CPD: self.conditional}
        return decides.get(self.verdict, self.positive)

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

    @property
    def conditional_order(self) -> int | None:
        """The least order m of which the kernel is known to be conditionally positive definite.

        0 for a positive definite kernel; None if no order is known.  Each order implies the next.
        """
        return self.conditional.order if self.conditional.proved else None

    def is_cpd(self, order: int = 1) -> bool:
        r"""Whether the kernel is known to be conditionally positive definite of this order m.

        That is :math:`\sum_{ij} c_i c_j k(x_i, x_j) \ge 0` for all points and all coefficients with
        :math:`\sum_i c_i p(x_i) = 0` for every polynomial p of degree below m: for m = 0 all coefficients,
        for m = 1 those that sum to zero, which makes sense for any objects; from m = 2 on points are vectors.
        """
        return self.conditional.proves_order(order)

    def explain(self) -> str:
        """Print the proof as a tree, the theorem at each node.

        Where the deciding claim leaves another property decided too (a kernel that is negative
        definite and shown not to be positive definite), that claim follows.
        """
        return "\n".join(claim.tree() for claim in self._shown())

    def _shown(self) -> list[Claim]:
        """The deciding claim, and the others that are decided for a reason of their own."""
        first = self.deciding
        others = (c for c in (self.positive, self.negative, self.conditional) if c is not first)
        return [first, *(c for c in others if c.status is not Status.UNKNOWN and first not in c.premises)]

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python data."""
        return {
            "verdict": self.verdict.value,
            "positive": self.positive.to_dict(),
            "negative": self.negative.to_dict(),
            "conditional": self.conditional.to_dict(),
        }

    def __str__(self) -> str:
        return f"{self.verdict}: {self.rule}" if self.rule else str(self.verdict)

    def _repr_html_(self) -> str:
        trees = "".join(claim._html() for claim in self._shown())
        return f'<div class="mercer-proof">{trees}</div>'


def _open(about: Property, subject: str, reason: str = "no rule applies") -> Claim:
    return Claim(about, Status.UNKNOWN, subject, "", reason)
