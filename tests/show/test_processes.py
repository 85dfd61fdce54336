"""Plots of Gaussian processes."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, WhiteNoise
from mercer.machines import GaussianProcessRegressor
from mercer.show import canvas, posterior_samples, relevances

pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    return canvas()[1]


def test_samples_the_mean_and_the_band(ax):
    X, y = np.linspace(0, 3, 10)[:, None], np.sin(np.linspace(0, 3, 10))
    model = GaussianProcessRegressor(Gaussian(1.0), alpha=0.01, tune=None).fit(X, y)
    posterior_samples(model, X, y, ax, n_samples=4, feature="time", name="height")
    curves = [line for line in ax.get_lines() if len(line.get_xdata()) == 200]
    assert len(curves) == 4
    expected = model.sample_y(curves[0].get_xdata()[:, None], 4, 0)
    np.testing.assert_allclose(curves[2].get_ydata(), expected[:, 2])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "samples (4)" in labels
    assert "± 2 std" in labels
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time", "height")


def test_relevances_are_sorted_and_named(ax):
    model = GaussianProcessRegressor(2.0 * Gaussian([4.0, 0.5, 1.0]), alpha=0.1, tune=None)
    model.fit(np.eye(3), np.arange(3.0))
    relevances(model, ax)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["feature 1", "feature 2", "feature 0"]
    np.testing.assert_allclose(ax.get_lines()[0].get_xdata(), [2.0, 1.0, 0.25])


def test_bad_input(ax):
    model = GaussianProcessRegressor(Gaussian(1.0) + WhiteNoise(0.1), tune=None).fit(
        np.eye(3), np.arange(3.0)
    )
    with pytest.raises(InputError, match="posterior_samples: `X` must have one feature"):
        posterior_samples(model, np.eye(3), np.arange(3.0), ax)
    with pytest.raises(ParameterError, match=r"`n_samples` must be an integer >= 1\. Got 0"):
        posterior_samples(model, np.ones((3, 1)), np.arange(3.0), ax, n_samples=0)
    with pytest.raises(InputError, match=r"`y` must be one target\. Got 2"):
        posterior_samples(model, np.ones((3, 1)), np.ones((3, 2)), ax)
    with pytest.raises(ParameterError, match="There are: none: give the kernel a vector of widths"):
        relevances(model, ax)
    two = Gaussian([1.0, 2.0, 3.0]) + Gaussian([1.0, 1.0, 1.0])
    model = GaussianProcessRegressor(two, alpha=0.1, tune=None).fit(np.eye(3), np.arange(3.0))
    with pytest.raises(ParameterError, match="There are: kernel__term0__sigma, kernel__term1__sigma"):
        relevances(model, ax)
    with pytest.raises(InputError, match="2 `names` for 3 features"):
        relevances(model, ax, names=["a", "b"], parameter="kernel__term0__sigma")
