"""Pictures of decisions."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian
from mercer.machines import SVC, KernelLogistic
from mercer.show import canvas, decision_regions

pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    return canvas()[1]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    return X, np.digitize(X[:, 0] + 0.1 * rng.standard_normal(60), [-0.5, 0.5])


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line(ax, label):
    (found,) = [item for item in ax.lines if item.get_label() == label]
    return found


def grid_of(ax, count):
    (image,) = ax.images
    left, right, bottom, top = image.get_extent()
    centres = [
        low + (high - low) * (np.arange(count) + 0.5) / count for low, high in ((left, right), (bottom, top))
    ]
    return image.get_array(), np.column_stack([a.ravel() for a in np.meshgrid(*centres)])


def test_regions_have_the_colours_of_the_predicted_classes(ax, data):
    X, y = data
    model = KernelLogistic(Gaussian(1.0), alpha=0.1).fit(X, y)
    decision_regions(model, X, y, ax, grid=30, features=("length", "width"))
    image, mesh = grid_of(ax, 30)
    predicted = model.predict(mesh).reshape(30, 30)
    colours = [tuple(image[predicted == c][0, :3]) for c in range(3)]
    assert len(set(colours)) == 3
    for c in range(3):
        assert (image[predicted == c][:, :3] == colours[c]).all()
    # surer is darker
    sure = model.predict_proba(mesh).max(axis=1)
    order = np.argsort(sure)
    assert (np.diff(image[..., 3].ravel()[order]) >= -1e-12).all()
    for c in range(3):
        np.testing.assert_array_equal(line(ax, str(c)).get_xdata(), X[y == c, 0])
    assert texts(ax) == ["0", "1", "2"]  # the model keeps all points: none is circled
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")


@pytest.mark.parametrize(
    "model",
    [SVC(Gaussian(1.0), C=1.0), KernelLogistic(Gaussian(1.0), alpha=0.0, l1=0.3)],
    ids=["svc", "l1"],
)
def test_kept_points_are_circled_and_the_boundary_is_drawn(ax, data, model):
    X, y = data[0], np.where(data[1] > 0, "b", "a")
    model.fit(X, y)
    decision_regions(model, X, y, ax, grid=40, data="training data")
    circles = line(ax, f"{len(model.support_)} support vectors")
    np.testing.assert_array_equal(np.column_stack(circles.get_data()), X[model.support_])
    assert ax.get_legend().get_title().get_text() == "training data"
    # the first solid line is the zero of the decision function
    paths = [np.vstack(c.get_paths()[0].to_polygons(closed_only=False)) for c in ax.collections]
    values = [np.abs(model.decision_function(path)) for path in paths]
    assert min(v.max() for v in values) < 0.1


@pytest.mark.parametrize("model", [KNeighborsClassifier(3), LinearSVC()], ids=["probabilities", "decisions"])
def test_any_classifier_of_scikit_learn(ax, data, model):
    X, y = data
    decision_regions(model.fit(X, y), X, y, ax, grid=20)
    image, mesh = grid_of(ax, 20)
    predicted = model.predict(mesh).reshape(20, 20)
    assert len({tuple(v) for v in image[..., :3].reshape(-1, 3)}) == len(np.unique(predicted))


def test_a_model_that_only_predicts_has_even_shades(ax):
    class Halves:
        def predict(self, X):
            return X[:, 0] > 0

    X = np.array([[-1.0, 0.0], [1.0, 0.0]])
    decision_regions(Halves(), scipy.sparse.csr_array(X), [False, True], ax, grid=10)
    (image,) = ax.images
    assert np.ptp(image.get_array()[..., 3]) == 0
    assert texts(ax) == ["False", "True"]


@pytest.mark.parametrize(
    ("X", "y"),
    [(np.zeros((4, 3)), np.zeros(4)), (np.zeros((4, 2)), np.zeros(3)), (["a", "b"], [0, 1])],
    ids=["three features", "lengths", "strings"],
)
def test_bad_data_are_named(ax, X, y):
    with pytest.raises(InputError, match="decision_regions"):
        decision_regions(None, X, y, ax)


def test_a_grid_needs_two_points(ax, data):
    with pytest.raises(ParameterError, match="`grid` must be"):
        decision_regions(None, *data, ax, grid=1)
