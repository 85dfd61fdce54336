"""Answers do not depend on the unit of the kernel; where double precision gives up, it does so soon."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mercer import gram
from mercer.errors import ParameterError
from mercer.kernels import Linear, Polynomial
from mercer.machines import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM
from mercer.solvers import LazyMatrix

RNG = np.random.default_rng(7)
MANY = RNG.standard_normal((2500, 4))  # more than are solved exactly at the end
LABELS = MANY[:, 0] + 0.3 * RNG.standard_normal(2500) > 0
SCALES = [1e-20, 1e-8, 1e-3, 1e6, 1e20]


@pytest.mark.parametrize("scale", SCALES)
def test_one_class_machines_keep_their_share_in_any_unit(scale):
    plain = OneClassSVM(Linear(), nu=0.3).fit(MANY + 3)
    model = OneClassSVM(Linear(), nu=0.3).fit(scale * (MANY + 3))
    assert model.converged_
    assert abs((model.predict(scale * (MANY + 3)) < 0).mean() - 0.3) < 0.01
    values, expected = model.decision_function(scale * (MANY + 3)), plain.decision_function(MANY + 3)
    np.testing.assert_allclose(values / scale**2, expected, atol=1e-2 * np.abs(expected).max())


@pytest.mark.parametrize("scale", SCALES)
def test_hard_balls_have_all_points_inside_in_any_unit(scale):
    ball = EnclosingBall(Linear()).fit(scale * MANY)
    assert ball.converged_
    assert (ball.predict(scale * MANY) == 1).all()
    assert ball.radius_ / scale == pytest.approx(
        EnclosingBall(Linear(), tol=1e-9).fit(MANY).radius_, rel=1e-3
    )


def test_balls_far_from_the_origin_are_as_accurate():
    """The unit of the tolerance is the size of the ball, not where it is."""
    ball = EnclosingBall(Linear()).fit(MANY + 1e3)
    assert ball.radius_ == pytest.approx(EnclosingBall(Linear()).fit(MANY).radius_, rel=1e-2)


@pytest.mark.parametrize("scale", SCALES)
def test_nu_classifiers_in_any_unit(scale):
    """The tolerance is a part of the margin, as it is for SVC."""
    expected = NuSVC(Linear(), nu=0.3, tol=1e-6).fit(MANY, LABELS).decision_function(MANY)
    model = NuSVC(Linear(), nu=0.3).fit(scale * MANY, LABELS)
    assert model.converged_
    values = model.decision_function(scale * MANY)
    np.testing.assert_allclose(values, expected, atol=1e-2 * np.abs(expected).max())


def test_regressions_tell_that_the_tolerance_hides_the_targets():
    X, y = MANY[:60], 1e-4 * MANY[:60, 0]
    for machine in (NuSVR(), SVR(epsilon=0.0)):
        with pytest.warns(UserWarning, match=r"`tol` is 0\.001, in the unit of y, and the targets differ by"):
            machine.fit(X, y)
        machine.set_params(tol=1e-7).fit(X, y)  # warnings are errors here
    SVR().fit(X, y)  # nothing to learn within the tube


def wild(n, scale):
    X = np.random.default_rng(0).standard_normal((n, 2)) * [1.0, scale]
    return X, X[:, 0]


def test_rows_in_single_precision_are_not_used_where_they_hide_the_targets():
    """Values of 1e12 are rounded by 1e5; the machine predicted numbers of that size."""
    X, y = wild(1500, 30.0)
    model = SVR(Polynomial(3), C=1.0).fit(X, y)
    assert model.solutions_[0].stats["cache_dtype"] == "float64"
    assert model.converged_
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize(("machine", "n"), [(SVR, 50), (SVR, 200), (SVC, 50)])
def test_hopelessly_scaled_data_are_given_up_soon(machine, n):
    """Not by the limit of ten million steps, and with the best of the points that were met."""
    X, y = wild(n, 1e5)
    model = machine(Polynomial(3))
    with pytest.warns(ConvergenceWarning, match="no step lowers the objective much any more"):
        model.fit(X, y if machine is SVR else y > 0)
    assert np.sum(model.n_iter_) < 1_000_000
    assert model.gap_ <= n  # at zero it is about the sum of the losses


def test_arguments_of_other_kinds_are_refused_by_name():
    X, y = MANY[:40], LABELS[:40]
    for Cs in (5, None, ["a"]):
        with pytest.raises(ParameterError, match="`Cs` must be a list of positive numbers"):
            SVC().path(X, y, Cs)
    with pytest.raises(ParameterError, match="`class_weight` must be 'balanced', a dict"):
        SVC(class_weight=[1, 2]).fit(X, y)


def test_groups_have_any_names():
    X, y = MANY[:40], LABELS[:40]
    plain = SVC(probability=True).fit(X, y, groups=np.arange(40) // 4)
    names = np.empty(40, dtype=object)
    names[:] = [("a", i // 4) if i % 8 < 4 else str(i // 4) for i in range(40)]
    named = SVC(probability=True).fit(X, y, groups=names)
    np.testing.assert_array_equal(plain.predict_proba(X), named.predict_proba(X))


def test_enormous_prices_are_quiet():
    model = SVC(C=1e300).fit(MANY[:90], MANY[:90, 0] * MANY[:90, 1] > 0)  # warnings are errors here
    assert model.converged_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("C", [1e200, 1e308])
@pytest.mark.parametrize("machine", [SVC, SVR])
def test_bounds_close_to_the_largest_number_do_not_overflow_aloud(machine, C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1100, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(1100)
    model = machine(C=C, kernel=Linear(), max_iter=2000).fit(X, y if machine is SVR else y > 0)
    assert np.isfinite(model.dual_coef_).all()


def test_rows_of_sparse_points_are_kept_where_gathering_takes_longer():
    """A linear kernel on 8,000 rows of 45 entries each had every row computed ten times."""
    X = sparse.random(50, 3000, 0.015, format="csr", random_state=0)
    dense = np.ones((50, 45))
    assert LazyMatrix(gram(Linear(), X)).cost > 160 > LazyMatrix(gram(Linear(), dense)).cost
