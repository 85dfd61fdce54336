r"""Kernels that are not positive definite, as machines meet them: warned of, refused, repaired or centred.

A kernel is conditionally positive definite (of order 1) if :math:`c^\top K c \ge 0` for coefficients that sum
to zero, as :math:`-\|x - y\|`.  A machine with a free intercept has such coefficients at its solution.  It
sees no difference between :math:`k` and

.. math:: \tilde k(x, y) = k(x, y) - k(x, x_0) - k(x_0, y) + k(x_0, x_0),

which is positive definite (Berg, Christensen and Ressel 1984, lemma 3.2.1): where :math:`\sum_i a_i = 0`,
what is subtracted adds a constant to :math:`\sum_i a_i k(x_i, \cdot)` and nothing to :math:`a^\top K a`.
"""

from __future__ import annotations

from ..domains import Data, take
from ..errors import DefinitenessError, warn
from ..gram import Gram
from ..gram.check import check
from ..gram.negative import Negative, negative_eigenvalue
from ..kernel import Kernel

__all__ = [
    "POLICIES",
    "IndefiniteKernelWarning",
    "beside_intercept",
    "negative_eigenvalue_of",
    "refuse_distance",
    "screen",
]

_REPAIRS = ("clip", "flip", "shift")

#: What ``indefinite`` may be.
POLICIES = ("warn", "error", *_REPAIRS)


class IndefiniteKernelWarning(UserWarning):
    """The Gram matrix of the training data has a negative eigenvalue."""


def negative_eigenvalue_of(G: Gram) -> Negative | None:
    """The least eigenvalue if it is negative beyond rounding."""
    if len(G) > 2000:  # smaller ones are checked in full, with a witness in higher precision
        return negative_eigenvalue(G)
    result = check(G, "positive", brief=True)  # what higher precision does not confirm is rounding
    return Negative(result.least_eigenvalue, True) if result.verdict == "refuted" else None


def beside_intercept(kernel: Kernel, points: Data) -> Kernel:
    """The kernel that a machine with a free intercept trains on.

    The kernel itself, or if it is only conditionally positive definite the positive definite one that is
    centred at the first point.
    """
    found = kernel.certificate
    if found.is_psd or not found.is_cpd(order=1):
        return kernel
    return kernel.centered(take(points, slice(0, 1)))


def refuse_distance(kernel: Kernel, policy: str, caller: str, *, refuted: bool = False) -> None:
    """Raise if the kernel is certified as a distance and refuted as positive definite, unless repaired.

    With ``refuted`` these data have refuted it.
    """
    found = kernel.certificate
    if (refuted or found.positive.refuted) and found.is_nds and policy not in _REPAIRS:
        raise DefinitenessError(
            f"{caller} needs a positive definite kernel. Got {kernel!r}, which is a distance (negative "
            f"definite): use k.schoenberg(t), that is exp(-t k), with t > 0. Write "
            f"{caller}({kernel.schoenberg(1.0)!r})."
        )


def screen(G: Gram, policy: str, caller: str, *, any_kernel: bool = False, remedy: str | None = None) -> Gram:
    """Return the Gram matrix to train on, after a warning, an error or a repair if it is indefinite.

    A kernel certified positive definite costs nothing, and one that is certified to be a distance instead is
    an error (unless ``any_kernel`` will do, or a repair is asked for).  Otherwise the training matrix is
    factored; if it has no Cholesky factor its least eigenvalue is computed, from some thousand points on by
    Lanczos iteration, and ``policy`` decides: ``"warn"``, ``"error"``, or a repair.
    :mod:`mercer.gram.negative` says what is done for more than 6,144 points.  A conditionally positive
    definite kernel is refused if there is a ``remedy``: the arguments with which the machine takes it.
    """
    if G.kernel.certificate.is_psd:
        return G
    if not any_kernel:
        refuse_distance(G.kernel, policy, caller)
    least = negative_eigenvalue_of(G)
    if least is None:
        return G
    if not any_kernel:
        refuse_distance(G.kernel, policy, caller, refuted=True)
    if remedy and policy not in _REPAIRS and G.kernel.certificate.is_cpd(order=1):
        raise DefinitenessError(
            f"{caller}: {G.kernel!r} is conditionally positive definite only, for coefficients that sum to "
            f"zero. Set {remedy}: the intercept makes them do so."
        )
    eigenvalue = f"least eigenvalue {'' if least.converged else 'at most '}{least.value:.6g}"
    statement = f"{caller}: {G.kernel!r} is not positive definite on these data ({eigenvalue})."
    if policy == "error":
        raise DefinitenessError(f"{statement} Repair it with indefinite='clip', 'flip' or 'shift'.")
    if policy == "warn":
        warn(f"{statement} Repair it with indefinite='clip', 'flip' or 'shift'.", IndefiniteKernelWarning)
        return G
    return G.repair(policy)  # type: ignore[arg-type]
