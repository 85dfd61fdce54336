"""Warnings of machines name the line of the user that led to them."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer.kernels import Gaussian, Precomputed
from mercer.machines import (
    SVC,
    SVR,
    EnclosingBall,
    IndefiniteKernelWarning,
    KernelLogistic,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
)
from mercer.solvers.svm import policy

SUPPORT_VECTOR_MACHINES = [SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(), EnclosingBall()]
OTHERS = [KernelRidge(), KernelLogistic(), KernelPCA(), PegasosSVC(), KernelPerceptron()]


def data(n=60):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 2)), np.arange(n) % 2


def places(category, call):
    """Files and lines to which the warnings of a call are put down, and its own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found = {(w.filename, w.lineno) for w in caught if issubclass(w.category, category)}
    source, first = inspect.getsourcelines(call)
    lines = range(first, first + len(source))
    assert found
    return all(filename == __file__ and line in lines for filename, line in found)


@pytest.mark.parametrize("machine", [*SUPPORT_VECTOR_MACHINES, *OTHERS], ids=lambda m: type(m).__name__)
def test_indefinite_kernels(machine):
    K = np.diag(np.linspace(-0.5, 3.0, 60))
    model, y = clone(machine).set_params(kernel=Precomputed()), data()[1]
    assert places(IndefiniteKernelWarning, lambda: model.fit(K, y))


@pytest.mark.parametrize("machine", SUPPORT_VECTOR_MACHINES, ids=lambda m: type(m).__name__)
def test_convergence(machine):
    X, y = data()
    model = clone(machine).set_params(max_iter=1)
    assert places(ConvergenceWarning, lambda: model.fit(X, y))


def test_convergence_by_other_ways():
    X, y = data()
    assert places(ConvergenceWarning, lambda: SVC(max_iter=1).path(X, y, [1.0, 2.0]))
    assert places(ConvergenceWarning, lambda: SVC(max_iter=1, probability=True).fit(X, y))
    assert places(ConvergenceWarning, lambda: SVC(max_iter=1).fit(X, np.arange(60) % 4))
    assert places(ConvergenceWarning, lambda: OneClassSVM(max_iter=1).fit_predict(X))  # by a mixin


@pytest.mark.parametrize("machine", [PegasosSVC(), KernelPerceptron()], ids=lambda m: type(m).__name__)
def test_interrupts_of_online_machines(machine, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    X, y = data()
    model = clone(machine)
    monkeypatch.setattr(model, "_advance", interrupted)

    def fit():
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)

    assert places(ConvergenceWarning, fit)


def test_the_limit_without_a_limit_is_explained(monkeypatch):
    X, y = data()
    monkeypatch.setattr(policy, "MAX_ITER", 7)
    monkeypatch.setattr(policy, "MAX_ITER_EACH", 0)
    with pytest.warns(
        ConvergenceWarning, match=r"limit of max_iter, 7 steps.*\(max_iter=-1 stands for 7 steps"
    ):
        SVC(Gaussian(0.3), C=100.0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="limit of max_iter, 7 steps") as caught:
        SVC(Gaussian(0.3), C=100.0, max_iter=7).fit(X, y)
    assert "-1" not in str(caught[0].message)
