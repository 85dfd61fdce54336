"""The kernel perceptron against its definition on explicit features, version by version, and its bound."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.guarantees import kernel_perceptron_mistake_bound, perceptron_mistake_bound
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed, SetIntersection, Sigmoid
from mercer.machines import IndefiniteKernelWarning, KernelPerceptron, perceptron

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


@parametrize_with_checks(
    [
        KernelPerceptron(),
        KernelPerceptron(Polynomial(2), variant="voted", max_iter=5),
        KernelPerceptron(Gaussian("median"), variant="last", fit_intercept=True, shuffle=False),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 3))
    return X, np.where(X[:, 0] - X[:, 1] + 0.8 * rng.standard_normal(70) > 0.2, 1, -1)


def separable(margin, n=80, dim=4, seed=0):
    """Points whose unit separator, the first axis, has exactly this margin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim))
    X[:, 0] = np.sign(X[:, 0]) * np.maximum(np.abs(X[:, 0]), margin)
    X[0, 0] = margin
    return X, np.where(X[:, 0] > 0, 1, -1)


def versions(X, y, order):
    """All versions of the perceptron as vectors, with their votes, by the corrected listing of the source."""
    w, votes = [np.zeros(X.shape[1])], [0]
    for i in order:
        if y[i] * (w[-1] @ X[i]) <= 0:
            w.append(w[-1] + y[i] * X[i])
            votes.append(1)
        else:
            votes[-1] += 1
    return np.array(w), np.array(votes)


def rule(variant, w, votes, Z):
    if variant == "last":
        return Z @ w[-1]
    if variant == "averaged":
        return sum(v * (Z @ u) for u, v in zip(w, votes, strict=True)) / votes.sum()
    return sum(v * np.sign(Z @ u) for u, v in zip(w, votes, strict=True)) / votes.sum()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("variant", ["last", "averaged", "voted"])
def test_is_the_perceptron_on_explicit_features(data, variant, fit_intercept):
    X, y = data
    model = KernelPerceptron(
        Linear(), variant=variant, max_iter=3, shuffle=False, fit_intercept=fit_intercept
    ).fit(X, y)
    features = np.column_stack([X, np.full(len(X), float(fit_intercept))])
    w, votes = versions(features, y, np.tile(np.arange(len(y)), 3))
    assert model.mistakes_ == len(w) - 1
    assert votes.sum() == 3 * len(y)  # every step is one vote
    Z = np.random.default_rng(1).standard_normal((50, 3))
    expected = rule(variant, w, votes, np.column_stack([Z, np.full(50, float(fit_intercept))]))
    np.testing.assert_allclose(model.decision_function(Z), expected, rtol=1e-10, atol=1e-12)
    assert (model.predict(Z) == np.where(expected > 0, 1, -1)).all()
    if variant != "voted":
        linear = model.dual_coef_[0] @ X[model.support_]
        np.testing.assert_allclose(Z @ linear + model.intercept_, expected, rtol=1e-10, atol=1e-12)
    assert model.radius_ == pytest.approx(np.linalg.norm(features, axis=1).max(), rel=1e-14)


def test_the_rule_may_be_changed_after_training(data):
    X, y = data
    model = KernelPerceptron(Gaussian(1.0), random_state=0, fit_intercept=True).fit(X, y)
    for variant in ("voted", "last", "averaged"):
        fresh = clone(model).set_params(variant=variant).fit(X, y)
        changed = model.set_params(variant=variant)
        np.testing.assert_array_equal(changed.decision_function(X), fresh.decision_function(X))


def test_voting_does_not_depend_on_its_bands(data, monkeypatch):
    X, y = data
    model = KernelPerceptron(Gaussian(1.0), variant="voted", random_state=0).fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr(perceptron, "VOTING_VALUES", 1)
    np.testing.assert_array_equal(model.decision_function(X), whole)


def test_shuffled_passes_are_permutations(data):
    X, y = data
    model = KernelPerceptron(Linear(), variant="averaged", max_iter=4, random_state=7).fit(X, y)
    rng = np.random.RandomState(7)
    order = np.concatenate([rng.permutation(len(y)) for _ in range(4)])
    w, votes = versions(X, y, order)
    np.testing.assert_allclose(model.decision_function(X), rule("averaged", w, votes, X), rtol=1e-10)


def test_the_first_example_is_a_mistake_of_the_empty_version():
    model = KernelPerceptron(Linear(), variant="voted", shuffle=False, max_iter=1).fit(
        [[1.0], [-1.0]], [1, 0]
    )
    assert model.mistakes_ == 1
    assert model.support_.tolist() == [0]
    assert model.decision_function([[3.0], [0.0]]).tolist() == [1.0, 0.0]  # w_0 = 0 has no votes


# -- the bound --------------------------------------------------------------------------------------
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("margin", [1.0, 0.3, 0.1])
def test_mistakes_stay_below_the_bound(margin, shuffle):
    for seed in range(5):
        X, y = separable(margin, seed=seed)
        model = KernelPerceptron(Linear(), max_iter=10_000, shuffle=shuffle, random_state=0).fit(X, y)
        assert model.status_ == "converged"
        bound = model.mistake_bound(margin)
        assert bound == pytest.approx(np.square(X).sum(axis=1).max() / margin**2, rel=1e-12)
        assert bound == pytest.approx(float(perceptron_mistake_bound(model.radius_, margin)), rel=1e-12)
        assert 0 < model.mistakes_ <= bound
        assert model.set_params(variant="last").score(X, y) == 1.0  # the last pass made no mistake


def test_the_bound_is_reached():
    """Orthonormal points: each is a mistake once, and the margin 1/sqrt(n) makes the bound n."""
    n = 9
    model = KernelPerceptron(Linear(), random_state=0).fit(np.eye(n), np.arange(n) % 2)
    assert model.mistakes_ == n
    assert model.mistake_bound(1 / np.sqrt(n)) == pytest.approx(n, rel=1e-12)


def test_bound_from_a_separator_in_feature_space():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 2))
    y = np.where(np.square(X).sum(axis=1) > 0.6, 1, -1)
    kernel = Polynomial(2)
    model = KernelPerceptron(kernel, max_iter=5000, random_state=0).fit(X, y)
    assert model.status_ == "converged"
    coef = np.zeros(len(y))
    coef[model.support_] = model.set_params(variant="last").dual_coef_[0]
    assert model.mistakes_ <= float(kernel_perceptron_mistake_bound(kernel.block(X), y, coef))


def test_many_classes_are_many_perceptrons(data):
    X, _ = data
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    for variant in ("last", "averaged", "voted"):
        machine = KernelPerceptron(Gaussian(1.0), variant=variant, max_iter=2, random_state=3)
        model = clone(machine).fit(X, labels)
        scores = model.decision_function(X)
        for j in range(3):
            one = clone(machine).fit(X, labels == j)
            assert model.mistakes_[j] == one.mistakes_
            np.testing.assert_allclose(scores[:, j], one.decision_function(X), rtol=1e-9, atol=1e-12)
        assert model.mistake_bound([0.5, 0.1, 0.5]).shape == (3,)


# -- streams ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("variant", ["last", "averaged", "voted"])
def test_partial_fit_is_one_pass_in_order(data, variant):
    X, y = data
    model = KernelPerceptron(Linear(), variant=variant)
    for a, b in [(0, 1), (1, 5), (5, 69), (69, 70)]:
        model.partial_fit(X[a:b], y[a:b], classes=[-1, 1])
    whole = KernelPerceptron(Linear(), variant=variant, max_iter=1, shuffle=False).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-10)
    assert (model.mistakes_, model.radius_) == (whole.mistakes_, whole.radius_)
    np.testing.assert_array_equal(model.support_, whole.support_)
    assert (model.n_iter_, model.n_seen_) == (4, 70)


def test_rows_that_do_not_fit_the_memory_give_the_same(data, monkeypatch):
    X, y = data
    machine = KernelPerceptron(Gaussian(1.0), fit_intercept=True, random_state=0)
    held = clone(machine).fit(X, y).partial_fit(X + 0.1, y)
    monkeypatch.setenv("MERCER_MEMORY", "2000")
    computed = clone(machine).fit(X, y).partial_fit(X + 0.1, y)
    assert computed.mistakes_ == held.mistakes_
    np.testing.assert_allclose(computed.dual_coef_, held.dual_coef_, rtol=1e-12)


# -- kinds of input ---------------------------------------------------------------------------------
@pytest.mark.parametrize("variant", ["averaged", "voted"])
def test_precomputed_sparse_and_single_precision_agree(data, variant):
    X, y = data
    X = np.where(np.abs(X) > 0.5, X, 0.0).astype(np.float32)
    machine = KernelPerceptron(Gaussian(1.0), variant=variant, random_state=0)
    expected = clone(machine).fit(X.astype(np.float64), y).decision_function(X)
    np.testing.assert_allclose(clone(machine).fit(X, y).decision_function(X), expected, rtol=1e-12)
    sparse = scipy.sparse.csr_array(X)
    np.testing.assert_allclose(clone(machine).fit(sparse, y).decision_function(sparse), expected, rtol=1e-8)
    K = Gaussian(1.0).block(X.astype(np.float64))
    given = clone(machine).set_params(kernel=Precomputed()).fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), expected, rtol=1e-10)


def test_sets_and_labels_of_any_type():
    X = [{"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"a", "d"}, {"c", "d"}]
    for labels in (["x", "x", "y", "y", "x", "y"], [True, True, False, False, True, False]):
        model = KernelPerceptron(SetIntersection(), variant="voted", random_state=0).fit(X, labels)
        assert model.predict([{"a"}, {"c"}]).tolist() == [labels[0], labels[-1]]


def test_indefinite_kernels_are_told_refused_or_repaired(data):
    X, y = data
    bad = Sigmoid(1.0, -1.0)
    with pytest.warns(IndefiniteKernelWarning, match="least eigenvalue"):
        KernelPerceptron(bad).fit(X, y)
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        KernelPerceptron(bad, indefinite="error").fit(X, y)
    for repair in ("clip", "flip", "shift"):
        for variant in ("averaged", "voted"):
            model = KernelPerceptron(bad, indefinite=repair, variant=variant, shuffle=False).fit(X, y)
            K = mercer.gram(bad, X).repair(repair)
            matrix = KernelPerceptron(Precomputed().assume("PSD"), variant=variant, shuffle=False)
            expected = matrix.fit(K.dense(), y).decision_function(K.cross(X[:5] + 1).dense())
            np.testing.assert_allclose(model.decision_function(X[:5] + 1), expected, rtol=1e-7)


# -- errors and interruptions -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (KernelPerceptron(variant="median"), "`variant` must be one of"),
        (KernelPerceptron(max_iter=0), "`max_iter` must be"),
        (KernelPerceptron(max_iter=True), "`max_iter` must be"),
        (KernelPerceptron("gauss"), "`kernel` must be a mercer Kernel"),
        (KernelPerceptron(indefinite="ignore"), "`indefinite` must be one of"),
    ],
)
def test_bad_parameters_are_named(data, machine, message):
    with pytest.raises(ParameterError, match=message):
        machine.fit(*data)


def test_bad_data_are_named(data):
    X, y = data
    with pytest.raises(InputError, match="one class only"):
        KernelPerceptron().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="continuous"):
        KernelPerceptron().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="NaN"):
        KernelPerceptron().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="0 sample"):
        KernelPerceptron(SetIntersection()).fit([], [])
    with pytest.raises(ParameterError, match="`margin` must be positive"):
        KernelPerceptron().fit(X, y).mistake_bound(0.0)


@pytest.mark.parametrize("variant", ["last", "averaged", "voted"])
def test_ctrl_c_between_the_note_of_a_mistake_and_the_state(data, monkeypatch, variant):
    X, y = data
    note = KernelPerceptron._note

    def interrupted(self, points, changes, steps):
        note(self, points, changes, steps)
        if steps[0] > 64:
            raise KeyboardInterrupt

    monkeypatch.setattr(KernelPerceptron, "_note", interrupted)
    model = KernelPerceptron(Linear(), variant=variant, shuffle=False)
    with (
        pytest.warns(ConvergenceWarning, match="after 64 steps because it was interrupted"),
        pytest.raises(KeyboardInterrupt),
    ):
        model.fit(X, y)
    w, votes = versions(X, y, np.arange(64))
    np.testing.assert_allclose(model.decision_function(X), rule(variant, w, votes, X), rtol=1e-10)
    assert (model.status_, model.mistakes_) == ("stopped", len(w) - 1)


def test_more_classes_than_any_pass_can_learn():
    X = np.arange(6.0)[:, None]
    model = KernelPerceptron(Gaussian(0.2), random_state=0).fit(X, list("abcdef"))  # as many as rows
    assert model.predict(X).tolist() == list("abcdef")
