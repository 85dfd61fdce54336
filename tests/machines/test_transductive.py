"""A kernel matrix from the eigenvectors of all points and the labels of some."""

import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.datasets import make_moons

from mercer import gram
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Precomputed, Sigmoid, Spectrum
from mercer.machines import SVC, TransductiveAlignment, UnidentifiedWeightsWarning
from mercer.solvers import align_spectrum

X, TRUTH = make_moons(120, noise=0.1, random_state=0)
KNOWN = np.sort(np.random.default_rng(1).choice(120, 24, replace=False))
Y = np.full(120, -1)
Y[KNOWN] = TRUTH[KNOWN]


def cosine(A, B):
    return float((A * B).sum() / np.linalg.norm(A) / np.linalg.norm(B))


@pytest.mark.parametrize("order", [False, True], ids=["free", "ordered"])
@pytest.mark.parametrize("classes", [1, 3])
def test_weights_are_those_of_nonnegative_least_squares(order, classes):
    """On the stacked entries of the matrices, by an independent solver."""
    rng = np.random.default_rng(0)
    U, T = rng.standard_normal((15, 9)), rng.standard_normal((15, classes))
    found = align_spectrum(U, T, order=order)
    H = np.eye(15) - 1 / 15
    parts = [H @ np.outer(u, u) @ H for u in U.T]
    if order:
        parts = list(np.cumsum(parts, axis=0))
    goal = H @ T @ T.T @ H
    steps, _ = nnls(np.array([part.ravel() for part in parts]).T, goal.ravel())
    expected = np.cumsum(steps[::-1])[::-1] if order else steps
    np.testing.assert_allclose(found.weights, expected, atol=1e-10)
    best = sum(s * part for s, part in zip(steps, parts, strict=True))
    assert found.alignment == pytest.approx(cosine(best, goal))


def test_the_matrix():
    model = TransductiveAlignment(Gaussian(0.3)).fit(X, Y)
    K = model.matrix_
    assert np.linalg.eigvalsh(K).min() > -1e-10
    assert np.trace(K) == pytest.approx(120.0)
    assert (np.diff(model.weights_) <= 1e-12).all()
    np.testing.assert_array_equal(model.labelled_, KNOWN)
    L = np.ix_(KNOWN, KNOWN)
    H = np.eye(24) - 1 / 24
    signs = np.where(TRUTH[KNOWN] == 1, 1.0, -1.0)
    assert model.alignment_ == pytest.approx(cosine(H @ K[L] @ H, H @ np.outer(signs, signs) @ H))
    given = gram(Gaussian(0.3), X).dense()
    assert model.alignment_ >= cosine(H @ given[L] @ H, H @ np.outer(signs, signs) @ H)
    rebuilt = (model.eigenvectors_ * model.eigenvalues_) @ model.eigenvectors_.T
    np.testing.assert_allclose(rebuilt, given, atol=1e-12)


@pytest.mark.parametrize(
    "names", [[0, 1, 2], [7, 2, 5], ["b", "c", "a"]], ids=["in-order", "mixed", "strings"]
)
def test_several_classes_have_a_column_each(names):
    """Whatever their names are, and their order."""
    classes = np.digitize(X[:, 0], [0.0, 1.0])
    labels = np.full(120, -1, dtype=object)
    labels[KNOWN] = np.array(names, dtype=object)[classes[KNOWN]]
    model = TransductiveAlignment(Gaussian(0.3)).fit(X, labels)
    L, H, T = np.ix_(KNOWN, KNOWN), np.eye(24) - 1 / 24, np.eye(3)[classes[KNOWN]]
    assert model.alignment_ == pytest.approx(cosine(H @ model.matrix_[L] @ H, H @ T @ T.T @ H))
    given = gram(Gaussian(0.3), X).dense()
    assert model.alignment_ >= cosine(H @ given[L] @ H, H @ T @ T.T @ H)


def test_free_weights_align_better_and_ordered_ones_predict_better():
    rest = np.setdiff1d(np.arange(120), KNOWN)
    scores, alignments = [], []
    for order in (True, False):
        model = TransductiveAlignment(Gaussian(0.3), order=order).fit(X, Y)
        K = model.matrix_
        machine = SVC(Precomputed(), C=100.0).fit(K[np.ix_(KNOWN, KNOWN)], TRUTH[KNOWN])
        scores.append(machine.score(K[np.ix_(rest, KNOWN)], TRUTH[rest]))
        alignments.append(model.alignment_)
    assert alignments[1] > alignments[0]
    assert scores[0] > max(0.9, scores[1])


def test_components():
    model = TransductiveAlignment(Gaussian(0.3), n_components=7).fit(X, Y)
    assert model.eigenvectors_.shape == (120, 7)
    assert len(TransductiveAlignment(Linear()).fit(X, Y).weights_) == 2


def test_any_data():
    words = ["banana", "bandana", "cabana", "kiwi", "wiki", "tiki"]
    model = TransductiveAlignment(Spectrum(1).normalized()).fit(words, [0, -1, 0, 1, -1, 1])
    K = model.matrix_
    assert K[1, [0, 2]].sum() > K[1, [3, 5]].sum()


def test_two_labels_do_not_say_which_eigenvector():
    with pytest.warns(UnidentifiedWeightsWarning, match="the alignment is perfect on the 2 labelled points"):
        TransductiveAlignment(Gaussian(0.3)).fit(X, np.concatenate([TRUTH[:2], np.full(118, -1)]))


def test_points_that_are_all_the_same_have_no_alignment():
    with pytest.raises(InputError, match="`y` must go with some eigenvector of the kernel"):
        TransductiveAlignment(Gaussian(0.3)).fit(np.ones((120, 2)), Y)


@pytest.mark.parametrize(
    ("params", "y", "error", "message"),
    [
        ({"n_components": 0}, Y, ParameterError, "`n_components` must be"),
        ({"order": "falling"}, Y, ParameterError, "`order` must be True or False"),
        ({}, np.full(120, -1), InputError, "y must have labelled points"),
        ({}, np.where(Y == 1, 1, -1), InputError, "`y` must have labels of two or more classes"),
        ({}, Y[:50], InputError, "X and y must have the same length"),
        ({"kernel": Sigmoid(1.0, -1.0)}, Y, DefinitenessError, r"`kernel` must be .*repair\('clip'\)"),
    ],
    ids=["components", "order", "no-labels", "one-class", "length", "indefinite"],
)
def test_bad_input(params, y, error, message):
    model = TransductiveAlignment(Gaussian(0.3)).set_params(**params)
    with pytest.raises(error, match=message):
        model.fit(X, y)
