"""Every kernel of the package, registered with awkward points, obeys every law."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from mercer import gram
from mercer.certificate import Property
from mercer.domains import TupleColumns, Vectors, size, take
from mercer.domains.frames import FrameData, Part
from mercer.errors import MercerError
from mercer.testing import LAWS, check_kernel
from mercer.testing.trial import nodes

from .cases import Case
from .registry import package_kernels, sample_modules, unregistered

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


#: Numbers at the ends of the range of floats, for parameters that take them.
EXTREMES = [5e-324, 1e-320, 1e-200, 1e200, 1e308]


@pytest.mark.parametrize("family", FAMILIES)
def test_certificates_and_bounds_exist_for_extreme_parameters(family: str) -> None:
    for case in FAMILIES[family]:
        kernel = case.kernel.resolve(case.points)
        numbers = [name for name, value in kernel.get_params().items() if isinstance(value, float)]
        for name, value in itertools.product(numbers, [s * t for t in EXTREMES for s in (1, -1)]):
            try:
                k = kernel.replace(**{name: value})
            except MercerError:  # no kernel has this parameter
                continue
            assert k.certificate.explain()
            assert k.bounds.low <= k.bounds.high
            assert k.diagonal_bounds.low <= k.diagonal_bounds.high


@pytest.mark.parametrize("family", FAMILIES)
def test_strict_kernels_tell_multiples_and_permutations_apart(family: str) -> None:
    """Two points x and y that a strict proof without conditions is about have a positive distance."""
    for case in FAMILIES[family]:
        k = case.kernel.resolve(case.points)
        claim = k.certificate.positive if k.certificate.is_psd else k.certificate.negative
        if not (k.is_precise and claim.proved and claim.strict and not claim.all_conditions()):
            continue
        for x in [x for x in case.points if isinstance(x, np.ndarray) and x.ndim == 1][:4]:
            for y in (2.0 * x, x * (1 + 2.0**-21), x[::-1], x / max(x.sum(), 1.0)):
                try:
                    within = (np.abs(y - x) > 1e-9).any() and np.abs([x, y]).max() < 10
                    terms = [k.precise(x, x), k.precise(y, y), -2 * k.precise(x, y)] if within else [1]
                except MercerError:  # a point outside of the domain
                    continue
                assert claim.about is Property.NEGATIVE or sum(terms) > 0, (k, x, y)
                assert claim.about is Property.POSITIVE or sum(terms) < 0 or not within, (k, x, y)


def narrowed(points):
    """Validated points with numbers in single precision."""
    if isinstance(points, TupleColumns):
        return TupleColumns(tuple(map(narrowed, points.parts)))
    if isinstance(points, FrameData):
        parts = {c: Part(narrowed(part.data), part.position) for c, part in points.parts.items()}
        return FrameData(parts, points.n)
    return points.astype(np.float32) if getattr(points, "dtype", None) == np.float64 else points


def variants(case: Case):
    """The resolved kernel with its validated points: in double and single precision, dense and sparse."""
    k = case.kernel.resolve(case.points)
    X = k.domain.validate(case.points)
    yield k, X
    yield k, narrowed(X)
    if type(k.domain) is Vectors and not k.domain.dense and isinstance(X, np.ndarray):
        yield k, k.domain.validate(sparse.csr_array(X))
        yield k, k.domain.validate(sparse.csr_array(narrowed(X)))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_type_of_values_is_known_before_they_are(family: str) -> None:
    for k, X in itertools.chain.from_iterable(map(variants, FAMILIES[family])):
        P = k._prepare(X)
        try:
            blocks = k._block(P, None), k._block(P, P)
        except MercerError:  # an overflow in single precision
            blocks = (k._block(take(P, slice(0, 1)), None),)
        assert {K.dtype for K in blocks} == {gram(k, X).dtype} == {gram(k, X, X).dtype}, (k, X)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_compiled_runs_no_block(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called = []

    def spied(block):
        return lambda self, X, Y: called.append(self) or block(self, X, Y)

    for kind in {kind for case in FAMILIES[family] for k in nodes(case.kernel) for kind in type(k).__mro__}:
        if "_block" in vars(kind):
            monkeypatch.setattr(kind, "_block", spied(vars(kind)["_block"]))
    for k, X in itertools.chain.from_iterable(map(variants, FAMILIES[family])):
        G = gram(k, X)
        is_compiled = G._is_compiled
        called.clear()
        try:
            G.dense()
        except MercerError:  # an overflow in single precision
            continue
        if is_compiled and called:  # a check failed, and blocks say of what
            assert k._program(k._prepare(X), None).dense() is None, (k, X)


@pytest.mark.parametrize("family", FAMILIES)
def test_parameters_are_the_attributes(family: str) -> None:
    """Also of sums of sums, which are flattened after they are made."""
    for k in [case.kernel for case in FAMILIES[family]]:
        for kernel in (k, k + k + k, 2.0 * k * k * k):
            for name, value in kernel.get_params(deep=False).items():
                assert value is getattr(kernel, name), (kernel, name)
