"""Targets, weights and data at the ends of what floats hold, and input that is no array of numbers."""

import inspect
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer.machines
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Laplacian
from mercer.machines import (
    SVC,
    SVR,
    Cells,
    Conformal,
    EnclosingBall,
    KernelCCA,
    KernelDiscriminant,
    KernelKMeans,
    KernelLogistic,
    KernelPCA,
    KernelRanker,
    KernelRidge,
    LaplacianRLS,
    LaplacianSVC,
    MultipleKernelOneClass,
    MultipleKernelRidge,
    MultipleKernelSVC,
    MultipleKernelSVR,
    NuSVR,
    OneClassSVM,
    PegasosSVC,
    ProxySVC,
    RepresenterMachine,
    SmoothingSpline,
    SupervisedReduction,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 3))
NUMBERS = X[:, 0] + 0.1 * RNG.standard_normal(24)
LABELS = (X[:, 0] > 0).astype(int)

REGRESSORS = [
    KernelRidge(),
    KernelRidge(alpha="loo", fit_intercept=True),
    KernelRidge(solver="cg"),
    RepresenterMachine(),
    KernelRanker(),
    LaplacianRLS(),
    SVR(),
    NuSVR(),
    MultipleKernelRidge(tol=1e-9),
    MultipleKernelSVR(tol=1e-9),
]
CLASSIFIERS = [
    KernelLogistic(),
    KernelLogistic(alpha=0.0, l1=1.0),
    KernelDiscriminant(),
    LaplacianSVC(),
    SVC(),
    SVC(fit_intercept=False),
    PegasosSVC(),
    ProxySVC(),
    MultipleKernelSVC(tol=1e-9),
]
OTHERS = [
    KernelPCA(n_components=2),
    KernelCCA(Gaussian("scale"), kernel_y=Gaussian("scale")),
    SupervisedReduction(),
    KernelKMeans(n_clusters=3),
    OneClassSVM(),
    EnclosingBall(),
    MultipleKernelOneClass(),
]
ALL = [*REGRESSORS, *CLASSIFIERS, *OTHERS]


def targets_of(machine):
    if isinstance(machine, KernelCCA | SupervisedReduction):
        return NUMBERS[:, None]
    return NUMBERS if machine in REGRESSORS else LABELS


def some_values(model, points):
    for name in ("decision_function", "predict", "transform"):
        if hasattr(model, name):
            return getattr(model, name)(points)
    raise AssertionError(model)


# -- weights ------------------------------------------------------------------------------------
@pytest.mark.parametrize("machine", [m for m in ALL if not isinstance(m, KernelKMeans)], ids=repr)
@pytest.mark.parametrize(("weight", "asked"), [(1e300, "smaller"), (1e30, "smaller"), (1e-300, "larger")])
def test_weights_out_of_scale_are_refused_by_name(machine, weight, asked):
    """They overflow, or take the penalty away by rounding, and errors about something else would follow."""
    name = type(machine).__name__
    with pytest.raises(InputError, match=rf"{name}: `sample_weight` must be {asked}.*Got 1e"):
        clone(machine).fit(X, targets_of(machine), sample_weight=np.full(24, weight))


@pytest.mark.parametrize("machine", [*REGRESSORS, *CLASSIFIERS], ids=repr)
def test_weights_that_vanish_beside_others_are_as_if_absent(machine):
    weight = np.where(np.arange(24) < 12, 1.0, 1e-250)
    tiny = clone(machine).fit(X, targets_of(machine), sample_weight=weight)
    absent = clone(machine).fit(X, targets_of(machine), sample_weight=weight.round())
    if isinstance(machine, PegasosSVC):  # points are drawn by their weights, from another number of them
        assert np.isfinite(some_values(tiny, X)).all()
        return
    np.testing.assert_allclose(some_values(tiny, X), some_values(absent, X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("machine", ALL, ids=repr)
def test_one_number_is_a_weight_for_every_point(machine):
    fits = [clone(machine).fit(X, targets_of(machine), sample_weight=w) for w in (2.0, np.full(24, 2.0))]
    if isinstance(machine, PegasosSVC):  # draws points at random
        return
    np.testing.assert_array_equal(some_values(fits[0], X), some_values(fits[1], X))


def test_weights_of_classes_out_of_scale_are_refused_by_name():
    for machine in (KernelLogistic(), SVC(fit_intercept=False)):
        with pytest.raises(ParameterError, match="`class_weight` must be"):
            clone(machine).set_params(class_weight={0: 1e300}).fit(X, LABELS)


# -- targets ------------------------------------------------------------------------------------
@pytest.mark.parametrize("machine", REGRESSORS, ids=repr)
@pytest.mark.parametrize("scale", [1e200, 1e307])
def test_targets_whose_squares_overflow_are_refused(machine, scale):
    with pytest.raises(InputError, match=rf"{type(machine).__name__}: `y` must be between -1e\+150 and"):
        clone(machine).fit(X, scale * NUMBERS)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_ridge_is_linear_in_targets_of_any_size(scale):
    plain = KernelRidge(fit_intercept=True).fit(X, NUMBERS).predict(X)
    scaled = KernelRidge(fit_intercept=True).fit(X, scale * NUMBERS).predict(X)
    np.testing.assert_allclose(scaled, scale * plain, rtol=1e-9)


@pytest.mark.parametrize("solver", ["cholesky", "cg", "eigen"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [1e9, 1e12, 1e14])
def test_an_intercept_takes_up_an_offset_of_the_targets(solver, weighted, offset):
    """Nanoseconds since 1970, say: the mean itself is rounded by more than what is to be explained."""
    weight = 1.0 + np.arange(24) % 3 if weighted else None
    y = NUMBERS + offset
    machine = KernelRidge(Gaussian(1.0), alpha=0.1, fit_intercept=True, solver=solver)
    model = clone(machine).fit(X, y, sample_weight=weight)
    near = clone(machine).fit(X, y - offset, sample_weight=weight)
    assert model.solution_.converged
    np.testing.assert_allclose(model.predict(X), near.predict(X) + offset, rtol=1e-15)


# -- points -------------------------------------------------------------------------------------
@pytest.mark.parametrize("kernel", [Gaussian("scale"), Gaussian("median"), Laplacian("median")], ids=repr)
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e300])
def test_widths_follow_data_of_any_scale(kernel, scale):
    """Squared distances of such data leave the range of floats, the widths do not."""
    expected = kernel.resolve(X).sigma
    for data in (scale * X, sparse.csr_array(scale * X)):
        assert kernel.resolve(data).sigma / scale == pytest.approx(expected, rel=1e-12)
    plain, scaled = kernel.resolve(X).block(X), kernel.resolve(scale * X).block(scale * X)
    np.testing.assert_allclose(scaled, plain, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_widths_follow_single_precision_of_any_scale(scale):
    data = (scale * X).astype(np.float32)
    assert Gaussian("median").resolve(data).sigma / scale == pytest.approx(
        Gaussian("median").resolve(X).sigma, rel=1e-6
    )


def test_widths_that_are_no_float_are_refused():
    far = np.array([[1.7e308] * 50, [-1.7e308] * 50])
    for rule in ("scale", "median"):
        with pytest.raises(InputError, match=rf"width '{rule}' of X.*too far apart"):
            Gaussian(rule).resolve(far)


def test_the_width_of_sparse_data_far_from_zero_does_not_cancel():
    far = X + 1e8
    assert Gaussian("scale").resolve(sparse.csr_array(far)).sigma == pytest.approx(
        Gaussian("scale").resolve(far).sigma, rel=1e-9
    )


@pytest.mark.parametrize("machine", [SVC(), KernelPCA(n_components=2)], ids=repr)
def test_generators_and_words_are_refused_by_name(machine):
    name = type(machine).__name__
    with pytest.raises(InputError, match=rf"{name}: `X` must be .*Got a generator.*Pass a list"):
        clone(machine).fit((row for row in X), LABELS)
    with pytest.raises(InputError, match=rf"{name}: `X` must be .*Column 0 holds text: 'a' in row 0"):
        clone(machine).fit([["a", "b"]] * 24, LABELS)
    with pytest.raises(InputError, match=rf"{name}: `X` is not valid. .*2D array, got 1D"):
        clone(machine).fit(X[:, 0], LABELS)


def test_targets_that_are_no_numbers_are_refused_by_name():
    for y in (["a"] * 24, []):
        with pytest.raises(InputError, match=r"KernelRidge: `y` is not valid\. "):
            KernelRidge().fit(X, y)
    with pytest.raises(InputError, match=r"KernelRidge: `y` must be real\. Got complex numbers"):
        KernelRidge().fit(X, NUMBERS + 1j)


def test_copies_of_one_point_have_no_components_and_one_warning_says_so():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = KernelPCA(Gaussian(1.0), n_components=2).fit(np.ones((24, 3)))
    assert model.n_components_ == 0
    assert model.solution_.converged
    assert [str(w.message).startswith("KernelPCA: `n_components` is 2") for w in told] == [True]


# -- splines ------------------------------------------------------------------------------------
@pytest.mark.parametrize("criterion", ["gcv", "loo"])
@pytest.mark.parametrize(
    ("scale", "size", "weight"), [(1e70, 1.0, 1.0), (1e-70, 1e140, 1e-90), (1.0, 1e-140, 1e15)]
)
def test_splines_follow_their_units(criterion, scale, size, weight):
    """In other units of x, y and of the weights, the spline is the same."""
    x = np.sort(X[:, 0])
    plain = SmoothingSpline(criterion=criterion).fit(x, NUMBERS)
    other = SmoothingSpline(criterion=criterion).fit(scale * x, size * NUMBERS, np.full(24, weight))
    np.testing.assert_allclose(other.predict(scale * x), size * plain.predict(x), rtol=1e-3, atol=1e-3 * size)
    assert other.alpha_ == pytest.approx(plain.alpha_ * weight * scale**3, rel=1e-2)


def test_splines_name_what_is_out_of_scale():
    x = np.arange(24.0)
    for factor in (1e200, 1e-200):
        with pytest.raises(InputError, match=r"SmoothingSpline: `X` must span between"):
            SmoothingSpline().fit(factor * x, NUMBERS)
    with pytest.raises(InputError, match="SmoothingSpline: `y` must be between"):
        SmoothingSpline().fit(x, 1e200 * NUMBERS)
    for weight in (1e300, 1e-300):
        with pytest.raises(InputError, match="SmoothingSpline: `sample_weight` must be"):
            SmoothingSpline().fit(x, NUMBERS, np.full(24, weight))
    with pytest.raises(InputError, match="`sample_weight` must be 0 or at least 1e-100"):
        SmoothingSpline().fit(x, NUMBERS, 10.0 ** -np.linspace(0, 300, 24))
    for bad, what in ((["a"] * 24, "is not valid"), (x + 1j, "must be real")):
        with pytest.raises(InputError, match=f"SmoothingSpline: `y` {what}"):
            SmoothingSpline().fit(x, bad)
        with pytest.raises(InputError, match=f"SmoothingSpline: `X` {what}"):
            SmoothingSpline().fit(bad, NUMBERS)


def with_random_state():
    """All machines that have one."""
    public = [getattr(mercer.machines, name) for name in mercer.machines.__all__]
    machines = [value for value in public if isinstance(value, type) and not issubclass(value, Warning)]
    return [m for m in machines if "random_state" in inspect.signature(m).parameters]


@pytest.mark.parametrize("machine", with_random_state(), ids=lambda m: m.__name__)
@pytest.mark.parametrize("state", ["a", -1, 2**32, 1.5, [[1]], {}], ids=str)
def test_random_states_are_named(machine, state):
    inner = (SVC(),) if machine in (Cells, Conformal) else ()
    model, name = machine(*inner, random_state=state), machine.__name__
    with pytest.raises(ParameterError, match=f"{name}: `random_state` must be None, an integer"):
        model.fit(X, LABELS) if hasattr(model, "fit") else model.test(X, X + 0.1)


def test_machines_with_a_random_state_are_found():
    assert {SVC, KernelKMeans, KernelRidge} <= set(with_random_state())


@pytest.mark.parametrize("priors", ["a", [["a", "b"]], [0.5, "x"], [1.0], [0.5, 0.6], [2, -1], {}], ids=str)
def test_priors_are_named(priors):
    with pytest.raises(ParameterError, match="KernelDiscriminant: `priors` must be 2 positive numbers"):
        KernelDiscriminant(priors=priors).fit(X, LABELS)
