"""Cases of kernels on texts and long strings, and how their time grows with the length.

``python -m benchmarks sequence_growth`` prints the growth; the cases run with the others.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from mercer import Kernel
from mercer.kernels import BagOfWords, ContextTree, Factors

from .harness import Case, Skipped


# -- bags of words ------------------------------------------------------------------------------
def messages() -> list[str]:
    folder = Path(os.environ.get("MERCER_DATA", Path(__file__).parents[2] / "shared" / "data"))
    file = folder / "sms_spam" / "SMSSpamCollection"
    if not file.exists():
        raise Skipped(f"{file} is not there: point MERCER_DATA at its folder")
    return [line.partition("\t")[2] for line in file.read_text(encoding="utf-8").splitlines()]


def our_tfidf(texts: list[str]) -> np.ndarray:
    return BagOfWords(idf="fit").resolve(texts).normalized().block(texts)


def their_tfidf(texts: list[str]) -> np.ndarray:
    rows = TfidfVectorizer(token_pattern=r"\w+").fit_transform(texts)
    return np.asarray((rows @ rows.T).toarray())


def our_bigrams(texts: list[str]) -> np.ndarray:
    return BagOfWords(ngrams=(1, 2), idf="fit").resolve(texts).normalized().block(texts)


def their_bigrams(texts: list[str]) -> np.ndarray:
    rows = TfidfVectorizer(token_pattern=r"\w+", ngram_range=(1, 2)).fit_transform(texts)
    return np.asarray((rows @ rows.T).toarray())


# -- long strings -------------------------------------------------------------------------------
def dna(n: int, length: int) -> list[str]:
    letters = np.array(list("ACGT"))
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(letters, size=length)) for _ in range(n)]


def sets_of_factors(X: list[str]) -> np.ndarray:
    """Every factor of every string in a Python set."""
    sets = [{x[i:j] for i in range(len(x)) for j in range(i + 1, len(x) + 1)} for x in X]
    return np.array([[float(len(a & b)) for b in sets] for a in sets])


def trees_in_python(X: list[str], depth: int = 5) -> np.ndarray:
    """The weighted-tree recursion on dictionaries of counts, every pair from its own counts."""
    lgamma, b = math.lgamma, 0.5

    def counts(x: str) -> dict[str, Counter[str]]:
        found: dict[str, Counter[str]] = {}
        for i in range(depth, len(x)):
            for d in range(depth + 1):
                found.setdefault(x[i - d : i], Counter())[x[i]] += 1
        return found

    def value(p: dict[str, Counter[str]], q: dict[str, Counter[str]], s: float, t: float) -> float:
        none: Counter[str] = Counter()
        logs: dict[str, float] = {}
        for context in sorted({*p, *q}, key=len, reverse=True):
            here, there = p.get(context, none), q.get(context, none)
            amounts = [s * here[a] + t * there[a] for a in {*here, *there}]
            own = sum(lgamma(b + r) - lgamma(b) for r in amounts)
            own -= lgamma(4 * b + sum(amounts)) - lgamma(4 * b)
            if len(context) < depth:
                below = sum(logs.get(a + context, 0.0) for a in "ACGT")
                own = max(own, below) + math.log(0.5 + 0.5 * math.exp(-abs(own - below)))
            logs[context] = own
        return math.exp(logs[""])

    trees = [counts(x) for x in X]
    scales = [1 / (len(x) - depth) for x in X]
    return np.array([[value(p, q, s, t) for q, t in zip(trees, scales, strict=True)]
                     for p, s in zip(trees, scales, strict=True)])  # fmt: skip


def close(tolerance: float) -> Callable[[Any, Any], bool]:
    return lambda ours, peer: bool(np.allclose(ours, peer, rtol=tolerance, atol=tolerance))


CASES: list[Case] = [
    Case(
        "tfidf",
        "BagOfWords, tf-idf, normalised Gram matrix of the SMS collection (5,574 messages)",
        "scikit-learn TfidfVectorizer + sparse product",
        messages,
        our_tfidf,
        their_tfidf,
        close(1e-12),
        repeats=5,
    ),
    Case(
        "tfidf-bigrams",
        "the same with runs of one and two words",
        "scikit-learn TfidfVectorizer + sparse product",
        messages,
        our_bigrams,
        their_bigrams,
        close(1e-12),
        repeats=5,
    ),
    Case(
        "factors",
        "Factors, Gram matrix of 60 DNA strings of 300",
        "Python sets of all substrings",
        lambda: dna(60, 300),
        Factors(shortest=1).block,
        sets_of_factors,
        lambda ours, peer: bool((ours == peer).all()),
        repeats=3,
    ),
    Case(
        "context-tree",
        "ContextTree of depth 5, Gram matrix of 30 DNA strings of 300",
        "the recursion in Python",
        lambda: dna(30, 300),
        ContextTree(5, 4).block,
        trees_in_python,
        close(1e-10),
        repeats=3,
    ),
]


# -- growth -------------------------------------------------------------------------------------
LENGTHS = (1_000, 10_000, 100_000, 1_000_000)


def seconds(kernel: Kernel, length: int) -> float:
    """Median time of the value of one pair."""
    x, y = dna(2, length)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        kernel.block([x], [y])
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def growth(kernel: Kernel) -> str:
    """Seconds of one pair by length of its strings, and the exponent that fits them."""
    times = [seconds(kernel, length) for length in LENGTHS]
    exponent = np.polyfit(np.log(LENGTHS), np.log(times), 1)[0]
    shown = ", ".join(f"{t:.3g} s at {n:,}" for n, t in zip(LENGTHS, times, strict=True))
    return f"{kernel!r}: {shown}; time grows as length^{exponent:.2f}"


def growth_report() -> str:
    """The growth of the kernels that are linear in the letters."""
    return "\n".join(map(growth, (Factors(), Factors(counts=True), ContextTree(5, 4), ContextTree(10, 4))))
