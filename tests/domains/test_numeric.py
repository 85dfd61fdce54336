"""What a conversion to an array of floats would hide is refused, in points, targets and weights."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mercer import columns, gram
from mercer.batches import Batches
from mercer.domains import Cloud, Images, check_numbers
from mercer.errors import InputError
from mercer.features import EmpiricalMap, Nystrom, RandomFourier
from mercer.kernels import (
    DTW,
    BagOfWords,
    Gaussian,
    GaussianJeffreys,
    Jaccard,
    MeanMap,
    Precomputed,
    Spectrum,
    WhiteNoise,
)
from mercer.machines import (
    SVC,
    SVR,
    Conformal,
    GaussianProcessRegressor,
    KernelLogistic,
    KernelPCA,
    KernelRidge,
    SmoothingSpline,
    ThinPlateSpline,
)
from mercer.rkhs import interpolant
from mercer.selection import KernelSearchCV, discover, learn_metric, rank_kernels, tune

N = 8
X = np.random.default_rng(0).standard_normal((N, 2))
LABELS = np.arange(N) % 2
NUMBERS = X[:, 0]
BELL = Gaussian(1.0)
DAYS = np.datetime64("2020-01-01", "ns") + np.arange(N).astype("m8[D]")
STAMPS = list(pd.to_datetime(DAYS))

#: What is refused as numbers in a column, and the words for it.
COLUMNS: dict[str, tuple[Any, str]] = {
    "masked": (np.ma.array(NUMBERS, mask=LABELS == 1), r"no masked entries\. Got 4 .*\.filled\(value\)"),
    "dates": (DAYS, "hold numbers. Got an array of type datetime64.* Map them to numbers"),
    "durations": (DAYS - DAYS[0], "hold numbers. Got an array of type timedelta64"),
    "list of dates": (list(DAYS), "hold numbers. Got a datetime64"),
    "list of durations": (list(DAYS - DAYS[0]), "hold numbers. Got a timedelta64"),
    "stamps": (STAMPS, "hold numbers. Got a Timestamp"),
    "days": ([s.date() for s in STAMPS], "hold numbers. Got a date"),
    "objects": (np.array(list(DAYS), dtype=object), "hold numbers. Got a datetime64"),
    "pandas dates": (pd.Series(DAYS), "hold numbers. Got an array of type datetime64"),
    "polars dates": (pl.Series(DAYS), "hold numbers. Got an array of type datetime64"),
    "polars days": (pl.Series([s.date() for s in STAMPS]), "hold numbers. Got an array of type datetime64"),
    "arrow dates": (pa.array(DAYS), "hold numbers. Got an array of type datetime64"),
    "complex": (NUMBERS * 1j, "real. Got complex numbers"),
    "list of complex": ([1j] * N, "real. Got complex numbers"),
    "complex objects": (np.array([1j] * N, dtype=object), "real. Got complex numbers"),
    "pandas complex": (pd.Series(NUMBERS * 1j), "real. Got complex numbers"),
    "lazy": (pl.LazyFrame({"a": NUMBERS}), r"an eager frame\. Got a lazy one; call \.collect\(\)"),
    "iterator": (iter([0.0, 1.0] * 4), "read again. Got a list_iterator, which can be read only once"),
}


def masked_rows() -> list[Any]:
    return list(np.ma.array(X, mask=X > 1))


#: The same for points.
TABLES: dict[str, tuple[Any, str]] = {
    "masked": (np.ma.array(X, mask=X > 1), r"no masked entries.*Drop these rows.*\.filled\(value\)"),
    "masked rows": (masked_rows(), "no masked entries"),
    "masked numbers": ([[1.0, np.ma.masked]] * N, "no masked entries"),
    "dates": (DAYS[:, None], "hold numbers. Got an array of type datetime64"),
    "rows of dates": ([[d] for d in DAYS], "hold numbers. Got a datetime64"),
    "rows of durations": ([[d] for d in DAYS - DAYS[0]], "hold numbers. Got a timedelta64"),
    "arrays of dates": ([np.array([d]) for d in DAYS], "hold numbers. Got an array of type datetime64"),
    "stamps": ([[s, 1.0] for s in STAMPS], "hold numbers. Got a Timestamp"),
    "times": ([[datetime.time(3)]] * N, "hold numbers. Got a time"),
    "objects": (np.array([[d, 1.0] for d in DAYS], dtype=object), "hold numbers. Got a datetime64"),
    "pandas dates": (pd.DataFrame({"a": NUMBERS, "when": DAYS}), "Got dates in column 'when'"),
    "polars dates": (pl.DataFrame({"a": NUMBERS, "when": DAYS}), "Got dates in column 'when'"),
    "arrow dates": (pa.table({"a": NUMBERS, "when": DAYS}), "Got dates in column 'when'"),
    "complex": (X * 1j, "real. Got complex numbers"),
    "complex rows": ((X * 1j).tolist(), "real. Got complex numbers"),
    "complex objects": ((X * 1j).astype(object), "real. Got complex numbers"),
    "complex frame": (pd.DataFrame({"a": NUMBERS, "b": NUMBERS * 1j}), r"\['b'\] must be real"),
    "complex objects in a frame": (pd.DataFrame((X * 1j).astype(object)), "must be real"),
    "pandas columns": (pd.DataFrame(X, columns=["a", "a"]), "different names. Got several of 'a'"),
    "arrow columns": (pa.Table.from_arrays([pa.array(NUMBERS)] * 2, ["a", "a"]), "Got several of 'a'"),
    "lazy": (pl.LazyFrame({"a": NUMBERS}), r"an eager frame\. Got a lazy one; call \.collect\(\)"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_points(kind: str) -> None:
    given, words = TABLES[kind]
    for machine in (SVC(), KernelRidge(), KernelPCA(n_components=1), SVC(Precomputed())):
        with pytest.raises(InputError, match=f"{type(machine).__name__}: `X`.*{words}"):
            machine.fit(given, LABELS)
    with pytest.raises(InputError, match=words):
        KernelRidge().fit(X, NUMBERS).predict(given)
    for use in (
        BELL.block,
        BELL.diagonal,
        lambda G: BELL.block(X, G),
        lambda G: gram(BELL, G),
        Precomputed().block,
        lambda G: RandomFourier(BELL, 3).fit(G),
        lambda G: Nystrom(BELL, 3).fit_transform(G),
        lambda G: KernelSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(G, LABELS),
        lambda G: tune(KernelRidge(BELL), G, NUMBERS, criterion="loo"),
        lambda G: ThinPlateSpline().fit(G, NUMBERS),
    ):
        with pytest.raises(InputError, match=words):
            use(given)


@pytest.mark.parametrize("kind", COLUMNS)
def test_targets_and_weights(kind: str) -> None:
    given, words = COLUMNS[kind]
    for machine in (SVC(), SVR(), KernelRidge(), KernelLogistic(), GaussianProcessRegressor(BELL)):
        with pytest.raises(InputError, match=f"{type(machine).__name__}: `y` must .*{words}"):
            machine.fit(X, given)
    for weighted in (SVC(), KernelRidge()):
        name = type(weighted).__name__
        with pytest.raises(InputError, match=f"{name}: `sample_weight` must .*{words}"):
            weighted.fit(X, LABELS, sample_weight=given)
    for use in (
        lambda y: KernelSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, y),
        lambda y: KernelSearchCV(KernelRidge(), {"alpha": [1.0]}, cv=2).fit(X, y),
        lambda y: KernelSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, LABELS, y),
        lambda y: Conformal(KernelRidge()).fit(X, y),
        lambda y: SmoothingSpline().fit(np.arange(N), y),
        lambda y: SmoothingSpline().fit(y, NUMBERS),
        lambda y: tune(KernelRidge(BELL), X, y, criterion="loo"),
        lambda y: discover(X, y),
        lambda y: learn_metric(X, y),
        lambda y: rank_kernels([BELL], X, y),
        lambda y: gram(BELL, X).alignment(y),
        lambda y: interpolant(BELL, X, y),
        lambda y: Batches.from_arrays(X, y),
        lambda y: Gaussian("median").resolve(X, y),
    ):
        with pytest.raises(InputError, match=words):
            use(given)


def test_other_points_with_numbers() -> None:
    masked = np.ma.array(X, mask=X.min() < X)
    for use in (
        lambda: MeanMap(BELL).block([X, masked]),
        lambda: MeanMap(BELL).block([Cloud(X, np.ma.array(LABELS, mask=LABELS == 0))]),
        lambda: (BELL + WhiteNoise(0.1)).block(masked),
        lambda: GaussianJeffreys()((masked[0], np.eye(2)), (masked[1], np.eye(2))),
        lambda: Images().validate([np.ma.array(np.eye(4), mask=np.eye(4) == 1)]),
        lambda: Images().validate(np.ma.array(np.ones((2, 4, 4)), mask=np.ones((2, 4, 4)) == 1)),
        lambda: Jaccard().block([np.ma.array([1, 2], mask=[0, 1]), [1]]),
        lambda: Spectrum(1).block(np.ma.array(["a", "b"], mask=[0, 1])),
        lambda: Spectrum(1).block([np.ma.array([1, 2], mask=[0, 1])]),
        lambda: BagOfWords().block([np.ma.array(["a", "b"], mask=[0, 1])]),
        lambda: BELL(X[0], masked[X[:, 0] > 1][0]),
        lambda: BELL(X[0], [np.ma.masked, 0.0]),
    ):
        with pytest.raises(InputError, match="masked"):
            use()
    with pytest.raises(InputError, match="must be real"):
        MeanMap(BELL).block([Cloud(X, LABELS * 1j)])
    with pytest.raises(InputError, match="Got a datetime64"):
        DTW().block([np.array(list(DAYS), dtype=object)])
    with pytest.raises(InputError, match=r"lazy one; call \.collect\(\)"):
        DTW().block(pl.LazyFrame({"a": NUMBERS}))
    with pytest.raises(InputError, match=r"Got several of 'a'"):
        columns({"a": BELL}).block(pd.DataFrame(X, columns=["a", "a"]))
    with pytest.raises(InputError, match="Got a missing one in row 1"):
        columns({"a": BELL}, missing="error").block({"a": np.ma.array([1.0, 2.0], mask=[0, 1])})


def test_columns_of_batches() -> None:
    with pytest.raises(InputError, match="column 'when' of batch 0 must hold numbers"):
        list(Batches.from_arrow(pa.table({"a": NUMBERS, "when": DAYS, "y": NUMBERS}), target="y"))
    twice = pa.Table.from_arrays([pa.array(NUMBERS)] * 3, ["a", "a", "y"])
    with pytest.raises(InputError, match="batch 0 must have columns of different names"):
        list(Batches.from_arrow(twice, target="y"))


def test_what_hides_nothing_passes() -> None:
    model = SVC().fit(X, LABELS)
    unmasked = np.ma.array(X, mask=np.zeros_like(X, dtype=bool))
    for points in (unmasked, list(unmasked), np.ma.array(X)):
        np.testing.assert_array_equal(
            SVC().fit(points, np.ma.array(LABELS)).decision_function(X), model.decision_function(X)
        )
    for given in (None, 1.0, "word", ["a", 1], [[1.0, None]], [], {"a": 1}, np.array(["a"]), [True, 2]):
        check_numbers(given, "X")


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (BELL, X),
        (Gaussian("median"), X),
        (Spectrum(2), ["abab", "baba", "aabb", "abba"] * 2),
        (Jaccard(), [{1, 2}, {2}, {1}, {3}] * 2),
        (DTW(), [[1.0, 2.0], [2.0, 3.0], [1.0], [0.0]] * 2),
    ],
)
def test_iterators_are_read_once_or_refused(kernel: Any, points: Any) -> None:
    """Whoever reads them a second time finds no points."""
    refused = "`X` must be data that can be read again. Got a list_iterator"
    for use in (
        lambda P: SVC(kernel, indefinite="clip").fit(P, LABELS),
        lambda P: SVC(kernel, indefinite="clip").fit(points, LABELS).predict(P),
        lambda P: KernelPCA(kernel).fit_transform(P),
        lambda P: KernelSearchCV(SVC(kernel), {"C": [1.0]}, cv=2).fit(P, LABELS),
        lambda P: rank_kernels([kernel, kernel], P, LABELS),
        lambda P: discover(P, NUMBERS, kernels=[kernel]),
        lambda P: Conformal(KernelRidge(kernel), method="split").fit(P, NUMBERS),
        lambda P: Batches.from_arrays(P, LABELS),
        lambda P: EmpiricalMap(kernel).fit_transform(P),
    ):
        with pytest.raises(InputError, match=refused):
            use(iter(list(points)))
    if kernel.domain != BELL.domain:
        np.testing.assert_array_equal(
            Nystrom(kernel, 3, random_state=0).fit_transform(iter(points)),
            Nystrom(kernel, 3, random_state=0).fit_transform(points),
        )
        np.testing.assert_array_equal(gram(kernel, iter(points)).dense(), gram(kernel, points).dense())
