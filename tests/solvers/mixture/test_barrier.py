"""Weights of rank-one kernels and machine: a general solver for both at once is the judge."""

import numpy as np
import pytest
from scipy import sparse

from mercer.errors import MemoryLimitError
from mercer.solvers.mixture.barrier import solve_mixture
from mercer.solvers.mixture.problem import LargeMargin, LeastSquares, MixtureProblem, MixtureValue
from mercer.solvers.mixture.steps import Point, Region, system_at
from mercer.solvers.watch import Watch

from .joint import joint_minimum

LOSSES = {
    "margin": (LargeMargin(1.0), {"C": 1.0}),
    "hard-margin": (LargeMargin(100.0), {"C": 100.0}),
    "ridge": (LeastSquares(0.5), {"alpha": 0.5}),
    "small-ridge": (LeastSquares(0.01), {"alpha": 0.01}),
}
#: Points, columns, functions; whether there are more points or more columns decides how steps are computed.
SHAPES = {"few-columns": (25, 8, 1), "many-columns": (20, 45, 1), "classes": (24, 9, 3), "wide": (15, 30, 3)}


def watch(tol=1e-6, callbacks=()):
    return Watch(tol, None, callbacks, False, "test")


def counts(n, p, c, seed=0):
    """Counts of patterns, each somewhere, and targets that have to do with some of them."""
    rng = np.random.default_rng(seed)
    F = rng.poisson(0.8, (n, p)).astype(float)
    F[rng.integers(0, n, p), np.arange(p)] += 1.0
    score = F[:, :c] - F[:, c : 2 * c] + 0.5 * rng.standard_normal((n, c))
    Y = np.where(score > 0, 1.0, -1.0) if c == 1 else 2.0 * np.eye(c)[score.argmax(axis=1)] - 1.0
    return F, Y


def problem(F, Y, loss, trace):
    return MixtureProblem(F * np.sqrt(trace / (F**2).sum(axis=0)), Y, loss)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", SHAPES)
def test_minimum_over_weights_and_machine(shape, loss):
    F, Y = counts(*SHAPES[shape])
    trace = 1.5 * len(F)
    measure, arguments = LOSSES[loss]
    V = problem(F, Y, measure, trace)
    found = solve_mixture(V, watch(), tol=1e-7)
    least, mu, predictions = joint_minimum(F, Y, trace, **arguments)
    assert found.converged
    assert found.gap <= 1e-7
    assert found.stats["bound"] <= least * (1 + 1e-8)
    assert found.stats["objective"] == pytest.approx(least, rel=2e-7)
    np.testing.assert_allclose(found.value.weights, mu * (F**2).sum(axis=0) / trace, atol=1e-3)
    K = V.columns * found.value.weights @ V.columns.T
    np.testing.assert_allclose(K @ found.value.coefficients + found.value.intercepts, predictions, atol=2e-3)


def test_most_weights_are_exactly_zero():
    F, Y = counts(30, 200, 1)
    found = solve_mixture(problem(F, Y, LargeMargin(1.0), 30.0), watch())
    weights = found.value.weights
    assert found.converged
    assert 1 <= np.count_nonzero(weights) <= 30
    assert weights.min() == 0.0
    assert weights.sum() == pytest.approx(1.0, rel=1e-14)


def test_sparse_columns_give_the_same():
    F, Y = counts(40, 300, 1)
    F *= np.random.default_rng(3).random(F.shape) < 0.05
    F = F[:, F.any(axis=0)]
    dense = problem(F, Y, LargeMargin(1.0), 40.0)
    thin = dense._replace(columns=sparse.csc_array(dense.columns))
    assert sparse.issparse(Region.of(thin).V)
    a, b = (solve_mixture(p, watch(), tol=1e-9) for p in (dense, thin))
    np.testing.assert_allclose(a.value.weights, b.value.weights, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_any_weights_and_coefficients_bracket_the_minimum(loss):
    F, Y = counts(20, 12, 1)
    measure, arguments = LOSSES[loss]
    V = problem(F, Y, measure, 20.0)
    least, _, _ = joint_minimum(F, Y, 20.0, **arguments)
    rng = np.random.default_rng(1)
    for _ in range(50):
        A = Y * rng.exponential(size=Y.shape) if measure.limit else rng.standard_normal(Y.shape)
        value = MixtureValue(rng.dirichlet(np.ones(12)), A, rng.standard_normal(1))
        found = V.bracket(value)
        assert found.lower <= least * (1 + 1e-8)
        assert found.upper >= least * (1 - 1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("c", [1, 3])
def test_both_systems_give_the_same_steps(loss, c):
    F, Y = counts(12, 20, c)
    V = problem(F, Y, LOSSES[loss][0], 12.0)
    rng = np.random.default_rng(0)
    region = Region.of(V)
    A = V.interior_point()
    d, slack = rng.dirichlet(np.ones(20)), rng.exponential(size=20) + 1.0
    point = Point(A, 3.0, rng.standard_normal(c), d, slack, rng.exponential(size=region.distance(A).shape))
    assert not region.by_columns
    still = point.zero_step()
    one, other = (system_at(Region.of(V, way), point).direction(0.1, still) for way in (False, True))
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def test_a_step_solves_the_linearised_conditions():
    F, Y = counts(12, 20, 3)
    V = problem(F, Y, LargeMargin(1.0), 12.0)
    region, rng = Region.of(V), np.random.default_rng(0)
    A = V.interior_point() + 1e-3 * rng.standard_normal(Y.shape)
    box = rng.exponential(size=region.distance(A).shape)
    p = Point(A, 3.0, rng.standard_normal(3), rng.dirichlet(np.ones(20)), rng.exponential(size=20) + 1, box)

    def conditions(q):
        R = region.images(q.A)
        slopes = -Y + region.V @ (q.d[:, None] * R) + q.b - (region.signs * q.box).sum(axis=0)
        slacks = q.t - 0.5 * (R**2).sum(axis=1) - q.slack
        products = [q.d * q.slack - 0.1, (q.box * region.distance(q.A) - 0.1).ravel()]
        return np.concatenate([slopes.ravel(), q.A.sum(axis=0), [1.0 - q.d.sum()], slacks, *products])

    step = system_at(region, p).direction(0.1, p.zero_step())
    length = 1e-6  # conditions are quadratic: after a short step the linear part has shrunk by its length
    change = (conditions(p.moved(step, length)) - conditions(p.moved(step, -length))) / (2 * length)
    np.testing.assert_allclose(change, -conditions(p), atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_some_weight_is_left_where_none_helps(loss):
    F, _ = counts(10, 6, 1)
    Y = np.repeat([[1.0], [-1.0]], 10, axis=0)
    found = solve_mixture(problem(np.vstack([F, F]), Y, LOSSES[loss][0], 20.0), watch())
    assert found.converged
    assert found.value.weights.sum() == pytest.approx(1.0)
    assert found.stats["objective"] == pytest.approx(LOSSES[loss][0].loss(Y, np.zeros_like(Y)), rel=1e-5)


def test_limits_are_told():
    F, Y = counts(25, 40, 1)
    V = problem(F, Y, LargeMargin(1.0), 25.0)
    short = solve_mixture(V, watch(), max_iter=2)
    assert not short.converged
    assert short.stats["iterations"] == 2
    assert short.status.startswith("stopped because 2 Newton steps are the limit (max_iter)")
    seen = []
    stopped = solve_mixture(V, watch(callbacks=[lambda p: seen.append(p.violation) or len(seen) == 3]))
    assert not stopped.converged
    assert "a callback asked to stop" in stopped.status
    assert len(seen) == 3
    assert stopped.gap == pytest.approx(min(seen))


def test_a_system_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "1000")
    F, Y = counts(25, 40, 1)
    with pytest.raises(MemoryLimitError, match="the system of a Newton step"):
        solve_mixture(problem(F, Y, LargeMargin(1.0), 25.0), watch())
