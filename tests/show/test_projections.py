"""Plots of components."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian
from mercer.machines import KernelPCA
from mercer.show import canvas, projections, scree

pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    return canvas()[1]


@pytest.fixture
def model():
    return KernelPCA(Gaussian(1.0)).fit(np.random.default_rng(0).standard_normal((40, 2)))


def test_scree_shows_eigenvalues_and_cumulated_shares(ax, model):
    assert scree(model, ax, most=7) is ax
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], model.eigenvalues_[:7])
    (twin,) = [other for other in ax.figure.axes if other is not ax]
    np.testing.assert_allclose(
        twin.lines[0].get_ydata(), np.cumsum(model.explained_variance_ratio_)[:7], rtol=1e-12
    )
    assert ax.get_xlabel() == f"component (the first 7 of {model.n_components_})"
    assert twin.get_ylim()[0] == 0


def test_scree_without_components(ax):
    with pytest.raises(InputError, match="no components"):
        scree(KernelPCA(Gaussian(1.0)).fit(np.ones((3, 1))), ax)


def test_projections_by_class(ax):
    Z = np.arange(12.0).reshape(4, 3)
    projections(Z, np.array(["b", "a", "b", "b"]), ax, components=(2, -3))
    a, b = ax.get_lines()[:2]
    assert (a.get_label(), b.get_label()) == ("a (1)", "b (3)")
    np.testing.assert_array_equal(b.get_xdata(), Z[[0, 2, 3], 2])
    np.testing.assert_array_equal(b.get_ydata(), Z[[0, 2, 3], 0])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("component 3", "component 1")


def test_projections_by_number_and_plain(ax):
    Z = np.random.default_rng(0).standard_normal((9, 2))
    projections(Z, np.linspace(0, 1, 9), ax, names=("f", "g"))
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), Z)
    np.testing.assert_allclose(ax.collections[0].get_array(), np.linspace(0, 1, 9))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("f", "g")
    plain = projections(Z, ax=canvas()[1])
    np.testing.assert_array_equal(plain.lines[0].get_xdata(), Z[:, 0])
    assert plain.get_legend() is None


def test_projections_say_what_is_wrong(ax):
    with pytest.raises(InputError, match=r"Got shape \(5, 1\)"):
        projections(np.zeros((5, 1)), ax=ax)
    with pytest.raises(InputError, match=r"5 points for `labels` of shape \(4,\)"):
        projections(np.zeros((5, 2)), [0, 0, 1, 1], ax)
    with pytest.raises(ParameterError, match="13 classes"):
        projections(np.zeros((13, 2)), np.arange(13), ax)
