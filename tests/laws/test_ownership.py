"""What is fitted belongs to the model: changing the data afterwards changes no prediction, not by a bit."""

from __future__ import annotations

import collections
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.domains import Objects, Vectors, owned
from mercer.features import EmpiricalMap, Nystrom, RandomFourier
from mercer.kernels import Gaussian, Precomputed
from mercer.machines import SVC, KernelPCA, KernelPerceptron, KernelRidge, SmoothingSpline
from mercer.rkhs import RKHSFunction
from mercer.selection import KernelSearchCV

from .fitted_cases import CASES, KINDS, MACHINES, N, bell, predictions, targets


def overwrite(x: Any) -> None:
    """Change data in place, wherever they can be changed."""
    if isinstance(x, np.ndarray):
        if x.dtype == object:
            for item in x.ravel():
                overwrite(item)
            x[...] = None
        elif x.flags.writeable:
            x[...] = 7
    elif scipy.sparse.issparse(x):
        x.data[:], x.indices[:] = 7, 0
    elif isinstance(x, pd.DataFrame):
        for column in x:
            x.loc[:, column] = 7 if x[column].dtype.kind == "f" else "z"
    elif isinstance(x, dict):
        for value in x.values():
            overwrite(value)
        x.clear()
    elif isinstance(x, set):
        x.clear()
    elif isinstance(x, list | tuple):
        items = list(x)
        if isinstance(x, list):
            x.clear()
        for item in items:
            overwrite(item)


@pytest.mark.parametrize(("machine", "kind"), CASES)
def test_predictions_stay(machine: str, kind: str) -> None:
    make, what, methods = MACHINES[machine]
    (X, new), y = KINDS[kind].draw(), targets(what)
    model = make(KINDS[kind].kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X) if y is None else model.fit(X, y)
    expected = predictions(model, methods, new)
    overwrite(X)
    overwrite(y)
    for a, b in zip(predictions(model, methods, new), expected, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_gram_matrices_stay(kind: str) -> None:
    X, new = KINDS[kind].draw()
    K = mercer.gram(KINDS[kind].kernel, X)
    cross = K.cross(new)
    expected, rows = K.dense(), cross.dense()
    overwrite(X)
    overwrite(new)
    np.testing.assert_array_equal(K.dense(), expected)
    np.testing.assert_array_equal(cross.dense(), rows)


def test_both_sides_of_a_gram_matrix_stay() -> None:
    X, new = KINDS["sparse"].draw()
    K = mercer.gram(Gaussian(1.0), new, X)
    expected = K.dense()
    overwrite(X)
    overwrite(new)
    np.testing.assert_array_equal(K.dense(), expected)


def test_the_data_of_the_caller_stay_writeable() -> None:
    X, _ = KINDS["vectors"].draw()
    S, _ = KINDS["sparse"].draw()
    objects, _ = KINDS["objects"].draw()
    for kind, points in (("vectors", X), ("sparse", S), ("objects", objects)):
        mercer.gram(KINDS[kind].kernel, points)
        KernelRidge(KINDS[kind].kernel).fit(points, targets("numbers"))
    assert X.flags.writeable
    assert S.data.flags.writeable
    assert S.indices.flags.writeable
    assert objects[0]["v"].flags.writeable


@pytest.mark.parametrize("kind", ["vectors", "sparse", "objects"])
def test_functions_and_feature_maps_stay(kind: str) -> None:
    X, new = KINDS[kind].draw()
    coefficients = np.arange(float(N))
    f = RKHSFunction(KINDS[kind].kernel, X, coefficients)
    features = EmpiricalMap(KINDS[kind].kernel).fit(X)
    centred = KINDS[kind].kernel.centered(X)
    expected = f.values(new), features.transform(new), centred.block(new)
    overwrite(X)
    coefficients[:] = 0
    for a, b in zip((f.values(new), features.transform(new), centred.block(new)), expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_batches_stay() -> None:
    X, new = KINDS["objects"].draw()
    y = np.arange(len(X)) % 2
    first, second, third = X[:8], X[8:16], X[16:]
    again = KINDS["objects"].draw()[0]
    models = [KernelPerceptron(bell, random_state=0) for _ in range(2)]
    splits = (first, second, third), (again[:8], again[8:16], again[16:])
    for model, batches in zip(models, splits, strict=True):
        for part, at in zip(batches, (slice(0, 8), slice(8, 16), slice(16, 24)), strict=True):
            model.partial_fit(part, y[at], classes=[0, 1])
            if model is models[0]:
                overwrite(part)
    np.testing.assert_array_equal(models[0].decision_function(new), models[1].decision_function(new))


def test_targets_and_weights_stay() -> None:
    X, new = KINDS["vectors"].draw()
    y, weight = targets("numbers"), np.linspace(0.5, 1.0, len(X))
    model = KernelRidge(Gaussian(1.0)).fit(X, y, weight)
    expected = model.predict(new, return_std=True), model.loo_residuals()
    overwrite(y)
    overwrite(weight)
    np.testing.assert_array_equal(model.predict(new, return_std=True), expected[0])
    np.testing.assert_array_equal(model.loo_residuals(), expected[1])
    x, z = np.linspace(0, 1, 20), np.sin(np.linspace(0, 1, 20))
    spline = SmoothingSpline().fit(x, z)
    values = spline.predict(np.linspace(0, 1, 7))
    overwrite(x)
    overwrite(z)
    np.testing.assert_array_equal(spline.predict(np.linspace(0, 1, 7)), values)


# -- at most one copy ---------------------------------------------------------------------------
def test_converted_and_read_only_arrays_are_not_copied() -> None:
    X = np.zeros((5, 2))
    mine = owned(X, X)
    assert not np.shares_memory(mine, X)
    assert X.flags.writeable
    assert owned(mine, mine) is mine
    assert owned(mine[1:], mine) is not None
    assert np.shares_memory(owned(mine[1:3], mine), mine)  # a view of what nobody can write to
    whole = np.zeros((5, 2), dtype=int)
    converted = Vectors().validate(whole)
    assert owned(converted, whole) is converted
    view = X.view()
    view.flags.writeable = False  # its base can still be written to
    assert not np.shares_memory(owned(view, view), X)
    frame = pd.DataFrame(np.zeros((4, 2)))
    points = Vectors().validate(frame)
    assert not np.shares_memory(owned(points, frame), frame.to_numpy())


def test_a_matrix_that_is_read_only_is_referred_to() -> None:
    K = Gaussian(1.0).block(np.random.default_rng(0).standard_normal((30, 2)))
    K.flags.writeable = False
    model = KernelRidge(Precomputed()).fit(K, np.arange(30))
    assert np.shares_memory(model.gram_._X.matrix, K)


def test_fit_holds_one_copy() -> None:
    X = np.random.default_rng(0).standard_normal((60, 40_000))
    y = np.arange(60.0)
    KernelRidge(Gaussian(300.0)).fit(X[:, :2], y)
    tracemalloc.start()
    model = KernelRidge(Gaussian(300.0)).fit(X, y)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert model.gram_ is not None
    assert held < 1.2 * X.nbytes * COPIES


#: The points, and the points as the kernel prepares them.
COPIES = 2


def test_read_only_memory_maps_are_referred_to(tmp_path: Any) -> None:
    np.save(tmp_path / "X.npy", np.zeros((6, 2)))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(owned(Vectors().validate(X), X), X)


# -- objects ------------------------------------------------------------------------------------
class Plain:
    """An instance of a class of the user's own."""


def test_objects_are_copied_as_far_as_they_are_containers() -> None:
    Pair = collections.namedtuple("Pair", "a b")
    shared, thing = [1, 2], Plain()
    loop: list[Any] = []
    loop.append(loop)
    X = [
        {"v": np.zeros(2), "l": shared},
        shared,
        thing,
        Pair(np.zeros(1), thing),
        (np.array([[1], "a"], dtype=object),),
        collections.Counter("abca"),
        pd.DataFrame({"a": [1.0]}),
        scipy.sparse.csr_array(np.eye(2)),
        loop,
        "text",
    ]
    Y = owned(Objects().validate(X), X)
    assert Y[0]["l"] is Y[1]
    assert Y[1] is not shared
    assert Y[2] is thing  # whose equality a copy might not have
    assert type(Y[3]) is Pair
    assert Y[3].b is thing
    assert Y[8][0] is Y[8]
    overwrite(X)
    assert Y[0]["v"].tolist() == [0.0, 0.0]
    assert Y[1] == [1, 2]
    assert Y[3].a.tolist() == [0.0]
    assert Y[4][0].tolist() == [[1], "a"]
    assert Y[5] == {"a": 2, "b": 1, "c": 1}
    assert Y[6]["a"].tolist() == [1.0]
    assert Y[7].toarray().tolist() == [[1.0, 0.0], [0.0, 1.0]]


# -- frames and views of their memory -------------------------------------------------------------
def named(X: np.ndarray) -> dict[str, np.ndarray]:
    return {"a": X[:, 0].copy(), "b": X[:, 1].copy()}


def frozen(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


#: Rows in tables of every library, and in arrays that are views of other memory; some have one column only.
FRAMES: dict[str, Any] = {
    "pandas": lambda X: pd.DataFrame(named(X)),
    "pandas block": lambda X: pd.DataFrame(X.copy(), columns=["a", "b"]),
    "pandas nullable": lambda X: pd.DataFrame(named(X)).astype("Float64"),
    "pandas over Arrow": lambda X: pd.DataFrame(named(X)).astype("double[pyarrow]"),
    "pandas view": lambda X: pd.DataFrame(X.copy()).to_numpy(),
    "polars": lambda X: pl.DataFrame(named(X)),
    "polars of one column": lambda X: pl.DataFrame({"a": X[:, 0].copy()}),
    "polars over NumPy": lambda X: pl.DataFrame(X.copy()),
    "polars view": lambda X: pl.DataFrame(X.copy()).to_numpy(),
    "view of a polars column": lambda X: pl.Series(X[:, 0].copy()).to_numpy().reshape(-1, 1),
    "Arrow table": lambda X: pa.table(named(X)),
    "Arrow batch": lambda X: pa.record_batch(named(X)),
    "view of an Arrow array": lambda X: pa.array(X[:, 0].copy()).to_numpy().reshape(-1, 1),
    "view of Arrow chunks": lambda X: pa.chunked_array([X[:, 0].copy()]).to_numpy().reshape(-1, 1),
    "read-only": frozen,
    "bytes": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "bytearray": lambda X: np.frombuffer(memoryview(bytearray(X)).toreadonly()).reshape(X.shape),
    "read-only file": None,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_and_views(kind: str, tmp_path: Path) -> None:
    """Every way in gives what a plain array gives."""
    X = np.random.default_rng(3).standard_normal((24, 2))
    np.save(tmp_path / "rows.npy", X)
    make = FRAMES[kind]
    frame = np.load(tmp_path / "rows.npy", mmap_mode="r") if make is None else make(X)
    X = X[:, : np.shape(frame)[1]]
    y = X[:, 0] > 0
    models = [
        SVC(),
        KernelRidge(),
        KernelPCA(n_components=2),
        KernelSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2),
        Nystrom(Gaussian(1.0), 5, random_state=0),
        RandomFourier(Gaussian(1.0), 5, random_state=0),
        make_pipeline(StandardScaler(), SVC()).set_output(transform="polars"),
        make_pipeline(StandardScaler(), SVC()).set_output(transform="pandas"),
        make_pipeline(KernelPCA(n_components=2), SVC()).set_output(transform="polars"),
    ]
    for model in models:
        if hasattr(model, "steps") and kind == "Arrow batch":
            continue  # scikit-learn's own steps do not know its columns
        name = "transform" if not hasattr(model, "predict") else "predict"
        ours, plain = clone(model).fit(frame, y), clone(model).fit(X, y)
        np.testing.assert_array_equal(getattr(ours, name)(frame), getattr(plain, name)(X))
    if kind != "Arrow batch":
        np.testing.assert_array_equal(
            cross_val_score(SVC(), frame, y, cv=2), cross_val_score(SVC(), X, y, cv=2)
        )
    np.testing.assert_array_equal(mercer.gram(Gaussian(1.0), frame).dense(), Gaussian(1.0).block(X))
    np.testing.assert_array_equal(Gaussian(1.0).block(frame, frame), Gaussian(1.0).block(X))


@pytest.mark.parametrize(
    "column",
    [
        pd.Series,
        lambda y: pd.Series(y).astype("category"),
        lambda y: pd.Series(y).convert_dtypes(),
        lambda y: pd.Series(y).convert_dtypes(dtype_backend="pyarrow"),
        pl.Series,
        pa.array,
        lambda y: pa.chunked_array([y]),
        np.ma.array,
    ],
    ids=["pandas", "categories", "nullable", "arrow in pandas", "polars", "arrow", "chunks", "unmasked"],
)
def test_columns_of_targets(column: Any) -> None:
    X = np.random.default_rng(3).standard_normal((24, 2))
    for y in (np.arange(24) % 2, np.where(X[:, 0] > 0, "yes", "no")):
        for model in (SVC(), KernelSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=2)):
            expected = clone(model).fit(X, y).predict(X)
            np.testing.assert_array_equal(clone(model).fit(X, column(y)).predict(X), expected)
    y = np.arange(24.0)
    for model in (KernelRidge(), KernelSearchCV(KernelRidge(), {"alpha": [0.1, 1.0]}, cv=2)):
        expected = clone(model).fit(X, y).predict(X)
        np.testing.assert_array_equal(clone(model).fit(X, column(y)).predict(X), expected)


def test_memory_below_a_read_only_view_may_change() -> None:
    """Columns of Arrow and polars, and views of buffers, are read-only, and may lie over a writable array."""
    views = {
        "arrow": lambda x: pa.array(x).to_numpy(),
        "polars": lambda x: pl.Series(x).to_numpy(),
        "buffer": lambda x: np.frombuffer(memoryview(x).toreadonly()),
    }
    for view in views.values():
        x = np.arange(24.0)
        points = view(x).reshape(-1, 1)
        assert not points.flags.writeable
        model, K = KernelRidge().fit(points, np.sin(x)), mercer.gram(Gaussian(1.0), points)
        expected, values = model.predict([[0.5]]), K.dense()
        x[:] = 7
        np.testing.assert_array_equal(model.predict([[0.5]]), expected)
        np.testing.assert_array_equal(K.dense(), values)
