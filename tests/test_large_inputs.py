"""Inputs of any size: values and models are finite or refused, and NumPy does not warn on the way."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import mercer.machines
from mercer.domains import Vectors
from mercer.errors import MercerError
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial

from .laws.registry import cases

SCALES = [1e-310, 1e-200, 1e100, 1e160, 1e300]
X = np.abs(np.random.default_rng(0).standard_normal((10, 3))) + 0.1
LABELS = np.arange(10) % 2


def vector_kernels():
    """Registered kernels on vectors, each once."""
    found = {}
    for case in cases():
        domain = case.kernel.domain if case.kernel.is_resolved else None
        if isinstance(domain, Vectors) and domain.dim in (None, 1, 2, 3):
            found.setdefault(repr(case.kernel), case.kernel)
    return list(found.values())


def finite_or_refused(use):
    """Whether it was answered; a warning of NumPy is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            values = use()
        except MercerError:
            return False
    assert np.isfinite(values).all()
    return True


@pytest.mark.parametrize("scale", SCALES)
def test_kernels(scale):
    answered = 0
    for kernel in vector_kernels():
        points = scale * X[:, : kernel.domain.dim]
        for use in (kernel.block, kernel.diagonal, lambda Z, k=kernel: k(Z[0], Z[1])):
            answered += finite_or_refused(lambda use=use, points=points: use(points))
    assert answered > 50


def estimators():
    """Machines that fit points with or without targets."""
    public = [getattr(mercer.machines, name) for name in mercer.machines.__all__]
    kinds = [kind for kind in public if inspect.isclass(kind) and not issubclass(kind, Warning)]
    kinds = [
        kind for kind in kinds if hasattr(kind, "fit") and "kernel" in inspect.signature(kind).parameters
    ]
    return [kind() for kind in kinds]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "kernel", [Linear(), Polynomial(2), Gaussian("median"), Laplacian("median")], ids=repr
)
@pytest.mark.parametrize("machine", estimators(), ids=lambda m: type(m).__name__)
def test_machines(machine, kernel, scale):
    model = clone(machine).set_params(kernel=kernel)

    def use():
        model.fit(scale * X, LABELS)
        result = getattr(model, "predict", None) or getattr(model, "transform", None)
        if result is not None:
            return result(scale * X)
        return model.labels_ if hasattr(model, "labels_") else model.matrix_

    finite_or_refused(use)


@pytest.mark.parametrize("machine", estimators(), ids=lambda m: type(m).__name__)
def test_scales_that_cancel_are_answered(machine):
    """A width from the data makes every scale the same."""
    model = clone(machine).set_params(kernel=Gaussian("median"))
    assert finite_or_refused(lambda: model.fit(1e100 * X, LABELS) and 0.0)
