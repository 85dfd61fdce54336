"""What a constructor and ``fit`` are given: flags, choices, counts, numbers, targets, weights."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import mercer.features
import mercer.machines
import mercer.selection
from mercer.errors import InputError, MercerError, ParameterError
from mercer.features import AllSubsetsMap, PolynomialMap
from mercer.kernels import ChiSquare, ExponentialDot, Gaussian, MinMax, Polynomial
from mercer.machines import (
    SVC,
    SVR,
    Cells,
    Conformal,
    HSICTest,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelPerceptron,
    KernelRanker,
    KernelRidge,
    LabelPropagation,
    LaplacianRLS,
    LaplacianSVC,
    MMDTest,
    MultipleKernelSVC,
    MultipleKernelTransformer,
    NuSVR,
    PegasosSVC,
    SmoothingSpline,
    SupervisedReduction,
    TransductiveAlignment,
    hsic,
    mmd,
)
from mercer.selection import KernelSearchCV, discover, learn_metric, learn_weights

pytestmark = pytest.mark.filterwarnings("ignore")

X = np.random.default_rng(0).random((16, 3)) + 0.1
LABELS = np.arange(16) % 2
NUMBERS = np.sin(5 * X[:, 0])

#: What a constructor needs beside its defaults.
NEEDED = {
    "Cells": {"machine": KernelRidge()},
    "Conformal": {"machine": KernelRidge()},
    "MultipleKernelTransformer": {"machine": MultipleKernelSVC()},
    "KernelSearchCV": {"machine": KernelRidge(), "grid": {"alpha": [0.1, 1.0]}, "cv": 2},
    "Homogeneous": {"kernel": ChiSquare()},
    "PositiveRandom": {"kernel": ExponentialDot(), "n_components": 4},
    "RandomFourier": {"kernel": Gaussian(1.0), "n_components": 4},
    "Sampled": {"kernel": MinMax(), "n_components": 4},
    "TensorSketch": {"kernel": Polynomial(2), "n_components": 4},
    "Explicit": {"kernel": Polynomial(2)},
    "IncompleteCholesky": {"kernel": Gaussian(1.0)},
    "Nystrom": {"kernel": Gaussian(1.0), "n_components": 4},
    "EmpiricalMap": {"kernel": Gaussian(1.0)},
    "MercerExpansion": {"kernel": Gaussian(1.0)},
    "KernelKMeans": {"n_clusters": 2},
    "SpectralClustering": {"n_clusters": 2},
    "HSICTest": {"n_permutations": 9},
    "MMDTest": {"n_permutations": 9},
}


def found():
    """Every public class that learns from data or tests them."""
    for module in (mercer.machines, mercer.features, mercer.selection):
        for name in module.__all__:
            kind = getattr(module, name)
            if (
                inspect.isclass(kind)
                and (hasattr(kind, "fit") or hasattr(kind, "test"))
                and name != "FeatureMap"
            ):
                yield kind


ESTIMATORS = list(found())
PARAMETERS = [(kind, p) for kind in ESTIMATORS for p in inspect.signature(kind).parameters.values()]
FLAGS = [(kind, p.name) for kind, p in PARAMETERS if isinstance(p.default, bool)]


def learn(kind, **parameters):
    """Make an estimator and give it data that suit it."""
    estimator, name = kind(**NEEDED.get(kind.__name__, {}) | parameters), kind.__name__
    if hasattr(kind, "test"):
        return estimator.test(X, X[:, ::-1])
    if issubclass(kind, mercer.features.FeatureMap):
        return estimator.fit(X)
    if name == "SmoothingSpline":
        return estimator.fit(X[:, :1], NUMBERS)
    if name == "ThinPlateSpline":
        return estimator.fit(X[:, :2], NUMBERS)
    if name == "KernelCCA":
        return estimator.fit(X, X[:, ::-1].copy())
    if name == "KernelGraphInference":
        return estimator.fit(X, LABELS)
    return estimator.fit(X, targets_for(estimator))


def targets_for(estimator):
    if isinstance(estimator, TransductiveAlignment | MultipleKernelTransformer):
        return LABELS
    around = isinstance(estimator, KernelSearchCV | Cells | Conformal)  # a KernelRidge
    return LABELS if not around and estimator.__sklearn_tags__().estimator_type == "classifier" else NUMBERS


class Unspeakable:
    """An object that can be neither written nor compared."""

    def __repr__(self):
        raise RuntimeError("no words")

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __hash__(self):
        return 0


UNSPEAKABLE = Unspeakable()


def test_what_is_found():
    assert {"SVC", "Nystrom", "KernelSearchCV", "Conformal", "MMDTest", "SmoothingSpline"} <= {
        kind.__name__ for kind in ESTIMATORS
    }
    assert len(ESTIMATORS) >= 50
    assert len(FLAGS) >= 40


# -- parameters -----------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_any_object_for_any_parameter_is_taken_or_refused_by_name(kind):
    """A value either makes sense, or the error is ours, names the parameter and is not long."""
    odd = [
        UNSPEAKABLE,
        object(),
        {},
        1j,
        np.nan,
        -(10**30),
        10**400,
        [0] * 100_000,
        np.array([1.5, 2.5, 3.5]),
    ]
    refused = []
    for name in sorted(set(inspect.signature(kind).parameters) - {"landmarks"}):  # these are points
        for value in odd:
            try:
                learn(kind, **{name: value})
            except MercerError as error:
                refused.append((name, str(error)))
    # weights of features that are not as many as those of the data are the only ones that X is named for
    assert [
        m for name, m in refused if name not in m and not (name == "weights" and "X must have" in m)
    ] == []
    assert [m for _, m in refused if len(m) > 600] == []


@pytest.mark.parametrize(("kind", "name"), FLAGS, ids=lambda value: getattr(value, "__name__", value))
def test_a_flag_is_true_or_false(kind, name):
    words = kind is KernelSearchCV and name == "refit"  # may be the name of a metric
    for value in [
        *[1, 0] * (name != "verbose"),  # a level, in scikit-learn
        1.5,
        None,
        [True],
        np.array([1, 2]),
        np.array(True),
        UNSPEAKABLE,
        *["no"] * (not words),
    ]:
        with pytest.raises(ParameterError, match=rf"^{kind.__name__}: `{name}` must be True"):
            learn(kind, **{name: value})
    if name != "break_ties":  # which goes with one of the shapes only
        learn(kind, **{name: np.bool_(False)})
    learn(kind, **{name: np.bool_(True)})


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_defaults_are_taken_as_numbers_of_numpy_too(kind):
    kinds = {int: np.int64, float: np.float64, bool: np.bool_, str: np.str_}
    given = {name: p.default for name, p in inspect.signature(kind).parameters.items()}
    learn(
        kind,
        **{
            name: kinds[type(v)](v)
            for name, v in given.items()
            if type(v) in kinds and name not in NEEDED.get(kind.__name__, {})
        },
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, p.name)
        for kind, p in PARAMETERS
        if p.name
        in {"max_iter", "n_restarts", "n_init", "n_clusters", "n_permutations", "max_size", "max_rank"}
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_counts_beyond_32_bits_are_refused_at_once(kind, name):
    for value in (10**30, 2**31):
        with pytest.raises(
            ParameterError, match=rf"^{kind.__name__}: `{name}` must be at most 2,147,483,647"
        ):
            learn(kind, **{name: value})


@pytest.mark.parametrize("machine", [SVC, SVR, LaplacianSVC, MultipleKernelSVC], ids=lambda m: m.__name__)
def test_an_int_beyond_64_bits_is_a_number(machine):
    y = NUMBERS if machine is SVR else LABELS
    a, b = (machine(C=C, max_iter=20).fit(X, y) for C in (10**30, 1e30))
    score = "predict" if machine is SVR else "decision_function"
    np.testing.assert_array_equal(getattr(a, score)(X), getattr(b, score)(X))


def test_an_int_beyond_64_bits_is_a_penalty():
    for machine in (KernelRidge(alpha=10**30), KernelLogistic(alpha=10**30), PegasosSVC(alpha=10**30)):
        machine.fit(X, LABELS)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (SVC(multiclass="all"), "SVC: `multiclass` must be 'ovo' or 'ovr'. Got 'all'."),
        (SVC(C=-1), "SVC: `C` must be a positive number, or inf for the hard margin. Got -1."),
        (SVC(tol=np.nan), "SVC: `tol` must be a positive number. Got nan."),
        (
            SVC(indefinite=None),
            "SVC: `indefinite` must be one of 'warn', 'error', 'clip', 'flip', 'shift'. Got None.",
        ),
        (NuSVR(C=np.inf), "NuSVR: `C` must be a positive finite number. Got inf."),
        (KernelPCA(n_components=0), "KernelPCA: `n_components` must be an integer >= 1, or None. Got 0."),
        (KernelKMeans(n_init=True), "KernelKMeans: `n_init` must be an integer >= 1. Got True."),
        (SVC(time_budget=-1), "SVC: `time_budget` must be a number of seconds > 0, or None. Got -1."),
        (LaplacianSVC(tol=0), "LaplacianSVC: `tol` must be a positive number. Got 0."),
        (
            PegasosSVC(alpha=0),
            "PegasosSVC: `alpha` must be a number between 1e-100 and 1e100. Got 0. Smaller alpha fits the "
            "training data more closely and needs more steps.",
        ),
        (
            SVC(random_state=True),
            "SVC: `random_state` must be None, an integer from 0 to 2^32 - 1 or a NumPy RandomState. "
            "Got True.",
        ),
        (KernelRidge(checkpoint=3), "KernelRidge: `checkpoint` must be a path, or None. Got 3."),
        (
            KernelRidge(alpha=[1.0, -1.0]),
            "KernelRidge: `alpha` must be 0 or a number between 1e-100 and 1e100, one for each target, 'loo' "
            "or 'gcv'. Got -1.0. Larger alpha gives a smoother fit.",
        ),
    ],
    ids=repr,
)
def test_messages(estimator, message):
    with pytest.raises(ParameterError) as caught:
        estimator.fit(X, LABELS)
    assert str(caught.value) == message


def test_a_word_near_the_name_of_a_kernel_is_refused():
    for word in ("auto", "cutoff", "no", ""):  # `Cutoff` stands beside the kernels and is none
        with pytest.raises(ParameterError, match="SVC: `kernel` must be a mercer Kernel or one of"):
            SVC(word).fit(X, LABELS)


def test_parameters_come_before_data():
    with pytest.raises(ParameterError, match="`fit_intercept`"):
        SVC(fit_intercept="no").fit(None, None)
    with pytest.raises(ParameterError, match="`shuffle`"):
        KernelPerceptron(shuffle=2).partial_fit(None, None)
    with pytest.raises(ParameterError, match="`probability`"):
        SVC(probability=1).path(None, None, [1.0])


def test_candidates_of_a_search_are_checked_before_any_fit():
    for grid in ({"fit_intercept": [True, "no"]}, {"max_iter": [10, 10**30]}, {"indefinite": ["warn", "no"]}):
        with pytest.raises(ParameterError, match=f"`grid` has the candidate {next(iter(grid))}="):
            KernelSearchCV(SVC(), grid).fit(X, LABELS)


def test_refit_names_the_metric():
    search = KernelSearchCV(KernelRidge(), {"alpha": [1.0]}, cv=2, refit="accuracy")
    with pytest.raises(ParameterError, match="KernelSearchCV: `refit` must be True, False"):
        search.fit(X, NUMBERS)
    assert not hasattr(search.set_params(refit=np.bool_(False)).fit(X, NUMBERS), "best_estimator_")


def test_functions_check_their_arguments_in_the_same_way():
    k, conformal, svc = Gaussian(1.0), Conformal(KernelRidge()).fit(X, NUMBERS), SVC().fit(X, LABELS)
    calls = {
        "hsic: `unbiased` must be True or False. Got 1": lambda: hsic(k, k, X, X, unbiased=1),
        "mmd: `unbiased` must be True or False. Got 'no'": lambda: mmd(k, X, X, unbiased="no"),
        "MMDTest: `callbacks` must be a sequence": lambda: MMDTest(callbacks="no"),
        "HSICTest: `n_permutations` must be at most": lambda: HSICTest(n_permutations=10**30),
        "discover: `max_steps` must be an integer >= 1": lambda: discover(X, NUMBERS, max_steps=0.5),
        "learn_metric: `max_steps` must be at most": lambda: learn_metric(X, NUMBERS, max_steps=10**30),
        "learn_weights: `criterion` must be one of": lambda: learn_weights(k, X, X, criterion=UNSPEAKABLE),
        "learn_weights: `time_budget` must be a number": lambda: learn_weights(k, X, X, time_budget="no"),
        "Conformal.predict_interval: `alpha` must be": lambda: conformal.predict_interval(X, UNSPEAKABLE),
        "SVC.compress: `tol` must be a number >= 0": lambda: svc.compress(np.array([1, 2])),
    }
    for message, call in calls.items():
        with pytest.raises(ParameterError, match=rf"^{re.escape(message)}"):
            call()


def test_too_many_features_are_refused_at_once():
    wide = np.ones((2, 20_000))
    with pytest.raises(
        ParameterError, match=r"20000 columns would give 10\^6021 features.*more memory than there is"
    ):
        AllSubsetsMap().fit(wide)
    with pytest.raises(
        ParameterError, match=r"200,030,001 features, more than 16,777,216: a point would take 1.49 GiB"
    ):
        PolynomialMap(2).fit(wide)
    with pytest.raises(ParameterError, match=r"33,554,432 features"):
        AllSubsetsMap().fit(wide[:, :25])


# -- targets --------------------------------------------------------------------------------------
def with_targets():
    for kind in ESTIMATORS:
        needs = "y" in inspect.signature(kind.fit).parameters if hasattr(kind, "fit") else False
        if needs and kind(**NEEDED.get(kind.__name__, {})).__sklearn_tags__().target_tags.required:
            yield kind


SUPERVISED = [k for k in with_targets() if k.__name__ not in {"KernelCCA", "KernelGraphInference"}]


def points_for(kind):
    return X[:, : {"SmoothingSpline": 1, "ThinPlateSpline": 2}.get(kind.__name__, 3)]


@pytest.mark.parametrize("kind", SUPERVISED, ids=lambda kind: kind.__name__)
def test_targets_that_are_none_are_refused_by_name(kind):
    y = LABELS.astype(float)
    broken = {
        "none": None,
        "complex": y + 1j,
        "cube": np.zeros((16, 1, 1)),
        "mixed": [1, "a"] * 8,
        "mixed with None": [1, "a", None, 2] * 4,
        "all None": [None] * 16,
        "masked": np.ma.MaskedArray(y, mask=np.arange(16) == 2),
        "dates": np.datetime64("2020-01-01") + np.arange(16),
        "column of dates": pd.Series(pd.date_range("2020", periods=16)),
        "durations": np.arange(16).astype("m8[s]"),
        "dict": dict(enumerate(y)),
        "values of a dict": dict(enumerate(y)).values(),
        "set": set(range(16)),
        "generator": (v for v in y),
        "shorter": y[:-1],
        "longer": np.r_[y, y],
        "scalar": 1.0,
        "word": "abcdefghijklmnop",
        "sparse": scipy.sparse.csr_array(y[:, None]),
        "objects": [UNSPEAKABLE] * 16,
        "ragged": [[1], [1, 2]] * 8,
        "records": np.zeros(16, dtype=[("a", float)]),
        "columns of strings": pd.DataFrame({"a": ["x"] * 16, "b": ["y"] * 16}),
        "infinite": np.where(np.arange(16) == 3, np.inf, y),
    }
    if kind is SupervisedReduction:  # whose targets are points
        del broken["sparse"]
    for what, value in broken.items():
        with pytest.raises(InputError) as caught:
            kind(**NEEDED.get(kind.__name__, {})).fit(points_for(kind), value)
        assert "y" in str(caught.value), what
        assert len(str(caught.value)) < 700, what


def test_numbers_in_strings_are_no_targets():
    for machine in (KernelRidge(), SVR(), KernelRanker(), SmoothingSpline(), LaplacianRLS(), Cells(SVR())):
        with pytest.raises(InputError, match="strings"):
            machine.fit(X[:, :1], ["1.5", "2.5"] * 8)


def test_lists_of_labels_are_of_one_kind():
    for machine in (SVC(), KernelLogistic(), LabelPropagation(), TransductiveAlignment()):
        with pytest.raises(InputError, match=r"labels of one kind.*int, str"):
            machine.fit(X, [1, "1"] * 8)
        with pytest.raises(InputError, match=r"labels of one kind.*bytes, str"):
            machine.fit(X, ["a", b"a"] * 8)
    assert SVC().fit(X, ["a", "b"] * 8).classes_.dtype == "<U1"
    assert SVC().fit(X, [np.str_("a"), "b"] * 8).classes_.dtype == "<U1"


def test_integers_beyond_64_bits_are_targets():
    np.testing.assert_allclose(
        KernelRidge(Gaussian(1.0)).fit(X, [10**30, 1] * 8).predict(X) / 1e30,
        KernelRidge(Gaussian(1.0)).fit(X, [1.0, 1e-30] * 8).predict(X),
        rtol=1e-12,
    )
    with pytest.raises(InputError, match="`y`"):
        KernelRidge().fit(X, [10**400, 1] * 8)


# -- weights --------------------------------------------------------------------------------------
WEIGHTED = [
    k for k in ESTIMATORS if hasattr(k, "fit") and "sample_weight" in inspect.signature(k.fit).parameters
]


@pytest.mark.parametrize(
    "kind", [k for k in WEIGHTED if k.__name__ != "MercerExpansion"], ids=lambda k: k.__name__
)
def test_weights_that_are_none_are_refused_by_name(kind):
    w = np.ones(16)
    broken = {
        "shorter": w[:-1],
        "longer": np.ones(32),
        "NaN": np.where(np.arange(16) == 3, np.nan, w),
        "infinite": np.where(np.arange(16) == 3, np.inf, w),
        "negative": np.where(np.arange(16) == 3, -1.0, w),
        "zero": 0 * w,
        "complex": w + 0j,
        "numbers in strings": ["1"] * 16,
        "words": ["a"] * 16,
        "column": w[:, None],
        "dict": dict(enumerate(w)),
        "set": set(range(16)),
        "generator": (v for v in w),
        "masked": np.ma.MaskedArray(w, mask=np.arange(16) == 2),
        "dates": np.datetime64("2020-01-01") + np.arange(16),
        "None in a list": [None] * 16,
        "word": "balanced",
        "beyond floats": [10**400] * 16,
        "sparse": scipy.sparse.csr_array(w[:, None]),
        "objects": [UNSPEAKABLE] * 16,
    }
    name = kind.__name__
    estimator = kind(**NEEDED.get(name, {}))
    y = targets_for(estimator)
    y = {"KernelCCA": X[:, ::-1].copy(), "KernelGraphInference": LABELS}.get(name, y)
    for what, value in broken.items():
        with pytest.raises(InputError, match="sample_weight") as caught:
            kind(**NEEDED.get(name, {})).fit(points_for(kind), y, sample_weight=value)
        assert len(str(caught.value)) < 700, what


@pytest.mark.parametrize(
    "weight",
    [
        "no", [1, 2], {0: -1}, {0: np.nan}, {0: "1"}, {7: 1.0}, {0: 10**400}, {0: np.inf}, {0: True}, {0: 1j},
        {0: UNSPEAKABLE}, {(0, 1): 1.0}, {None: 1.0}, np.ones(2), UNSPEAKABLE,
    ],
    ids=range(15),
)  # fmt: skip
def test_weights_of_classes_are_numbers_by_class(weight):
    for machine in (SVC, KernelLogistic, PegasosSVC, MultipleKernelSVC, LaplacianSVC):
        with pytest.raises(
            ParameterError, match=f"^{'SVC' if machine is LaplacianSVC else machine.__name__}: `class_weight`"
        ):
            machine(class_weight=weight).fit(X, LABELS)
