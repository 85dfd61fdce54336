"""Block coordinate descent against the solution of the dense system."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer.engine import runs
from mercer.errors import ParameterError
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge
from mercer.solvers import solve_ridge


def problem(n=300):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_dense_system(weighted):
    X, y = problem()
    K = Gaussian(1.0).block(X)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    Y = np.column_stack([y, y**2])
    found = solve_ridge(K, Y, 0.5, weight if weighted else None, solver="askotch", tol=1e-8, max_iter=2000)
    assert found.converged
    expected = np.linalg.solve(K + 0.5 * np.diag(1 / weight), Y)
    np.testing.assert_allclose(found.value.coefficients, expected, atol=1e-6)
    residual = Y - K @ found.value.coefficients - 0.5 * found.value.coefficients / weight[:, None]
    assert np.linalg.norm(residual) < 1e-7 * np.linalg.norm(Y)


def test_a_fraction_of_a_pass_is_usable(monkeypatch):
    monkeypatch.setattr(runs, "PAUSE", 0.0)  # callbacks are called at every step
    X, y = problem()
    callbacks = []

    def stop(progress):
        callbacks.append(progress.violation)
        return progress.iteration >= 3

    machine = KernelRidge(Gaussian(1.0), alpha=0.1, solver="askotch", tol=1e-10).set_callbacks(stop)
    with pytest.warns(ConvergenceWarning, match="a callback asked to stop"):
        machine.fit(X, y)
    assert 0 < machine.solution_.stats["passes"] < 20
    residual = y - Gaussian(1.0).block(X) @ machine.dual_coef_ - 0.1 * machine.dual_coef_
    assert np.linalg.norm(residual) == pytest.approx(machine.solution_.gap * np.linalg.norm(y), rel=1e-6)
    assert machine.solution_.gap < 1
    assert np.mean((machine.predict(X) - y) ** 2) < 0.5 * np.mean(y**2)


def test_a_checkpoint_and_a_warm_start(tmp_path):
    X, y = problem()
    machine = KernelRidge(
        Gaussian(1.0), alpha=0.5, solver="askotch", max_iter=1, checkpoint=tmp_path / "state", warm_start=True
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=1 passes"):
        machine.fit(X, y)
    first = machine.solution_.gap
    machine.set_params(max_iter=2000).fit(X, y)
    assert machine.solution_.stats["resumed"]
    assert machine.solution_.gap <= 1e-6 < first
    assert not (tmp_path / "state").exists()
    machine.fit(X, y)
    assert machine.solution_.stats["passes"] == 0


@pytest.mark.parametrize(
    "options", [{"fit_intercept": True}, {"alpha": [1.0]}, {"alpha": "loo"}, {"alpha": 0}]
)
def test_what_it_does_not_do_is_refused(options):
    X, y = problem(20)
    with pytest.raises(ParameterError, match="solver='askotch' needs"):
        KernelRidge(Gaussian(1.0), solver="askotch", **options).fit(X, y)
