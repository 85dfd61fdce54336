"""Label propagation and spreading: where scikit-learn's iterations end."""

import numpy as np
import pytest
import sklearn.semi_supervised
from sklearn.datasets import make_moons

from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Precomputed, SetIntersection
from mercer.machines import LabelPropagation, LabelSpreading


@pytest.fixture(scope="module")
def data():
    X, truth = make_moons(80, noise=0.1, random_state=0)
    return X, truth, np.where(np.arange(80) % 10 == 0, truth, -1)


def test_propagation_is_where_scikit_learn_ends(data):
    X, _, y = data
    k = Gaussian(0.2)
    ours = LabelPropagation(k).fit(X, y)
    theirs = sklearn.semi_supervised.LabelPropagation(gamma=12.5, max_iter=100_000, tol=1e-13).fit(X, y)
    np.testing.assert_allclose(ours.label_distributions_, theirs.label_distributions_, atol=1e-8)
    np.testing.assert_array_equal(ours.transduction_, theirs.transduction_)
    new = X[:7] + 0.05
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))


@pytest.mark.parametrize("alpha", [0.2, 0.9])
def test_spreading_is_where_scikit_learn_ends(data, alpha):
    X, _, y = data
    ours = LabelSpreading(Gaussian(0.2), alpha=alpha).fit(X, y)
    theirs = sklearn.semi_supervised.LabelSpreading(gamma=12.5, alpha=alpha, max_iter=100_000, tol=1e-13)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.label_distributions_, theirs.label_distributions_, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X[:5]), theirs.predict_proba(X[:5]), atol=1e-8)


@pytest.mark.parametrize("machine", [LabelPropagation, LabelSpreading])
def test_any_matrix_of_weights_and_nearest_neighbours(data, machine):
    X, truth, y = data
    K = Gaussian(0.2).block(X)
    direct = machine(Gaussian(0.2)).fit(X, y)
    given = machine(Precomputed()).fit(K, y)
    np.testing.assert_allclose(given.label_distributions_, direct.label_distributions_, rtol=1e-10)
    np.testing.assert_allclose(given.predict_proba(K[:3]), direct.predict_proba(X[:3]), rtol=1e-10)
    near = machine(Gaussian(0.2), n_neighbors=7).fit(X, y)
    assert (near.transduction_ == truth).mean() > 0.95
    assert (near.predict(X) == truth).mean() > 0.95


def test_new_points_take_from_their_nearest_neighbours():
    X = [[0.0], [0.1], [5.0], [5.2]]
    model = LabelPropagation(Gaussian(10.0), n_neighbors=2).fit(X, ["a", "a", "b", "b"])
    np.testing.assert_allclose(model.predict_proba([[0.04], [5.1]]), np.eye(2))
    wide = LabelPropagation(Gaussian(10.0)).fit(X, ["a", "a", "b", "b"])
    assert wide.predict_proba([[0.04]])[0, 1] > 0.4


def test_given_labels_are_kept_or_overruled():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4]])
    y = [0, 0, 1, 0, 0]  # the one in the middle looks wrong
    assert LabelPropagation(Gaussian(0.2)).fit(X, y).transduction_.tolist() == y
    assert LabelSpreading(Gaussian(0.2), alpha=0.95).fit(X, y).transduction_.tolist() == [0] * 5


def test_any_objects_and_string_labels():
    bags = [{"a", "b"}, {"a"}, {"b", "c"}, {"x"}, {"x", "y"}, {"y"}]
    y = np.array(["early", -1, -1, "late", -1, -1], dtype=object)
    model = LabelPropagation(SetIntersection()).fit(bags, y)
    assert model.transduction_.tolist() == ["early"] * 3 + ["late"] * 3
    assert model.predict([{"c", "b"}, {"y", "x"}]).tolist() == ["early", "late"]
    with pytest.raises(InputError, match="dtype object"):
        LabelPropagation(SetIntersection()).fit(bags, y.astype(str))


@pytest.mark.parametrize("machine", [LabelPropagation, LabelSpreading])
def test_points_that_no_label_reaches(machine):
    X = [[0.0], [1.0], [1e4], [1e4 + 1]]
    with pytest.warns(UserWarning, match="no label reaches 2 of the points"):
        model = machine(Gaussian(1.0)).fit(X, [0, 1, -1, -1])
    np.testing.assert_allclose(model.label_distributions_[2:], 0.5)
    np.testing.assert_allclose(model.predict_proba([[-1e6]]), 0.5)


def test_all_labelled_and_one_class():
    model = LabelPropagation().fit([[0.0], [1.0]], [3, 4])
    assert model.transduction_.tolist() == [3, 4]
    assert LabelPropagation().fit([[0.0], [1.0]], [3, -1]).transduction_.tolist() == [3, 3]


def test_bad_input_is_named(data):
    X, _, y = data
    for bad, message in [
        (LabelSpreading(alpha=0.0), "`alpha`"),
        (LabelSpreading(alpha=1.0), "`alpha`"),
        (LabelPropagation(n_neighbors=0), "`n_neighbors`"),
    ]:
        with pytest.raises(ParameterError, match=message):
            bad.fit(X, y)
    with pytest.raises(InputError, match="must be >= 0"):
        LabelPropagation(Linear()).fit(X, y)
    with pytest.raises(InputError, match="All are -1"):
        LabelPropagation().fit(X, np.full(80, -1))
    fitted = LabelPropagation(Linear()).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(InputError, match="between X and the training points"):
        fitted.predict([[-1.0]])
