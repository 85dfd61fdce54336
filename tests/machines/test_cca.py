"""Kernel CCA against its definition, linear CCA and scikit-learn's contract."""

import pickle

import numpy as np
import pytest
import scipy.linalg
from sklearn.cross_decomposition import CCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed, SetIntersection, Sigmoid
from mercer.machines import IndefiniteKernelWarning, KernelCCA

#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.  There are none.
EXPECTED_FAILED_CHECKS: dict[str, str] = {}


@parametrize_with_checks(
    [KernelCCA(n_components=1), KernelCCA(n_components=1, penalty="square")],
    expected_failed_checks=lambda _: EXPECTED_FAILED_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def centred(K, p):
    H = np.eye(len(K)) - np.outer(np.ones(len(K)), p)
    return H @ K @ H.T


def by_definition(grams, penalties, p):
    """Eigenvalues of the generalised problem in dual coefficients, on the range of each Gram matrix."""
    roots = []
    for K in grams:
        values, U = np.linalg.eigh(centred(K, p))
        kept = values > 1e-11 * values[-1]
        roots.append(U[:, kept] * np.sqrt(values[kept]))
    F = np.hstack(roots)
    C = F.T * p @ F
    B = scipy.linalg.block_diag(
        *(R.T * p @ R + lam * np.eye(R.shape[1]) for R, lam in zip(roots, penalties, strict=True))
    )
    own = scipy.linalg.block_diag(*(R.T * p @ R for R in roots))
    return scipy.linalg.eigh(C - own, B, eigvals_only=True)[::-1] / (len(grams) - 1)


@pytest.fixture
def views():
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, 80)
    noise = rng.standard_normal((80, 3))
    return (
        np.c_[t, noise[:, 0]],
        np.c_[t**2 + 0.1 * noise[:, 1], noise[:, 2]],
        np.c_[np.sin(3 * t)],
    )


@pytest.mark.parametrize("penalty", [1e-3, 0.05, 2.0])
def test_two_views_are_the_generalised_eigenproblem(views, penalty):
    X, Y, _ = views
    kernels = Gaussian(0.8), Gaussian(0.6)
    expected = by_definition(
        [k.block(V) for k, V in zip(kernels, (X, Y), strict=True)], [penalty] * 2, np.full(80, 1 / 80)
    )
    model = KernelCCA(kernels[0], kernel_y=kernels[1], n_components=4, alpha=penalty, tol=0).fit(X, Y)
    np.testing.assert_allclose(model.canonical_correlations_, expected[:4], rtol=1e-7)
    S, T = model.transform(X, Y)
    for j in range(4):
        assert model.correlations_[j] == pytest.approx(np.corrcoef(S[:, j], T[:, j])[0, 1], abs=1e-8)
    np.testing.assert_allclose(S.mean(axis=0), 0, atol=1e-8)
    assert (S[np.argmax(np.abs(S), axis=0), range(4)] > 0).all()
    assert (model.correlations_ > 0).all()


@pytest.mark.parametrize("alpha", [1e-3, 0.05, 2.0])
def test_the_square_is_the_generalised_eigenproblem_of_gram_matrices(views, alpha):
    """[0, KL; LK, 0] against the blocks (K + n alpha / 2)^2 and (L + n alpha / 2)^2, of centred matrices."""
    X, Y, _ = views
    kernels, p, zero = (Gaussian(0.8), Gaussian(0.6)), np.full(80, 1 / 80), np.zeros((80, 80))
    K, L = (centred(k.block(V), p) for k, V in zip(kernels, (X, Y), strict=True))
    shift = 80 * alpha / 2 * np.eye(80)
    left = np.block([[zero, K @ L], [L @ K, zero]])
    right = scipy.linalg.block_diag((K + shift) @ (K + shift), (L + shift) @ (L + shift))
    values, vectors = scipy.linalg.eigh(left, right)
    model = KernelCCA(kernels[0], kernel_y=kernels[1], n_components=3, alpha=alpha, penalty="square", tol=0)
    S, T = model.fit(X, Y).transform(X, Y)
    np.testing.assert_allclose(model.canonical_correlations_, values[::-1][:3], rtol=1e-6)
    for j in range(3):
        a, b = vectors[:80, -1 - j], vectors[80:, -1 - j]
        assert abs(np.corrcoef(S[:, j], K @ a)[0, 1]) == pytest.approx(1, abs=1e-6)
        assert abs(np.corrcoef(T[:, j], L @ b)[0, 1]) == pytest.approx(1, abs=1e-6)
    smaller = KernelCCA(kernels[0], kernel_y=kernels[1], n_components=3, alpha=alpha, tol=0).fit(X, Y)
    assert (model.canonical_correlations_ < smaller.canonical_correlations_).all()  # of the larger penalty


def test_the_square_counts_weights_as_repetitions(views):
    X, Y, _ = views
    counts = np.random.default_rng(0).integers(0, 3, 80)
    machine = KernelCCA(Gaussian(0.8), penalty="square", n_components=1)
    weighted = machine.fit(X, Y, sample_weight=counts.astype(float)).canonical_correlations_
    repeated = machine.fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0)).canonical_correlations_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6)


def test_penalties_have_names(views):
    with pytest.raises(ParameterError, match="`penalty` must be 'norm' or 'square'"):
        KernelCCA(penalty="l2").fit(*views[:2])


def test_nothing_beats_the_first_pair(views):
    """The functions found have the value claimed, and random changes of them have a lower one."""
    X, Y, _ = views
    lam, p = 0.05, np.full(80, 1 / 80)
    kernels = Gaussian(0.8), Gaussian(0.6)
    model = KernelCCA(kernels[0], kernel_y=kernels[1], n_components=1, alpha=lam, tol=0).fit(X, Y)
    K, L = (centred(k.block(V), p) for k, V in zip(kernels, (X, Y), strict=True))

    def value(a, b):
        cov = (K @ a) @ (L @ b) / 80
        return cov / np.sqrt(
            ((K @ a) @ (K @ a) / 80 + lam * a @ K @ a) * ((L @ b) @ (L @ b) / 80 + lam * b @ L @ b)
        )

    f, g = (S[:, 0] for S in model.transform(X, Y))
    a, b = np.linalg.lstsq(K, f, rcond=1e-10)[0], np.linalg.lstsq(L, g, rcond=1e-10)[0]
    best = model.canonical_correlations_[0]
    assert value(a, b) == pytest.approx(best, rel=1e-5)
    rng = np.random.default_rng(1)
    for _ in range(50):
        da, db = rng.standard_normal((2, 80))
        assert (
            value(a + 0.1 * np.linalg.norm(a) * da / 9, b + 0.1 * np.linalg.norm(b) * db / 9) <= best + 1e-9
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_three_views_are_the_generalised_eigenproblem(views, weighted):
    w = np.random.default_rng(1).uniform(0.2, 2, 80) if weighted else None
    p = np.full(80, 1 / 80) if w is None else w / w.sum()
    kernels, penalties = [Gaussian(0.8), Gaussian(0.6), Polynomial(3)], [0.01, 0.1, 0.5]
    expected = by_definition([k.block(V) for k, V in zip(kernels, views, strict=True)], penalties, p)
    model = KernelCCA(kernels, n_components=3, alpha=penalties, tol=0).fit(list(views), sample_weight=w)
    np.testing.assert_allclose(model.canonical_correlations_, expected[:3], rtol=1e-7)
    projections = model.transform(list(views))
    assert [S.shape for S in projections] == [(80, 3)] * 3
    assert model.score(list(views), sample_weight=w) == pytest.approx(model.correlations_.mean(), abs=1e-7)


def test_linear_kernels_without_penalty_are_linear_cca():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((200, 2))
    X = np.c_[Z, rng.standard_normal((200, 2))] @ rng.standard_normal((4, 4)) + 3.0
    Y = np.c_[Z + 0.5 * rng.standard_normal((200, 2)), rng.standard_normal(200)] @ rng.standard_normal((3, 3))
    theirs = CCA(2, max_iter=5000, tol=1e-12).fit(X, Y)
    scores = theirs.transform(X, Y)
    for penalty in (0.0, 1e-10):
        ours = KernelCCA(Linear(), kernel_y=Linear(), alpha=penalty).fit(X, Y)
        S, T = ours.transform(X, Y)
        for j in range(2):
            r = np.corrcoef(scores[0][:, j], scores[1][:, j])[0, 1]
            assert ours.correlations_[j] == pytest.approx(r, abs=1e-7)
            assert ours.canonical_correlations_[j] == pytest.approx(r, abs=1e-6)
            assert abs(np.corrcoef(S[:, j], scores[0][:, j])[0, 1]) == pytest.approx(1, abs=1e-6)
            assert abs(np.corrcoef(T[:, j], scores[1][:, j])[0, 1]) == pytest.approx(1, abs=1e-6)


def test_centring_matters():
    """On independent data the uncentred problem of the notes reports a correlation near one."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((2, 400, 1))
    kernel, lam = Gaussian(1.0), 0.1
    K, L = kernel.block(X), kernel.block(Y)
    R, S = (M @ np.linalg.inv(M + 400 * lam * np.eye(400)) for M in (K, L))
    uncentred = np.sqrt(np.linalg.eigvals(R @ S).real.max())
    ours = KernelCCA(kernel, kernel_y=kernel, n_components=1, alpha=lam).fit(X, Y).canonical_correlations_[0]
    assert uncentred > 0.8
    assert ours < 0.15


def test_held_out_pairs(views):
    X, Y, _ = views
    model = KernelCCA(Gaussian(0.8), kernel_y=Gaussian(0.6), n_components=1).fit(X[:60], Y[:60])
    S, T = model.transform(X[60:], Y[60:])
    assert model.score(X[60:], Y[60:]) == pytest.approx(np.corrcoef(S[:, 0], T[:, 0])[0, 1], abs=1e-12)
    np.testing.assert_array_equal(model.transform(X[60:]), S)
    assert list(model.get_feature_names_out()) == ["kernelcca0"]
    search = GridSearchCV(
        KernelCCA(Gaussian(0.8), kernel_y=Gaussian(0.6), n_components=1),
        {"alpha": [1e-4, 1e-2], "kernel_x__sigma": [0.5]},
        cv=2,
    ).fit(X, Y)
    assert search.best_score_ > 0.5


def test_zero_weight_is_absence_and_integer_weight_is_repetition(views):
    X, Y, _ = views
    w = np.random.default_rng(2).integers(0, 3, 80).astype(float)
    index = np.repeat(np.arange(80), w.astype(int))
    weighted = KernelCCA(Gaussian("median"), kernel_y=Gaussian("scale"), tol=0).fit(X, Y, sample_weight=w)
    repeated = KernelCCA(Gaussian("median"), kernel_y=Gaussian("scale"), tol=0).fit(X[index], Y[index])
    np.testing.assert_allclose(weighted.canonical_correlations_, repeated.canonical_correlations_, rtol=1e-7)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-5)


def test_incomplete_factors_are_near_the_complete_ones(views):
    X, Y, _ = views
    exact = KernelCCA(Gaussian(1.0), kernel_y=Gaussian(1.0), tol=0).fit(X, Y)
    thin = KernelCCA(Gaussian(1.0), kernel_y=Gaussian(1.0), tol=1e-4).fit(X, Y)
    few = KernelCCA(Gaussian(1.0), kernel_y=Gaussian(1.0), max_rank=12).fit(X, Y)
    assert max(few.ranks_) == 12
    assert max(thin.ranks_) < min(exact.ranks_)
    assert max(thin.residuals_) <= 1e-4 < min(few.residuals_)
    np.testing.assert_allclose(thin.canonical_correlations_, exact.canonical_correlations_, atol=5e-3)
    np.testing.assert_allclose(few.canonical_correlations_, exact.canonical_correlations_, atol=0.1)


def test_bits_repeat(views):
    X, Y, _ = views
    first = KernelCCA(Gaussian(1.0)).fit(X, Y).transform(X)
    for _ in range(5):
        np.testing.assert_array_equal(KernelCCA(Gaussian(1.0)).fit(X, Y).transform(X), first)


# -- independence ---------------------------------------------------------------------------------
def test_dependence_without_correlation_is_found():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 2 * np.pi, 60)
    X, Y = np.cos(t)[:, None], np.sin(t)[:, None]
    result = KernelCCA(Gaussian("median")).independence_test(X, Y, n_permutations=39, random_state=0)
    assert abs(np.corrcoef(X[:, 0], Y[:, 0])[0, 1]) < 0.3
    assert result.p_value == 1 / 40
    assert result.statistic > result.null.max()
    fitted = KernelCCA(Gaussian("median")).fit(X, Y)
    assert result.statistic == pytest.approx(fitted.canonical_correlations_[0], abs=1e-9)


def test_level_on_independent_samples():
    rng = np.random.default_rng(1)
    machine = KernelCCA(Gaussian("median"), tol=1e-4)
    p = [
        machine.independence_test(*rng.standard_normal((2, 25, 1)), n_permutations=19, random_state=i).p_value
        for i in range(40)
    ]
    assert min(p) >= 1 / 20
    assert np.mean(np.array(p) <= 0.2) < 0.2 + 4 * np.sqrt(0.2 * 0.8 / 40)
    assert 0.35 < np.mean(p) < 0.7


def test_null_values_are_those_of_shuffled_pairs(views):
    X, Y, _ = views
    machine = KernelCCA(Gaussian(0.8), kernel_y=Gaussian(0.6), n_components=1, tol=0)
    result = machine.independence_test(X, Y, n_permutations=3, random_state=7)
    random = np.random.RandomState(7)
    for value in result.null:
        refitted = machine.fit(X, Y[random.permutation(80)])
        assert value == pytest.approx(refitted.canonical_correlations_[0], rel=1e-8)
    again = machine.independence_test(X, Y, n_permutations=3, random_state=7)
    np.testing.assert_array_equal(again.null, result.null)


def test_constant_samples_are_independent():
    result = KernelCCA(Gaussian(1.0)).independence_test(
        np.ones((9, 1)), np.arange(9.0), n_permutations=9, random_state=0
    )
    assert result.p_value == 1.0
    assert result.statistic == 0.0


# -- kernels and data -----------------------------------------------------------------------------
def test_any_objects():
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 4, 50)
    X = [{"abcd"[i]} for i in numbers]
    Y = np.c_[numbers == 0, rng.standard_normal(50)].astype(float)
    model = KernelCCA(SetIntersection(), kernel_y=Linear(), n_components=1, alpha=1e-6).fit(X, Y)
    assert model.correlations_[0] > 0.99
    assert model.transform([{"a"}, {"z"}]).shape == (2, 1)


def test_precomputed_matrices(views):
    X, Y, _ = views
    kernels = Gaussian(0.8), Gaussian(0.6)
    K, L = (k.block(V) for k, V in zip(kernels, (X, Y), strict=True))
    direct = KernelCCA(kernels[0], kernel_y=kernels[1]).fit(X, Y)
    given = KernelCCA(Precomputed(), kernel_y=Precomputed()).fit(K, L)
    np.testing.assert_allclose(given.canonical_correlations_, direct.canonical_correlations_, rtol=1e-8)
    np.testing.assert_allclose(given.transform(K[:5]), direct.transform(X[:5]), atol=1e-7)


def test_indefinite_kernels_are_told_refused_or_repaired(views):
    X, Y, _ = views
    bad = Sigmoid(1.0, -1.0)
    with pytest.warns(IndefiniteKernelWarning), pytest.raises(DefinitenessError, match="Repair it"):
        KernelCCA(bad).fit(X, Y)
    with pytest.raises(DefinitenessError, match="least eigenvalue"):
        KernelCCA(bad, indefinite="error").fit(X, Y)
    for repair in ("clip", "flip", "shift"):
        assert np.isfinite(KernelCCA(bad, indefinite=repair).fit(X, Y).transform(X)).all()


def test_views_that_fit_anything_need_a_penalty():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((2, 10, 10))
    for kernel in (Linear(), Gaussian(1.0)):
        with pytest.raises(ParameterError, match="Give alpha > 0"):
            KernelCCA(kernel, alpha=0).fit(X, Y)
    with pytest.raises(ParameterError, match=r"ranks \[5, 5\]"):  # together they have all dimensions
        KernelCCA(Linear(), alpha=0).fit(X[:, :5], Y[:, :5])
    model = KernelCCA(Linear(), alpha=0.1).fit(X, Y)
    assert np.isfinite(model.transform(X)).all()


def test_more_components_than_correlations():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 2)), rng.standard_normal((30, 4))
    with pytest.warns(UserWarning, match="only 2 positive correlations"):
        model = KernelCCA(Linear(), n_components=3).fit(X, Y)
    assert model.transform(X).shape == (30, 2)


def test_views_without_variance():
    with pytest.warns(UserWarning, match="only 0 positive correlations"):
        model = KernelCCA(Gaussian(1.0)).fit(np.ones((6, 2)), np.arange(6.0))
    assert model.transform(np.ones((2, 2))).shape == (2, 0)
    assert model.score(np.ones((6, 2)), np.arange(6.0)) == 0.0
    with pytest.warns(UserWarning, match="only 0 positive correlations"):
        KernelCCA(Linear(), alpha=0).fit(np.ones((1, 2)), np.ones(1))


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (KernelCCA(n_components=0), "`n_components` must be"),
        (KernelCCA(alpha=-1), "`alpha` must be"),
        (KernelCCA(alpha=np.inf), "`alpha` must be"),
        (KernelCCA(alpha=[0.1, 0.1, 0.1]), "`alpha` must be"),
        (KernelCCA(tol=-1), "`tol` must be"),
        (KernelCCA(max_rank=0), "`max_rank` must be"),
        (KernelCCA(indefinite="ignore"), "`indefinite` must be one of"),
        (KernelCCA("gauss"), "`kernel_x` must be a mercer Kernel"),
        (KernelCCA(Linear(), kernel_y="gauss"), "`kernel_y` must be a mercer Kernel"),
        (KernelCCA([Linear()]), "two or more kernels"),
        (KernelCCA([Linear(), Linear()], kernel_y=Linear()), "`kernel_y` must then be None"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_parameters_are_named(views, machine, message):
    with pytest.raises(ParameterError, match=message):
        machine.fit(*views[:2])


def test_bad_data_are_named(views):
    X, Y, Z = views
    with pytest.raises(InputError, match=r"same number of points.*\[80, 79\]"):
        KernelCCA().fit(X, Y[:-1])
    with pytest.raises(InputError, match=r"same number of points.*\[80, 79\]"):
        KernelCCA().fit(X, Y).score(X, Y[:-1])
    with pytest.raises(ValueError, match="requires y"):
        KernelCCA().fit(X)
    with pytest.raises(InputError, match="list of 3 views"):
        KernelCCA([Linear()] * 3).fit([X, Y])
    with pytest.raises(InputError, match="sample_weight"):
        KernelCCA().fit(X, Y, sample_weight=np.zeros(80))
    with pytest.raises(NotFittedError):
        KernelCCA().transform(X)
    with pytest.raises(ParameterError, match="two views"):
        KernelCCA([Linear()] * 3).independence_test(X, Y)
    with pytest.raises(ParameterError, match="n_permutations"):
        KernelCCA().independence_test(X, Y, n_permutations=0)
    bad = Z.copy()
    bad[2, 0] = np.inf
    with pytest.raises(InputError, match=r"y .*row 2"):
        KernelCCA().fit(X, bad)


def test_pickles(views):
    X, Y, _ = views
    model = KernelCCA(Gaussian("median")).fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), model.transform(X))
