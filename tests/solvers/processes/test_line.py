"""Processes on the line in linear time, against dense matrices and multiprecision."""

import mpmath
import numpy as np
import pytest
import scipy.linalg

from mercer import _native
from mercer.engine.runs import checkpoint
from mercer.solvers.processes import LineComponent, LineCovariance, condition, loo_predictions

FORMULAS = {
    "matern12": lambda z, s, t: np.exp(-z),
    "matern32": lambda z, s, t: (1 + z) * np.exp(-z),
    "matern52": lambda z, s, t: (1 + z + z**2 / 3) * np.exp(-z),
    "brownian": lambda z, s, t: np.minimum(s, t),
    "constant": lambda z, s, t: 1.0 + 0 * z,
    "linear": lambda z, s, t: s * t,
}


def matrix(components, s, t):
    s, t = s[:, None], t[None, :]
    return sum(c.variance * FORMULAS[c.kind](c.rate * abs(s - t), s, t) for c in components)


M12, M32, M52 = (
    LineComponent("matern12", 0.7, 1.3),
    LineComponent("matern32", 1.9, 0.4),
    LineComponent("matern52", 0.8, 2.1),
)
BROWNIAN, CONSTANT, LINEAR = (
    LineComponent("brownian", 0.3),
    LineComponent("constant", 2.0),
    LineComponent("linear", 0.2),
)
SUMS = [
    [M12],
    [M32],
    [M52],
    [BROWNIAN],
    [CONSTANT, LINEAR],
    [M12, M32],
    [M52, M52._replace(rate=0.1), BROWNIAN],
    [M12, M32, M52, BROWNIAN, CONSTANT, LINEAR],
    [M52] * 3 + [M12] * 3,
]


def name(components):
    return "+".join(c.kind for c in components)


@pytest.fixture(params=SUMS, ids=name)
def problem(request):
    rng = np.random.default_rng(0)
    t = np.concatenate([rng.uniform(0, 9, 40), [3.0, 3.0, 3.0 + 1e-9, 0.0, 50.0, 51.0]])
    rng.shuffle(t)
    noise = rng.uniform(0.05, 0.4, len(t))
    dense = matrix(request.param, t, t) + np.diag(noise)
    return request.param, t, noise, dense, LineCovariance(request.param, t, noise)


def test_inverse_and_determinant(problem):
    _, t, _, dense, line = problem
    B = np.random.default_rng(1).standard_normal((len(t), 3))
    np.testing.assert_allclose(line.solve(B), np.linalg.solve(dense, B), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(line.quadratic(B), B.T @ np.linalg.solve(dense, B), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(line.inverse_diagonal(), np.diagonal(np.linalg.inv(dense)), rtol=1e-9)
    assert line.log_determinant == pytest.approx(np.linalg.slogdet(dense)[1], rel=1e-11, abs=1e-11)


AT = np.array([4.0, 0.0, 1e-3, 3.0, 8.999, 20.0, 50.0, 50.5, 51.0, 60.0, 3.0])


def test_products_and_variances_at_other_times(problem):
    components, t, _, dense, line = problem
    C = np.random.default_rng(2).standard_normal((len(t), 2))
    V = matrix(components, AT, t)
    np.testing.assert_allclose(line.product(C, AT), V @ C, rtol=1e-10, atol=1e-10)
    expected = np.diagonal(matrix(components, AT, AT) - V @ np.linalg.solve(dense, V.T))
    np.testing.assert_allclose(line.variances(AT), expected, rtol=1e-7, atol=1e-10)
    for few in (AT[:0], AT[:1], np.array([-0.0]), np.array([99.0])):
        assert line.variances(few).shape == few.shape
        assert line.product(C, few).shape == (*few.shape, 2)


def test_slopes_are_traces(problem):
    components, t, _, dense, line = problem
    Y = np.random.default_rng(3).standard_normal((len(t), 2))
    products, slopes, determinants = line.slopes(Y)
    N = np.linalg.inv(dense)
    np.testing.assert_allclose(products, Y.T @ N @ Y, rtol=1e-9, atol=1e-10)
    steps = [np.eye(len(t))]
    for j in reversed(range(len(components))):
        c, h = components[j], 1e-6
        for field in ("rate", "variance"):
            up, down = (
                matrix([c._replace(**{field: getattr(c, field) * np.exp(s * h)})], t, t) for s in (1, -1)
            )
            steps.insert(0, (up - down) / (2 * h))
    assert len(slopes) == len(determinants) == len(steps)
    for dM, slope, determinant in zip(steps, slopes, determinants, strict=True):
        assert determinant == pytest.approx(np.sum(N * dM), rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(slope, -Y.T @ N @ dM @ N @ Y, rtol=1e-5, atol=1e-5)


def test_likelihood_and_leave_one_out(problem):
    _, t, _, dense, line = problem
    Y = np.random.default_rng(4).standard_normal((len(t), 2)) + 3
    for intercept in (False, True):
        fit = condition(line, Y, intercept)
        mean, variance = loo_predictions(line, Y, fit)
        ones = np.ones(len(t) - 1)
        for i in (0, 7):
            rest = np.arange(len(t)) != i
            N, v = np.linalg.inv(dense[np.ix_(rest, rest)]), dense[i, rest]
            b = ones @ N @ Y[rest] / (ones @ N @ ones) if intercept else np.zeros(2)
            np.testing.assert_allclose(mean[i], v @ N @ (Y[rest] - b) + b, rtol=1e-8)
            spread = (1 - ones @ N @ v) ** 2 / (ones @ N @ ones) if intercept else 0.0
            assert variance[i] == pytest.approx(dense[i, i] - v @ N @ v + spread, rel=1e-8)
        if not intercept:
            expected = -0.5 * sum(
                y @ np.linalg.solve(dense, y) + np.linalg.slogdet(dense)[1] + len(t) * np.log(2 * np.pi)
                for y in Y.T
            )
            assert fit.log_likelihood == pytest.approx(expected, rel=1e-10)


def test_restricted_likelihood_is_that_of_contrasts():
    """The density of n - 1 orthonormal contrasts, free of the constant, up to the volume of 1."""
    rng = np.random.default_rng(5)
    t, y = rng.uniform(0, 5, 12), rng.standard_normal(12) + 4
    line = LineCovariance([M32], t, np.full(12, 0.1))
    dense = matrix([M32], t, t) + 0.1 * np.eye(12)
    Q = scipy.linalg.null_space(np.ones((1, 12)))
    S, z = Q.T @ dense @ Q, Q.T @ y
    contrasts = -0.5 * (z @ np.linalg.solve(S, z) + np.linalg.slogdet(S)[1] + 11 * np.log(2 * np.pi))
    fit = condition(line, y[:, None], True)
    assert fit.log_likelihood == pytest.approx(contrasts - 0.5 * np.log(12), rel=1e-10)


@pytest.mark.parametrize("component", [M12, M32, M52], ids=lambda c: c.kind)
@pytest.mark.parametrize("gap", [1e-12, 1e-6, 1e-3, 0.3, 1.4, 1.6, 5.0, 40.0, 1e6])
def test_noise_of_short_and_long_steps_to_full_precision(component, gap):
    """Two observations without noise: S_2 = k(0) - k(gap)^2 / k(0), where differences lose all digits."""
    line = LineComponent(component.kind, 1.0, 1.0), np.array([0.0, gap])
    gains, variances = (
        np.empty((2, {"matern12": 1, "matern32": 2, "matern52": 3}[component.kind])),
        np.empty(2),
    )
    code = {"matern12": 0, "matern32": 1, "matern52": 2}[component.kind]
    done = _native.kalman_filter(
        np.array([code]), np.ones(1), np.ones(1), line[1], np.zeros(2), gains, variances, checkpoint
    )
    with mpmath.workdps(80):
        z = mpmath.mpf(gap)
        k = {0: 1, 1: 1 + z, 2: 1 + z + z**2 / 3}[code] * mpmath.exp(-z)
        expected = float(1 - k**2)
    if expected < 1e-14:
        assert done == 1  # nothing but rounding
    else:
        assert done == 2
        assert variances[1] == pytest.approx(expected, rel=1e-10)


def test_singular_matrices_are_refused():
    t = np.array([0.0, 1.0, 1.0])
    for components in ([M12], [M52, M32], [BROWNIAN]):
        with pytest.raises(np.linalg.LinAlgError, match="the leading minor of order"):
            LineCovariance(components, t, np.zeros(3))
    with pytest.raises(np.linalg.LinAlgError, match="the leading minor of order 1"):
        LineCovariance([BROWNIAN], t, np.zeros(3))  # motion that begins at 0


def test_a_regular_grid_and_a_long_line():
    t = np.arange(200_000) * 0.01
    line = LineCovariance([M52, M12], t, np.full(len(t), 0.1))
    y = np.sin(t)[:, None]
    c = line.solve(y)
    rows = np.array([0, 1, 777, 100_000, 199_999])
    near = [abs(t - t[i]) < 60 for i in rows]  # farther away there is nothing
    for i, some in zip(rows, near, strict=True):
        product = matrix([M52, M12], t[[i]], t[some]) @ c[some] + 0.1 * c[i]
        assert product[0, 0] == pytest.approx(y[i, 0], abs=1e-10)


def test_ctrl_c_ends_long_filters():
    class Interrupted(Exception):
        pass

    calls = []

    def watch():
        calls.append(1)
        if len(calls) == 3:
            raise Interrupted

    n = 300_000
    args = np.array([0]), np.ones(1), np.ones(1), np.arange(n) * 1.0, np.ones(n)
    with pytest.raises(Interrupted):
        _native.kalman_filter(*args, np.empty((n, 1)), np.empty(n), watch)
    assert len(calls) == 3
