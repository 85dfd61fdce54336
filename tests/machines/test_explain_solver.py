"""``explain()`` without a point: which method has solved the problem."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer.features import Nystrom
from mercer.kernels import Gaussian, Linear, NGram
from mercer.machines import (
    SVC,
    SVR,
    GaussianProcessClassifier,
    GaussianProcessRegressor,
    KernelLogistic,
    KernelRidge,
    MultipleKernelRidge,
    MultipleKernelSVC,
    NuSVC,
    OneClassSVM,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 3))
TARGETS = X[:, 0]
LABELS = (X[:, 0] > 0).astype(int)
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5])
WORDS = ["".join(RNG.choice(list("abcd"), 8)) for _ in range(2100)]
WORD_LABELS = np.array([word.count("a") > 2 for word in WORDS])


@pytest.mark.parametrize(
    ("machine", "y", "said"),
    [
        (SVC(Gaussian(1.0)), LABELS, "SMO: converged"),
        (SVC(Gaussian(1.0)), CLASSES, "3 problems by SMO: converged"),
        (NuSVC(Gaussian(1.0), nu=0.2), LABELS, "SMO: converged"),
        (SVR(Gaussian(1.0)), TARGETS, "SMO: converged"),
        (SVR(approximation=Nystrom(Gaussian(1.0), 20, random_state=0)), TARGETS, "20 features of Nystrom"),
        (KernelRidge(Gaussian(1.0), alpha=0.1), TARGETS, "Cholesky"),
        (KernelLogistic(Gaussian(1.0)), LABELS, "Newton steps by Cholesky: converged"),
        (KernelLogistic(Gaussian(1.0), l1=0.1), LABELS, "Newton steps on a working set: converged"),
        (GaussianProcessRegressor(Linear(), alpha=0.1, tune=None), TARGETS, "exact by finite features"),
        (GaussianProcessClassifier(Gaussian(1.0), tune=None), LABELS, "converged"),
        (MultipleKernelRidge([Linear(), Gaussian(1.0)]), TARGETS, "weights of 2 kernels: converged"),
        (MultipleKernelSVC([Linear(), Gaussian(1.0)]), LABELS, "weights of 2 kernels: converged"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_method_is_named(machine, y, said):
    with pytest.raises(NotFittedError):
        machine.explain()
    assert said in machine.fit(X, y).explain()


def test_one_class():
    assert OneClassSVM(Gaussian(1.0)).fit(X).explain().startswith("SMO: converged")


def test_machines_on_known_features():
    fewer = SVC(NGram(2)).fit(WORDS, WORD_LABELS)
    assert fewer.explain().startswith("interior point, SMO: converged")
    more = SVC(NGram(5)).fit(WORDS, WORD_LABELS)
    count = more.solutions_[0].stats["features"]
    assert more.explain().startswith(f"dual coordinate descent on {count} known features: converged")
    many = np.repeat(X, 60, axis=0)
    found = KernelLogistic(Linear()).fit(many, np.repeat(LABELS, 60))
    assert found.explain() == "Newton steps by conjugate gradients on 3 known features: converged"
