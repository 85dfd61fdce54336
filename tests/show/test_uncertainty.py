"""Pictures of intervals, Shapley values and bounds."""

import numpy as np
import pytest

from mercer import guarantees, shapley
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Linear
from mercer.machines import SVC, Conformal, KernelRidge
from mercer.show import canvas, intervals, panel, shapley_bars

pytest.importorskip("matplotlib")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = X @ [1.0, -3.0, 0.1] + 0.5 * RNG.standard_normal(60)


@pytest.fixture
def ax():
    return canvas()[1]


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_intervals_show_hits_and_misses(ax):
    model = Conformal(KernelRidge(Linear(), alpha=1.0)).fit(X[:30], Y[:30])
    intervals(model, X[30:], Y[30:], ax, alpha=0.3, data="new points", name="price")
    low, high = model.predict_interval(X[30:], 0.3).T
    misses = Y[30:][(Y[30:] < low) | (Y[30:] > high)]
    assert 0 < len(misses) < 30
    crosses = next(line for line in ax.lines if line.get_label() == "outside")
    np.testing.assert_array_equal(np.sort(crosses.get_ydata()), np.sort(misses))
    assert f"new points: {1 - len(misses) / 30:.0%} of 30 inside" in labels(ax)
    assert ax.get_ylabel() == "price"


def test_one_feature_gives_a_band_and_short_data_infinite_intervals(ax):
    model = Conformal(KernelRidge(Gaussian(1.0), alpha=1.0)).fit(X[:30, :1], Y[:30])
    intervals(model, X[30:, :1], Y[30:], ax, alpha=0.2, feature="time")
    assert ax.get_xlabel() == "time"
    assert labels(ax)[0] == "80% intervals"
    other = canvas()[1]
    few = Conformal(KernelRidge(Linear(), alpha=1.0)).fit(X[:5], Y[:5])
    intervals(few, X[5:], Y[5:], other, alpha=0.05)  # infinite: all of the axes
    assert any("100% of 55 inside" in text for text in labels(other))
    other.figure.canvas.draw()


def test_bars_of_one_prediction_add_up_and_the_rest_is_one_bar(ax):
    found = shapley(KernelRidge(Linear(), alpha=1e-3).fit(X, Y), X[:5], background=X)
    shapley_bars(found, 2, ax, n=2)
    assert [text.get_text() for text in ax.get_yticklabels()][-1] == "1 more"
    widths = [bar.get_width() for bar in ax.patches]
    assert sum(widths) == pytest.approx(found.predictions[2] - found.base)
    assert abs(widths[0]) >= abs(widths[1])
    mean = shapley_bars(found)
    assert [bar.get_width() for bar in mean.patches] == sorted(np.abs(found.values).mean(axis=0))[::-1]


def test_several_functions_need_a_choice(ax):
    found = shapley(KernelRidge(Linear()).fit(X, np.c_[Y, -Y]), X[:5], background=X)
    shapley_bars(found, 0, ax, function=1)
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(
        found.predictions[0, 1] - found.base[1]
    )
    with pytest.raises(ParameterError, match="has 2 functions"):
        shapley_bars(found)


def test_the_panel_has_a_bar_for_each_bound_and_says_vacuous(ax):
    found = guarantees.panel(SVC(Gaussian(2.0)), X, Y > 0, cv=2)
    panel(found, ax)
    bounds = [row.bound.value for row in found if row.bound is not None]
    expected = [found.training, found.cross_validated, *bounds]
    assert [bar.get_width() for bar in ax.patches] == [min(v, 2 * found.trivial) for v in expected]
    texts = [text.get_text() for text in ax.texts]
    assert sum("vacuous" in text for text in texts) == sum(row.vacuous for row in found)
    assert texts.count("does not apply") == sum(row.bound is None for row in found)
    assert [text.get_text() for text in ax.get_yticklabels()][2:] == [row.name for row in found]


def test_bad_input_is_named(ax):
    model = Conformal(KernelRidge(Linear(), alpha=1.0)).fit(X, Y)
    with pytest.raises(InputError, match="predict_interval"):
        intervals(KernelRidge().fit(X, Y), X, Y, ax)
    with pytest.raises(InputError, match="60 points in `X` for 59"):
        intervals(model, X, Y[:-1], ax)
    with pytest.raises(InputError, match="`values` must be"):
        shapley_bars(X, 0, ax)
    found = shapley(KernelRidge(Linear()).fit(X, Y), X[:2], background=X)
    for row in (2, -1, 0.5, True):
        with pytest.raises(ParameterError, match="`row` must be an integer from 0 to 1"):
            shapley_bars(found, row, ax)
    with pytest.raises(ParameterError, match="`n` must be"):
        shapley_bars(found, 0, ax, n=0)
    with pytest.raises(InputError, match="`found` must be the panel"):
        panel(X, ax)
