"""Many classes: problems solved in batches on blocks of K, against each solved by itself."""

from itertools import combinations, count

import numpy as np
import pytest

from mercer import gram
from mercer.engine.runs import running
from mercer.kernels import Gaussian, Precomputed, SetIntersection
from mercer.machines import SVC
from mercer.machines.svm import multiclass
from mercer.machines.svm.base import Limits
from mercer.machines.svm.pairwise import class_slices
from mercer.solvers import LazyMatrix, PairSolver
from mercer.solvers.svm import policy

LIMITS = Limits("SVC", 1e-3, -1, None)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    centres = 2 * rng.standard_normal((5, 3))
    y = rng.integers(0, 5, 300)
    return centres[y] + rng.standard_normal((300, 3)), y


def fit(data, **parameters):
    X, y = data
    return machine(tol=1e-4, **parameters).fit(X, y)


def machine(**parameters):
    """Decision values of the problems themselves, rather than of classes."""
    return SVC(
        kernel=Gaussian(1.0), decision_function_shape="ovo", break_ties=False, **{"tol": 1e-3} | parameters
    )


@pytest.fixture
def in_batches(monkeypatch):
    """Problems this small are otherwise refined one by one."""
    monkeypatch.setattr(policy, "are_refined", lambda sizes: False)


@pytest.fixture
def streamed(in_batches, monkeypatch):
    """Blocks in single precision, a few at a time."""
    monkeypatch.setattr(policy, "SHARED_BYTES", 80_000)


@pytest.mark.parametrize("way", ["in_batches", "streamed"])
@pytest.mark.parametrize(
    "parameters", [{}, {"C": 50.0}, {"fit_intercept": False}, {"class_weight": "balanced"}]
)
def test_the_same_functions(data, parameters, way, request):
    alone = fit(data, **parameters)
    request.getfixturevalue(way)
    batches = fit(data, **parameters)
    assert batches.converged_
    assert batches.kkt_violation_ <= 1e-4
    np.testing.assert_allclose(
        batches.decision_function(data[0]), alone.decision_function(data[0]), atol=2e-3
    )
    kinds = {solution.stats["cache_dtype"] for solution in batches.solutions_}
    assert ("float32" in kinds) == (way != "in_batches")


def test_batches_are_limited_and_cover_every_pair(data, streamed):
    G = gram(Gaussian(1.0), data[0])
    K, matrix = G.dense(), LazyMatrix(G)
    classes = class_slices(np.bincount(data[1]))
    pairs = list(combinations(classes, 2))
    with running("test"):
        blocks = multiclass._PairBlocks(matrix, LIMITS, pairs)
    assert [t for batch in blocks.batches for t in batch] == list(range(10))
    assert len(blocks.batches) > 2
    for batch in blocks.batches:
        places = [pairs[t] for t in batch]
        with running("test"):
            found = blocks.of(places)
        for (a, b), three in zip(places, found, strict=True):
            for block, rows, columns in zip(three, (a, a, b), (a, b, b), strict=True):
                np.testing.assert_allclose(block, K[rows, columns], rtol=1e-6, atol=1e-30)


def test_weights_are_repetitions(data, in_batches):
    X, y = data
    w = np.random.default_rng(1).integers(0, 3, len(y))
    index = np.repeat(np.arange(len(y)), w)
    weighted = machine(tol=1e-6).fit(X, y, sample_weight=w)
    repeated = machine(tol=1e-6).fit(X[index], y[index])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-4)


def test_rounding_that_may_matter_is_finished_one_by_one(data, streamed):
    model = fit(data, C=1e5, max_iter=10**6)
    assert model.converged_
    assert "float64" in {solution.stats["cache_dtype"] for solution in model.solutions_}


def test_a_path_holds_the_matrix(data, streamed):
    models = machine().path(*data, [0.5, 5.0])
    for C, model in zip([0.5, 5.0], models, strict=True):
        np.testing.assert_allclose(
            model.decision_function(data[0]), fit(data, C=C).decision_function(data[0]), atol=2e-2
        )


def test_a_warm_start_needs_few_steps(data, in_batches):
    model = fit(data, warm_start=True)
    steps, before = model.n_iter_.sum(), model.decision_function(data[0])
    model.fit(*data)
    assert model.n_iter_.sum() < steps / 20
    np.testing.assert_allclose(model.decision_function(data[0]), before, atol=1e-3)


def test_a_warm_start_from_other_functions_is_ignored(data):
    """A table of as many rows, but of other functions, was taken for a start."""
    X, y = data
    model = SVC(Gaussian(1.0), multiclass="ovr", warm_start=True).fit(X, np.minimum(y, 2))
    model.set_params(multiclass="ovo").fit(X, np.minimum(y, 3))
    alone = SVC(Gaussian(1.0)).fit(X, np.minimum(y, 3))
    np.testing.assert_array_equal(model.dual_coef_, alone.dual_coef_)


@pytest.mark.parametrize("way", ["in_batches", "streamed"])
def test_what_stops_one_stops_all(data, way, request):
    request.getfixturevalue(way)
    with pytest.warns(UserWarning, match="stopped because the time budget"):
        model = machine(tol=1e-12, time_budget=1e-9).fit(*data)
    assert not model.converged_
    assert model.gap_ > 0
    assert model.predict(data[0]).shape == (300,)


def test_ctrl_c_between_two_batches_leaves_a_model(data, streamed, monkeypatch):
    solve, calls = PairSolver.solve_along, count()

    def interrupted(self, *arguments):
        if next(calls) > 0:
            raise KeyboardInterrupt
        return solve(self, *arguments)

    monkeypatch.setattr(PairSolver, "solve_along", interrupted)
    model = machine(tol=1e-4)
    with pytest.warns(UserWarning, match="it was interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert not model.converged_
    assert 0 < (model.n_iter_ > 0).sum() < 10
    assert model.predict(data[0]).shape == (300,)


def test_an_error_in_one_batch_is_raised(data, streamed, monkeypatch):
    solve, calls = PairSolver.solve_along, count()

    def failing(self, *arguments):
        if next(calls) == 2:
            raise MemoryError("no room")
        return solve(self, *arguments)

    monkeypatch.setattr(PairSolver, "solve_along", failing)
    with pytest.raises(MemoryError, match="no room"):
        fit(data)


def test_other_objects(in_batches):
    rng = np.random.default_rng(0)
    X = [frozenset(rng.integers(0, 30, 6).tolist()) for _ in range(60)]
    y = rng.integers(0, 3, 60)
    model = SVC(kernel=SetIntersection(), C=0.1).fit(X, y)
    K = np.array([[len(a & b) for b in X] for a in X], dtype=float)
    other = SVC(kernel=Precomputed(), C=0.1).fit(K, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(K), atol=1e-8)
