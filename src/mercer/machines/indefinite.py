"""Kernels that are not positive definite, as machines meet them: told, refused or repaired."""

from __future__ import annotations

from ..errors import DefinitenessError, ParameterError
from ..gram import Gram
from ..gram.spectrum import least_eigenvalue, rounding_level
from .notices import tell

__all__ = ["IndefiniteKernelWarning", "screen"]

#: Matrices up to this size are checked in full, with a witness in higher precision.
MOST_CHECKED = 2000

_REPAIRS = ("clip", "flip", "shift")


class IndefiniteKernelWarning(UserWarning):
    """The Gram matrix of the training data has a negative eigenvalue."""


def _negative_eigenvalue(G: Gram) -> float | None:
    """The least eigenvalue if it is negative beyond rounding."""
    n = len(G)
    if n <= MOST_CHECKED:
        result = G.check("positive")  # what higher precision does not confirm is rounding
        return result.least_eigenvalue if result.verdict == "refuted" else None
    least, largest = least_eigenvalue(G)
    return least if least < -rounding_level(n, G._eps, largest) else None


def screen(G: Gram, policy: str, caller: str) -> Gram:
    """Return the Gram matrix to train on, after saying what an indefinite one deserves.

    A kernel certified positive definite costs nothing.  Otherwise the least eigenvalue of the training
    matrix is computed, from some thousand points on by Lanczos iteration on products, and ``policy`` decides:
    ``"warn"``, ``"error"``, or a repair.
    """
    if policy not in ("warn", "error", *_REPAIRS):
        options = ", ".join(map(repr, ("warn", "error", *_REPAIRS)))
        raise ParameterError(f"{caller}: `indefinite` must be one of {options}. Got {policy!r}.")
    if G.kernel.certificate.is_psd:
        return G
    least = _negative_eigenvalue(G)
    if least is None:
        return G
    statement = (
        f"{caller}: {G.kernel!r} is not positive definite on these data (least eigenvalue {least:.6g})."
    )
    if policy == "error":
        raise DefinitenessError(f"{statement} Repair it with indefinite='clip', 'flip' or 'shift'.")
    if policy == "warn":
        tell(f"{statement} Repair it with indefinite='clip', 'flip' or 'shift'.", IndefiniteKernelWarning)
        return G
    return G.repair(policy)  # type: ignore[arg-type]
