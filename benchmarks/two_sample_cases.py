"""The two-sample test, against hyppo, which recomputes its statistic for every permutation."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np

from mercer.kernels import Gaussian
from mercer.machines import MMDTest

from .harness import Case

Data = tuple[np.ndarray, np.ndarray]

SIGMA = 3.0
#: hyppo takes minutes for 500 permutations: it does a tenth of them, and is asked for a tenth of the ratio.
PERMUTATIONS, PEER_PERMUTATIONS = 500, 50
TARGET = 200


def samples() -> Data:
    rng = np.random.default_rng(0)
    return rng.standard_normal((1000, 10)), rng.standard_normal((1000, 10)) + 0.05


def ours(data: Data) -> float:
    test = MMDTest(Gaussian(SIGMA), n_permutations=PERMUTATIONS, unbiased=True, random_state=0)
    return test.test(*data).p_value


def hyppo(data: Data) -> float:
    from hyppo.ksample import MMD

    test: Any = MMD(compute_kernel="gaussian", gamma=1 / (2 * SIGMA**2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = test.test(*data, reps=PEER_PERMUTATIONS, workers=1, auto=False, random_state=0)
    return float(result[1])


CASES: list[Case] = []

if find_spec("hyppo"):
    CASES.append(
        Case(
            "mmd",
            f"MMD test, n=m=1,000, {PERMUTATIONS} permutations ({PEER_PERMUTATIONS} of the peer: ratio x "
            f"{PERMUTATIONS // PEER_PERMUTATIONS} for equal work)",
            "hyppo `MMD`",
            samples,
            ours,
            hyppo,
            lambda a, b: abs(a - b) < 0.25,  # the error of a p-value of 50 permutations
            repeats=3,
            target=TARGET * PEER_PERMUTATIONS / PERMUTATIONS,
        )
    )
