"""Labels are validated alike by all classifiers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from mercer.errors import InputError
from mercer.machines import (
    SVC,
    KernelDiscriminant,
    KernelLogistic,
    KernelPerceptron,
    LabelPropagation,
    LabelSpreading,
    LaplacianRLSClassifier,
    LaplacianSVC,
    NuSVC,
    PegasosSVC,
    RepresenterMachine,
)

X = np.concatenate([np.linspace(-2, -1, 6), np.linspace(1, 2, 6)])[:, None]
CODES = np.repeat([0, 1], 6)

classifiers = pytest.mark.parametrize(
    "machine", [SVC(), NuSVC(), PegasosSVC(), KernelPerceptron()], ids=lambda m: type(m).__name__
)


@classifiers
@pytest.mark.parametrize(
    "labels", [("a", "b"), (False, True), (0.0, 1.0), (-3, 10**12), (b"x", b"y"), ("", "long")], ids=str
)
def test_what_came_is_what_is_predicted(machine, labels):
    named = np.array(labels)[CODES]
    for y in (named, named.astype(object), named.tolist()):
        predicted = clone(machine).fit(X, y).predict(X)
        assert predicted.tolist() == named.tolist()
        assert predicted.dtype == np.asarray(y).dtype


@pytest.mark.parametrize(
    "machine",
    [
        *(SVC(), SVC(probability=True), NuSVC(), PegasosSVC(), KernelPerceptron(), KernelLogistic()),
        *(
            KernelDiscriminant(),
            LaplacianRLSClassifier(),
            LaplacianSVC(),
            LabelPropagation(),
            LabelSpreading(),
        ),
        RepresenterMachine(loss="hinge"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("labels", [("a", "bc"), (3, 7), (False, True)], ids=str)
def test_objects_stay_objects(machine, labels):
    """As in scikit-learn, whose classes are those that came."""
    y = np.array([labels[c] for c in CODES], dtype=object)
    model = clone(machine).fit(X, y)
    assert model.classes_.dtype == object
    assert model.classes_.tolist() == sorted(labels)
    predicted = model.predict(X)
    assert predicted.dtype == object
    assert predicted.tolist() == y.tolist()
    assert {type(v) for v in predicted} == {type(labels[0])}
    if isinstance(labels[0], str):  # scikit-learn's accuracy refuses other objects
        assert model.score(X, y) == 1.0


@classifiers
@pytest.mark.parametrize("mixture", [(1, "a"), ("a", None), (b"a", "b"), (1.5, "a"), (("a",), "b")], ids=str)
def test_mixtures_are_refused(machine, mixture):
    y = np.empty(12, dtype=object)
    y[:] = [mixture[c] for c in CODES]
    with pytest.raises(InputError, match=r"`y` must hold labels of one kind.*Unknown label type"):
        clone(machine).fit(X, y)


@classifiers
def test_shapes(machine):
    with pytest.warns(DataConversionWarning):
        model = clone(machine).fit(X, CODES[:, None])
    np.testing.assert_array_equal(model.predict(X), CODES)
    with pytest.raises(ValueError, match=r"one label per point|Unknown label type|multi-output"):
        clone(machine).fit(X, np.column_stack([CODES, CODES + 1]))
    with pytest.raises(ValueError, match="same length"):
        clone(machine).fit(X, CODES[:-1])
    with pytest.raises(ValueError, match="requires y"):
        clone(machine).fit(X, None)


@classifiers
def test_numbers_that_are_no_labels(machine):
    for y in (X[:, 0] + 0.25, (X[:, 0] + 0.25).astype(object)):
        with pytest.raises(ValueError, match="Unknown label type"):
            clone(machine).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        clone(machine).fit(X, np.where(CODES, np.nan, 0.0))
