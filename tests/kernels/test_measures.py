"""Kernels on Gaussian measures against quadrature and exact identities."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from mercer.certificate import Verdict
from mercer.errors import InputError
from mercer.kernels.measures import GaussianProduct, MeanVariance

QUADRATURE = 1e-7
ROUNDING = 1e-12


def cloud(n: int, d: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n, d, d))
    return [(m, F @ F.T + 0.1 * np.eye(d)) for m, F in zip(rng.standard_normal((n, d)), factors, strict=True)]


@pytest.mark.parametrize("power", [0.3, 0.5, 1.0, 1.7])
def test_product_by_quadrature_on_the_line(power: float) -> None:
    for (m, v), (w, u) in [((0.0, 1.0), (0.7, 0.3)), ((-1.0, 4.0), (2.0, 0.5)), ((0.0, 2.0), (0.0, 2.0))]:
        p, q = norm(m, math.sqrt(v)).pdf, norm(w, math.sqrt(u)).pdf
        want = quad(lambda z, p=p, q=q: (p(z) * q(z)) ** power, -60, 60, points=[m, w], limit=400)[0]
        assert GaussianProduct(power)((m, v), (w, u)) == pytest.approx(want, rel=QUADRATURE)


def test_power_one_is_a_gaussian_density_at_the_difference() -> None:
    points = cloud(4, 3)
    K = GaussianProduct(1.0).block(points)
    for i, (m, S) in enumerate(points):
        for j, (w, T) in enumerate(points):
            assert K[i, j] == pytest.approx(multivariate_normal(np.zeros(3), S + T).pdf(m - w), rel=1e-10)


def test_bhattacharyya_affinity_of_a_measure_with_itself_is_one() -> None:
    np.testing.assert_allclose(GaussianProduct().diagonal(cloud(6, 4)), 1.0, rtol=ROUNDING)
    assert (GaussianProduct().block(cloud(6, 4)) <= 1 + ROUNDING).all()


def test_independent_coordinates_multiply() -> None:
    m, w, v, u = [0.0, 1.0], [2.0, -1.0], [1.0, 3.0], [0.5, 2.0]
    for k in (GaussianProduct(0.7), GaussianProduct(0.5)):
        joint = k((m, np.diag(v)), (w, np.diag(u)))
        assert joint == pytest.approx(
            k((m[0], v[0]), (w[0], u[0])) * k((m[1], v[1]), (w[1], u[1])), rel=1e-13
        )


@pytest.mark.parametrize("D", [0.0, 0.5, 2.0, 30.0])
def test_worked_value_of_the_semigroup_kernel(D: float) -> None:
    assert MeanVariance()((0.0, 1.0), (D, 1.0)) == pytest.approx((1 + D * D / 4) ** -0.5, rel=1e-14)


def test_semigroup_kernel_is_a_determinant_of_the_mixture() -> None:
    points = cloud(5, 3, seed=1)
    K = MeanVariance().block(points)
    for i, (m, S) in enumerate(points):
        for j, (w, T) in enumerate(points):
            second = (S + np.outer(m, m) + T + np.outer(w, w)) / 2  # second moments of the average measure
            mean = (m + w) / 2
            want = np.linalg.det(second - np.outer(mean, mean)) ** -0.5
            assert K[i, j] == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("k", [GaussianProduct(), GaussianProduct(1.3), MeanVariance()])
def test_strict_on_distinct_measures(k: object) -> None:
    assert k.certificate.verdict is Verdict.STRICT
    K = k.normalized().block(cloud(12, 2, seed=2))
    assert np.linalg.eigvalsh(K)[0] > 0


def test_input_errors_name_the_measure() -> None:
    k = MeanVariance()
    with pytest.raises(InputError, match=r"X\[1\] must be a pair"):
        k.block([(0.0, 1.0), (0.0, 1.0, 2.0)])
    with pytest.raises(InputError, match=r"X\[0\]\[1\] must be a positive definite covariance. Got least"):
        k.block([([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])])
    with pytest.raises(InputError, match="symmetric covariance"):
        k.block([([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]])])
    with pytest.raises(InputError, match=r"covariance of shape \(d, d\)"):
        k.block([([0.0, 0.0], 1.0)])
    with pytest.raises(InputError, match="NaN in row 0, column 0"):
        k.block([(math.nan, 1.0)])
    with pytest.raises(InputError, match=r"one dimension. Got 1 and 2"):
        k.block([(0.0, 1.0)], cloud(2, 2))
    with pytest.raises(InputError, match="sequence of pairs"):
        k.block("ab")
    assert k.block([]).shape == (0, 0)
