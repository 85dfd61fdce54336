"""Smoothing splines against exact arithmetic, SciPy, kernel ridge regression and refitting."""

import mpmath
import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_smoothing_spline
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from mercer.errors import InputError, ParameterError
from mercer.kernels import SplineRemainder
from mercer.machines import SmoothingSpline
from mercer.solvers import fit_spline, spline_errors

#: What separates two ways of computing with doubles, relative to the data.
ROUNDING = 1e-12

PENALTIES = [1e-9, 1e-3, 1.0, 1e3, 1e9]


class OnFirstFeature(SmoothingSpline):
    """The checks of scikit-learn bring many features: a spline on the first of them."""

    def _points(self, X, *, reset):
        return validate_data(self, X, reset=reset, dtype=np.float64)[:, 0].copy()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        tags.regressor_tags.poor_score = True  # one of the features does not explain the target
        return tags


#: Checks of scikit-learn that cannot hold, by name, with the mathematical reason.
ROWS_COUNT = (
    "choosing the penalty counts rows: two equal data are evidence about the noise, "
    "one datum of weight two is not"
)
EXPECTED_FAILED_CHECKS = {"check_sample_weight_equivalence_on_dense_data": ROWS_COUNT}


def expected(estimator):
    return EXPECTED_FAILED_CHECKS if estimator.alpha is None else {}


@parametrize_with_checks([OnFirstFeature(), OnFirstFeature(alpha=0.5)], expected_failed_checks=expected)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def data(n, seed=0, weighted=True):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(-3, 7, n))
    y = np.sin(x) + 0.2 * rng.standard_normal(n) + 10
    return x, y, rng.uniform(0.2, 3.0, n) if weighted else np.ones(n)


def exact(x, y, w, lam):
    """Values, leverages, their complements and second derivatives with 60 digits, by Reinsch's equations."""
    with mpmath.workdps(60):
        n, (X, Y, W) = len(x), ([mpmath.mpf(float(v)) for v in part] for part in (x, y, w))
        h = [X[i + 1] - X[i] for i in range(n - 1)]
        Q, R = mpmath.zeros(n, n - 2), mpmath.zeros(n - 2, n - 2)
        for j in range(n - 2):
            Q[j, j], Q[j + 2, j], Q[j + 1, j] = 1 / h[j], 1 / h[j + 1], -1 / h[j] - 1 / h[j + 1]
            R[j, j] = (h[j] + h[j + 1]) / 3
            if j:
                R[j, j - 1] = R[j - 1, j] = h[j] / 6
        spread = mpmath.mpf(lam) * mpmath.diag([1 / v for v in W]) * Q
        inverse = mpmath.inverse(R + Q.T * spread)
        gamma = inverse * Q.T * mpmath.matrix(Y)
        values = mpmath.matrix(Y) - spread * gamma
        rest = spread * inverse * Q.T
        complement = np.array([float(rest[i, i]) for i in range(n)])
        leverage = np.array([float(1 - rest[i, i]) for i in range(n)])
        return np.array([float(v) for v in values]), leverage, complement, np.array([float(v) for v in gamma])


@pytest.mark.parametrize("lam", PENALTIES)
@pytest.mark.parametrize("close", [False, True], ids=["apart", "nearly equal knots"])
def test_exact_to_rounding(lam, close):
    x, y, w = data(14)
    if close:
        x[5] = x[4] + 1e-8
    values, leverage, complement, curvature = exact(x, y, w, lam)
    fit, errors = fit_spline(x, y[:, None], w, lam), spline_errors(x, y, w, lam)
    np.testing.assert_allclose(fit.values[:, 0], values, rtol=ROUNDING)
    np.testing.assert_allclose(errors.leverage, leverage, rtol=ROUNDING)
    np.testing.assert_allclose(errors.complement, complement, rtol=ROUNDING)
    if not close:  # 1e-8 / h^2 is as exact as double precision data determine curvature
        np.testing.assert_allclose(
            fit.curvature[1:-1, 0], curvature, rtol=1e-8, atol=1e-10 * abs(curvature).max()
        )
    many = spline_errors(x, y, w, np.array([2 * lam, lam]))
    for part, whole in zip(errors, many, strict=True):
        np.testing.assert_allclose(whole[:, 1], part, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("lam", [0.0, 1e-6, 1e-2, 1.0])
def test_equals_scipy(lam):
    x, y, w = data(60)
    ours = SmoothingSpline(alpha=lam).fit(x, y, w)
    theirs = make_smoothing_spline(x, y, w=w, lam=lam)
    z = np.linspace(x[0], x[-1], 301)
    for derivative in range(4):
        expected = theirs.derivative(derivative)(z) if derivative else theirs(z)
        found = ours.predict(z, derivative=derivative)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())


def test_beyond_the_data_it_is_straight():
    x, y, w = data(20)
    model = SmoothingSpline(alpha=0.1).fit(x, y, w)
    for end, sign in ((x[0], -1), (x[-1], 1)):
        slope = model.predict([end], derivative=1)
        far = model.predict([end + sign * 5.0])
        np.testing.assert_allclose(far, model.predict([end]) + sign * 5 * slope, rtol=ROUNDING)
        assert model.predict([end + sign], derivative=2) == model.predict([end + sign], derivative=3) == 0
        assert model.predict([end + sign], derivative=1) == slope


def test_is_kernel_ridge_with_a_free_line():
    x, y, w = data(25)
    lam = 0.07
    # on [0, 1] the penalty of the second derivative shrinks with the third power of the length
    length = x[-1] - x[0]
    t = (x - x[0]) / length
    K, T = SplineRemainder(2).block(t[:, None]), np.column_stack([np.ones_like(t), t])
    A = np.block([[K + lam / length**3 * np.diag(1 / w), T], [T.T, np.zeros((2, 2))]])
    solved = np.linalg.solve(A, np.concatenate([y, np.zeros(2)]))
    fitted = K @ solved[:25] + T @ solved[25:]
    np.testing.assert_allclose(SmoothingSpline(alpha=lam).fit(x, y, w).values_, fitted, rtol=1e-10)


def test_limits_of_the_penalty():
    x, y, w = data(15)
    np.testing.assert_allclose(SmoothingSpline(alpha=0).fit(x, y, w).predict(x), y, rtol=ROUNDING)
    natural = CubicSpline(x, y, bc_type="natural")
    z = np.linspace(x[0], x[-1], 50)
    np.testing.assert_allclose(SmoothingSpline(alpha=0).fit(x, y, w).predict(z), natural(z), rtol=1e-10)
    line = np.polynomial.Polynomial.fit(x, y, 1, w=np.sqrt(w))
    straight = SmoothingSpline(alpha=np.inf).fit(x, y, w)
    np.testing.assert_allclose(straight.predict(z), line(z), rtol=1e-10)
    np.testing.assert_allclose(SmoothingSpline(alpha=1e14).fit(x, y, w).predict(z), line(z), rtol=1e-8)
    np.testing.assert_allclose(SmoothingSpline(alpha=1e-200).fit(x, y, w).predict(x), y, rtol=ROUNDING)
    assert straight.degrees_of_freedom_ == 2


def test_repeated_x_and_weights():
    x, y, _ = data(12)
    index = np.repeat(np.arange(12), [1, 2, 0, 3, 1, 1, 2, 1, 1, 4, 1, 2])
    counts = np.bincount(index, minlength=12).astype(float)
    repeated = SmoothingSpline(alpha=0.3).fit(x[index], y[index])
    weighted = SmoothingSpline(alpha=0.3).fit(x, y, counts)
    np.testing.assert_allclose(repeated.predict(x), weighted.predict(x), rtol=ROUNDING)
    shuffled = np.random.default_rng(0).permutation(len(index))
    other = SmoothingSpline(alpha=0.3).fit(x[index][shuffled], y[index][shuffled])
    np.testing.assert_allclose(other.predict(x), repeated.predict(x), rtol=ROUNDING)


def by_refitting(x, Y, w, lam):
    errors = np.empty_like(Y)
    for i in range(len(x)):
        kept = np.arange(len(x)) != i
        errors[i] = Y[i] - SmoothingSpline(alpha=lam).fit(x[kept], Y[kept], w[kept]).predict(x[i : i + 1])[0]
    return float((w[:, None] * errors**2).sum() / w.sum())


def test_leave_one_out_is_refitting_also_of_repeated_x():
    x, y, w = data(16, seed=3)
    x[5] = x[6] = x[7]
    Y = np.column_stack([y, np.cos(x)])
    model = SmoothingSpline(criterion="loo").fit(x, Y, w)
    for i in (0, 10, 20, int(np.argmin(model.errors_)), -1):
        assert model.errors_[i] == pytest.approx(by_refitting(x, Y, w, model.alphas_[i]), rel=1e-8)
    assert model.errors_.min() == pytest.approx(by_refitting(x, Y, w, model.alpha_), rel=1e-8)


def test_gcv_is_its_definition_and_no_worse_than_scipys_choice():
    x, y, _ = data(80, seed=5, weighted=False)
    model = SmoothingSpline().fit(x, y)

    def gcv(spline_values, lam):
        trace = spline_errors(x, y, np.ones(80), lam).leverage.sum()
        return np.mean((y - spline_values) ** 2) / (1 - trace / 80) ** 2

    assert model.errors_.min() == pytest.approx(gcv(model.predict(x), model.alpha_), rel=1e-10)
    theirs = make_smoothing_spline(x, y)
    np.testing.assert_allclose(model.predict(x), theirs(x), atol=0.02)
    neighbours = [SmoothingSpline(alpha=model.alpha_ * f).fit(x, y) for f in (0.9, 1.1)]
    assert all(gcv(m.predict(x), m.alpha_) >= model.errors_.min() for m in neighbours)


def test_few_knots():
    assert SmoothingSpline().fit([2.0], [5.0]).predict([0.0, 9.0]).tolist() == [5.0, 5.0]
    np.testing.assert_allclose(SmoothingSpline().fit([0.0, 2.0], [1.0, 2.0]).predict([4.0]), [3.0])
    same = SmoothingSpline().fit([1.0, 1.0, 1.0], [1.0, 2.0, 6.0])
    assert same.predict([7.0])[0] == pytest.approx(3.0)
    assert same.predict([7.0], derivative=1)[0] == 0
    three = SmoothingSpline().fit([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
    assert np.isfinite(three.predict([0.5, 5.0])).all()


def test_constant_and_linear_data_stay_as_they_are():
    x, _, w = data(30)
    for y in (np.full(30, 3.0), 2 * x - 1):
        np.testing.assert_allclose(SmoothingSpline().fit(x, y, w).predict(x), y, rtol=1e-9)


def test_columns_frames_and_searches():
    pandas = pytest.importorskip("pandas")
    x, y, _ = data(30)
    one = SmoothingSpline(alpha=0.1).fit(x, y).predict(x)
    column = SmoothingSpline(alpha=0.1).fit(x[:, None], y)
    np.testing.assert_array_equal(column.predict(x[:, None]), one)
    frame = SmoothingSpline(alpha=0.1).fit(pandas.DataFrame({"time": x}), y)
    assert list(frame.feature_names_in_) == ["time"]
    np.testing.assert_array_equal(clone(frame).fit(x.tolist(), y).predict(x.tolist()), one)
    search = GridSearchCV(
        SmoothingSpline(), {"alpha": [1e-3, 1e3]}, cv=KFold(3, shuffle=True, random_state=0)
    ).fit(x[:, None], y)
    assert search.best_params_["alpha"] == 1e-3


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (SmoothingSpline(alpha=-1.0), "`alpha` must be"),
        (SmoothingSpline(alpha=np.nan), "`alpha` must be"),
        (SmoothingSpline(alpha="x"), "`alpha` must be"),
        (SmoothingSpline(criterion="aic"), "`criterion` must be"),
    ],
    ids=["negative", "nan", "text", "criterion"],
)
def test_bad_parameters_are_named(machine, message):
    with pytest.raises(ParameterError, match=message):
        machine.fit([0.0, 1.0], [0.0, 1.0])


def test_bad_data_are_named():
    with pytest.raises(InputError, match=r"2 features. For several use ThinPlateSpline"):
        SmoothingSpline().fit([[0.0, 1.0]], [1.0])
    with pytest.raises(InputError, match="X and y must have the same length"):
        SmoothingSpline().fit([0.0, 1.0], [1.0])
    with pytest.raises(InputError, match="sample_weight"):
        SmoothingSpline().fit([0.0, 1.0], [1.0, 2.0], [0.0, 0.0])
    with pytest.raises(ParameterError, match="derivative"):
        SmoothingSpline().fit([0.0, 1.0], [1.0, 2.0]).predict([0.0], derivative=4)
