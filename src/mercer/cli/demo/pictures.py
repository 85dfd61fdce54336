"""Chapter: Gram matrices, spectra and predictions, on the page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...gram import gram
from ...kernels import ChiSquare, Gaussian, Linear
from ...machines import SVC, KernelLogistic, KernelPCA, KernelRidge, MMDTest
from ...show import (
    canvas,
    decision_regions,
    heatmap,
    leave_one_out_curve,
    null_distribution,
    prediction,
    projections,
    scree,
    spectrum,
)
from .data import load_diabetes, load_digits
from .refutation import ON_DIGITS
from .stage import Chapter, Stage

__all__ = ["CHAPTER"]

KERNEL = ChiSquare().schoenberg(2.0)


def _show(stage: Stage) -> None:
    print("\nGram matrices, spectra and predictions are drawn on the page.")
    figures: list[tuple[Callable[[bool], Any], str]] = [
        (
            _matrix,
            f"The Gram matrix of `{KERNEL!r}` on the images of digits, ordered by digit: bright squares on "
            "the diagonal are classes whose members look alike.",
        ),
        (
            _spectra,
            f"Eigenvalues on digits. Left, `{KERNEL!r}` is certified: none is negative. "
            f"Right, `{ON_DIGITS!r}` is refuted: crosses are negative eigenvalues, many of them far above "
            "what rounding could give.",
        ),
        (
            _components,
            f"Kernel PCA of the images with `{KERNEL!r}`: the plane of the first two components, and the "
            "share of the variance that components explain.",
        ),
        (
            _two_classes,
            "Two of the digits in the plane of their first two components: where kernel logistic regression "
            "and a support vector machine say which.",
        ),
        (
            _choices,
            "Left: leave-one-out errors of kernel ridge regression on the diabetes data, for 30 penalties "
            "from one decomposition. Right: the distance of images of 3 and of 8, against its distribution "
            "if the labels did not matter.",
        ),
        (
            _predictions,
            "Kernel ridge regression on the diabetes data. Left: from the body mass index alone. Right: from "
            "all ten measurements, on patients that the machine has not seen.",
        ),
    ]
    for draw, caption in stage.progress(figures, "drawing"):
        stage.figure(partial(draw, stage.quick), caption)


def _matrix(quick: bool) -> Any:
    X, y = load_digits(quick)
    figure, ax = canvas(6.2, 5.4)
    heatmap(gram(KERNEL, X), y, ax)
    return figure


def _spectra(quick: bool) -> Any:
    X, _ = load_digits(quick)
    X = X[:600]  # all eigenvalues of larger matrices take long
    figure, (left, right) = canvas(9, 3.6, columns=2)
    for ax, kernel, name in ((left, KERNEL, "certified"), (right, ON_DIGITS, "refuted")):
        spectrum(gram(kernel, X), ax)
        ax.set_title(f"{name}, {len(X)} images", loc="left")
    return figure


def _components(quick: bool) -> Any:
    X, y = load_digits(quick)
    model = KernelPCA(KERNEL, n_components=20)
    figure, (left, right) = canvas(10, 4.2, columns=2)
    projections(model.fit_transform(X), y, left)
    scree(model, right)
    return figure


def _two_classes(quick: bool) -> Any:
    X, y = load_digits(quick)
    mine = np.isin(y, (3, 8))
    plane = KernelPCA(KERNEL, n_components=2).fit_transform(X[mine])
    plane /= plane.std(axis=0)
    figure, (left, right) = canvas(10, 4.2, columns=2)
    for ax, model in (
        (left, KernelLogistic(Gaussian(0.7), alpha=0.3)),
        (right, SVC(Gaussian(0.7), C=10.0)),
    ):
        model.fit(plane, y[mine])
        decision_regions(
            model, plane, y[mine], ax, data="digits", features=("first component", "second component")
        )
        ax.set_title(type(model).__name__, loc="left")
    return figure


def _choices(quick: bool) -> Any:
    X, y = load_diabetes(quick)
    kernel = Linear() + 0.1 * Gaussian("median")
    model = KernelRidge(kernel, alpha="loo", alphas=np.logspace(-2, 3, 30), fit_intercept=True).fit(X, y)
    images, digits = load_digits(quick)
    result = MMDTest(KERNEL, random_state=0).test(images[digits == 3], images[digits == 8])
    figure, (left, right) = canvas(10, 4.2, columns=2)
    leave_one_out_curve(model, left)
    null_distribution(result, right)
    return figure


def _predictions(quick: bool) -> Any:
    X, y = load_diabetes(quick)
    figure, (left, right) = canvas(9, 4.2, columns=2)
    bmi = X[:, 2:3]
    curve = KernelRidge(Gaussian(2.0), alpha=3.0, fit_intercept=True).fit(bmi, y)
    prediction(
        curve, bmi, y, left, data="training data", feature="body mass index, standardised", name="progression"
    )

    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[len(X) // 4 :], order[: len(X) // 4]
    machine = KernelRidge(Linear() + 0.1 * Gaussian("median"), alpha=10.0, fit_intercept=True)
    prediction(
        machine.fit(X[train], y[train]), X[test], y[test], right, data="held-out patients", name="progression"
    )
    return figure


CHAPTER = Chapter("Pictures", _show, needs_page=True)
