"""The domain of tables: reading, missing values, slices, meets."""

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mercer.arithmetic import FLOAT
from mercer.domains import NONNEGATIVE, Objects, Reals, Sets, Vectors, items, meet, take
from mercer.domains.frames import MISSING, Component, Frames, Row
from mercer.errors import DomainError, InputError

AGE = Component(("age",), Vectors(), True)
CITY = Component(("city",), Objects(), True)
BOTH = Component(("age", "size"), Vectors(), True)
PAIR = Component(("age", "city"), Objects(), True)
DATA: dict[str, list[Any]] = {
    "age": [1.0, None, 3.0, math.nan],
    "size": [1.0, 1.0, None, 2.0],
    "city": ["u", "v", None, "u"],
}
TABLES: dict[str, Any] = {
    "mapping": DATA,
    "pandas": pd.DataFrame(DATA),
    "polars": pl.DataFrame(DATA, strict=False),
    "records": [dict(zip(DATA, row, strict=True)) for row in zip(*DATA.values(), strict=True)],
}


@pytest.mark.parametrize("table", TABLES)
def test_components_are_read_alike_from_every_table(table: str) -> None:
    data = Frames((AGE, CITY, BOTH, PAIR)).validate(TABLES[table])
    assert len(data) == 4
    np.testing.assert_array_equal(data.parts[AGE].data, [[1.0], [3.0]])
    assert data.parts[AGE].position.tolist() == [0, -1, 1, -1]
    assert data.parts[CITY].data == ["u", "v", "u"]
    assert data.parts[CITY].position.tolist() == [0, 1, -1, 2]
    np.testing.assert_array_equal(data.parts[BOTH].data, [[1.0, 1.0]])
    assert data.parts[PAIR].data == [(1.0, "u")]


def test_slices_keep_values_and_positions_together() -> None:
    data = Frames((AGE, CITY)).validate(DATA)
    for index in (slice(1, 4), np.array([3, 2, 2, 0]), np.array([], dtype=int)):
        part = take(data, index)
        chosen = np.arange(4)[index]
        assert len(part) == len(chosen)
        for row, i in zip(items(part), chosen, strict=True):
            age, city = DATA["age"][i], DATA["city"][i]
            assert row[CITY] is MISSING if city is None else row[CITY] == city
            assert row[AGE] is MISSING if age is None or math.isnan(age) else row[AGE].tolist() == [age]


def test_rows_can_be_validated_again_and_pickled() -> None:
    domain = Frames((AGE, CITY))
    rows = list(domain.validate(DATA))
    again = domain.validate(rows)
    assert again.parts[AGE].position.tolist() == [0, -1, 1, -1]
    assert again.parts[CITY].data == ["u", "v", "u"]
    assert domain.validate([rows[1]]).parts[AGE].data.shape == (0, 1)
    assert pickle.loads(pickle.dumps(rows[1]))[AGE] is MISSING
    converted = domain.to_arithmetic(rows[0], FLOAT)
    assert isinstance(converted, Row)
    assert converted[AGE] == [1.0]


def test_every_kind_of_nothing_is_missing() -> None:
    column = [None, math.nan, np.nan, pd.NaT, pd.NA, np.datetime64("NaT"), "there"]
    domain = Frames((CITY,))
    for table in ({"city": column}, pd.DataFrame({"city": pd.Series(column, dtype=object)})):
        assert domain.validate(table).parts[CITY].data == ["there"]


def test_times_and_dates_are_values_of_other_domains() -> None:
    table = pd.DataFrame({"city": pd.to_datetime(["2020-01-01", None, "2021-06-01"])})
    part = Frames((CITY,)).validate(table).parts[CITY]
    assert part.position.tolist() == [0, -1, 1]
    assert part.data[1] == pd.Timestamp("2021-06-01")


@pytest.mark.parametrize(
    ("component", "table", "message"),
    [
        (
            Component(("age",), Vectors(), False),
            DATA,
            "every row of column 'age'. Got a missing one in row 1",
        ),
        (BOTH, {"age": [1.0]}, "X must have the column 'size'. It has 'age'"),
        (AGE, {"age": [[1.0, 2.0], [1.0]]}, "column 'age' must hold numbers"),
        (
            AGE,
            {"age": [True, "x"]},
            "column 'age' must hold numbers for a kernel on vectors. Got values of type str",
        ),
        (Component(("age",), Reals(), True), {"age": [[1.0, 2.0]]}, r"X\['age'\] must have 1 column"),
        (
            Component(("size", "age"), Vectors(region=NONNEGATIVE), True),
            {"size": [1, None, 2], "age": [1, 2, -3.0]},
            r"X\['size', 'age'\] must have entries >= 0. Got -3.0 in row 2, column 'age'",
        ),
        (Component(("age",), Sets(), True), {"age": [None, {1}, 5]}, r"X\['age'\]\[2\] must be a set"),
    ],
)
def test_errors_are_told_in_rows_and_columns_of_the_table(
    component: Component, table: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Frames((component,)).validate(table)


def test_meet_joins_components() -> None:
    assert meet(Frames((AGE,)), Frames((CITY, AGE))) == Frames((AGE, CITY))
    assert meet(Objects(), Frames((AGE,))) == Frames((AGE,))
    with pytest.raises(DomainError, match="no common points"):
        meet(Frames((AGE,)), Vectors())
    assert str(Frames((BOTH, CITY))) == "frames with the columns 'age', 'size', 'city'"


def test_numbers_keep_single_precision_only_together() -> None:
    single = pd.DataFrame({"age": np.ones(2, np.float32), "size": np.ones(2, np.float32)})
    assert Frames((BOTH,)).validate(single).parts[BOTH].data.dtype == np.float32
    mixed = single.assign(size=[1, 2])
    assert Frames((BOTH,)).validate(mixed).parts[BOTH].data.dtype == np.float64


def test_the_table_itself_is_left_alone() -> None:
    frame = pd.DataFrame(DATA)
    before = frame.copy(deep=True)
    Frames((AGE, CITY, BOTH)).validate(frame)
    pd.testing.assert_frame_equal(frame, before)
