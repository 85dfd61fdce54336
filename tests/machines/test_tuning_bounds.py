"""Bounds of the leave-one-out error of support vector machines, against refits."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.guarantees import radius_margin_bound, span_bound
from mercer.kernels import Gaussian, Laplacian, NGram, Polynomial, Precomputed
from mercer.machines import SVC

#: Tolerance of the machines: bounds are of the optimum.
TOL = 1e-8


def sample(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 2))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(30) > 0


def refits(machine, X, y):
    """The share of points that are misclassified when they are left out."""
    errors = 0
    for i in range(len(X)):
        kept = np.arange(len(X)) != i
        errors += machine.fit(X[kept], y[kept]).predict(X[[i]])[0] != y[i]
    return errors / len(X)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.3, 3.0, 100.0, np.inf])
@pytest.mark.parametrize("seed", range(2))
def test_bounds_are_not_exceeded(seed, C, fit_intercept):
    X, y = sample(seed)
    machine = SVC(Gaussian(0.6), C=C, fit_intercept=fit_intercept, tol=TOL)
    bounds = machine.fit(X, y).leave_one_out_bounds(X)
    exact = refits(machine, X, y)
    assert exact <= bounds.support_vectors.value
    assert exact <= bounds.span.value <= bounds.support_vectors.value
    assert exact <= bounds.radius_margin.value
    if bounds.span.value < 1:  # else no support vector is free
        assert abs(exact - bounds.estimate) <= 0.2


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", [4, 11, 31])
def test_copies_of_points(seed, fit_intercept):
    """Copies make the matrix of free support vectors singular, up to rounding or exactly."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((20, 1)), 1)
    y = X[:, 0] + 0.7 * rng.standard_normal(20) > 0
    assert len(np.unique(X)) < 20
    machine = SVC(Laplacian(5.0), C=1000.0, fit_intercept=fit_intercept, tol=TOL)
    bounds = machine.fit(X, y).leave_one_out_bounds(X)
    exact = refits(machine, X, y)
    assert exact <= bounds.span.value <= 1
    assert exact <= bounds.radius_margin.value
    assert abs(exact - bounds.estimate) <= 0.2


def test_a_copy_of_a_free_support_vector_changes_nothing_when_it_is_left_out():
    X = np.array([[-2.0], [-2.0], [-1.0], [1.0], [2.0], [2.0]])
    y = X[:, 0] > 0
    machine = SVC(Laplacian(1.0), C=1000.0, fit_intercept=False, tol=TOL).fit(X, y)
    assert machine.leave_one_out_bounds(X).estimate == refits(machine, X, y) == 0.0


def test_xor_needs_the_factor_of_the_diameter():
    X, y = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1.0]]), np.array([1, 0, 0, 1])
    machine = SVC(Polynomial(2), C=np.inf)
    bounds = machine.fit(X, y).leave_one_out_bounds(X)
    # all inner products of different points are 1, all squared norms 9; |f|^2 = 1/2, and R^2 = 9 - 12/4 = 6
    assert bounds.radius_margin.value == pytest.approx(4 * 6 * 0.5 / 4, rel=1e-5)
    assert refits(machine, X, y) == bounds.span.value == 1.0 > 6 * 0.5 / 4


def test_an_undetermined_offset_is_no_bound():
    """Balanced classes and a small price: all points are at C, and leaving one out turns the decision."""
    X, y = sample(0)
    keep = np.sort(np.concatenate([np.flatnonzero(y)[:10], np.flatnonzero(~y)[:10]]))
    X, y = X[keep], y[keep]
    machine = SVC(Gaussian(0.6), C=1e-3, tol=TOL)
    bounds = machine.fit(X, y).leave_one_out_bounds(X)
    assert refits(machine, X, y) == 1.0
    assert bounds.radius_margin.value == bounds.span.value == 1.0
    assert "no support vector has 0 < alpha < C" in bounds.span.vacuous_because


def test_any_objects_and_matrices():
    X, y = sample(0)
    of_points = SVC(Gaussian(0.6), C=3.0, tol=TOL).fit(X, y).leave_one_out_bounds(X)
    K = Gaussian(0.6).block(X)
    of_matrix = SVC(Precomputed(), C=3.0, tol=TOL).fit(K, y).leave_one_out_bounds(K)
    assert of_points.span.value == of_matrix.span.value
    assert of_points.radius_margin.value == pytest.approx(of_matrix.radius_margin.value, rel=1e-5)
    rng = np.random.default_rng(0)
    strings = np.array(["".join(rng.choice(list("ab"), 12)) for _ in range(30)], dtype=object)
    labels = np.array([s.count("ab") > 3 for s in strings])
    machine = SVC(NGram(2).normalized(), C=1.0, tol=TOL)
    bounds = machine.fit(strings, labels).leave_one_out_bounds(strings)
    assert refits(machine, strings, labels) <= bounds.span.value


def test_the_numbers_by_hand():
    bound = radius_margin_bound(2.0, 0.5, n=10, C=3.0, slack=1.5)
    assert bound.value == pytest.approx((4 * 0.25 * (4 + 4.5) + 1.5) / 10)
    assert radius_margin_bound(2.0, 0.5, n=10, offset=False).value == pytest.approx(0.1)
    assert span_bound([1.0, 1.0], [0.5, 1.0], [1.0, 1.0], n=4, slacks=[0.4, 0.0]).value == 0.25
    assert "0 < alpha < C" in " ".join(bound.assumptions)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: radius_margin_bound(-1.0, 1.0, n=5), "`norm` must be"),
        (lambda: radius_margin_bound(1.0, 1.0, n=5, C=0.0), "`C` must be a positive number"),
        (lambda: radius_margin_bound(1.0, 1.0, n=5, slack=1.0), "`slack` must be 0 for the hard margin"),
        (lambda: span_bound([1.0], [1.0], [1.0], n=0), "`n` must be"),
        (lambda: span_bound([1.0, 2.0], [1.0, 1.0], [1.0, 1.0], n=1), "`n` must be at least the 2"),
    ],
)
def test_bad_numbers_are_named(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_bad_machines_are_named():
    X, y = sample(0)
    with pytest.raises(InputError, match="two classes"):
        SVC().fit(X, np.arange(30) % 3).leave_one_out_bounds(X)
    with pytest.raises(InputError, match=r"must be the 30 training points\. Got 3"):
        SVC().fit(X, y).leave_one_out_bounds(X[:3])
    with pytest.raises(InputError, match="without `sample_weight`"):
        SVC(Gaussian(0.5)).fit(X, y, np.where(y, 5.0, 1.0)).leave_one_out_bounds(X)
    with pytest.raises(InputError, match="`spans` must have one number per support vector"):
        span_bound([1.0], [1.0, 2.0], [1.0], n=5)
    with pytest.raises(InputError, match="must be nonnegative"):
        span_bound([1.0], [-1.0], [1.0], n=5)
