"""Ridge regression on batches, against the fit on all rows at once."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from mercer import Batches
from mercer.engine import runs
from mercer.errors import InputError, ParameterError
from mercer.features import EmpiricalMap, Explicit, Nystrom, PolynomialMap, RandomFourier
from mercer.kernels import Gaussian, NGram, Precomputed
from mercer.machines import KernelRidge, streams
from mercer.machines.ridge import stream
from mercer.solvers import snapshot
from mercer.solvers.ridge import equations

K = Gaussian(1.5)


def data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 2 + 0.1 * rng.standard_normal(n)


def ridge(map, **options):
    return KernelRidge(alpha=0.1, approximation=map, tol=1e-10, random_state=0, **options)


def split(X, y, weight=None, sizes=(100, 7, 293, 200)):
    """Batches of several sizes."""
    ends = np.cumsum(sizes)[:-1]
    columns = [X, y] if weight is None else [X, y, weight]
    return list(zip(*(np.split(c, ends) for c in columns), strict=True))


# -- the same function as of all rows ---------------------------------------------------------------
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("map", [Nystrom(K, 40, random_state=0), RandomFourier(K, 60)], ids=repr)
def test_batches_give_the_function_of_all_rows(monkeypatch, map, intercept):
    monkeypatch.setattr(equations, "BAND", 2000)  # several bands in a batch
    X, y = data()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    weight[3] = 0.0
    Y = np.column_stack([y, y**2])
    fitted = clone(map).fit(X)
    model = ridge(fitted, fit_intercept=intercept).fit(Batches(split(X, Y, weight)))
    F = fitted.transform(X)
    P = np.column_stack([F, np.ones(len(F))]) if intercept else F
    D = np.diag([0.1] * F.shape[1] + [0.0] * intercept)
    expected = P @ np.linalg.solve(P.T @ (weight[:, None] * P) + D, P.T @ (weight[:, None] * Y))
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-7)
    assert model.n_samples_seen_ == 599
    assert model.solution_.converged
    assert "599 rows in 4 batch(es)" in model.solution_.status


def test_partial_fit_is_fit_on_all_batches():
    X, y = data()
    fitted = Nystrom(K, 40, random_state=0).fit(X)
    whole = ridge(fitted, fit_intercept=True).fit(Batches(split(X, y)))
    model = ridge(fitted, fit_intercept=True)
    for batch in split(X, y):
        model.partial_fit(*batch)
    np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-8)
    first = ridge(fitted, fit_intercept=True).fit(Batches.from_arrays(X[:400], y[:400], size=150))
    first = pickle.loads(pickle.dumps(first)).partial_fit(X[400:], y[400:])
    np.testing.assert_allclose(first.predict(X), whole.predict(X), atol=1e-8)
    assert first.n_samples_seen_ == 600


def test_a_stream_that_fits_into_its_sample_is_the_fit_of_arrays():
    X, y = data()
    map = Nystrom(Gaussian("median"), 40, random_state=0)
    found = ridge(map).fit(Batches(split(X, y)))
    expected = ridge(map).fit(X, y)
    assert found.kernel_ == expected.kernel_
    assert "the map fitted to 600 rows" in found.solution_.status
    sampled = ridge(map).fit(Batches(split(X, y), sample=50))
    assert "the map fitted to 50 rows" in sampled.solution_.status
    rows = np.sort(np.argsort(np.random.RandomState(0).random_sample(600))[:50])
    assert sampled.kernel_ == Gaussian("median").resolve(X[rows])
    assert found.approximation_error_ == expected.approximation_error_
    np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=1e-8)


@pytest.mark.parametrize("map", [PolynomialMap(2), EmpiricalMap(K)], ids=["explicit", "empirical"])
def test_any_map(map):
    X, y = data(80)
    found = ridge(map).fit(Batches.from_arrays(X, y, size=30)).predict(X)
    np.testing.assert_allclose(found, ridge(map).fit(X, y).predict(X), atol=1e-6)


def test_strings():
    words = ["banana", "bandana", "ananas", "cabana", "nab", "canna"]
    y = np.array([len(w) for w in words], dtype=float)
    batches = Batches.from_arrays(words, y, size=2)
    for map in (Nystrom(NGram(2), 6, random_state=0), Explicit(NGram(2))):
        found = ridge(map).fit(batches)
        np.testing.assert_allclose(found.predict(words), ridge(map).fit(words, y).predict(words), atol=1e-8)


def test_memory_does_not_grow_with_the_stream():
    def draw(count):
        rng = np.random.default_rng(0)
        for _ in range(count):
            X = rng.standard_normal((500, 2))
            yield X, X[:, 0]

    def peak(count):
        tracemalloc.start()
        try:
            ridge(RandomFourier(K, 20)).fit(Batches(lambda: draw(count), sample=500))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(5)  # what is loaded once
    assert peak(30) < 1.2 * peak(10)


# -- the sample -------------------------------------------------------------------------------------
def drawn(sizes, seed, count=50, n=600):
    X = np.arange(n, dtype=float)[:, None]
    model = ridge(Nystrom(K, 5))
    rows = streams.Stream(model, Batches(split(X, X[:, 0], sizes=sizes)), stream.validated)
    points, targets, total = streams.sampled(rows, count, np.random.RandomState(seed), K.domain)
    assert total == n
    np.testing.assert_array_equal(points, targets)
    return points[:, 0].astype(int)


def test_the_sample_does_not_depend_on_the_batches():
    one = drawn((600,), 0)
    np.testing.assert_array_equal(drawn((1, 5, 94, 300, 200), 0), one)
    assert len(set(one)) == 50
    assert (np.diff(one) > 0).all()


def test_the_sample_is_uniform():
    counts = sum(np.bincount(drawn((100, 500), seed), minlength=600) for seed in range(300))
    expected = 300 * 50 / 600
    statistic = ((counts - expected) ** 2 / (expected * (1 - 50 / 600))).sum()
    assert abs(statistic - 600) < 5 * np.sqrt(2 * 600)


# -- sources ----------------------------------------------------------------------------------------
def test_memory_maps_are_not_copied(tmp_path):
    X, y = data(1000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    batches = Batches.from_arrays(mapped, y, size=300)
    assert all(np.shares_memory(part, mapped) for part, _ in batches)
    map = Nystrom(K, 30, random_state=0)
    model = ridge(map).fit(batches)
    np.testing.assert_allclose(model.predict(X), ridge(map).fit(mapped, y).predict(X), atol=1e-8)
    kept = ridge(map)._validated(mapped, y, None, reset=True)[0]
    assert np.shares_memory(kept, mapped)


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X, y = data()
    names = [f"word{i % 7}" for i in range(600)]
    table = pa.table({"a": X[:, 0], "y": y, "b": X[:, 1], "w": np.ones(600), "name": names})
    parquet.write_table(table.slice(0, 250), tmp_path / "one.parquet")
    parquet.write_table(table.slice(250), tmp_path / "two.parquet")
    paths = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    batches = Batches.from_parquet(paths, target="y", columns=["a", "b"], weight="w", size=100)
    assert batches.total == len(list(batches)) == 7
    map = Nystrom(K, 30, random_state=0)
    expected = ridge(map).fit(X, y).predict(X)
    np.testing.assert_allclose(ridge(map).fit(batches).predict(X), expected, atol=1e-8)
    record_batches = table.drop_columns(["w", "name"]).to_batches(max_chunksize=64)
    arrow = ridge(map).fit(Batches.from_arrow(record_batches, target="y"))
    whole = next(iter(Batches.from_arrow(table, columns=["a", "b"], target="y")))  # a table as it is
    np.testing.assert_array_equal(whole[1], table.column("y").to_numpy())
    np.testing.assert_allclose(arrow.predict(X), expected, atol=1e-8)
    words, both = next(iter(Batches.from_arrow(table.to_batches(), columns="name", target=["y", "w"])))
    assert words == names
    assert both.shape == (600, 2)
    with pytest.raises(InputError, match="batch 0 has no column 'c'"):
        list(Batches.from_arrow(table.to_batches(), columns=["c"], target="y"))
    table = table.set_column(0, "a", pa.array([None, *X[1:, 0]]))
    with pytest.raises(InputError, match=r"batch 0 .* NaN in row 0, column 0"):
        ridge(map).fit(Batches.from_arrow(table.to_batches(), columns=["a", "b"], target="y"))


def test_parquet_files_are_not_held(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"x": np.random.default_rng(0).standard_normal(200_000), "y": np.zeros(200_000)})
    parquet.write_table(table, tmp_path / "large.parquet", row_group_size=5000)
    whole = table.nbytes
    del table
    before = pa.total_allocated_bytes()
    for X, _ in Batches.from_parquet(tmp_path / "large.parquet", target="y", size=5000):
        assert len(X) == 5000
        assert pa.total_allocated_bytes() - before < whole / 5


# -- interruptions ----------------------------------------------------------------------------------
class Stream:
    """Batches that raise at one of them, in the second pass."""

    def __init__(self, X, y, at, error=KeyboardInterrupt):
        self.batches, self.at, self.passes, self.error = split(X, y), at, 0, error

    def __iter__(self):
        self.passes += 1
        for number, batch in enumerate(self.batches):
            if self.passes == 2 and number == self.at:
                raise self.error
            yield batch


def test_ctrl_c_leaves_the_model_of_the_batches_so_far():
    X, y = data()
    map = Nystrom(K, 40, random_state=0)
    model = ridge(map)
    with pytest.warns(ConvergenceWarning, match="interrupted, after"), pytest.raises(KeyboardInterrupt):
        model.fit(Batches(Stream(X, y, 2)))
    assert model.n_samples_seen_ == 107
    F = model.approximation_.transform(X)
    theta = np.linalg.solve(F[:107].T @ F[:107] + 0.1 * np.eye(40), F[:107].T @ y[:107])
    np.testing.assert_allclose(model.predict(X), F @ theta, atol=1e-6)
    model.partial_fit(X[107:], y[107:])
    np.testing.assert_allclose(model.predict(X), ridge(map).fit(X, y).predict(X), atol=1e-8)


@pytest.mark.parametrize("at", [1, 3])
def test_a_checkpoint_holds_the_batches_so_far(monkeypatch, tmp_path, at):
    X, y = data()
    path = tmp_path / "stream.npz"
    model = ridge(Nystrom(K, 40, random_state=0), checkpoint=path)
    with pytest.warns(ConvergenceWarning), pytest.raises(KeyboardInterrupt):
        model.fit(Batches(Stream(X, y, at)))
    assert path.exists()
    added = []
    plus = equations.NormalEquations.plus
    monkeypatch.setattr(equations.NormalEquations, "plus", lambda e, *a: added.append(a) or plus(e, *a))
    again = clone(model).fit(Batches(split(X, y)))
    assert len(added) == 4 - at
    assert not path.exists()
    expected = ridge(Nystrom(K, 40, random_state=0)).fit(X, y).predict(X)
    np.testing.assert_allclose(again.predict(X), expected, atol=1e-8)


def test_a_checkpoint_is_written_on_the_way(monkeypatch, tmp_path):
    monkeypatch.setattr(snapshot, "SECONDS", 0.0)
    X, y = data()
    model = ridge(Nystrom(K, 40, random_state=0), checkpoint=tmp_path / "stream.npz")
    with pytest.raises(OSError, match="gone"):
        model.fit(Batches(Stream(X, y, 3, OSError("gone"))))
    with np.load(model.checkpoint) as file:
        assert file["value"][1:3].tolist() == [400, 3]  # rows and batches


def test_a_checkpoint_of_another_stream_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(snapshot, "SECONDS", 0.0)
    X, y = data()
    model = ridge(Nystrom(K, 40, random_state=0), checkpoint=tmp_path / "stream.npz")
    with pytest.warns(ConvergenceWarning), pytest.raises(KeyboardInterrupt):
        model.fit(Batches(Stream(X, y, 2)))
    with pytest.raises(InputError, match="another problem"):
        model.fit(Batches(split(X, y + 1)))


def test_a_callback_stops_between_batches(monkeypatch):
    monkeypatch.setattr(runs, "PAUSE", 0.0)
    X, y = data()
    model = ridge(RandomFourier(K, 20).fit(X))
    model.set_callbacks(lambda progress: progress.task == "normal equations" and progress.iteration >= 1)
    with pytest.warns(ConvergenceWarning, match="a callback asked to stop, after"):
        model.fit(Batches(split(X, y)))
    assert 100 <= model.n_samples_seen_ < 600
    assert not model.solution_.converged


# -- bad input --------------------------------------------------------------------------------------
def broken(number, change):
    X, y = data()
    batches = split(X, y)
    batches[number] = change(*(np.array(c) for c in batches[number]))
    return Batches(batches)


def put(array, row, value):
    array[row] = value
    return array


@pytest.mark.parametrize(
    ("batches", "match"),
    [
        (broken(2, lambda X, y: (put(X, (5, 1), np.nan), y)), "batch 2 .* NaN in row 5, column 1"),
        (broken(1, lambda X, y: (X, put(y, 4, np.inf))), "batch 1 .*`y` must be finite. Got inf in row 4"),
        (broken(1, lambda X, y: (X[:, :1], y)), "batch 1 .* 1 features, but KernelRidge is expecting 2"),
        (broken(3, lambda X, y: (X, y[:-1])), r"batch 3 .*same length.*\[200, 199\]"),
        (broken(3, lambda X, y: (X, np.column_stack([y, y]))), r"batch 3 has 2 target.* first batch 1"),
        (broken(0, lambda X, y: (X, None)), "batch 0 .*`y` must be given"),
        (broken(2, lambda X, y: X), "batch 2 must be \\(X, y\\) or .* Got a ndarray"),
        (broken(2, lambda X, y: (X,)), "batch 2 must be .* Got a tuple of 1"),
        (broken(2, lambda X, y: (X, y, -np.ones(len(y)))), "batch 2 .*`sample_weight`"),
        (broken(2, lambda X, y: (X, y, put(np.ones(len(y)), 6, np.nan))), "batch 2 .*weight.* row 6"),
        (Batches([]), "there must be at least one batch"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_fitted", [False, True])
def test_bad_batches_are_named(batches, match, is_fitted):
    map = RandomFourier(K, 20)
    with pytest.raises(InputError, match=match):
        ridge(map.fit(data()[0]) if is_fitted else map).fit(batches)


def test_iterators_are_refused():
    X, y = data()
    generator = (batch for batch in split(X, y))
    with pytest.raises(InputError, match="Got a generator, which can be read only once"):
        Batches(generator)
    with pytest.raises(InputError, match="must be an iterable of batches"):
        Batches(3)
    passes = iter([split(X, y), split(X, y)[:2]])
    with pytest.raises(InputError, match="first gave 600 of them, the second 107"):
        ridge(RandomFourier(K, 20)).fit(Batches(lambda: next(passes)))
    once = iter(split(X, y))
    with pytest.raises(InputError, match="stream is empty"):
        ridge(RandomFourier(K, 20)).fit(Batches(lambda: once))


@pytest.mark.parametrize("option", ["size", "sample"])
@pytest.mark.parametrize("value", [0, 1.5, True, None])
def test_counts(option, value):
    with pytest.raises(ParameterError, match=f"`{option}` must be an integer >= 1"):
        Batches.from_arrays(*data(), **{option: value})


def test_lengths_of_arrays():
    X, y = data()
    with pytest.raises(InputError, match=r"same length\. Got 600, 599"):
        Batches.from_arrays(X, y[1:])


def test_what_batches_need():
    X, y = data()
    batches = Batches(split(X, y))
    with pytest.raises(ParameterError, match="`approximation` must be a feature map to fit batches"):
        KernelRidge().fit(batches)
    with pytest.raises(InputError, match="must be in the batches"):
        ridge(RandomFourier(K, 20)).fit(batches, y)
    with pytest.raises(InputError, match="must have a kernel of points"):
        ridge(Nystrom(Precomputed(), 5)).fit(Batches.from_arrays(X @ X.T, y, size=100))
    assert not hasattr(KernelRidge(), "partial_fit")
    with pytest.raises(AttributeError) as caught:
        KernelRidge().partial_fit(X, y)
    assert "`approximation` must be a feature map" in str(caught.value.__cause__)


def test_partial_fit_refuses_what_it_cannot_continue():
    X, y = data()
    model = ridge(RandomFourier(K, 20)).fit(X, y)
    with pytest.raises(InputError, match="was fitted to arrays"):
        model.partial_fit(X, y)
    model = ridge(RandomFourier(K, 20)).partial_fit(X, y)
    with pytest.raises(InputError, match=r"must have 1 target\(s\), as before. Got 2"):
        model.partial_fit(X, np.column_stack([y, y]))
    with pytest.raises(InputError, match="expecting 2 features"):
        model.partial_fit(X[:, :1], y)
    with pytest.raises(InputError, match="`y` must be given"):
        model.partial_fit(X)
    assert model.n_samples_seen_ == 600
