"""Machines with several kernels are estimators of scikit-learn."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.kernels import Gaussian, Linear
from mercer.machines import (
    MultipleKernelOneClass,
    MultipleKernelRidge,
    MultipleKernelSVC,
    MultipleKernelSVR,
    MultipleKernelTransformer,
)


@parametrize_with_checks(
    [
        MultipleKernelSVC(),
        MultipleKernelSVR([Linear(), Gaussian(2.0)], norm=2.0),
        MultipleKernelRidge(weights="alignment", scale="variance"),
        MultipleKernelOneClass(),
    ]
)
def test_contract(estimator, check):
    check(estimator)


@parametrize_with_checks(
    [
        MultipleKernelTransformer(MultipleKernelSVC()),
        MultipleKernelTransformer(MultipleKernelRidge(weights="average")),
        MultipleKernelTransformer(MultipleKernelOneClass()),
    ]
)
def test_contract_of_transformers(estimator, check):
    check(estimator)
