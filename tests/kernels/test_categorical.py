"""Unordered values."""

import numpy as np
import pandas as pd
import pytest

from mercer import columns
from mercer.errors import InputError, ParameterError
from mercer.kernels import Categorical, Gaussian, Linear
from mercer.machines import KernelRidge


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_is_the_inner_product_of_one_hot_vectors_with_a_constant(rho: float) -> None:
    values = ["red", "blue", "red", ("a", 1), 7]
    distinct = list(dict.fromkeys(values))
    one_hot = np.array([[v == d for d in distinct] for v in values], dtype=float)
    expected = rho + (1 - rho) * one_hot @ one_hot.T
    np.testing.assert_allclose(Categorical(rho).block(values), expected, rtol=1e-15)


def test_many_categories_with_correlation_are_strictly_definite() -> None:
    K = Categorical(0.9).block(list(range(200)))
    assert np.linalg.eigvalsh(K).min() == pytest.approx(0.1)
    assert Categorical(0.9).certificate.verdict.value == "STRICT"


def test_a_column_of_strings_is_unwrapped() -> None:
    column = np.array(["a", "b", "a"])
    np.testing.assert_array_equal(Categorical().block(column[:, None]), Categorical().block(column))
    with pytest.raises(InputError, match=r"X must be one column of categories. Got 2 columns"):
        Categorical().block(np.array([["a", "b"], ["a", "c"]]))


@pytest.mark.parametrize("gone", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_category_is_named_by_row(gone: object) -> None:
    with pytest.raises(InputError, match=r"X must have a category in every row.*row 1.*missing=\"own\""):
        Categorical().block(["a", gone, "b"])


def test_unhashable_values_are_named_by_row() -> None:
    with pytest.raises(InputError, match=r"hashable categories.*Got list in row 1"):
        Categorical().block(["a", ["b"]])


@pytest.mark.parametrize("rho", [-0.1, 1.0, 1.5])
def test_correlations_are_in_range(rho: float) -> None:
    with pytest.raises(ParameterError, match="correlation"):
        Categorical(rho)


def test_predicts_unseen_categories_by_the_other_columns() -> None:
    frame = pd.DataFrame({"city": ["Rome", "Oslo"] * 20, "x": np.arange(40.0)})
    y = np.where(frame.city == "Rome", 5.0, -5.0) + 0.5 * frame.x
    model = KernelRidge(columns(city=Categorical(), x=Linear()), alpha=1e-6).fit(frame, y)
    new = pd.DataFrame({"city": ["Rome", "Bern"], "x": [100.0, 100.0]})
    np.testing.assert_allclose(model.predict(new), [55.0, 50.0], atol=1e-3)


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
@pytest.mark.parametrize("difference", [False, True])
def test_dates_are_refused_where_numbers_are_expected(unit: str, difference: bool) -> None:
    dates = np.array(["2020-01-01", "2020-02-01"], dtype=f"M8[{unit}]")
    dates = dates - dates[0] if difference else dates
    for X in (dates[:, None], pd.DataFrame({"when": dates})):
        with pytest.raises(InputError, match=r"KernelRidge: `X` must hold numbers.*Map them to numbers"):
            KernelRidge(Gaussian(1.0)).fit(X, [0, 1])
    for table in ({"when": dates}, pd.DataFrame({"when": dates})):
        with pytest.raises(InputError, match=r"column 'when' must hold numbers.*Map them to numbers"):
            columns(when=Gaussian(1.0)).block(table)
