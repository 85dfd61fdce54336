"""A distance in the place of a kernel: machines say what to write instead."""

import re
import warnings

import numpy as np
import pytest

import mercer.kernels
from mercer.errors import DefinitenessError
from mercer.kernels import ChiSquare, Gaussian, Linear, PowerDistance, Precomputed
from mercer.machines import (
    SVC,
    SVR,
    EnclosingBall,
    KernelCCA,
    KernelDiscriminant,
    KernelGraphInference,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelPerceptron,
    KernelRidge,
    LaplacianRLS,
    LaplacianRLSClassifier,
    LaplacianSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    RepresenterMachine,
    SupervisedReduction,
)

DEFINITE = [
    *(SVC, SVR, NuSVC, NuSVR, OneClassSVM, EnclosingBall, KernelRidge, KernelLogistic, RepresenterMachine),
    *(
        PegasosSVC,
        KernelPerceptron,
        KernelPCA,
        KernelCCA,
        KernelDiscriminant,
        SupervisedReduction,
        KernelKMeans,
    ),
    *(LaplacianRLS, LaplacianRLSClassifier, LaplacianSVC, KernelGraphInference),
]


@pytest.fixture
def data():
    X = np.random.default_rng(1).uniform(0.1, 1.0, (16, 3))
    return X, (X[:, 0] > 0.5).astype(int)


def targets(machine, X, y):
    if machine in (KernelCCA, SupervisedReduction):
        return X
    if machine is KernelGraphInference:
        return (np.not_equal.outer(y, y)).astype(float)
    return y


@pytest.mark.parametrize("machine", DEFINITE, ids=lambda m: m.__name__)
@pytest.mark.parametrize("policy", ["warn", "error"])
def test_machines_that_need_a_definite_kernel_say_what_to_write(data, machine, policy):
    X, y = data
    with pytest.raises(DefinitenessError, match=r"k\.schoenberg\(t\), that is exp\(-t k\)") as caught:
        machine(PowerDistance(2.0), indefinite=policy).fit(X, targets(machine, X, y))
    code = re.search(r"Write (.*)\.$", str(caught.value)).group(1)
    assert code == f"{machine.__name__}(PowerDistance(p=2.0).schoenberg(1.0))"
    suggested = eval(code, {**vars(mercer.kernels), machine.__name__: machine})
    first = suggested.kernel_x if machine is KernelCCA else suggested.kernel
    assert first.certificate.is_psd


@pytest.mark.parametrize(
    "kernel",
    [
        ChiSquare(),
        Gaussian(1.0).distance(),
        2.0 * PowerDistance(1.0),
        PowerDistance(1.0) + ChiSquare(),  # the certificate leaves open that it is not positive definite
        -1.0 * Linear(),
        Precomputed().assume("NDS"),
    ],
    ids=repr,
)
def test_any_distance(data, kernel):
    X, y = data
    X = PowerDistance(1.0).block(X) if kernel.domain == Precomputed().domain else X
    with pytest.raises(DefinitenessError, match="schoenberg"):
        SVC(kernel).fit(X, y)
    assert SVC(kernel.schoenberg(1.0)).fit(X, y).kernel_.certificate.is_psd


def test_no_value_is_computed(data):
    """The certificate alone answers."""

    class Slow(PowerDistance):
        def _block(self, X, Y):
            raise AssertionError("a value was asked for")

        def _compile(self, b, X, Y):
            raise AssertionError("a value was asked for")

    X, y = data
    for machine in (SVC, KernelRidge, KernelPCA):
        with pytest.raises(DefinitenessError, match="schoenberg"):
            machine(Slow(2.0)).fit(X, y)


def test_what_is_allowed_stays_allowed(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SVC(PowerDistance(1.0), indefinite="clip").fit(X, y)  # the user's choice
        KernelLogistic(PowerDistance(1.0), alpha=0.0, l1=0.1).fit(X, y)  # values are features
        KernelDiscriminant(PowerDistance(1.0), penalized="coefficients").fit(X, y)
        KernelPCA(-0.5 * PowerDistance(2.0), n_components=2).fit(X)  # classical scaling
        SVC(-1.0 * PowerDistance(1.0)).fit(X, y)  # conditionally positive definite


def test_a_negative_kernel_that_is_positive_on_the_data(data):
    """``-Linear()`` is negative definite; on points at the origin it is the zero matrix, and that is fine."""
    SVR(-1.0 * Linear()).fit(np.zeros((4, 2)), np.arange(4.0))
