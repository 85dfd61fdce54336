"""What permutation tests share: settings, widths that do not leak, the result."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..domains import Data, size, take
from ..errors import ParameterError
from ..kernel import Kernel
from .arguments import checked_random

__all__ = [
    "PermutationResult",
    "check_permutations",
    "check_run",
    "check_unbiased",
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
        if not 0 < level < 1:
            raise ParameterError(f"rejects: `level` must be a number between 0 and 1. Got {level!r}.")
        return self.p_value <= level

    def __str__(self) -> str:
        return f"statistic {self.statistic:.6g}, p = {self.p_value:.4g} ({len(self.null)} permutations)"


def check_permutations(count: Any, caller: str) -> None:
    """Raise unless ``count`` is a number of permutations."""
    if isinstance(count, bool) or not isinstance(count, numbers.Integral) or count < 1:
        raise ParameterError(
            f"{caller}: `n_permutations` must be an integer >= 1. Got {count!r}. The p-value is never below "
            "1 / (n_permutations + 1)."
        )


def check_unbiased(value: Any, caller: str) -> None:
    """Raise unless ``value`` says which statistic to use."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{caller}: `unbiased` must be True or False. Got {value!r}.")


def check_run(time_budget: Any, callbacks: Any, caller: str) -> None:
    """Raise unless these are a time budget and callbacks."""
    number = isinstance(time_budget, numbers.Real) and not isinstance(time_budget, bool)
    if time_budget is not None and not (number and time_budget > 0):
        raise ParameterError(
            f"{caller}: `time_budget` must be a number of seconds > 0, or None. Got {time_budget!r}."
        )
    if not isinstance(callbacks, Sequence) or not all(map(callable, callbacks)):
        raise ParameterError(f"{caller}: `callbacks` must be a sequence of callables. Got {callbacks!r}.")


def generator(caller: str, random_state: Any) -> np.random.Generator:
    """Generator from what scikit-learn takes as ``random_state``, or from a generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    seed = checked_random(caller, random_state).randint(0, 2**32, dtype=np.uint64)
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
