"""Normalising, conformal factors, pull-backs, centring and series."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import mercer
from mercer.certificate import Verdict
from mercer.domains import Vectors
from mercer.errors import InputError, ParameterError
from mercer.kernels import (
    Cosine,
    Gaussian,
    InverseRoot,
    Linear,
    Polynomial,
    PowerDistance,
    Sigmoid,
    WhiteNoise,
)

X = np.random.default_rng(0).standard_normal((8, 3))


def half(x):
    return x / 2


def test_normalised_linear_is_the_cosine_and_zero_vectors_stay_zero():
    Z = np.vstack([X, np.zeros(3)])
    K = Linear().normalized().block(Z)
    np.testing.assert_allclose(K, Cosine().block(Z), atol=1e-15)
    assert (K[-1] == 0).all()
    assert (np.diagonal(K)[:-1] == 1).all()
    assert np.abs(K).max() <= 1
    assert Linear().normalized()([0.0, 0.0], [1.0, 1.0]) == 0.0


def test_gaussian_is_the_normalised_exponential():
    ours = (Linear() / 1.5**2).exp().normalized()
    np.testing.assert_allclose(ours.block(X), Gaussian(1.5).block(X), rtol=1e-12)
    assert ours.certificate.is_psd


def test_negative_diagonal_cannot_be_normalised():
    with pytest.raises(InputError, match="k\\(x, x\\) must be >= 0"):
        (-Linear()).normalized().block(X)


def test_conformal_and_pullback():
    k = Linear().conformal(np.sum)
    s = X.sum(axis=1)
    np.testing.assert_allclose(k.block(X), s[:, None] * (X @ X.T) * s, rtol=1e-12)
    assert k.certificate.verdict is Verdict.PSD
    pulled = Gaussian(1.0).on(half, domain=Vectors(), injective=True)
    np.testing.assert_allclose(pulled.block(X), Gaussian(2.0).block(X), rtol=1e-12)
    assert pulled.certificate.verdict is Verdict.STRICT
    assert Gaussian(1.0).on(half).certificate.verdict is Verdict.PSD
    assert PowerDistance(1.0).on(half).certificate.verdict is Verdict.NDS
    assert Sigmoid().on(half).certificate.verdict is Verdict.UNKNOWN
    lengths = Gaussian(1.0).on(lambda word: [len(word)])
    assert lengths.block(["a", "bb", "cc"])[1, 2] == 1.0
    assert lengths.block([]).shape == (0, 0)
    at_once = Gaussian(1.0).on(lambda words: np.array([[len(w)] for w in words]), vectorized=True)
    np.testing.assert_array_equal(at_once.block(["a", "bbb"]), lengths.block(["a", "bbb"]))
    assert at_once("a", "bbb") == lengths("a", "bbb")


def test_pullback_resolves_on_the_images():
    k = Gaussian("median").on(half, domain=Vectors()).resolve(X)
    expected = Gaussian("median").resolve(X / 2)
    assert k.base == expected


def test_centring_is_centring():
    K = Gaussian(1.0).block(X)
    H = np.eye(8) - 1 / 8
    k = Gaussian(1.0).centered(X)
    np.testing.assert_allclose(k.block(X), H @ K @ H, atol=1e-14)
    np.testing.assert_allclose(k.diagonal(X), np.diagonal(H @ K @ H), atol=1e-14)
    new = np.ones((2, 3))
    cross = Gaussian(1.0).block(new, X)
    expected = cross - cross.mean(axis=1)[:, None] - K.mean(axis=0) + K.mean()
    np.testing.assert_allclose(k.block(new, X), expected, atol=1e-14)
    assert k(new[0], X[1]) == pytest.approx(expected[0, 1], abs=1e-14)
    assert k.certificate.is_psd
    assert (-PowerDistance(1.0)).centered(X).certificate.is_psd
    assert np.linalg.eigvalsh((-PowerDistance(1.0)).centered(X).block(X)).min() > -1e-12
    copy = pickle.loads(pickle.dumps(k))
    assert copy == k
    np.testing.assert_array_equal(copy.block(X), k.block(X))
    with pytest.raises(InputError, match="at least one point"):
        Gaussian(1.0).centered(np.empty((0, 3)))


def test_polynomials_and_series():
    G = 0.5 * Gaussian(1.0)
    g = G.block(X)
    np.testing.assert_allclose(G.polynomial([1, 0, 2, 3]).block(X), 1 + 2 * g**2 + 3 * g**3, rtol=1e-13)
    assert G.polynomial([1, 0, 2]).certificate.verdict is Verdict.STRICT
    assert G.polynomial([1.0]).certificate.verdict is Verdict.PSD
    assert G.polynomial([1, -1]).certificate.verdict is Verdict.NDS
    assert G.polynomial([1, -1, 1]).certificate.verdict is Verdict.UNKNOWN
    assert (-G).polynomial([1, -1, 1]).certificate.verdict is Verdict.STRICT
    assert (-G).power_series("cosh").certificate.verdict is Verdict.STRICT
    named = {
        "exp": np.exp(g),
        "geometric": 1 / (1 - g),
        "log": -np.log(1 - g),
        "inverse_sqrt": 1 / np.sqrt(1 - g),
        "cosh": np.cosh(g),
        "sinh": np.sinh(g),
        "arcsin": np.arcsin(g),
    }
    for name, expected in named.items():
        k = G.power_series(name)
        np.testing.assert_allclose(k.block(X), expected, rtol=1e-12)
        assert k(X[0], X[1]) == pytest.approx(expected[0, 1], rel=1e-12)  # summed from the coefficients
        assert k.certificate.is_psd
    own = G.power_series(lambda n: 1 / math.factorial(n) ** 2, radius=math.inf, tail=(1.0, np.i0(2.0)))
    assert own(X[0], X[0]) == pytest.approx(np.i0(2 * math.sqrt(0.5)), rel=1e-12)
    np.testing.assert_allclose(own.block(X), np.i0(2 * np.sqrt(g)), rtol=1e-12)
    assert own.certificate.verdict is Verdict.UNKNOWN
    assert own.assume("PSD", "squares of factorials").certificate.is_psd


def test_radius_is_checked_on_the_values():
    with pytest.raises(InputError, match=r"radius of convergence 1\. Got 1"):
        Gaussian(1.0).power_series("geometric").block(X)
    inside = X / (2 * np.linalg.norm(X, axis=1).max())
    np.testing.assert_allclose(
        Linear().power_series("inverse_sqrt").block(inside), InverseRoot().block(inside), rtol=1e-12
    )
    with pytest.raises(ParameterError, match="`radius` must be > 0"):
        Linear().power_series(lambda n: 1.0, -1.0, tail=(0.5, 2.0))
    with pytest.raises(ParameterError, match="coefficients"):
        Linear().power_series("bessel")


@pytest.mark.parametrize(
    "coefficient",
    [
        lambda n: 0.0 if n < 5 else 1 / math.factorial(n),
        lambda n: 0.0 if n % 5 else 1 / math.factorial(n),
        lambda n: 0.0 if n % 5 else (-1) ** n / math.factorial(n),
        lambda n: 0.0,
        lambda n: float(n == 200) / 4.0**200,
    ],
    ids=["late", "every fifth", "signs", "none", "one"],
)
def test_a_series_with_gaps_is_summed_to_its_end(coefficient):
    k = Linear().power_series(coefficient, math.inf, tail=(4.0, 60.0))
    for t in (0.0, 1.0, -1.5, 3.5):
        exact = sum(Fraction(coefficient(n)) * Fraction(t) ** n for n in range(300))
        assert k([1.0], [t]) == pytest.approx(float(exact), rel=1e-14, abs=1e-16)
        np.testing.assert_array_equal(k.block([[1.0]], [[t]]), k([1.0], [t]))
        single = k.block(np.ones((1, 1), np.float32), np.full((1, 1), t, np.float32))
        np.testing.assert_allclose(single, float(exact), rtol=1e-6, atol=1e-16)


def test_the_tail_of_a_series_is_declared():
    one_over = lambda n: 1 / (n + 1)  # noqa: E731
    for tail in (None, (1.0,), (0.0, 1.0), (1.0, math.inf)):
        with pytest.raises(ParameterError, match=r"`tail` must be two positive numbers \(r, M\)"):
            Linear().power_series(one_over, 1.0, tail=tail)
    with pytest.raises(ParameterError, match=r"at least the r of `tail`, 1\.5"):
        Linear().power_series(one_over, 1.0, tail=(1.5, 3.0))
    k = Linear().power_series(one_over, 1.0, tail=(0.9, 3.0))  # -log(1 - t) / t
    assert k([1.0], [0.5]) == pytest.approx(2 * math.log(2.0), rel=1e-14)
    with pytest.raises(InputError, match=r"below the r of `tail`, 0\.9. Got 0\.95"):
        k([1.0], [0.95])
    with pytest.raises(InputError, match="inside the radius of convergence 1"):
        k([1.0], [1.0])
    with pytest.raises(ParameterError, match="some terms add up to"):
        Linear().power_series(lambda n: 1.0, 1.0, tail=(0.9, 1.5)).block([[0.8]])
    assert eval(repr(Linear().power_series(math.exp, tail=(0.1, 2.0))), {"Linear": Linear, "exp": math.exp})


def test_assumptions_are_marked_and_cannot_contradict_proofs():
    k = mercer.kernel(lambda x, y: float(x == y))
    assert k.certificate.verdict is Verdict.UNKNOWN
    certain = (k.assume("PSD", "an indicator") + 2 * WhiteNoise()).normalized()
    assert certain.certificate.is_psd
    assert certain.certificate.positive.asserted
    assert "asserted: an indicator" in certain.certificate.explain()
    assert not (Gaussian(1.0) + Linear()).certificate.positive.asserted
    with pytest.raises(ParameterError, match="proved not to be PSD"):
        Sigmoid().assume("PSD")
    with pytest.raises(ParameterError, match="`verdict` must be"):
        k.assume("maybe")


def test_structured_points():
    k = mercer.tensor(Gaussian(1.0), WhiteNoise())
    points = list(zip(X.tolist(), "aababbab", strict=True))
    labels = np.array(list("aababbab"))
    expected = Gaussian(1.0).block(X) * (labels[:, None] == labels)
    np.testing.assert_allclose(k.block(points), expected, rtol=1e-13)
    assert k.certificate.verdict is Verdict.STRICT
    total = mercer.direct_sum(Gaussian("median"), Linear()).resolve([(x, x) for x in X])
    np.testing.assert_allclose(
        total.block([(x, x) for x in X]), Gaussian("median").resolve(X).block(X) + X @ X.T, rtol=1e-12
    )
    assert total.certificate.verdict is Verdict.PSD
    with pytest.raises(InputError, match="tuple of 2"):
        k.block([(1.0,)])


def test_convolution_sums_over_parts():
    k = mercer.convolution(WhiteNoise(), lambda word: [word[i : i + 2] for i in range(len(word) - 1)])
    words = ["banana", "bandana", "", "x", "nab"]

    def count(word):
        grams = [word[i : i + 2] for i in range(len(word) - 1)]
        return {gram: grams.count(gram) for gram in grams}

    expected = np.array(
        [[sum(n * count(y).get(g, 0) for g, n in count(x).items()) for y in words] for x in words]
    )
    np.testing.assert_array_equal(k.block(words), expected)
    np.testing.assert_array_equal(k.block(words[:2], words), expected[:2])
    np.testing.assert_array_equal(k.diagonal(words), np.diagonal(expected))
    assert k("banana", "bandana") == expected[0, 1]
    assert k.certificate.is_psd
    assert k.block(["", "x"]).tolist() == [[0, 0], [0, 0]]


def test_limits_settle_or_say_so():
    k = mercer.limit(lambda n: (1 + 0.01 * Linear() / n) ** n, n=2**16, tol=1e-6)
    np.testing.assert_allclose(k.block(X), np.exp(0.01 * X @ X.T), rtol=1e-5)
    assert k.certificate.is_psd
    with pytest.raises(InputError, match="has not converged"):
        mercer.limit(lambda n: Linear() ** n, n=4).block(X)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(1.3) + 0.7 * Linear(),
        Gaussian(1.3) * (2.0 * Polynomial(2, offset=0.7)) + 0.3,
        (Gaussian([0.5, 1.0, 2.0]) + 0.4 * Gaussian(1.0)).normalized(),
        (0.2 * Gaussian(0.8)).exp(),
        ((0.2 * Polynomial(2, offset=1.5)) ** 2).normalized(),
        Gaussian(0.9).distance().schoenberg(0.6),
        PowerDistance(2.0).schoenberg(0.3) * (1 / (1 + 0.5 * PowerDistance(2.0))),
        (0.3 * Gaussian(1.0)).power_series("geometric"),
        Gaussian(1.0).polynomial([1, 2, 3]),
        (0.5 * Gaussian(1.1)).conformal(np.sum),
        mercer.tensor(Gaussian(1.0), 2.0 * Gaussian(0.5)),
    ],
)
def test_gradients_are_derivatives_in_log_parameters(kernel):
    points = [(x, x) for x in X] if "tensor" in repr(kernel) else X
    for Y in (None, points[:3]):
        gradient = kernel.gradient(points, Y)
        assert set(gradient) == set(kernel.parameters)
        for name, parameter in kernel.parameters.items():
            value = np.asarray(parameter.value, dtype=float)
            for index in np.ndindex(*value.shape):
                up, down = (value.copy() for _ in range(2))
                h = 1e-5
                up[index], down[index] = value[index] * math.exp(h), value[index] * math.exp(-h)
                difference = kernel.replace(**{name: up}).block(points, Y) - kernel.replace(
                    **{name: down}
                ).block(points, Y)
                np.testing.assert_allclose(
                    gradient[name][(..., *index)], difference / (2 * h), rtol=1e-6, atol=1e-8
                )
