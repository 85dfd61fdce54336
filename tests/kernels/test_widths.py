"""Data-dependent widths, and distances divided by widths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from scipy.spatial.distance import pdist
from sklearn.svm import SVC

from mercer.engine import pairwise
from mercer.kernels.l1 import Laplacian
from mercer.kernels.radial import Gaussian
from mercer.kernels.widths import (
    median_distance,
    scale_width,
    scaled_l1_distances,
    scaled_squared_distances,
)

EPS = np.finfo(np.float64).eps


def test_median_by_brute_force() -> None:
    X = np.random.default_rng(0).standard_normal((9, 3))
    pairs = [(x, y) for i, x in enumerate(X) for y in X[:i]]
    assert median_distance(X) == pytest.approx(np.median([np.linalg.norm(x - y) for x, y in pairs]))
    assert median_distance(X, norm=1) == pytest.approx(np.median([np.abs(x - y).sum() for x, y in pairs]))
    assert median_distance(scipy.sparse.csr_array(X)) == pytest.approx(median_distance(X))


@pytest.mark.parametrize("n", [128, 129, 200, 400, 1000, 3000])
def test_pairs_are_sampled_whatever_the_order_of_points(n: int) -> None:
    rng = np.random.default_rng(n)
    for X in (
        rng.standard_normal((n, 3)),
        np.sort(rng.standard_normal((n, 1)), axis=0),
        rng.standard_normal((n, 2)) + 6.0 * (np.arange(n)[:, None] % 4 == 0),  # periodic clusters
        rng.standard_normal((n, 2)) + 6.0 * (np.arange(n)[:, None] > 0.7 * n),  # sorted clusters
    ):
        median = median_distance(X)
        below = (pdist(X) < median).mean()
        assert abs(below - 0.5) < (0.01 if n <= 128 else 0.05)
        assert median == median_distance(X) == median_distance(2 * X) / 2
        assert median_distance(rng.permutation(X)) == pytest.approx(median, rel=1e-15)
        assert median_distance(scipy.sparse.csr_array(X)) == pytest.approx(median, rel=1e-12)
        ones = median_distance(X, np.ones(n))
        assert ones == pytest.approx(median, rel=1e-3)


def test_a_sample_has_a_few_thousand_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []

    def counted(X: np.ndarray, Y: np.ndarray | None) -> np.ndarray:
        D = squared_distances(X, Y)
        counts.append(D.size if Y is not None else len(X) * (len(X) - 1) // 2)
        return D

    squared_distances = pairwise.squared_distances
    monkeypatch.setattr(pairwise, "squared_distances", counted)
    for n in (128, 129, 300, 512, 10_000):
        counts.clear()
        median_distance(np.random.default_rng(0).standard_normal((n, 2)))
        assert 4_000 < sum(counts) <= 8_200 + 10


def test_weights_are_repetitions() -> None:
    X = np.random.default_rng(1).standard_normal((6, 2))
    w = np.array([3, 1, 0, 2, 1, 4])
    repeated = np.repeat(X, w, axis=0)
    assert median_distance(X, w.astype(float)) == pytest.approx(median_distance(repeated))
    assert scale_width(X, w.astype(float)) == pytest.approx(scale_width(repeated))


def test_constant_data_fall_back_to_one() -> None:
    for value in (0.0, 0.1, 1e300):  # the mean of many 0.1 is not 0.1
        X = np.full((7, 3), value)
        assert scale_width(X) == 1.0
        assert median_distance(X) == 1.0
        assert scale_width(scipy.sparse.csr_array(X)) == 1.0
    assert Gaussian("median").resolve(np.ones((5, 2))) == Gaussian(1.0)


def test_scale_is_scikit_learns() -> None:
    X = np.random.default_rng(2).standard_normal((30, 4)) + 1e3
    svc = SVC(gamma="scale").fit(X, np.arange(30) % 2)
    assert 1 / (2 * scale_width(X) ** 2) == pytest.approx(svc._gamma)


def test_rules_resolve() -> None:
    X = np.random.default_rng(3).standard_normal((20, 2))
    assert Gaussian("median").resolve(X).sigma == pytest.approx(median_distance(X))
    assert Gaussian("scale").resolve(X).sigma == pytest.approx(scale_width(X))
    assert Laplacian("median").resolve(X).sigma == pytest.approx(median_distance(X, norm=1))


@pytest.mark.parametrize("sigma", [3.0, np.array([3.0, 0.7, 3.0]), np.array([1e-3, 2.0, 5.0])], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e8, 1e12])
def test_division_keeps_the_digits_of_differences(sigma: object, offset: float) -> None:
    rng = np.random.default_rng(4)
    near = rng.standard_normal((6, 3)) + offset
    X = np.vstack([near, rng.standard_normal((3, 3))])  # two clusters
    widths = [Fraction(s) for s in np.broadcast_to(sigma, 3).tolist()]
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    for power, distances in ((2, scaled_squared_distances), (1, scaled_l1_distances)):
        exact = np.array(
            [
                [
                    float(sum((abs(a - b) / s) ** power for a, b, s in zip(x, y, widths, strict=True)))
                    for y in rows
                ]
                for x in rows
            ]
        )
        for data in (X, scipy.sparse.csr_array(X)):
            got = distances(data, None, sigma)
            # Near the origin widths may divide first: then the error is one of 16 widths, not relative.
            np.testing.assert_allclose(got, exact, rtol=20 * EPS, atol=0 if offset else 500 * EPS)
            np.testing.assert_allclose(
                distances(data, X[:2], sigma), exact[:, :2], rtol=20 * EPS, atol=500 * EPS
            )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extreme_widths(dtype: type) -> None:
    tiny, huge = (1e-25, 1e25) if dtype == np.float32 else (1e-250, 1e250)
    for sigma in (tiny, huge):
        X = (np.array([[0.0], [1.0], [2.0]]) * sigma).astype(dtype)
        want = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
        for data in (X, scipy.sparse.csr_array(X)):
            np.testing.assert_allclose(scaled_squared_distances(data, None, sigma), want, rtol=1e-6)
            np.testing.assert_allclose(scaled_l1_distances(data, None, sigma), np.sqrt(want), rtol=1e-6)
