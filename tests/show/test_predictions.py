"""Prediction plots."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian
from mercer.machines import KernelRidge
from mercer.show import canvas, prediction, prediction_band

pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    return canvas()[1]


class Constant:
    """A model that has learnt one number."""

    def __init__(self, value):
        self.value = value

    def predict(self, X):
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return np.full((n, *np.shape(self.value)), self.value)


def line(ax, start):
    (found,) = [item for item in ax.lines if item.get_label().startswith(start)]
    return found


def test_one_feature_gives_a_curve_through_the_model(ax):
    x = np.linspace(0, 3, 15)
    model = KernelRidge(Gaussian(0.7), alpha=0.1).fit(x[:, None], np.cos(x))
    prediction(model, x[:, None], np.cos(x), ax, data="training data", feature="time", name="height")

    curve = line(ax, "prediction")
    grid, values = curve.get_xdata(), curve.get_ydata()
    assert grid[0] < 0
    assert grid[-1] > 3
    np.testing.assert_array_equal(values, model.predict(grid[:, None]))
    data = line(ax, "training data (15)")
    np.testing.assert_array_equal(data.get_xdata(), x)
    np.testing.assert_array_equal(data.get_ydata(), np.cos(x))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time", "height")


@pytest.mark.parametrize("X", [[[1.0], [2.0]], scipy.sparse.csr_array([[1.0], [2.0]])])
def test_lists_and_sparse_columns_are_one_feature_too(ax, X):
    prediction(Constant(0.0), X, [1.0, 2.0], ax)
    np.testing.assert_array_equal(line(ax, "data (2)").get_xdata(), [1.0, 2.0])


@pytest.mark.parametrize(
    "X",
    [np.zeros((4, 2)), ["a", "b", "c", "d"], [{"a"}, {"b"}, set(), {"c"}], np.array(["a", "b", "c", "d"])],
)
def test_other_points_give_predicted_against_true(ax, X):
    y = np.array([0.0, 1.0, 2.0, 5.0])
    prediction(Constant(2.0), X, y, ax, data="held-out data", name="weight")
    dots = line(ax, "held-out data")
    np.testing.assert_array_equal(dots.get_xdata(), y)
    np.testing.assert_array_equal(dots.get_ydata(), np.full(4, 2.0))
    assert dots.get_label() == "held-out data (4, R² = 0.000)"  # the mean explains nothing
    np.testing.assert_array_equal(line(ax, "predicted = true").get_xdata(), [0.0, 5.0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("true weight", "predicted weight")


def test_constant_truth_has_no_r2(ax):
    prediction(Constant(1.0), np.zeros((3, 2)), np.ones(3), ax)
    assert line(ax, "data").get_label() == "data (3)"


def test_one_target_of_several(ax):
    Y = np.arange(6.0).reshape(3, 2)
    prediction(Constant([7.0, 8.0]), np.zeros((3, 2)), Y, ax, target=1)
    dots = line(ax, "data")
    np.testing.assert_array_equal(dots.get_xdata(), Y[:, 1])
    np.testing.assert_array_equal(dots.get_ydata(), [8.0, 8.0, 8.0])


def test_a_target_must_be_chosen(ax):
    with pytest.raises(ParameterError, match="`y` has 2 columns; choose one with target"):
        prediction(Constant([7.0, 8.0]), np.zeros((3, 2)), np.zeros((3, 2)), ax)
    with pytest.raises(ParameterError, match=r"`target` must be a column from 0 to 1\. Got 2"):
        prediction(Constant([7.0, 8.0]), np.zeros((3, 2)), np.zeros((3, 2)), ax, target=2)


@pytest.mark.parametrize("X", [np.zeros((3, 1)), np.zeros((3, 2))])
def test_lengths_must_agree(ax, X):
    with pytest.raises(InputError, match=r"3 .* for 2 values of `y`"):
        prediction(Constant(0.0), X, np.zeros(2), ax)


# -- bands -------------------------------------------------------------------------------------------
X = np.linspace(0, 5, 25)[:, None]
Y = np.sin(X[:, 0]) + 0.2 * np.random.default_rng(0).standard_normal(25)


@pytest.mark.parametrize("noise", [False, True])
def test_the_band_is_two_standard_deviations(ax, noise):
    targets = np.column_stack([Y, -2 * Y])
    model = KernelRidge(Gaussian(1.0), alpha=0.1, signal_variance="evidence").fit(X, targets)
    prediction_band(model, X, targets, ax, target=1, noise=noise, data="training data", name="height")
    curve = line(ax, "prediction")
    mean, std = (part[:, 1] for part in model.predict(curve.get_xdata()[:, None], return_std=True))
    np.testing.assert_array_equal(curve.get_ydata(), mean)
    if noise:
        std = np.sqrt(std**2 + model.noise_variance_[1])
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((mean + 2 * std).max())
    assert heights.min() == pytest.approx((mean - 2 * std).min())
    np.testing.assert_array_equal(line(ax, "training data (25)").get_ydata(), targets[:, 1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "height")


def test_a_band_needs_one_feature_and_a_value_for_each_point(ax):
    model = KernelRidge().fit(X, Y)
    with pytest.raises(InputError, match="one feature"):
        prediction_band(model, np.zeros((3, 2)), np.zeros(3), ax)
    with pytest.raises(InputError, match="prediction_band: 25 points in `X` for 24"):
        prediction_band(model, X, Y[:-1], ax)
    with pytest.raises(ParameterError, match="prediction_band: `y` has 2 columns; choose one with target"):
        prediction_band(model, X, np.column_stack([Y, Y]), ax)
