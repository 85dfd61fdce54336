"""Positive features, tensor sketches, homogeneous maps, sampled families: unbiased, within their bounds."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import AdditiveChi2Sampler, PolynomialCountSketch
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.certificate import Verdict
from mercer.errors import DomainError, InputError, ParameterError
from mercer.features import FeatureFamily, Homogeneous, PositiveRandom, Sampled, TensorSketch
from mercer.guarantees import sampled_kernel_size
from mercer.kernel import Kernel
from mercer.kernels import (
    ChiSquare,
    ExponentialDot,
    Gaussian,
    Hellinger,
    Intersection,
    Jensen,
    Linear,
    Min,
    MinMax,
    NGram,
    Polynomial,
    Tanimoto,
    TotalVariation,
)


@parametrize_with_checks(
    [
        PositiveRandom(ExponentialDot(100.0), 4),
        TensorSketch(Polynomial(2), 4),
        Homogeneous(Intersection()),
        Sampled(MinMax(), 5),
    ],
    expected_failed_checks=lambda m: (
        {"check_dtype_object": "objects that are no numbers are an InputError, which is a ValueError"}
        | (
            {"check_positive_only_tag_during_fit": "negative entries are an error that names row and column"}
            if isinstance(m, Homogeneous | Sampled)
            else {}
        )
    ),
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)


def mean_of_draws(make: Any, X: Any, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the Gram matrices of many maps, and its standard errors."""
    found = []
    for seed in range(draws):
        Z = make(seed).fit(X).transform(X)
        found.append(Z @ Z.T)
    return np.mean(found, axis=0), np.std(found, axis=0) / math.sqrt(draws)


COUNTS = np.array([[2, 0, 1, 0.5], [1, 1, 1, 0], [0, 3, 0, 0], [2, 0, 1, 0.5], [0, 0, 0, 0], [0, 0, 0, 0]])
BITS = (COUNTS > 0.7).astype(float)
WORDS = ["banana", "ananas", "nab", "bandana"]
REALS = np.random.default_rng(0).standard_normal((6, 3)) / 2


class Steps(FeatureFamily):
    """Indicators of [u, 1] for uniform u in [0, 1], times a factor."""

    def __init__(self, bound: float = 1.0, factor: float = 1.0) -> None:
        self.bound, self.factor = bound, factor

    def draw(self, n: int, X: Any, rng: np.random.Generator) -> Any:
        u = rng.uniform(size=n)
        return lambda X: self.factor * (u < X)


UNBIASED = [
    (ExponentialDot(), REALS, lambda k, s: PositiveRandom(k, 8, random_state=s)),
    (ExponentialDot(0.9), REALS, lambda k, s: PositiveRandom(k, 6, orthogonal=True, random_state=s)),
    (Polynomial(3, 0.5, 1.2), REALS, lambda k, s: TensorSketch(k, 16, random_state=s)),
    (Polynomial(2, 0.0), REALS, lambda k, s: TensorSketch(k, 9, random_state=s)),
    (2.0 * (Linear() + 1.0) * Linear() ** 2, REALS, lambda k, s: TensorSketch(k, 16, random_state=s)),
    (NGram(1) * NGram(2), WORDS, lambda k, s: TensorSketch(k, 16, random_state=s)),
    (MinMax(), COUNTS, lambda k, s: Sampled(k, 10, random_state=s)),
    (Tanimoto(), BITS, lambda k, s: Sampled(k, 10, random_state=s)),
    (Min(), np.linspace(0.05, 0.95, 5)[:, None], lambda k, s: Sampled(k, 10, family=Steps(), random_state=s)),
]


@pytest.mark.parametrize(("k", "X", "make"), UNBIASED, ids=[repr(k) for k, _, _ in UNBIASED])
def test_means_are_the_kernel(k: Kernel, X: Any, make: Any) -> None:
    mean, error = mean_of_draws(lambda seed: make(k, seed), X, 120)
    assert (np.abs(mean - k.block(X)) <= 4 * error + 1e-10).all()


def test_positive_features() -> None:
    X = np.random.default_rng(1).standard_normal((8, 4)) / 3
    k = ExponentialDot(1.3)
    K = k.block(X)
    squares = {}
    for orthogonal in (False, True):
        maps = [PositiveRandom(k, 8, orthogonal=orthogonal, random_state=s).fit(X) for s in range(300)]
        errors = [m.transform(X) @ m.transform(X).T - K for m in maps]
        squares[orthogonal] = np.mean([e**2 for e in errors], axis=0)
        radius = float(np.linalg.norm(X, axis=1).max())
        outside = np.mean([np.abs(e) > maps[0].error_bound(radius, 0.2) for e in errors])
        assert outside < 0.2
    norms = ((X[:, None] + X[None]) ** 2).sum(axis=2) / 1.3**2
    np.testing.assert_allclose(squares[False], K**2 * np.expm1(norms) / 8, rtol=0.7)
    assert squares[True].mean() < squares[False].mean()
    assert (maps[0].transform(X) > 0).all()
    dense, sparse = maps[0].transform(X), maps[0].transform(scipy.sparse.csr_array(X))
    np.testing.assert_allclose(sparse, dense, rtol=1e-13)
    single = np.empty((8, 8), dtype=np.float32)
    np.testing.assert_allclose(maps[0].transform(X, out=single), dense, rtol=1e-6)
    with pytest.raises(InputError, match="must be ExponentialDot"):
        PositiveRandom(Gaussian(1.0)).fit(X)  # type: ignore[arg-type]
    long = PositiveRandom(k, 8).fit(np.ones((1, 3000)))
    with pytest.raises(InputError, match="lost to underflow in all features of a row"):
        PositiveRandom(ExponentialDot(1.0), 50, random_state=0).fit(np.ones((2, 3))).transform([[60.0, 0, 0]])
    with pytest.raises(InputError, match="overflows"):
        long.transform(1.3 * long.directions_)


@pytest.mark.parametrize("seed", range(3))
def test_sketches_are_within_their_bound(seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((40, 10))
    k = Polynomial(3, 1.0, 2.0)
    K = k.block(X)
    sketch = TensorSketch(k, 500, random_state=seed).fit(X)
    Z = sketch.transform(X)
    scale = np.sqrt(np.multiply.outer(K.diagonal(), K.diagonal()))
    relative = np.abs(Z @ Z.T - K) / scale
    assert np.mean(relative > sketch.error_bound(0.1)) <= 0.1
    theirs = PolynomialCountSketch(gamma=0.25, degree=3, coef0=1, n_components=500, random_state=seed)
    V = theirs.fit_transform(X)
    assert np.sqrt((relative**2).mean()) < 2 * np.sqrt(np.mean((np.abs(V @ V.T - K) / scale) ** 2))
    np.testing.assert_allclose(sketch.transform(scipy.sparse.csr_array(X)), Z, atol=1e-10)
    # the sketch of a tensor product, written out: places add, signs multiply
    direct = np.zeros((40, 500))
    parts = [(m.transform(X).toarray(), S) for m, S in sketch._sketches]
    for a in range(11):
        for b in range(11):
            for c in range(11):
                chosen = (a, b, c)
                place = sum(int(S.indices[i]) for (_, S), i in zip(parts, chosen, strict=True)) % 500
                sign = math.prod(float(S.data[i]) for (_, S), i in zip(parts, chosen, strict=True))
                direct[:, place] += sign * math.prod(F[:, i] for (F, _), i in zip(parts, chosen, strict=True))
    np.testing.assert_allclose(Z, direct * math.sqrt(sketch._scale), atol=1e-10)


def test_sketch_errors() -> None:
    with pytest.raises(ParameterError, match="`offset` must be >= 0"):
        TensorSketch(Polynomial(2, -1.0)).fit(REALS)
    with pytest.raises(ParameterError, match="`factor` must be >= 0"):
        TensorSketch(-1.0 * Linear() * Linear()).fit(REALS)
    with pytest.raises(DomainError, match="no finite features"):
        TensorSketch(Gaussian(1.0) * Linear()).fit(REALS)
    with pytest.raises(ParameterError, match="`n_components`"):
        TensorSketch(Polynomial(2), 0).fit(REALS)
    with pytest.raises(InputError, match="expecting 3 features"):
        TensorSketch(Polynomial(2)).fit(REALS).transform(REALS[:, :2])


HOMOGENEOUS = [Intersection(), TotalVariation(), ChiSquare(), Jensen(), Hellinger()]


@pytest.mark.parametrize("k", HOMOGENEOUS, ids=repr)
def test_homogeneous_maps_are_within_their_bound(k: Kernel) -> None:
    rng = np.random.default_rng(3)
    X = np.exp(rng.uniform(0, math.log(5), (15, 4)))
    X[rng.uniform(size=X.shape) < 0.2] = 0.0
    X[2] = 0.0
    worst = []
    for order in (1, 3, 8):
        features = Homogeneous(k, order).fit(X)
        Z = features.transform(X)
        assert Z.shape == (15, features.dim)
        K = features.target.block(X)
        error = np.abs(Z @ Z.T - K)
        bound = features.error_bound(5.0)
        assert (error <= bound * (np.sqrt(X) @ np.sqrt(X).T) + 1e-12).all()
        worst.append(bound)
        sparse = features.transform(scipy.sparse.csr_array(X))
        np.testing.assert_array_equal(sparse.toarray(), Z)
    assert worst[2] < 0.35 * worst[0] or worst[0] == 0.0
    one = Homogeneous(k, 8).fit([[1.0]])
    x, y = 0.7, 2.9
    a, b = one.transform([[x], [y]])
    want = one.target([x], [y])
    assert a @ b == pytest.approx(want, abs=one.error_bound(5.0) * math.sqrt(x * y) + 1e-12)
    assert one.as_kernel().certificate.verdict is Verdict.PSD


def test_signatures_are_the_kernels_written_out() -> None:
    x, y = 0.7, 2.9
    want = {
        Intersection(): 0.7,
        TotalVariation(): 1.4,
        ChiSquare(): 4 * x * y / (x + y),
        Jensen(): (x * math.log((x + y) / x) + y * math.log((x + y) / y)) / 2,
        Hellinger(): 2 * math.sqrt(x * y),
    }
    for k, value in want.items():
        assert Homogeneous(k).fit([[1.0]]).target([x], [y]) == pytest.approx(value)


def test_chi_square_against_scikit_learn() -> None:
    X = np.random.default_rng(0).uniform(0.01, 2, (7, 3))
    theirs = AdditiveChi2Sampler(sample_steps=3, sample_interval=0.4).fit_transform(X)
    ours = Homogeneous(ChiSquare(), order=2, period=0.4).fit_transform(X)
    np.testing.assert_allclose(ours, math.sqrt(2) * theirs, rtol=1e-12)  # theirs is for 2xy/(x+y)


def test_homogeneous_errors() -> None:
    for wrong in (Gaussian(1.0), Intersection(power=0.5), Hellinger(power=1)):
        with pytest.raises(InputError, match="Homogeneous: `kernel` must be"):
            Homogeneous(wrong).fit([[1.0]])
    with pytest.raises(ParameterError, match="`order`"):
        Homogeneous(Intersection(), -1).fit([[1.0]])
    with pytest.raises(ParameterError, match="`period`"):
        Homogeneous(Intersection(), period=0.0).fit([[1.0]])
    with pytest.raises(InputError, match="row 0"):
        Homogeneous(Intersection()).fit([[-1.0]])
    with pytest.raises(NotFittedError):
        Homogeneous(ChiSquare()).transform([[1.0]])


@pytest.mark.parametrize("seed", range(3))
def test_sampled_kernels_are_within_their_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (30, 12)).astype(float)
    features = Sampled(MinMax(), eps=0.25, delta=0.1, random_state=seed).fit(X)
    assert features.dim == int(sampled_kernel_size(1.0, 0.25, 0.1, 30))
    Z = features.transform(X)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0)
    worst = np.abs(Z @ Z.T - MinMax().block(X)).max()
    assert worst < float(features.error_bound()) <= 0.25
    assert (features.transform(scipy.sparse.csr_array(X)) == Z).all()
    assert (features.transform(X[[4]]) == Z[[4]]).all()  # a point alone as among others


def test_sampled_errors() -> None:
    X = np.array([[0.2], [0.9]])
    with pytest.raises(ParameterError, match=r"`family` must be a FeatureFamily for Gaussian"):
        Sampled(Gaussian(1.0)).fit(X)
    with pytest.raises(InputError, match="numbers of size up to 1 for each point"):
        Sampled(Min(), family=Steps(1.0, 2.0)).fit(X).transform(X)
    for wrong in ({"eps": 0.0}, {"eps": 0.1, "n_components": 4}, {"n_components": 0}, {"delta": 2.0}):
        with pytest.raises(ParameterError, match=rf"`{next(iter(wrong))}`|`n_components`"):
            Sampled(MinMax(), **wrong).fit(X)
    with pytest.raises(ParameterError, match="at most"):
        Sampled(MinMax(), eps=1e-6).fit(X)
    with pytest.raises(InputError, match="expecting 1 features"):
        Sampled(MinMax()).fit(X).transform([[1.0, 2.0]])


def test_kernels_of_the_maps() -> None:
    for features, X in (
        (PositiveRandom(ExponentialDot(), 20), REALS),
        (TensorSketch(Polynomial(2), 20), REALS),
        (TensorSketch(NGram(1) * NGram(2), 20), WORDS),
        (Sampled(MinMax(), 20), COUNTS),
        (Homogeneous(ChiSquare(), 2), COUNTS),
    ):
        Z = features.fit_transform(X)
        k = features.as_kernel()
        np.testing.assert_allclose(k.block(X), Z @ Z.T, atol=1e-12)
        assert k.certificate.verdict is Verdict.PSD
        assert (copy.deepcopy(features).transform(X) == Z).all()
        assert (pickle.loads(pickle.dumps(features)).transform(X) == Z).all()
        assert len(features.get_feature_names_out()) == features.dim
