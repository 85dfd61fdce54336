"""Chapter: what is in data without, or almost without, labels."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...kernels import ChiSquare, Gaussian
from .data import load_diabetes, load_digits
from .stage import Chapter, Stage

__all__ = ["CHAPTER", "FINDINGS"]

KERNEL = ChiSquare().schoenberg(2.0)


def _components(quick: bool) -> str:
    from ...machines import KernelPCA

    X, _ = load_digits(quick)
    model = KernelPCA(KERNEL, n_components=10).fit(X)
    return f"{100 * model.explained_variance_ratio_.sum():.0f} % of the variance in ten components"


def _clusters(quick: bool) -> str:
    from sklearn.metrics import adjusted_rand_score

    from ...machines import KernelKMeans

    X, y = load_digits(quick)
    labels = KernelKMeans(KERNEL, n_clusters=10).fit_predict(X)
    return f"ten clusters, adjusted Rand index {adjusted_rand_score(y, labels):.2f} with the digits"


def _cut(quick: bool) -> str:
    from sklearn.metrics import adjusted_rand_score

    from ...machines import SpectralClustering

    X, y = load_digits(quick)
    labels = SpectralClustering(KERNEL, n_clusters=10, n_neighbors=10).fit_predict(X)
    return f"ten clusters, adjusted Rand index {adjusted_rand_score(y, labels):.2f} with the digits"


def _spread(quick: bool) -> str:
    from ...machines import LabelSpreading

    X, y = load_digits(quick)
    labelled = 5  # of each digit
    known = np.concatenate([np.flatnonzero(y == digit)[:labelled] for digit in range(10)])
    labels = np.full(len(y), -1)
    labels[known] = y[known]
    rest = labels == -1
    spread = LabelSpreading(KERNEL, n_neighbors=10).fit(X, labels).transduction_
    return f"{labelled} labels for each digit, accuracy {(spread[rest] == y[rest]).mean():.3f} on the others"


def _correlated(quick: bool) -> str:
    from ...machines import KernelCCA

    X, _ = load_digits(quick)
    order = np.random.default_rng(0).permutation(len(X))
    half = len(X) // 2
    upper, lower = X[order, :32], X[order, 32:]
    model = KernelCCA(Gaussian("median"), n_components=1).fit(upper[:half], lower[:half])
    score = model.score(upper[half:], lower[half:])
    return f"upper and lower halves of new images: correlation {score:.2f}"


def _two_samples(quick: bool) -> str:
    from ...machines import MMDTest

    X, y = load_digits(quick)
    result = MMDTest(KERNEL, random_state=0).test(X[y == 3], X[y == 8])
    return f"images of 3 and of 8 have one distribution: p = {result.p_value:.3g}"


def _independent(quick: bool) -> str:
    from ...machines import HSICTest

    X, y = load_diabetes(quick)
    result = HSICTest(random_state=0).test(X[:, 2:3], y[:, None])
    return f"body mass index and progression are independent: p = {result.p_value:.3g}"


#: Machine, and what it finds.
FINDINGS: tuple[tuple[str, Callable[[bool], str]], ...] = (
    ("KernelPCA", _components),
    ("KernelKMeans", _clusters),
    ("SpectralClustering", _cut),
    ("LabelSpreading", _spread),
    ("KernelCCA", _correlated),
    ("MMDTest", _two_samples),
    ("HSICTest", _independent),
)


def _show(stage: Stage) -> None:
    stage.text(
        f"The same kernels without labels, or with a few of them: the images of digits with `{KERNEL!r}`, "
        "and the diabetes data."
    )
    rows = []
    for name, find in stage.progress(FINDINGS, "structure"):
        started = time.perf_counter()
        found = find(stage.quick)
        rows.append([f"`{name}`", found, f"{time.perf_counter() - started:.2f} s"])
    stage.table(["machine", "finding", "time"], rows, right=[2])


CHAPTER = Chapter("Structure, tests, semi-supervised learning", _show)
