from fractions import Fraction

import numpy as np
import pytest

import mercer
from mercer.certificate import Certificate, Property
from mercer.errors import ParameterError
from mercer.gram import gram
from mercer.gram.check import check
from mercer.kernel import Kernel
from mercer.kernels import (
    CloudVariance,
    Diffusion,
    Gaussian,
    Linear,
    MeanMap,
    Polynomial,
    Precomputed,
    Sigmoid,
    TruncatedSpectrum,
)
from mercer.refute import refute

from .kernels import Brownian, Distance, Letters, Lopsided, Tanh


class Listed(Kernel):
    """A kernel on the numbers 0..n-1 given by a table: values exact, no higher precision."""

    table: tuple

    def __call__(self, x, y):
        return float(self.table[x][y])


def form(k, witness):
    """The quadratic form of a witness, in exact arithmetic on the float values."""
    c = [Fraction(v) for v in witness.coefficients]
    return sum(
        a * b * Fraction(k(x, y)) for a, x in zip(c, witness.points, strict=True)
        for b, y in zip(c, witness.points, strict=True)
    )  # fmt: skip


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_certified_kernels_are_never_contradicted(rng):
    X = rng.standard_normal((150, 2))
    X[75:] = X[:75]  # every point twice
    for k in (
        Gaussian(1.0),
        Gaussian(1e5),
        Gaussian(1e-3),
        Linear(),
        Linear() ** 4,
        Gaussian(3.0) * Linear() + 1.0,
    ):
        for K in (gram(k, X), gram(k, X.astype(np.float32)), gram(k, X).center(), gram(k, X).normalize()):
            result = K.check()
            assert result, result.statement
            assert result.symmetric
            assert result.witness is None
            assert result.cauchy_schwarz == ()
            assert "proves nothing" in str(result)


def test_data_far_from_the_origin_raise_no_false_alarm(rng):
    X = 1e6 + rng.standard_normal((60, 3))
    for k in (Gaussian(1.0), Linear(), Linear() ** 2):
        assert gram(k, X).check()
        assert gram(k, X).center().check()


def near_duplicates(seed, distance, n=6):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(2) + distance * rng.standard_normal((n, 2))


DISTANCES = [
    Polynomial(2, 1.0).normalized().distance(),
    Polynomial(2, 1.0).distance(),
    Linear().normalized().distance(),
]


@pytest.mark.parametrize("k", DISTANCES, ids=repr)
@pytest.mark.parametrize("distance", [1e-8, 1e-12, 1e-15])
def test_distances_of_near_duplicates_are_rounding(k, distance):
    for seed in range(2):
        X = near_duplicates(seed, distance)
        result = gram(k, X).check()
        assert result, result.statement
        assert result.symmetric
        assert not refute(k, X, n_trials=2)
        floats = mercer.kernel(k.__call__, domain=k.domain)  # no certificate, and no more digits
        assert gram(floats, X).check("negative").verdict != "refuted"
        assert not refute(floats, X, n_trials=2, property="negative")


def test_distances_of_many_near_duplicates_are_rounding():
    for k in DISTANCES[1:]:
        for K in (gram(k, near_duplicates(0, 1e-9, 80)), gram(k.base, near_duplicates(0, 1e-9, 80)).center()):
            assert K.check(), K.check().statement


def test_parallel_vectors_have_the_angle_zero():
    k = Linear().normalized().distance()
    for seed in range(10):
        X = np.outer(np.arange(1.0, 7.0), np.random.default_rng(seed).standard_normal(2))
        assert gram(k, X).check()
        assert not refute(k, X, n_trials=2)


@pytest.mark.parametrize(
    "k",
    [
        MeanMap(Gaussian(1.0)).distance(),
        CloudVariance(Linear()).distance(),
        CloudVariance(Linear(), eta=1e-7),
        CloudVariance(Linear(), eta=1e-7).normalized().distance(),
    ],
    ids=repr,
)
def test_clouds_of_the_same_points_are_rounding(k):
    rng = np.random.default_rng(0)
    cloud = rng.standard_normal((3, 2))
    clouds = [cloud, cloud[[1, 2, 0]], cloud[[2, 1, 0]], cloud + 1e-9 * rng.standard_normal((3, 2))]
    result = gram(k, clouds).check()
    assert result, result.statement
    assert not refute(k, clouds, n_trials=1)


def test_mean_discrepancies_of_near_duplicates_are_rounding():
    k = MeanMap(Gaussian(1.0)).distance()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        cloud = rng.standard_normal((5, 2))
        clouds = [cloud[rng.permutation(5)] for _ in range(3)]
        clouds += [cloud + 1e-9 * rng.standard_normal((5, 2)) for _ in range(3)]
        result = gram(k, clouds).check()
        assert result, result.statement


def test_nodes_without_a_difference_are_rounding():
    path = (4, [(0, 1), (1, 2), (2, 3)])
    triangle = (4, [(0, 1), (0, 2), (1, 2), (2, 3)])
    for base in (Diffusion(path, 20.0), Diffusion(triangle, 20.0), TruncatedSpectrum(path, 1)):
        for k in (base.distance(), base.normalized().distance()):
            result = gram(k, range(4)).check()
            assert result, result.statement
            assert not refute(k, range(4), n_trials=2)


def test_a_witness_against_a_certificate_says_what_is_wrong():
    class Hoped(Tanh):
        def _certify(self):
            return Certificate.psd(self, "hope", "")

    X = [[1.0], [0.1], [3.0], [-2.0]]
    proved = gram(Hoped(), X).check()
    assert proved.verdict == "refuted"
    assert "the certificate is wrong: its rule `hope` does not hold for Hoped()" in proved.statement
    assumed = gram(2.0 * Tanh().assume("PSD", "a habit"), X).check()
    assert "what was assumed of Tanh()" in assumed.statement
    assert "(a habit)" in assumed.statement
    assert "wrong" not in gram(Tanh(), X).check().statement
    lopsided = gram(Lopsided().assume("PSD", "a habit"), ["a", "bb", "ccc"]).check()
    assert "what was assumed of Lopsided()" in lopsided.statement
    assert "what was assumed of Tanh()" in refute(Tanh().assume("PSD", "a habit"), X, n_trials=3).statement


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e100, 1e300])
def test_values_of_any_size(scale):
    X = np.random.default_rng(0).standard_normal((12, 2))
    assert gram(scale * Gaussian(1.0), X).check()
    assert gram(scale * Gaussian(1.0), near_duplicates(0, 1e-9)).check()
    refuted = gram(scale * Sigmoid(1.0, -1.0), X).check()
    assert refuted.verdict == "refuted"
    assert refuted.witness.value < 0


def test_few_points_and_equal_points():
    for k in (Gaussian(1.0), Linear(), Gaussian(1.0).distance(), Polynomial(2, 1.0).normalized().distance()):
        for X in (np.empty((0, 2)), np.ones((1, 2)), np.zeros((5, 2)), np.full((5, 2), 0.1)):
            for dtype in (np.float64, np.float32):
                result = gram(k, X.astype(dtype)).check()
                assert result, result.statement
                assert result.n_points == len(X)


def test_single_precision_is_no_contradiction():
    for seed in range(3):
        X = near_duplicates(seed, 1e-4).astype(np.float32)
        for k in (*DISTANCES, Gaussian(1.0), Gaussian(1.0).distance()):
            for K in (gram(k, X), gram(k, X, dtype=np.float32)):
                assert K.check(), K.check().statement


def test_the_sigmoid_is_refuted_with_a_short_witness():
    K = gram(Tanh(), [[1.0], [0.1], [3.0], [-2.0]])
    result = K.check()
    assert not result
    assert result.verdict == "refuted"
    assert result.witness.digits == 50
    assert form(Tanh(), result.witness) < 0
    assert len(result.witness.points) == 2
    assert result.n_cauchy_schwarz >= 1
    i, j = result.cauchy_schwarz[0]
    D = K.dense()
    assert D[i, j] ** 2 > D[i, i] * D[j, j]
    assert "not positive definite on these points" in result.statement


def test_errata_value_of_the_sigmoid():
    # a = 1, b = 0 at 1 and 0.1: eigenvalue -0.0030
    result = gram(Tanh(), [[1.0], [0.1]]).check()
    assert result.least_eigenvalue == pytest.approx(-0.0030, abs=5e-5)
    assert result.verdict == "refuted"


def test_negative_definite_kernels_are_tested_as_such(rng):
    X = rng.standard_normal((40, 2))
    K = gram(Distance(), X)
    assert K.check().tested is Property.NEGATIVE
    assert K.check()
    refuted = K.check("positive")
    assert refuted.verdict == "refuted"
    assert form(Distance(), refuted.witness) < 0
    wrong = gram(Gaussian(1.0), X).check("negative")
    assert wrong.verdict == "refuted"
    assert sum(map(Fraction, wrong.witness.coefficients)) == 0
    assert form(Gaussian(1.0), wrong.witness) > 0
    with pytest.raises(ParameterError, match="`property`"):
        K.check("both")


def test_squared_distance_of_a_non_euclidean_metric_is_not_negative_definite():
    # the squared path metric of the star with three leaves, subdivided once, is not of negative type
    edges = [(0, 1), (0, 2), (0, 3)]
    D = np.full((4, 4), 9.0)
    np.fill_diagonal(D, 0)
    for i, j in edges:
        D[i, j] = D[j, i] = 1.0
    D = np.sqrt(D)
    for a in range(4):
        for b in range(4):
            for c in range(4):
                D[b, c] = min(D[b, c], D[b, a] + D[a, c])
    k = Listed(tuple(map(tuple, (D**2).tolist())))
    result = gram(k, [0, 1, 2, 3]).check("negative")
    assert result.verdict == "refuted"
    assert form(k, result.witness) > 0


def test_asymmetry_is_reported():
    result = gram(Lopsided(), ["a", "bb", "ccc"]).check()
    assert not result.symmetric
    assert result.asymmetry == 6.0
    assert not result
    assert "not symmetric" in str(result)


def test_many_points_needed():
    # I - (1.05/n) 11': only the vector of all ones refutes it
    n = 100
    table = np.eye(n) - 1.05 / n
    k = Listed(tuple(map(tuple, table.tolist())))
    result = gram(k, list(range(n))).check()
    assert result.verdict == "refuted"
    assert len(result.witness.points) == n
    assert result.witness.error < -result.witness.value
    assert result.least_eigenvalue == pytest.approx(-0.05, rel=1e-6)


def test_rounding_sized_negativity_is_not_a_refutation():
    table = np.ones((3, 3))
    table[0, 0] = 1 - 2.0**-50  # within the allowance of one value
    assert gram(Listed(tuple(map(tuple, table.tolist()))), [0, 1, 2]).check().verdict != "refuted"
    table[0, 0] = 1 - 2.0**-40  # beyond it
    assert gram(Listed(tuple(map(tuple, table.tolist()))), [0, 1, 2]).check().verdict == "refuted"


def test_cancelling_user_functions_are_not_refuted(rng):
    class Covariance(Kernel):
        def __call__(self, x, y):
            return float(np.mean(x * y) - np.mean(x) * np.mean(y))  # cancels when the mean is large

    X = list(1e5 + rng.standard_normal((12, 4)))  # rank 3: nine eigenvalues are pure rounding
    assert gram(Covariance(), X).check().verdict != "refuted"


def test_objects_of_any_type():
    assert gram(Letters(), ["abc", "bcd", "", "aa"]).check()
    assert gram(Brownian(), [0.0, 0.0, 1.0]).check()


# -- brief ---------------------------------------------------------------------------------------
def test_a_brief_check_says_the_same_with_less() -> None:
    X = np.random.default_rng(0).standard_normal((30, 2))
    good = check(gram(Gaussian(1.0), X), "positive", brief=True)
    assert good
    assert np.isnan(good.least_eigenvalue)
    G = gram(Sigmoid(1.0, -1.0), X)
    bad, full = check(G, "positive", brief=True), G.check("positive")
    assert bad.verdict == full.verdict == "refuted"
    assert bad.least_eigenvalue == full.least_eigenvalue
    assert bad.witness is None
    assert full.witness is not None


def test_a_brief_check_confirms_what_is_near_rounding() -> None:
    A = np.eye(3)
    A[0, 0] = -1e-11
    result = check(gram(Precomputed(), A), "positive", brief=True)
    assert result.verdict == "refuted"
    assert result.witness is not None
