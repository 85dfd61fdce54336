"""Kernels proposed for the columns of a frame."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mercer
from mercer import columns
from mercer.errors import InputError, ParameterError
from mercer.kernels import BagOfWords, Categorical, Gaussian, GlobalAlignment, Jaccard, Spectrum
from mercer.machines import KernelRidge

RNG = np.random.default_rng(0)
N = 30
TABLE = {
    "age": RNG.integers(18, 80, N),
    "income": np.where(RNG.random(N) < 0.2, np.nan, RNG.random(N)),
    "member": RNG.random(N) < 0.5,
    "city": RNG.choice(["Rome", "Oslo", "Bern"], N),
    "initials": [f"{chr(97 + i % 26)}{i}"[:2] for i in range(N)],
    "note": [" ".join(RNG.choice(["good", "bad", "late", "fast"], 4)) for _ in range(N)],
    "dna": ["".join(RNG.choice(list("ACGT"), 20)) for _ in range(N)],
    "when": pd.date_range("2020", periods=N),
    "constant": [1] * N,
    "nothing": [None] * N,
    "tags": [frozenset(RNG.choice(list("abc"), 2)) for _ in range(N)],
    "place": [RNG.random(2) for _ in range(N)],
    "pulse": [RNG.random(RNG.integers(4, 9)) for _ in range(N)],
    "grade": pd.Categorical(RNG.integers(0, 3, N)),
    "thing": [object() for _ in range(N)],
}
EXPECTED = {
    "age": Gaussian("scale"),
    "income": Gaussian("scale"),
    "member": Categorical(),
    "city": Categorical(),
    "initials": Categorical(),
    "note": BagOfWords().normalized(),
    "dna": Spectrum(3).normalized(),
    "tags": Jaccard(),
    "place": Gaussian("scale"),
    "pulse": GlobalAlignment("median"),
    "grade": Categorical(),
}


def test_each_type_of_column_gets_its_kernel() -> None:
    k = columns.from_frame(pd.DataFrame(TABLE), verbose=False)
    assert dict(zip(k.names, k.kernels, strict=True)) == EXPECTED
    assert k.missing == "own"


def test_the_printed_code_makes_the_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    k = columns.from_frame(pd.DataFrame(TABLE))
    code = capsys.readouterr().out
    names: dict[str, object] = {}
    exec(code, names)
    assert names["kernel"] == k
    left_out = [line.split("'")[1] for line in code.splitlines() if line.startswith("# left out")]
    assert left_out == ["when", "constant", "nothing", "thing"]


def test_machines_take_the_proposal() -> None:
    frame = pd.DataFrame(TABLE)
    y = frame["age"].to_numpy() / 80 + (frame["city"] == "Rome")
    model = KernelRidge(columns.from_frame(frame, combine="sum", verbose=False), alpha=0.01).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert model.kernel_.certificate.is_psd


def test_polars_mappings_and_records_agree() -> None:
    table = {
        "x": [1.0, 2.0, None, 4.0],
        "c": ["a", "b", "a", "b"],
        "d": [datetime.date(2020, 1, i + 1) for i in range(4)],
    }
    records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    proposals = {
        columns.from_frame(X, verbose=False)
        for X in (table, pl.DataFrame(table), pd.DataFrame(table), records)
    }
    assert proposals == {columns({"x": Gaussian("scale"), "c": Categorical()}, missing="own")}


def test_declared_categories_of_polars() -> None:
    frame = pl.DataFrame({"c": pl.Series([f"n{i}" for i in range(9)], dtype=pl.Categorical)})
    assert columns.from_frame(frame, verbose=False).kernels == (Categorical(),)


def test_excluded_columns_and_options() -> None:
    table = {"x": [1.0, 2.0], "y": [0, 1]}
    k = columns.from_frame(table, exclude=["y"], combine="product", missing="zero", verbose=False)
    assert k == columns({"x": Gaussian("scale")}, combine="product", missing="zero")


@pytest.mark.parametrize(
    ("frame", "options", "error", "message"),
    [
        (np.ones((3, 2)), {}, InputError, "frame must be a pandas or polars frame.*Got ndarray"),
        ({"a": [1, 2]}, {"exclude": "a"}, ParameterError, "`exclude` must be a list"),
        ({"a": [1, 2]}, {"exclude": ["b"]}, ParameterError, "`exclude` names 'b'. The columns are"),
        ({"a": [1, 1]}, {}, InputError, "no column that a kernel can be proposed for. 'a': a single value"),
        (pl.LazyFrame({"a": [1, 2]}), {}, InputError, "eager"),
        ({"a": [1, 2]}, {"missing": "drop"}, ParameterError, "missing"),
    ],
)
def test_bad_arguments_are_named(
    frame: object, options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        columns.from_frame(frame, **options)


def test_is_reachable_from_the_package() -> None:
    assert mercer.columns.from_frame is columns.from_frame
