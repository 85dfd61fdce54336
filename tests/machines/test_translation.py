"""Kernels as users of scikit-learn write them; scikit-learn itself is the oracle."""

import inspect
import re

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as theirs
import sklearn.svm
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, cross_val_score

import mercer
from mercer import Verdict, gram
from mercer.errors import ParameterError
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from mercer.machines import (
    SVC,
    SVR,
    HSICTest,
    KernelCCA,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    LabelPropagation,
    LaplacianRLS,
    MMDTest,
    OneClassSVM,
    SupervisedReduction,
    hsic,
    mmd,
)
from mercer.machines.translation import as_kernel

#: Values of the same formula in another order of operations.
ROUNDING = 1e-12


@pytest.fixture
def points():
    rng = np.random.default_rng(5)
    return rng.uniform(0.1, 2.0, (30, 3)), rng.uniform(0.1, 2.0, (20, 3))


def values(kernel, X, Y=None):
    k = as_kernel(kernel, "SVC").resolve(X)
    return np.asarray(k.block(X) if Y is None else k.block(Y, X).T)


# -- words ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("word", "function", "options"),
    [
        ("linear", pairwise.linear_kernel, {}),
        ("rbf", pairwise.rbf_kernel, {"gamma": "scale"}),
        ("poly", pairwise.polynomial_kernel, {"gamma": "scale", "coef0": 0, "degree": 3}),
        ("polynomial", pairwise.polynomial_kernel, {"gamma": "scale", "coef0": 0, "degree": 3}),
        ("sigmoid", pairwise.sigmoid_kernel, {"gamma": "scale", "coef0": 0}),
        ("laplacian", pairwise.laplacian_kernel, {}),
        ("cosine", pairwise.cosine_similarity, {}),
        ("chi2", pairwise.chi2_kernel, {}),
        ("additive_chi2", pairwise.additive_chi2_kernel, {}),
    ],
)
def test_words_are_scikit_learns(points, word, function, options):
    X, Y = points
    if "gamma" in options:
        options = {**options, "gamma": 1 / (X.shape[1] * X.var())}
    np.testing.assert_allclose(values(word, X), function(X, **options), rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(values(word, X, Y), function(X, Y, **options), rtol=ROUNDING, atol=ROUNDING)


def test_every_word_of_scikit_learn_is_known():
    for word in [*pairwise.PAIRWISE_KERNEL_FUNCTIONS, "precomputed", *("linear", "poly", "rbf", "sigmoid")]:
        as_kernel(word, "SVC")


@pytest.mark.parametrize("word", ["linear", "poly", "rbf", "sigmoid"])
def test_support_vector_machines_agree(points, word):
    """The whole machine by its word: the same decisions as scikit-learn's."""
    X, _ = points
    y = X[:, 0] + X[:, 1] ** 2 > 2
    ours = SVC(word, C=3.0, tol=1e-8, indefinite="warn")
    reference = sklearn.svm.SVC(kernel=word, C=3.0, tol=1e-8).fit(X, y)
    if word == "sigmoid":
        with pytest.warns(mercer.machines.IndefiniteKernelWarning):
            ours.fit(X, y)
    else:
        ours.fit(X, y)
        np.testing.assert_allclose(
            ours.decision_function(X), reference.decision_function(X), rtol=1e-5, atol=1e-5
        )
    assert ours.kernel == word
    assert ours.kernel_ == as_kernel(word, "SVC").resolve(X)


def test_equal_entries_have_gamma_one():
    """Where the variance is zero scikit-learn takes gamma = 1."""
    X = np.full((4, 3), 0.25)
    np.testing.assert_allclose(values("poly", X), pairwise.polynomial_kernel(X, gamma=1.0, coef0=0))
    np.testing.assert_allclose(values("sigmoid", X), pairwise.sigmoid_kernel(X, gamma=1.0, coef0=0))


def test_certificates_speak():
    verdicts = {
        word: as_kernel(word, "SVC").certificate.verdict
        for word in ("rbf", "poly", "chi2", "sigmoid", "additive_chi2")
    }
    assert verdicts["rbf"] is Verdict.STRICT
    assert verdicts["poly"] is Verdict.PSD
    assert verdicts["chi2"] in (Verdict.PSD, Verdict.STRICT)
    assert verdicts["sigmoid"] is Verdict.REFUTED
    assert verdicts["additive_chi2"] not in (Verdict.PSD, Verdict.STRICT)
    X = np.random.default_rng(0).uniform(size=(20, 3))
    assert gram(as_kernel("additive_chi2", "SVC"), X).check().verdict == "refuted"


# -- kernel objects -------------------------------------------------------------------------------
RBF, WHITE = theirs.RBF(0.7), theirs.WhiteKernel(0.3)
OBJECTS = [
    RBF,
    theirs.RBF([0.5, 1.0, 2.0]),
    *(theirs.Matern(0.8, nu=nu) for nu in (0.5, 1.5, 2.5, 0.9, np.inf)),
    theirs.Matern([0.5, 1.0, 2.0], nu=1.5),
    theirs.RationalQuadratic(0.6, 2.5),
    theirs.DotProduct(0.4),
    theirs.DotProduct(0.0),
    theirs.ConstantKernel(2.5),
    2.0 * RBF,
    RBF + theirs.DotProduct(1.0) * theirs.Matern(1.2),
    (RBF + 0.5) * theirs.DotProduct(0.3) + theirs.RationalQuadratic(1.0, 0.7),
    theirs.DotProduct(1.0) ** 2,
    theirs.DotProduct(1.0) ** 3.0,
    RBF**0.5,
    (RBF + theirs.ConstantKernel(0.2)) ** 2 + theirs.DotProduct(2.0),
    *(theirs.PairwiseKernel(0.3, metric=m) for m in pairwise.PAIRWISE_KERNEL_FUNCTIONS),
    theirs.PairwiseKernel(0.3, metric="poly", pairwise_kernels_kwargs={"degree": 2, "coef0": 0.5}),
]


@pytest.mark.parametrize("kernel", OBJECTS, ids=str)
def test_kernel_objects_are_scikit_learns(points, kernel):
    X, Y = points
    np.testing.assert_allclose(values(kernel, X), kernel(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(values(kernel, X, Y), kernel(X, Y), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "kernel", [WHITE, WHITE + RBF, 0.4 * RBF + WHITE * theirs.ConstantKernel(2.0)], ids=str
)
def test_white_noise_on_distinct_points(points, kernel):
    X, Y = points
    np.testing.assert_allclose(values(kernel, X), kernel(X), atol=1e-12)
    np.testing.assert_allclose(values(kernel, X, Y), kernel(X, Y), atol=1e-12)


def test_periodic_kernel_of_one_feature(points):
    X, Y = (10 * A[:, :1] for A in points)
    kernel = theirs.ExpSineSquared(0.7, 1.3) * theirs.RBF(5.0)
    np.testing.assert_allclose(values(kernel, X), kernel(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(values(kernel, X, Y), kernel(X, Y), rtol=1e-10, atol=1e-12)
    assert as_kernel(kernel, "SVC").certificate.is_psd
    with pytest.raises(ValueError, match=r"1 column.*Got 3"):
        SVC(theirs.ExpSineSquared()).fit(points[0], points[0][:, 0] > 1)


def test_machines_take_kernel_objects(points):
    X, _ = points
    y = np.sin(X[:, 0])
    kernel = 2.0 * theirs.RBF(0.7) + theirs.WhiteKernel(0.1)
    model = clone(KernelRidge(kernel, alpha=0.5)).fit(X, y)
    K = kernel(X)
    np.testing.assert_allclose(model.dual_coef_, np.linalg.solve(K + 0.5 * np.eye(len(X)), y), rtol=1e-6)
    model.set_params(kernel__k1__k2__length_scale=3.0)
    assert model.kernel.k1.k2.length_scale == 3.0


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (theirs.CompoundKernel([RBF]), "one value for each pair"),
        (theirs.PairwiseKernel(metric=pairwise.rbf_kernel), r"@mercer\.kernel"),
        (RBF + theirs.PairwiseKernel(metric="additive"), "metric"),
    ],
)
def test_objects_without_a_counterpart(points, kernel, message):
    with pytest.raises(ParameterError, match=message):
        SVC(kernel).fit(points[0], points[0][:, 0] > 1)


# -- in machines ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "machine",
    [
        SVC("rbf"),
        SVR("rbf"),
        OneClassSVM("rbf"),
        KernelRidge("rbf"),
        KernelLogistic("rbf"),
        KernelPCA("rbf", n_components=2),
        KernelKMeans("rbf", n_clusters=2),
        LabelPropagation("rbf"),
        LaplacianRLS("rbf", graph_kernel="rbf"),
        SupervisedReduction("rbf", kernel_y="linear"),
        KernelCCA("rbf", kernel_y="linear"),
        mercer.machines.SpectralClustering("rbf", n_clusters=2),
        mercer.machines.KernelDiscriminant("rbf"),
        mercer.machines.PegasosSVC("rbf", random_state=0),
        mercer.machines.KernelPerceptron("rbf", random_state=0),
        mercer.machines.RepresenterMachine("rbf"),
        mercer.machines.EnclosingBall("rbf"),
    ],
    ids=lambda m: type(m).__name__,
)
def test_a_word_is_its_kernel(points, machine):
    """Fitting by the word and by the kernel is one thing, and the word stays in its place."""
    X, _ = points
    y = (X[:, 0] > 1).astype(int)
    target = X[:, :2] if isinstance(machine, KernelCCA | SupervisedReduction) else y
    by_kernel = clone(machine)
    swap = {k: as_kernel(v, "") for k, v in machine.get_params(deep=False).items() if v in ("rbf", "linear")}
    machine, by_kernel = machine.fit(X, target), by_kernel.set_params(**swap).fit(X, target)
    method = next(m for m in ("predict", "transform", "labels_") if hasattr(machine, m))
    a, b = (
        getattr(m, method) if method == "labels_" else getattr(m, method)(X) for m in (machine, by_kernel)
    )
    np.testing.assert_array_equal(a, b)
    assert "rbf" in machine.get_params(deep=False).values()


def test_tests_and_statistics(points):
    X, Y = points
    assert MMDTest("rbf", random_state=0).test(X, Y).p_value == pytest.approx(
        MMDTest(Gaussian("scale"), random_state=0).test(X, Y).p_value
    )
    assert mmd("linear", X, Y) == pytest.approx(mmd(Linear(), X, Y))
    assert hsic("linear", "rbf", X, X[:, :1]) == pytest.approx(hsic(Linear(), Gaussian("scale"), X, X[:, :1]))
    assert HSICTest("linear", RBF).kernel_y == Gaussian(0.7)


def test_precomputed_is_sliced_along_both_axes(points):
    X, _ = points
    y = X[:, 0] > 1
    K = pairwise.rbf_kernel(X)
    given = SVC("precomputed")
    assert given.__sklearn_tags__().input_tags.pairwise
    assert not SVC("rbf").__sklearn_tags__().input_tags.pairwise
    np.testing.assert_array_equal(
        cross_val_score(given, K, y, cv=3), cross_val_score(SVC(Gaussian.from_gamma(1 / 3)), X, y, cv=3)
    )


def test_grids_of_words_and_of_parameters(points):
    X, _ = points
    y = X[:, 0] > 1
    search = GridSearchCV(SVC(), {"kernel": ["linear", "rbf", Gaussian(0.5)]}, cv=3).fit(X, y)
    assert search.best_params_["kernel"] in ("linear", "rbf", Gaussian(0.5))
    assert SVC(Gaussian(1.0)).set_params(kernel__sigma=2.0).kernel == Gaussian(2.0)
    assert SVC("rbf").set_params(kernel=Gaussian(1.0), kernel__sigma=2.0).kernel == Gaussian(2.0)
    with pytest.raises(ParameterError, match=r"`kernel` is the word 'rbf'.*kernel=Gaussian\(sigma='scale'\)"):
        SVC("rbf").set_params(kernel__sigma=2.0)


# -- what to write instead ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian, r"Got the class Gaussian: write Gaussian\(1.0\)\."),
        (Linear, r"write Linear\(\)\."),
        (Polynomial, r"write Polynomial\(degree=\.\.\.\)\."),
        ("gaussian", r"Got 'gaussian'\. Write Gaussian\('scale'\)\."),
        ("Laplace", r"Did you mean 'laplacian'\?"),
        ("RBF", r"Did you mean 'rbf'\?"),
        ("matern", r"Write Matern\("),
        ("qqqqqq", r"one of 'linear', 'rbf'.*Got 'qqqqqq'\.$"),
        (lambda x, y: 1.0, r"decorate a function of two points with @mercer\.kernel\(\.\.\.\)"),
        (0.1, r"Got 0\.1\..*SVC\(Gaussian\.from_gamma\(0\.1\)\)"),
        (np.eye(3), r"shape \(3, 3\): pass it as X, with Precomputed\(\)"),
        (None, "Got None"),
        (theirs.RBF, "Got <class"),
    ],
)
def test_errors_say_what_to_write(points, kernel, message):
    with pytest.raises(ParameterError, match=message) as caught:
        SVC(kernel).fit(points[0], points[0][:, 0] > 1)
    assert str(caught.value).startswith("SVC: `kernel` must be")


def test_suggestions_are_kernels():
    """What an error tells users to write can be evaluated."""
    for word in ("gaussian", "exponential", "cauchy"):
        with pytest.raises(ParameterError) as caught:
            as_kernel(word, "SVC")
        suggestion = re.search(r"Write (.*)\.$", str(caught.value)).group(1)
        assert isinstance(eval(suggestion, vars(mercer.kernels)), mercer.Kernel)


def test_other_arguments_name_themselves(points):
    X, _ = points
    with pytest.raises(ParameterError, match="SupervisedReduction: `kernel_y`"):
        SupervisedReduction(kernel_y="gauss").fit(X, X)
    with pytest.raises(ParameterError, match=r"KernelCCA: `kernel_x\[1\]`"):
        KernelCCA(["rbf", "gauss"]).fit([X, X])
    with pytest.raises(ParameterError, match="HSICTest: `kernel_y`"):
        HSICTest("rbf", 3.0)


def test_rules_of_the_kernels_themselves(points):
    X, _ = points
    variance = X.shape[1] * X.var()
    assert Polynomial(2, 1.0, "scale").resolve(X).sigma == pytest.approx(np.sqrt(variance))
    assert Sigmoid("scale").resolve(X).a == pytest.approx(1 / variance)
    assert Laplacian("features").resolve(X).sigma == 3.0
    weight = np.array([2.0, 0.0] + [1.0] * 28)
    repeated = np.vstack([X[:1], X[:1], X[2:]])
    assert Polynomial(2, 1.0, "scale").resolve(X, weight).sigma == pytest.approx(np.sqrt(3 * repeated.var()))
    assert Precomputed() == as_kernel("precomputed", "SVC")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("gamma", r"SVC\(Gaussian.from_gamma\(gamma\)\)"),
        ("degree", r"SVC\(Polynomial\(degree, offset\)\)"),
        ("coef0", r"SVC\(Polynomial\(degree, offset\)\)"),
    ],
)
def test_parameters_of_kernels_are_answered_with_the_kernel(name, remedy):
    with pytest.raises(TypeError, match=f"SVC: `{name}` belongs to the kernel. Write {remedy}"):
        SVC(**{name: 0.1})


def test_other_unknown_parameters_are_errors_of_python():
    with pytest.raises(TypeError, match="unexpected keyword argument 'shape'"):
        SVC(shape=1)


def test_signatures_show_the_parameters():
    assert list(inspect.signature(SVC).parameters)[:2] == ["kernel", "C"]
