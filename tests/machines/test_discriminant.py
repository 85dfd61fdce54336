"""The kernel discriminant against its definition, scikit-learn's linear one, and scikit-learn's contract."""

import pickle

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed, SetIntersection, Sigmoid
from mercer.machines import IndefiniteKernelWarning, KernelDiscriminant, KernelRidge

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


@parametrize_with_checks(
    [KernelDiscriminant(), KernelDiscriminant(Gaussian("median"), penalized="coefficients", alpha=0.1)],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def blobs(classes, n=20, d=3, seed=0):
    rng = np.random.default_rng(seed)
    centres = 2 * rng.standard_normal((classes, d))
    y = np.repeat(np.arange(classes), n)
    return centres[y] + rng.standard_normal((len(y), d)), y


def parallel(A, B, tol):
    """Columns agree up to factors."""
    A, B = A / np.linalg.norm(A, axis=0), B / np.linalg.norm(B, axis=0)
    np.testing.assert_allclose(np.abs(np.einsum("ij,ij->j", A, B)), 1.0, atol=tol)


def scatter(K, y):
    """The matrices of the definition: within the classes, and between their means."""
    n = len(y)
    within, between, mean = np.zeros((n, n)), np.zeros((n, n)), K.mean(axis=1)
    for c in np.unique(y):
        columns = K[:, y == c]
        m = columns.shape[1]
        within += columns @ (np.eye(m) - 1 / m) @ columns.T
        between += m * np.outer(columns.mean(axis=1) - mean, columns.mean(axis=1) - mean)
    return within, between


# -- the problem --------------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("penalized", ["function", "coefficients"])
def test_solves_the_generalised_eigenproblem_of_the_definition(classes, penalized):
    X, y = blobs(classes, 12)
    K = Gaussian(1.5).block(X)
    model = KernelDiscriminant(Gaussian(1.5), alpha=0.3, penalized=penalized).fit(X, y)
    within, between = scatter(K, y)
    denominator = within + 0.3 * (K if penalized == "function" else np.eye(len(y)))
    a = model.dual_coef_
    left, right = between @ a, denominator @ a * model.eigenvalues_
    np.testing.assert_allclose(left, right, atol=1e-8 * np.abs(left).max())
    np.testing.assert_allclose(a.T @ denominator @ a / len(y), np.eye(classes - 1), atol=1e-8)
    # and they are the largest: against SciPy, in coordinates in which the denominator is definite
    values, vectors = scipy.linalg.eigh(K)
    kept = vectors[:, values > 1e-12 * values[-1]]
    largest = scipy.linalg.eigvalsh(kept.T @ between @ kept, kept.T @ denominator @ kept)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, largest[: classes - 1], rtol=1e-6)


def test_solves_the_problem_on_explicit_features():
    """The norm penalty is the regularised discriminant of the features, here all products of degree 2."""
    X, y = blobs(3, 25)
    kernel = Polynomial(2, offset=1.0)
    root = np.sqrt(2)
    i, j = np.triu_indices(3, 1)
    F = np.column_stack([np.ones(len(X)), root * X, X**2, root * X[:, i] * X[:, j]])
    np.testing.assert_allclose(F @ F.T, kernel.block(X), rtol=1e-10)
    means = np.array([F[y == c].mean(axis=0) for c in range(3)])
    within = (F - means[y]).T @ (F - means[y]) + 0.7 * np.eye(10)
    between = 25 * (means - F.mean(axis=0)).T @ (means - F.mean(axis=0))
    values, vectors = scipy.linalg.eigh(between, within)
    model = KernelDiscriminant(kernel, alpha=0.7).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:2], rtol=1e-8)
    parallel(F.T @ model.dual_coef_, vectors[:, ::-1][:, :2], 1e-9)


def test_two_classes_are_the_formula_of_the_errata():
    X, y = blobs(2, 15)
    K = Gaussian(1.0).block(X)
    within, _ = scatter(K, y)
    a = np.linalg.solve(within + 0.2 * np.eye(30), K[:, y == 1].mean(axis=1) - K[:, y == 0].mean(axis=1))
    model = KernelDiscriminant(Gaussian(1.0), alpha=0.2, penalized="coefficients").fit(X, y)
    parallel(model.dual_coef_, a[:, None], 1e-9)
    assert model.dual_coef_[:, 0] @ a > 0  # classes_[1] is on the positive side
    assert model.means_[1, 0] > model.means_[0, 0]


def test_two_classes_are_ridge_regression_on_the_labels():
    X, y = blobs(2, 15)
    model = KernelDiscriminant(Gaussian(1.0), alpha=0.4).fit(X, y)
    ridge = KernelRidge(Gaussian(1.0), alpha=0.4, fit_intercept=True).fit(X, y)
    parallel(model.dual_coef_, ridge.dual_coef_[:, None], 1e-9)


def test_more_classes_span_ridge_regression_on_the_indicators():
    X, y = blobs(4, 10)
    model = KernelDiscriminant(Gaussian(1.0), alpha=0.4).fit(X, y)
    ridge = KernelRidge(Gaussian(1.0), alpha=0.4, fit_intercept=True).fit(X, np.eye(4)[y])
    both = np.hstack([model.dual_coef_, ridge.dual_coef_ * 10])
    assert np.linalg.matrix_rank(both, tol=1e-8 * np.linalg.norm(both)) == 3


# -- the linear kernel --------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("penalty", [0.0, 1e-13])
def test_linear_kernel_is_linear_discriminant_analysis(classes, penalty):
    X, y = blobs(classes, 15, d=5)
    ours = KernelDiscriminant(Linear(), alpha=penalty).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    k = classes - 1
    parallel(X.T @ ours.dual_coef_, theirs.scalings_[:, :k], 1e-12)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-10)
    Z = X[::3] + 0.5
    expected = theirs.transform(Z)[:, :k] - theirs.transform(X)[:, :k].mean(axis=0)
    scale = theirs.transform(X)[:, :k].std(axis=0) / ours.transform(X).std(axis=0)
    np.testing.assert_allclose(np.abs(ours.transform(Z) * scale), np.abs(expected), atol=1e-9)
    lsqr = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(Z), lsqr.predict_proba(Z), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(Z), lsqr.predict(Z))
    if classes == 2:
        np.testing.assert_allclose(ours.decision_function(Z), lsqr.decision_function(Z), rtol=1e-8)


def test_the_penalty_is_scikit_learns_shrinkage():
    X, y = blobs(3, 15, d=4)
    s, means = 0.3, np.array([X[y == c].mean(axis=0) for c in range(3)])
    variance = ((X - means[y]) ** 2).mean()
    ours = KernelDiscriminant(Linear(), alpha=len(y) * s * variance / (1 - s)).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen", shrinkage=s).fit(X, y)
    # their numerator is the shrunk total less the shrunk within scatter, which adds a multiple of I
    between = (means - means.mean(axis=0)).T @ (means - means.mean(axis=0))
    vectors = scipy.linalg.eigh(between, theirs.covariance_)[1]
    parallel(X.T @ ours.dual_coef_, vectors[:, ::-1][:, :2], 1e-10)
    lsqr = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s).fit(X, y)
    assert (ours.predict(X) == lsqr.predict(X)).all()


def test_priors_shift_the_decision_only():
    X, y = blobs(2, 20)
    plain = KernelDiscriminant(Gaussian(1.0)).fit(X, y)
    skewed = KernelDiscriminant(Gaussian(1.0), priors=[0.9, 0.1]).fit(X, y)
    np.testing.assert_array_equal(plain.dual_coef_, skewed.dual_coef_)
    np.testing.assert_allclose(
        skewed.decision_function(X) - plain.decision_function(X), np.log(0.1 / 0.9), rtol=1e-9
    )


# -- classification -----------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_decisions_and_predictions_agree(classes):
    X, y = blobs(classes, 15)
    labels = np.array(["ant", "bee", "cat"])[y]
    model = KernelDiscriminant(Gaussian(2.0), alpha=0.5).fit(X, labels)
    Z = np.random.default_rng(1).standard_normal((50, 3)) * 3
    P = model.predict_proba(Z)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(Z))
    np.testing.assert_allclose(model.predict_log_proba(Z), np.log(P), atol=1e-10)
    scores = model.decision_function(Z)
    if classes == 2:
        np.testing.assert_array_equal(scores > 0, model.predict(Z) == "bee")
        np.testing.assert_allclose(scores, np.log(P[:, 1] / P[:, 0]), atol=1e-8)
    else:
        np.testing.assert_array_equal(scores.argmax(axis=1), P.argmax(axis=1))
    # they are the normal densities of the discriminant coordinates
    T = model.transform(Z)
    density = np.exp(-((T[:, None, :] - model.means_) ** 2).sum(axis=2) / 2) * model.priors_
    np.testing.assert_allclose(P, density / density.sum(axis=1, keepdims=True), atol=1e-9)
    assert model.score(X, labels) > 0.7


def test_classes_that_no_line_separates():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    y = X[:, 0] * X[:, 1] > 0
    assert cross_val_score(KernelDiscriminant(Gaussian(0.5), alpha=0.1), X, y, cv=4).mean() > 0.9
    assert cross_val_score(KernelDiscriminant(Linear()), X, y, cv=4).mean() < 0.7


# -- projections --------------------------------------------------------------------------------
def test_transform_is_centred_and_named():
    X, y = blobs(3, 10)
    model = KernelDiscriminant(Gaussian(1.0)).fit(X, y)
    T = model.transform(X)
    assert T.shape == (30, 2)
    np.testing.assert_allclose(T.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(model.fit_transform(X, y), T, atol=1e-12)
    np.testing.assert_allclose([T[y == c].mean(axis=0) for c in range(3)], model.means_, atol=1e-10)
    assert model.get_feature_names_out().tolist() == ["kerneldiscriminant0", "kerneldiscriminant1"]
    one = KernelDiscriminant(Gaussian(1.0), n_components=1).fit(X, y)
    np.testing.assert_allclose(one.transform(X), T[:, :1], atol=1e-12)
    np.testing.assert_allclose(one.explained_variance_ratio_, model.explained_variance_ratio_[:1])


def test_signs_do_not_depend_on_the_order_of_the_rows():
    X, y = blobs(3, 10)
    order = np.random.default_rng(2).permutation(30)
    one = KernelDiscriminant(Gaussian(1.0)).fit(X, y)
    two = KernelDiscriminant(Gaussian(1.0)).fit(X[order], y[order])
    np.testing.assert_allclose(one.transform(X), two.transform(X), atol=1e-8)


# -- weights ------------------------------------------------------------------------------------
@pytest.mark.parametrize("penalized", ["function", "coefficients"])
def test_zero_weight_is_absence_and_integer_weight_is_repetition(penalized):
    X, y = blobs(3, 10)
    w = np.random.default_rng(3).integers(0, 4, 30).astype(float)
    index = np.repeat(np.arange(30), w.astype(int))
    machine = KernelDiscriminant(Gaussian("median"), alpha=0.3, penalized=penalized)
    weighted = machine.fit(X, y, sample_weight=w)
    values, P = weighted.transform(X), weighted.predict_proba(X)
    repeated = machine.fit(X[index], y[index])
    np.testing.assert_allclose(values, repeated.transform(X), atol=1e-7)
    np.testing.assert_allclose(P, repeated.predict_proba(X), atol=1e-7)


def test_a_class_without_weight_is_absent():
    X, y = blobs(3, 10)
    model = KernelDiscriminant(Gaussian(1.0)).fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    with pytest.raises(InputError, match="at least two classes"):
        KernelDiscriminant().fit(X, y, sample_weight=(y == 1).astype(float))


# -- any domain ---------------------------------------------------------------------------------
def test_precomputed_matrix():
    X, y = blobs(3, 12)
    k = Gaussian(1.3)
    direct = KernelDiscriminant(k).fit(X, y)
    given = KernelDiscriminant(Precomputed()).fit(k.block(X), y)
    np.testing.assert_allclose(
        given.transform(k.block(X[:5] + 1, X)), direct.transform(X[:5] + 1), atol=1e-10
    )
    a = cross_val_score(KernelDiscriminant(k), X, y, cv=3)
    b = cross_val_score(KernelDiscriminant(Precomputed()), k.block(X), y, cv=3)
    np.testing.assert_array_equal(a, b)


def test_strings_and_sets():
    @mercer.kernel(assume="PSD", reason="a count of shared letters is an inner product")
    def shared(x, y):
        return sum(x.count(c) * y.count(c) for c in set(x))

    words = ["aab", "aba", "aaa", "bbc", "cbb", "bbb"]
    model = KernelDiscriminant(shared, alpha=0.1).fit(words, [0, 0, 0, 1, 1, 1])
    assert model.predict(["aa", "bb"]).tolist() == [0, 1]
    sets = [{1, 2}, {1}, {1, 3}, {2, 3}, {3}, {2}]
    model = KernelDiscriminant(SetIntersection(), alpha=0.1).fit(sets, [1, 1, 1, 0, 0, 0])
    assert model.predict([{1, 5}, {2, 5}]).tolist() == [1, 0]


def test_sparse_and_single_precision():
    X, y = blobs(3, 12)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = KernelDiscriminant(Gaussian("scale")).fit(X, y).transform(X)
    sparse = KernelDiscriminant(Gaussian("scale")).fit(scipy.sparse.csr_array(X), y).transform(X)
    np.testing.assert_allclose(sparse, dense, atol=1e-8)
    single = KernelDiscriminant(Gaussian("scale")).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.transform(X.astype(np.float32)), dense, atol=1e-4)
    K = Gaussian(1.0).block(X).astype(np.float32)
    given = KernelDiscriminant(Precomputed()).fit(K, y)
    reference = KernelDiscriminant(Gaussian(1.0)).fit(X, y)
    np.testing.assert_allclose(given.transform(K), reference.transform(X), atol=1e-3)


# -- hard input ---------------------------------------------------------------------------------
def test_duplicates_and_a_singular_matrix():
    X, y = blobs(2, 10)
    once = KernelDiscriminant(Gaussian(1.0), alpha=0.5).fit(X, y).transform(X)
    twice = KernelDiscriminant(Gaussian(1.0), alpha=1.0).fit(np.vstack([X, X]), np.tile(y, 2))
    np.testing.assert_allclose(twice.transform(X), once, atol=1e-8)
    assert twice.solution_.stats["rank"] <= 20


def test_without_penalty_where_the_classes_collapse():
    X, y = blobs(2, 10)
    with pytest.raises(ParameterError, match=r"`alpha` must be larger.*constant in each class"):
        KernelDiscriminant(Gaussian(0.5), alpha=0.0).fit(X, y)
    tiny = KernelDiscriminant(Gaussian(0.5), alpha=1e-8).fit(X, y)
    assert tiny.solution_.converged
    assert (tiny.predict(X) == y).all()
    heavy = KernelDiscriminant(Gaussian(0.5), alpha=1e12).fit(X, y)  # the difference of the means
    K = Gaussian(0.5).block(X)
    means = K[:, y == 1].mean(axis=1) - K[:, y == 0].mean(axis=1)
    parallel(heavy.transform(X), (means - means.mean())[:, None], 1e-9)


def test_more_components_than_there_are():
    X, y = blobs(4, 8, d=2)
    with pytest.raises(
        ParameterError, match=r"`n_components` must be at most 2. Got 3: the class means span"
    ):
        KernelDiscriminant(Linear(), n_components=3).fit(X, y)
    assert KernelDiscriminant(Linear()).fit(X, y).transform(X).shape == (32, 2)
    assert KernelDiscriminant(Gaussian(1.0)).fit(X, y).transform(X).shape == (32, 3)


@pytest.mark.parametrize("scale", [1e-160, 1e-100, 1e100, 1e150])
def test_small_and_large_numbers(scale):
    X, y = blobs(3, 10)
    model = KernelDiscriminant(Linear(), alpha=0.0)
    if scale < 1e-150:  # the kernel values underflow
        with pytest.raises(InputError, match="must separate the classes"):
            model.fit(scale * X, y)
        return
    expected = model.fit(X, y).transform(X)
    np.testing.assert_allclose(model.fit(scale * X, y).transform(scale * X), expected, atol=1e-9)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian("scale"), Gaussian("median")])
@pytest.mark.parametrize("penalized", ["function", "coefficients"])
def test_classes_with_the_same_mean_are_said(kernel, penalized):
    with pytest.raises(InputError, match="must separate the classes"):
        KernelDiscriminant(kernel, penalized=penalized).fit(np.ones((6, 2)), [0, 1] * 3)
    with pytest.raises(InputError, match="must separate the classes"):
        KernelDiscriminant(kernel, penalized=penalized).fit(np.zeros((6, 2)), [0, 1] * 3)


def test_indefinite_kernels_are_told_refused_or_repaired():
    X, y = blobs(2, 15)
    bad = Sigmoid(1.0, -1.0)
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        KernelDiscriminant(bad, indefinite="error").fit(X, y)
    with (
        pytest.warns(IndefiniteKernelWarning, match="least eigenvalue"),
        pytest.raises(DefinitenessError, match="not positive definite on these data"),
    ):
        KernelDiscriminant(bad).fit(X, y)
    with pytest.warns(IndefiniteKernelWarning):  # S_w is positive semidefinite whatever the kernel
        model = KernelDiscriminant(bad, penalized="coefficients").fit(X, y)
    assert np.isfinite(model.transform(X)).all()
    for repair in ("clip", "flip"):
        model = KernelDiscriminant(bad, indefinite=repair).fit(X, y)
        np.testing.assert_allclose(
            model.transform(X), model.gram_.dense() @ model.dual_coef_ + model.intercept_, atol=1e-6
        )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1.0}, "`alpha` must be a finite number >= 0"),
        ({"alpha": np.inf}, "`alpha` must be"),
        ({"alpha": "x"}, "`alpha` must be"),
        ({"penalized": "norm"}, "`penalized` must be 'function' or 'coefficients'"),
        ({"n_components": 0}, "`n_components` must be an integer >= 1"),
        ({"n_components": 1.5}, "`n_components` must be"),
        ({"n_components": 5}, "`n_components` must be at most 1"),
        ({"priors": [0.5, 0.6]}, "`priors` must be 2 positive numbers"),
        ({"priors": [1.0]}, "`priors` must be 2 positive numbers"),
        ({"priors": [0.0, 1.0]}, "`priors` must be 2 positive numbers"),
        ({"kernel": "gauss"}, "`kernel` must be a mercer Kernel"),
        ({"indefinite": "ignore"}, "`indefinite` must be one of"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelDiscriminant(**parameters).fit(*blobs(2, 5))


def test_bad_data_are_named():
    X, y = blobs(2, 5)
    with pytest.raises(InputError, match="at least two classes"):
        KernelDiscriminant().fit(X, np.ones(10))
    with pytest.raises(InputError, match="at least two classes"):
        KernelDiscriminant().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="continuous"):
        KernelDiscriminant().fit(X, np.linspace(0, 1, 10))
    with pytest.raises(InputError, match="`y` must hold labels of one kind"):
        KernelDiscriminant().fit(X, np.array(["a", 1] * 5, dtype=object))
    with pytest.raises(InputError, match="sample_weight"):
        KernelDiscriminant().fit(X, y, sample_weight=np.zeros(10))
    with pytest.raises(InputError, match="one label per point"):
        KernelDiscriminant().fit(X, np.column_stack([y, y]))


def test_one_point_per_class():
    model = KernelDiscriminant(Gaussian(1.0), alpha=0.1).fit([[0.0], [5.0], [9.0]], ["a", "b", "c"])
    assert model.predict([[0.1], [5.1], [8.8]]).tolist() == ["a", "b", "c"]


def test_pickles():
    X, y = blobs(3, 8)
    model = KernelDiscriminant(Gaussian("median")).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))
