"""Heat maps and spectra: what is drawn, where, and what is said about what is not."""

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.gram import gram
from mercer.kernels import Gaussian, Linear
from mercer.show import canvas, heatmap, spectrum

pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    return canvas()[1]


def texts(labels):
    return [label.get_text() for label in labels]


def shown(ax):
    return np.asarray(ax.get_images()[0].get_array())


# -- heat maps ---------------------------------------------------------------------------------------------
def test_heatmap_orders_by_class_and_marks_the_boundaries(ax):
    X = np.array([[0.0], [5.0], [1.0], [6.0], [2.0]])
    labels = ["left", "right", "left", "right", "left"]
    heatmap(gram(Gaussian(1.0), X), labels, ax)

    order = [0, 2, 4, 1, 3]  # a stable sort by label
    np.testing.assert_array_equal(shown(ax), Gaussian(1.0).block(X[order]))
    assert texts(ax.get_xticklabels()) == texts(ax.get_yticklabels()) == ["left", "right"]
    np.testing.assert_array_equal(ax.get_xticks(), [1.5, 4.0])
    lines = sorted(
        (tuple(map(float, line.get_xdata())), tuple(map(float, line.get_ydata()))) for line in ax.lines
    )
    assert lines == [((0.0, 1.0), (3.0, 3.0)), ((3.0, 3.0), (0.0, 1.0))]
    assert ax.get_xlabel() == ax.get_ylabel() == "points, ordered by class"


def test_heatmap_of_an_array_equals_that_of_the_gram(ax):
    X = np.random.default_rng(0).standard_normal((7, 2))
    other = canvas()[1]
    heatmap(gram(Linear(), X), None, ax)
    heatmap(Linear().block(X), None, other)
    np.testing.assert_array_equal(shown(ax), shown(other))
    assert ax.get_xlabel() == "points"


def test_heatmap_says_that_it_shows_every_kth_point(ax):
    X = np.arange(23.0)[:, None]
    labels = np.arange(23) % 2
    heatmap(gram(Linear(), X), labels, ax, max_points=8)
    order = np.concatenate([np.arange(0, 23, 2), np.arange(1, 23, 2)])[::3]
    np.testing.assert_array_equal(shown(ax), np.outer(order, order))
    assert "every 3rd of 23 points shown" in ax.get_xlabel()


def test_heatmap_says_nothing_when_it_shows_all(ax):
    heatmap(np.eye(8), None, ax, max_points=8)
    assert ax.get_xlabel() == "points"


def test_heatmap_evaluates_only_what_it_shows(ax):
    asked = []

    class Counted(Gaussian):
        def _block(self, X, Y):
            asked.append(len(X) * len(X if Y is None else Y))
            return super()._block(X, Y)

    heatmap(gram(Counted(1.0), np.arange(100.0)[:, None]), None, ax, max_points=10)
    assert max(asked) <= 100


@pytest.mark.parametrize(
    ("K", "signed"),
    [
        ([[1.0, 0.2], [0.2, 1.0]], False),
        ([[1.0, -0.2], [-0.2, 1.0]], True),
        ([[1.0, -1e-17], [-1e-17, 1.0]], False),  # rounding is not a sign
        ([[0.0, 0.0], [0.0, 0.0]], False),
    ],
)
def test_zero_is_the_middle_of_the_colours_if_there_are_two_signs(ax, K, signed):
    heatmap(K, None, ax)
    image = ax.get_images()[0]
    if signed:
        assert image.norm.vmin == -image.norm.vmax
    assert (image.get_cmap().name == "RdBu_r") is signed


def test_heatmap_colour_bar_is_labelled(ax):
    heatmap(np.eye(3), None, ax)
    assert [other.get_ylabel() for other in ax.figure.axes if other is not ax] == ["k(x, y)"]


@pytest.mark.parametrize(
    ("G", "labels", "message"),
    [
        (np.zeros((2, 3)), None, r"`G` must be a Gram or a square matrix. Got shape \(2, 3\)"),
        (np.zeros(4), None, "square matrix"),
        ([[1.0, np.nan], [0.0, 1.0]], None, "row 0, column 1"),
        (np.eye(3), [0, 1], "`labels` must be 3 labels"),
        (gram(Linear(), [[1.0]], [[1.0], [2.0]]), None, "one set of points"),
    ],
)
def test_heatmap_refuses(ax, G, labels, message):
    with pytest.raises(InputError, match=message):
        heatmap(G, labels, ax)


def test_heatmap_refuses_to_show_no_points(ax):
    with pytest.raises(ParameterError, match="`max_points`"):
        heatmap(np.eye(3), None, ax, max_points=0)


# -- spectra -----------------------------------------------------------------------------------------------
def points(ax):
    """The drawn eigenvalues by marker, as (rank, height)."""
    return {
        line.get_marker(): list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in ax.lines
        if line.get_linestyle() == "None"
    }


def test_spectrum_marks_negative_eigenvalues(ax):
    spectrum(np.diag([3.0, -2.0, 0.5, -0.125]), ax)
    drawn = points(ax)
    assert drawn["."] == [(1, 3.0), (2, 0.5)]
    assert drawn["x"] == [(3, 0.125), (4, 2.0)]
    assert ax.get_yscale() == "log"
    assert ax.get_xlabel() == "rank"
    assert "eigenvalue" in ax.get_ylabel()
    assert texts(ax.get_legend().get_texts())[:2] == ["2 positive", "2 negative, drawn at |λ|"]


def test_spectrum_counts_zeros_that_a_logarithm_cannot_show(ax):
    spectrum(np.diag([2.0, 0.0, 0.0]), ax)
    assert texts(ax.get_legend().get_texts())[0] == "1 positive, 2 exactly zero"
    assert points(ax)["."] == [(1, 2.0)]


def test_spectrum_of_a_gram(ax):
    X = np.random.default_rng(1).standard_normal((12, 3))
    spectrum(gram(Gaussian(1.0), X), ax)
    expected = np.linalg.eigvalsh(Gaussian(1.0).block(X))[::-1]
    np.testing.assert_allclose([height for _, height in points(ax)["."]], expected, rtol=1e-10)


def test_spectrum_of_the_largest_says_so(ax):
    spectrum(np.diag([4.0, 3.0, 2.0, 1.0]), ax, k=2)
    assert points(ax)["."] == [(1, 4.0), (2, 3.0)]
    assert ax.get_xlabel() == "rank (the 2 largest of 4)"


def test_spectra_are_compared_by_label(ax):
    spectrum(np.eye(2), ax, label="one")
    spectrum(2 * np.eye(2), ax, label="two")
    names = texts(ax.get_legend().get_texts())
    assert names == ["one: 2 positive", "rounding level", "two: 2 positive"]
    colours = [line.get_color() for line in ax.lines if line.get_marker() == "."]
    assert colours[0] != colours[1]


def test_the_rounding_level_separates_noise_from_eigenvalues(ax):
    x = np.random.default_rng(2).standard_normal((30, 2))
    spectrum(x @ x.T, ax)  # rank 2: the other 28 are rounding
    (level,) = [line.get_ydata()[0] for line in ax.lines if line.get_label() == "rounding level"]
    heights = np.array([height for marker in points(ax).values() for _, height in marker])
    assert (heights > level).sum() == 2


@pytest.mark.parametrize(
    ("G", "message"),
    [
        ([[0.0, 1.0], [0.5, 0.0]], "must be symmetric. Entries differ by up to 0.5"),
        (gram(Linear(), [[1.0]], [[1.0], [2.0]]), "one set of points"),
    ],
)
def test_spectrum_refuses(ax, G, message):
    with pytest.raises(InputError, match=message):
        spectrum(G, ax)


@pytest.mark.parametrize("k", [0, 3, 1.5, True])
def test_spectrum_refuses_a_bad_k(ax, k):
    with pytest.raises(ParameterError, match="`k` must be an integer from 1 to 2"):
        spectrum(np.eye(2), ax, k=k)


def test_an_all_zero_matrix_has_a_spectrum(ax):
    spectrum(np.zeros((3, 3)), ax)
    assert texts(ax.get_legend().get_texts()) == ["0 positive, 3 exactly zero"]
