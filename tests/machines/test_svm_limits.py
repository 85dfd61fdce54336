"""Support vector machines that are stopped, and that go on from where they were."""

import signal
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning

from mercer.errors import ParameterError
from mercer.kernels import Gaussian
from mercer.machines import SVC, SVR, NuSVC, NuSVR
from mercer.solvers.svm import policy

from .svm_problems import hard


def test_the_limit_of_steps_ends_with_a_usable_model():
    X, y = hard()
    with pytest.warns(ConvergenceWarning, match="max_iter.*duality gap"):
        model = SVC(Gaussian(0.3), C=1e4, max_iter=50).fit(X, y)
    assert not model.converged_
    assert model.fit_status_ == 1
    assert model.n_iter_[0] <= 50
    assert model.gap_ > 0
    assert len(model.predict(X)) == 400


def endless(*callbacks, time_budget=None, interrupted=False):
    """A fit that goes on until it is stopped."""
    X, y = hard(3000)
    model = SVC(Gaussian(0.2), C=1e6, tol=1e-4, cache_size=1, time_budget=time_budget)
    model.set_callbacks(*callbacks)
    with (
        pytest.warns(ConvergenceWarning, match="usable"),
        pytest.raises(KeyboardInterrupt) if interrupted else nullcontext(),
    ):
        model.fit(X, y)
    assert not model.converged_
    assert model.gap_ > 0
    assert np.isfinite(model.decision_function(X[:10])).all()
    return model, X, y


def test_a_time_budget():
    model, *_ = endless(time_budget=0.2)
    assert "time budget" in model.status_


def test_a_callback_stops_and_the_next_fit_resumes():
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) >= 3

    model, X, y = endless(callback)
    assert "callback" in model.status_
    assert [p.iteration for p in seen] == sorted(p.iteration for p in seen)
    before = model.solutions_[0].stats["objective"]
    model.set_params(warm_start=True)
    seen.clear()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.solutions_[0].stats["objective"] < before


def test_an_interrupt_from_a_callback_ends_with_a_usable_model():
    def callback(progress):
        raise KeyboardInterrupt

    model, *_ = endless(callback, interrupted=True)
    assert "interrupted" in model.status_


def test_an_exception_of_a_callback_is_not_swallowed():
    def callback(progress):
        raise RuntimeError("mine")

    X, y = hard(3000)
    with pytest.raises(RuntimeError, match="mine"):
        SVC(Gaussian(0.2), C=1e6, cache_size=1).set_callbacks(callback).fit(X, y)
    for wrong in (3, [3], "a", SVC):
        with pytest.raises(ParameterError, match="callbacks must be callables"):
            SVC().set_callbacks(wrong)


# Without an interrupt these fits take minutes.  What is printed first says that steps are being taken.
INTERRUPTED = """
import threading, warnings, numpy as np
from mercer.machines import SVC
from mercer.kernels import Gaussian
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.standard_normal((3000, 2)), rng.integers(0, {classes}, 3000)
once = threading.Lock()
def tell(progress):
    if progress.iteration > 0 and once.acquire(blocking=False):
        print("at work", flush=True)
model = SVC(Gaussian(0.2), C=1e6, tol=1e-6, cache_size={cache}).set_callbacks(tell)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted")
print(model.status_.startswith("stopped because"), model.converged_, model.gap_ > 0)
print(len(model.predict(X[:5])))
"""


@pytest.mark.parametrize("classes", [2, 12])
def test_control_c_ends_with_a_usable_model(classes):
    code = INTERRUPTED.format(classes=classes, cache=1 if classes == 2 else 1000)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "at work\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)
        assert out == "interrupted\nTrue False True\n5\n"


def steps(model):
    return int(np.sum(model.n_iter_))


@pytest.mark.parametrize(
    ("machine", "change"),
    [
        (SVC(C=1.0), {"C": 1.01}),
        (SVC(C=1.0, multiclass="ovr"), {"C": 1.01}),
        (SVC(C=1.0, fit_intercept=False), {"C": 1.01}),
        (NuSVC(nu=0.4), {"nu": 0.401}),
        (NuSVC(nu=0.4, multiclass="ovr"), {"nu": 0.399}),
        (SVR(C=1.0), {"C": 1.01}),
        (NuSVR(nu=0.4), {"nu": 0.401}),
        (NuSVR(nu=0.4), {"C": 1.01}),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_warm_start_reaches_the_same_end_sooner(machine, change, classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(300), np.linspace(-0.5, 0.5, classes - 1))
    targets = y + 0.1 * X[:, 1] if isinstance(machine, SVR | NuSVR) else y
    warm = clone(machine).set_params(warm_start=True).fit(X, targets)
    again = steps(clone(machine).fit(X, targets)), steps(warm.fit(X, targets))
    assert again[1] < again[0] / 4
    cold = clone(machine).set_params(**change).fit(X, targets)
    warm.set_params(**change).fit(X, targets)
    assert steps(warm) < steps(cold)
    np.testing.assert_array_equal(warm.support_, cold.support_)
    np.testing.assert_allclose(warm.dual_coef_, cold.dual_coef_, atol=1e-6)
    np.testing.assert_allclose(warm.intercept_, cold.intercept_, atol=1e-6)


@pytest.mark.parametrize("machine", [SVC(), NuSVC(nu=0.2), SVR(), NuSVR(), NuSVR(nu=1.0)], ids=str)
def test_warm_start_with_other_data(machine):
    """The last solution is of other labels, weights or rows: a start, or none, but no constraint."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] + 0.3 * rng.standard_normal(60) > 0).astype(int)
    model = clone(machine).set_params(warm_start=True).fit(X, y)
    weight = np.random.default_rng(1).integers(0, 3, 60)
    for points, labels, weights in (
        (X, 1 - y, None),
        (X, y, weight),
        (X, y[::-1], weight),
        (X[::-1], y[::-1], None),
        (X[:30], y[:30], None),
        (X, y, 1e-3 * weight),
    ):
        model.fit(points, labels, sample_weight=weights)
        cold = clone(machine).fit(points, labels, sample_weight=weights)
        np.testing.assert_allclose(model.dual_coef_, cold.dual_coef_, atol=1e-6)
        assert model.shape_fit_ == (len(points), 3)


@pytest.mark.parametrize("kind", ["ovo", "ovr"])
def test_all_problems_stop_for_the_reason_of_the_first(kind):
    X, y = np.random.default_rng(0).standard_normal((90, 2)), np.arange(90) % 3
    with pytest.warns(ConvergenceWarning, match="the time budget was used up"):
        model = SVC(C=1e3, multiclass=kind, time_budget=1e-9).fit(X, y)
    assert {solution.stats["reason"] for solution in model.solutions_} == {"the time budget was used up"}
    with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
        model = SVC(C=1e3, multiclass=kind).set_callbacks(lambda report: True).fit(X, y)
    assert {solution.stats["reason"] for solution in model.solutions_} == {"a callback asked to stop"}


@pytest.mark.parametrize(
    "machine",
    [
        SVC(Gaussian(1.0), C=10.0),
        NuSVC(Gaussian(1.0), nu=0.3),
        SVR(Gaussian(1.0), C=10.0),
        NuSVR(Gaussian(1.0), nu=0.5, C=1.0),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_checks_of_the_progress_do_not_end_a_fit(machine, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 3))
    y = X[:, 0] + 0.5 * rng.standard_normal(1500)
    labels = y if is_regressor(machine) else y > 0
    plain = clone(machine).fit(X, labels)
    monkeypatch.setattr(policy, "ITERATIONS_BETWEEN", 50)
    checked = clone(machine).fit(X, labels)
    assert plain.converged_
    assert checked.converged_
    difference = plain._function(X, plain.dual_coef_.T) - checked._function(X, checked.dual_coef_.T)
    assert np.abs(difference).max() < 5e-3


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fit_that_goes_on_from_a_solution_begins_there(classes):
    """Sums were made zero once more, and what was at a bound was one rounding away from it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 4))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(1500), [-0.6, 0.6][: classes - 1])
    model = SVC(warm_start=True).fit(X, y)
    before = model.intercept_
    with pytest.warns(UserWarning, match="time budget"):
        model.set_params(time_budget=1e-9).fit(X, y)
    np.testing.assert_allclose(model.intercept_, before, atol=1e-6)
    assert model.kkt_violation_ <= 1e-3
