"""All-subsets and ANOVA kernels against the sum over all sets, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse

from mercer.certificate import Verdict
from mercer.errors import DomainError, InputError, ParameterError
from mercer.kernels import Linear, Polynomial, Sigmoid
from mercer.kernels.anova import AllSubsets, Anova, AnovaOf
from mercer.kernels.noise import WhiteNoise
from mercer.kernels.radial import Exponential, Gaussian
from mercer.kernels.recursions import anova_by_power_sums, anova_operations, polynomial_by_dimension

from .vectors import in_single

#: Agreement with exact sums, relative to the sum of the absolute values of their terms.
TOL = 1e-13
SINGLE_TOL = 1e-5

x = [3, -1, 4, 1, -5, 2]
y = [2, 7, -1, 8, 2, -8]
weights = [Fraction(1, 2), Fraction(1), Fraction(0), Fraction(2), Fraction(3, 4), Fraction(1)]


def over_sets(degree: int, a: list[Fraction] | None = None, decay: Fraction = Fraction(1)) -> Fraction:
    """Sum over all sets of ``degree`` indices, straight from the definition."""
    a = a or [Fraction(1)] * len(x)
    total = Fraction(0)
    for chosen in combinations(range(len(x)), degree):
        gaps = chosen[-1] - chosen[0] + 1 - degree if chosen else 0
        total += decay**gaps * math.prod(a[i] * x[i] * y[i] for i in chosen)
    return total


def every_way(k: Anova | AllSubsets, size: float) -> list[float]:
    """Values by definition, block, sparse block and, for the diagonal, by ``diagonal``."""
    X, Y = np.array([x], dtype=float), np.array([y], dtype=float)
    sparse = scipy.sparse.csr_array
    return [k(x, y), k.block(X, Y)[0, 0], k.block(sparse(X), sparse(Y))[0, 0], k.block(X, sparse(Y))[0, 0]]


@pytest.mark.parametrize("degree", range(8))
@pytest.mark.parametrize("a", [None, weights])
@pytest.mark.parametrize("decay", [Fraction(1), Fraction(1, 2), Fraction(0)])
def test_anova_is_the_sum_over_sets(degree: int, a: list[Fraction] | None, decay: Fraction) -> None:
    k = Anova(degree, None if a is None else [float(w) for w in a], decay=float(decay))
    exact = over_sets(degree, a, decay)
    for value in every_way(k, float(exact)):
        assert value == pytest.approx(float(exact), abs=TOL * 4e4, rel=TOL)


def test_all_degrees_at_once() -> None:
    c = [Fraction(1, 2), Fraction(0), Fraction(3), Fraction(1, 4)]
    exact = sum(w * over_sets(s) for s, w in enumerate(c))
    for value in every_way(Anova(3, coefficients=[float(w) for w in c]), float(exact)):
        assert value == pytest.approx(float(exact), rel=TOL)


def test_all_subsets_is_the_sum_over_degrees() -> None:
    for a in (None, weights):
        exact = sum(over_sets(s, a) for s in range(7))
        for value in every_way(AllSubsets(None if a is None else [float(w) for w in a]), float(exact)):
            assert value == pytest.approx(float(exact), rel=TOL)


def test_gaps_are_damped_across_missing_columns() -> None:
    X = np.zeros((1, 50))
    X[0, [3, 4, 9, 40]] = [1.0, 2.0, 3.0, 4.0]
    k = Anova(2, decay=0.5)
    pairs = [(3, 4, 2.0), (3, 9, 3.0), (3, 40, 4.0), (4, 9, 6.0), (4, 40, 8.0), (9, 40, 12.0)]
    want = sum(0.5 ** (j - i - 1) * v * v for i, j, v in pairs)
    for data in (X, scipy.sparse.csr_array(X)):
        assert k.block(data)[0, 0] == pytest.approx(want, rel=TOL)
        assert k.diagonal(data)[0] == pytest.approx(want, rel=TOL)


@pytest.mark.parametrize("decay", [1.0, 0.5, 0.0])
def test_sparse_rows_with_few_common_features(decay: float) -> None:
    S = scipy.sparse.random(12, 40, density=0.2, format="csr", random_state=0)
    X = S.toarray()
    k = Anova(3, coefficients=[0.5, 1.0, 2.0, 3.0], decay=decay)
    want = np.array([[k(a, b) for b in X] for a in X])
    for A, B in ((S, None), (S, S[:5]), (S, X[:5]), (X, S[:5])):
        np.testing.assert_allclose(k.block(A, B), want[:, : 12 if B is None else 5], rtol=1e-12)


def test_diagonal_and_single_precision() -> None:
    X = np.random.default_rng(0).standard_normal((6, 5))
    X[X < -0.5] = 0.0
    for k in (AllSubsets(), AllSubsets([1.0, 0.0, 2.0, 0.5, 1.0]), Anova(3), Anova(2, decay=0.3)):
        K = k.block(X)
        np.testing.assert_allclose(k.diagonal(X), np.diag(K), rtol=1e-12)
        for data in in_single(X):
            assert k._block(data, None).dtype == np.float32
            assert k._diagonal(data).dtype == np.float32
            np.testing.assert_allclose(k._block(data, None), K, rtol=SINGLE_TOL, atol=SINGLE_TOL)


def test_verdicts_and_feature_space_dimension() -> None:
    rng = np.random.default_rng(1)
    for k, dim in ((AllSubsets(), 2**4), (Anova(2), math.comb(4, 2)), (Anova(2, decay=0.5), math.comb(4, 2))):
        assert k.certificate.verdict is Verdict.PSD
        assert np.linalg.matrix_rank(k.block(rng.standard_normal((25, 4)))) == dim


def test_overflow_names_the_parameter() -> None:
    X = np.full((2, 60), 1e100)
    for k, name in ((AllSubsets(), "weights"), (Anova(4), "degree"), (Anova(4, decay=0.5), "degree")):
        for call in (k.block, k.diagonal, lambda X, k=k: k(X[0], X[1])):
            with pytest.raises(ParameterError, match=f"{type(k).__name__}: `{name}="):
                call(X)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AllSubsets([-1.0]), "AllSubsets: `weights` must be"),
        (lambda: AllSubsets("abc"), "AllSubsets: `weights` must be"),
        (lambda: Anova(2, [[1.0]]), "Anova: `weights` must be"),
        (lambda: Anova(2, [math.nan]), "Anova: `weights` must be"),
        (lambda: Anova(-1), "Anova: `degree` must be"),
        (lambda: Anova(1.5), "Anova: `degree` must be"),
        (lambda: Anova(2, coefficients=[1.0, 2.0]), r"Anova: `coefficients` must have degree \+ 1 = 3"),
        (lambda: Anova(1, coefficients=[1.0, -2.0]), "Anova: `coefficients` must be"),
        (lambda: Anova(1, decay=1.5), "Anova: `decay` must be"),
        (lambda: AnovaOf((), 1), "AnovaOf: `kernels` must be"),
        (lambda: AnovaOf(Gaussian(), 1), "AnovaOf: `kernels` must be"),
    ],
)
def test_bad_parameters(make: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]


def test_weights_fix_the_dimension() -> None:
    for k in (AllSubsets([1.0, 2.0]), Anova(1, [1.0, 2.0])):
        with pytest.raises(InputError, match="2 column"):
            k.block(np.ones((2, 3)))


# -- recursions ---------------------------------------------------------------------------------
def test_operations_of_the_dynamic_program() -> None:
    assert anova_operations(7, 4) == 66
    # Count the entries of the table that the recursion fills: three operations each.
    for n, d in ((7, 4), (10, 3), (5, 5)):
        assert anova_operations(n, d) == 3 * sum(1 for s in range(1, d + 1) for m in range(s, n + 1))


def test_recursions_in_exact_arithmetic() -> None:
    fx, fy = [Fraction(v) for v in x], [Fraction(v, 3) for v in y]
    by_sums = anova_by_power_sums(fx, fy, 6)
    assert by_sums == [over_sets(s) / 3**s for s in range(7)]
    t = sum(a * b for a, b in zip(fx, fy, strict=True))
    c = Fraction(2, 7)
    assert polynomial_by_dimension(fx, fy, 5, c) == [(t + c) ** s for s in range(6)]


def test_the_printed_polynomial_recursion_is_wrong() -> None:
    # k_s^m = s k_{s-1}^m x_m z_m + k_s^{m-1}, as one source prints it, at x z = 1, s = 2: not (1 + 1)^2.
    k1 = 1 * 1 * 1 + 1
    assert 2 * k1 * 1 + 1 != 4
    assert polynomial_by_dimension([1], [1], 2) == [1, 2, 4]


# -- over base kernels --------------------------------------------------------------------------
def test_anova_of_is_the_sum_over_products() -> None:
    X = np.random.default_rng(2).standard_normal((6, 2))
    base = (Gaussian(1.5), Linear(), Exponential(0.7), Polynomial(2))
    blocks = [k.block(X) for k in base]
    for degree in range(6):
        want = sum(
            (np.prod([blocks[i] for i in chosen], axis=0) for chosen in combinations(range(4), degree)),
            np.zeros((6, 6)),
        )
        k = AnovaOf(base, degree)
        np.testing.assert_allclose(k.block(X), want, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose([[k(a, b) for b in X] for a in X], want, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(k.diagonal(X), np.diag(want * np.ones((6, 6))), rtol=1e-12)
    mixed = AnovaOf(base[:2], 2, [1.0, 2.0, 3.0])
    want = 1 + 2 * (blocks[0] + blocks[1]) + 3 * blocks[0] * blocks[1]
    np.testing.assert_allclose(mixed.block(X), want, rtol=1e-12)


def test_anova_of_verdicts() -> None:
    g, e, linear = Gaussian(1.0), Exponential(), Linear()
    assert AnovaOf((g, linear), 1).certificate.verdict is Verdict.STRICT  # a sum with a strict term
    assert (
        AnovaOf((g, linear), 2).certificate.verdict is Verdict.PSD
    )  # zero vectors make the product singular
    assert AnovaOf((g, e), 2).certificate.verdict is Verdict.STRICT
    assert AnovaOf((g, e), 3).certificate.verdict is Verdict.PSD  # the zero kernel
    assert AnovaOf((g, e), 0).certificate.verdict is Verdict.PSD  # a constant
    assert AnovaOf((g, linear), 2, [0.0, 1.0, 1.0]).certificate.verdict is Verdict.STRICT
    assert AnovaOf((g, Sigmoid()), 1).certificate.verdict is Verdict.UNKNOWN
    assert AnovaOf((g, linear), 2).block(np.zeros((1, 1)))[0, 0] == 0


def test_anova_of_bounds() -> None:
    k = AnovaOf((Gaussian(), Exponential(), WhiteNoise(2.0)), 2)
    assert k.bounds.within(0.0, 5.0)
    assert k.diagonal_bounds.low == 5.0
    assert AnovaOf((Linear(), Linear()), 2).bounds.low == -math.inf


def test_anova_of_needs_common_points() -> None:
    from mercer.kernels.reals import Min

    with pytest.raises(DomainError):
        AnovaOf((Gaussian([1.0, 2.0]), Min()), 1)


def test_anova_of_gradient() -> None:
    X = np.random.default_rng(3).standard_normal((5, 2))
    k = AnovaOf((Gaussian(1.5), Linear(), Exponential(0.7)), 2, [1.0, 0.5, 2.0])
    gradient = k.gradient(X)
    assert set(gradient) == {"kernel0__sigma", "kernel2__sigma"}
    step = 1e-6
    for name, g in gradient.items():
        value = k.get_params()[name]
        up, down = (k.replace(**{name: value * math.exp(h)}).block(X) for h in (step, -step))
        np.testing.assert_allclose(g, (up - down) / (2 * step), atol=1e-8)
