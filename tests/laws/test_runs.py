"""Every machine has a time budget, calls its callbacks, and is never stopped in silence."""

import inspect
import warnings
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

import mercer.machines
from mercer.engine import runs
from mercer.errors import ParameterError, StoppedError, TimeBudgetError
from mercer.kernels import Gaussian, WhiteNoise
from mercer.machines import (
    SVC,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    HSICTest,
    KernelCCA,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelPerceptron,
    KernelRanker,
    KernelRidge,
    MMDTest,
    PegasosSVC,
    RepresenterMachine,
    SpectralClustering,
    TransductiveAlignment,
)

from .fitted_cases import MACHINES, targets

N = 160
K = Gaussian(1.5)

CASES = {
    **{name: (make(K), what) for name, (make, what, _) in MACHINES.items()},
    "SpectralClustering": (SpectralClustering(K, n_clusters=3), "none"),
    "KernelRidge cg": (KernelRidge(K, solver="cg"), "numbers"),
    "KernelRidge eigen": (KernelRidge(K, solver="eigen"), "numbers"),
    "KernelRidge tune": (KernelRidge(K, tune="evidence"), "numbers"),
    "GaussianProcessRegressor tune": (GaussianProcessRegressor(K + WhiteNoise(0.1)), "numbers"),
    "GaussianProcessClassifier tune": (GaussianProcessClassifier(4.0 * K), "labels"),
    "KernelPCA lanczos": (KernelPCA(K, n_components=2, solver="lanczos"), "none"),
    "KernelPCA dense": (KernelPCA(K, solver="dense"), "none"),
    "KernelLogistic l1": (KernelLogistic(K, alpha=0.0, l1=1.0), "labels"),
    "KernelLogistic loo": (KernelLogistic(K, alpha="loo"), "labels"),
    "KernelRanker hinge": (KernelRanker(K, loss="hinge"), "numbers"),
    "TransductiveAlignment": (TransductiveAlignment(K), "some classes"),
    "RepresenterMachine hinge": (RepresenterMachine(K, loss="hinge"), "labels"),
    "RepresenterMachine norm": (RepresenterMachine(K, loss="logistic", penalty="norm"), "labels"),
}

#: Those that stop at their best state; the others have no partial result.
ITERATIVE = [
    *(name for name in CASES if name.startswith(("SVC", "NuSV", "SVR", "OneClass", "Enclosing", "Multiple"))),
    "KernelKMeans",
    "KernelPerceptron",
    "PegasosSVC",
    "KernelRidge cg",
    "KernelPCA lanczos",
    "KernelLogistic",
    "KernelLogistic l1",
    "KernelRanker",
    "KernelRanker hinge",
    "ProxySVC",
    "RepresenterMachine",
    "RepresenterMachine hinge",
    "RepresenterMachine norm",
    "KernelLogistic loo",
    "LaplacianSVC",
    "SpectralClustering",
]


def case(name):
    machine, what = CASES[name]
    n = 40 if name.endswith(" tune") else N  # many Gram matrices, each with its factorization
    X = np.random.default_rng(0).standard_normal((n, 3))
    return clone(machine), X, targets(what, n)


def fit(model, X, y):
    return model.fit(X) if y is None else model.fit(X, y)


def test_every_machine_is_here():
    public = (getattr(mercer.machines, name) for name in mercer.machines.__all__)
    classes = {c for c in public if inspect.isclass(c) and issubclass(c, BaseEstimator)}
    assert {c.__name__ for c in classes} - {type(m).__name__ for m, _ in CASES.values()} == {
        "MultipleKernelTransformer",  # its machine has them
        "SmoothingSpline",
        "ThinPlateSpline",
    }


@pytest.mark.parametrize("name", CASES)
def test_no_time_is_said(name):
    """A model with a warning, or an error; never a model that says nothing."""
    model, X, y = case(name)
    model.set_params(time_budget=1e-9)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit(model, X, y)
        except TimeBudgetError as error:
            assert str(error).startswith(f"{type(model).__name__}: `time_budget` of 1e-09 s was used up")  # noqa: PT017
            return
    check_is_fitted(model)
    said = [str(w.message) for w in caught if issubclass(w.category, ConvergenceWarning)]
    assert any("the time budget was used up" in message for message in said)


@pytest.mark.parametrize("name", CASES)
def test_enough_time_changes_nothing(name):
    model, X, y = case(name)
    limited = clone(model).set_params(time_budget=1000.0)
    seen = []
    fit(model, X, y)
    fit(limited.set_callbacks(seen.append), X, y)
    assert seen
    assert all(isinstance(p, runs.Progress) for p in seen)
    for attribute in ("dual_coef_", "labels_", "transduction_", "eigenvalues_"):
        if hasattr(model, attribute):
            np.testing.assert_array_equal(getattr(model, attribute), getattr(limited, attribute))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("budget", [0, -1.0, "1", float("nan")])
def test_budgets_that_are_none(name, budget):
    model, X, y = case(name)
    with pytest.raises(ParameterError, match="`time_budget` must be a number of seconds > 0"):
        fit(model.set_params(time_budget=budget), X, y)


@pytest.fixture
def every(monkeypatch):
    """Callbacks are called at every checkpoint, and no checkpoint depends on how long something takes."""
    monkeypatch.setattr(runs, "PAUSE", 0.0)
    monkeypatch.setattr("mercer.solvers.watch.SECONDS_PER_WATCH", 0.0)
    for module in ("lapack", "tiles", "workers"):
        monkeypatch.setattr(f"mercer.engine.{module}._POLL_SECONDS", 60.0)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_errors_of_callbacks_come_through(name, error, every):
    model, X, y = case(name)

    def fails(progress):
        raise error

    model.set_callbacks(fails)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.raises(error):
            fit(model, X, y)


class After:
    """Stops, or interrupts, at one of the calls."""

    def __init__(self, count, error=None):
        self.left, self.error = count, error

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0 and self.error is not None:
            raise self.error
        return self.left <= 0


def answers(model, X):
    if hasattr(model, "labels_"):
        return model.labels_
    return getattr(model, "transform" if hasattr(model, "transform") else "predict")(X[:5]).astype(float)


@pytest.mark.parametrize("name", ITERATIVE)
@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_iterative_machines_keep_their_best_state(name, error, every):
    """Stopped early, there is an error; from some call on, a model that says so unless it is complete."""
    complete, X, y = case(name)
    seen = []
    fit(complete.set_callbacks(seen.append), X, y)
    calls = len(seen)
    shares = {1, 2, 3, calls // 4, calls // 2, 3 * calls // 4, calls - 2, calls - 1, calls}
    is_usable, is_said = [], []
    for after in sorted(shares & {*range(1, calls + 1)}):
        model, X, y = case(name)
        stop = After(after, error)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with nullcontext() if error is None else pytest.raises(error), suppress(StoppedError):
                fit(model.set_callbacks(stop), X, y)
        assert stop.left <= 0  # each fit calls as often as the first
        is_usable.append(any(hasattr(model, attribute) for attribute in ("dual_coef_", "labels_", "n_iter_")))
        if is_usable[-1]:
            reason = "a callback asked to stop" if error is None else "it was interrupted"
            is_said.append(any(reason in str(w.message) for w in caught))
            values = answers(model, X)
            assert np.isfinite(values).all()
            if not is_said[-1]:
                assert vars(model).keys() == vars(complete).keys()
                np.testing.assert_allclose(values, answers(complete, X), atol=2e-3)  # `tol` is 1e-3
    assert is_usable == sorted(is_usable)
    assert any(is_said)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ITERATIVE])
def test_direct_methods_have_no_partial_result(name, every):
    model, X, y = case(name)
    with pytest.raises(StoppedError, match="a callback returned True during"):
        fit(model.set_callbacks(lambda progress: True), X, y)


@pytest.mark.parametrize(
    "test", [MMDTest(n_permutations=20), HSICTest(n_permutations=20)], ids=["MMD", "HSIC"]
)
def test_permutation_tests(test, every):
    X, Y = np.random.default_rng(0).standard_normal((2, 50, 2))
    kind, seen = type(test), []
    with pytest.raises(TimeBudgetError, match=f"^{kind.__name__}: `time_budget` of 1e-09 s"):
        kind(n_permutations=20, time_budget=1e-9).test(X, Y)
    result = kind(n_permutations=20, time_budget=1e3, callbacks=[seen.append], random_state=0).test(X, Y)
    assert result.p_value == kind(n_permutations=20, random_state=0).test(X, Y).p_value
    assert seen[-1].task == "permutations"
    with pytest.raises(ParameterError, match="`time_budget` must be a number of seconds"):
        kind(time_budget=0.0)
    with pytest.raises(ParameterError, match="`callbacks` must be a sequence"):
        kind(callbacks=3)


def test_the_test_of_independence_of_correlations_has_a_budget():
    X, Y = np.random.default_rng(0).standard_normal((2, 50, 2))
    with pytest.raises(TimeBudgetError, match="KernelCCA"):
        KernelCCA(K, time_budget=1e-9).independence_test(X, Y)


# -- scikit-learn's callbacks ----------------------------------------------------------------------
class Recorder:
    """A callback with scikit-learn's hooks."""

    def __init__(self, tasks=np.inf):
        self.seen, self.tasks = [], tasks  # how many, until it stops

    def setup(self, estimator, context):
        self.seen.append("setup")

    def teardown(self, estimator, context):
        self.seen.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.seen.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.seen.append(("end", context.task_name))
        self.tasks -= 1
        return self.tasks <= 0


@pytest.mark.parametrize(
    ("machine", "tasks"),
    [(SVC(), 1), (KernelKMeans(K, n_clusters=3), 30), (PegasosSVC(K), 10), (KernelPerceptron(K), 10)],
)
def test_hooks_of_scikit_learn(machine, tasks, every):
    X = np.random.default_rng(0).standard_normal((N, 3))
    y = (X[:, 0] > 0).astype(int)
    recorder = Recorder()
    model = clone(machine).set_callbacks(recorder)
    model.fit(X, y)
    assert recorder.seen[:2] == ["setup", ("begin", "fit")]
    assert recorder.seen[-2:] == [("end", "fit"), "teardown"]
    assert len(recorder.seen) >= 6
    assert clone(model)._skl_callbacks == [recorder]
    stopping = Recorder(tasks)
    with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
        clone(machine).set_callbacks(stopping).fit(X, y)
    assert stopping.seen[-1] == "teardown"
    assert clone(machine).set_callbacks().fit(X, y).predict(X[:3]).shape == (3,)


def test_a_progress_bar_of_scikit_learn_on_a_grid_search(capsys):
    callback = pytest.importorskip("sklearn.callback")
    pytest.importorskip("rich")
    X = np.random.default_rng(0).standard_normal((N, 3))
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, cv=2).set_callbacks(callback.ProgressBar())
    search.fit(X, X[:, 0] > 0)
    assert "SVC - fit" in capsys.readouterr().out
