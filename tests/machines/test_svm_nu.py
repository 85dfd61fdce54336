"""Machines with a share nu: the least objective over the whole range of nu, and who is outside."""

import numpy as np
import pytest

from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial
from mercer.machines import EnclosingBall, NuSVR, OneClassSVM
from mercer.machines.svm.problems import most_nu

from ..solvers.svm.interior import least_objective
from .svm_problems import Trial

SHARES = [1e-3, 0.05, 0.3, 0.6, 0.8, 0.9, 0.92, 0.95, 0.97, 0.99, 0.999, 1.0]

#: Objectives may exceed the least one by this part of them; the solver's tolerance is 1e-7.
EXCESS = 1e-5


def trial_of(machine, share, seed):
    """A small problem: where nu is close to 1, few variables are free, and with few points often none."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    X = rng.standard_normal((n, int(rng.integers(1, 4))))
    if machine == "NuSVC":
        y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)
        y[:2] = -1.0, 1.0
    else:
        y = np.ones(n) if machine == "OneClassSVM" else np.sin(2 * X[:, 0]) + 0.3 * rng.standard_normal(n)
    kernels = [Gaussian(float(10 ** rng.uniform(-1, 1))), Laplacian(0.5), Linear(), Polynomial(2)]
    kernel = kernels[seed % 4]
    weight = np.ones(n) if seed % 3 else rng.uniform(0.1, 3.0, n)
    nu = share * (most_nu(y, weight) if machine == "NuSVC" else 1.0)
    return Trial(
        machine, kernel, X, kernel.block(X), y, weight, float(10 ** rng.uniform(-2, 3)), nu, 0.0, None
    )


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("machine", ["NuSVR", "NuSVC", "OneClassSVM"])
def test_objectives_are_the_least(machine, share):
    for seed in range(8):
        trial = trial_of(machine, share, seed)
        least, total = trial.least(), trial.nu * float(trial.bounds.sum())
        scale = abs(least) + 1e-6 * total * float(np.abs(trial.y).max())
        if machine == "NuSVC" and least <= 1e-7 * total**2 * trial.K.diagonal().max():
            continue  # the reduced hulls overlap: there is no margin
        b = trial.coefficients(trial.ours(tol=1e-7))
        assert trial.infeasibility(b) <= 1e-9, (seed, trial)
        assert trial.objective(b) - least <= EXCESS * scale, (seed, trial)


@pytest.mark.parametrize("share", SHARES)
def test_balls_are_the_smallest(share):
    for seed in range(8):
        trial = trial_of("OneClassSVM", share, seed)
        weight, diagonal = trial.weight, trial.K.diagonal()
        C = 1 / (share * float(weight.sum()))
        model = EnclosingBall(trial.kernel, C=C, tol=1e-7).fit(trial.X, sample_weight=weight)
        b = np.zeros(len(weight))
        b[model.support_] = model.dual_coef_[0]
        assert (b <= C * weight * (1 + 1e-9)).all()
        least = least_objective(trial.K, -diagonal / 2, np.zeros(len(b)), C * weight, sums=(1.0,))
        reached = 0.5 * float(b @ trial.K @ b) - 0.5 * float(diagonal @ b)
        assert reached - least <= EXCESS * float(diagonal.max())


def test_warm_starts_reach_the_same():
    trial = trial_of("NuSVR", 0.99, 4)
    model = NuSVR(nu=0.5, C=trial.C, kernel=trial.kernel, tol=1e-7, warm_start=True).fit(trial.X, trial.y)
    for nu in (0.99, 0.3, 1.0, 0.95):
        warm = model.set_params(nu=nu).fit(trial.X, trial.y).predict(trial.X)
        cold = NuSVR(nu=nu, C=trial.C, kernel=trial.kernel, tol=1e-7).fit(trial.X, trial.y).predict(trial.X)
        np.testing.assert_allclose(warm, cold, atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian("scale"), Laplacian(1.0), Gaussian(0.05)], ids=repr)
@pytest.mark.parametrize("nu", [1e-12, 1e-6, 2e-3, 0.01, 0.1, 0.5, 0.9, 1.0])
def test_at_most_the_share_is_outside(nu, kernel, weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    weight = rng.uniform(0.1, 3.0, 200) if weighted else np.ones(200)
    machines = [OneClassSVM(kernel, nu=nu), EnclosingBall(kernel, C=1 / (nu * weight.sum()) * (1 + 1e-12))]
    for machine in machines:
        model = machine.fit(X, sample_weight=weight)
        outside = model.predict(X) < 0
        assert weight[outside].sum() <= nu * weight.sum() * (1 + 1e-9)
        np.testing.assert_array_equal(np.isin(np.flatnonzero(outside), model.support_), True)


def test_boundary_points_are_inside_in_single_precision_too():
    X = np.random.default_rng(1).standard_normal((3000, 3))
    model = OneClassSVM(nu=1e-6).fit(X)
    assert (model.predict(X) == 1).all()
    assert model.decision_function(X).min() <= 2e-3 * model.offset_  # the boundary is no further
