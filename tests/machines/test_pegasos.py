"""The averaged subgradient machine against its recursion on explicit features and against exact solvers."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed, SetIntersection, Sigmoid
from mercer.machines import IndefiniteKernelWarning, PegasosSVC

_DRAWS = (
    "weights act on random draws: weighting and repeating rows give runs of the same law (for the same "
    "number of steps), but the check also shuffles the rows, so that the draws themselves differ"
)

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.
EXPECTED_FAILED_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": _DRAWS,
    "check_sample_weight_equivalence_on_sparse_data": _DRAWS,
}


@parametrize_with_checks(
    [
        PegasosSVC(),
        PegasosSVC(Polynomial(2), alpha=0.1, max_iter=3000, average=False),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(60) > 0.7, 1, -1)


def explicit(X, y, alpha, draws):
    """The recursion of the source on the vector w itself: the last iterate and the average."""
    theta, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t, i in enumerate(draws, start=1):
        w = theta / (alpha * t)
        total += w
        if y[i] * (w @ X[i]) < 1:
            theta = theta + y[i] * X[i]
    return theta / (alpha * (len(draws) + 1)), total / len(draws)


def uniform_draws(n, steps, seed):
    """Positions as floor(u n), the uniform numbers in the order in which they come."""
    return np.floor(np.random.RandomState(seed).random_sample(steps) * n).astype(int)


def primal(w, X, y, alpha, weight):
    return alpha / 2 * w @ w + weight @ np.maximum(0, 1 - y * (X @ w)) / weight.sum()


@pytest.mark.parametrize("steps", [1, 63, 64, 65, 500, 3001])
@pytest.mark.parametrize("alpha", [1e-3, 0.5])
def test_is_the_recursion_on_explicit_features(data, alpha, steps):
    X, y = data
    last, average = explicit(X, y, alpha, uniform_draws(len(y), steps, seed=5))
    model = PegasosSVC(Linear(), alpha=alpha, max_iter=steps, random_state=5).fit(X, y)
    S = X[model.support_]
    np.testing.assert_array_equal(model.support_vectors_, S)
    np.testing.assert_allclose(model.last_coef_[0] @ S, last, rtol=1e-10, atol=1e-12 / alpha)
    np.testing.assert_allclose(model.average_coef_[0] @ S, average, rtol=1e-10, atol=1e-12 / alpha)
    np.testing.assert_allclose(model.decision_function(X), X @ average, rtol=1e-9, atol=1e-11 / alpha)
    step, of_last, of_average = model.objective_path_[-1]
    ones = np.ones(len(y))
    assert step == steps == model.n_iter_
    assert of_last == pytest.approx(primal(last, X, y, alpha, ones), rel=1e-10)
    assert of_average == pytest.approx(primal(average, X, y, alpha, ones), rel=1e-10)
    assert model.objective_ == of_average
    assert model.set_params(average=False).objective_ == of_last
    np.testing.assert_allclose(model.decision_function(X), X @ last, rtol=1e-9, atol=1e-11 / alpha)


def test_every_record_of_the_objective_is_exact(data):
    X, y = data
    path = PegasosSVC(Linear(), alpha=0.05, max_iter=150, random_state=1).fit(X, y).objective_path_
    assert path[:, 0].tolist() == [60, 120, 150]
    draws = uniform_draws(len(y), 150, seed=1)
    for step, *values in path:
        iterates = explicit(X, y, 0.05, draws[: int(step)])
        expected = [primal(w, X, y, 0.05, np.ones(len(y))) for w in iterates]
        np.testing.assert_allclose(values, expected, rtol=1e-10)


def test_rows_that_do_not_fit_the_memory_give_the_same(data, monkeypatch):
    X, y = data
    machine = PegasosSVC(Gaussian(1.0), alpha=0.01, random_state=0)
    held = clone(machine).fit(X, y).partial_fit(X[:9] + 0.1, y[:9])
    monkeypatch.setenv("MERCER_MEMORY", "2000")
    computed = clone(machine).fit(X, y).partial_fit(X[:9] + 0.1, y[:9])
    np.testing.assert_allclose(computed.dual_coef_, held.dual_coef_, rtol=1e-10)
    np.testing.assert_allclose(computed.objective_path_, held.objective_path_, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear()], ids=["gaussian", "linear"])
@pytest.mark.parametrize("alpha", [0.1, 0.02])
def test_approaches_the_optimum_of_an_exact_solver(data, kernel, alpha):
    """The homogeneous dual, solved by projected coordinate ascent to a gap of 1e-9."""
    X, y = data
    K = kernel.block(X)
    n = len(y)
    box, a = 1 / (alpha * n), np.zeros(n)
    for _ in range(20000):
        for i in range(n):
            a[i] = np.clip(a[i] + (1 - y[i] * (K[i] @ (a * y))) / K[i, i], 0, box)
        f = K @ (a * y)
        value = alpha / 2 * (a * y) @ f + np.maximum(0, 1 - y * f).mean()
        gap = value - alpha * (a.sum() - (a * y) @ f / 2)
        if gap < 1e-9:
            break
    assert gap < 1e-9
    excess = {}
    for steps in (500, 60_000):
        model = PegasosSVC(kernel, alpha=alpha, max_iter=steps, random_state=0).fit(X, y)
        excess[steps] = model.objective_ - value
    # The expectation is bounded by 2 R^2 (1 + log T) / (alpha T), of which this run needs a small part.
    assert -1e-9 < excess[60_000] < 0.02 * value
    assert excess[60_000] < excess[500] / 5


def test_predicts_like_the_dual_solver():
    X, y = make_moons(300, noise=0.15, random_state=0)
    ours = PegasosSVC(Gaussian(0.5), alpha=1e-3, max_iter=60_000, random_state=0).fit(X, y)
    theirs = SVC(C=1 / (1e-3 * len(y)), gamma=2.0).fit(X, y)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98


def test_many_classes_are_many_problems_with_the_same_draws(data):
    X, _ = data
    labels = np.array(["low", "mid", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    machine = PegasosSVC(Gaussian(1.0), alpha=0.01, random_state=3)
    model = clone(machine).fit(X, labels)
    scores = model.decision_function(X)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    total = 0.0
    for j, label in enumerate(model.classes_):
        one = clone(machine).fit(X, labels == label)
        np.testing.assert_allclose(scores[:, j], one.decision_function(X), rtol=1e-9, atol=1e-9)
        total += one.objective_
    assert model.objective_ == pytest.approx(total, rel=1e-10)
    assert (model.predict(X) == model.classes_[scores.argmax(axis=1)]).all()
    assert model.n_support_.sum() == len(model.support_)
    for j, label in enumerate(model.classes_):
        assert model.n_support_[j] == (labels[model.support_] == label).sum()


# -- weights ----------------------------------------------------------------------------------------
def test_zero_weight_is_absence_and_integer_weight_is_repetition_draw_by_draw(data):
    X, y = data
    w = np.random.default_rng(2).integers(0, 4, len(y))
    index = np.repeat(np.arange(len(y)), w)
    machine = PegasosSVC(Gaussian(0.9), alpha=0.02, max_iter=2000, random_state=0)
    weighted = clone(machine).fit(X, y, sample_weight=w)
    repeated = clone(machine).fit(X[index], y[index])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-9)
    np.testing.assert_allclose(weighted.objective_path_[-1], repeated.objective_path_[-1], rtol=1e-9)
    assert set(weighted.support_) <= set(np.flatnonzero(w))
    absent = clone(machine).fit(X[w > 0], y[w > 0], sample_weight=w[w > 0])
    np.testing.assert_array_equal(weighted.decision_function(X), absent.decision_function(X))
    np.testing.assert_array_equal(
        clone(machine).fit(X, y, sample_weight=w * 0.25).decision_function(X), weighted.decision_function(X)
    )


def test_class_weights_multiply_sample_weights(data):
    X, y = data
    w = np.random.default_rng(3).uniform(0.5, 2, len(y))
    fixed = {"alpha": 0.02, "max_iter": 1000, "random_state": 0}
    by_class = PegasosSVC(Gaussian(0.9), class_weight={-1: 1.0, 1: 3.0}, **fixed).fit(X, y, sample_weight=w)
    by_row = PegasosSVC(Gaussian(0.9), **fixed).fit(X, y, sample_weight=w * np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(by_class.dual_coef_, by_row.dual_coef_)
    balanced = PegasosSVC(Gaussian(0.9), class_weight="balanced", **fixed).fit(X, y, sample_weight=w)
    share = np.where(y == 1, 1 / w[y == 1].sum(), 1 / w[y == -1].sum())
    same = PegasosSVC(Gaussian(0.9), **fixed).fit(X, y, sample_weight=w * share)
    np.testing.assert_allclose(balanced.dual_coef_, same.dual_coef_, rtol=1e-12)


# -- streams ----------------------------------------------------------------------------------------
def test_partial_fit_continues_the_recursion(data):
    X, y = data
    model = PegasosSVC(Linear(), alpha=0.05)
    cuts = [0, 1, 2, 30, 60]
    for a, b in pairwise(cuts):
        model.partial_fit(X[a:b], y[a:b], classes=[-1, 1])
    last, average = explicit(X, y, 0.05, np.arange(60))
    S = X[model.support_]
    np.testing.assert_allclose(model.last_coef_[0] @ S, last, rtol=1e-10)
    np.testing.assert_allclose(model.average_coef_[0] @ S, average, rtol=1e-10)
    assert model.n_iter_ == model.n_seen_ == 60
    assert model.objective_path_[:, 0].tolist() == cuts[1:]
    expected = primal(average, X[30:], y[30:], 0.05, np.ones(30))  # on the points of the last call
    assert model.objective_ == pytest.approx(expected, rel=1e-10)


def test_partial_fit_continues_fit(data):
    X, y = data
    model = PegasosSVC(Linear(), alpha=0.05, max_iter=200, random_state=0).fit(X[:40], y[:40])
    model.partial_fit(X[40:], y[40:])
    draws = np.concatenate([uniform_draws(40, 200, seed=0), np.arange(40, 60)])
    _, average = explicit(X, y, 0.05, draws)
    np.testing.assert_allclose(model.dual_coef_[0] @ X[model.support_], average, rtol=1e-10)


def test_partial_fit_of_other_kinds_of_points(data):
    X, y = data
    dense = PegasosSVC(Gaussian(1.0)).partial_fit(X[:30], y[:30], classes=[-1, 1]).partial_fit(X[30:], y[30:])
    mixed = PegasosSVC(Gaussian(1.0)).partial_fit(X[:30], y[:30], classes=[-1, 1])
    mixed.partial_fit(scipy.sparse.coo_array(X[30:]), y[30:])
    np.testing.assert_allclose(mixed.dual_coef_, dense.dual_coef_, rtol=1e-9)
    sets = PegasosSVC(SetIntersection(), alpha=0.1).partial_fit([{"a"}, {"b"}], [0, 1], classes=[0, 1])
    sets.partial_fit([{"a", "c"}, {"b", "c"}], [0, 1])
    assert sets.predict([{"a"}, {"b"}]).tolist() == [0, 1]
    frame = pd.DataFrame({"size": X[:, 0], "depth": np.where(X[:, 1] > 1, np.nan, X[:, 1])})
    both = mercer.columns(size=Gaussian(1.0), depth=Gaussian(2.0))
    whole = PegasosSVC(both).partial_fit(frame, y, classes=[-1, 1])
    parts = PegasosSVC(both).partial_fit(frame[:7], y[:7], classes=[-1, 1]).partial_fit(frame[7:], y[7:])
    np.testing.assert_allclose(parts.dual_coef_, whole.dual_coef_, rtol=1e-9)
    pairs = mercer.tensor(Gaussian(1.0), SetIntersection())
    tuples = [(x, {int(x[0] > 0), "c"}) for x in X]
    whole = PegasosSVC(pairs).partial_fit(tuples, y, classes=[-1, 1])
    parts = PegasosSVC(pairs).partial_fit(tuples[:7], y[:7], classes=[-1, 1]).partial_fit(tuples[7:], y[7:])
    np.testing.assert_allclose(parts.dual_coef_, whole.dual_coef_, rtol=1e-9)


def test_what_partial_fit_refuses(data):
    X, y = data
    with pytest.raises(InputError, match="`classes` must be passed"):
        PegasosSVC().partial_fit(X, y)
    model = PegasosSVC(Gaussian(1.0)).partial_fit(X, y, classes=[-1, 1])
    with pytest.raises(InputError, match="`classes` must be those"):
        model.partial_fit(X, y, classes=[-1, 2])
    with pytest.raises(InputError, match="labels among"):
        model.partial_fit(X, y + 5)
    with pytest.raises(InputError, match="two classes"):
        PegasosSVC().partial_fit(X, y, classes=[1])
    with pytest.raises(ParameterError, match="`class_weight`"):
        PegasosSVC(class_weight="balanced").partial_fit(X, y, classes=[-1, 1])
    K = Gaussian(1.0).block(X)
    with pytest.raises(InputError, match="precomputed"):
        PegasosSVC(Precomputed().assume("PSD")).fit(K, y).partial_fit(K, y)
    with pytest.raises(ParameterError, match="`indefinite`"):
        PegasosSVC(Sigmoid(1.0, -1.0), indefinite="clip").fit(X, y).partial_fit(X, y)


# -- kinds of input ---------------------------------------------------------------------------------
def test_precomputed_sparse_and_single_precision_agree(data):
    X, y = data
    X = np.where(np.abs(X) > 0.5, X, 0.0).astype(np.float32)
    machine = PegasosSVC(Gaussian(1.0), alpha=0.05, random_state=0)
    expected = clone(machine).fit(X.astype(np.float64), y).decision_function(X.astype(np.float64))
    np.testing.assert_allclose(clone(machine).fit(X, y).decision_function(X), expected, rtol=1e-12)
    sparse = scipy.sparse.csr_array(X)
    np.testing.assert_allclose(clone(machine).fit(sparse, y).decision_function(sparse), expected, rtol=1e-8)
    K = Gaussian(1.0).block(X.astype(np.float64))
    given = clone(machine).set_params(kernel=Precomputed()).fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), expected, rtol=1e-10)
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    given = clone(machine).set_params(kernel=Precomputed()).fit(K, y, sample_weight=weight)
    other = clone(machine).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(given.decision_function(K[:7]), other.decision_function(X[:7]), rtol=1e-10)


def test_users_function_on_strings_with_labels_of_text():
    @mercer.kernel(assume="PSD", reason="a count of shared letters is an inner product")
    def shared(x, y):
        return sum(x.count(c) * y.count(c) for c in set(x))

    words, kinds = ["tree", "reed", "bee", "loop", "pool", "oslo"], ["e", "e", "e", "o", "o", "o"]
    model = PegasosSVC(shared, alpha=0.01, random_state=0).fit(words, kinds)
    assert model.predict(["deer", "polo"]).tolist() == ["e", "o"]
    assert set(model.support_vectors_) <= set(words)


def test_indefinite_kernels_are_told_refused_or_repaired(data):
    X, y = data
    bad = Sigmoid(1.0, -1.0)
    with pytest.warns(IndefiniteKernelWarning, match="least eigenvalue"):
        PegasosSVC(bad, alpha=0.1, random_state=0).fit(X, y)
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        PegasosSVC(bad, indefinite="error").fit(X, y)
    for repair in ("clip", "flip", "shift"):
        model = PegasosSVC(bad, alpha=0.1, indefinite=repair, random_state=0).fit(X, y)
        K = mercer.gram(bad, X).repair(repair)
        matrix = PegasosSVC(Precomputed().assume("PSD"), alpha=0.1, random_state=0).fit(K.dense(), y)
        np.testing.assert_allclose(model.dual_coef_, matrix.dual_coef_, rtol=1e-8)
        expected = matrix.decision_function(K.cross(X[:5] + 1).dense())
        np.testing.assert_allclose(model.decision_function(X[:5] + 1), expected, rtol=1e-7)


# -- errors and interruptions -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (PegasosSVC(alpha=0.0), "`alpha` must be"),
        (PegasosSVC(alpha="x"), "`alpha` must be"),
        (PegasosSVC(max_iter=0), "`max_iter` must be"),
        (PegasosSVC(max_iter=2.5), "`max_iter` must be"),
        (PegasosSVC("gauss"), "`kernel` must be a mercer Kernel"),
        (PegasosSVC(indefinite="ignore"), "`indefinite` must be one of"),
        (PegasosSVC(class_weight={-1: -1.0, 1: 1.0}), "`class_weight` must be numbers"),
    ],
)
def test_bad_parameters_are_named(data, machine, message):
    with pytest.raises(ValueError, match=message):
        machine.fit(*data)


def test_bad_data_are_named(data):
    X, y = data
    with pytest.raises(InputError, match="sample_weight"):
        PegasosSVC().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(InputError, match="one class only"):
        PegasosSVC().fit(X, np.ones(len(y)))
    with pytest.raises(InputError, match="one class only"):
        PegasosSVC().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="continuous"):
        PegasosSVC().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="NaN"):
        PegasosSVC().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent"):
        PegasosSVC().fit(X, y[:-1])
    with pytest.raises(ValueError, match="symmetric"):
        PegasosSVC(Precomputed()).fit(np.random.default_rng(0).random((60, 60)), y)
    with pytest.raises(ValueError, match="0 sample"):
        PegasosSVC(SetIntersection()).fit([], [])
    with pytest.raises(InputError, match="one label per point"):
        PegasosSVC().fit(X, np.column_stack([y, y]) > 0)


def test_overflow_is_told():
    X = np.sqrt(1.5e308) * np.array([[1, 0], [0, 1], [0.7, 0.7]])  # the first two sum to 2.1e308 on the third
    with pytest.raises(InputError, match="overflow"):
        PegasosSVC(Linear()).partial_fit(X, [1, 1, 0], classes=[0, 1])
    model = PegasosSVC(Linear()).partial_fit(X[:1], [1], classes=[0, 1])
    before = model.decision_function([[1e-154, 0.0]])
    with pytest.raises(InputError, match="overflow"):
        model.partial_fit(X[1:], [1, 0])
    np.testing.assert_array_equal(model.decision_function([[1e-154, 0.0]]), before)  # no step was complete


def test_ctrl_c_leaves_the_model_of_the_steps_taken(data, monkeypatch):
    X, y = data
    model = PegasosSVC(Linear(), alpha=0.05, random_state=5)
    advance = PegasosSVC._advance

    def interrupted(self, state, batch, signs):
        if state.steps == 120:
            raise KeyboardInterrupt
        return advance(self, state, batch, signs)

    monkeypatch.setattr(PegasosSVC, "_advance", interrupted)
    with (
        pytest.warns(ConvergenceWarning, match="after 120 steps because it was interrupted"),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(X, y)
    _, average = explicit(X, y, 0.05, uniform_draws(len(y), 120, seed=5))
    np.testing.assert_allclose(model.decision_function(X), X @ average, rtol=1e-9)
    assert (model.status_, model.n_iter_) == ("stopped", 120)


def test_ctrl_c_before_the_first_step(data, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(PegasosSVC, "_advance", interrupted)
    model = PegasosSVC()
    with pytest.warns(ConvergenceWarning, match="after 0 steps"), pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert (model.decision_function(data[0]) == 0).all()


def test_constant_and_duplicate_points_with_opposite_labels():
    model = PegasosSVC(alpha=0.1, random_state=0).fit(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    assert np.isfinite(model.decision_function(np.ones((2, 2)))).all()
    assert model.objective_ < 1.05  # w = 0 has objective 1 and is optimal


def test_repeats_are_equal_to_the_bit(data):
    X, y = data
    a, b = (PegasosSVC(random_state=0).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
