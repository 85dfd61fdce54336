"""Inputs on which other libraries hang, crash, leak or answer wrongly."""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
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

from .svm_problems import hard

CLASSIFIERS = [SVC(), NuSVC(nu=0.2)]
REGRESSORS = [SVR(), NuSVR()]
DETECTORS = [OneClassSVM(), EnclosingBall()]
ALL = [*CLASSIFIERS, *REGRESSORS, *DETECTORS]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] + 0.3 * rng.standard_normal(60) > 0).astype(int)


# -- data ---------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("machine", ALL)
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_unscaled_columns_end_with_a_stated_gap(machine, degree):
    rng = np.random.default_rng(0)
    wild = np.column_stack([rng.standard_normal(50), 1e5 + rng.standard_normal(50)])
    for X in (np.array([[1.0, 99999.0], [2.0, 99999.0]]), wild):
        y = (X[:, 0] > X[:, 0].mean()).astype(int)
        model = clone(machine).set_params(kernel=Polynomial(degree), max_iter=10_000)
        try:
            model.fit(X, y)
        except InputError as error:  # NuSVC: compared with the points, the margin is of the size of rounding
            assert "margin vanishes" in str(error)  # noqa: PT017
            continue
        assert np.isfinite(model.predict(X)).all()
        assert 0 <= model.gap_ < np.inf
        assert model.converged_ or "the violation" in model.status_


def test_a_hard_margin_that_double_precision_does_not_see():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(50), 1e7 * rng.standard_normal(50)])
    with pytest.raises(InputError, match=r"double precision.*points of norm up to.*scale the data"):
        SVC(Polynomial(3), C=np.inf).fit(X, X[:, 0] > 0)
    assert SVC(Polynomial(3), C=np.inf).fit(X / [1.0, 1e7], X[:, 0] > 0).converged_


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


@pytest.mark.parametrize("points", [np.ones((6, 2)), np.random.default_rng(0).standard_normal((6, 2))])
def test_classes_of_the_same_points_have_no_margin(points):
    """The function is zero, or what rounding makes of that: both count as the same."""
    X, y = np.vstack([points, points[::-1]]), np.repeat([0, 1], 6)
    with pytest.raises(InputError, match="margin vanishes"):
        NuSVC(Gaussian(1.0), nu=1.0).fit(X, y)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
def test_duplicated_points_with_opposite_labels(C):
    X = np.repeat([[0.0], [1.0], [2.0]], 2, axis=0)
    y = [0, 1, 0, 1, 0, 1]
    model = SVC(Gaussian(1.0), C=C).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.decision_function(X), 0.0, atol=1e-3)
    with pytest.raises(InputError, match="separated"):
        SVC(Gaussian(1.0), C=np.inf).fit(X, y)


@pytest.mark.parametrize("machine", CLASSIFIERS)
def test_one_class_is_an_error(machine):
    with pytest.raises(InputError, match="Got one class only, 1"):
        clone(machine).fit(np.eye(10), [1] * 10)
    with pytest.raises(InputError, match="positive weight"):
        clone(machine).fit(np.eye(4), [0, 0, 1, 1], sample_weight=[1, 1, 0, 0])
    with pytest.raises(ValueError, match="Unknown label type"):
        clone(machine).fit(np.eye(4), [0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize("C", [1e-12, 1e-6, 1e9, 1e12])
def test_tiny_and_huge_prices(data, C):
    X, y = data
    for model in (SVC(C=C), SVR(C=C)):
        model.fit(X, y)
        assert model.converged_, model.status_
        assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("nu", [1e-6, 1e-3, 0.999, 1.0])
def test_tiny_and_huge_shares(data, nu):
    X, y = data
    assert OneClassSVM(nu=nu).fit(X).converged_
    assert NuSVR(nu=nu).fit(X, y).converged_
    even = np.arange(60) % 2
    if nu < 1e-5:
        return
    assert NuSVC(Gaussian(0.5), nu=nu).fit(X, even).converged_


def never(x, y):
    raise AssertionError("the kernel was called")


def test_an_infeasible_share_is_said_before_any_kernel_work():
    kernel = mercer.kernel(never)
    X, y = list(range(20)), [0] * 18 + [1] * 2
    with pytest.raises(ParameterError, match=r"infeasible.*0\.2"):
        NuSVC(kernel, nu=0.3).fit(X, y)
    with pytest.raises(ParameterError, match="C"):
        EnclosingBall(kernel, C=0.01).fit(X)
    for nu in (0.0, 1.1, -1, np.nan, "a"):
        for machine in (NuSVC(kernel, nu=nu), NuSVR(nu=nu, kernel=kernel), OneClassSVM(kernel, nu=nu)):
            with pytest.raises(ParameterError, match="nu"):
                machine.fit(X, y)


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
def test_as_many_classes_as_rows(multiclass):
    X = np.arange(12.0)[:, None] ** 1.5
    model = SVC(Gaussian(1.0), C=10.0, multiclass=multiclass).fit(X, [f"c{i:02}" for i in range(12)])
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
        model = machine(Polynomial(3), max_iter=1000).fit(large, y)
    except (InputError, ParameterError) as error:
        assert "overflow" in str(error)  # noqa: PT017 - it is said, or it works
    else:
        assert np.isfinite(model.predict(large)).all()


@pytest.mark.parametrize("machine", ALL)
def test_targets_and_weights_that_are_no_numbers(data, machine):
    X, y = data
    weight = np.ones(60)
    for bad in (np.nan, np.inf):
        weight[7] = bad
        with pytest.raises(ValueError, match=r"sample_weight contains (NaN|infinity)"):
            clone(machine).fit(X, y, sample_weight=weight)
        if machine not in DETECTORS:
            with pytest.raises(ValueError, match=r"y contains (NaN|infinity)"):
                clone(machine).fit(X, np.where(np.arange(60) == 7, bad, y))
    with pytest.raises(ValueError, match=r"sample_weight.*\(59,\)"):
        clone(machine).fit(X, y, sample_weight=np.ones(59))


@pytest.mark.parametrize("machine", [NuSVC(nu=0.2), NuSVR(), OneClassSVM()], ids=lambda m: type(m).__name__)
def test_weights_whose_squares_overflow(machine):
    X, y, kernel = list(range(20)), np.arange(20) % 2, mercer.kernel(never)
    with pytest.raises(InputError, match="`sample_weight` must be smaller"):
        clone(machine).set_params(kernel=kernel).fit(X, y, sample_weight=np.full(20, 1e200))


# -- precomputed matrices -----------------------------------------------------------------------
@pytest.mark.parametrize("machine", ALL)
def test_asymmetric_matrices_are_refused_with_the_largest_asymmetry(machine):
    K, y = np.random.default_rng(0).standard_normal((20, 20)), np.arange(20) % 2
    model = clone(machine).set_params(kernel=Precomputed())
    with pytest.raises(InputError, match=f"symmetric.*largest asymmetry is {np.abs(K - K.T).max():.6g}"):
        model.fit(K, y)
    K = K @ K.T
    K[3, 5] = K[5, 3] = np.nan
    with pytest.raises(InputError, match="row 3, column 5"):
        model.fit(K, y)


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
@pytest.mark.parametrize("machine", ALL)
def test_sparse_rows_unsorted_or_single_equal_dense_ones(machine):
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
    half = csr.tocoo()
    twice = sparse.coo_array(  # every entry as the sum of two
        (np.tile(half.data / 2, 2), (np.tile(half.row, 2), np.tile(half.col, 2))), shape=(80, 30)
    )
    machine = clone(machine).set_params(kernel=Gaussian(1.5))
    name = "decision_function" if hasattr(machine, "decision_function") else "predict"
    expected = getattr(clone(machine).fit(dense, y), name)(dense)
    for X in (csr, unsorted, twice, csr.tocsc(), csr.tocoo(), sparse.csr_array(dense)):
        model = clone(machine).fit(X, y)
        np.testing.assert_allclose(getattr(model, name)(X), expected, atol=1e-8)
        assert sparse.issparse(model.support_vectors_)
    single = [float(getattr(model, name)(csr[i])[0]) for i in range(80)]
    np.testing.assert_array_equal(single, getattr(model, name)(csr))


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
    assert SVC(kernel, C=10.0).fit(WORDS, KIND).predict(["bac", "yx"]).tolist() == [0, 1]
    sets = [set(word) for word in WORDS]
    assert SVC(SetIntersection(), C=10.0).fit(sets, KIND).predict([{"a"}, {"x", "q"}]).tolist() == [0, 1]
    assert OneClassSVM(kernel, nu=0.5).fit(WORDS).predict(["abxyz"]).shape == (1,)


def test_values_on_disk_are_used_again(tmp_path):
    global CALLS
    kernel = mercer.kernel(counted, version="1").assume("PSD", "an inner product of letter sets")
    first = SVC(kernel, C=10.0, store=tmp_path).fit(WORDS, KIND)
    assert CALLS > 0
    CALLS = 0
    second = SVC(kernel, C=1.0, store=tmp_path).fit(WORDS, KIND)
    SVR(kernel, C=1.0, store=tmp_path).fit(WORDS, KIND)
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
        ({"cache_size": np.nan}, "cache_size"),
        ({"kernel": "gauss"}, "kernel"),
        ({"multiclass": "both"}, "multiclass"),
        ({"class_weight": {7: 1.0}}, "class_weight"),
        ({"class_weight": "equal"}, "class_weight"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_named(data, parameters, name):
    with pytest.raises(ParameterError, match=f"`{name}`"):
        SVC(**parameters).fit(*data)


def test_a_large_cache_is_honoured_and_not_more_is_taken(data):
    X, y = data
    for machine in ALL:
        for size in (4000, 3000.5, 1e6, np.inf):
            model = clone(machine).set_params(cache_size=size).fit(X, y)
            variables = 120 if isinstance(machine, NuSVR) else 60  # NuSVR has two for each point
            assert model.solutions_[0].stats["cache_rows"] == variables
    X, y = hard(2500)
    model = SVC(cache_size=2, kernel=Gaussian(1.0)).fit(X, y)
    assert model.solutions_[0].stats["cache_rows"] == 200
    assert model.solutions_[0].stats["cache_misses"] > 0


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
from mercer.machines import SVC, SVR, EnclosingBall, NuSVC, NuSVR, OneClassSVM
rng = np.random.default_rng(0)
X = rng.standard_normal((100, 20)); y = rng.integers(0, 2, 100)
machines = [SVC(), SVR(), OneClassSVM(), NuSVC(nu=0.2), NuSVR(), EnclosingBall()]
def fits(count):
    for i in range(count):
        for machine in machines:
            machine.fit(X, y)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
fits(10)
before = resident()
fits(60)
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_many_fits_leave_memory_flat():
    quiet = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", MANY_FITS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=quiet)
    assert int(done.stdout) < 10e6  # a Gram matrix of 100 points is 80 kB: 360 of them would be 29 MB
