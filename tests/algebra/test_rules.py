"""Rules of certificates: random instances against Gram matrices with many digits, and their near misses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate

from mercer import Kernel, columns, direct_sum, kernel, tensor
from mercer.algebra import Constant
from mercer.certificate import Verdict
from mercer.domains import Vectors
from mercer.errors import InputError, ParameterError
from mercer.kernels import (
    Cauchy,
    Exponential,
    Gaussian,
    Jaccard,
    Laplacian,
    Linear,
    Matern,
    Min,
    Polynomial,
    PowerDistance,
    RationalQuadratic,
    SetIntersection,
    SymmetricDifference,
    ThinPlate,
)

PSI = PowerDistance(1.0)
CONTEXT = mpmath.MPContext()
CONTEXT.dps = 60


def least(k: Kernel, points: Sequence[Any]) -> mpmath.mpf:
    """Least eigenvalue of the Gram matrix, relative to its largest entry, with sixty digits."""
    K = CONTEXT.matrix([[k.precise(x, y, 60) for y in points] for x in points])
    return min(CONTEXT.eigsy(K / max(map(abs, K)), eigvals_only=True))


def plane(seed: int, n: int = 7) -> list[tuple[float, ...]]:
    rng = np.random.default_rng(seed)
    return [tuple(x) for x in rng.normal(size=(n, 2)).round(3).tolist()]


ROWS = [{"x": float(x), "y": float(y)} for x in (0, 1) for y in (0, 1, 2)]
PAIRS = [((x,), (y,)) for x in (0.0, 1.0) for y in (0.0, 1.0, 2.0)]
SETS = [frozenset(s) for s in ((), "a", "b", "c", "ab", "ac", "bc", "abc")]
WEIGHTS = {"a": 2.0, "b": 0.1, "c": 1.0}


STRICT: dict[str, tuple[Kernel, Any]] = {
    "root of a Gaussian": (Gaussian(1.0) ** 0.5, plane(0)),
    "root of a product": ((Gaussian(1.0) * Laplacian(2.0)) ** 0.3, plane(1)),
    "root of a multiple": ((3.0 * Cauchy(0.5)) ** 0.7, plane(2)),
    "root of a tensor product": (tensor(Gaussian(1.0), Laplacian(2.0)) ** 0.5, PAIRS),
    "root of a product of columns": (
        columns(x=Gaussian(1.0), y=Laplacian(1.0), combine="product", missing="error") ** 0.5,
        ROWS,
    ),
    "root with missing values": (
        columns(x=Gaussian(1.0), y=Laplacian(1.0), combine="product", missing="own") ** 0.5,
        [*ROWS, {"x": None, "y": 1.0}, {"x": 0.0, "y": None}],
    ),
    "cosh": (Gaussian(1.0).power_series("cosh"), plane(3)),
    "exp": (Laplacian(1.0).exp(), plane(4)),
    "even power of minus a kernel": ((-Gaussian(1.0) - 0.5) ** 2, plane(5)),
    "product of two opposites": ((-Gaussian(1.0)) * (-Polynomial(2)), plane(6)),
    "like terms": (Gaussian(1.0) - 0.75 * Gaussian(1.0), plane(7)),
    "terms of a sum": (2 * (Gaussian(1.0) + Linear()) - (Linear() + Gaussian(1.0)), plane(8)),
    "a column group in a sum": (
        columns({("x", "y"): Gaussian(1.0), "x": Linear()}, missing="error"),
        ROWS,
    ),
    "a column group in a product": (
        columns({("x", "y"): Gaussian(1.0), "x": Linear() + 1.0}, combine="product", missing="error"),
        ROWS,
    ),
    "exponential of distances of columns": (
        columns(x=PowerDistance(1.0), y=PowerDistance(0.5), missing="error").schoenberg(1.0),
        ROWS,
    ),
    "symmetric difference": (SymmetricDifference(0.5, WEIGHTS, closed=True), SETS),
    "Jaccard": (Jaccard(WEIGHTS, closed=True), SETS),
}


@pytest.mark.parametrize("name", STRICT)
def test_strict(name: str) -> None:
    k, points = STRICT[name]
    assert k.certificate.verdict is Verdict.STRICT, k.certificate.explain()
    assert least(k, points) > 1e-40


NEAR_MISSES: dict[str, tuple[Kernel, Verdict]] = {
    "no root of a kernel that is not divisible": (Polynomial(2) ** 0.5, Verdict.UNKNOWN),
    "a root is strict only if the kernel is": (Min() ** 0.5, Verdict.PSD),
    "a tensor product with a factor that is not divisible": (
        tensor(Gaussian(1.0), Linear()) ** 0.5,
        Verdict.UNKNOWN,
    ),
    "a sum of columns has no roots": (columns(x=Gaussian(1.0), y=Gaussian(1.0)) ** 0.5, Verdict.UNKNOWN),
    "cosh of a kernel that is not strict": (Linear().power_series("cosh"), Verdict.PSD),
    "even powers of a difference": ((Gaussian(1.0) - Linear()) ** 2, Verdict.UNKNOWN),
    "even powers of a distance": (PSI**2, Verdict.UNKNOWN),
    "odd power of the wrong sign in a polynomial": (
        (-Gaussian(1.0)).polynomial([0.0, 1.0, 1.0]),
        Verdict.UNKNOWN,
    ),
    "sinh is not even": ((-Gaussian(1.0)).power_series("sinh"), Verdict.UNKNOWN),
    "the larger term has the wrong sign": (Gaussian(1.0) - 2 * Gaussian(1.0), Verdict.NDS),
    "terms that are not alike": (RationalQuadratic(1.0) - 0.5 * RationalQuadratic(1.5), Verdict.UNKNOWN),
    "a sum over two columns": (columns(x=Gaussian(1.0), y=Gaussian(1.0), missing="error"), Verdict.PSD),
    "missing values of a group": (
        columns({("x", "y"): Gaussian(1.0), "x": Linear()}, missing="own"),
        Verdict.PSD,
    ),
    "a product with a zero diagonal": (
        columns({("x", "y"): Gaussian(1.0), "x": Linear()}, combine="product", missing="error"),
        Verdict.PSD,
    ),
    "a vanishing weight": (
        SymmetricDifference(0.5, {"a": 1.0, "b": 0.0}, closed=True),
        Verdict.PSD,
    ),
    "a vanishing weight of the Jaccard index": (Jaccard({"a": 1.0, "b": 0.0}, closed=True), Verdict.PSD),
    "the intersection has no constant": (SetIntersection(WEIGHTS), Verdict.PSD),
    "log(1 + psi) where psi(x, x) = -1": ((PSI - 1.0).log1p(), Verdict.UNKNOWN),
    "survivors that do not read every column": (
        columns(x=Gaussian(1.0)) + columns(y=Linear()) - columns(y=Linear()),
        Verdict.PSD,
    ),
    "an odd number of constants below zero": (Constant(-1.0) * PSI * Constant(2.0), Verdict.CPD),
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_misses(name: str) -> None:
    k, verdict = NEAR_MISSES[name]
    assert k.certificate.verdict is verdict, k.certificate.explain()


def test_sets_of_elements_without_a_weight_are_refused_where_it_matters() -> None:
    empty, other = frozenset[str](), frozenset("z")
    for make in (lambda **o: SymmetricDifference(0.5, WEIGHTS, **o), lambda **o: Jaccard(WEIGHTS, **o)):
        assert make().certificate.verdict is Verdict.PSD
        assert abs(least(make(), [empty, other])) < 1e-50
        with pytest.raises(InputError, match="must be a subset of the universe"):
            make(closed=True)(empty, other)
        assert (make(closed=True) + SetIntersection()).certificate.verdict is Verdict.STRICT
    with pytest.raises(ParameterError, match="`closed=True` needs `weights`"):
        Jaccard(closed=True)


def test_conformal_maps_without_zeros() -> None:
    k = Gaussian(1.0).conformal(lambda x: math.exp(x[0]), nonzero=True)
    assert k.certificate.verdict is Verdict.STRICT
    assert any("f(x) != 0" in condition for condition in k.certificate.conditions)
    assert Gaussian(1.0).conformal(lambda x: x[0]).certificate.verdict is Verdict.PSD
    assert Linear().conformal(abs, nonzero=True).certificate.verdict is Verdict.PSD
    vanishing = Gaussian(1.0).conformal(lambda x: float(x[0]), nonzero=True)
    with pytest.raises(InputError, match=r"said to be nonzero\. It is 0 at point 1"):
        vanishing.block([[1.0], [0.0]])


@pytest.mark.parametrize("c", [1e-3, 0.5, 1.0, 2.0, 50.0])
def test_logarithms_of_shifted_distances(c: float) -> None:
    k = (PSI + (c - 1.0)).log1p()
    assert k.certificate.is_nds
    assert k.certificate.negative.strict
    assert k([0.0], [3.0]) == pytest.approx(math.log(c + 3.0), rel=1e-12)
    K = k.block(np.random.default_rng(3).normal(size=(12, 3)))
    P = np.eye(12) - 1 / 12
    assert np.linalg.eigvalsh(P @ K @ P).max() < 1e-12


AFFINE: list[Callable[[Kernel], Kernel]] = [
    lambda k: Constant(2.0) * k,
    lambda k: k**1,
    lambda k: k.polynomial([1.0, 2.0]),
    lambda k: k.polynomial([-1.0, 2.0, 0.0]),
    lambda k: 3 * k - k,
    lambda k: -(-k - 1.0),
]


@pytest.mark.parametrize("f", AFFINE)
@pytest.mark.parametrize("psi", [PSI, Gaussian(1.0).distance(), PSI.log1p() + 1.0])
def test_affine_maps_of_negative_definite_kernels(f: Callable[[Kernel], Kernel], psi: Kernel) -> None:
    k = f(psi)
    assert k.certificate.is_nds, k.certificate.explain()
    assert k.certificate.negative.strict
    assert k.schoenberg(0.5).certificate.verdict is Verdict.STRICT
    assert least(k.schoenberg(0.5), plane(9)) > 0
    assert (-k).certificate.conditional_order == 1


# -- spectral densities -----------------------------------------------------------------------
DENSITIES = [Gaussian(0.7), Laplacian(1.3), Cauchy(0.6), Exponential(1.7), Matern(1.5, 0.8), Matern(2.2, 1.4)]


@pytest.mark.parametrize("k", DENSITIES, ids=repr)
def test_densities_are_fourier_transforms(k: Kernel) -> None:
    """On the line k(x, 0) is the integral of cos(w x) times the density; elsewhere its mass is k(0, 0)."""

    def density(*w: float) -> float:
        return float(k.spectral_density.value([w])[0])

    for x in (0.5, 2.0):
        value, _ = integrate.quad(lambda w: 2 * density(w), 0, np.inf, weight="cos", wvar=x, limlst=200)
        assert value == pytest.approx(k([x], [0.0]), abs=1e-6)
    if isinstance(k, Gaussian | Exponential | Matern):  # functions of the length of w
        for d, surface in ((1, 2.0), (2, 2 * math.pi), (3, 4 * math.pi)):
            rest = [0.0] * (d - 1)
            mass, _ = integrate.quad(lambda r, d=d, rest=rest: r ** (d - 1) * density(r, *rest), 0, np.inf)
            assert surface * mass == pytest.approx(1.0, abs=1e-6)


REFUTED = [
    2 * Gaussian(1.0) - Gaussian(2.0),
    Gaussian(1.0) - Gaussian(2.0),
    Gaussian(2.0) - 0.1 * Gaussian(1.0),
    2 * Gaussian(1.0) - Laplacian(1.0),
    Matern(1.5, 1.0) + Gaussian(1.0) - 0.3 * Exponential(2.0),
    Cauchy(1.0) - 0.5 * Gaussian(0.5) + Gaussian(2.0) - 0.4 * Cauchy(0.3),
    Gaussian([1.0, 3.0]) - 0.5 * Gaussian([2.0, 1.0]),
    Gaussian([1.0, 1.0]) + Linear() - (Linear() + 0.5 * Gaussian([1.0, 2.0])) - 0.1 * Gaussian([1.0, 2.0]),
]


@pytest.mark.parametrize("k", REFUTED, ids=repr)
def test_differences_with_a_negative_density_are_refuted(k: Kernel) -> None:
    certificate = k.certificate
    assert certificate.verdict is Verdict.REFUTED
    witness = certificate.positive.witness or certificate.premises[0].witness
    assert witness is not None
    value = sum(
        CONTEXT.mpf(a) * CONTEXT.mpf(b) * k.precise(x, y, 60)
        for a, x in zip(witness.coefficients, witness.points, strict=True)
        for b, y in zip(witness.coefficients, witness.points, strict=True)
    )
    assert value < 0


@pytest.mark.parametrize(
    "k",
    [
        2 * Gaussian([1.0]) - Gaussian([2.0]),  # the density vanishes at 0, and nowhere else is it so small
        3 * Gaussian([1.0, 1.0]) - 0.7 * Gaussian([2.0, 2.0]),
        Laplacian([1.0]) - 0.5 * Gaussian([1.0]),
    ],
    ids=repr,
)
def test_differences_with_a_density_that_is_not_negative_are_not(k: Kernel) -> None:
    assert k.certificate.verdict is Verdict.UNKNOWN
    assert isinstance(k.domain, Vectors)
    points = np.random.default_rng(1).normal(scale=3.0, size=(40, k.domain.dim or 1))
    assert np.linalg.eigvalsh(k.block(points)).min() > -1e-12


# -- conditionally positive definite kernels --------------------------------------------------
ORDERS: list[tuple[Kernel, int | None]] = [
    (Gaussian(1.0), 0),
    (Linear(), 0),
    (Constant(-1.0), 1),
    (-PSI, 1),
    (-PowerDistance(2.0), 1),
    (1.0 - PSI, 1),
    (Gaussian(1.0) - 2.0 * PSI, 1),
    (-(PSI**0.5), 1),
    (-((1.0 + PowerDistance(2.0)) ** 0.5), 1),  # a multiquadric
    (PowerDistance(2.5), 2),
    (PowerDistance(4.0), 2),
    (-PowerDistance(4.5), 3),
    (-PowerDistance(3.0), None),
    (PSI, None),
    (ThinPlate(1, 1), 1),
    (ThinPlate(2, 2), 2),
    (3.0 * ThinPlate(2, 2) + Gaussian(1.0) - 7.0, 2),
    (ThinPlate(3, 2) - PSI, 3),
    (-ThinPlate(2, 2), None),
    (Gaussian(1.0) - Linear(), 2),
    (Gaussian(1.0) - Polynomial(3), 4),
    (ThinPlate(2, 2) * Gaussian(1.0), None),
    ((-PSI).on(lambda x: [len(x)]), 1),
    (ThinPlate(2, 1).on(lambda x: [len(x)]), None),
    (direct_sum(-PSI, Gaussian(1.0)), 1),
    (direct_sum(ThinPlate(2, 2), Gaussian(1.0)), None),
    (columns(x=-PSI, y=Gaussian(1.0), missing="error"), 1),
    (columns(x=-PSI, y=Gaussian(1.0), missing="zero"), None),
    (-PSI * Constant(2.0), 1),
]


@pytest.mark.parametrize(("k", "order"), ORDERS, ids=repr)
def test_conditional_orders(k: Kernel, order: int | None) -> None:
    certificate = k.certificate
    assert certificate.conditional_order == order, certificate.explain()
    for m in range(6):
        assert certificate.is_cpd(m) == (order is not None and m >= order)
    assert certificate.to_dict()["conditional"]["order"] == (order or 0)
    if certificate.verdict is Verdict.CPD:
        assert f"CPD of order {order}" in certificate.explain()
        assert f"CPD of order {order}" in certificate._repr_html_()


def test_minus_a_distance_is_refuted_with_a_witness() -> None:
    certificate = (-2.0 * PSI).certificate
    assert certificate.verdict is Verdict.CPD
    assert certificate.positive.refuted
    assert certificate.witness is not None
    assert certificate.witness.value == -4.0


def test_a_users_word_on_order_one() -> None:
    k = Gaussian(1.0).on(len, domain=None).distance() - Constant(1.0)
    word = (Linear() - RationalQuadratic(1.0)).assume("CPD", "by inspection")
    assert word.certificate.is_cpd(1)
    assert word.certificate.conditional.asserted
    assert word.exp().certificate.positive.asserted
    assert not k.certificate.is_cpd(1)


def test_order_one_is_what_makes_exponentials_definite_and_higher_orders_do_not() -> None:
    assert (Gaussian(1.0) - PSI).exp().certificate.verdict is Verdict.STRICT
    for k in (ThinPlate(2, 2), Gaussian(1.0) - Linear()):
        assert k.certificate.conditional_order == 2
        assert not k.distance().certificate.is_nds
        assert not k.centered([[0.0, 1.0]]).certificate.is_psd
    assert not ThinPlate(2, 2).exp().certificate.is_psd
    assert not (-ThinPlate(2, 2)).certificate.is_nds


class Unhashable:
    """A function that compares by value and has no hash."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unhashable) and self.factor == other.factor

    def __call__(self, x: float, y: float) -> float:
        return self.factor * x * y


def test_like_terms_of_functions_without_a_hash() -> None:
    k, other = kernel(Unhashable(1.0)).assume("PSD"), kernel(Unhashable(2.0)).assume("PSD")
    assert (2 * k - k).certificate.is_psd
    assert not (2 * k - other).certificate.is_psd
    assert ((-k) * (-other)).certificate.is_psd
