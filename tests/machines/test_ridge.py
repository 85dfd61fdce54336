"""Kernel ridge regression against its definition, its linear twin and scikit-learn's contract."""

import pickle

import numpy as np
import pytest
import sklearn.kernel_ridge
import sklearn.linear_model
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed, SetIntersection, Sigmoid
from mercer.machines import IndefiniteKernelWarning, KernelRidge

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


@parametrize_with_checks(
    [
        KernelRidge(),
        KernelRidge(Polynomial(2), alpha=0.3, fit_intercept=True),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.standard_normal(40)


def test_equals_scikit_learn(data):
    X, y = data
    ours = KernelRidge(Gaussian.from_gamma(0.3), alpha=0.7).fit(X, y)
    theirs = sklearn.kernel_ridge.KernelRidge(kernel="rbf", gamma=0.3, alpha=0.7).fit(X, y)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.predict(X[:5] + 1), theirs.predict(X[:5] + 1), rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_linear_kernel_is_linear_ridge(data, fit_intercept):
    X, y = data
    w = np.random.default_rng(1).uniform(0.1, 2, len(y))
    ours = KernelRidge(Linear(), alpha=0.5, fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
    theirs = sklearn.linear_model.Ridge(alpha=0.5, fit_intercept=fit_intercept, tol=1e-12)
    theirs.fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-10)


def test_scale_is_scikit_learns_default_gamma(data):
    X, y = data
    sigma = KernelRidge(Gaussian("scale")).fit(X, y).kernel_.sigma
    assert 1 / (2 * sigma**2) == pytest.approx(1 / (X.shape[1] * X.var()), rel=1e-12)


def test_many_targets_are_many_fits(data):
    X, y = data
    Y = np.column_stack([y, 2 * y + 1, np.cos(y)] * 20)  # more targets than rows
    model = KernelRidge(Gaussian(1.0), alpha=0.1, fit_intercept=True).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    one = KernelRidge(Gaussian(1.0), alpha=0.1, fit_intercept=True).fit(X, Y[:, 2])
    np.testing.assert_allclose(model.predict(X)[:, 2], one.predict(X), rtol=1e-9)


def test_zero_weight_is_absence_and_integer_weight_is_repetition(data):
    X, y = data
    w = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    index = np.repeat(np.arange(len(y)), w.astype(int))
    for kernel in (Gaussian("median"), Gaussian("scale")):
        weighted = KernelRidge(kernel, alpha=0.3).fit(X, y, sample_weight=w).predict(X)
        repeated = KernelRidge(kernel, alpha=0.3).fit(X[index], y[index]).predict(X)
        np.testing.assert_allclose(weighted, repeated, rtol=1e-7)


def test_precomputed_matrix_is_sliced_on_both_axes_by_cross_validation(data):
    X, y = data
    kernel = Gaussian(1.3)
    K = kernel.block(X)
    direct = cross_val_score(KernelRidge(kernel, alpha=0.1), X, y, cv=4)
    sliced = cross_val_score(KernelRidge(Precomputed(), alpha=0.1), K, y, cv=4)
    np.testing.assert_allclose(direct, sliced, rtol=1e-8)
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    model = KernelRidge(Precomputed()).fit(K, y, sample_weight=weights)
    other = KernelRidge(kernel).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(K[:5]), other.predict(X[:5]), rtol=1e-8)


def test_grid_search_reaches_into_the_kernel_and_leaves_it_alone(data):
    X, y = data
    kernel = Gaussian(1.0) + 0.5 * Linear()
    machine = KernelRidge(kernel)
    grid = {"kernel__term0__sigma": [0.5, 2.0], "kernel__term1__factor": [0.1], "alpha": [0.1, 1.0]}
    search = GridSearchCV(machine, grid, cv=3).fit(X, y)
    assert kernel == Gaussian(1.0) + 0.5 * Linear()
    assert machine.kernel is kernel
    assert search.best_estimator_.kernel.terms[0].sigma in (0.5, 2.0)
    pipeline = make_pipeline(StandardScaler(), machine)
    pipeline.set_params(kernelridge__kernel__term0__sigma=3.0)
    assert machine.kernel == Gaussian(3.0) + 0.5 * Linear()
    assert clone(machine).kernel is machine.kernel
    with pytest.raises(ParameterError, match="term0__sigma"):
        machine.set_params(kernel__sigma=1.0)


def test_metadata_is_routed(data):
    X, y = data
    import sklearn

    groups, w = np.arange(len(y)) % 5, np.ones(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        machine = KernelRidge(Gaussian(1.0)).set_fit_request(sample_weight=True)
        machine.set_score_request(sample_weight=False)
        search = GridSearchCV(machine, {"alpha": [0.1, 1.0]}, cv=GroupKFold(5))
        search.fit(X, y, groups=groups, sample_weight=w)
    assert search.best_params_["alpha"] in (0.1, 1.0)


def test_any_objects_in_parallel_grid_search():
    X = [{"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"a", "c"}, set(), {"b"}, {"a", "b", "c"}] * 3
    y = np.array([len(x) for x in X], dtype=float)
    search = GridSearchCV(KernelRidge(SetIntersection()), {"alpha": [1e-6, 1.0]}, cv=3, n_jobs=2)
    search.fit(X, y)
    assert search.best_params_ == {"alpha": 1e-6}
    np.testing.assert_allclose(search.predict([{"a", "b"}, {"d"}]), [2.0, 0.0], atol=1e-4)


def test_users_function_on_strings():
    @mercer.kernel(assume="PSD", reason="a count of shared letters is an inner product")
    def shared(x, y):
        return sum(x.count(c) * y.count(c) for c in set(x))

    words = ["tree", "reed", "bed", "bee", "deer", "tar"]
    model = KernelRidge(shared, alpha=1e-8).fit(words, [w.count("e") for w in words])
    np.testing.assert_allclose(model.predict(words), [2, 2, 1, 2, 2, 0], atol=1e-5)
    assert model.predict(["bedreed"])[0] == pytest.approx(3.0, abs=1e-4)  # the letters of two known words


def test_indefinite_kernels_are_told_refused_or_repaired(data):
    X, y = data
    bad = Sigmoid(1.0, -1.0)
    with pytest.warns(IndefiniteKernelWarning, match="least eigenvalue"):
        KernelRidge(bad, alpha=100.0).fit(X, y)
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        KernelRidge(bad, indefinite="error").fit(X, y)
    for repair in ("clip", "flip", "shift"):
        model = KernelRidge(bad, alpha=1e-2, indefinite=repair).fit(X, y)
        fitted = model.gram_.dense() @ model.dual_coef_
        assert np.isfinite(model.predict(X)).all()
        if repair != "shift":  # these extend to new points without a jump at the old ones
            np.testing.assert_allclose(model.predict(X), fitted, rtol=1e-5, atol=1e-7)


def test_duplicates_without_penalty(data):
    X, y = data
    X2, y2 = np.vstack([X, X]), np.concatenate([y, y + 1])
    model = KernelRidge(Gaussian(0.5), alpha=0.0).fit(X2, y2)
    np.testing.assert_allclose(model.predict(X), y + 0.5, atol=1e-5)
    assert "rank" in model.solution_.status


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (KernelRidge(alpha=-1.0), "`alpha` must be"),
        (KernelRidge(alpha="x"), "`alpha` must be"),
        (KernelRidge("gauss"), "`kernel` must be a mercer Kernel"),
        (KernelRidge(indefinite="ignore"), "`indefinite` must be one of"),
    ],
)
def test_bad_parameters_are_named(data, machine, message):
    with pytest.raises(ParameterError, match=message):
        machine.fit(*data)


def test_bad_data_are_named(data):
    X, y = data
    with pytest.raises(InputError, match="sample_weight"):
        KernelRidge().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="inconsistent"):
        KernelRidge().fit(X, y[:-1])
    with pytest.raises(ValueError, match="symmetric"):
        KernelRidge(Precomputed()).fit(np.random.default_rng(0).random((40, 40)), y)
    with pytest.raises(ValueError, match="features"):
        KernelRidge().fit(X, y).predict(X[:, :2])


def test_constant_data_fit():
    X = np.ones((6, 2))
    for rule in ("scale", "median"):
        model = KernelRidge(Gaussian(rule), alpha=1e-9).fit(X, np.arange(6.0))
        np.testing.assert_allclose(model.predict(X), 2.5, rtol=1e-6)


def test_pickles(data):
    X, y = data
    model = KernelRidge(Gaussian("median")).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_sparse_equals_dense(data):
    import scipy.sparse

    X, y = data
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = KernelRidge(Gaussian("scale")).fit(X, y).predict(X)
    sparse = (
        KernelRidge(Gaussian("scale")).fit(scipy.sparse.csr_matrix(X), y).predict(scipy.sparse.coo_array(X))
    )
    np.testing.assert_allclose(sparse, dense, rtol=1e-9)
