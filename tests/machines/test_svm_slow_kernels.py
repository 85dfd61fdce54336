"""Time budgets and Ctrl-C where kernel values take long: a model comes back before all are computed."""

import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer.errors import TimeBudgetError
from mercer.machines import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM

N = 120
PAIRS = N * (N + 1) // 2


class Clock:
    """A kernel whose values take a millisecond; counts them."""

    def __init__(self):
        self.calls, self.seconds = 0, 1e-3

    def __call__(self, x, y):
        self.calls += 1
        time.sleep(self.seconds)
        return float(np.exp(-((x - y) ** 2)))


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "1")


@pytest.fixture
def data():
    x = np.random.default_rng(0).standard_normal(N)
    return x.tolist(), np.abs(x)


def slow(proved=True):
    function = Clock()
    reason = {"assume": "PSD", "reason": "a Gaussian kernel"} if proved else {}
    return function, mercer.kernel(function, **reason)


MACHINES = [
    (SVC, lambda r: (r > 0.7).astype(int)),
    (SVC, lambda r: np.digitize(r, [0.4, 0.8, 1.2])),
    (NuSVC, lambda r: (r > 0.7).astype(int)),
    (SVR, lambda r: r),
    (NuSVR, lambda r: r),
    (OneClassSVM, lambda r: None),
    (EnclosingBall, lambda r: None),
]


@pytest.mark.parametrize(("machine", "targets"), MACHINES)
@pytest.mark.parametrize("proved", [True, False])
def test_a_budget_ends_the_kernel_values_too(machine, targets, proved, data):
    points, radius = data
    function, kernel = slow(proved)
    with pytest.warns(ConvergenceWarning, match="time budget"):
        model = machine(kernel, time_budget=0.3).fit(points, targets(radius))
    assert function.calls < PAIRS / 4
    assert not model.converged_
    assert np.isfinite(model.decision_function(points[:2]) if hasattr(model, "decision_function")
                       else model.predict(points[:2])).all()  # fmt: skip


@pytest.mark.parametrize("cuts", [[0.7], [0.4, 0.8, 1.2]])
def test_a_budget_of_a_path(cuts, data):
    points, radius = data
    function, kernel = slow()
    with pytest.warns(ConvergenceWarning, match="time budget"):
        models = SVC(kernel, time_budget=0.3).path(points, np.digitize(radius, cuts), [0.1, 1.0])
    assert function.calls < PAIRS / 4
    assert not any(model.converged_ for model in models)


def test_without_a_budget_every_pair_is_computed_once(data):
    points, radius = data
    function, kernel = slow()
    model = SVC(kernel, time_budget=600.0).fit(points[:30], radius[:30] > 0.7)
    assert model.converged_
    assert function.calls <= 30 * 31 // 2 + 2 * 30


@pytest.mark.parametrize("policy", ["error", "clip"])
def test_what_has_to_be_checked_first_is_said(policy, data):
    points, radius = data
    _, kernel = slow(proved=False)
    with pytest.raises(TimeBudgetError, match="used up during the check of the kernel, which indefinite"):
        SVC(kernel, indefinite=policy, time_budget=0.1).fit(points, radius > 0.7)


def test_an_interrupt_leaves_a_model(data):
    points, radius = data
    function, kernel = slow()

    def interrupted(x, y):
        if function.calls > 200:
            raise KeyboardInterrupt
        return function(x, y)

    kernel = mercer.kernel(interrupted, assume="PSD", reason="a Gaussian kernel")
    model = SVC(kernel)
    with pytest.warns(ConvergenceWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(points, radius > 0.7)
    assert not model.converged_
    assert model.gap_ > 0


@pytest.mark.parametrize(("machine", "targets"), MACHINES[:5])
@pytest.mark.parametrize("apart", [False, True])
def test_no_time_for_a_single_value_leaves_the_model_as_it_was(machine, targets, apart, data, monkeypatch):
    """The intercept was that of coefficients zero; of many classes, the coefficients were lost as well."""
    if apart:  # problems of many classes in batches
        monkeypatch.setattr("mercer.solvers.svm.policy.are_refined", lambda sizes: False)
    points, radius = data
    function, k = slow()
    function.seconds = 0.0
    model = machine(kernel=k, warm_start=True).fit(points, targets(radius))
    before, coefficients, calls = model.intercept_, model.dual_coef_, function.calls
    function.seconds = 1e-3
    with pytest.warns(ConvergenceWarning, match="The model is as it was"):
        model.set_params(time_budget=1e-9).fit(points, targets(radius))
    assert function.calls < calls + PAIRS / 4
    np.testing.assert_array_equal(model.intercept_, before)
    np.testing.assert_allclose(model.dual_coef_, coefficients, rtol=1e-12)
