"""Chapter: composed kernels carry their proofs."""

from __future__ import annotations

from ..expressions import evaluate
from .stage import Chapter, Stage

__all__ = ["CHAPTER", "DEEP"]

EXPRESSIONS = (
    "Gaussian(1.0) + 0.5 * Linear()",
    "Polynomial(3).normalized() ** 2",
    "ChiSquare()",
    "ChiSquare().schoenberg(0.5)",
    "1 - Gaussian(1.0)",
    "Gaussian(1.0) - Gaussian(2.0)",
    "Gaussian(1.0) - RationalQuadratic(2.0)",
    "-PowerDistance(1.0)",
    "PowerDistance(3.0)",
)

#: A kernel on histograms that needs many rules at once.
DEEP = "(0.5 * Gaussian(2.0) + Polynomial(2).normalized()) * (ChiSquare() ** 0.5).log1p().schoenberg(3.0)"


def _show(stage: Stage) -> None:
    stage.text(
        "Kernels are values that combine with + * ** and methods. What is known about the definiteness of "
        "each is derived from its structure, with the theorem at every node, never from numbers:"
    )
    rows = []
    for text in EXPRESSIONS:
        certificate = evaluate(text).certificate
        rows.append([f"`{text}`", str(certificate.verdict), certificate.rule or "no rule applies"])
    stage.table(["kernel", "verdict", "by"], rows)
    stage.text(
        "STRICT and PSD are positive definite, NDS negative definite, CPD conditionally positive definite, "
        "REFUTED not positive definite; where no rule applies the verdict is UNKNOWN, not a guess. The proof "
        "of one deep expression:"
    )
    stage.proof(evaluate(DEEP))


CHAPTER = Chapter("Kernels that carry a proof", _show)
