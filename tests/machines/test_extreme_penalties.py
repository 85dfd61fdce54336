"""Penalties at the ends of the floating-point range: an answer, or an error that names the parameter."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer.errors import MercerError, ParameterError
from mercer.kernels import Gaussian
from mercer.machines import (
    KernelCCA,
    KernelDiscriminant,
    KernelLogistic,
    KernelRidge,
    LaplacianRLS,
    LaplacianRLSClassifier,
    PegasosSVC,
    RepresenterMachine,
    SmoothingSpline,
    SupervisedReduction,
    ThinPlateSpline,
)

KERNEL = Gaussian(1.0)
PENALTIES = [1e308, 1e150, 1e100, 1e39, 1e-39, 1e-100, 1e-150, 1e-320]

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
Y = np.sin(2 * X[:, 0]) + 0.1

REGRESSORS = {
    "ridge": lambda a: KernelRidge(KERNEL, alpha=a),
    "ridge cg": lambda a: KernelRidge(KERNEL, alpha=a, solver="cg"),
    "ridge loo": lambda a: KernelRidge(KERNEL, alpha="loo", alphas=[1.0, a]),
    "laplacian": lambda a: LaplacianRLS(KERNEL, alpha=a),
    "squared": lambda a: RepresenterMachine(KERNEL, alpha=a),
    "squared intercept": lambda a: RepresenterMachine(KERNEL, alpha=a, fit_intercept=True),
    "squared norm": lambda a: RepresenterMachine(KERNEL, penalty="norm", alpha=a),
    "huber": lambda a: RepresenterMachine(KERNEL, loss="huber", penalty=3.0, alpha=a),
    "pinball": lambda a: RepresenterMachine(KERNEL, loss="pinball", alpha=a),
    "pinball norm": lambda a: RepresenterMachine(KERNEL, loss="pinball", penalty="norm", alpha=a),
    "interpolation": lambda a: RepresenterMachine(KERNEL, loss="interpolation", alpha=a),
    "own": lambda a: RepresenterMachine(
        KERNEL, loss=lambda y, f: (0.5 * ((f - y) ** 2).sum(), f - y), alpha=a, max_iter=50
    ),
    "reduction": lambda a: SupervisedReduction(KERNEL, alpha=a),
}
CLASSIFIERS = {
    "logistic": lambda a: KernelLogistic(KERNEL, alpha=a),
    "logistic l1": lambda a: KernelLogistic(KERNEL, alpha=0.0, l1=a),
    "logistic both": lambda a: KernelLogistic(KERNEL, alpha=a, l1=0.1),
    "logistic loo": lambda a: KernelLogistic(KERNEL, alpha="loo", alphas=[1.0, a]),
    "pegasos": lambda a: PegasosSVC(KERNEL, alpha=a, random_state=0),
    "discriminant": lambda a: KernelDiscriminant(KERNEL, alpha=a),
    "laplacian": lambda a: LaplacianRLSClassifier(KERNEL, alpha=a),
    "hinge": lambda a: RepresenterMachine(KERNEL, loss="hinge", alpha=a),
    "representer logistic": lambda a: RepresenterMachine(KERNEL, loss="logistic", alpha=a),
}


def answers(fit, predict):
    """Nothing but the model's own report of its accuracy, or an error that names the parameter."""
    message = "`alpha`"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            assert np.isfinite(predict(fit())).all()
        except MercerError as error:
            message = str(error)
    assert "`alpha" in message or "`l1`" in message


@pytest.mark.parametrize("alpha", PENALTIES)
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, alpha):
    make = REGRESSORS[name]
    answers(lambda: make(alpha).fit(X, Y), lambda m: getattr(m, "predict", getattr(m, "transform", None))(X))


@pytest.mark.parametrize("alpha", PENALTIES)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, alpha):
    answers(lambda: CLASSIFIERS[name](alpha).fit(X, (Y > 0).astype(int)), lambda m: m.predict(X))


@pytest.mark.parametrize("alpha", PENALTIES)
def test_others(alpha):
    for order in (1, 2, 3):
        spline = SmoothingSpline(order=order, alpha=alpha)
        answers(lambda m=spline: m.fit(X[:, :1], Y), lambda m: m.predict(X[:, :1]))
    answers(lambda: ThinPlateSpline(alpha=alpha).fit(X, Y), lambda m: m.predict(X))


@pytest.mark.parametrize("alpha", PENALTIES)
@pytest.mark.parametrize("penalty", ["norm", "square"])
@pytest.mark.filterwarnings("ignore:KernelCCA. `n_components` is 2, but there are only 0")  # all is penalty
def test_correlations(alpha, penalty):
    message = "`alpha`"
    try:
        assert np.isfinite(
            KernelCCA(KERNEL, alpha=alpha, penalty=penalty).fit(X, X[:, :1]).correlations_
        ).all()
    except MercerError as error:
        message = str(error)
    assert "`alpha`" in message


@pytest.mark.parametrize("size", [30, 1600])
@pytest.mark.parametrize("solver", ["auto", "cg"])
@pytest.mark.parametrize("alpha", [1e20, 1e39, 1e50, 1e100])
def test_a_ridge_that_is_all_penalty(size, solver, alpha):
    """Then the coefficients are targets over penalties."""
    points = np.random.default_rng(1).standard_normal((size, 2))
    y = np.sin(points[:, 0])
    model = KernelRidge(KERNEL, alpha=alpha, solver=solver).fit(points, y)
    np.testing.assert_allclose(alpha * model.dual_coef_, y, rtol=1e-6, atol=1e-6)
    assert model.solution_.converged


@cache
def ridge_of_scaled_targets(solver, scale, size):
    points = np.random.default_rng(1).standard_normal((size, 2))
    model = KernelRidge(KERNEL, solver=solver, tol=1e-9).fit(points, scale * np.sin(points[:, 0]))
    return model.predict(points[:20])


@pytest.mark.parametrize("solver", ["auto", "cg"])
@pytest.mark.parametrize(
    ("size", "scale"), [(30, 1e-140), (30, 1e-20), (30, 1e20), (30, 1e140), (1600, 1e-140), (1600, 1e140)]
)
def test_the_scale_of_ridge_targets_does_not_matter(solver, scale, size):
    plain, scaled = (ridge_of_scaled_targets(solver, s, size) for s in (1.0, scale))
    np.testing.assert_allclose(scaled / scale, plain, atol=1e-7)


@pytest.mark.parametrize("penalty", [1e300, 101, np.inf, np.nan, 0.99, -1.0, 1e-300])
def test_powers_of_the_norm_have_a_range(penalty):
    with pytest.raises(ParameterError, match=r"`penalty` must be .* a power between 1 and 100"):
        RepresenterMachine(KERNEL, penalty=penalty).fit(X, Y)


@pytest.mark.parametrize("loss", ["squared", "pinball", "huber"])
@pytest.mark.parametrize("penalty", [10.0, 50.0, 100.0])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_high_powers_are_a_bound_on_the_norm(loss, penalty, alpha):
    """With alpha t^p / p the derivative is alpha t^(p-1): for high p, it is a wall near one."""
    model = RepresenterMachine(KERNEL, loss=loss, penalty=penalty, alpha=alpha).fit(X, Y)
    assert model.solution_.converged
    lam = alpha * model.norm_ ** (penalty - 2)
    twin = RepresenterMachine(KERNEL, loss=loss, alpha=lam).fit(X, Y)
    np.testing.assert_allclose(twin.predict(X), model.predict(X), atol=1e-5)
