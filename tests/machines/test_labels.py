"""Labels are validated alike by all classifiers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from mercer.errors import InputError, MemoryLimitError
from mercer.kernels import Gaussian
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


# -- weights ------------------------------------------------------------------------------------
rng = np.random.default_rng(0)
THREE = np.repeat(["a", "b", "c"], 8)
POINTS = rng.standard_normal((24, 2)) + 2.0 * np.repeat(np.arange(3), 8)[:, None]

weighted = pytest.mark.parametrize(
    "machine",
    [
        SVC(Gaussian(1.0)),
        SVC(Gaussian(1.0), multiclass="ovr"),
        SVC(Gaussian(1.0), probability=True),
        NuSVC(Gaussian(1.0), nu=0.3),
        KernelLogistic(Gaussian(1.0)),
        KernelDiscriminant(Gaussian(1.0)),
        PegasosSVC(Gaussian(1.0), random_state=0),
        LaplacianSVC(Gaussian(1.0)),
        LaplacianRLSClassifier(Gaussian(1.0)),
        RepresenterMachine(Gaussian(1.0), loss="hinge"),
        RepresenterMachine(Gaussian(1.0), loss="logistic"),
    ],
    ids=repr,
)


def assert_same_model(model, expected):
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    np.testing.assert_array_equal(model.predict(POINTS), expected.predict(POINTS))
    np.testing.assert_allclose(
        model.decision_function(POINTS), expected.decision_function(POINTS), rtol=1e-6, atol=1e-8
    )


@weighted
@pytest.mark.parametrize("absent", ["a", "b", "c"])
def test_classes_of_weight_zero_are_absent(machine, absent):
    present = absent != THREE
    model = clone(machine).fit(POINTS, THREE, sample_weight=present.astype(float))
    assert_same_model(model, clone(machine).fit(POINTS[present], THREE[present]))


@pytest.mark.parametrize("absent", ["a", "b", "c"])
@pytest.mark.parametrize(
    "machine",
    [SVC(Gaussian(1.0)), KernelLogistic(Gaussian(1.0)), PegasosSVC(Gaussian(1.0), random_state=0)],
    ids=repr,
)
def test_class_weights_of_zero_are_absence(machine, absent):
    present = absent != THREE
    model = clone(machine).set_params(class_weight={absent: 0}).fit(POINTS, THREE)
    assert_same_model(model, clone(machine).fit(POINTS[present], THREE[present]))


def test_balance_counts_classes_that_are_present():
    weight = np.repeat([1.0, 3.0, 0.0], 8)
    model = SVC(Gaussian(1.0), class_weight="balanced").fit(POINTS, THREE, sample_weight=weight)
    np.testing.assert_allclose(model.class_weight_, [2.0, 2 / 3])


@weighted
def test_one_class_is_named(machine):
    with pytest.raises(InputError, match=r"`y` must hold at least two classes\. Got one class only, 'b'"):
        clone(machine).fit(POINTS, np.full(24, "b"))
    weight = np.repeat([0.0, 0.0, 1.0], 8)
    with pytest.raises(InputError, match=r"two classes of positive weight\. Got one class only, 'c'"):
        clone(machine).fit(POINTS, THREE, sample_weight=weight)


def test_one_class_is_named_without_weights():
    with pytest.raises(InputError, match=r"`y` must hold at least two classes\. Got one class only, 'b'"):
        KernelPerceptron().fit(POINTS, np.full(24, "b"))
    with pytest.raises(InputError, match=r"`classes` must hold at least two classes\. Got one class only, 7"):
        PegasosSVC().partial_fit(POINTS, np.full(24, 7), classes=[7])


def test_no_class_has_weight():
    with pytest.raises(InputError, match="none: all weights are zero"):
        SVC(class_weight={"a": 0, "b": 0, "c": 0}).fit(POINTS, THREE)


# -- many classes -------------------------------------------------------------------------------
MACHINES = [SVC(), NuSVC(), SVC(multiclass="ovr"), KernelLogistic(), PegasosSVC(), KernelPerceptron()]
MACHINES += [LaplacianSVC(), LaplacianRLSClassifier(), KernelDiscriminant()]


@pytest.mark.parametrize("machine", MACHINES, ids=repr)
def test_many_classes_say_at_once_what_they_need(machine, monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "4GiB")
    y = np.arange(47_000)
    with pytest.raises(MemoryLimitError, match=r"47,000 classes.*GiB.*limit is 4\.00 GiB"):
        clone(machine).fit(np.zeros((47_000, 1)), y)
