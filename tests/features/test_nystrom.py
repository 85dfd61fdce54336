"""Landmark maps against Nystrom's formula with a pseudo-inverse."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.errors import DefinitenessError, DomainError, InputError, ParameterError
from mercer.features import IncompleteCholesky, Nystrom
from mercer.kernels import Constant, Gaussian, Linear, NGram, Precomputed

RULES = ["rpcholesky", "uniform", "kmeans++", "leverage"]
WORDS = ["banana", "bandana", "ananas", "banana", "", "cabana", "nab", "anna", "canna"]
OBJECT_CHECK = "the error of the domain names the row that is no number"


@parametrize_with_checks(
    [
        Nystrom(Gaussian(1.0), 3, random_state=0),
        IncompleteCholesky(Gaussian(1.0)),
    ],
    expected_failed_checks=lambda _: {"check_dtype_object": OBJECT_CHECK},
)
@pytest.mark.filterwarnings("ignore:.*n_components:UserWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def formula(K, index):
    """``K_nZ pinv(K_ZZ) K_Zn``."""
    return K[:, index] @ np.linalg.pinv(K[np.ix_(index, index)], hermitian=True) @ K[index]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("kernel", "points", "count"),
    [(Gaussian(1.0), np.random.default_rng(0).standard_normal((80, 2)), 20), (NGram(2), WORDS, 4)],
    ids=["vectors", "strings"],
)
def test_the_formula_and_the_error(rule, kernel, points, count):
    K = kernel.block(points)
    features = Nystrom(kernel, count, landmarks=rule, random_state=0).fit(points)
    F = features.transform(points)
    approximation = formula(K, features.landmark_indices_)
    np.testing.assert_allclose(F @ F.T, approximation, atol=1e-8)
    assert features.dim == F.shape[1] <= count
    assert features.trace_error_ == pytest.approx(np.trace(K - F @ F.T), abs=1e-9)
    assert features.relative_trace_error_ == pytest.approx(features.trace_error_ / np.trace(K))
    error = np.abs(K - F @ F.T).max()
    assert error <= features.error_bound() + 1e-12
    assert features.error_bound(points) == pytest.approx(features.error_bound(), abs=1e-9)
    np.testing.assert_allclose(features.fit_transform(points), F, atol=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_exact_when_all_points_are_landmarks(rule):
    K = NGram(2).block(WORDS)
    features = Nystrom(NGram(2), len(WORDS), landmarks=rule, random_state=0).fit(WORDS)
    F = features.transform(WORDS)
    np.testing.assert_allclose(F @ F.T, K, atol=1e-10)
    assert features.dim == np.linalg.matrix_rank(K) < len(WORDS)  # a repeated word and an empty one
    assert features.relative_trace_error_ < 1e-12


def test_error_bound_holds_for_new_points():
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((100, 3)), rng.standard_normal((50, 3))
    features = Nystrom(Gaussian(1.5), 30, random_state=0).fit(X)
    F = features.transform(new)
    error = np.abs(Gaussian(1.5).block(new) - F @ F.T)
    bounds = np.sqrt(np.outer(features.residual(new), features.residual(new)))
    assert (error <= bounds + 1e-12).all()
    assert error.max() <= features.error_bound(new) + 1e-12


def test_own_landmarks_repeated_and_dependent():
    X = np.random.default_rng(0).standard_normal((30, 4))
    own = np.vstack([X[:2], X[:2], X[0] + X[1]])
    features = Nystrom(Linear(), landmarks=own).fit(X)
    assert features.dim == 2
    assert features.landmark_indices_ is None
    F = features.transform(X)
    P = np.linalg.pinv(X[:2]) @ X[:2]  # the projection on their span
    np.testing.assert_allclose(F @ F.T, X @ P @ X.T, atol=1e-12)
    assert features.trace_error_ == pytest.approx(np.trace(X @ (np.eye(4) - P) @ X.T))
    own[:] = np.nan  # the map has its own copy
    np.testing.assert_array_equal(features.transform(X), F)
    words = Nystrom(NGram(2), landmarks=["banana", "nab"]).fit(WORDS)
    assert words.dim == 2


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans++", "leverage", "own"])
def test_the_errors_of_many_points_are_those_of_all(landmarks):
    X = np.random.default_rng(0).standard_normal((2500, 2))
    X[1234] = 50.0  # the only point far from all others: its error is 1 unless it is a landmark
    own = X[:20] if landmarks == "own" else landmarks
    features = Nystrom(Gaussian(1.0), 20, landmarks=own, random_state=0).fit(X)
    left = 1 - (features.transform(X) ** 2).sum(axis=1)
    assert features.trace_error_ == pytest.approx(left.sum(), rel=1e-9)
    assert features.error_bound() == pytest.approx(left.max(), rel=1e-9)
    if landmarks in ("own", "uniform"):
        assert features.error_bound() == pytest.approx(1.0)


@pytest.mark.parametrize("rule", RULES)
def test_the_same_seed_gives_the_same_bits(rule):
    X = np.random.default_rng(0).standard_normal((200, 3))
    first, second = (
        Nystrom(Gaussian(1.0), 20, landmarks=rule, random_state=3).fit_transform(X) for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_better_rules_on_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.1, (250, 2)), rng.normal(5, 1, (15, 2))])

    def error(rule):
        return np.mean(
            [Nystrom(Gaussian(0.5), 20, landmarks=rule, random_state=s).fit(X).trace_error_ for s in range(3)]
        )

    errors = {rule: error(rule) for rule in RULES}
    assert all(errors[rule] < 0.6 * errors["uniform"] for rule in RULES if rule != "uniform")


def test_precomputed_and_single_precision():
    X = np.random.default_rng(0).standard_normal((60, 3))
    K = Gaussian(1.0).block(X)
    expected = Nystrom(Gaussian(1.0), 15, random_state=0).fit_transform(X)
    given = Nystrom(Precomputed(), 15, random_state=0).fit(K)
    np.testing.assert_allclose(given.transform(K), expected, atol=1e-10)
    single = Nystrom(Gaussian(1.0), 15, random_state=0).fit(X.astype(np.float32))
    np.testing.assert_allclose(single.transform(X.astype(np.float32)), expected, atol=1e-4)


def test_a_constant_kernel_has_one_feature_and_a_zero_kernel_none():
    X = np.zeros((5, 1))
    for features in (Nystrom(Constant(2.0), 3, random_state=0), IncompleteCholesky(Constant(2.0))):
        assert features.fit(X).dim == 1
        np.testing.assert_allclose(features.transform(X) ** 2, 2.0)
        assert features.trace_error_ == pytest.approx(0.0, abs=1e-12)
    for rule in RULES:
        with pytest.raises(InputError, match=r"Nystrom: `X` has k\(x, x\) = 0"):
            Nystrom(Linear(), 2, landmarks=rule, random_state=0).fit(X)
    assert Nystrom(Gaussian(1.0), 5, landmarks="kmeans++", random_state=0).fit(X).dim == 1


def test_as_kernel_is_certified_and_keeps_what_it_was_made_from():
    features = Nystrom(NGram(2), 4, random_state=0).fit(WORDS)
    k = features.as_kernel()
    F = features.transform(WORDS)
    assert k.certificate.is_psd
    np.testing.assert_allclose(k.block(WORDS), F @ F.T, atol=1e-12)
    features.fit(WORDS[::-1])
    np.testing.assert_allclose(k.block(WORDS), F @ F.T, atol=1e-12)
    assert pickle.loads(pickle.dumps(k)) == k


def test_transformer():
    features = Nystrom(Gaussian("median"), 5, random_state=0)
    X = np.random.default_rng(0).standard_normal((50, 2))
    assert clone(features).fit(X).target == Gaussian("median").resolve(X)
    assert features.set_params(kernel__sigma=3.0).kernel == Gaussian(3.0)
    with pytest.raises(NotFittedError):
        features.transform(X)
    assert features.fit(X).get_feature_names_out().tolist() == [f"nystrom{i}" for i in range(5)]


def test_incomplete_cholesky():
    X = np.random.default_rng(0).standard_normal((150, 2))
    K = Gaussian(1.0).block(X)
    features = IncompleteCholesky(Gaussian(1.0), tol=1e-4)
    F = features.fit_transform(X)
    np.testing.assert_allclose(features.transform(X), F, atol=1e-8)
    assert features.relative_trace_error_ == pytest.approx(np.trace(K - F @ F.T) / 150, rel=1e-6)
    assert features.relative_trace_error_ <= 1e-4
    shorter = IncompleteCholesky(Gaussian(1.0), features.dim - 1, tol=1e-4).fit(X)
    assert shorter.relative_trace_error_ > 1e-4
    np.testing.assert_array_equal(shorter.landmark_indices_, features.landmark_indices_[:-1])


def test_bad_input():
    X = np.random.default_rng(0).standard_normal((6, 2))
    k = Gaussian(1.0)
    with pytest.warns(UserWarning, match="`n_components` = 7 is more than the 6 points"):
        assert Nystrom(k, 7).fit(X).dim == 6
    for count in (0, -1, 2.5, True, "many"):
        with pytest.raises(ParameterError, match="`n_components`"):
            Nystrom(k, count).fit(X)
    with pytest.raises(ParameterError, match="`landmarks` must be one of 'rpcholesky'"):
        Nystrom(k, landmarks="best").fit(X)
    with pytest.raises(InputError, match="`landmarks` must be points"):
        Nystrom(k, landmarks=np.zeros((3, 5))).fit(X)
    with pytest.raises((InputError, DomainError), match="`landmarks` must be points"):
        Nystrom(k, landmarks=["a", "b"]).fit(X)
    with pytest.raises((InputError, DomainError), match="`landmarks` must be points"):
        Nystrom(NGram(2), landmarks=[1.0, 2.0]).fit(WORDS)
    with pytest.raises(ParameterError, match="number of your landmarks, 3"):
        Nystrom(k, 2, landmarks=X[:3]).fit(X)
    with pytest.raises(ParameterError, match="`random_state`"):
        Nystrom(k, random_state="seed").fit(X)
    with pytest.raises(InputError, match=r"NaN|nan"):
        Nystrom(k, 2).fit([[0.0], [np.nan]])
    with pytest.raises(ParameterError, match="`tol`"):
        IncompleteCholesky(k, tol=-1.0).fit(X)
    with pytest.raises(ParameterError, match="`kernel`"):
        Nystrom("rbf").fit(X)


@pytest.mark.parametrize("rule", RULES)
def test_an_indefinite_kernel_is_an_error(rule):
    swap = mercer.kernel(lambda x, y: 1.0 if x == y else 2.0)
    with pytest.raises(DefinitenessError, match="not positive definite"):
        Nystrom(swap, 3, landmarks=rule, random_state=0).fit(["a", "b", "c", "d"])


def test_the_page_on_feature_maps_is_true(capsys):
    page = Path(__file__).parents[2] / "docs" / "feature_maps.md"
    section = page.read_text(encoding="utf-8").split("## Landmarks")[1].split("\n## ")[0]
    for block in re.findall(r"^```python\n(.*?)^```", section, flags=re.S | re.M):
        exec(compile(block, str(page), "exec"), {})
    assert capsys.readouterr().out.splitlines() == ["100 True", "True", "(1, 2)", "True"]
