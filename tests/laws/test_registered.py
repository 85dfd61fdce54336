"""Every kernel of the package, registered with awkward points, obeys every law."""

import pytest

from mercer.domains import size
from mercer.testing import LAWS, Case, check_kernel
from mercer.testing.registry import package_kernels, sample_modules, unregistered

FAMILIES = sample_modules()
CASES = [case for family in FAMILIES.values() for case in family]
IDS = [
    f"{family}-{i}-{str(case)[:60]}".replace("[", "(").replace("]", ")")
    for family, members in FAMILIES.items()
    for i, case in enumerate(members)
]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_registered_kernel_obeys_every_law(case: Case) -> None:
    report = check_kernel(case.kernel, case.points)
    assert {*report.held, *report.skipped} == set(LAWS)


def test_every_kernel_of_the_package_is_registered() -> None:
    assert unregistered() == set()


def test_the_registry_finds_kernels_where_they_are() -> None:
    names = {kernel.__name__ for kernel in package_kernels()}
    assert {"Gaussian", "Linear", "Sum", "Product", "Schoenberg", "Tensor", "FunctionKernel"} <= names
    assert names.isdisjoint({"Kernel", "Node", "Unary", "Radial"})


def test_cases_have_enough_points() -> None:
    few = [repr(case) for case in CASES if size(case.points) < 6]
    assert few == []
