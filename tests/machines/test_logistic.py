"""Kernel logistic regression against optimisers, linear twins, refitting and scikit-learn's contract."""

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import DefinitenessError, InputError, MemoryLimitError, ParameterError
from mercer.gram import gram
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection, Sigmoid
from mercer.machines import IndefiniteKernelWarning, KernelLogistic

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}

#: The squared norm, the absolute values of the coefficients, both.
PENALTIES = [{"alpha": 0.3}, {"alpha": 0.0, "l1": 0.3}, {"alpha": 0.3, "l1": 0.3}]


@parametrize_with_checks(
    [KernelLogistic(), KernelLogistic(alpha=0.1, l1=0.1)],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    score = X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(60)
    return X, np.digitize(score, [-0.4, 0.4])


def two(y):
    return (y > 0).astype(int)


def objective(K, Y, w, alpha, A, b):
    """The stated objective, from its definition; ``Y`` is one-hot or of signs."""
    F = K @ A + b
    if Y.shape[1] == 1:
        loss = np.log1p(np.exp(-Y * F))[:, 0]
    else:
        loss = np.log(np.exp(F).sum(axis=1)) - (Y * F).sum(axis=1)
    return w @ loss + alpha / 2 * np.trace(A.T @ K @ A)


# -- the minimiser --------------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_is_the_minimiser_of_its_objective(data, classes, intercept):
    X, y = data
    y = two(y) if classes == 2 else y
    w = np.random.default_rng(1).uniform(0.2, 2, len(y))
    model = KernelLogistic(Gaussian(1.5), alpha=0.3, fit_intercept=intercept).fit(X, y, sample_weight=w)
    K = Gaussian(1.5).block(X)
    Y = (2.0 * y - 1)[:, None] if classes == 2 else np.eye(3)[y]
    n, m = Y.shape
    root = np.linalg.cholesky(K + 1e-12 * np.eye(n))

    def value(v):
        C, b = v[: n * m].reshape(n, m), v[n * m :] * intercept
        return objective(K, Y, w, 0.3, np.linalg.solve(root.T, C), b)

    found = scipy.optimize.minimize(value, np.zeros(n * m + m), method="L-BFGS-B", options={"maxfun": 10**5})
    ours = objective(K, Y, w, 0.3, model.dual_coef_.T, model.intercept_)
    assert ours <= found.fun + 1e-9
    assert ours == pytest.approx(found.fun, rel=1e-6)
    assert model.solution_.stats["objective"] == pytest.approx(ours, rel=1e-12)
    assert model.solution_.converged
    assert model.solution_.gap <= 1e-12 * ours


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_linear_kernel_is_linear_logistic_regression(data, classes, intercept, class_weight):
    X, y = data
    y = two(y) if classes == 2 else y
    w = np.random.default_rng(1).uniform(0.2, 2, len(y))
    ours = KernelLogistic(Linear(), alpha=0.5, fit_intercept=intercept, class_weight=class_weight, tol=1e-9)
    theirs = LogisticRegression(
        C=2.0,
        fit_intercept=intercept,
        class_weight=class_weight,
        tol=1e-12,
        solver="newton-cg",
        max_iter=1000,
    )
    ours.fit(X, y, sample_weight=w)
    theirs.fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-6, atol=1e-9)
    if intercept:
        centred = theirs.intercept_ - (theirs.intercept_.mean() if classes == 3 else 0.0)
        np.testing.assert_allclose(ours.intercept_, centred, rtol=1e-6, atol=1e-8)


def test_is_the_mode_of_a_gaussian_process_classifier(data):
    X, y = data
    theirs = GaussianProcessClassifier(RBF(1.2), optimizer=None).fit(X, two(y))
    ours = KernelLogistic(Gaussian(1.2), fit_intercept=False).fit(X, two(y))
    np.testing.assert_allclose(ours.decision_function(X), theirs.base_estimator_.f_cached, atol=1e-6)


@pytest.mark.parametrize("alpha", [1e-9, 1e-3, 1e6, 1e14])
@pytest.mark.parametrize("classes", [2, 3])
def test_extreme_penalties(data, alpha, classes):
    X, y = data
    y = two(y) if classes == 2 else y
    # of three classes, alpha=1e-9 leaves a relative gap of 1e-13 to rounding
    model = KernelLogistic(Gaussian(1.0), alpha=alpha, tol=1e-6).fit(X, y)
    assert model.solution_.converged
    if alpha >= 1e6:  # only the intercept is left
        shares = np.bincount(y) / len(y)
        np.testing.assert_allclose(model.predict_proba(X), np.tile(shares, (len(y), 1)), atol=1e-4)
    else:
        assert model.score(X, y) == 1.0


def test_separable_data_have_finite_answers():
    X, y = np.array([[-1.0], [-1.0], [1.0]]), [0, 0, 1]
    model = KernelLogistic(Linear(), alpha=1e-12).fit(X, y)
    assert model.solution_.converged
    assert np.isfinite(model.predict_log_proba([[1e6], [-1e6]])).all()


# -- steps by conjugate gradients -------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_products_and_factors_agree(monkeypatch, classes, intercept):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((270, 4))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(270), [-0.5, 0.5][: classes - 1])
    w = rng.uniform(0.5, 2, 270)
    parameters = {"alpha": 0.1, "fit_intercept": intercept, "tol": 1e-9}
    monkeypatch.setattr("mercer.solvers.smooth.newton.LANDMARKS", 40)
    held = KernelLogistic(Gaussian(2.0), **parameters).fit(X, y, w)
    assert held.solution_.stats["method"].endswith("conjugate gradients")
    monkeypatch.setattr("mercer.solvers.smooth.newton.FACTORED", 1000)
    factored = KernelLogistic(Gaussian(2.0), **parameters).fit(X, y, w)
    assert factored.solution_.stats["method"].endswith("Cholesky")
    monkeypatch.setenv(
        "MERCER_MEMORY", "1MB"
    )  # half of it has no room for the matrix: only products are taken
    lazy = KernelLogistic(Gaussian(2.0), **parameters).fit(X, y, w)
    assert lazy.solution_.stats["method"].endswith("conjugate gradients")
    for model in (held, lazy):
        assert model.solution_.converged
        np.testing.assert_allclose(model.decision_function(X), factored.decision_function(X), atol=1e-7)
    with pytest.raises(MemoryLimitError, match="leave-one-out"):
        lazy.loo_decision_  # noqa: B018 - a property that computes
    with pytest.raises(MemoryLimitError, match="leave-one-out"):
        KernelLogistic(alpha="loo").fit(X, y)


def test_slow_products_give_way_to_factors():
    X = np.random.default_rng(3).standard_normal((400, 6))
    model = KernelLogistic(Gaussian(1.0), alpha=1e-7).fit(X, X[:, 0] * X[:, 1] > 0)
    assert model.solution_.converged
    assert model.solution_.stats["method"].endswith("Cholesky")


def test_a_limit_is_told(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelLogistic(Gaussian(1.0), alpha=1e-6, max_iter=2).fit(X, y)
    assert not model.solution_.converged
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        KernelLogistic(Gaussian(1.0), alpha=0.0, l1=1e-3, max_iter=2).fit(X, y)


# -- weights ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_zero_weight_is_absence_and_integer_weight_is_repetition(data, penalty):
    X, y = data
    w = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    index = np.repeat(np.arange(len(y)), w.astype(int))
    for kernel in (Gaussian("median"), Gaussian("scale")):
        model = KernelLogistic(kernel, **penalty)
        weighted = model.fit(X, y, sample_weight=w).predict_proba(X)
        repeated = model.fit(X[index], y[index]).predict_proba(X)
        np.testing.assert_allclose(weighted, repeated, atol=1e-6)


def test_class_weights_are_sample_weights(data):
    X, y = data
    by_class = KernelLogistic(Gaussian(1.0), class_weight={0: 2.0, 1: 0.5}).fit(X, y)
    by_row = KernelLogistic(Gaussian(1.0)).fit(X, y, sample_weight=np.array([2.0, 0.5, 1.0])[y])
    np.testing.assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-8)


# -- leave one out ------------------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_leave_one_out_is_close_to_refitting(data, classes, intercept):
    X, y = data
    y = two(y) if classes == 2 else y
    w = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    machine = KernelLogistic(Gaussian(1.5), alpha=1.0, fit_intercept=intercept)
    model = machine.fit(X, y, sample_weight=w)
    near, full = model.loo_decision_, model.decision_function(X)
    log_loss = model.loo_log_loss_
    true, losses = np.empty_like(near), np.empty(len(y))
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        other = machine.fit(X[rest], y[rest], sample_weight=w[rest])
        true[i] = other.decision_function(X[i : i + 1])[0]
        losses[i] = -other.predict_log_proba(X[i : i + 1])[0, y[i]]
    # the approximation is of second order in the influence of a point
    assert np.abs(near - true).max() < 0.1 * np.abs(full - true).max()
    assert log_loss == pytest.approx(w @ losses / w.sum(), rel=0.01)


def test_penalty_by_leave_one_out(data):
    X, y = data
    alphas = [10.0, 0.01, 1.0, 0.1]
    chosen = KernelLogistic(Gaussian(1.0), alpha="loo", alphas=alphas).fit(X, y)
    each = [KernelLogistic(Gaussian(1.0), alpha=a).fit(X, y).loo_log_loss_ for a in alphas]
    np.testing.assert_allclose(chosen.loo_path_, each, rtol=1e-6)
    assert chosen.alpha_ == alphas[int(np.argmin(each))]
    assert chosen.loo_log_loss_ == pytest.approx(min(each), rel=1e-6)
    assert KernelLogistic(Gaussian(1.0), alpha="loo").fit(X, y).loo_path_.shape == (15,)


# -- absolute values -----------------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_sparse_models_satisfy_the_subgradient_conditions(data, monkeypatch, classes, intercept, held, alpha):
    X, y = data
    y = two(y) if classes == 2 else y
    w = np.random.default_rng(1).uniform(0.5, 1.5, len(y))
    if not held:
        monkeypatch.setattr("mercer.machines.logistic.hold", lambda G: None)
    model = KernelLogistic(Gaussian(1.0), alpha=alpha, l1=0.2, fit_intercept=intercept, tol=1e-9)
    model.fit(X, y, sample_weight=w)
    K = Gaussian(1.0).block(X)
    A = np.zeros((len(y), model.dual_coef_.shape[0]))
    A[model.support_] = model.dual_coef_.T
    P = model.predict_proba(X)
    residual = (P[:, 1] - y)[:, None] if classes == 2 else P - np.eye(3)[y]
    slopes = K @ (w[:, None] * residual + alpha * A)
    np.testing.assert_allclose(slopes[A != 0], -0.2 * np.sign(A[A != 0]), atol=1e-8)
    assert np.abs(slopes).max() <= 0.2 + 1e-8
    if intercept:
        np.testing.assert_allclose(w @ residual, 0.0, atol=1e-9)
    assert 0 < len(model.support_) < 2 * len(y) / 3
    assert model.solution_.converged
    assert model.solution_.gap <= 1e-9


def test_sparse_objective_is_that_of_scikit_learn(data):
    X, y = data
    K = Gaussian(1.0).block(X)
    ours = KernelLogistic(Gaussian(1.0), alpha=0.0, l1=0.5, fit_intercept=False).fit(X, two(y))
    theirs = LogisticRegression(C=2.0, solver="saga", fit_intercept=False, tol=1e-8, max_iter=20_000)
    is_old = theirs.penalty == "l2"  # before scikit-learn 1.8
    theirs.set_params(**({"penalty": "l1"} if is_old else {"l1_ratio": 1.0}))
    theirs.fit(K, two(y))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(K), atol=1e-4)


def both_penalties_by_proximal_gradients(K, y, alpha, l1, intercept, *, steps=100_000):
    """Coefficients and intercept, from the definition: accelerated proximal gradients with restarts."""
    n = len(y)
    a = np.zeros(n + 1)
    X = np.column_stack([K, np.full(n, float(intercept))])
    norm = np.zeros((n + 1, n + 1))
    norm[:n, :n] = alpha * K
    step = 1 / np.linalg.eigvalsh(0.25 * X.T @ X + norm)[-1]
    last, momentum = a, 1.0
    for _ in range(steps):
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = a + (momentum - 1) / following * (a - last)
        moved = ahead - step * (X.T @ (expit(X @ ahead) - y) + norm @ ahead)
        moved[:n] = np.sign(moved[:n]) * np.maximum(np.abs(moved[:n]) - step * l1, 0)
        restart = (ahead - moved) @ (moved - a) > 0
        last, a, momentum = a, moved, 1.0 if restart else following
    return a[:n], a[n]


@pytest.mark.parametrize("intercept", [False, True])
def test_both_penalties_at_once_are_minimised(data, intercept):
    X, y = data[0], two(data[1])
    alpha, l1 = 0.3, 0.2
    a, b = both_penalties_by_proximal_gradients(Gaussian(1.0).block(X), y, alpha, l1, intercept, steps=20_000)
    model = KernelLogistic(Gaussian(1.0), alpha=alpha, l1=l1, fit_intercept=intercept).fit(X, y)
    assert model.solution_.converged
    np.testing.assert_array_equal(model.support_, np.flatnonzero(a))
    assert 0 < len(model.support_) < len(y)
    np.testing.assert_allclose(model.dual_coef_[0], a[model.support_], atol=1e-7)
    np.testing.assert_allclose(model.intercept_, [b], atol=1e-7)


def test_a_vanishing_second_penalty_leaves_the_first(data):
    X, y = data
    limit = KernelLogistic(Gaussian(1.0), alpha=0.3).fit(X, y).predict_proba(X)
    model = KernelLogistic(Gaussian(1.0), alpha=0.3, l1=1e-8).fit(X, y)
    assert model.solution_.converged
    np.testing.assert_allclose(model.predict_proba(X), limit, atol=1e-6)


def test_both_penalties_need_a_positive_definite_kernel(data):
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        KernelLogistic(Sigmoid(1.0, -1.0), alpha=0.3, l1=0.3, indefinite="error").fit(*data)


def test_a_large_penalty_leaves_nothing_but_the_intercept(data):
    X, y = data
    model = KernelLogistic(Gaussian(1.0), alpha=0.0, l1=1e4).fit(X, y)
    assert len(model.support_) == 0
    np.testing.assert_allclose(model.predict_proba(X[:2]), [np.bincount(y) / len(y)] * 2, rtol=1e-9)


def test_sparse_models_take_any_similarity(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelLogistic(Sigmoid(1.0, -1.0), alpha=0.0, l1=0.3).fit(X, y)
    assert model.solution_.converged


# -- inputs -----------------------------------------------------------------------------------------------
def test_probabilities_and_labels_are_consistent(data):
    X, y = data
    names = np.array(["ash", "beech", "cedar"])[y]
    model = KernelLogistic(Gaussian(1.0), alpha=0.01).fit(X, names)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert (model.classes_[P.argmax(axis=1)] == model.predict(X)).all()
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), P)


@pytest.mark.parametrize(
    "penalty", [{"alpha": 1e-8}, {"alpha": 0.0, "l1": 1e-8}, {"alpha": 1e-8, "l1": 1e-8}], ids=str
)
def test_duplicates_and_contradictions(penalty):
    X, y = np.ones((8, 2)), [0, 0, 0, 0, 0, 0, 1, 1]
    model = KernelLogistic(Gaussian(1.0), **penalty).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.75, 0.25]], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_single_precision(data, dtype):
    X, y = data
    X = np.where(np.abs(X) > 0.7, X, 0.0).astype(dtype)
    dense = KernelLogistic(Gaussian("scale")).fit(X, y).predict_proba(X)
    sparse = KernelLogistic(Gaussian("scale")).fit(scipy.sparse.csr_array(X), y).predict_proba(X)
    np.testing.assert_allclose(sparse, dense, atol=1e-6)


def test_precomputed_matrix(data):
    X, y = data
    K = Gaussian(1.3).block(X)
    direct = cross_val_score(KernelLogistic(Gaussian(1.3), alpha=0.1), X, y, cv=4, scoring="neg_log_loss")
    sliced = cross_val_score(KernelLogistic(Precomputed(), alpha=0.1), K, y, cv=4, scoring="neg_log_loss")
    np.testing.assert_allclose(direct, sliced, rtol=1e-7)
    few = KernelLogistic(Precomputed(), alpha=0.0, l1=0.5).fit(K, y)
    assert few.predict(K[:5]).shape == (5,)


@pytest.mark.parametrize(
    "penalty", [{"alpha": 0.01}, {"alpha": 0.0, "l1": 0.01}, {"alpha": 0.01, "l1": 0.01}], ids=str
)
def test_sets(penalty):
    X = [{"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"a", "c"}, set(), {"b"}, {"a", "b", "c"}] * 2
    y = ["a" in x for x in X]
    model = KernelLogistic(SetIntersection(), **penalty).fit(X, y)
    assert model.predict([{"a", "d"}, {"b"}, set()]).tolist() == [True, False, False]


def test_indefinite_kernels_are_told_refused_or_repaired(data):
    X, y = data
    bad = Sigmoid(1.0, -1.0)
    with pytest.warns(IndefiniteKernelWarning, match="least eigenvalue"), pytest.raises(DefinitenessError):
        KernelLogistic(bad, alpha=1e-3).fit(X, y)
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        KernelLogistic(bad, indefinite="error").fit(X, y)
    assert KernelLogistic(bad, indefinite="clip").fit(X, y).solution_.converged


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, "`alpha` must be"),
        ({"alpha": np.inf}, "`alpha` must be"),
        ({"alpha": "gcv"}, "`alpha` must be"),
        ({"alpha": "loo", "alphas": []}, "`alphas` must be a list"),
        ({"alpha": "loo", "alphas": [1.0, -1.0]}, "`alphas` must be"),
        ({"alpha": "loo", "l1": 0.1}, "needs l1=0"),
        ({"alpha": -1.0, "l1": 0.1}, "`alpha` must be 0 or"),
        ({"l1": -0.1}, "`l1` must be"),
        ({"l1": np.nan}, "`l1` must be"),
        ({"l1": np.inf}, "`l1` must be"),
        ({"l1": "auto"}, "`l1` must be"),
        ({"tol": 0.0}, "`tol` must be"),
        ({"max_iter": 0}, "`max_iter` must be"),
        ({"class_weight": {7: 1.0}}, "`class_weight` names the class 7"),
        ({"indefinite": "ignore"}, "`indefinite` must be one of"),
    ],
    ids=lambda v: str(v) if isinstance(v, dict) else "",
)
def test_bad_parameters_are_named(data, parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelLogistic(**parameters).fit(*data)


def test_bad_data_are_named(data):
    X, y = data
    with pytest.raises(InputError, match="classes"):
        KernelLogistic().fit(X, np.ones(len(y)))
    with pytest.raises(InputError, match="sample_weight"):
        KernelLogistic().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(InputError, match="positive weight"):
        KernelLogistic().fit(X, y, sample_weight=(y == 0).astype(float))
    with pytest.raises(AttributeError, match="l1=0"):
        KernelLogistic(l1=0.1).fit(X, y).loo_decision_  # noqa: B018 - a property that computes


def test_pickles(data):
    X, y = data
    model = KernelLogistic(Gaussian("median")).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.loo_decision_, model.loo_decision_)


def test_the_gap_bounds_the_distance_from_the_solution(data):
    X, y = data
    exact = KernelLogistic(Gaussian(1.0), alpha=0.1, tol=1e-12).fit(X, y)
    with pytest.warns(ConvergenceWarning):
        rough = KernelLogistic(Gaussian(1.0), alpha=0.1, max_iter=2).fit(X, y)
    change = (rough.dual_coef_ - exact.dual_coef_).T
    distance = np.trace(change.T @ gram(Gaussian(1.0), X).dense() @ change)
    assert 0.05 * distance <= rough.solution_.gap


def test_the_page_on_logistic_regression_is_true(capsys):
    page = (Path(__file__).parents[2] / "docs" / "logistic.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", page, flags=re.S | re.M):
        exec(compile(block, "docs/logistic.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "converged True"
    assert lines[2].endswith("True")
    balls = ["squared True 1.5 converged", "pinball True 1.5 converged"]
    rest = ["converged True", "True", "[0 2] [-1.  0.  1.]", "converged"]
    assert lines[3:] == ["True", "converged", *balls, *rest]
