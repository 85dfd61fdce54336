"""Kernels that are not positive definite, as machines meet them: told, refused or repaired."""

from __future__ import annotations

import warnings

from ..errors import DefinitenessError, ParameterError
from ..gram import Gram

__all__ = ["IndefiniteKernelWarning", "screen"]

_REPAIRS = ("clip", "flip", "shift")


class IndefiniteKernelWarning(UserWarning):
    """The Gram matrix of the training data has a negative eigenvalue."""


def screen(G: Gram, policy: str, caller: str) -> Gram:
    """Return the Gram matrix to train on, after saying what an indefinite one deserves.

    A kernel certified positive definite costs nothing.  Otherwise the spectrum of the training matrix is
    checked, and ``policy`` decides: ``"warn"``, ``"error"``, or a repair.
    """
    if policy not in ("warn", "error", *_REPAIRS):
        options = ", ".join(map(repr, ("warn", "error", *_REPAIRS)))
        raise ParameterError(f"{caller}: `indefinite` must be one of {options}. Got {policy!r}.")
    if G.kernel.certificate.is_psd:
        return G
    result = G.check("positive")
    if result.verdict != "refuted":  # what higher precision does not confirm is rounding
        return G
    statement = (
        f"{caller}: {G.kernel!r} is not positive definite on these data "
        f"(least eigenvalue {result.least_eigenvalue:.6g})."
    )
    if policy == "error":
        raise DefinitenessError(f"{statement} Repair it with indefinite='clip', 'flip' or 'shift'.")
    if policy == "warn":
        warnings.warn(
            f"{statement} Repair it with indefinite='clip', 'flip' or 'shift'.",
            IndefiniteKernelWarning,
            stacklevel=3,
        )
        return G
    return G.repair(policy)  # type: ignore[arg-type]
