"""Scores of a search over one and over two parameters."""

import numpy as np
import pytest

from mercer.errors import ParameterError
from mercer.kernels import Gaussian
from mercer.machines import SVC, KernelRidge
from mercer.selection import KernelSearchCV
from mercer.show import canvas, search_surface

pytest.importorskip("matplotlib")

X = np.random.default_rng(0).standard_normal((40, 2))
SIGMAS, PENALTIES = [0.5, 1.0, 2.0], [0.1, 1.0, 10.0, 100.0]
GRID = {"kernel": [Gaussian(s) for s in SIGMAS], "C": PENALTIES}
SEARCH = KernelSearchCV(SVC(), GRID, cv=3).fit(X, X[:, 0] * X[:, 1] > 0)


@pytest.fixture
def ax():
    return canvas()[1]


def test_the_map_has_all_scores_and_the_best(ax):
    search_surface(SEARCH, ax=ax)
    means = SEARCH.cv_results_["mean_test_score"].reshape(len(PENALTIES), len(SIGMAS)).T
    np.testing.assert_array_equal(ax.images[0].get_array(), means)
    (star,) = ax.lines
    r, c = int(star.get_ydata()[0]), int(star.get_xdata()[0])
    assert means[r, c] == SEARCH.best_score_
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0.1", "1", "10", "100"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("C", "kernel__sigma")


def test_the_curve_has_the_best_of_the_other_parameters(ax):
    search_surface(SEARCH, "C", ax=ax)
    means = SEARCH.cv_results_["mean_test_score"].reshape(len(PENALTIES), len(SIGMAS))
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), means.max(axis=1))
    assert ax.get_xscale() == "log"


def test_words_have_places(ax):
    search = KernelSearchCV(SVC(), {"kernel": [Gaussian("scale"), Gaussian("median")]}, cv=2)
    search_surface(search.fit(X, X[:, 0] > 0), ax=ax)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["median", "scale"]


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (KernelRidge(), {}, "fitted search"),
        (SEARCH, {"x": "gamma"}, "'gamma'"),
        (SEARCH, {"metric": "f1"}, "`metric`"),
    ],
    ids=["machine", "parameter", "metric"],
)
def test_arguments_are_named(ax, model, arguments, message):
    with pytest.raises(ParameterError, match=message):
        search_surface(model, ax=ax, **arguments)
