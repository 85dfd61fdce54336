from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.guarantees import kernel_perceptron_mistake_bound, perceptron_mistake_bound

RTOL = 1e-12


def perceptron(K: NDArray[Any], y: NDArray[Any], max_passes: int = 10_000) -> NDArray[np.float64]:
    """Mistake counts of the kernel perceptron, run until a whole pass is right."""
    counts = np.zeros(len(y))
    for _ in range(max_passes):
        before = counts.sum()
        for i in range(len(y)):
            if y[i] * (K[i] @ (counts * y)) <= 0:
                counts[i] += 1
        if counts.sum() == before:
            return counts
    raise AssertionError("the data were meant to be separable")


def test_exact_value() -> None:
    assert float(perceptron_mistake_bound(3.0, 0.5)) == float((Fraction(3) / Fraction(1, 2)) ** 2)
    assert float(perceptron_mistake_bound(0.0, 1.0)) == 0.0


def test_monotone() -> None:
    assert float(perceptron_mistake_bound(2.0, 1.0)) > float(perceptron_mistake_bound(1.0, 1.0))
    assert float(perceptron_mistake_bound(1.0, 0.5)) > float(perceptron_mistake_bound(1.0, 1.0))


@pytest.mark.parametrize("seed", range(20))
def test_not_violated_by_the_perceptron(seed: int) -> None:
    rng = np.random.default_rng(seed)
    u = rng.normal(size=3)
    u /= np.linalg.norm(u)
    X = rng.normal(size=(200, 3))
    X = X[np.abs(X @ u) > 0.1]
    y = np.sign(X @ u)
    mistakes = perceptron(X @ X.T, y).sum()
    bound = perceptron_mistake_bound(float(np.linalg.norm(X, axis=1).max()), float((y * (X @ u)).min()))
    assert 0 < mistakes <= float(bound)


@pytest.mark.parametrize("seed", range(10))
def test_kernel_version_holds_for_the_separator_that_the_perceptron_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    y = np.where(np.linalg.norm(X, axis=1) < 1.0, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 0.5)
    counts = perceptron(K, y)
    bound = kernel_perceptron_mistake_bound(K, y, counts * y)
    assert not bound.vacuous
    assert counts.sum() <= float(bound)


def test_one_point_is_tight() -> None:
    # One example, one mistake, R = rho.
    assert float(kernel_perceptron_mistake_bound([[4.0]], [-1], [-0.3])) == pytest.approx(1.0, rel=RTOL)


def test_exclusive_or() -> None:
    # alpha = 1/8, margin sqrt(2) and K(x, x) = 9 give 9/2.
    X = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    y = X[:, 0] * X[:, 1]
    bound = kernel_perceptron_mistake_bound((X @ X.T + 1) ** 2, y, y / 8)
    assert bound.inputs["margin"] == pytest.approx(math.sqrt(2), rel=RTOL)
    assert float(bound) == pytest.approx(4.5, rel=RTOL)


@pytest.mark.parametrize("scale", [1e-200, 1e-3, 1e200])
def test_scale_of_the_coefficients_does_not_matter(scale: float) -> None:
    K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    assert float(kernel_perceptron_mistake_bound(K, y, scale * y)) == pytest.approx(4.0, rel=RTOL)


def test_matches_explicit_features() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    c = rng.normal(size=30)
    w = X.T @ c
    y = np.sign(X @ w)
    margin = (y * (X @ w)).min() / np.linalg.norm(w)
    radius = np.linalg.norm(X, axis=1).max()
    bound = kernel_perceptron_mistake_bound(X @ X.T, y, c)
    assert float(bound) == pytest.approx((radius / margin) ** 2, rel=1e-9)


def test_a_separator_that_does_not_separate_is_vacuous() -> None:
    for coef in ([1.0, 1.0], [0.0, 0.0]):
        bound = kernel_perceptron_mistake_bound(np.eye(2), [1, -1], coef)
        assert bound.value == math.inf
        assert bound.vacuous
        assert "do not separate" in str(bound)


def test_overflow_is_vacuous_not_an_exception() -> None:
    assert perceptron_mistake_bound(1e200, 1e-200).vacuous


def test_invalid_arguments_are_named() -> None:
    with pytest.raises(
        ParameterError, match=r"`perceptron_mistake_bound`: `margin` must be a positive.*Got 0"
    ):
        perceptron_mistake_bound(1.0, 0)
    with pytest.raises(ParameterError, match="`radius` must be a nonnegative"):
        perceptron_mistake_bound(-1.0, 1.0)
    with pytest.raises(ParameterError, match=r"`margin`.*Got True"):
        perceptron_mistake_bound(1.0, True)
    caller = "`kernel_perceptron_mistake_bound`"
    with pytest.raises(InputError, match=f"{caller}: `y` must hold labels -1 and 1. Got 0."):
        kernel_perceptron_mistake_bound(np.eye(2), [0, 1], [1.0, 1.0])
    with pytest.raises(InputError, match="`coef` must have one entry for each of the 2 rows"):
        kernel_perceptron_mistake_bound(np.eye(2), [1, -1], [1.0])
    with pytest.raises(DefinitenessError, match="`K` must be positive semidefinite"):
        kernel_perceptron_mistake_bound([[1.0, 3.0], [3.0, 1.0]], [1, -1], [1.0, -1.0])
