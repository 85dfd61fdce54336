"""Kullback-Leibler and Jeffreys divergences against sums, quadrature and exact witnesses."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm

from mercer.certificate import Verdict
from mercer.errors import InputError
from mercer.kernels import GaussianJeffreys, Jeffreys, jeffreys_divergence, kl_divergence
from mercer.models import Normal


def test_histograms_against_the_sum():
    p, q = [0.2, 0.3, 0.5], [0.1, 0.6, 0.3]
    want = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    assert kl_divergence(p, q) == pytest.approx(want, rel=1e-13)
    both = sum((a - b) * math.log(a / b) for a, b in zip(p, q, strict=True))
    assert jeffreys_divergence(p, q) == pytest.approx(both, rel=1e-13)
    assert Jeffreys()(p, q) == pytest.approx(both, rel=1e-13)
    assert Jeffreys().block([p, q])[0, 1] == pytest.approx(both, rel=1e-13)


def test_empty_bins():
    assert kl_divergence([0.0, 1.0], [0.5, 0.5]) == pytest.approx(math.log(2))
    assert kl_divergence([0.5, 0.5], [0.0, 1.0]) == math.inf
    assert kl_divergence([0.0, 1.0], [0.0, 1.0]) == 0.0
    assert jeffreys_divergence([0.0, 1.0], [0.5, 0.5]) == math.inf
    with pytest.raises(InputError, match="row 0"):
        Jeffreys().block([[0.0, 1.0]])


def test_normals_by_quadrature():
    for (m, v), (w, u) in [((0.0, 1.0), (0.7, 0.3)), ((-1.0, 4.0), (2.0, 0.5))]:
        p, q = norm(m, math.sqrt(v)), norm(w, math.sqrt(u))
        want = quad(lambda z, p=p, q=q: p.pdf(z) * (p.logpdf(z) - q.logpdf(z)), -20, 20, limit=200)[0]
        assert kl_divergence(Normal([m], [[v]]), Normal([w], [[u]])) == pytest.approx(want, rel=1e-7)


def test_normals_by_sampling():
    rng = np.random.default_rng(0)
    p, q = Normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]), Normal([1.0, 0.0], [[1.0, -0.3], [-0.3, 1.5]])
    x = rng.multivariate_normal(p.mean, p.covariance, size=100_000)
    gaps = multivariate_normal(p.mean, p.covariance).logpdf(x) - multivariate_normal(
        q.mean, q.covariance
    ).logpdf(x)
    assert abs(kl_divergence(p, q) - gaps.mean()) < 5 * gaps.std() / math.sqrt(len(x))
    K = GaussianJeffreys().block([p, q])
    assert K[0, 1] == pytest.approx(jeffreys_divergence(p, q), rel=1e-12)


def test_jeffreys_is_refuted_by_exact_arithmetic():
    """c'Kc = -2 <c, p> <c, logit p> for two bins: the signs of the two factors are rational."""
    k = Jeffreys()
    w = k.certificate.negative.witness
    p = [Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)]
    c = [int(v) for v in w.coefficients]
    assert sum(c) == 0
    assert sum(a * b for a, b in zip(c, p, strict=True)) < 0
    odds = [(b / (1 - b)) ** a for a, b in zip(c, p, strict=True)]
    assert math.prod(odds) > 1  # exp of <c, logit p>
    logits = sum(a * math.log(b / (1 - b)) for a, b in zip(c, p, strict=True))
    assert w.value == pytest.approx(-2 * logits * float(sum(a * b for a, b in zip(c, p, strict=True))))


def test_jeffreys_of_normals_is_refuted_by_exact_arithmetic():
    w = GaussianJeffreys().certificate.negative.witness
    v = [Fraction(1, 4), Fraction(1), Fraction(4)]
    assert [x[1] for x in w.points] == [float(a) for a in v]
    value = sum(
        int(c) * int(d) * (a / b + b / a - 2) / 2
        for c, a in zip(w.coefficients, v, strict=True)
        for d, b in zip(w.coefficients, v, strict=True)
    )
    assert value == Fraction(81, 16)
    assert w.value == pytest.approx(81 / 16, rel=1e-14)


@pytest.mark.parametrize("k", [Jeffreys(), GaussianJeffreys()])
def test_the_exponential_has_no_certificate_and_is_indefinite(k):
    assert k.certificate.verdict is Verdict.REFUTED
    assert k.schoenberg(0.1).certificate.verdict is Verdict.UNKNOWN
    points = list(k.certificate.negative.witness.points)
    assert np.linalg.eigvalsh(k.schoenberg(0.1).block(points))[0] < -1e-3


def test_lengths_and_dimensions_have_to_match():
    with pytest.raises(InputError, match=r"kl_divergence: .* same length. Got 2 and 1"):
        kl_divergence([0.5, 0.5], [1.0])
    with pytest.raises(InputError, match=r"kl_divergence: .* one dimension. Got 1 and 2"):
        kl_divergence(Normal([0.0], [[1.0]]), Normal([0.0, 0.0], np.eye(2)))
    with pytest.raises(InputError, match=r"p.*>= 0"):
        kl_divergence([-0.5, 1.5], [0.5, 0.5])


def test_normals_to_fifty_digits_against_fractions():
    k = GaussianJeffreys()
    assert k.is_precise
    normals = [((0.1, 3.0), (0.7, 0.2, 1.3)), ((-2.0, 0.3), (5.0, -1.1, 0.9))]
    for p, q in itertools.product(normals, repeat=2):
        value = k.precise(*[(mean, [[a, b], [b, c]]) for mean, (a, b, c) in (p, q)], 60)
        want = _exact_divergence(p, q)
        assert abs(value * want.denominator - want.numerator) <= 1e-55 * want.numerator
    assert k.certificate.negative.witness.digits == 50


def _exact_divergence(p, q):
    """The formula in two dimensions, in rational arithmetic."""
    (m, S), (w, T) = [([Fraction(v) for v in mean], [Fraction(v) for v in cov]) for mean, cov in (p, q)]
    inverses = []
    for a, b, c in (S, T):
        det = a * c - b * b
        inverses.append((c / det, -b / det, a / det))
    traces = sum(
        inverse[0] * other[0] + 2 * inverse[1] * other[1] + inverse[2] * other[2]
        for inverse, other in zip(inverses, (T, S), strict=True)
    )
    a, b, c = (u + v for u, v in zip(*inverses, strict=True))
    x, y = m[0] - w[0], m[1] - w[1]
    return (traces - 4 + a * x * x + 2 * b * x * y + c * y * y) / 2
