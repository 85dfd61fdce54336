"""Machines with several kernels: optima, planted kernels, equal kernels, input that cannot be right."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mercer import gram
from mercer.errors import DefinitenessError, DomainError, InputError, ParameterError
from mercer.kernels import Gaussian, Linear, Polynomial, PowerDistance, Sigmoid, Spectrum, columns
from mercer.machines import (
    SVC,
    SVR,
    KernelRidge,
    MultipleKernelOneClass,
    MultipleKernelRidge,
    MultipleKernelSVC,
    MultipleKernelSVR,
    OneClassSVM,
    UnidentifiedWeightsWarning,
)

N = 50
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((N, 5)), columns=list("abcde"))
NUMBERS = np.sin(2 * X["a"]) + 0.5 * X["b"] ** 2 + 0.1 * RNG.standard_normal(N)
LABELS = np.where(np.median(NUMBERS) < NUMBERS, "high", "low")
CLASSES = np.digitize(NUMBERS, np.quantile(NUMBERS, [0.33, 0.67]))
KERNELS = columns({name: Gaussian(0.7) for name in X})

MACHINES = {
    "SVC": (MultipleKernelSVC(KERNELS, C=10.0), LABELS),
    "SVC classes": (MultipleKernelSVC(KERNELS, C=10.0), CLASSES),
    "SVC ovr": (MultipleKernelSVC(KERNELS, C=10.0, multiclass="ovr"), CLASSES),
    "SVC no intercept": (MultipleKernelSVC(KERNELS, C=10.0, fit_intercept=False), LABELS),
    "SVR": (MultipleKernelSVR(KERNELS, C=10.0), NUMBERS),
    "Ridge": (MultipleKernelRidge(KERNELS, alpha=0.1), NUMBERS),
    "Ridge targets": (MultipleKernelRidge(KERNELS, alpha=0.1), np.column_stack([NUMBERS, -(NUMBERS**2)])),
    "OneClass": (MultipleKernelOneClass(KERNELS, nu=0.3), None),
}
SINGLE = {
    MultipleKernelSVC: lambda m: SVC(
        m.kernel_, C=m.C, fit_intercept=m.fit_intercept, multiclass=m.multiclass
    ),
    MultipleKernelSVR: lambda m: SVR(m.kernel_, C=m.C),
    MultipleKernelRidge: lambda m: KernelRidge(m.kernel_, alpha=m.alpha, fit_intercept=True),
    MultipleKernelOneClass: lambda m: OneClassSVM(m.kernel_, nu=m.nu),
}


def fitted(name, **params):
    machine, y = MACHINES[name]
    return clone(machine).set_params(**params).fit(X, y), y


def values(model, points):
    return getattr(model, "decision_function" if hasattr(model, "decision_function") else "predict")(points)


def functions(model):
    """Coefficients of all training points, a column for each function of pairs, classes or targets."""
    if isinstance(model, MultipleKernelRidge):
        return model.dual_coef_.reshape(N, -1)
    columns = model._combine(np.eye(len(model.support_)), model.dual_coef_)
    full = np.zeros((N, columns.shape[1]))
    full[model.support_] = columns
    return full


@pytest.mark.parametrize("norm", [1.0, 2.0])
@pytest.mark.parametrize("name", MACHINES)
def test_weights_are_optimal(name, norm):
    """Weights are as powers of what each kernel is worth; for p = 1 all in use are worth the same."""
    model, _ = fitted(name, norm=norm, tol=1e-8)
    assert model.converged_
    assert model.gap_ <= 1e-8
    A = functions(model)
    Ks = [gram(k, X).dense() / s for k, s in zip(model.kernels_, model.scales_, strict=True)]
    worth = np.array([np.einsum("nc,nm,mc->", A, K, A) for K in Ks])
    assert (model.weights_**norm).sum() == pytest.approx(1.0)
    if norm == 1:
        used = model.weights_ > 0
        np.testing.assert_allclose(worth[used], worth.max(), rtol=1e-4)
    else:
        np.testing.assert_allclose(model.weights_, worth / np.linalg.norm(worth), atol=1e-4)


@pytest.mark.parametrize("name", MACHINES)
def test_a_gap_far_below_the_default_is_reached(name):
    """Slopes of about 30 hid in their rounding that a step of 1e-8 goes down."""
    model, _ = fitted(name, tol=1e-10)
    assert model.converged_
    assert model.gap_ <= 1e-10


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        (name, weights)
        for name in MACHINES
        for weights in ("learn", "average", "alignment")
        if (name, weights) != ("OneClass", "alignment")  # there are no labels to align with
    ],
)
def test_the_machine_is_that_of_the_combined_kernel(name, weights):
    model, y = fitted(name, weights=weights, tol=1e-8)
    single = SINGLE[type(model)](model)
    if not isinstance(single, KernelRidge):
        single.set_params(tol=1e-9)
    np.testing.assert_allclose(values(model, X[:9]), values(single.fit(X, y), X[:9]), atol=2e-5)


@pytest.mark.parametrize("weights", ["average", "alignment"])
def test_given_weights_are_no_better_and_their_gap_says_so(weights):
    best, _ = fitted("SVC", tol=1e-8)
    given, _ = fitted("SVC", weights=weights)
    assert given.converged_
    assert best.objective_ < given.objective_
    assert given.objective_ * (1 - given.gap_) <= best.objective_ * (1 + 1e-6)


def test_average():
    model, _ = fitted("SVC", weights="average", norm=2.0)
    np.testing.assert_allclose(model.weights_, np.full(5, 5**-0.5))


def test_no_other_weights_align_better():
    model, _ = fitted("Ridge", weights="alignment")
    y = NUMBERS.to_numpy()
    best = gram(model.kernel_, X).alignment(y, centered=True)
    rng = np.random.default_rng(1)
    Ks = [gram(k, X).dense() for k in model.kernels_]
    H = np.eye(N) - 1 / N
    L = H @ np.outer(y, y) @ H
    for _ in range(100):
        d = rng.dirichlet(np.full(5, 0.5))
        K = H @ sum(w * K for w, K in zip(d, Ks, strict=True)) @ H
        assert (K * L).sum() / np.linalg.norm(K) / np.linalg.norm(L) <= best + 1e-12


@pytest.mark.parametrize("name", ["SVC", "SVC classes", "SVR", "Ridge"])
def test_planted_columns_are_found(name):
    rng = np.random.default_rng(3)
    points = pd.DataFrame(rng.standard_normal((200, 20)))
    points.columns = [f"x{j}" for j in range(20)]
    score = 2 * np.sin(2 * points["x3"]) + points["x11"] ** 2
    y = {"SVC": score > 1, "SVC classes": np.digitize(score, [0, 1.5])}.get(name, score)
    machine = clone(MACHINES[name][0]).set_params(kernels=columns({c: Gaussian(0.7) for c in points}))
    if name != "Ridge":
        machine.set_params(C=0.5)
    model = machine.fit(points, y)
    order = [c.pattern for c in model.kernel_weights()]
    assert set(order[:2]) == {"x3", "x11"}
    assert model.weights_[[3, 11]].sum() > 0.7


def test_weights_are_invariant_under_the_unit_of_kernels():
    plain, _ = fitted("SVC", tol=1e-9)
    kernels = [c * k for c, k in zip((1.0, 10.0, 1e-3, 1e5, 2.0), plain.kernels_, strict=True)]
    other = clone(MACHINES["SVC"][0]).set_params(kernels=kernels, tol=1e-9).fit(X, LABELS)
    np.testing.assert_allclose(other.weights_, plain.weights_, atol=1e-5)
    np.testing.assert_allclose(other.scales_, (1.0, 10.0, 1e-3, 1e5, 2.0))
    unscaled = clone(other).set_params(scale=None).fit(X, LABELS)
    assert not np.allclose(unscaled.weights_, plain.weights_, atol=0.1)


def test_scale_by_variance_ignores_constants():
    kernels = {"a": Linear(), "b": Linear() + 1e3, "c": Gaussian(1.0)}
    Z = X.to_numpy()
    with pytest.warns(UnidentifiedWeightsWarning, match="'a', 'b' are proportional"):
        model = MultipleKernelRidge({**kernels, "b": 2 * Linear()}, scale="variance").fit(Z, NUMBERS)
    assert model.weights_[0] == model.weights_[1]
    model = MultipleKernelRidge(kernels, scale="variance").fit(Z - Z.mean(axis=0), NUMBERS)
    np.testing.assert_allclose(model.scales_[0], model.scales_[1])


def test_equal_kernels_share_and_are_named():
    Z = X.to_numpy()
    alone = MultipleKernelSVC([Linear(), Gaussian(1.0)]).fit(Z, LABELS)
    with pytest.warns(UnidentifiedWeightsWarning, match="are proportional on these data. Only the sum"):
        model = MultipleKernelSVC([Linear(), Gaussian(1.0), 3 * Gaussian(1.0)]).fit(Z, LABELS)
    assert model.weights_[1] == model.weights_[2]
    np.testing.assert_allclose(model.weights_[1] + model.weights_[2], alone.weights_[1], atol=1e-6)
    np.testing.assert_allclose(values(model, Z), values(alone, Z), atol=1e-6)


@pytest.mark.parametrize("scale", ["trace", None])
def test_sums_of_kernels_are_named(scale):
    """A linear kernel on two columns is the sum of those on one each."""
    points = np.random.default_rng(0).standard_normal((60, 3))
    table = dict(zip("abc", (points / np.linalg.norm(points, axis=0)).T, strict=True))
    a, b, c = (columns({name: Linear()}) for name in "abc")
    kernels = {"a": a, "b": b, "c": c, "a and b": 0.5 * a + 0.5 * b}
    machine = MultipleKernelRidge(kernels, alpha=1e-3, scale=scale)
    with pytest.warns(
        UnidentifiedWeightsWarning, match="kernels 'a', 'b', 'a and b' some are sums of others"
    ):
        machine.fit(table, table["a"] + table["b"])
    kernels["a and b"] = 0.5 * a + 0.5 * columns({"b": Gaussian(1.0)})
    clone(machine).fit(table, table["a"] + table["b"])  # no warning
    clone(machine).set_params(kernels=[a, b, a + c]).fit(table, table["a"])  # c alone has no kernel


def test_many_kernels_by_a_working_set():
    """With more kernels than a working set holds the optimum is that of all of them at once."""
    rng = np.random.default_rng(4)
    points = pd.DataFrame(rng.standard_normal((60, 170)), columns=[f"x{j}" for j in range(170)])
    y = points["x3"] + points["x160"] + 0.1 * rng.standard_normal(60)
    model = MultipleKernelRidge(columns({c: Linear() for c in points}), alpha=0.1, tol=1e-7).fit(points, y)
    assert model.converged_
    A = model.dual_coef_
    worth = (points.to_numpy().T @ A) ** 2 / model.scales_
    np.testing.assert_allclose(worth[model.weights_ > 0], worth.max(), rtol=1e-3)
    assert {"x3", "x160"} <= {c.pattern for c in model.kernel_weights()[:2]}


# -- frames -----------------------------------------------------------------------------------------
def test_columns_without_weight_are_not_needed_to_predict():
    frame = X.assign(word=["ab" if x > 0 else "ba" for x in X["a"]])
    kernels = columns({"word": Spectrum(1), "a": Linear(), "b": Gaussian(1.0)})
    model = MultipleKernelSVC(kernels).fit(frame, frame["a"] > 0)
    assert model.names_ == ("word", "a", "b")
    assert model.weights_[0] == 0.0
    used = [name for name, w in zip(model.names_, model.weights_, strict=True) if w]
    np.testing.assert_array_equal(model.predict(frame[used]), model.predict(frame))


def test_a_missing_modality_counts_nothing():
    frame = X.copy()
    frame.loc[::3, "b"] = np.nan
    model = MultipleKernelRidge(columns({"a": Gaussian(1.0), "b": Gaussian(1.0)}), alpha=0.1).fit(
        frame, NUMBERS
    )
    assert np.count_nonzero(model.weights_) == 2
    only_a = {"a": [0.3], "b": [None]}
    expected = model.intercept_ + model.weights_[0] * (
        Gaussian(1.0).block([[0.3]], frame[["a"]].to_numpy()) @ model.dual_coef_
    )
    np.testing.assert_allclose(model.predict(only_a), expected)
    strict = MultipleKernelRidge(columns({"a": Gaussian(1.0), "b": Gaussian(1.0)}, missing="error"))
    with pytest.raises(InputError, match="'b'"):
        strict.fit(frame, NUMBERS)


def test_a_column_that_is_always_missing_has_no_weight():
    frame = X.assign(e=np.nan)
    model = clone(MACHINES["SVC"][0]).fit(frame, LABELS)
    assert model.weights_[4] == 0.0
    assert model.scales_[4] == 1.0


# -- ways to give kernels ---------------------------------------------------------------------------
def test_names():
    Z = X.to_numpy()
    model = MultipleKernelSVC({"line": Linear(), "bell": Gaussian(1.0)}).fit(Z, LABELS)
    assert model.names_ == ("line", "bell")
    terms = MultipleKernelSVC(Linear() + Gaussian(1.0)).fit(Z, LABELS)
    assert terms.names_ == ("Linear()", "Gaussian()")
    np.testing.assert_array_equal(terms.weights_, model.weights_)
    words = MultipleKernelSVC(["linear", Gaussian(1.0)]).fit(Z, LABELS)
    np.testing.assert_array_equal(words.weights_, model.weights_)
    one = MultipleKernelSVC(Gaussian(1.0)).fit(Z, LABELS)
    assert one.weights_.tolist() == [1.0]


@pytest.mark.parametrize(
    ("kernels", "error", "message"),
    [
        ([], ParameterError, "`kernels` must hold one kernel at least"),
        (3.0, ParameterError, "`kernels` must be a sequence of kernels"),
        ([Linear(), 3.0], ParameterError, r"`kernels\[1\]`"),
        ({"a": Linear(), "b": None}, ParameterError, r"`kernels\['b'\]`"),
        ([Linear(), Spectrum(2)], DomainError, "must be on the same points; 'Linear.*' and 'Spectrum"),
        (
            [Linear(), Sigmoid(1.0, -1.0)],
            DefinitenessError,
            "'Sigmoid.*is not on these data",
        ),
        ([Linear(), PowerDistance(1.0)], DefinitenessError, "It is a distance: use"),
    ],
    ids=["none", "number", "no-kernel", "no-kernel-named", "domains", "indefinite", "distance"],
)
def test_kernels_that_cannot_be_used(kernels, error, message):
    for machine in (MultipleKernelSVC, MultipleKernelRidge):
        with pytest.raises(error, match=f"{machine.__name__}: .*{message}"):
            machine(kernels).fit(X.to_numpy(), CLASSES)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"weights": "uniform"}, "`weights` must be one of 'learn', 'average', 'alignment'"),
        ({"norm": 0.5}, "`norm` must be a finite number >= 1"),
        ({"norm": np.inf}, "`norm` must be a finite number >= 1"),
        ({"scale": "max"}, "`scale` must be one of 'trace', 'variance', None"),
        ({"tol": 0.0}, "`tol` must be"),
        ({"max_iter": 0}, "`max_iter` must be"),
    ],
)
@pytest.mark.parametrize("name", ["SVC", "SVR", "Ridge", "OneClass"])
def test_parameters(name, params, message):
    machine, y = MACHINES[name]
    with pytest.raises(ParameterError, match=message):
        clone(machine).set_params(**params).fit(X, y)


def test_parameters_of_single_machines():
    with pytest.raises(ParameterError, match="`C` must be a positive finite number"):
        MultipleKernelSVC(C=np.inf).fit(X, LABELS)
    with pytest.raises(ParameterError, match="`C` must be a positive finite number"):
        MultipleKernelSVR(C=np.inf).fit(X, NUMBERS)
    with pytest.raises(ParameterError, match="`alpha` must be a positive finite number"):
        MultipleKernelRidge(alpha=0.0).fit(X, NUMBERS)
    with pytest.raises(ParameterError, match="no labels to align with"):
        MultipleKernelOneClass(weights="alignment").fit(X)


@pytest.mark.parametrize("name", ["SVR", "Ridge"])
def test_constant_targets_are_said(name):
    machine, _ = MACHINES[name]
    with pytest.warns(UnidentifiedWeightsWarning, match="`y` is constant"):
        model = clone(machine).fit(X, np.full(N, 3.0))
    np.testing.assert_allclose(model.weights_, 0.2)
    np.testing.assert_allclose(model.predict(X[:3]), 3.0, atol=0.1)
    with pytest.raises(InputError, match="`y` must go with some kernel"):
        clone(machine).set_params(weights="alignment").fit(X, np.full(N, 3.0))


def test_one_class_of_labels_is_refused():
    with pytest.raises(InputError, match="at least two classes"):
        MultipleKernelSVC(KERNELS).fit(X, np.ones(N))


def test_all_kernels_zero():
    frame = pd.DataFrame({"a": [None] * N, "b": [None] * N})
    with pytest.raises(InputError, match="All of 'a', 'b' are zero on the 50 sample"):
        MultipleKernelRidge(columns({"a": Linear(), "b": Gaussian(1.0)})).fit(frame, NUMBERS)


# -- out of core --------------------------------------------------------------------------------------
def test_matrices_that_do_not_fit_in_memory(monkeypatch):
    held, _ = fitted("SVC", tol=1e-8)
    monkeypatch.setenv("MERCER_MEMORY", str(5 * 8 * N * N))  # two of five matrices
    lazy, _ = fitted("SVC", tol=1e-8)
    np.testing.assert_allclose(lazy.weights_, held.weights_, atol=1e-9)


def test_values_in_a_store(tmp_path):
    plain, _ = fitted("SVC")
    stored, _ = fitted("SVC", store=tmp_path)
    np.testing.assert_allclose(stored.weights_, plain.weights_, atol=1e-9)
    assert any(tmp_path.iterdir())


def test_limits_are_said():
    with pytest.warns(match="1 Newton steps are the limit"):
        model, _ = fitted("SVC", max_iter=1)
    assert not model.converged_
    assert model.gap_ > 1e-4


def test_a_polynomial_beats_others_on_its_own_function():
    Z = X.to_numpy()
    y = (Z @ np.arange(5.0)) ** 2
    model = MultipleKernelRidge([Linear(), Polynomial(2), Gaussian(0.05)], alpha=1e-3).fit(Z, y)
    assert model.weights_[1] > 0.9
