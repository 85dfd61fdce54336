"""Shapley values: equal to the mean over all orders, by enumeration and in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, factorial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import mercer
from mercer import shapley
from mercer.errors import InputError
from mercer.features import Nystrom, RandomFourier
from mercer.kernels import (
    AllSubsets,
    Categorical,
    Cauchy,
    Constant,
    Gaussian,
    Intersection,
    Laplacian,
    Linear,
    Mahalanobis,
    Matern,
    Periodic,
    Polynomial,
    Precomputed,
    Spectrum,
    WhiteNoise,
    columns,
    tensor,
)
from mercer.machines import (
    SVC,
    SVR,
    GaussianProcessRegressor,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    OneClassSVM,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = X[:, 0] * X[:, 1] + np.sin(X[:, 2])
NEW, BACKGROUND = RNG.normal(size=(3, 4)), RNG.normal(size=(5, 4))


def by_enumeration(function, point, background):
    """The definition: weighted marginal contributions to all coalitions; points are arrays of objects."""
    d = len(point)

    def worth(S):
        mixed = background.copy()
        mixed[:, list(S)] = point[list(S)]
        return np.mean(function(mixed), axis=0)

    worths = {S: worth(S) for size in range(d + 1) for S in combinations(range(d), size)}
    values = []
    for j in range(d):
        rest = [S for S in worths if j not in S]
        gains = [(worths[tuple(sorted((*S, j)))] - worths[S]) / (d * comb(d - 1, len(S))) for S in rest]
        values.append(np.sum(gains, axis=0))
    return np.array(values)


KERNELS = [
    Gaussian(1.5),
    Gaussian([1.0, 2.0, 0.5, 3.0]),
    Laplacian(2.0),
    Cauchy([1.0, 2.0, 3.0, 4.0]),
    Periodic(2.0, 1.5),
    AllSubsets([0.1, 0.2, 0.3, 0.4]),
    Linear(),
    Intersection(),
    2.0 * Gaussian(1.0) + 0.5 * Laplacian(1.0) + 3.0,
    Gaussian(2.0) * (Linear() + 1.0),
    (Linear() + Constant(1.0)) ** 2,
    Gaussian(2.0) ** 3 * Cauchy(2.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_are_those_of_enumeration(kernel):
    model = KernelRidge(kernel, alpha=0.1, fit_intercept=True).fit(X, Y)
    found = shapley(model, NEW, background=BACKGROUND)
    expected = [by_enumeration(model.predict, x, BACKGROUND) for x in NEW]
    np.testing.assert_allclose(found.values, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.base, model.predict(BACKGROUND).mean(), rtol=1e-10)
    np.testing.assert_allclose(found.predictions, model.predict(NEW), rtol=1e-10)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base, found.predictions, rtol=1e-9)
    assert found.names == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 9])
def test_the_quadrature_is_exact_in_fractions(d):
    """The product of a few integer factors, against the sum over coalitions in exact arithmetic."""
    rng = np.random.default_rng(d)
    trained, point, other = (rng.integers(-3, 4, d) for _ in range(3))
    model = KernelRidge(AllSubsets(), alpha=1.0).fit(trained[None].astype(float), [1.0])
    a = Fraction(float(model.dual_coef_[0]))
    u = [1 + Fraction(int(v)) for v in trained * point]
    w = [1 + Fraction(int(v)) for v in trained * other]
    expected = []
    for j in range(d):
        total = Fraction(0)
        rest = [i for i in range(d) if i != j]
        for size in range(d):
            share = Fraction(factorial(size) * factorial(d - size - 1), factorial(d))
            for S in combinations(rest, size):
                product = Fraction(1)
                for i in rest:
                    product *= u[i] if i in S else w[i]
                total += share * product
        expected.append(float(a * (u[j] - w[j]) * total))
    found = shapley(model, point[None].astype(float), background=other[None].astype(float))
    scale = max(map(abs, expected))
    np.testing.assert_allclose(found.values[0], expected, rtol=1e-12, atol=1e-13 * max(scale, 1))


def test_a_factor_of_zero_divides_nothing():
    points = np.array([[-1.0, 2.0, 0.5]])
    model = KernelRidge(AllSubsets(), alpha=1.0).fit(np.array([[1.0, 1.0, 1.0]]), [1.0])
    found = shapley(model, points, background=np.array([[-1.0, 0.0, -1.0], [1.0, 1.0, 1.0]]))
    expected = by_enumeration(model.predict, points[0], np.array([[-1.0, 0.0, -1.0], [1.0, 1.0, 1.0]]))
    np.testing.assert_allclose(found.values[0], expected, atol=1e-14)


@pytest.mark.parametrize(
    ("model", "targets", "function"),
    [
        (SVC(Gaussian(1.5)), Y > 0, "decision_function"),
        (
            SVC(Gaussian(1.5), decision_function_shape="ovo", break_ties=False),
            np.digitize(Y, [-0.5, 0.5]),
            "decision_function",
        ),
        (SVR(Laplacian(2.0)), Y, "predict"),
        (KernelLogistic(Gaussian(1.0)), Y > 0, "decision_function"),
        (KernelLogistic(Gaussian(1.0)), np.digitize(Y, [-0.5, 0.5]), "decision_function"),
        (KernelRidge(Gaussian(1.0)), np.c_[Y, Y**2], "predict"),
        (OneClassSVM(Gaussian(1.0)), None, "decision_function"),
        (
            GaussianProcessRegressor(2.0 * Gaussian(1.0) + WhiteNoise(0.1), tune=None, normalize_y=True),
            Y + 5.0,
            "predict",
        ),
    ],
    ids=lambda p: type(p).__name__ if hasattr(p, "fit") else "",
)
def test_machines(model, targets, function):
    model.fit(X, targets)
    found = shapley(model, NEW, background=BACKGROUND)
    expected = [by_enumeration(getattr(model, function), x, BACKGROUND) for x in NEW]
    np.testing.assert_allclose(found.values, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.predictions, getattr(model, function)(NEW), rtol=1e-8, atol=1e-10)


def test_landmarks_sparse_rows_and_single_precision():
    model = KernelRidge(approximation=Nystrom(Gaussian(1.5), 12, random_state=0), alpha=0.1).fit(X, Y)
    found = shapley(model, NEW, background=BACKGROUND)
    expected = [by_enumeration(model.predict, x, BACKGROUND) for x in NEW]
    np.testing.assert_allclose(found.values, expected, rtol=1e-7, atol=1e-9)
    model = KernelRidge(Gaussian(1.5), alpha=0.1).fit(X, Y)
    dense = shapley(model, NEW, background=BACKGROUND)
    sparse = shapley(model, scipy.sparse.csr_array(NEW), background=scipy.sparse.csr_array(BACKGROUND))
    np.testing.assert_allclose(sparse.values, dense.values, rtol=1e-10)
    single = KernelRidge(Gaussian(1.5), alpha=0.1).fit(X.astype(np.float32), Y)
    found = shapley(single, NEW.astype(np.float32), background=BACKGROUND.astype(np.float32))
    np.testing.assert_allclose(found.values, dense.values, atol=1e-4)


def test_columns_of_a_table_are_coordinates():
    table = pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "word": ["ab", "ba", "bb"] * 10, "kind": ["u", "v"] * 15}
    )
    for combine in ("sum", "product"):
        kernel = columns(
            {("a", "b"): Gaussian(1.0), "word": Spectrum(1), "kind": Categorical()}, combine=combine
        )
        model = KernelRidge(kernel, alpha=0.1).fit(table, Y)
        background, new = table[5:9].reset_index(drop=True), table[:1]
        found = shapley(model, new, background=background)
        assert found.names == ("a, b", "word", "kind")
        groups = [["a", "b"], ["word"], ["kind"]]

        def function(choices, model=model, background=background, groups=groups):
            mixed = background.copy()
            for group, rows in zip(groups, choices.T, strict=True):
                for name in group:
                    mixed[name] = [table[name][i] for i in rows]
            return model.predict(mixed)

        rows = np.repeat(np.arange(5, 9)[:, None], 3, axis=1)
        expected = by_enumeration(function, np.zeros(3, dtype=int), rows)
        np.testing.assert_allclose(found.values[0], expected, atol=1e-12)


def test_components_of_tuples_are_coordinates():
    points = [(float(x), w) for x, w in zip(X[:, 0], ["ab", "ba", "bb"] * 10, strict=True)]
    kernel = tensor(mercer.kernels.Min().on(abs), Spectrum(1)) + tensor(Constant(1.0), Spectrum(2))
    model = KernelRidge(kernel, alpha=0.1).fit(points, Y)
    found = shapley(model, points[:1], background=points[3:5])
    mixed = model.predict([(points[0][0], w) for _, w in points[3:5]]).mean()
    other = model.predict([(x, points[0][1]) for x, _ in points[3:5]]).mean()
    whole, base = model.predict(points[:1])[0], model.predict(points[3:5]).mean()
    np.testing.assert_allclose(found.values[0, 0], (mixed - base + whole - other) / 2, atol=1e-12)


def test_names_are_those_of_the_frame():
    frame = pd.DataFrame(X, columns=["one", "two", "three", "four"])
    model = KernelRidge(Gaussian("scale")).fit(frame, Y)
    assert shapley(model, frame[:2], background=frame).names == ("one", "two", "three", "four")


def test_bad_input_is_named():
    model = KernelRidge(Gaussian(1.0)).fit(X, Y)
    with pytest.raises(InputError, match=r"`background` must be rows of 4 features.*\(5, 3\)"):
        shapley(model, NEW, background=BACKGROUND[:, :3])
    with pytest.raises(InputError, match=r"`X` must be rows of 4 features"):
        shapley(model, NEW[0], background=BACKGROUND)
    with pytest.raises(InputError, match="`background` is not valid"):
        shapley(model, NEW, background=np.full((2, 4), np.nan))
    with pytest.raises(InputError, match="`background` is not valid"):
        shapley(model, NEW, background=np.empty((0, 4)))
    with pytest.raises(NotFittedError):
        shapley(KernelRidge(Gaussian(1.0)), NEW, background=BACKGROUND)
    for other in (KernelPCA(Gaussian(1.0)).fit(X), 3):
        with pytest.raises(InputError, match="`machine` must be a machine"):
            shapley(other, NEW, background=BACKGROUND)
    approximate = KernelRidge(approximation=RandomFourier(Gaussian(1.0), 20, random_state=0)).fit(X, Y)
    with pytest.raises(InputError, match="no approximation by RandomFourier"):
        shapley(approximate, NEW, background=BACKGROUND)


@pytest.mark.parametrize(
    "kernel", [Matern(1.5), Polynomial(2), Mahalanobis(np.eye(4)), Gaussian(1.0).exp()], ids=repr
)
def test_other_kernels_are_refused_by_name(kernel):
    model = KernelRidge(kernel, alpha=1.0).fit(X, Y)
    with pytest.raises(
        InputError, match=f"sum of products over coordinates.*Got .*{type(kernel).__name__}|exp"
    ):
        shapley(model, NEW, background=BACKGROUND)


def test_expansions_that_are_too_long_are_refused():
    model = KernelRidge((Linear() + 1.0) ** 7, alpha=1.0).fit(X, Y)
    with pytest.raises(InputError, match="when it is expanded"):
        shapley(model, NEW, background=BACKGROUND)
    words = KernelRidge(Spectrum(2)).fit(["ab", "ba"], [0.0, 1.0])
    with pytest.raises(InputError, match="sum of products over coordinates"):
        shapley(words, ["ab"], background=["ba"])
    given = KernelRidge(Precomputed()).fit(np.eye(3), [0.0, 1.0, 2.0])
    with pytest.raises(InputError, match="sum of products over coordinates"):
        shapley(given, np.eye(3), background=np.eye(3))
