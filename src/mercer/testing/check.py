"""Run the laws on one kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..kernel import Kernel
from .laws import LAWS
from .trial import Broken, LawViolation, Skip, Trial

__all__ = ["Report", "check_kernel"]


@dataclass(frozen=True)
class Report:
    """Which laws a kernel was found to obey, and which did not apply, with the reason."""

    kernel: Kernel
    held: tuple[str, ...]
    skipped: Mapping[str, str]

    def __str__(self) -> str:
        lines = [f"{self.kernel!r} obeys {len(self.held)} laws: {', '.join(self.held)}."]
        return "\n".join(lines + [f"  {name} does not apply: {why}" for name, why in self.skipped.items()])


def check_kernel(
    k: Kernel, samples: Any, *, laws: Iterable[str] | None = None, random_state: int = 0
) -> Report:
    """Check a kernel, your own or one of the package, against every law that applies to it.

    Parameters
    ----------
    k : Kernel
    samples : sequence of points
        Anything that ``k.block`` accepts.  Give awkward points: zeros, repeats, extremes.  At most 16 are
        used, chosen at random if there are more.
    laws : iterable of str, optional
        Names of the laws to check; by default all of :data:`mercer.testing.LAWS`.
    random_state : int, default=0
        Seed of what is random (permutations, choice of points).

    Returns
    -------
    Report
        The laws that hold, and those that do not apply.

    Raises
    ------
    LawViolation
        Naming the law, the kernel and the smallest counterexample found.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> points = [[0.0, 0.0], [1.0, 2.0], [1e3, -1.0]]
    >>> print(check_kernel(Gaussian(2.0), points, laws=["symmetry", "positive"]))
    Gaussian(sigma=2.0) obeys 2 laws: symmetry, positive.
    """
    if not isinstance(k, Kernel):
        raise TypeError(f"check_kernel: `k` must be a Kernel. Got {k!r}; wrap functions with mercer.kernel.")
    names = list(LAWS) if laws is None else list(laws)
    unknown = [name for name in names if name not in LAWS]
    if unknown:
        raise ParameterError(f"check_kernel: no law is named {unknown[0]!r}. The laws: {', '.join(LAWS)}.")
    trial = Trial(k, samples, np.random.default_rng(random_state))
    held, skipped = [], {}
    for name in names:
        law = LAWS[name]
        try:
            law.check(trial)
        except Skip as reason:
            skipped[name] = str(reason)
        except Broken as found:
            raise LawViolation(name, law.statement, k, found.detail, found.points) from None
        except Exception as error:
            detail = f"it raised {type(error).__name__}: {error}"
            raise LawViolation(name, law.statement, k, detail, ()) from error
        else:
            held.append(name)
    return Report(k, tuple(held), skipped)
