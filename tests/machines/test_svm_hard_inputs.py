"""Inputs on which other libraries hang, crash, leak or answer wrongly."""

import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import mercer
from mercer.errors import DefinitenessError, InputError, ParameterError
from mercer.kernels import Gaussian, Polynomial, Precomputed, SetIntersection
from mercer.machines import (
    SVC,
    SVR,
    EnclosingBall,
    IndefiniteKernelWarning,
    NuSVC,
    NuSVR,
    OneClassSVM,
)

CLASSIFIERS = [SVC(), NuSVC(0.2)]
REGRESSORS = [SVR(), NuSVR()]
DETECTORS = [OneClassSVM(), EnclosingBall()]
ALL = [*CLASSIFIERS, *REGRESSORS, *DETECTORS]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] + 0.3 * rng.standard_normal(60) > 0).astype(int)


def hard(n=400, seed=0):
    """Overlapping classes at a high price, which take a long time."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, rng.random(n) < 0.5


# -- data ---------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("machine", [SVC, SVR])
def test_unscaled_columns_end_with_a_stated_gap(machine):
    X = [[1.0, 99999.0], [2.0, 99999.0]]
    model = machine(1.0, Polynomial(2)).fit(X, [0, 1])
    assert model.gap_ >= 0
    assert model.status_
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(50), 1e5 + rng.standard_normal(50)])
    model = machine(1.0, Polynomial(2), max_iter=10_000).fit(X, X[:, 0] > 0)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.gap_)


@pytest.mark.parametrize("machine", ALL)
def test_constant_columns_change_nothing(data, machine):
    X, y = data
    wide = np.column_stack([X, np.full(len(X), 7.0)])
    machine = clone(machine).set_params(kernel=Gaussian(1.0))
    first = clone(machine).fit(X, y)
    second = clone(machine).fit(wide, y)
    name = "decision_function" if hasattr(machine, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(first, name)(X), getattr(second, name)(wide), atol=1e-6)


@pytest.mark.parametrize("machine", ALL)
def test_nothing_but_constant_columns(machine):
    X, y = np.ones((10, 2)), np.arange(10) % 2
    machine = clone(machine).set_params(kernel=Gaussian(1.0))
    if isinstance(machine, NuSVC):
        with pytest.raises(InputError, match="margin vanishes"):
            machine.fit(X, y)
        return
    assert len(machine.fit(X, y).predict(X)) == 10


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_duplicated_points_with_opposite_labels(C):
    X = np.repeat([[0.0], [1.0], [2.0]], 2, axis=0)
    y = [0, 1, 0, 1, 0, 1]
    model = SVC(C, Gaussian(1.0)).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-3)
    with pytest.raises(InputError, match="separated"):
        SVC(np.inf, Gaussian(1.0)).fit(X, y)


@pytest.mark.parametrize("machine", CLASSIFIERS)
def test_one_class_is_an_error(machine):
    with pytest.raises(InputError, match=r"classes has to be greater than one.*got 1 class"):
        clone(machine).fit(np.eye(10), [1] * 10)
    with pytest.raises(InputError, match="positive weight"):
        clone(machine).fit(np.eye(4), [0, 0, 1, 1], sample_weight=[1, 1, 0, 0])
    with pytest.raises(ValueError, match="Unknown label type"):
        clone(machine).fit(np.eye(4), [0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize("C", [1e-12, 1e-6, 1e9, 1e12])
def test_tiny_and_huge_prices(data, C):
    X, y = data
    for model in (SVC(C), SVR(C)):
        model.fit(X, y)
        assert model.converged_, model.status_
        assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("nu", [1e-6, 1e-3, 0.999, 1.0])
def test_tiny_and_huge_shares(data, nu):
    X, y = data
    assert OneClassSVM(nu=nu).fit(X).converged_
    assert NuSVR(nu).fit(X, y).converged_
    even = np.arange(60) % 2
    if nu < 1e-5:
        return
    assert NuSVC(nu, Gaussian(0.5)).fit(X, even).converged_


def never(x, y):
    raise AssertionError("the kernel was called")


def test_an_infeasible_share_is_said_before_any_kernel_work():
    kernel = mercer.kernel(never)
    X, y = list(range(20)), [0] * 18 + [1] * 2
    with pytest.raises(ParameterError, match=r"infeasible.*0\.2"):
        NuSVC(0.3, kernel).fit(X, y)
    with pytest.raises(ParameterError, match="C"):
        EnclosingBall(kernel, C=0.01).fit(X)
    for nu in (0.0, 1.1, -1, np.nan, "a"):
        for machine in (NuSVC(nu, kernel), NuSVR(nu, kernel=kernel), OneClassSVM(kernel, nu=nu)):
            with pytest.raises(ParameterError, match="nu"):
                machine.fit(X, y)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_as_many_classes_as_rows(multiclass):
    X = np.arange(12.0)[:, None] ** 1.5
    model = SVC(10.0, Gaussian(1.0), multiclass=multiclass).fit(X, [f"c{i:02}" for i in range(12)])
    assert model.predict(X).tolist() == [f"c{i:02}" for i in range(12)]
    assert model.decision_function(X).shape == (12, 12)


@pytest.mark.parametrize("machine", ALL)
def test_empty_input_and_one_row(machine):
    for empty in (np.empty((0, 3)), sparse.csr_array((0, 3))):
        with pytest.raises(ValueError, match=r"0 sample|minimum of 1"):
            clone(machine).fit(empty, [])
    if machine in CLASSIFIERS:
        with pytest.raises(InputError, match="class"):
            clone(machine).fit([[1.0, 2.0]], [1])
        return
    model = clone(machine).set_params(kernel=Gaussian(1.0)).fit([[1.0, 2.0]], [3.0])
    expected = 3.0 if machine in REGRESSORS else 1
    assert model.predict([[1.0, 2.0]]) == pytest.approx(expected)


@pytest.mark.parametrize("machine", ALL)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none(data, machine, bad):
    X, y = data
    X = X.copy()
    X[7, 2] = bad
    for values in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match="row 7, column 2"):
            clone(machine).fit(values, y)
    fitted = clone(machine).fit(data[0], y)
    with pytest.raises(ValueError, match="row 7, column 2"):
        fitted.predict(X)


@pytest.mark.parametrize("machine", ALL)
def test_weights(data, machine):
    X, y = data
    with pytest.raises(InputError, match="sample_weight"):
        clone(machine).fit(X, y, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        clone(machine).fit(X, y, sample_weight=np.linspace(-1, 1, 60))
    weight = np.random.default_rng(1).integers(0, 3, 60)
    index = np.repeat(np.arange(60), weight)
    weighted = clone(machine).fit(X, y, sample_weight=weight)
    repeated = clone(machine).fit(X[index], y[index])
    name = "decision_function" if hasattr(machine, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(weighted, name)(X), getattr(repeated, name)(X), atol=1e-6)
    assert not np.isin(weighted.support_, np.flatnonzero(weight == 0)).any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("machine", [SVC(), SVR(), OneClassSVM(), EnclosingBall()])
@pytest.mark.parametrize("factor", [1e-150, 1e-30, 1e30, 1e100])
def test_enormous_and_tiny_features(data, machine, factor):
    """The width of "scale" follows the data, so that nothing changes but the unit."""
    X, y = data
    name = "decision_function" if hasattr(machine, "decision_function") else "predict"
    model, plain = clone(machine).fit(X * factor, y), clone(machine).fit(X, y)
    np.testing.assert_allclose(getattr(model, name)(X * factor), getattr(plain, name)(X), atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("machine", [SVC, SVR])
def test_numbers_that_single_precision_does_not_hold(data, machine):
    X, y = data
    large = (X * 1e15).astype(np.float32)
    try:
        model = machine(1.0, Polynomial(3), max_iter=1000).fit(large, y)
    except (InputError, ParameterError) as error:
        assert "overflow" in str(error)  # noqa: PT017 - it is said, or it works
    else:
        assert np.isfinite(model.predict(large)).all()


# -- precomputed matrices -----------------------------------------------------------------------
def test_asymmetric_matrices_are_refused_with_the_largest_asymmetry():
    K = np.random.default_rng(0).standard_normal((20, 20))
    for machine in (SVC(kernel=Precomputed()), SVR(kernel=Precomputed()), OneClassSVM(Precomputed())):
        with pytest.raises(InputError, match="symmetric"):
            machine.fit(K, np.arange(20) % 2)


def fit_unless_the_margin_vanishes(machine, K, y):
    try:
        machine.fit(K, y)
    except InputError as error:
        if "margin vanishes" not in str(error):
            raise


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("machine", ALL)
def test_indefinite_matrices(machine):
    A = np.random.default_rng(0).standard_normal((30, 30))
    K, y = A + A.T, np.arange(30) % 2
    least = f"{np.linalg.eigvalsh(K)[0]:.4g}"
    machine = clone(machine).set_params(kernel=Precomputed(), max_iter=100_000)
    with pytest.raises(DefinitenessError, match=f"least eigenvalue {least}"):
        clone(machine).set_params(indefinite="error").fit(K, y)
    for policy in ("clip", "flip", "shift"):
        model = clone(machine).set_params(indefinite=policy).fit(K, y)
        assert np.isfinite(model.dual_coef_).all()
    with pytest.raises(ParameterError, match="indefinite"):
        clone(machine).set_params(indefinite="ignore").fit(K, y)
    with pytest.warns(IndefiniteKernelWarning, match=f"least eigenvalue {least}"):
        fit_unless_the_margin_vanishes(clone(machine), K, y)


def test_precomputed_equals_direct(data):
    X, y = data
    K = Gaussian(1.0).block(X)
    for machine in ALL:
        direct = clone(machine).set_params(kernel=Gaussian(1.0)).fit(X, y)
        given = clone(machine).set_params(kernel=Precomputed()).fit(K, y)
        np.testing.assert_allclose(given.dual_coef_, direct.dual_coef_, atol=1e-6)
        if isinstance(machine, EnclosingBall):  # a distance needs k(x, x) of new points, too
            with pytest.raises(InputError, match="with themselves"):
                given.predict(K)
        else:
            np.testing.assert_allclose(given.predict(K), direct.predict(X), atol=1e-6)


# -- sparse data, any objects -------------------------------------------------------------------
def test_sparse_rows_unsorted_or_single_equal_dense_ones():
    rng = np.random.default_rng(2)
    dense = rng.standard_normal((80, 30)) * (rng.random((80, 30)) < 0.2)
    y = dense[:, :5].sum(axis=1) > 0
    csr = sparse.csr_matrix(dense)
    unsorted = csr.copy()
    for row in range(80):
        part = slice(*unsorted.indptr[row : row + 2])
        unsorted.indices[part] = unsorted.indices[part][::-1]
        unsorted.data[part] = unsorted.data[part][::-1]
    unsorted.has_sorted_indices = False
    expected = SVC(2.0, Gaussian(1.5)).fit(dense, y).decision_function(dense)
    for X in (csr, unsorted, csr.tocsc(), csr.tocoo(), sparse.csr_array(dense)):
        model = SVC(2.0, Gaussian(1.5)).fit(X, y)
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-8)
        assert sparse.issparse(model.support_vectors_)
    single = [float(model.decision_function(csr[i])[0]) for i in range(80)]
    np.testing.assert_array_equal(single, model.decision_function(csr))


def spelling(a, b):
    return 1.0 + len(set(a) & set(b))


CALLS = 0


def counted(a, b):
    global CALLS
    CALLS += 1
    return 1.0 + len(set(a) & set(b))


WORDS = ["aab", "abc", "bca", "xyz", "yzx", "zzy", "ab", "xz", "cab", "zyx"]
KIND = [0, 0, 0, 1, 1, 1, 0, 1, 0, 1]


def test_a_kernel_of_ones_own_on_strings_and_on_sets():
    kernel = mercer.kernel(spelling).assume("PSD", "an inner product of letter sets")
    assert SVC(10.0, kernel).fit(WORDS, KIND).predict(["bac", "yx"]).tolist() == [0, 1]
    sets = [set(word) for word in WORDS]
    assert SVC(10.0, SetIntersection()).fit(sets, KIND).predict([{"a"}, {"x", "q"}]).tolist() == [0, 1]
    assert OneClassSVM(kernel, nu=0.5).fit(WORDS).predict(["abxyz"]).shape == (1,)


def test_values_on_disk_are_used_again(tmp_path):
    global CALLS
    kernel = mercer.kernel(counted, version="1").assume("PSD", "an inner product of letter sets")
    first = SVC(10.0, kernel, store=tmp_path).fit(WORDS, KIND)
    assert CALLS > 0
    CALLS = 0
    second = SVC(1.0, kernel, store=tmp_path).fit(WORDS, KIND)
    SVR(1.0, kernel, store=tmp_path).fit(WORDS, KIND)
    assert CALLS == 0
    assert first.predict(WORDS).tolist() == second.predict(WORDS).tolist() == KIND


@pytest.mark.parametrize("machine", ALL)
def test_nothing_is_kept_of_the_training_data_but_support_vectors(machine):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 2))
    y = (X[:, 0] > 0).astype(int)
    machine = clone(machine).set_params(kernel=Gaussian(2.0))
    if hasattr(machine, "nu"):
        machine.set_params(nu=0.05)
    model = machine.fit(X, y)
    others = np.setdiff1d(np.arange(200), model.support_)
    assert len(others) > 20
    text = pickle.dumps(model)
    assert all(X[i].tobytes() not in text for i in others)
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_a_read_only_file_as_input(tmp_path, data):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for machine in ALL:
        expected = clone(machine).fit(X, y).predict(X)
        np.testing.assert_array_equal(clone(machine).fit(mapped, y).predict(mapped), expected)


# -- parameters ---------------------------------------------------------------------------------
def test_parameters_reach_into_the_kernel(data):
    X, y = data
    model = SVC(kernel=Gaussian(1.0))
    default = SVC().kernel
    model.set_params(kernel__sigma=3.0, C=2.0)
    assert model.kernel == Gaussian(3.0)
    assert SVC().kernel == default
    assert clone(model).get_params()["kernel"] == Gaussian(3.0)
    search = GridSearchCV(SVC(kernel=Gaussian(1.0)), {"C": [0.1, 10.0], "kernel__sigma": [0.5, 2.0]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.7
    pairwise = GridSearchCV(SVC(kernel=Precomputed()), {"C": [0.1, 10.0]}, cv=3)
    assert pairwise.fit(Gaussian(1.0).block(X), y).best_score_ > 0.7


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"C": 0}, "C"),
        ({"C": -1.0}, "C"),
        ({"C": np.nan}, "C"),
        ({"C": "1"}, "C"),
        ({"tol": 0}, "tol"),
        ({"max_iter": -2}, "max_iter"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"cache_size": 0}, "cache_size"),
        ({"kernel": "rbf"}, "kernel"),
        ({"multiclass": "both"}, "multiclass"),
        ({"class_weight": {7: 1.0}}, "class_weight"),
        ({"class_weight": "equal"}, "class_weight"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_named(data, parameters, name):
    with pytest.raises(ParameterError, match=f"`{name}`"):
        SVC(**parameters).fit(*data)


@pytest.mark.parametrize("machine", ALL)
def test_shrinking_is_accepted_and_changes_nothing(data, machine):
    X, y = data
    with_it, without = (clone(machine).set_params(shrinking=value).fit(X, y) for value in (True, False))
    np.testing.assert_array_equal(with_it.dual_coef_, without.dual_coef_)
    np.testing.assert_array_equal(with_it.predict(X), without.predict(X))
    np.testing.assert_array_equal(with_it.n_iter_, without.n_iter_)


def test_a_large_cache_is_honoured_and_not_more_is_taken(data):
    X, y = data
    for size in (4000, 3000.5, 1e6):
        model = SVC(cache_size=size).fit(X, y)
        assert model.solutions_[0].stats["cache_rows"] == 60
    X, y = hard(2500)
    model = SVC(cache_size=2, kernel=Gaussian(1.0)).fit(X, y)
    assert model.solutions_[0].stats["cache_rows"] == 200
    assert model.solutions_[0].stats["cache_misses"] > 0


# -- limits -------------------------------------------------------------------------------------
def test_the_limit_of_steps_ends_with_a_usable_model():
    X, y = hard()
    with pytest.warns(ConvergenceWarning, match="max_iter.*duality gap"):
        model = SVC(1e4, Gaussian(0.3), max_iter=50).fit(X, y)
    assert not model.converged_
    assert model.fit_status_ == 1
    assert model.n_iter_[0] <= 50
    assert model.gap_ > 0
    assert len(model.predict(X)) == 400


def endless(**limits):
    """A fit that goes on until it is stopped."""
    X, y = hard(3000)
    model = SVC(1e6, Gaussian(0.2), tol=1e-4, cache_size=1)
    with pytest.warns(ConvergenceWarning, match="usable"):
        model.fit(X, y, **limits)
    assert not model.converged_
    assert model.gap_ > 0
    assert np.isfinite(model.decision_function(X[:10])).all()
    return model, X, y


def test_a_time_budget():
    model, *_ = endless(time_budget=0.2)
    assert "time budget" in model.status_


def test_a_callback_stops_and_the_next_fit_resumes():
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) >= 3

    model, X, y = endless(callbacks=callback)
    assert "callback" in model.status_
    assert [p.iteration for p in seen] == sorted(p.iteration for p in seen)
    before = model.solutions_[0].stats["objective"]
    model.set_params(warm_start=True)
    seen.clear()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y, callbacks=callback)
    assert model.solutions_[0].stats["objective"] < before


def test_an_interrupt_from_a_callback_ends_with_a_usable_model():
    def callback(progress):
        raise KeyboardInterrupt

    model, *_ = endless(callbacks=[callback])
    assert "interrupted" in model.status_


def test_an_exception_of_a_callback_is_not_swallowed():
    def callback(progress):
        raise RuntimeError("mine")

    X, y = hard(3000)
    with pytest.raises(RuntimeError, match="mine"):
        SVC(1e6, Gaussian(0.2), cache_size=1).fit(X, y, callbacks=callback)
    for wrong in (3, [3], "a"):
        with pytest.raises(ParameterError, match="callbacks"):
            SVC().fit(X, y, callbacks=wrong)


# Without an interrupt these fits take minutes.  What is printed first says that steps are being taken.
INTERRUPTED = """
import threading, warnings, numpy as np
from mercer.machines import SVC
from mercer.kernels import Gaussian
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.standard_normal((3000, 2)), rng.integers(0, {classes}, 3000)
once = threading.Lock()
def tell(progress):
    if progress.iteration > 0 and once.acquire(blocking=False):
        print("at work", flush=True)
model = SVC(1e6, Gaussian(0.2), tol=1e-6, cache_size={cache}).fit(X, y, callbacks=tell)
print(model.status_.startswith("stopped because"), model.converged_, model.gap_ > 0)
print(len(model.predict(X[:5])))
"""


@pytest.mark.parametrize("classes", [2, 12])
def test_control_c_ends_with_a_usable_model(classes):
    code = INTERRUPTED.format(classes=classes, cache=1 if classes == 2 else 1000)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "at work\n"
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=300)
        assert out == "True False True\n5\n"


def steps(model):
    return int(np.sum(model.n_iter_))


@pytest.mark.parametrize(
    ("machine", "change"),
    [
        (SVC(1.0), {"C": 1.01}),
        (SVC(1.0, multiclass="ovr"), {"C": 1.01}),
        (SVC(1.0, fit_intercept=False), {"C": 1.01}),
        (NuSVC(0.4), {"nu": 0.401}),
        (NuSVC(0.4, multiclass="ovr"), {"nu": 0.399}),
        (SVR(1.0), {"C": 1.01}),
        (NuSVR(0.4), {"nu": 0.401}),
        (NuSVR(0.4), {"C": 1.01}),
    ],
    ids=str,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_warm_start_reaches_the_same_end_sooner(machine, change, classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(300), np.linspace(-0.5, 0.5, classes - 1))
    targets = y + 0.1 * X[:, 1] if isinstance(machine, SVR | NuSVR) else y
    warm = clone(machine).set_params(warm_start=True).fit(X, targets)
    again = steps(clone(machine).fit(X, targets)), steps(warm.fit(X, targets))
    assert again[1] < again[0] / 4
    cold = clone(machine).set_params(**change).fit(X, targets)
    warm.set_params(**change).fit(X, targets)
    assert steps(warm) < steps(cold)
    np.testing.assert_array_equal(warm.support_, cold.support_)
    np.testing.assert_allclose(warm.dual_coef_, cold.dual_coef_, atol=1e-6)
    np.testing.assert_allclose(warm.intercept_, cold.intercept_, atol=1e-6)


@pytest.mark.parametrize("machine", [SVC(), NuSVC(0.2), SVR(), NuSVR(), NuSVR(1.0)], ids=str)
def test_warm_start_with_other_data(data, machine):
    """The last solution is of other labels, weights or rows: a start, or none, but no constraint."""
    X, y = data
    model = clone(machine).set_params(warm_start=True).fit(X, y)
    weight = np.random.default_rng(1).integers(0, 3, 60)
    for points, labels, weights in (
        (X, 1 - y, None),
        (X, y, weight),
        (X, y[::-1], weight),
        (X[::-1], y[::-1], None),
        (X[:30], y[:30], None),
        (X, y, 1e-3 * weight),
    ):
        model.fit(points, labels, sample_weight=weights)
        cold = clone(machine).fit(points, labels, sample_weight=weights)
        np.testing.assert_allclose(model.dual_coef_, cold.dual_coef_, atol=1e-6)
        assert model.shape_fit_ == (len(points), 3)


# -- threads and memory -------------------------------------------------------------------------
def test_several_threads_fit_at_once(data):
    X, y = data
    expected = {id(m): clone(m).fit(X, y).predict(X) for m in ALL}
    failures = []

    def work(machine):
        for _ in range(5):
            if not np.array_equal(clone(machine).fit(X, y).predict(X), expected[id(machine)]):
                failures.append(machine)

    threads = [threading.Thread(target=work, args=(m,)) for m in ALL]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


MANY_FITS = """
import resource, numpy as np
from mercer.machines import SVC, SVR, OneClassSVM
rng = np.random.default_rng(0)
X = rng.standard_normal((100, 20)); y = rng.integers(0, 2, 100)
def fits(count):
    for i in range(count):
        SVC().fit(X, y); SVR().fit(X, y); OneClassSVM().fit(X)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
fits(50)
before = resident()
fits(350)
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_thousand_fits_leave_memory_flat():
    quiet = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", MANY_FITS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=quiet)
    assert int(done.stdout) < 20e6  # a Gram matrix of 100 points is 80 kB: 1,050 of them would be 84 MB
