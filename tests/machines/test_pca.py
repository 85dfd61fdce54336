"""Kernel PCA against its definition, linear PCA, scikit-learn's twin and contract."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import DefinitenessError, DomainError, InputError, ParameterError
from mercer.kernels import (
    Gaussian,
    Linear,
    Polynomial,
    PowerDistance,
    Precomputed,
    SetIntersection,
    Sigmoid,
)
from mercer.machines import IndefiniteKernelWarning, KernelPCA

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


@parametrize_with_checks(
    [KernelPCA(), KernelPCA(Polynomial(2), n_components=1)],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 4)) * [3.0, 2.0, 1.0, 0.5]


def by_definition(K, K_new, w):
    """Coordinates of new points, by eigenvectors of the covariance in coordinates of the feature space."""
    values, U = np.linalg.eigh(K)
    kept = values > 1e-10 * values[-1]
    F = U[:, kept] * np.sqrt(values[kept])  # an exact feature map of the training points
    F_new = K_new @ U[:, kept] / np.sqrt(values[kept])
    mean = np.average(F, axis=0, weights=w)
    scatter = (F - mean).T * w @ (F - mean)
    variance, V = np.linalg.eigh(scatter)
    return variance[::-1], (F_new - mean) @ V[:, ::-1]


def test_weighted_components_are_those_of_the_covariance(X):
    rng = np.random.default_rng(1)
    w, Z = rng.uniform(0.3, 3, 60), rng.standard_normal((7, 4))
    kernel = Gaussian(2.0)
    variance, coordinates = by_definition(kernel.block(X), kernel.block(Z, X), w)
    model = KernelPCA(kernel, n_components=5).fit(X, sample_weight=w)
    np.testing.assert_allclose(model.eigenvalues_, variance[:5], rtol=1e-9)
    np.testing.assert_allclose(np.abs(model.transform(Z)), np.abs(coordinates[:, :5]), atol=1e-7)
    np.testing.assert_allclose(model.explained_variance_ratio_, variance[:5] / variance.sum(), rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_, variance[:5] / (w.sum() - 1), rtol=1e-9)
    expected = (coordinates[:, :5] ** 2 / (variance[:5] / (w.sum() - 1))).sum(axis=1)
    np.testing.assert_allclose(model.mahalanobis(Z), expected, rtol=1e-6)
    p = w / w.sum()
    squares = 1 - 2 * kernel.block(Z, X) @ p + p @ kernel.block(X) @ p
    expected = (coordinates[:, :5] ** 2).sum(axis=1) - squares
    np.testing.assert_allclose(model.score_samples(Z), expected, atol=1e-8)
    np.testing.assert_allclose(model.unexplained_ratio(Z), -expected / squares, atol=1e-8)


def test_linear_kernel_is_linear_pca(X):
    shifted = X + 5.0
    ours = KernelPCA(Linear(), n_components=3).fit(shifted)
    theirs = sklearn.decomposition.PCA(3, svd_solver="full").fit(shifted)
    sign = np.sign((ours.transform(shifted) * theirs.transform(shifted)).sum(axis=0))
    Z = np.random.default_rng(2).standard_normal((5, 4))
    np.testing.assert_allclose(ours.transform(Z) * sign, theirs.transform(Z), atol=1e-11)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-11)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-11)
    back = theirs.inverse_transform(theirs.transform(Z))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(Z)), back, atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(Z), -((Z - back) ** 2).sum(axis=1), atol=1e-9)
    share = ((Z - back) ** 2).sum(axis=1) / ((Z - theirs.mean_) ** 2).sum(axis=1)
    np.testing.assert_allclose(ours.unexplained_ratio(Z), share, atol=1e-9)


def test_equals_scikit_learn(X):
    ours = KernelPCA(Gaussian.from_gamma(0.1), n_components=6).fit(X)
    theirs = sklearn.decomposition.KernelPCA(6, kernel="rbf", gamma=0.1).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    A, B = ours.transform(X[:9] + 0.3), theirs.transform(X[:9] + 0.3)
    np.testing.assert_allclose(np.abs(A), np.abs(B), atol=1e-9)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "randomized"])
@pytest.mark.parametrize("storage", ["held", "lazy"])
def test_solvers_agree(solver, storage, monkeypatch):
    X = np.random.default_rng(0).uniform(size=(450, 2))
    exact = KernelPCA(Gaussian(0.5), n_components=4, solver="dense").fit(X)
    if storage == "lazy":
        monkeypatch.setattr("mercer.memory.HELD_BYTES", 0)
    model = KernelPCA(Gaussian(0.5), n_components=4, solver=solver).fit(X)
    assert model.solution_.stats["solver"] == solver
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-8)
    atol = 1e-3 if solver == "randomized" else 1e-8
    np.testing.assert_allclose(model.transform(X[:50]), exact.transform(X[:50]), atol=atol)


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Linear(), Polynomial(3)], ids=repr)
def test_fit_transform_is_transform(X, kernel):
    for n_components in (None, 3):
        model = KernelPCA(kernel, n_components=n_components)
        Z = model.fit_transform(X)
        scale = np.sqrt(model.eigenvalues_[0])
        np.testing.assert_allclose(Z, model.transform(X), atol=1e-7 * scale)
        np.testing.assert_allclose(Z.sum(axis=0), 0, atol=1e-6 * scale)
        np.testing.assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-7 * scale**2)


def test_equal_points_have_no_components_and_no_nan():
    X = np.tile([[1.0, 1e3, -7.0]], (20, 1))
    for kernel in (Gaussian("median"), Linear(), Polynomial(2)):
        model = KernelPCA(kernel, n_components=2)
        with pytest.warns(UserWarning, match=r"`n_components` is 2, but the 20 points span only 0 direction"):
            Z = model.fit_transform(X)
        assert Z.shape == model.transform(X).shape == (20, 0)
        assert model.n_components_ == 0
        rounding = 4 * np.finfo(float).eps * model.kernel_(X[0], X[0])  # a difference of values up to 1e12
        np.testing.assert_allclose(model.score_samples(X), 0, atol=max(1e-6, rounding))
        np.testing.assert_array_equal(model.unexplained_ratio(X), 0)
        np.testing.assert_array_equal(model.mahalanobis(X), 0)


def test_more_components_than_directions(X):
    with pytest.warns(UserWarning, match="span only 4 direction"):
        model = KernelPCA(Linear(), n_components=5).fit(X)
    assert model.n_components_ == 4
    assert list(model.get_feature_names_out()) == [f"kernelpca{i}" for i in range(4)]
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0, abs=1e-12)
    assert KernelPCA(Linear()).fit(X).n_components_ == 4
    with pytest.warns(UserWarning, match="span only 2 direction"):
        assert (
            KernelPCA(Gaussian(1.0), n_components=99).fit([[0.0], [1.0], [2.0], [2.0]][:3]).n_components_ == 2
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_point(dtype):
    model = KernelPCA(Gaussian(1.0)).fit(np.ones((1, 2), dtype=dtype))
    assert model.transform(np.zeros((3, 2), dtype=dtype)).shape == (3, 0)
    assert np.isfinite(model.score_samples(np.zeros((3, 2), dtype=dtype))).all()


def test_signs_and_bits_repeat(X):
    first = KernelPCA(Gaussian(2.0), n_components=5).fit_transform(X)
    lead = np.argmax(np.abs(first), axis=0)
    assert (first[lead, range(5)] > 0).all()
    for _ in range(20):
        np.testing.assert_array_equal(KernelPCA(Gaussian(2.0), n_components=5).fit_transform(X), first)


def test_zero_weight_is_absence_and_integer_weight_is_repetition(X):
    w = np.random.default_rng(2).integers(0, 3, 60).astype(float)
    index = np.repeat(np.arange(60), w.astype(int))
    for kernel in (Gaussian("median"), Gaussian("scale"), Linear()):
        weighted, repeated = (
            KernelPCA(kernel, n_components=3),
            KernelPCA(kernel, n_components=3).fit(X[index]),
        )
        Z = weighted.fit_transform(X, sample_weight=w)
        np.testing.assert_allclose(Z, repeated.transform(X), atol=1e-7)
        np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-9)
        np.testing.assert_allclose(weighted.score_samples(X), repeated.score_samples(X), atol=1e-8)


def test_weights_that_are_shares_keep_the_variance_finite(X):
    model = KernelPCA(Linear(), n_components=2).fit(X, sample_weight=np.full(60, 1 / 60))
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(
        model.explained_variance_, np.linalg.eigvalsh(centred.T @ centred / 60)[::-1][:2], rtol=1e-10
    )


def test_novelty_scores_find_the_outlier():
    t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    X = np.c_[np.cos(t), np.sin(t)]
    model = KernelPCA(Gaussian(0.5), n_components=8).fit(X)
    normal, odd = model.score_samples(X), model.score_samples([[0.0, 0.0], [3.0, 3.0]])
    assert odd.max() < normal.min() - 0.1
    assert normal.max() <= 0
    # in this space all of its points are far from the mean: the other score sees only what is within
    linear = KernelPCA(Linear(), n_components=1).fit(np.c_[np.linspace(-1, 1, 50), np.zeros(50)])
    assert linear.mahalanobis([[10.0, 0.0]])[0] > 9 * linear.mahalanobis([[1.0, 0.0]])[0]
    np.testing.assert_allclose(linear.score_samples([[10.0, 0.0], [0.0, 2.0]]), [0.0, -4.0], atol=1e-12)
    # the ratio does not depend on how far a point is, and is 0 at the mean
    points = [[10.0, 0.0], [0.0, 2.0], [3.0, 4.0], [30.0, 40.0], [0.0, 0.0]]
    np.testing.assert_allclose(linear.unexplained_ratio(points), [0, 1, 0.64, 0.64, 0], atol=1e-12)


# -- pre-images -----------------------------------------------------------------------------------
def test_fixed_point_preimages_denoise_a_circle():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 2 * np.pi, 150)
    clean = np.c_[np.cos(t), np.sin(t)]
    noisy = clean + 0.1 * rng.standard_normal(clean.shape)
    model = KernelPCA(Gaussian(0.5), n_components=6).fit(noisy)
    Z = model.inverse_transform(model.transform(noisy))
    assert np.std(np.linalg.norm(Z, axis=1)) < 0.5 * np.std(np.linalg.norm(noisy, axis=1))
    # stationary: no nearby point is nearer to the projection
    gamma = model.transform(noisy) @ model.dual_coef_.T + 1 / 150
    for step in 1e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1.0]]):
        here, there = (Gaussian(0.5).block(P, noisy) * gamma for P in (Z, Z + step))
        assert (there.sum(axis=1) <= here.sum(axis=1) + 1e-9).all()


def test_preimages_with_all_components_are_the_points(X):
    model = KernelPCA(Gaussian([2.0, 2.0, 1.0, 1.0])).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-4)
    learned = KernelPCA(Polynomial(2), preimage="auto", alpha=1e-6).fit(X)
    np.testing.assert_allclose(learned.inverse_transform(learned.transform(X)), X, atol=1e-2)


def test_preimages_of_far_coordinates_stay_finite(X):
    model = KernelPCA(Gaussian(1.0), n_components=3).fit(X)
    assert np.isfinite(model.inverse_transform([[1e3, -1e3, 0.0], [0.0, 0.0, 0.0]])).all()


def test_preimages_that_cannot_be(X):
    model = KernelPCA(SetIntersection(), n_components=1).fit([{"a"}, {"a", "b"}, {"c"}])
    with pytest.raises(DomainError, match="no pre-images"):
        model.inverse_transform([[0.1]])
    with pytest.raises(DomainError, match="no pre-images"):
        KernelPCA(Precomputed(), n_components=1).fit(X @ X.T).inverse_transform([[0.1]])
    with pytest.raises(ParameterError, match="'fixed-point' for Gaussian"):
        KernelPCA(Linear(), n_components=1, preimage="fixed-point").fit(X).inverse_transform([[0.1]])
    with pytest.raises(InputError, match=r"coordinates of shape \(n, 1\)"):
        KernelPCA(Linear(), n_components=1).fit(X).inverse_transform([[0.1, 0.2]])


# -- kernels and data -----------------------------------------------------------------------------
def test_any_objects():
    words = [{"a", "b"}, {"a"}, {"b", "c"}, {"c"}, {"a", "c"}, set(), {"b"}]
    incidence = np.array([[c in x for c in "abc"] for x in words], dtype=float)
    ours = KernelPCA(SetIntersection(), n_components=3).fit(words)
    linear = sklearn.decomposition.PCA(3).fit(incidence)
    np.testing.assert_allclose(ours.explained_variance_, linear.explained_variance_, rtol=1e-10)
    # its own letter is all that the components do not have
    np.testing.assert_allclose(ours.score_samples([{"a", "d"}]), [-1.0], atol=1e-9)


def test_precomputed_sparse_and_single_precision(X):
    kernel = Gaussian(2.0)
    direct = KernelPCA(kernel, n_components=3).fit(X)
    K = kernel.block(X)
    given = KernelPCA(Precomputed(), n_components=3).fit(K)
    np.testing.assert_allclose(given.transform(K[:5]), direct.transform(X[:5]), atol=1e-10)
    with pytest.raises(InputError, match="values with themselves"):
        given.score_samples(K[:5])
    thin = np.where(np.abs(X) > 1, X, 0.0)
    dense = KernelPCA(kernel, n_components=3).fit(thin)
    sparse = KernelPCA(kernel, n_components=3).fit(scipy.sparse.csr_array(thin))
    np.testing.assert_allclose(
        sparse.transform(scipy.sparse.coo_array(thin)), dense.transform(thin), atol=1e-9
    )
    T = dense.transform(thin[:4])
    np.testing.assert_allclose(sparse.inverse_transform(T), dense.inverse_transform(T), atol=1e-6)
    single = KernelPCA(kernel, n_components=3).fit(X.astype(np.float32))
    np.testing.assert_allclose(single.eigenvalues_, direct.eigenvalues_, rtol=1e-5)


def test_conditionally_positive_definite_kernels_are_welcome(X):
    """Minus half the squared distance is, after centring, the linear kernel: classical scaling."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(-0.5 * PowerDistance(2.0), n_components=3).fit(X)
    linear = KernelPCA(Linear(), n_components=3).fit(X)
    np.testing.assert_allclose(model.transform(X), linear.transform(X), atol=1e-9)


def test_indefinite_kernels_are_told_refused_or_repaired(X):
    bad = Sigmoid(1.0, -1.0)
    with pytest.warns(IndefiniteKernelWarning, match="least eigenvalue"):
        model = KernelPCA(bad).fit(X)
    assert (model.eigenvalues_ > 0).all()
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        KernelPCA(bad, indefinite="error").fit(X)
    for repair in ("clip", "flip"):
        model = KernelPCA(bad, n_components=4, indefinite=repair)
        np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-6)
        assert np.isfinite(model.score_samples(X + 1)).all()
    assert np.isfinite(KernelPCA(bad, n_components=4, indefinite="shift").fit(X).transform(X)).all()


def test_rounding_below_zero_is_not_indefiniteness():
    X = np.random.default_rng(0).standard_normal((80, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(Precomputed()).fit(X @ X.T)
    assert model.n_components_ == 2


def test_an_iteration_that_does_not_converge_says_so():
    X = np.random.default_rng(0).standard_normal((450, 10))
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = KernelPCA(Gaussian(3.0), n_components=5, solver="lanczos", max_iter=1).fit(X)
    assert not model.solution_.converged
    assert np.isfinite(model.transform(X[:3])).all()


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (KernelPCA(n_components=0), "`n_components` must be"),
        (KernelPCA(n_components=1.5), "`n_components` must be"),
        (KernelPCA(solver="arpack"), "`solver` must be one of"),
        (KernelPCA(tol=0), "`tol` must be"),
        (KernelPCA(max_iter=0), "`max_iter` must be"),
        (KernelPCA(preimage="mds"), "`preimage` must be one of"),
        (KernelPCA(alpha=0), "`alpha` must be"),
        (KernelPCA(indefinite="ignore"), "`indefinite` must be one of"),
        (KernelPCA("gauss"), "`kernel` must be a mercer Kernel"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_parameters_are_named(X, machine, message):
    with pytest.raises(ParameterError, match=message):
        machine.fit(X)


def test_bad_data_are_named(X):
    with pytest.raises(InputError, match="sample_weight"):
        KernelPCA().fit(X, sample_weight=np.zeros(60))
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(InputError, match="row 3, column 1"):
        KernelPCA().fit(bad)


def test_pickles(X):
    model = KernelPCA(Gaussian("median"), n_components=3).fit(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
