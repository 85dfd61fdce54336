"""Kernels of low rank on larger problems: solved to rounding, where SMO takes millions of steps."""

import numpy as np
import pytest

from mercer.kernels import Linear
from mercer.machines import SVC, NuSVR


def primal(machine, X, y, C):
    """The objective of the separating plane that the machine has found, from its definition."""
    w = machine.dual_coef_[0] @ X[machine.support_]
    return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w + machine.intercept_[0])).sum()


@pytest.mark.parametrize(("C", "scales"), [(1000.0, (0, 0)), (10.0, (-2, 2))])
def test_low_ranks_and_columns_out_of_scale_are_solved_exactly(C, scales):
    """These took ten million steps and more, and did not converge."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2100, 8))
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(2100) > 0, 1, -1)
    X = X * np.logspace(*scales, 8)
    machine = SVC(Linear(), C=C).fit(X, y)
    assert machine.converged_
    assert machine.solutions_[0].stats["iterations"] < 1_000_000
    dual = -machine.solutions_[0].stats["objective"]
    assert primal(machine, X, y, C) - dual == pytest.approx(0.0, abs=1e-8 * dual)


def test_sums_of_both_signs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2100, 8))
    machine = NuSVR(C=10.0, kernel=Linear()).fit(X, X[:, 0] + 0.1 * rng.standard_normal(2100))
    assert machine.converged_
    assert machine.kkt_violation_ < 1e-9
    assert machine.solutions_[0].stats["iterations"] < 1_000_000
