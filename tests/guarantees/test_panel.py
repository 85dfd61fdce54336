"""The panel: bounds of a machine by hand, what it refuses, and how it says that a bound is vacuous."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.svm import SVC as SklearnSVC

from mercer.errors import InputError, ParameterError
from mercer.features import Nystrom
from mercer.guarantees import (
    compression_bound,
    margin_bound,
    pac_bayes_bound,
    panel,
    ridge_bound,
    support_vector_bound,
)
from mercer.kernels import Gaussian, Linear, Precomputed, Sigmoid, Spectrum
from mercer.machines import SVC, SVR, KernelLogistic, KernelRidge, NuSVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
LABELS = np.where(X[:, 0] + 0.2 * RNG.normal(size=200) > 0, "yes", "no")
NUMBERS = np.sin(X[:, 0])
SIGNS = np.where(LABELS == "yes", 1.0, -1.0)


def norm_of(model):
    K = Gaussian(2.0).block(model.expansion_._X)
    return math.sqrt(model.dual_coef_[0] @ K @ model.dual_coef_[0])


def test_bounds_of_a_support_vector_machine_by_hand():
    machine = SVC(Gaussian(2.0), C=1.0, fit_intercept=False)
    found = panel(machine, X, LABELS, delta=0.1)
    model = machine.fit(X, LABELS)
    z = SIGNS * model.decision_function(X) / norm_of(model)
    assert found["PAC-Bayes"].bound.value == pytest.approx(pac_bayes_bound(z, delta=0.1).value)
    margins = [
        margin_bound(z, r, norm_bound=1.0, radius=1.0, delta=0.1, rho_max=1.0) for r in (0.01, 0.1, 0.5, 1)
    ]
    assert found["margin"].bound.value <= min(map(float, margins)) + 1e-9
    trace = margin_bound(z, 0.5, norm_bound=1.0, K=200.0, delta=0.1, rho_max=1.0)
    assert found["Rademacher"].bound.value <= trace.value + 1e-9
    count = len(model.support_)
    assert found["leave-one-out"].bound.value == support_vector_bound(200, count).value
    assert found["compression"].bound.value == compression_bound(200, count, 0, delta=0.1).value
    # beta = C r^2, in (4 m beta + 1) sqrt(log(1 / delta) / 2 m)
    terms = found["stability"].bound.terms
    assert terms["stability"] == pytest.approx(2.0)
    assert terms["confidence"] == pytest.approx((4 * 200 + 1) * math.sqrt(math.log(10) / 400))
    assert found.training == np.mean(z <= 0)
    left_out = cross_val_predict(machine, X, LABELS, cv=StratifiedKFold(10, shuffle=True, random_state=0))
    assert found.cross_validated == np.mean(left_out != LABELS)


def test_an_intercept_is_one_more_feature():
    found = panel(SVC(Gaussian(2.0)), X, LABELS)
    model = SVC(Gaussian(2.0)).fit(X, LABELS)
    norm = math.hypot(norm_of(model), float(model.intercept_[0]))
    z = SIGNS * model.decision_function(X) / norm / math.sqrt(2)
    assert found["PAC-Bayes"].bound.value == pytest.approx(pac_bayes_bound(z).value)
    assert "not penalised" in found["stability"].verdict
    assert found["stability"].bound is None


def test_ridge_regression_by_hand():
    machine = KernelRidge(Gaussian(2.0), alpha=2.0)
    found = panel(machine, X, NUMBERS)
    model = machine.fit(X, NUMBERS)
    assert found["leave-one-out"].bound.value == pytest.approx(np.mean(model.loo_residuals() ** 2))
    loss, top = np.mean((NUMBERS - model.predict(X)) ** 2), np.abs(NUMBERS).max()
    expected = ridge_bound(loss, 200.0, n=200, radius=1.0, penalty=0.01, target_bound=top)
    assert found["Rademacher"].bound.value == pytest.approx(expected.value)
    size = top * (1 + 1 / math.sqrt(0.01))
    beta = (2 * size) ** 2 / (2 * 0.01 * 200)
    assert found["stability"].bound.terms["stability"] == pytest.approx(2 * beta)
    assert found["PAC-Bayes"].verdict == "none: for classifiers"
    left_out = cross_val_predict(machine, X, NUMBERS, cv=KFold(10, shuffle=True, random_state=0))
    assert found.cross_validated == pytest.approx(np.mean((left_out - NUMBERS) ** 2))
    assert found.trivial == pytest.approx(np.mean(NUMBERS**2))
    free = panel(KernelRidge(Gaussian(2.0), fit_intercept=True), X, NUMBERS)
    assert free["Rademacher"].bound is None
    assert free["leave-one-out"].bound is not None


def test_the_ridge_bound_in_a_case_that_is_not_vacuous():
    bound = ridge_bound(0.01, 1e6, n=10**6, radius=1.0, penalty=1.0, target_bound=1.0, delta=0.05)
    # L = 1, B + r L = 2: 4 * 2 * 1 * 1000 / 10^6 and 3 * 4 * sqrt(log(40) / (2 * 10^6))
    assert bound.value == pytest.approx(0.01 + 0.008 + 12 * math.sqrt(math.log(40) / 2e6))
    assert not bound.vacuous


def test_vacuous_bounds_are_said_to_be():
    found = panel(SVC(Gaussian(0.1), C=100.0), X[:40], LABELS[:40])
    text = str(found)
    assert all(row.vacuous for row in found if row.bound is not None)
    assert text.count("VACUOUS") == 5
    assert found["compression"].verdict == "vacuous"
    assert "A bound of 0.5 or more is vacuous" in text
    assert "probability of error R(h), PAC-Bayes bound" in found.explain()
    assert len(found.table()) == 6
    assert found._repr_html_().count("<tr>") == 8
    assert "40 training points" in repr(found)
    with pytest.raises(KeyError, match="compression"):
        found["compresion"]


def test_large_samples_have_bounds_that_are_not_vacuous():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(3000, 1))
    found = panel(SVC(Gaussian(3.0), C=10.0), points, points[:, 0] > 0, cv=2)
    assert found["compression"].verdict == "holds"
    assert found["PAC-Bayes"].verdict == "holds"
    assert found.cross_validated <= found["compression"].bound.value <= 0.3


def test_assumptions_that_a_machine_breaks_are_named():
    def broken(machine, y=LABELS, points=X):
        return " ".join(panel(machine, points, y, cv=2).broken)

    assert broken(SVC(Gaussian(1.0))) == ""
    assert "depends on the sample" in broken(SVC(Gaussian("scale")))
    assert "k(x, x) is bounded" in broken(SVC(Linear()))
    assert "tune='evidence'" in broken(KernelRidge(Gaussian(1.0), tune="evidence"), NUMBERS)
    assert "alpha='loo'" in broken(KernelLogistic(Gaussian(1.0), alpha="loo"))
    assert "not certified" in broken(SVC(Sigmoid(0.01, 0.0), indefinite="clip"))


@pytest.mark.parametrize(
    ("machine", "kinds"),
    [
        (NuSVC(Gaussian(2.0), nu=0.2), {"margin", "Rademacher", "PAC-Bayes"}),
        (KernelLogistic(Gaussian(2.0)), {"margin", "Rademacher", "PAC-Bayes"}),
        (
            KernelLogistic(Gaussian(2.0), fit_intercept=False),
            {"margin", "Rademacher", "stability", "PAC-Bayes"},
        ),
        (SVC(Gaussian(2.0), class_weight="balanced"), {"margin", "Rademacher", "PAC-Bayes"}),
    ],
    ids=["nu", "logistic", "logistic-without-intercept", "balanced"],
)
def test_which_bounds_a_machine_has(machine, kinds):
    assert {row.name for row in panel(machine, X, LABELS, cv=2) if row.bound is not None} == kinds


def test_strings_and_precomputed_matrices():
    words = ["ab" * (i % 3 + 1) + "b" * (i % 5) for i in range(60)]
    labels = [len(w) > 5 for w in words]
    assert panel(SVC(Spectrum(2)), words, labels, cv=3).n == 60
    K = Gaussian(2.0).block(X)
    given, direct = panel(SVC(Precomputed()), K, LABELS, cv=3), panel(SVC(Gaussian(2.0)), X, LABELS, cv=3)
    assert given["PAC-Bayes"].bound.value == pytest.approx(direct["PAC-Bayes"].bound.value, rel=1e-6)
    assert given.cross_validated == direct.cross_validated


def test_a_function_that_is_zero_has_no_margins():
    found = panel(KernelLogistic(Linear(), fit_intercept=False), np.zeros((20, 1)), LABELS[:20], cv=2)
    assert all(row.reason == "the function is zero" for row in found)


def test_bad_input_is_named():
    for machine in (SVR(Gaussian(1.0)), SklearnSVC(), 3):
        with pytest.raises(InputError, match="`machine` must be SVC, NuSVC, KernelLogistic or KernelRidge"):
            panel(machine, X, NUMBERS)
    with pytest.raises(InputError, match="`y` must hold two classes"):
        panel(SVC(Gaussian(1.0)), X, np.digitize(NUMBERS, [-0.5, 0.5]))
    with pytest.raises(InputError, match=r"`y` must be of shape \(n,\)"):
        panel(KernelRidge(Gaussian(1.0)), X, np.c_[NUMBERS, NUMBERS])
    with pytest.raises(InputError, match="`alpha` > 0"):
        panel(KernelRidge(Gaussian(1.0), alpha=0.0), X, NUMBERS)
    with pytest.raises(InputError, match="no `approximation`"):
        panel(SVC(approximation=Nystrom(Gaussian(1.0), 10)), X, LABELS)
    with pytest.raises(ParameterError, match="`delta`"):
        panel(SVC(), X, LABELS, delta=0.0)
    with pytest.raises(ParameterError, match="`cv`"):
        panel(SVC(), X, LABELS, cv=1)
