"""Every map that stands for its kernel has an error bound, without arguments after ``fit``, that holds."""

import numpy as np
import pytest

from mercer.errors import InputError, MercerError
from mercer.features import (
    AllSubsetsMap,
    AnovaMap,
    Explicit,
    GaussianTaylorMap,
    IncompleteCholesky,
    Nystrom,
    PolynomialMap,
    PositiveRandom,
    RandomFourier,
    Sampled,
    TensorSketch,
)
from mercer.kernels import ExponentialDot, Gaussian, MinMax, NGram, Polynomial

RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, (40, 3))
WORDS = ["".join(RNG.choice(list("abc"), RNG.integers(1, 7))) for _ in range(40)]
MAPS = [
    (AllSubsetsMap(), X),
    (AnovaMap(2), X),
    (Explicit(NGram(2)), WORDS),
    (Explicit(Polynomial(2)), X),
    (GaussianTaylorMap(1.0, 3), X),
    (IncompleteCholesky(Gaussian(1.0), 9), X),
    (Nystrom(Gaussian(1.0), 9, random_state=0), X),
    (PolynomialMap(3), X),
    (PositiveRandom(ExponentialDot(2.0), 500), X),
    (RandomFourier(Gaussian(1.0), 500), X),
    (Sampled(MinMax(), 500), np.abs(X)),
]


@pytest.mark.parametrize(("map", "points"), MAPS, ids=[repr(map) for map, _ in MAPS])
def test_on_the_training_points(map, points):
    features = map.fit(points)
    Z = features.transform(points)
    products = Z @ Z.T
    dense = products.toarray() if hasattr(products, "toarray") else products
    assert np.abs(dense - features.target.block(points)).max() <= float(features.error_bound()) + 1e-12


def test_patterns_that_fit_did_not_see():
    features, new = Explicit(NGram(2)).fit(["banana"]), ["bandana", "ananas", "canna"]
    Z = features.transform(new).toarray()
    error = np.abs(Z @ Z.T - NGram(2).block(new)).max()
    assert features.error_bound() == 0.0 < error <= features.error_bound(new) + 1e-12
    assert features.error_bound(new) == 2.0  # nd and da of bandana, ca and nn of canna


def test_a_radius_takes_the_place_of_the_training_points():
    taylor, positive = GaussianTaylorMap(1.0, 3).fit(X), PositiveRandom(ExponentialDot(2.0), 50).fit(X)
    radius = np.linalg.norm(X, axis=1).max()
    for features in (taylor, positive):
        assert features.error_bound() == pytest.approx(features.error_bound(radius))
        assert features.error_bound() < features.error_bound(2 * radius)


@pytest.mark.parametrize(
    ("map", "points"),
    [*((m, p) for m, p in MAPS if p is not WORDS), (TensorSketch(Polynomial(2), 50), X)],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("scale", [1e155, 1e200])
def test_features_are_finite_or_an_error(map, points, scale):
    features, large = map.fit(points), np.abs(points) * scale
    k = features.as_kernel()
    for values in (features.transform, k.diagonal, lambda X: k(X[0], X[1])):
        try:
            found = values(large)
        except MercerError:
            continue
        assert np.isfinite(found.toarray() if hasattr(found, "toarray") else found).all()


@pytest.mark.parametrize("map", [PolynomialMap(2), Explicit(Polynomial(2)), AnovaMap(2), AllSubsetsMap()])
def test_the_row_whose_features_overflow_is_named(map):
    large = X.copy()
    large[3] = 1e155
    with pytest.raises(InputError, match=f"{type(map).__name__}: `X` must have features .* row 3 overflow"):
        map.fit(X).transform(large)
