"""The search with shared kernel values: against GridSearchCV of scikit-learn, which shares nothing."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer.errors import InputError, ParameterError, StoppedError, TimeBudgetError
from mercer.features import Nystrom
from mercer.gram import GramStore
from mercer.kernels import Gaussian, Linear, Matern, Polynomial, Precomputed, Sigmoid, Spectrum
from mercer.machines import (
    SVC,
    SVR,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelLogistic,
    KernelRidge,
    NuSVC,
    OneClassSVM,
)
from mercer.selection import KernelSearchCV
from mercer.selection.search.grid import edges, groups_of
from mercer.selection.search.held import HeldKernel
from mercer.selection.search.table import Table
from mercer.selection.search.values import SharedValues

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 3))
F = X[:, 0] * X[:, 1] + 0.3 * RNG.standard_normal(90)
TWO, THREE = (F > 0).astype(int), np.digitize(F, [-0.3, 0.3])
STRINGS = ["".join(RNG.choice(list("ab"), 12)) for _ in range(60)]
LABELS = np.array(["yes" if s.count("aba") % 2 else "no" for s in STRINGS])
WEIGHT = RNG.integers(1, 4, 90).astype(float)

#: Scores that are a number of points agree exactly unless a decision value is zero up to the tolerance.
TOL = 1e-6


def both(machine: Any, grid: Any, X: Any, y: Any, fit: Any = None, **options: Any) -> tuple[Any, Any]:
    """Search with shared values and without."""
    fit = fit or {}
    ours = KernelSearchCV(machine, grid, **options).fit(X, y, **fit)
    return ours, GridSearchCV(machine, grid, **options).fit(X, y, **fit)


def assert_same(ours: Any, theirs: Any) -> None:
    """The same columns, candidates, scores and best."""
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name, expected in theirs.cv_results_.items():
        found = ours.cv_results_[name]
        if name.startswith("param"):
            assert list(found) == list(expected)
            assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)
        elif "time" in name:
            assert found.shape == expected.shape
        else:
            np.testing.assert_allclose(found, expected, rtol=0, atol=TOL, err_msg=name)
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.multimetric_ == theirs.multimetric_
    if hasattr(theirs, "best_params_"):
        assert ours.best_params_ == theirs.best_params_
        assert ours.best_index_ == theirs.best_index_


CASES = {
    "kernels and C": (SVC(), {"kernel": [Gaussian("scale"), Matern(1.5)], "C": [0.1, 1, 10.0]}, X, TWO),
    "parameters": (SVC(Gaussian(1.0)), {"kernel__sigma": [0.5, "median"], "C": [10, 0.1]}, X, TWO),
    "three classes": (SVC(), {"kernel": [Gaussian(1.0), Gaussian("scale")], "C": [0.1, 10]}, X, THREE),
    "list of grids": (
        SVC(),
        [
            {"kernel": [Gaussian(0.5), Gaussian(2.0)], "C": [1, 10]},
            {"kernel": [Polynomial(2)], "C": [0.1], "class_weight": [None, "balanced"]},
        ],
        X,
        TWO,
    ),
    "no kernels": (SVC(Gaussian("median")), {"C": [0.1, 1.0], "tol": [1e-3, 1e-4]}, X, TWO),
    "scikit-learn's words": (SVC(), {"kernel": ["rbf", "linear"], "C": [1.0]}, X, TWO),
    "hard margin": (SVC(Gaussian(0.3)), {"C": [1.0, 10.0, np.inf]}, X, TWO),
    "one against rest": (SVC(Gaussian(1.0), multiclass="ovr"), {"C": [1.0, 10.0]}, X, THREE),
    "NuSVC": (NuSVC(), {"kernel": [Gaussian(1.0)], "nu": [0.2, 0.4]}, X, TWO),
    "SVR": (SVR(), {"kernel": [Gaussian("scale")], "C": [0.1, 1, 10.0], "epsilon": [0.1, 0.3]}, X, F),
    "ridge": (KernelRidge(), {"kernel": [Gaussian("median"), Linear() + 1], "alpha": [0.1, 1.0]}, X, F),
    "ridge without a choice of ours": (KernelRidge(alpha="loo"), {"kernel": [Gaussian(1.0)]}, X, F),
    "logistic": (KernelLogistic(), {"kernel": [Gaussian(1.0)], "alpha": [0.01, 1.0]}, X, TWO),
    "probabilities": (SVC(Gaussian(1.0), probability=True), {"C": [1.0, 10.0]}, X, TWO),
    "features": (SVC(Linear()), {"C": [0.1, 1.0]}, X, TWO),
    "a map": (SVC(approximation=Nystrom(Gaussian(1.0), 20, random_state=0)), {"C": [0.1, 1.0]}, X, TWO),
    "several solutions": (SVC(), {"kernel": [Sigmoid(1.0, 0.0)], "C": [0.1, 1.0, 10.0]}, X, TWO),
    "conditionally positive": (SVC(), {"kernel": [-mercer.kernels.PowerDistance(1.0)], "C": [1.0]}, X, TWO),
    "strings": (
        SVC(),
        {"kernel": [Spectrum(3) + a * Spectrum(2) for a in (0.1, 1.0)], "C": [0.1, 10]},
        STRINGS,
        LABELS,
    ),
    "normalised strings": (
        SVC(),
        {"kernel": [(Spectrum(2) * Spectrum(3)).normalized(), Spectrum(2).normalized().gaussian(1.0)]},
        STRINGS,
        LABELS,
    ),
    "matrix": (SVC(Precomputed()), {"C": [0.1, 1.0, 10.0]}, Gaussian(1.0).block(X), TWO),
    "matrices": (
        KernelRidge(),
        {"kernel": [Precomputed(), 2 * Precomputed() + 1], "alpha": [0.1]},
        Gaussian(1.0).block(X),
        F,
    ),
}


@pytest.mark.filterwarnings("ignore:.*not positive definite")
@pytest.mark.filterwarnings("ignore:.*is not certified")
@pytest.mark.parametrize("case", CASES)
def test_scores_are_those_of_grid_search(case: str) -> None:
    machine, grid, points, y = CASES[case]
    assert_same(*both(machine, grid, points, y, cv=3))


@pytest.mark.parametrize("cv", [ShuffleSplit(2, random_state=0), TimeSeriesSplit(3), [([0, 1, 2, 3], [4])]])
def test_any_splits(cv: Any) -> None:
    y = np.arange(90) % 2 + 0.0
    assert_same(*both(SVR(Gaussian(1.0)), {"C": [0.1, 1.0]}, X, y, cv=cv, scoring="neg_mean_squared_error"))


def test_groups_stay_together() -> None:
    fit = {"groups": np.arange(90) // 9}
    assert_same(*both(SVC(Gaussian(1.0)), {"C": [0.1, 1.0]}, X, TWO, fit, cv=GroupKFold(3)))


def test_several_metrics_and_training_scores() -> None:
    grid = {"kernel__sigma": [0.5, 1.0], "C": [0.1, 1.0]}
    options = {"scoring": ["accuracy", "roc_auc"], "refit": "roc_auc", "return_train_score": True}
    assert_same(*both(SVC(Gaussian(1.0)), grid, X, TWO, cv=3, **options))


def test_without_refit() -> None:
    ours, theirs = both(SVC(Gaussian(1.0)), {"C": [0.1, 1.0]}, X, TWO, refit=False)
    assert_same(ours, theirs)
    assert not hasattr(ours, "best_estimator_")
    assert not hasattr(ours, "predict")


def test_refit_by_a_function() -> None:
    def least(results: dict[str, Any]) -> int:
        return int(results["mean_test_score"].argmin())

    ours, theirs = both(SVC(Gaussian(1.0)), {"C": [0.01, 10.0]}, X, TWO, refit=least)
    assert_same(ours, theirs)
    with pytest.raises(ParameterError, match="`refit` must return"):
        KernelSearchCV(SVC(), {"C": [1.0]}, refit=lambda results: 7).fit(X, TWO)


def test_weights_are_those_of_each_fold() -> None:
    grid = {"kernel": [Gaussian("scale")], "C": [0.1, 1.0]}
    ours = KernelSearchCV(SVC(), grid, cv=3).fit(X, TWO, sample_weight=WEIGHT)
    folds = [(np.setdiff1d(np.arange(90), test), test) for test in np.array_split(np.arange(90), 3)]
    ours = KernelSearchCV(SVC(), grid, cv=folds).fit(X, TWO, sample_weight=WEIGHT)
    for f, (train, test) in enumerate(folds):
        for i, C in enumerate(grid["C"]):
            model = SVC(Gaussian("scale"), C=C).fit(X[train], TWO[train], WEIGHT[train])
            expected = model.score(X[test], TWO[test], WEIGHT[test])
            assert ours.cv_results_[f"split{f}_test_score"][i] == pytest.approx(expected, abs=TOL)


def test_the_best_machine_is_fitted_to_all_points() -> None:
    search = KernelSearchCV(SVC(Gaussian(1.0)), {"C": [0.1, 1.0, 10.0]}).fit(X, TWO)
    model = SVC(Gaussian(1.0), C=search.best_params_["C"]).fit(X, TWO)
    np.testing.assert_array_equal(search.decision_function(X), model.decision_function(X))
    assert search.best_estimator_.kernel_ == Gaussian(1.0)
    assert (search.n_features_in_, search.classes_.tolist()) == (3, [0, 1])
    assert search.score(X, TWO) == model.score(X, TWO)
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_nested() -> None:
    grid = {"kernel": [Gaussian("scale"), Gaussian(0.5)], "C": [0.1, 1.0]}
    ours = cross_val_score(KernelSearchCV(SVC(), grid, cv=2), X, TWO, cv=3)
    np.testing.assert_allclose(ours, cross_val_score(GridSearchCV(SVC(), grid, cv=2), X, TWO, cv=3))
    K = Gaussian(0.5).block(X)
    pairwise = KernelSearchCV(SVC(Precomputed()), {"C": [0.1, 1.0]}, cv=2)
    expected = cross_val_score(GridSearchCV(SVC(Precomputed()), {"C": [0.1, 1.0]}, cv=2), K, TWO, cv=3)
    np.testing.assert_allclose(cross_val_score(pairwise, K, TWO, cv=3), expected)


def test_without_targets() -> None:
    def inliers(model: Any, X: Any, y: Any = None) -> float:
        return float((model.predict(X) > 0).mean())

    assert_same(*both(OneClassSVM(Gaussian(1.0)), {"nu": [0.1, 0.5]}, X, None, scoring=inliers, cv=3))


# -- what is shared -----------------------------------------------------------------------------
def counting(kernel: Any = None) -> tuple[Any, list[int]]:
    """A kernel in Python that counts its values."""
    count = [0]

    @mercer.kernel(assume="PSD", reason="a Gaussian kernel")
    def slow(x: Any, y: Any) -> float:
        count[0] += 1
        return float(np.exp(-((x - y) ** 2).sum()))

    return slow, count


def test_values_are_computed_once() -> None:
    slow, count = counting()
    points = list(X[:30])
    grid = {"kernel": [slow, slow + 1, 2 * slow, slow * slow], "C": [0.1, 1.0, 10.0]}
    search = KernelSearchCV(SVC(), grid, cv=3, refit=False).fit(points, TWO[:30])
    assert count[0] <= 30 * 31 / 2 + 64  # each pair, and a few to learn how long they take
    theirs = GridSearchCV(SVC(), grid, cv=3, refit=False).fit(points, TWO[:30])
    assert_same(search, theirs)


def test_values_come_from_the_store(tmp_path: Any) -> None:
    machine = SVC(store=GramStore(tmp_path))
    grid = {"kernel": [Spectrum(2), Spectrum(3)], "C": [0.1, 1.0]}
    first = KernelSearchCV(machine, grid, cv=2).fit(STRINGS, LABELS)
    assert any(tmp_path.iterdir())
    second = KernelSearchCV(machine, grid, cv=2).fit(STRINGS, LABELS)
    np.testing.assert_array_equal(first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"])


def test_a_scorer_of_ones_own_sees_the_points() -> None:
    seen = []

    def score(model: Any, X: Any, y: Any) -> float:
        seen.append(np.shape(X))
        return float(model.score(X, y))

    assert_same(*both(SVC(Gaussian(1.0)), {"C": [0.1, 1.0]}, X, TWO, cv=3, scoring=score))
    assert set(seen) == {(30, 3)}


def test_a_metric_of_ones_own_shares_values() -> None:
    slow, count = counting()
    KernelSearchCV(SVC(slow), {"C": [0.1, 1.0]}, cv=3, refit=False, scoring=make_scorer(accuracy_score)).fit(
        list(X[:30]), TWO[:30]
    )
    assert count[0] <= 30 * 31 / 2 + 64


def test_too_much_for_memory_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SharedValues, "can_hold", lambda self, kernel: False)
    assert_same(*both(SVC(Gaussian("scale")), {"C": [0.1, 1.0]}, X, TWO, cv=3))


def test_old_matrices_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mercer.memory, "can_hold", lambda count: count <= 2.5 * 8 * 90**2)
    values = SharedValues(lambda kernel: kernel.domain.validate(X))
    kernels = [Gaussian(s).on(np.asarray) for s in (0.5, 1.0, 2.0)]
    for k in (*kernels, kernels[0]):
        np.testing.assert_allclose(values.matrix(k), k.block(X), rtol=1e-14)
    assert [k for k, *_ in values._matrices] == [kernels[2], kernels[0]]


@pytest.mark.parametrize("k", [Gaussian(1.0) + Linear(), Matern(1.5) * 2, (Linear() + 1) ** 2])
def test_held_kernels_are_the_kernels(k: Any) -> None:
    values = SharedValues(lambda kernel: kernel.domain.validate(X))
    held, rows, columns = HeldKernel(k, values), np.array([3, 1, 4]), np.array([5, 9, 2, 6])
    np.testing.assert_allclose(held.block(rows, columns), k.block(X[rows], X[columns]), rtol=1e-12)
    np.testing.assert_allclose(held.diagonal(rows), k.diagonal(X[rows]), rtol=1e-12)
    assert held(3, 5) == pytest.approx(k(X[3], X[5]))
    assert held.certificate.verdict == k.certificate.verdict
    assert (held.bounds, held.diagonal_bounds, repr(held)) == (k.bounds, k.diagonal_bounds, repr(k))
    assert held.domain.digests(rows) == k.domain.digests(X[rows])
    with pytest.raises(InputError, match="positions"):
        held.block([-1, 0])


def test_parameters_are_resolved_on_the_training_points() -> None:
    values = SharedValues(lambda kernel: kernel.domain.validate(X))
    held = HeldKernel(Gaussian("median"), values).resolve(np.arange(20))
    assert held.kernel == Gaussian("median").resolve(X[:20])


def test_groups_follow_the_penalty() -> None:
    grid = [{"kernel": [Gaussian(1.0), Gaussian(2.0)], "C": [10, 0.1]}, {"kernel": [Gaussian(1.0)], "C": [1]}]
    search = KernelSearchCV(SVC(), grid, refit=False).fit(X, TWO)
    groups = groups_of(SVC(), search.cv_results_["params"])
    assert [[p["C"] for _, p in group.members] for group in groups] == [[0.1, 1, 10], [0.1, 10]]


# -- dropping -----------------------------------------------------------------------------------
def test_hopeless_candidates_are_dropped_only_if_asked() -> None:
    grid = {"kernel": [Gaussian(1.0), Linear(), Gaussian(1e-3)], "C": [10.0]}
    every = KernelSearchCV(SVC(), grid, cv=6).fit(X, TWO)
    some = KernelSearchCV(SVC(), grid, cv=6, drop=0.05).fit(X, TWO)
    assert "dropped" not in every.cv_results_
    assert some.cv_results_["dropped"].tolist() == [False, True, True]
    assert some.best_params_ == every.best_params_
    assert np.isfinite(some.cv_results_["split2_test_score"]).all()
    assert np.isnan(some.cv_results_["split5_test_score"]).tolist() == [False, True, True]
    assert some.cv_results_["rank_test_score"].tolist() == [1, 2, 2]
    assert some.best_score_ == every.best_score_


# -- results ------------------------------------------------------------------------------------
def test_the_table_of_what_is_known() -> None:
    table = Table([{"C": 1.0}, {"C": 2.0}, {"a": "x"}], 2, train=False)
    table.put(0, 0, {"test": 0.5}, 1.0, 0.1)
    table.put(1, 0, {"test": 0.25}, 1.0, 0.1)
    table.put(1, 1, {"test": 0.75}, 1.0, 0.1)
    found = table.results()
    np.testing.assert_array_equal(found["mean_test_score"], [0.5, 0.5, np.nan])
    np.testing.assert_array_equal(found["std_test_score"], [0.0, 0.25, np.nan])
    assert found["rank_test_score"].tolist() == [2, 1, 2]
    assert found["param_C"].mask.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("Cs", "notes"),
    [([1e-5, 1e-4, 1e-3], ["largest"]), ([1e-5, 1.0], []), ([1e-5, 1e-4, 1.0, 1e4, 1e5], [])],
)
def test_the_edge_of_the_grid_is_noted(Cs: list[float], notes: list[str], capsys: Any) -> None:
    easy = np.concatenate([X[:40] + 2, X[40:80] - 2])
    scale = [round(C, 9) for C in Cs]
    scoring = make_scorer(lambda y, f: -abs(np.abs(f).mean() - 1), response_method="decision_function")
    search = KernelSearchCV(SVC(Linear()), {"C": scale}, scoring=scoring, verbose=True)
    search.fit(easy, np.repeat([0, 1], 40))
    assert [w for w in ("least", "largest") if any(w in note for note in search.notes_)] == notes
    assert ("KernelSearchCV: C=" in capsys.readouterr().out) == bool(notes)


def test_notes_on_numbers_in_kernels() -> None:
    width = [{"kernel": Gaussian(s), "C": 1.0} for s in (0.1, 0.5, 2.0)]
    others = [{"kernel": Matern(1.5, 9.0), "C": 1.0}, {"kernel": "rbf", "C": 1.0}]
    notes = edges([*width, *others], width[2])
    assert notes == ["kernel__sigma=2 is the largest of the 3 values of the grid: larger ones may be better."]
    assert edges([*width, *others], width[1]) == edges([*width, *others], others[0]) == []


def test_an_interrupt_keeps_what_is_known() -> None:
    calls = [0]

    def score(model: Any, X: Any, y: Any) -> float:
        calls[0] += 1
        if calls[0] > 4:
            raise KeyboardInterrupt
        return 0.5

    search = KernelSearchCV(SVC(Gaussian(1.0)), {"C": [0.1, 1.0]}, cv=3, scoring=score)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, TWO)
    known = np.column_stack([search.cv_results_[f"split{s}_test_score"] for s in range(3)])
    assert np.isfinite(known).sum() == 4
    assert not hasattr(search, "best_params_")


def test_a_time_budget_keeps_what_is_known() -> None:
    search = KernelSearchCV(SVC(Gaussian(1.0)), {"C": [0.1, 1.0]}, time_budget=1e-9)
    with pytest.raises(TimeBudgetError, match="KernelSearchCV"):
        search.fit(X, TWO)
    assert np.isnan(search.cv_results_["mean_test_score"]).all()


def test_callbacks_see_the_folds_and_can_stop() -> None:
    seen = []
    search = KernelSearchCV(SVC(Gaussian(1.0)), {"C": [0.1, 1.0]}, cv=3)
    search.set_callbacks(lambda progress: seen.append(progress.task))
    search.fit(X, TWO)
    assert seen
    search.set_callbacks(lambda progress: True)
    with pytest.raises(StoppedError):
        search.fit(X, TWO)
    assert "mean_test_score" in search.cv_results_


# -- bad input ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({}, "at least one"),
        ([], "a dict"),
        ("C", "a dict"),
        (None, "a dict"),
        ([{"C": [1.0]}, {}], "at least one"),
        ({"C": []}, "'C'"),
        ({"C": 1.0}, "'C'"),
        ({"C": "abc"}, "'C'"),
        ({"C": [[1.0], [2.0]]}, "C=\\[1.0\\]|'C'"),
        ({"C": [1.0, -1.0]}, "C=-1.0"),
        ({"C": [1.0, np.nan]}, "C=nan"),
        ({"gamma": [1.0]}, "gamma"),
        ({"kernel__sigma": [1.0, -1.0]}, "kernel__sigma=-1.0"),
        ({"kernel__width": [1.0]}, "width"),
        ({"kernel": ["gauss"]}, "gauss"),
        ({"kernel": [3]}, "kernel"),
    ],
)
def test_grids_are_checked_before_any_work(grid: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SharedValues, "points", lambda self, kernel: pytest.fail("the points were read"))
    with pytest.raises(ParameterError, match=message) as raised:
        KernelSearchCV(SVC(Gaussian(1.0)), grid).fit(list(X), TWO)
    assert "`grid`" in str(raised.value)


@pytest.mark.parametrize(
    ("machine", "grid"),
    [
        (KernelRidge(Gaussian(1.0)), {"alpha": [-1.0]}),
        (SVR(), {"epsilon": [-1.0]}),
        (NuSVC(), {"nu": [2.0]}),
        (OneClassSVM(), {"nu": [0.0]}),
        (KernelLogistic(), {"alpha": [-1.0]}),
        (SVC(), {"tol": [-1.0]}),
        (SVC(), {"indefinite": ["no"]}),
        (SVC(), {"class_weight": ["no"]}),
        (SVC(), {"class_weight": [{0: -1.0}]}),
        (GaussianProcessRegressor(), {"alpha": [-1.0]}),
        (GaussianProcessRegressor(), {"tune": ["loo"]}),
        (GaussianProcessClassifier(), {"max_iter": [0]}),
    ],
)
def test_values_that_the_machine_refuses_are_named(machine: Any, grid: Any) -> None:
    with pytest.raises(ParameterError, match=f"`grid`.*{next(iter(grid))}"):
        KernelSearchCV(machine, grid).fit(X, TWO)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": 2.0}, "`drop`"),
        ({"drop": True}, "`drop`"),
        ({"error_score": "no"}, "`error_score`"),
        ({"refit": 3}, "`refit`"),
        ({"scoring": "goodness"}, "`scoring"),
        ({"scoring": ["accuracy", "f1"]}, "`refit`"),
        ({"cv": 1}, "`cv"),
        ({"cv": 1000}, "`cv"),
        ({"cv": []}, "`cv`"),
        ({"cv": [([], [1])]}, "no training points in split 0"),
        ({"cv": [([0, 1000], [1])]}, "`cv"),
        ({"time_budget": -1}, "`time_budget`"),
    ],
)
def test_arguments_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        KernelSearchCV(SVC(Gaussian(1.0)), {"C": [1.0]}, **options).fit(X, TWO)


def test_other_estimators_are_for_grid_search() -> None:
    from sklearn.svm import SVC as Theirs

    with pytest.raises(ParameterError, match="GridSearchCV"):
        KernelSearchCV(Theirs(), {"C": [1.0]}).fit(X, TWO)


def test_folds_without_a_class() -> None:
    y = np.array([0] * 60 + [1] * 30)
    folds = [(np.arange(60), np.arange(60, 90))]
    with pytest.raises(InputError, match="split 0 have no point of class 1"):
        KernelSearchCV(SVC(Gaussian(1.0)), {"C": [1.0]}, cv=folds).fit(X, y)
    y = np.repeat([0, 1, 2], 30)
    with pytest.warns(UserWarning, match="split 0 have no point of class 2"):
        KernelSearchCV(SVC(Gaussian(1.0)), {"C": [1.0]}, cv=folds).fit(X, y)


def test_constant_targets() -> None:
    with pytest.raises(InputError, match="at least two classes"):
        KernelSearchCV(SVC(Gaussian(1.0)), {"C": [1.0]}).fit(X, np.zeros(90))
    search = KernelSearchCV(SVR(Gaussian(1.0)), {"C": [1.0, 2.0]}).fit(X, np.zeros(90))
    assert search.best_index_ == 0


def test_lengths_differ() -> None:
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        KernelSearchCV(SVC(Gaussian(1.0)), {"C": [1.0]}).fit(X, TWO[:80])


def test_fits_that_fail() -> None:
    grid = {"nu": [0.2, 0.9999]}
    y = np.array([0] * 70 + [1] * 20)
    with pytest.warns(FitFailedWarning, match="3 of 6 fits failed.*nu"):
        search = KernelSearchCV(NuSVC(Gaussian(1.0)), grid, cv=3).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True]
    assert search.cv_results_["rank_test_score"].tolist() == [1, 2]
    with pytest.raises(ParameterError, match="nu"):
        KernelSearchCV(NuSVC(Gaussian(1.0)), grid, cv=3, error_score="raise").fit(X, y)
    with pytest.raises(InputError, match="3 of 3 fits failed"):
        KernelSearchCV(NuSVC(Gaussian(1.0)), {"nu": [0.9999]}, cv=3).fit(X, y)


def test_a_clone_is_equal() -> None:
    search = KernelSearchCV(SVC(Gaussian(1.0)), {"C": [1.0]}, cv=3, drop=0.01)
    copy = clone(search)
    assert copy.get_params()["machine__kernel"] == Gaussian(1.0)
    assert copy.drop == 0.01
    assert clone(search.set_params(machine__tol=0.1)).machine.tol == 0.1


@parametrize_with_checks(
    [
        KernelSearchCV(SVC(Gaussian("scale")), {"C": [0.1, 1.0]}, cv=2),
        KernelSearchCV(KernelRidge(Gaussian("scale")), {"alpha": [0.1, 1.0]}, cv=2),
    ]
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)
