"""The warped kernel against its definition, and against the norm that it is the kernel of."""

import pickle

import numpy as np
import pytest
import scipy.sparse

from mercer.certificate import Verdict
from mercer.errors import DefinitenessError, ParameterError
from mercer.gram import gram
from mercer.graphs import laplacian
from mercer.graphs.similarity import affinity
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection, Sigmoid
from mercer.machines import SVC, KernelRidge


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((12, 2))


@pytest.fixture
def penalty(points):
    return 2.5 * laplacian(affinity(gram(Gaussian(0.7), points)))


def by_definition(k, points, M, X, Y):
    K = k.block(points)
    middle = np.linalg.solve(np.eye(len(K)) + M @ K, M)
    return k.block(X, Y) - k.block(X, points) @ middle @ k.block(points, Y)


@pytest.mark.parametrize("k", [Gaussian(1.0), Linear() + 1.0, Gaussian(0.5) * Linear()], ids=repr)
def test_equals_its_definition(points, penalty, k):
    X, Y = np.random.default_rng(1).standard_normal((2, 7, 2))
    warped = k.warped(points, penalty)
    expected = by_definition(k, points, penalty, X, Y)
    np.testing.assert_allclose(warped.block(X, Y), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(warped.diagonal(X), np.diag(warped.block(X)), rtol=1e-10, atol=1e-13)
    assert warped(X[0], Y[1]) == pytest.approx(expected[0, 1], rel=1e-10)


def test_it_reproduces_in_the_norm_with_the_penalty(points, penalty):
    """``<f, g>~ = a' K b + f' M g``: with g = k~(x, .), whose coefficients are known, this is f(x)."""
    k, rng = Gaussian(1.0), np.random.default_rng(2)
    K = k.block(points)
    a = rng.standard_normal(len(points))
    f = K @ a
    # On the points themselves k~(x_j, .) = sum_i T_ij k(x_i, .) with T = (I + M K)^-1.
    T = np.linalg.inv(np.eye(len(K)) + penalty @ K)
    warped = k.warped(points, penalty).block(points)
    np.testing.assert_allclose(K @ T, warped, atol=1e-12)
    inner = a @ K @ T + f @ penalty @ warped
    np.testing.assert_allclose(inner, f, rtol=1e-9, atol=1e-11)


def test_certificate(points, penalty):
    assert Gaussian(1.0).warped(points, penalty).certificate.verdict is Verdict.STRICT
    assert Linear().warped(points, penalty).certificate.verdict is Verdict.PSD
    assert not Precomputed().warped(np.eye(3), np.eye(3)).certificate.is_psd  # nothing is known of the base
    proof = Gaussian(1.0).warped(points, penalty).certificate.positive
    assert proof.rule == "warping"
    assert proof.premises[0].subject == "Gaussian()"


def test_no_penalty_changes_nothing(points):
    k = Gaussian(1.0)
    np.testing.assert_array_equal(k.warped(points, np.zeros((12, 12))).block(points), k.block(points))


def test_a_large_penalty_makes_linked_points_one():
    k = Gaussian(0.5).warped([[0.0], [3.0]], 1e9 * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    K = k.block([[0.0], [3.0]])
    np.testing.assert_allclose(K, K[0, 0], rtol=1e-6)
    assert k.certificate.verdict is Verdict.STRICT


def test_any_objects_and_any_machine():
    bags = [{"a"}, {"a", "b"}, {"b"}, {"x"}, {"x", "y"}]
    edges = np.zeros((5, 5))
    for i, j in [(0, 1), (1, 2), (3, 4)]:
        edges[i, j] = edges[j, i] = 1.0
    base, M = SetIntersection().gaussian(1.0), 3 * laplacian(edges)
    k = base.warped(bags, scipy.sparse.csr_array(M))
    np.testing.assert_allclose(k.block(bags), by_definition(base, bags, M, bags, bags), atol=1e-12)
    assert k.normalized()({"a"}, {"b"}) > 1.5 * base({"a"}, {"b"})  # a path links the two
    model = SVC(k, C=10.0).fit([bags[0], bags[3]], [0, 1])
    assert model.predict([{"b"}, {"x", "y"}]).tolist() == [0, 1]
    assert KernelRidge(k).fit(bags, [1.0, 1.0, 1.0, -1.0, -1.0]).predict([{"y"}])[0] < 0


def test_rules_are_resolved_on_the_points(points, penalty):
    assert Gaussian("median").warped(points, penalty).base == Gaussian("median").resolve(points)


def test_is_a_value(points, penalty):
    k = Gaussian(1.0).warped(points, penalty)
    again = pickle.loads(pickle.dumps(k))
    assert again == k
    assert hash(again) == hash(k)
    assert again.digest() == k.digest() != Gaussian(1.0).warped(points, 2 * penalty).digest()
    np.testing.assert_array_equal(again.block(points), k.block(points))
    assert k.replace(base__sigma=2.0).base == Gaussian(2.0)
    many = np.random.default_rng(0).standard_normal((50, 2))
    assert len(repr(Gaussian(1.0).warped(many, np.eye(50)))) < 100


@pytest.mark.parametrize(
    ("M", "message"),
    [
        (np.eye(3), "12 x 12"),
        (np.triu(np.ones((12, 12))), "symmetric"),
        (-np.eye(12), "positive semidefinite"),
        (np.diag([1.0] * 11 + [-1e-3]), "positive semidefinite"),
        (np.full((12, 12), np.nan), "not finite"),
        ("laplacian", "matrix of numbers"),
    ],
    ids=["size", "asymmetric", "negative", "one negative eigenvalue", "nan", "text"],
)
def test_bad_penalties_are_named(points, M, message):
    with pytest.raises(ParameterError, match=message):
        Gaussian(1.0).warped(points, M)


def test_an_indefinite_base_is_told(points):
    bad = Sigmoid(1.0, -1.0)
    assert np.linalg.eigvalsh(bad.block(points)).min() < -0.1
    with pytest.raises(DefinitenessError, match="not positive definite"):
        bad.warped(points, 100 * np.eye(12))
