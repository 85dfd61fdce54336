import numpy as np
import pytest

import mercer
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear
from mercer.rkhs import RKHSFunction, interpolant, representer

RTOL = 1e-12


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def letters(x, y):
    return float(len(set(x) & set(y)))


LETTERS = mercer.kernel(letters)


def test_the_space_of_the_linear_kernel_is_the_dual_space(rng):
    # f = sum a_i <x_i, .> is the vector w = sum a_i x_i; everything about f is about w
    X, Y = rng.standard_normal((5, 3)), rng.standard_normal((4, 3))
    a, b = rng.standard_normal(5), rng.standard_normal(4)
    f, g = RKHSFunction(Linear(), X, a), RKHSFunction(Linear(), Y, b)
    v, w = a @ X, b @ Y
    Z = rng.standard_normal((6, 3))
    np.testing.assert_allclose(f.values(Z), Z @ v, rtol=RTOL)
    np.testing.assert_allclose((2 * f - g / 4).values(Z), Z @ (2 * v - w / 4), rtol=1e-10)
    assert f(Z[0]) == pytest.approx(Z[0] @ v, rel=RTOL)
    assert f @ g == pytest.approx(v @ w, rel=1e-10)
    assert f.inner(g) == pytest.approx(v @ w, rel=1e-10)
    assert g.inner(f) == pytest.approx(v @ w, rel=1e-10)
    assert f.norm() == pytest.approx(np.linalg.norm(v), rel=1e-10)
    assert f.distance(g) == pytest.approx(np.linalg.norm(v - w), rel=1e-10)
    assert (f - f).norm() == 0.0
    assert (-f)(Z[0]) == -f(Z[0])


def test_inner_products_by_the_definition(rng):
    k = Gaussian(1.5)
    X, Y, a, b = (
        rng.standard_normal((5, 2)),
        rng.standard_normal((4, 2)),
        rng.standard_normal(5),
        rng.standard_normal(4),
    )
    expected = sum(a[i] * b[j] * k(X[i], Y[j]) for i in range(5) for j in range(4))
    assert RKHSFunction(k, X, a) @ RKHSFunction(k, Y, b) == pytest.approx(expected, rel=RTOL)


def test_reproducing_property_on_any_objects():
    words = ["abc", "cd", "", "xyz"]
    f = RKHSFunction(LETTERS, words, [1.0, -2.0, 3.0, 0.5])
    for word in ["a", "cx", "dd", ""]:
        direct = sum(c * letters(w, word) for c, w in zip([1.0, -2.0, 3.0, 0.5], words, strict=True))
        assert f(word) == direct
        assert f @ representer(LETTERS, word) == direct
    assert f.reproducing_gap(["a", "cx", "dd"]) == 0.0
    assert f.points == words


def test_representers(rng):
    k = Gaussian(1.0)
    x, y = rng.standard_normal((2, 3))
    assert representer(k, x) @ representer(k, y) == pytest.approx(k(x, y), rel=RTOL)
    assert representer(k, x).norm() == 1.0
    assert representer(k, x).distance(representer(k, y)) == pytest.approx(np.sqrt(2 - 2 * k(x, y)), rel=1e-10)


def test_evaluation_is_bounded_by_the_norm(rng):
    k = Gaussian(0.7) * 3.0
    f = RKHSFunction(k, rng.standard_normal((20, 2)), rng.standard_normal(20))
    Z = rng.standard_normal((200, 2))
    assert np.all(np.abs(f.values(Z)) <= f.norm() * np.sqrt(k.diagonal(Z)) * (1 + 1e-12))


def test_projection(rng):
    k = Gaussian(1.0)
    f = RKHSFunction(k, rng.standard_normal((8, 2)), rng.standard_normal(8))
    X = rng.standard_normal((5, 2))
    p = f.project(X)
    np.testing.assert_allclose(p.values(X), f.values(X), atol=1e-10)
    rest = f - p
    for x in X:  # what is left is orthogonal to the span
        assert rest @ representer(k, x) == pytest.approx(0.0, abs=1e-10)
    assert f.norm() ** 2 == pytest.approx(p.norm() ** 2 + rest.norm() ** 2, rel=1e-8)
    assert p.project(X).distance(p) == pytest.approx(0.0, abs=1e-6)
    for _ in range(10):  # nothing in the span is nearer
        other = RKHSFunction(k, X, p.coefficients + 0.1 * rng.standard_normal(5))
        assert f.distance(other) > f.distance(p)


def test_projection_onto_its_own_points_and_onto_repeated_ones(rng):
    X = rng.standard_normal((6, 2))
    f = RKHSFunction(Gaussian(1.0), X, rng.standard_normal(6))
    np.testing.assert_allclose(f.project(np.vstack([X, X, X])).values(X), f.values(X), atol=1e-8)
    assert f.project(X).distance(f) < 1e-6


def test_interpolant_has_least_norm(rng):
    k = Gaussian(1.0)
    X, y = rng.standard_normal((6, 2)), rng.standard_normal(6)
    f = interpolant(k, X, y)
    np.testing.assert_allclose(f.values(X), y, atol=1e-9)
    K = np.array([[k(p, q) for q in X] for p in X])
    assert f.norm() ** 2 == pytest.approx(y @ np.linalg.solve(K, y), rel=1e-8)
    with pytest.raises(InputError, match="one per point"):
        interpolant(k, X, y[:2])


def test_terms_on_the_same_points_are_added_up(rng):
    f = RKHSFunction(Gaussian(1.0), rng.standard_normal((6, 2)), np.ones(6))
    assert len((f + f).coefficients) == 6
    assert len((f + representer(f.kernel, [0.0, 0.0])).coefficients) == 7


def test_data_dependent_kernels_are_resolved_from_the_points():
    f = RKHSFunction(Gaussian("median"), [[0.0], [2.0]], [1.0, 1.0])
    assert f.kernel == Gaussian(2.0)


def test_errors():
    f = RKHSFunction(Gaussian(1.0), [[0.0]], [1.0])
    with pytest.raises(InputError, match="two different spaces"):
        f + RKHSFunction(Gaussian(2.0), [[0.0]], [1.0])
    with pytest.raises(InputError, match="one per point"):
        RKHSFunction(Gaussian(1.0), [[0.0]], [1.0, 2.0])
    with pytest.raises(InputError, match="finite"):
        RKHSFunction(Gaussian(1.0), [[0.0]], [np.nan])
    with pytest.raises(ParameterError, match="Kernel"):
        RKHSFunction("rbf", [[0.0]], [1.0])
    with pytest.raises(TypeError):
        f + 1.0
    with pytest.raises(TypeError):
        np.ones(2) * f
    with pytest.raises(ParameterError, match="zero"):
        f / 0
    assert (np.float64(2) * f)([0.0]) == 2.0


def test_no_norm_without_a_hilbert_space():
    f = RKHSFunction(Linear() - 1.0, [[0.0]], [1.0])
    assert f @ f == -1.0
    with pytest.raises(DefinitenessError, match="not positive definite"):
        f.norm()
    with pytest.raises(np.linalg.LinAlgError):
        interpolant(Linear() - 1.0, [[0.0]], [1.0])


def test_norms_of_nearly_dependent_functions_do_not_raise(rng):
    X = rng.standard_normal((30, 2))
    f = RKHSFunction(Gaussian(1e5), X, rng.standard_normal(30))
    g = RKHSFunction(Gaussian(1e5), X + 1e-9, f.coefficients)
    assert f.distance(g) == pytest.approx(0.0, abs=1e-6)
