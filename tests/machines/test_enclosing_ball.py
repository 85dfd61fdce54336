"""The smallest enclosing ball against brute force, and its kinship with the one-class machine."""

import itertools

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.guarantees import enclosing_ball_bound
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.machines import EnclosingBall, OneClassSVM

from ..solvers.svm.interior import least_objective


def smallest_circle(points):
    """Every circle through two points as a diameter, or through three: the smallest that has all inside."""
    best = (np.inf, None)
    for size in (1, 2, 3):
        for chosen in itertools.combinations(points, size):
            first = chosen[0]
            # The centre is first + sum_k t_k (p_k - first), at the same distance from all.
            D = np.array(chosen)[1:] - first
            centre = first + np.linalg.pinv(2 * D @ D.T) @ (D**2).sum(axis=1) @ D
            radius = float(np.sqrt(((points - centre) ** 2).sum(axis=1).max()))
            best = min(best, (radius, tuple(centre)))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_smallest_circle_in_the_plane(seed):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((int(rng.integers(1, 15)), 2)) * 10 ** rng.uniform(-2, 2)
    if seed % 3 == 0:
        points = np.repeat(points, 2, axis=0)
    radius, centre = smallest_circle(points)
    ball = EnclosingBall(Linear(), tol=1e-9).fit(points)
    scale = float(np.abs(points).max())
    assert ball.radius_ == pytest.approx(radius, rel=1e-5, abs=1e-7 * scale)
    np.testing.assert_allclose(ball.dual_coef_[0] @ ball.support_vectors_, centre, atol=1e-4 * scale)
    distances = np.sqrt(((points - np.array(centre)) ** 2).sum(axis=1))
    np.testing.assert_allclose(ball.distance(points), distances, atol=1e-4 * scale)
    assert (ball.predict(points) == 1).all()
    assert (ball.predict(points + 3 * scale + 1) == -1).all()
    np.testing.assert_allclose(
        ball.decision_function(points), ball.squared_radius_ - ball.squared_distance(points), atol=1e-12
    )


@pytest.mark.parametrize("C", [np.inf, 0.3, 0.05])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(1.0)])
def test_the_stated_problem_is_solved(kernel, C):
    rng = np.random.default_rng(5)
    X, weight = rng.standard_normal((50, 3)), rng.uniform(0.5, 2.0, 50)
    ball = EnclosingBall(kernel, C=C, tol=1e-9).fit(X, sample_weight=weight)
    K = kernel.block(X)
    alpha = np.zeros(50)
    alpha[ball.support_] = ball.dual_coef_[0]
    squared = K.diagonal() - 2 * K @ alpha + alpha @ K @ alpha
    outside = np.maximum(squared - ball.squared_radius_, 0)
    primal = ball.squared_radius_ + (0.0 if np.isinf(C) else C * float(weight @ outside))
    room = np.minimum(C * weight, 1.0)
    dual = -2 * least_objective(K, -K.diagonal() / 2, np.zeros(50), room, sums=(1.0,))
    assert primal == pytest.approx(dual, rel=1e-7)
    np.testing.assert_allclose(ball.squared_distance(X), squared, atol=1e-9)
    if np.isinf(C):
        assert outside.max() <= 1e-7
    else:
        beyond = outside > 1e-6
        assert weight[beyond].sum() <= 1 / C + 1e-9


def test_for_a_constant_diagonal_it_is_the_one_class_machine():
    X = np.random.default_rng(6).standard_normal((80, 2))
    for nu in (0.06, 0.31, 0.88):
        ball = EnclosingBall(Gaussian(1.0), C=1 / (nu * 80)).fit(X)
        plane = OneClassSVM(Gaussian(1.0), nu=nu).fit(X)
        # r^2 - |Phi(x) - c|^2 = 2 (f(x) - rho) / (nu n)
        np.testing.assert_allclose(
            ball.decision_function(X), 2 * plane.decision_function(X) / (nu * 80), atol=1e-7
        )
        np.testing.assert_array_equal(ball.predict(X), plane.predict(X))


def false_alarms(ball, X):
    return np.mean(ball.predict(X) == -1)


@pytest.mark.parametrize("C", [np.inf, 0.002])
def test_its_bound_holds_on_fresh_points(C):
    rng = np.random.default_rng(7)
    X, fresh = rng.uniform(-1, 1, (2, 4000, 1))
    ball = EnclosingBall(Linear(), C=C).fit(X)
    bound = ball.false_alarm_bound(X, radius=1.0, norm_bound=0.1)
    assert not bound.vacuous
    assert false_alarms(ball, fresh) <= float(bound)


def test_its_bound_is_that_of_the_guarantees():
    """For the Gaussian kernel k(x, x) = 1 bounds radius and centre, whatever the data."""
    X = np.random.default_rng(7).standard_normal((500, 2))
    ball = EnclosingBall(Gaussian(5.0)).fit(X)
    scores = ball.decision_function(X)
    for rho in (0.5, 0.1):
        expected = enclosing_ball_bound(scores, rho, K=500.0, radius=1.0, norm_bound=1.0, delta=0.1)
        assert float(ball.false_alarm_bound(X, rho=rho, delta=0.1)) == pytest.approx(float(expected))
        assert float(ball.false_alarm_bound(X, delta=0.1)) <= float(expected)
    linear = EnclosingBall(Linear()).fit(X)
    expected = enclosing_ball_bound(
        linear.decision_function(X),
        2.0,
        K=float((X**2).sum()),
        radius=5.0,
        norm_bound=1.0,
        rho_max=25.0,
    )
    bound = linear.false_alarm_bound(X, rho=2.0, radius=5.0, norm_bound=1.0)
    assert float(bound) == pytest.approx(float(expected))
    # A ball of radius 1 rejects more than the one that was fitted.
    small = linear.false_alarm_bound(X, rho=0.5, radius=1.0, norm_bound=1.0)
    assert small.terms["margin loss"] >= np.mean(linear.distance(X) > 1)


def test_its_bound_says_what_it_assumes():
    X = np.random.default_rng(7).standard_normal((50, 2))
    held_out = np.random.default_rng(8).standard_normal((50, 2))
    given = EnclosingBall(Gaussian(1.0)).fit(X).false_alarm_bound(X)
    ball = EnclosingBall(Gaussian("scale")).fit(X)
    taken = ball.false_alarm_bound(held_out)
    assert not any("became" in text for text in given.assumptions)
    assert any("became" in text for text in taken.assumptions)
    with pytest.warns(UserWarning, match=r"X holds points of fit.*Gaussian\(sigma='scale'\) became"):
        ball.false_alarm_bound(X)
    linear = EnclosingBall(Linear()).fit(X + 10)
    with pytest.raises(ParameterError, match="`radius` must be given"):
        linear.false_alarm_bound(X)
    with pytest.raises(ParameterError, match="`norm_bound` must be given"):
        linear.false_alarm_bound(X, radius=1.0)
    with pytest.raises(ParameterError, match="at least the norm of the centre"):
        linear.false_alarm_bound(X, radius=1.0, norm_bound=1.0)
    with pytest.raises(ParameterError, match="rho"):
        linear.false_alarm_bound(X, radius=1.0, norm_bound=20.0, rho=2.0)
    for wrong in (0.0, -1, np.inf, "1"):
        with pytest.raises(ParameterError, match="`radius`"):
            linear.false_alarm_bound(X, radius=wrong, norm_bound=20.0)
