"""Kernels between clouds against sums, determinants, identities and the statistics of two samples."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from mercer.certificate import Verdict
from mercer.domains import Cloud, Clouds, Vectors
from mercer.errors import InputError
from mercer.kernels import (
    CloudVariance,
    Gaussian,
    Linear,
    MeanMap,
    MeanVariance,
    NGram,
    Polynomial,
    PowerDistance,
    Sigmoid,
)
from mercer.machines import mmd
from mercer.models import Normal

ROUNDING = 1e-12


def clouds(d: int = 2, seed: int = 0) -> list[Cloud]:
    """Clouds of one to nine points with random weights."""
    rng = np.random.default_rng(seed)
    return [Cloud(rng.standard_normal((n, d)), rng.random(n) + 0.1) for n in (1, 9, 4, 2, 6)]


def shares(cloud: Cloud) -> np.ndarray:
    return np.asarray(cloud.weights / cloud.weights.sum())


# -- mean maps ------------------------------------------------------------------------------------
@pytest.mark.parametrize("base", [Linear(), Gaussian(0.7), Polynomial(3, 1.0)])
def test_mean_maps_are_double_sums(base):
    X = clouds()
    want = [[shares(a) @ base.block(a.points, b.points) @ shares(b) for b in X] for a in X]
    np.testing.assert_allclose(MeanMap(base).block(X), want, rtol=ROUNDING)
    np.testing.assert_allclose(MeanMap(base).block(X, X[:2]), np.array(want)[:, :2], rtol=ROUNDING)
    np.testing.assert_allclose(MeanMap(base).diagonal(X), np.diag(want), rtol=ROUNDING)


def test_the_squared_distance_is_the_mmd_of_two_samples():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((7, 3)), rng.standard_normal((5, 3)) + 1
    k = Gaussian(1.5)
    assert MeanMap(k).distance()(x, y) == pytest.approx(mmd(k, x, y), rel=ROUNDING)
    assert MeanMap(k).distance().certificate.verdict is Verdict.NDS
    assert MeanMap(k).gaussian(0.3)(x, y) == pytest.approx(math.exp(-mmd(k, x, y) / (2 * 0.3**2)))
    assert MeanMap(k).gaussian(0.3).certificate.is_psd


def test_strings_are_points_too():
    assert MeanMap(NGram(1))(["ab", "b"], ["b"]) == 1.0
    assert MeanMap(NGram(1))(Cloud(["ab", "bb"], [1, 3]), ["b"]) == (1 + 3 * 2) / 4


def test_what_the_base_is_not_known_to_be():
    for make in (MeanMap, CloudVariance):
        assert make(Sigmoid()).certificate.verdict is Verdict.UNKNOWN
        assert make(PowerDistance(1.0)).certificate.verdict is Verdict.UNKNOWN
        assert make(Gaussian()).certificate.verdict is Verdict.PSD


# -- determinants ---------------------------------------------------------------------------------
@pytest.mark.parametrize("eta", [0.05, 3.0])
@pytest.mark.parametrize("base", [Linear(), Gaussian(0.7)])
def test_cloud_variance_is_the_determinant_that_it_says(base, eta):
    X = clouds()
    K = CloudVariance(base, eta).block(X)
    for i, a in enumerate(X):
        for j, b in enumerate(X):
            w = np.concatenate([shares(a), shares(b)]) / 2
            D = np.diag(w) - np.outer(w, w)
            both = base.block(np.concatenate([a.points, b.points]))
            want = np.linalg.det(np.eye(len(w)) + both @ D / eta) ** -0.5
            assert K[i, j] == pytest.approx(want, rel=1e-11)


def test_a_linear_base_gives_the_determinant_of_the_covariance():
    """det(I + K D / eta) = det(I + Sigma / eta), the smaller of the two matrices on the right."""
    X, eta = clouds(3), 0.2
    K = CloudVariance(Linear(), eta).block(X)
    for i, a in enumerate(X):
        for j, b in enumerate(X):
            points = np.concatenate([a.points, b.points])
            w = np.concatenate([shares(a), shares(b)]) / 2
            S = np.cov(points.T, aweights=w, ddof=0)
            assert K[i, j] == pytest.approx(np.linalg.det(np.eye(3) + S / eta) ** -0.5, rel=1e-11)


@pytest.mark.parametrize("D", [0.0, 0.5, 2.0, 30.0])
def test_two_measures_of_unit_variance(D):
    want = (1 + D * D / 4) ** -0.5
    x, y = np.array([[-1.0], [1.0]]), np.array([[D - 1], [D + 1]])
    assert MeanVariance()(Cloud(x), Cloud(y)) == pytest.approx(want, rel=1e-13)
    eta = 0.3
    assert CloudVariance(Linear(), eta)(x, y) == pytest.approx((1 + (1 + D * D / 4) / eta) ** -0.5, rel=1e-13)
    assert CloudVariance(Linear(), 1e-7).normalized()(x, y) == pytest.approx(want, rel=1e-6)


def test_mean_variance_of_clouds_models_and_pairs_agree():
    X = [c for c in clouds(2) if len(c) > 2]
    pairs = [(shares(c) @ c.points, np.cov(np.asarray(c.points).T, aweights=c.weights, ddof=0)) for c in X]
    want = MeanVariance().block(pairs)
    np.testing.assert_allclose(MeanVariance().block(X), want, rtol=1e-11)
    np.testing.assert_allclose(MeanVariance().block([Normal(*p) for p in pairs]), want, rtol=1e-12)


def test_points_are_measures_and_not_lists():
    x = np.random.default_rng(2).standard_normal((4, 2))
    twice = np.concatenate([x, x])
    weighted = Cloud(np.concatenate([x, x[:1]]), [1, 2, 2, 2, 1])
    y = [[1.0, 1.0], [0.0, 2.0]]
    for k in (MeanMap(Gaussian()), CloudVariance(Gaussian(), 0.1), CloudVariance(Linear(), 0.1)):
        for same in (x[::-1], twice, weighted, Cloud(x, [7.0] * 4)):
            assert k(same, y) == pytest.approx(k(x, y), rel=1e-13)


def test_long_stacks_are_cut_into_pieces(monkeypatch):
    X = clouds()
    k = CloudVariance(Gaussian(), 0.1)
    whole = k.block(X), k.block(X, X[:3])
    monkeypatch.setattr("mercer.kernels.clouds.STACK", 1)
    np.testing.assert_array_equal(k.block(X), whole[0])
    np.testing.assert_array_equal(k.block(X, X[:3]), whole[1])


def test_an_indefinite_base_is_an_error_where_the_determinant_vanishes():
    with pytest.raises(InputError, match=r"CloudVariance.*positive definite base kernel"):
        CloudVariance(PowerDistance(1.0), 0.01).block([[[0.0], [1.0]], [[2.0]]])


# -- input ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[[0.0]], np.empty((0, 1))], r"X\[1\] must have at least one point"),
        ([[]], r"X\[0\] must have at least one point"),
        ([[[0.0, math.nan]]], r"X\[0\].*NaN"),
        ([[[0.0]], [[0.0, 1.0]]], r"one dimension. Got 1 in X\[0\] and 2 in X\[1\]"),
        ([Cloud([[0.0]], [-1.0])], r"X\[0\].weights must be finite and >= 0. Got -1 at position 0"),
        ([Cloud([[0.0], [1.0]], [1.0, math.nan])], r"X\[0\].weights must be finite"),
        ([Cloud([[0.0]], [1.0, 2.0])], r"X\[0\].weights must be 1 numbers"),
        ([Cloud([[0.0]], ["a"])], r"X\[0\].weights must be 1 numbers"),
        ([Cloud([[0.0], [1.0]], [0.0, 0.0])], r"must not all be zero"),
        ([[[0.0], [1.0, 2.0]]], r"X\[0\]"),
        ([None], r"X\[0\] must be"),
        ([iter([])], r"X\[0\]"),
        (np.zeros((3, 2)), r"list of clouds.*Got shape \(3, 2\)"),
        (Cloud([[0.0]]), "must be a sequence of clouds"),
        ("ab", "must be a sequence of clouds"),
    ],
)
def test_bad_clouds_are_named(X, message):
    for k in (MeanMap(Gaussian()), CloudVariance(Gaussian())):
        with pytest.raises(InputError, match=message):
            k.block(X)


def test_dimensions_of_two_collections_have_to_match():
    with pytest.raises(InputError, match="number of columns"):
        MeanMap(Gaussian()).block([[[0.0]]], [[[0.0, 1.0]]])
    with pytest.raises(InputError, match="CloudVariance"):  # three points on a line in the plane
        MeanVariance().block([Cloud([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])])


def test_forms_of_clouds():
    x = np.array([[0.0, 1.0], [2.0, 0.0]])
    k = MeanMap(Linear())
    for same in (x.tolist(), scipy.sparse.csr_array(x), x.astype(np.float32), Cloud(x, [1, 1])):
        assert k(same, x) == k(x, x)
    assert k([1.0, 3.0], [[2.0]]) == 4.0  # numbers are points on the line
    assert k.block(np.zeros((4, 3, 2))).shape == (4, 4)
    assert k.block([]).shape == (0, 0)
    assert CloudVariance(Linear()).block([], [x]).shape == (0, 1)


def test_digests_name_points_and_weights():
    domain = Clouds(Vectors())
    assert domain.digest([[0.0], [1.0]]) == domain.digest(Cloud([[0.0], [1.0]], [3, 3]))
    assert domain.digest([[0.0], [1.0]]) != domain.digest(Cloud([[0.0], [1.0]], [3, 1]))


def test_equal_weights_are_exact_with_many_digits():
    """A third is no float: the mean of three numbers is that of fractions."""
    x, y = [0.0, 1.0, 1.0], [2.0, 2.0, 3.0, 5.0, 5.0, 7.0, 1.0]
    want = Fraction(2, 3) * Fraction(25, 7)
    value = MeanMap(Linear()).precise(np.array(x)[:, None], np.array(y)[:, None])
    assert abs(value * want.denominator - want.numerator) < 1e-45


def test_means_of_bounded_values_are_bounded():
    k = MeanMap(Gaussian(1.0))
    for n in (3, 5, 10, 49):
        cloud = np.zeros((n, 2))
        assert k.bounds.high >= k.precise(cloud, cloud)
        assert k.bounds.high >= k(cloud, cloud)
        assert k.bounds.high >= k.block([cloud, cloud]).max()
        assert k.bounds.high >= k.diagonal([cloud]).max()
