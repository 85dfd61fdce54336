"""Cases of the kernels that count k-mers, against scikit-learn and fastsk; how their time grows with length.

``python -m benchmarks sequence_growth`` prints the fitted exponents.  fastsk comes as sources that need a
header more with recent compilers::

    pip install setuptools wheel pybind11
    CXXFLAGS="-O3 -include cstdint" pip install --no-build-isolation --no-deps fastsk
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from mercer import Kernel
from mercer.kernels import GappedKmer, GappyNGram, Mismatch, NGram, Spectrum, Wildcard
from mercer.machines import SVC

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


# -- windows that agree in part -------------------------------------------------------------------
def packed_windows(texts: list[str], length: int) -> list[np.ndarray]:
    """Windows of DNA as numbers, two bits to a letter."""
    rows = []
    for text in texts:
        codes = np.searchsorted(list("ACGT"), list(text)).astype(np.uint64)
        windows = np.lib.stride_tricks.sliding_window_view(codes, length)
        rows.append((windows << (2 * np.arange(length, dtype=np.uint64))).sum(axis=1, dtype=np.uint64))
    return rows


def by_popcount(length: int, k: int) -> Callable[[list[str]], np.ndarray]:
    """Gapped k-mers by XOR and popcount over all pairs of windows."""
    values = np.array([math.comb(length - d, k) for d in range(length + 1)], dtype=float)
    odd = np.uint64(0x5555555555555555)

    def gram(texts: list[str]) -> np.ndarray:
        rows = packed_windows(texts, length)
        K = np.empty((len(rows), len(rows)))
        for i, x in enumerate(rows):
            for j, y in enumerate(rows[: i + 1]):
                change = x[:, None] ^ y
                distances = np.bitwise_count((change | change >> np.uint64(1)) & odd)
                K[i, j] = K[j, i] = np.bincount(distances.ravel(), minlength=length + 1) @ values
        return K

    return gram


def by_neighbours(texts: list[str]) -> np.ndarray:
    """Mismatch(6, 1): a column for each of 4,096 words, multiplied in full."""
    counts = np.zeros((len(texts), 4**6))
    for row, windows in zip(counts, packed_windows(texts, 6), strict=True):
        np.add.at(row, windows.astype(np.intp), 1.0)
    words = np.arange(4**6)
    changes = [letter << (2 * place) for place in range(6) for letter in (1, 2, 3)]
    features = counts + sum(counts[:, words ^ change] for change in changes)
    return np.asarray(features @ features.T)


def popcount_case(length: int, k: int) -> Case:
    return Case(
        f"gapped-{length}-{k}",
        f"GappedKmer({length}, {k}), 200 DNA strings of 200",
        "NumPy, XOR and popcount of packed windows",
        lambda: dna(200, 200),
        GappedKmer(length, k).block,
        by_popcount(length, k),
        same,
        repeats=3,
        target=1.0,
    )


def one_pair(pair: list[str]) -> np.ndarray:
    return np.array(NGram(5)(*pair))


def two_counters(pair: list[str]) -> np.ndarray:
    x, y = (Counter(text[i : i + 5] for i in range(len(text) - 4)) for text in pair)
    return np.array(float(sum(count * y[gram] for gram, count in x.items())))


@cache
def trained() -> SVC:
    texts = dna(600, 200)
    return SVC(GappedKmer(6, 4).normalized()).fit(texts, np.arange(len(texts)) % 2)


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
    popcount_case(8, 5),
    popcount_case(13, 6),
    Case(
        "mismatch-6-1",
        "Mismatch(6, 1), 1,000 DNA strings of 200",
        "NumPy, features multiplied in full",
        lambda: dna(1000, 200),
        Mismatch(6, 1).block,
        by_neighbours,
        same,
        repeats=3,
        target=1.0,
    ),
    Case(
        "one-pair",
        "NGram(5), one value of two strings of 1,000,000",
        "collections.Counter",
        lambda: dna(2, 1_000_000),
        one_pair,
        two_counters,
        same,
        repeats=3,
        target=0.5,
    ),
    Case(
        "explain",
        "SVC.explain, GappedKmer(6, 4), 600 DNA strings of 200",
        "decision_function on the same point",
        lambda: dna(600, 200)[0],
        lambda x: trained().explain(x).value,
        lambda x: abs(float(trained().decision_function([x])[0])),
        lambda ours, peer: bool(np.isclose(ours, peer)),
        repeats=3,
    ),
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
