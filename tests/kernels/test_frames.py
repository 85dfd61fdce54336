"""Kernels on columns: pandas, polars, mappings and records alike; what missing values mean."""

import math
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer import Kernel
from mercer.certificate import Verdict
from mercer.errors import InputError, ParameterError
from mercer.kernels import Gaussian, Laplacian, Linear, PowerDistance
from mercer.kernels.frames import Columns, columns
from mercer.kernels.histograms import ChiSquare, TotalVariation
from mercer.kernels.sets import Jaccard, SetIntersection

ROUNDING = 1e-14

DATA: dict[str, list[Any]] = {
    "age": [30.0, None, 50.0, 20.0, None],
    "x": [1.0, 2.0, math.nan, 0.0, 1.0],
    "y": [0.0, 1.0, 1.0, 1.0, 2.0],
    "n": [1, 2, 3, 4, 5],
    "tags": [["a", "b"], ["b"], None, [], None],
}
FORMS = {
    "mapping": DATA,
    "records": [dict(zip(DATA, row, strict=True)) for row in zip(*DATA.values(), strict=True)],
    "pandas": pd.DataFrame(DATA, index=[7, 7, 0, 1, 2]),
    "polars": pl.DataFrame(DATA, strict=False),
}
KERNELS = {"age": Gaussian(10.0), ("x", "y"): Linear(), "tags": Jaccard()}


def component(name: str, missing: str) -> np.ndarray:
    """Gram matrix of one component, by hand."""
    K = np.zeros((5, 5))
    for i in range(5):
        for j in range(5):
            if name == "age":
                a, b = DATA["age"][i], DATA["age"][j]
                there = (a is not None, b is not None)
                value = math.exp(-((a - b) ** 2) / 200) if all(there) else 0.0
            elif name == "xy":
                a, b = (DATA["x"][i], DATA["y"][i]), (DATA["x"][j], DATA["y"][j])
                there = (not math.isnan(a[0]), not math.isnan(b[0]))
                value = a[0] * b[0] + a[1] * b[1] if all(there) else 0.0
            else:
                a, b = DATA["tags"][i], DATA["tags"][j]
                there = (a is not None, b is not None)
                union = set(a or []) | set(b or [])
                value = (
                    (len(set(a or []) & set(b or [])) / len(union) if union else 1.0) if all(there) else 0.0
                )
            K[i, j] = 1.0 if missing == "own" and not any(there) else value
    return K


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", ["zero", "own"])
@pytest.mark.parametrize("combine", ["sum", "product"])
def test_every_form_of_table_against_a_hand_made_gram(form: str, missing: str, combine: str) -> None:
    parts = [component(name, missing) for name in ("age", "xy", "tags")]
    want = sum(parts) if combine == "sum" else parts[0] * parts[1] * parts[2]
    k = columns(KERNELS, combine=combine, missing=missing)
    np.testing.assert_allclose(k.block(FORMS[form]), want, atol=ROUNDING)
    np.testing.assert_allclose(k.diagonal(FORMS[form]), want.diagonal(), atol=ROUNDING)
    records = FORMS["records"]
    np.testing.assert_allclose([[k(a, b) for b in records] for a in records], want, atol=ROUNDING)
    np.testing.assert_allclose(k.block(FORMS[form], records[:2]), want[:, :2], atol=ROUNDING)
    assert np.linalg.eigvalsh(want)[0] > -1e-12
    assert k.certificate.is_psd


def test_a_missing_value_that_matches_everything_would_not_be_psd() -> None:
    # the reason given in the docstring
    assert round(np.linalg.det([[1, 1, 0], [1, 1, 1], [0, 1, 1]])) == -1


def test_expressions_of_columns_kernels_share_a_frame() -> None:
    X = FORMS["pandas"]
    age, xy, tags = (component(name, "zero") for name in ("age", "xy", "tags"))
    k = columns(age=KERNELS["age"]) * columns(tags=Jaccard()) + 2 * columns({("x", "y"): Linear()})
    np.testing.assert_allclose(k.block(X), age * tags + 2 * xy, atol=ROUNDING)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_go_by_name_and_rows_by_position(make: Any) -> None:
    a, b = [3.0, 1.0, 2.0], [0.0, 1.0, 0.0]
    X, Y = make({"a": a, "b": b}), make({"b": b, "junk": ["p", "q", "r"], "a": a})
    k = columns({("a", "b"): Linear()})
    np.testing.assert_array_equal(k.block(X), k.block(Y))
    np.testing.assert_array_equal(k.block(X), np.outer(a, a) + np.outer(b, b))


def test_nullable_integer_boolean_category_and_single_precision_columns() -> None:
    X = pd.DataFrame(
        {
            "i": pd.array([1, None, 3], dtype="Int64"),
            "b": [True, False, True],
            "c": pd.Categorical(["u", "v", None]),
            "f": np.array([1.0, 2.0, 4.0], dtype=np.float32),
        }
    )
    np.testing.assert_array_equal(columns(i=Linear()).block(X), [[1, 0, 3], [0, 0, 0], [3, 0, 9]])
    np.testing.assert_array_equal(columns(b=Linear()).block(X), [[1, 0, 1], [0, 0, 0], [1, 0, 1]])
    same = SetIntersection().on(lambda c: {c})
    np.testing.assert_array_equal(columns(c=same, missing="own").block(X), np.eye(3))
    assert columns(f=Gaussian(1.0)).block(X).dtype == np.float32
    p = pl.DataFrame({"i": [1, None, 3], "s": ["u", None, "u"]})
    np.testing.assert_array_equal(columns(i=Linear()).block(p), [[1, 0, 3], [0, 0, 0], [3, 0, 9]])
    np.testing.assert_array_equal(columns(s=same).block(p), [[1, 0, 1], [0, 0, 0], [1, 0, 1]])


def test_a_column_of_vectors() -> None:
    X = pd.DataFrame({"v": [np.array([1.0, 2.0]), None, np.array([0.0, 1.0])]})
    np.testing.assert_array_equal(columns(v=Linear()).block(X), [[5, 0, 2], [0, 0, 0], [2, 0, 1]])


# -- certificates -------------------------------------------------------------------------------
def test_verdicts() -> None:
    strict = {"age": Gaussian(1.0), "tags": Jaccard()}
    assert columns(strict).certificate.verdict is Verdict.PSD
    assert columns(strict, combine="product").certificate.verdict is Verdict.PSD  # missing values vanish
    for missing in ("own", "error"):
        assert columns(strict, combine="product", missing=missing).certificate.verdict is Verdict.STRICT
        assert columns(strict, combine="sum", missing=missing).certificate.verdict is Verdict.PSD
        assert columns(age=Gaussian(1.0), missing=missing).certificate.verdict is Verdict.STRICT
    assert columns(x=Linear(), y=ChiSquare()).certificate.verdict is Verdict.UNKNOWN
    nds = {"x": TotalVariation(), "y": ChiSquare()}
    assert columns(nds, missing="error").certificate.verdict is Verdict.NDS
    assert columns(nds, missing="error", combine="product").certificate.verdict is Verdict.UNKNOWN
    assert columns(nds, missing="zero").certificate.verdict is Verdict.UNKNOWN
    premises = columns(strict).certificate.premises
    assert [p.subject for p in premises] == [repr(k) for k in strict.values()]


def test_a_sum_over_columns_is_singular_on_a_rectangle() -> None:
    X = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    K = columns(a=Gaussian(1.0), b=Gaussian(1.0), missing="error").block(X)
    assert np.array([1, -1, -1, 1]) @ K @ [1, -1, -1, 1] == pytest.approx(0.0, abs=1e-15)
    K = columns(a=Gaussian(1.0), b=Gaussian(1.0), missing="error", combine="product").block(X)
    assert np.linalg.eigvalsh(K)[0] > 0.1


# -- parameters ---------------------------------------------------------------------------------
def test_nested_parameters_have_the_names_of_columns() -> None:
    k = columns(
        {"age": Gaussian(10.0), ("x", "y"): Gaussian(2.0), "a__b": Gaussian(3.0), "missing": Gaussian(4.0)}
    )
    assert set(k.parameters) == {"age__sigma", "x_y__sigma", "kernel2__sigma", "kernel3__sigma"}
    moved = k.replace(age__sigma=1.0, x_y=Linear(), missing="own")
    assert moved.kernels[:2] == (Gaussian(1.0), Linear())
    assert moved.missing == "own"
    assert k.kernels[0] == Gaussian(10.0)
    with pytest.raises(ParameterError, match="no parameter `height__sigma`"):
        k.replace(height__sigma=1.0)


def test_rules_are_resolved_from_the_rows_that_have_the_column() -> None:
    k = columns(age=Gaussian("median"), n=Linear())
    assert not k.is_resolved
    resolved = k.resolve(FORMS["polars"])
    assert resolved.kernels[0] == Gaussian("median").resolve([[30.0], [50.0], [20.0]])
    weighted = k.resolve(DATA, sample_weight=[1.0, 5.0, 0.0, 1.0, 9.0])
    assert weighted.kernels[0] == Gaussian(10.0)


def test_repr_evaluates_and_kernels_compare() -> None:
    k = columns(KERNELS, combine="product", missing="own")
    assert eval(repr(k)) == k
    assert repr(k).startswith("columns({'age': Gaussian(sigma=10.0), ('x', 'y'): Linear()")
    assert isinstance(k, Columns)
    assert columns(age=Gaussian(10.0)) == columns({"age": Gaussian(10.0)})


# -- errors -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kernel", "table", "message"),
    [
        (columns(age=Linear(), missing="error"), DATA, "column 'age'. Got a missing one in row 1"),
        (columns({("n", "x"): Linear()}, missing="error"), DATA, "column 'x'. Got a missing one in row 2"),
        (columns(height=Linear()), FORMS["pandas"], "X must have the column 'height'. It has 'age', 'x'"),
        (columns(height=Linear()), FORMS["records"], r"X\[0\] must have the column 'height'"),
        (columns(tags=Linear()), FORMS["polars"], "column 'tags' must hold numbers"),
        (columns(a=Linear()), {"a": ["u", "v"]}, "column 'a' must hold numbers.*Got values of type str"),
        (columns(a=Linear()), {"a": [None, 1.0, math.inf]}, "infinity in row 2, column 'a'"),
        (columns(a=ChiSquare()), {"a": [None, 1.0, -2.0]}, "Got -2.0 in row 2, column 'a'"),
        (columns(a=Jaccard()), {"a": [None, {1}, "abc"]}, r"X\['a'\]\[2\] must be a set"),
        (columns(a=Linear(), b=Linear()), {"a": [1], "b": [1, 2]}, "columns of equal length"),
        (columns(a=Linear()), np.eye(3), "pandas or polars frame"),
        (columns(a=Linear()), 7, "Got int"),
        (columns(a=Linear()), pl.LazyFrame({"a": [1]}), "collect"),
    ],
)
def test_errors_name_column_and_row(kernel: Any, table: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        kernel.block(table)


def test_wrong_arguments_of_columns() -> None:
    with pytest.raises(ParameterError, match="at least one column"):
        columns({})
    with pytest.raises(ParameterError, match=r"column 'a' must have a kernel. Got 3"):
        columns({"a": 3})
    with pytest.raises(ParameterError, match=r"a name or a tuple of names. Got 5"):
        columns({5: Linear()})
    with pytest.raises(ParameterError, match="given twice"):
        columns({"a": Linear()}, a=Linear())
    with pytest.raises(ParameterError, match=r"`missing` must be one of 'zero', 'own', 'error'. Got 'drop'"):
        columns(a=Linear(), missing="drop")
    with pytest.raises(ParameterError, match="`combine` must be one of"):
        columns(a=Linear(), combine="mean")


def test_dimensions_of_two_frames_must_agree() -> None:
    k = columns(v=Linear())
    with pytest.raises(InputError, match="same number of columns"):
        k.block({"v": [[1.0, 2.0]]}, {"v": [[1.0]]})


def test_rows_without_any_value_and_no_rows() -> None:
    k = columns(age=Gaussian(1.0), missing="own")
    np.testing.assert_array_equal(k.block({"age": [None, None]}), np.ones((2, 2)))
    np.testing.assert_array_equal(columns(age=Gaussian(1.0)).block({"age": [None]}), [[0.0]])
    assert k.block({"age": []}).shape == (0, 0)
    assert k.block(pd.DataFrame({"age": []}), {"age": [1.0]}).shape == (0, 1)


def test_one_pair_takes_records_series_and_one_row_frames() -> None:
    X, k = FORMS["pandas"], columns({"age": Gaussian(10.0), "n": Linear()})
    want = k.block(X)[0, 2]
    assert k(X.iloc[0], X.iloc[2]) == want
    assert k(X.iloc[:1], X.iloc[2:3]) == want
    assert k(FORMS["polars"].row(0, named=True), FORMS["records"][2]) == want
    with pytest.raises(InputError, match=r"x must be one row. Got a frame of 5 rows"):
        k(X, X)


# -- what missing values leave of a claim ---------------------------------------------------------
PARTLY = [
    {"x": 1.0, "y": None},
    {"x": 2.0, "y": None},
    {"x": None, "y": 2.0},
    {"x": None, "y": None},
    {"x": 1.0, "y": 2.0},
    {"x": 2.0, "y": 2.0},
]
LAYOUTS: dict[str, dict[Any, Kernel]] = {
    "one column": {"x": Gaussian(1.0)},
    "two columns": {"x": Gaussian(1.0), "y": Gaussian(0.5)},
    "a group": {("x", "y"): Gaussian(1.0)},
    "a group and one of its columns": {("x", "y"): Gaussian(1.0), "x": Gaussian(0.5)},
    "a group and all of its columns": {("x", "y"): Gaussian(1.0), "x": Gaussian(0.5), "y": Laplacian(1.0)},
}
STRICT_WITH = {
    "error": set(LAYOUTS),
    "own": {"one column", "two columns", "a group and all of its columns"},
    "zero": set[str](),
}


@pytest.mark.parametrize("missing", ["zero", "own", "error"])
@pytest.mark.parametrize("combine", ["sum", "product"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_claims_hold_on_partly_missing_groups(layout: str, combine: Any, missing: Any) -> None:
    kernels = LAYOUTS[layout]
    k = columns(kernels, combine=combine, missing=missing)
    used = sorted({c for name in kernels for c in ([name] if isinstance(name, str) else name)})
    rows = [row for row in PARTLY if missing != "error" or all(row[c] is not None for c in used)]
    rows = list({tuple(row[c] for c in used): row for row in rows}.values())  # without repetition
    G = mpmath.matrix([[k.precise(a, b) for b in rows] for a in rows])
    eigenvalues = mpmath.eigsy(G, eigvals_only=True)
    positive = k.certificate.positive
    assert positive.proved
    assert min(eigenvalues) > -1e-12
    reads_all = (
        missing == "error" and ("x", "y") in kernels
    )  # one strict term of a sum that reads every column
    separate = combine == "product" or len(kernels) == 1 or reads_all
    assert positive.strict == (layout in STRICT_WITH[missing] and separate)
    if positive.strict:
        assert min(eigenvalues) > 1e-6
    elif layout == "a group" and missing != "error":
        assert min(eigenvalues) < 1e-12


@pytest.mark.parametrize("missing", ["zero", "own", "error"])
def test_negative_definiteness_is_claimed_only_without_missing_values(missing: Any) -> None:
    k = columns({"x": PowerDistance(1.0), "y": PowerDistance(1.0)}, missing=missing)
    assert k.certificate.is_nds == (missing == "error")


@pytest.mark.parametrize("missing", ["zero", "own"])
@pytest.mark.parametrize("combine", ["sum", "product"])
def test_bounds_hold_with_missing_values(combine: Any, missing: Any) -> None:
    k = columns({"x": 3 * Gaussian(1.0), ("x", "y"): Gaussian(1.0) + 1}, combine=combine, missing=missing)
    K = k.block(PARTLY)
    assert K.min() >= k.bounds.low
    assert K.max() <= k.bounds.high
    assert K.diagonal().min() >= k.diagonal_bounds.low
    assert K.diagonal().max() <= k.diagonal_bounds.high
