"""Machines on explicit features: surnames by their n-grams, from the package ``names``.

The labels are the more and the less frequent half of the surnames, which letters say little about: many
support vectors, as in most problems of that size.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mercer.kernels import NGram
from mercer.machines import SVC

from .harness import Case, Skipped

Names = tuple[list[str], np.ndarray, list[str], np.ndarray]

#: Penalties: few and many iterations.
SMALL, LARGE = 0.1, 1.0


def surnames() -> Names:
    """80,000 surnames to train on, the others to test."""
    try:
        import names
    except ImportError:
        raise Skipped("the package names is not installed: pip install names") from None
    file = Path(names.__file__).parent / "dist.all.last"
    every = [line.split()[0] for line in file.read_text(encoding="ascii").splitlines()]
    order = np.random.default_rng(0).permutation(len(every))
    y = order < len(every) // 2
    shuffled = [every[i] for i in order]
    return shuffled[:80_000], y[:80_000], shuffled[80_000:], y[80_000:]


def ours(C: float) -> Any:
    def run(data: Names) -> float:
        X, y, new, truth = data
        return float(SVC(NGram(1) + NGram(2) + NGram(3), C=C).fit(X, y).score(new, truth))

    return run


def theirs(C: float) -> Any:
    def run(data: Names) -> float:
        X, y, new, truth = data
        counts = CountVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False)
        return float(make_pipeline(counts, LinearSVC(C=C)).fit(X, y).score(new, truth))

    return run


CASES = [
    Case(
        f"surnames-{C:g}",
        f"SVC fit and score, n-grams of 1 to 3 of 80,000 surnames, C={C:g}",
        "scikit-learn CountVectorizer + LinearSVC (squared hinge)",
        surnames,
        ours(C),
        theirs(C),
        lambda ours, peer: abs(ours - peer) < 0.01,
        repeats=3,
    )
    for C in (SMALL, LARGE)
]
