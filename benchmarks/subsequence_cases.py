"""Cases of the kernels on pairs of strings, against strkernels and dynamic programs in NumPy."""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from mercer.kernels import AllSubsequences, EditDistance, LocalAlignment, Subsequence, WeightedDegree

from .harness import Case, Skipped

N, DECAY = 5, 0.5

#: The form that strkernels computes: lengths 1..n with equal weights, normalised.
OURS = Subsequence(N, DECAY, [1.0] * N).normalized()


def texts(count: int, length: int, letters: str = "ACGT") -> list[str]:
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list(letters), length)) for _ in range(count)]


def for_strkernels(count: int, length: int, letters: str) -> list[str]:
    if find_spec("strkernels") is None:
        raise Skipped("strkernels is not installed: pip install strkernels")
    return texts(count, length, letters)


def our_block(X: list[str]) -> np.ndarray:
    return OURS.block(X)


# -- strkernels -----------------------------------------------------------------------------------
def their_block(X: list[str]) -> np.ndarray:
    from strkernels import SubsequenceStringKernel

    return np.asarray(SubsequenceStringKernel(maxlen=N, ssk_lambda=DECAY)(X, X))


def our_degree(X: list[str]) -> np.ndarray:
    return WeightedDegree(20).normalized().block(X)


def their_degree(X: list[str]) -> np.ndarray:
    from strkernels import WeightedDegreeStringKernel

    return np.asarray(WeightedDegreeStringKernel(degree=20)(X, X))


# -- NumPy ----------------------------------------------------------------------------------------
def numpy_pair(x: np.ndarray, y: np.ndarray, decayed: np.ndarray) -> float:
    """All lengths at once, row by row; ``decayed`` sums along a row with decay."""
    spread = np.zeros((N - 1, len(y)))
    total = np.zeros(N)
    weights = DECAY ** (2 * np.arange(1, N + 1))
    for a in x:
        ends = np.zeros((N, len(y)))
        equal = y == a
        ends[0, equal] = 1.0
        ends[1:, 1:] = spread[:, :-1] * equal[1:]
        total += ends.sum(axis=1)
        spread = DECAY * spread + ends[:-1] @ decayed
    return float(weights @ total)


def numpy_block(X: list[str]) -> np.ndarray:
    codes = [np.frombuffer(x.encode(), dtype=np.uint8) for x in X]
    places = np.arange(len(codes[0]))
    distances = places - places[:, None]
    decayed = np.where(distances >= 0, DECAY ** np.maximum(distances, 0), 0.0)
    K = np.empty((len(X), len(X)))
    for i, x in enumerate(codes):
        for j, y in enumerate(codes[: i + 1]):
            K[i, j] = K[j, i] = numpy_pair(x, y, decayed)
    d = np.sqrt(K.diagonal())
    return K / np.outer(d, d)


def same(ours: Any, peer: Any) -> bool:
    return bool(np.allclose(ours, peer, rtol=1e-9, atol=1e-12))


# -- growth ---------------------------------------------------------------------------------------
def growth_report(lengths: tuple[int, ...] = (1250, 2500, 5000, 10_000)) -> str:
    """Exponents of the processor time that a block of three strings takes, by their length."""

    def seconds(kernel: Any, length: int) -> float:
        X, times = 3 * texts(1, length), []  # equal: values pass every float at all of these lengths
        for _ in range(2):
            start = time.process_time()
            kernel.block(X)
            times.append(time.process_time() - start)
        return min(times)

    found = []
    for kernel in (
        Subsequence(3, DECAY).normalized(),
        AllSubsequences().normalized(),
        LocalAlignment("dna").normalized(),
        EditDistance(),
    ):
        times = [seconds(kernel, length) for length in lengths]
        slope = np.polyfit(np.log(lengths), np.log(times), 1)[0]
        found.append(f"{kernel!r} takes time as length^{slope:.2f}: {times[-1]:.2g} s at {lengths[-1]:,}")
    return "\n".join(found)


def strkernels_case(letters: str, name: str) -> Case:
    return Case(
        f"subsequence-{name}",
        f"Subsequence({N}, {DECAY}), lengths 1..{N}, normalised, 200 strings of 200, {len(letters)} letters",
        "strkernels (C)",
        lambda: for_strkernels(200, 200, letters),
        our_block,
        their_block,
        same,
        repeats=3,
        target=2.0,
        warm=False,
    )


CASES = [
    strkernels_case("ACGT", "dna"),
    strkernels_case("ARNDCQEGHILKMFPSTWYV", "protein"),
    Case(
        "subsequence-numpy",
        "the same, 40 strings of 200, 4 letters",
        "dynamic program in NumPy",
        lambda: texts(40, 200),
        our_block,
        numpy_block,
        same,
        repeats=3,
        target=50.0,
    ),
    Case(
        "weighted-degree",
        "WeightedDegree(20), normalised, 500 strings of 200, 4 letters",
        "strkernels (C)",
        lambda: for_strkernels(500, 200, "ACGT"),
        our_degree,
        their_degree,
        same,
        repeats=3,
    ),
]
