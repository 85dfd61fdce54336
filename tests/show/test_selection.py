"""Curves of penalties."""

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge, SmoothingSpline
from mercer.show import canvas, leave_one_out_curve

pytest.importorskip("matplotlib")

X = np.linspace(0, 5, 25)[:, None]
Y = np.sin(X[:, 0]) + 0.2 * np.random.default_rng(0).standard_normal(25)


@pytest.fixture
def ax():
    return canvas()[1]


def line(ax, start):
    (found,) = [item for item in ax.lines if item.get_label().startswith(start)]
    return found


def test_the_curve_shows_every_penalty_and_the_choice(ax):
    model = KernelRidge(Gaussian(1.0), alpha="loo").fit(X, Y)
    leave_one_out_curve(model, ax)
    curve = line(ax, "leave-one-out")
    np.testing.assert_array_equal(curve.get_xdata(), model.alphas_)
    np.testing.assert_array_equal(curve.get_ydata(), model.loo_errors_)
    np.testing.assert_array_equal(line(ax, "generalised").get_ydata(), model.gcv_errors_)
    assert list(line(ax, "chosen").get_xdata()) == [model.alpha_] * 2
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_several_targets_are_added_and_their_choices_marked(ax):
    noise = np.random.default_rng(1).standard_normal(25)
    model = KernelRidge(Gaussian(1.0), alpha="gcv", alpha_per_target=True)
    model.fit(X, np.column_stack([Y, noise]))
    leave_one_out_curve(model, ax)
    np.testing.assert_allclose(line(ax, "leave-one-out").get_ydata(), model.loo_errors_.sum(axis=1))
    marks = [item.get_xdata()[0] for item in ax.lines if len(item.get_xdata()) == 2]
    assert marks == sorted(set(model.alpha_))


def test_splines_have_a_curve_too(ax):
    model = SmoothingSpline(criterion="loo").fit(X, Y)
    leave_one_out_curve(model, ax)
    np.testing.assert_array_equal(line(ax, "leave-one-out").get_ydata(), model.errors_)
    assert ax.get_xlabel() == "penalty alpha"


@pytest.mark.parametrize(
    "model", [KernelRidge().fit(X, Y), SmoothingSpline(alpha=1.0).fit(X, Y)], ids=["ridge", "spline"]
)
def test_without_a_choice_there_is_no_curve(ax, model):
    with pytest.raises(ParameterError, match="chosen no penalty"):
        leave_one_out_curve(model, ax)
