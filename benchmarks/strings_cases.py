"""Cases of the kernels that count k-mers, against scikit-learn and fastsk; how their time grows with length.

``python -m benchmarks sequence_growth`` prints the fitted exponents.  fastsk comes as sources that need a
header more with recent compilers::

    pip install setuptools wheel pybind11
    CXXFLAGS="-O3 -include cstdint" pip install --no-build-isolation --no-deps fastsk
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from mercer import Kernel
from mercer.kernels import GappedKmer, GappyNGram, Mismatch, NGram, Spectrum, Wildcard

from .harness import Case, Skipped


@cache
def dna(count: int, length: int) -> list[str]:
    """Random strings."""
    letters = np.frombuffer(b"ACGT", dtype=np.uint8)
    rows = np.random.default_rng(0).integers(0, 4, size=(count, length))
    return [letters[row].tobytes().decode() for row in rows]


def same(ours: np.ndarray, peer: np.ndarray) -> bool:
    return bool(np.array_equal(ours, peer))


# -- n-grams --------------------------------------------------------------------------------------
def vectorizer(n: int) -> Callable[[list[str]], np.ndarray]:
    def gram(texts: list[str]) -> np.ndarray:
        vectorizer = CountVectorizer(analyzer="char", ngram_range=(n, n), lowercase=False)
        counts = vectorizer.fit_transform(texts)
        return np.asarray((counts @ counts.T).toarray())

    return gram


def spectrum_case(n: int) -> Case:
    return Case(
        f"spectrum-{n}",
        f"Spectrum({n}), 1,000 DNA strings of 300",
        "scikit-learn CountVectorizer + sparse product",
        lambda: dna(1000, 300),
        Spectrum(n).block,
        vectorizer(n),
        same,
        repeats=11,
        target=4.0,
    )


# -- gapped k-mers --------------------------------------------------------------------------------
def letters_of_dna() -> list[str]:
    if find_spec("fastsk") is None:
        raise Skipped("fastsk is not installed: see benchmarks/strings_cases.py")
    return dna(2000, 100)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """The peer prints from C++."""
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(kept, 1)
            os.close(kept)


def fastsk(texts: list[str]) -> np.ndarray:
    """Exact values on all cores; normalised, as it always does."""
    from fastsk import FastSK

    codes = [[1 + "ACGT".index(letter) for letter in text] for text in texts]
    with silenced():
        kernel = FastSK(g=10, m=4, t=os.cpu_count() or 1, approx=False)
        kernel.compute_train(codes)
    return np.asarray(kernel.get_train_kernel())


def gapped(texts: list[str]) -> np.ndarray:
    return GappedKmer(10, 6).normalized().block(texts)


# -- growth ---------------------------------------------------------------------------------------
LENGTHS = (6_250, 12_500, 25_000, 50_000, 100_000)

GROWING: list[Kernel] = [
    NGram(5),
    NGram(8),
    NGram(40),
    Spectrum(8, reverse_complement=True),
    GappyNGram(3),
    GappyNGram(3, 0.5, 2),
    Mismatch(5, 1),
    Wildcard(5, 2),
    GappedKmer(8, 5),
]


def exponent(kernel: Kernel, repeats: int = 5) -> float:
    """Slope of log time against log length, least times of several, for the matrix of eight strings."""
    times = []
    for length in LENGTHS:
        texts = dna(8, length)
        times.append(min(_seconds(kernel, texts) for _ in range(repeats)))
    return float(np.polyfit(np.log(LENGTHS), np.log(times), 1)[0])


def _seconds(kernel: Kernel, texts: Any) -> float:
    start = time.perf_counter()
    kernel.block(texts)
    return time.perf_counter() - start


def growth_report() -> str:
    """Exponents as a Markdown table."""
    lines = [
        f"| kernel, strings of {LENGTHS[0]:,} to {LENGTHS[-1]:,} letters | exponent of the length |",
        "| --- | ---: |",
    ]
    lines += [f"| `{kernel!r}` | {exponent(kernel):.2f} |" for kernel in GROWING]
    return "\n".join(lines)


CASES: list[Case] = [
    spectrum_case(5),
    spectrum_case(8),
    Case(
        "gapped-kmer",
        "GappedKmer(10, 6), normalised, 2,000 DNA strings of 100",
        "fastsk, exact",
        letters_of_dna,
        gapped,
        fastsk,
        lambda ours, peer: bool(np.allclose(ours, peer, rtol=1e-14, atol=0)),
        repeats=3,
        target=1.0,
    ),
]
