"""What permutation tests share: settings, widths that do not leak, the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..domains import Data, size, take
from ..kernel import Kernel
from ..parameters import Checks, check_count, check_number, check_random
from .arguments import check_callbacks, check_time_budget

__all__ = [
    "CHECKS",
    "PermutationResult",
    "generator",
    "resolve_blindly",
]


@dataclass(frozen=True, eq=False)
class PermutationResult:
    """What a permutation test has found.

    Attributes
    ----------
    statistic : float
        The statistic of the sample as it is.
    p_value : float
        Share of the B + 1 statistics that are at least as large; never below 1 / (B + 1).
    null : array of shape (B,)
        The statistics of the permuted samples.
    """

    statistic: float
    p_value: float
    null: np.ndarray = field(repr=False)

    def rejects(self, level: float = 0.05) -> bool:
        """Whether the hypothesis is rejected at this level: true hypotheses are in at most this share."""
        check_number("rejects", "level", level, "a number between 0 and 1", above=0.0, below=1.0)
        return self.p_value <= level

    def __str__(self) -> str:
        return f"statistic {self.statistic:.6g}, p = {self.p_value:.4g} ({len(self.null)} permutations)"


#: What the settings of a test may be.
CHECKS: Checks = {
    "n_permutations": partial(check_count, advice="The p-value is never below 1 / (n_permutations + 1)."),
    "time_budget": check_time_budget,
    "callbacks": check_callbacks,
}


def generator(caller: str, random_state: Any) -> np.random.Generator:
    """Generator from what scikit-learn takes as ``random_state``, or from a generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    seed = check_random(caller, "random_state", random_state).randint(0, 2**32, dtype=np.uint64)
    return np.random.default_rng(int(seed))


def resolve_blindly(kernel: Kernel, points: Data, rng: np.random.Generator) -> Kernel:
    """Fix data-dependent parameters by the set of the points, blind to their order.

    A rule may look at some of many points only, chosen by position.  The order is shuffled before, so that
    the parameter is a function of the set of points and of chance: permuting the points, or relabelling
    them, does not change its distribution.
    """
    if kernel.is_resolved:
        return kernel
    return kernel.resolve(take(points, rng.permutation(size(points))))
