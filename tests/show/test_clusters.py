"""Plots of clusters."""

import numpy as np
import pytest
import scipy.sparse

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian
from mercer.machines import KernelKMeans, LaplacianSVC, SpectralClustering
from mercer.show import canvas, clusters

pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    return canvas()[1]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(0, 0.3, (12, 2)), rng.normal(3, 0.3, (8, 2))])


def drawn(ax):
    return {line.get_label(): np.column_stack(line.get_data()) for line in ax.lines}


def test_points_have_their_clusters(ax, X):
    model = KernelKMeans(Gaussian(1.0), n_clusters=2).fit(X)
    assert clusters(model, X, ax) is ax
    lines = drawn(ax)
    np.testing.assert_array_equal(lines["0 (12 points)"], X[:12])
    np.testing.assert_array_equal(lines["1 (8 points)"], X[12:])
    assert len(ax.collections) == 2  # a region for each


def test_no_regions_without_predictions(ax, X):
    clusters(SpectralClustering(Gaussian(1.0), n_clusters=2).fit(X), scipy.sparse.csr_array(X), ax)
    assert len(ax.lines) == 2
    assert len(ax.collections) == 0


def test_given_labels_are_circled(ax, X):
    y = np.full(20, -1, dtype=object)
    y[[0, 15]] = ["left", "right"]
    model = LaplacianSVC(Gaussian(1.0), C=10.0).fit(X, y)
    clusters(model, X, ax, given=y)
    lines = drawn(ax)
    np.testing.assert_array_equal(lines["labelled (2)"], X[[0, 15]])
    np.testing.assert_array_equal(lines["left (12 points)"], X[:12])


def test_many_clusters_and_one_point(ax, X):
    clusters(None, X, ax, labels=np.arange(20) % 9)
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines}) == 9
    clusters(KernelKMeans(n_clusters=1).fit(X[:1]), X[:1], ax)


def test_bad_input_is_named(ax, X):
    model = SpectralClustering(Gaussian(1.0), n_clusters=2).fit(X)
    with pytest.raises(InputError, match=r"shape \(n, 2\)"):
        clusters(model, np.zeros((4, 3)), ax)
    with pytest.raises(InputError, match="points of the plane"):
        clusters(model, ["a", "b"], ax)
    with pytest.raises(InputError, match="20 points"):
        clusters(model, X, ax, labels=[0, 1])
    with pytest.raises(InputError, match="`given`"):
        clusters(model, X, ax, given=[0, 1])
    with pytest.raises(ParameterError, match="give `labels`"):
        clusters(model, X[:5], ax)
