"""Plots of permutation tests."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, SetIntersection
from mercer.machines import HSICTest, MMDTest
from mercer.show import canvas, null_distribution, witness

pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    return canvas()[1]


@pytest.fixture
def result():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 1)), 3 * rng.standard_normal((20, 1))
    return MMDTest(Gaussian(1.0), n_permutations=99, random_state=0).test(X, Y)


def line(ax, start):
    (found,) = [item for item in ax.lines if item.get_label().startswith(start)]
    return found


def test_null_distribution_shows_every_permutation_and_the_sample(ax, result):
    null_distribution(result, ax)
    assert sum(patch.get_height() for patch in ax.patches) == 99
    observed = line(ax, "observed")
    assert observed.get_xdata()[0] == result.statistic
    assert observed.get_label() == f"observed, p = {result.p_value:.3g}"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("statistic", "permutations")


@pytest.mark.parametrize("level", [0.01, 0.05, 0.5])
def test_the_line_of_the_level_is_where_p_values_cross_it(ax, result, level):
    null_distribution(result, ax, level=level)
    edge = line(ax, f"p = {level:g}").get_xdata()[0]

    def p(statistic):
        return (1 + (result.null >= statistic).sum()) / 100

    assert p(edge + 1e-12) <= level < p(edge)


def test_no_line_for_a_level_out_of_reach(ax, result):
    null_distribution(result, ax, level=0.001)
    assert [item.get_label() for item in ax.lines if item.get_label().startswith("p =")] == []


def test_independence_has_a_null_distribution_too(ax):
    x = np.arange(10.0)[:, None]
    null_distribution(HSICTest(n_permutations=19, random_state=0).test(x, x), ax)
    assert sum(patch.get_height() for patch in ax.patches) == 19


def test_witness_is_drawn_over_the_data(ax, result):
    witness(result, ax, feature="length")
    curve = line(ax, "witness")
    grid = curve.get_xdata()
    np.testing.assert_array_equal(curve.get_ydata(), result.witness.values(grid[:, None]))
    first, second = line(ax, "X (30)"), line(ax, "Y (20)")
    drawn = np.concatenate([first.get_xdata(), second.get_xdata()])
    np.testing.assert_array_equal(drawn, [x[0] for x in result.witness.points])
    assert grid[0] < drawn.min() < drawn.max() < grid[-1]
    assert first.get_ydata()[0] > second.get_ydata()[0]
    assert ax.get_xlabel() == "length"


def test_bad_input_is_named(ax, result):
    with pytest.raises(ParameterError, match="`level` must be between 0 and 1"):
        null_distribution(result, ax, level=5)
    x = np.arange(10.0)[:, None]
    with pytest.raises(InputError, match=r"must be that of an MMDTest.*Got HSICResult"):
        witness(HSICTest(n_permutations=5, random_state=0).test(x, x), ax)
    wide = MMDTest(n_permutations=5, random_state=0).test(np.eye(3), np.eye(3))
    with pytest.raises(InputError, match="must have one feature"):
        witness(wide, ax)
    sets = MMDTest(SetIntersection(), n_permutations=5, random_state=0).test([{1}, {2}], [{3}])
    with pytest.raises(InputError, match="must have one feature"):
        witness(sets, ax)
