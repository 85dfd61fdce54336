"""Every exact method of Gaussian-process regression gives the answers of the Cholesky factor."""

import pickle

import numpy as np
import pytest
import scipy.sparse

from mercer.algebra import Constant, Tensor
from mercer.kernels import (
    Cauchy,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Min,
    Periodic,
    SetIntersection,
    Spectrum,
    WhiteNoise,
)
from mercer.machines import GaussianProcessRegressor
from mercer.machines.gaussian_process.methods import Cholesky
from mercer.machines.gaussian_process.observations import Observations
from mercer.machines.tuning import Hyperparameters
from mercer.solvers import loo_predictions

RNG = np.random.default_rng(0)
VECTORS = RNG.standard_normal((60, 4)), RNG.standard_normal((5, 4))
LINE = RNG.uniform(0, 5, (60, 1)), np.array([[0.0], [2.2], [9.0]])
AXES = np.linspace(0, 1, 5), np.linspace(0, 2, 4), np.array([0.0, 1.0, 3.0])
GRID = (
    np.stack(np.meshgrid(*AXES, indexing="ij"), -1).reshape(-1, 3)[RNG.permutation(60)],
    RNG.standard_normal((5, 3)),
)
WORDS = ["".join(RNG.choice(list("ab"), 8)) for _ in range(60)], ["abab", "bbbc"]
SETS = [set(word[:3]) for word in WORDS[0]], [{"a", "c"}]
SPARSE = (
    scipy.sparse.csr_array(np.hstack([VECTORS[0], np.zeros((60, 2))])),
    scipy.sparse.csr_array(np.hstack([VECTORS[1], np.ones((5, 2))])),  # features that no training point has
)
LONG = np.stack(np.meshgrid([0.0, 1.0], np.arange(30.0), indexing="ij"), -1).reshape(-1, 2)
PAIRS = (
    [(w, [float(t)]) for w in ("ab", "ba", "aab", "bbb", "aba", "bab") for t in range(10)],
    [("abab", [0.5]), ("ab", [3.0])],
)

CASES = {
    "state space": [
        (2.0 * Matern(1.5, 0.7) + Min() + WhiteNoise(0.1), LINE),
        (0.5 * Laplacian(2.0) + Constant(2.0) + 3.0 * Linear(), LINE),
    ],
    "finite features": [
        (2.0 * Linear() + Constant(3.0) + WhiteNoise(0.1), VECTORS),
        (2.0 * (Cosine() + 0.5 * Linear()), VECTORS),
        (2.0 * Spectrum(2).normalized() + 0.1 * Spectrum(1), WORDS),
        (SetIntersection(), SETS),
        (1.5 * Linear(), SPARSE),
    ],
    "Kronecker": [
        (2.0 * Gaussian([0.5, 1.0, 2.0]) + WhiteNoise(0.1), GRID),
        (2.0 * Gaussian(0.5) * Laplacian([1.0, 2.0, 3.0]) * Periodic(), GRID),
        (Cauchy(0.5) * Constant(3.0), GRID),
        (1.5 * Tensor((Spectrum(2) + Spectrum(1), Gaussian(2.0))), PAIRS),
    ],
}
FLAT = [(name, *case) for name, cases in CASES.items() for case in cases]
IDS = [f"{name}-{i}" for name, cases in CASES.items() for i in range(len(cases))]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("name", "kernel", "data"), FLAT, ids=IDS)
def test_equals_cholesky(name, kernel, data, intercept):
    points, new = (kernel.domain.validate(X, "X") for X in data)
    Y = np.random.default_rng(1).standard_normal((60, 2)) + 2.0
    options = points, Y, np.full(60, 0.05), intercept, "test"
    posteriors = [observed.given(kernel) for observed in (Observations(*options), _dense(options))]
    ours, dense = posteriors
    assert (ours.method.name, dense.method.name) == (name, "Cholesky")
    assert ours.fit.log_likelihood == pytest.approx(dense.fit.log_likelihood, rel=1e-11)
    np.testing.assert_allclose(ours.fit.coefficients, dense.fit.coefficients, rtol=1e-8, atol=1e-9)
    values = [
        (
            p.method.mean(new, p.fit),
            p.method.variance(new, p.fit),
            p.method.covariance_of(new, p.fit),
            *loo_predictions(p.method.covariance, Y, p.fit),
        )
        for p in posteriors
    ]
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
    point = Hyperparameters(kernel, 1.0, penalty=None)
    slope, expected = (observed.evidence(point)[1] for observed in (Observations(*options), _dense(options)))
    np.testing.assert_allclose(slope, expected, rtol=1e-8, atol=1e-8)


def _dense(options):
    return Observations(*options, choose=Cholesky)


@pytest.mark.parametrize(("name", "kernel", "data"), FLAT, ids=IDS)
def test_the_machine_says_which_method(name, kernel, data):
    model = GaussianProcessRegressor(kernel, alpha=0.05, tune=None).fit(data[0], np.arange(60.0))
    assert model.method_ == name
    assert model.solution_.status.startswith(f"exact by {name}, for a")
    assert model.explain() == model.solution_.status
    assert model.solution_.gap < 1e-12
    other = pickle.loads(pickle.dumps(model))
    for a, b in zip(
        model.predict(data[1], return_std=True), other.predict(data[1], return_std=True), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "data", "alpha"),
    [
        (Linear(), VECTORS, np.r_[0.0, np.full(59, 0.1)]),  # an exact observation
        (Spectrum(5), WORDS, 0.1),  # more features than a third of the points
        (Gaussian(0.5), GRID, np.linspace(0.1, 0.2, 60)),  # noise of its own for each cell
        (Gaussian(0.5) + Linear(), GRID, 0.1),  # a sum
        (Gaussian(0.5), (LONG, LONG[:2]), 0.1),  # half of the points on one axis
        (Matern(1.5, 1.0), GRID, 0.1),  # no product over coordinates
        (Gaussian(0.5), (np.vstack([GRID[0][:59], GRID[0][:1]]), GRID[1]), 0.1),  # a cell twice
    ],
    ids=["exact", "many features", "unequal noise", "sum", "long axis", "no product", "no grid"],
)
def test_other_structures_are_left_to_cholesky(kernel, data, alpha):
    model = GaussianProcessRegressor(kernel, alpha=alpha, tune=None).fit(data[0], np.arange(60.0))
    assert model.method_ == "Cholesky"


def test_tuned_on_a_grid_and_updated():
    X = np.stack(np.meshgrid(np.arange(8.0), np.arange(9.0), indexing="ij"), -1).reshape(-1, 2)
    y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(2).standard_normal(72)
    model = GaussianProcessRegressor(1.0 * Gaussian([1.0, 1.0]) + WhiteNoise(0.1)).fit(X, y)
    assert model.method_ == "Kronecker"
    assert model.tuning_.converged
    model.update([20.0, 20.0], 0.0)
    assert model.method_ == "Cholesky"  # no grid any more
    whole = GaussianProcessRegressor(model.kernel_, tune=None).fit(np.vstack([X, [[20, 20]]]), np.r_[y, 0.0])
    np.testing.assert_allclose(model.predict(X), whole.predict(X), rtol=1e-9)
