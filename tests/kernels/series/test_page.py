"""The page on time series says what is true."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "series.md"


def test_the_page_on_time_series_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M):
        exec(compile(block, str(PAGE), "exec"), names)
    assert capsys.readouterr().out.splitlines() == [
        "1.0",
        "True",
        "1.0 [(0, 0), (0, 1), (1, 2), (2, 3)]",
        "(20, 20)",
        "(8,)",
        "1.0",
    ]
