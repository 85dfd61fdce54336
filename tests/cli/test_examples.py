"""The examples: without their data they say so and end well (with them they run, which no test may need)."""

import os
import runpy
import sys
from pathlib import Path

import pytest

#: Examples that read data files; the others take what scikit-learn has.
EXAMPLES = sorted(
    p
    for p in (Path(__file__).parents[2] / "examples").glob("*.py")
    if not p.name.startswith("_") and "from _data import" in p.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_without_data_an_example_says_what_is_missing(path, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.setattr(sys, "argv", [str(path)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    out, err = capsys.readouterr()
    assert (ended.value.code, err) == (0, "")
    assert out.startswith("This example reads ")
    assert "MERCER_DATA" in out
    assert out.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_there_are_examples():
    assert len(EXAMPLES) >= 9
