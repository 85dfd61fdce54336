"""The page on Gaussian processes runs, and prints what it leads to expect."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_is_true(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "gaussian_processes.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, flags=re.S | re.M):
        exec(compile(block, "docs/gaussian_processes.md", "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "True Cholesky"
    assert 0.1 < float(lines[1].split()[1]) < 0.3
    assert lines[2].startswith("exact by state space, for a semiseparable kernel on the line")
    assert lines[3:6] == ["Kronecker", "finite features", "[0, 1, 2]"]
    assert float(lines[6].split()[1]) > 0.8
    assert lines[8] == " [0.5 0.5]]"
    assert float(lines[9].split()[2]) > 0.8
    pictures = set(re.findall(r"\(static/(\w+\.png)\)", text))
    assert {path.name for path in tmp_path.iterdir()} == pictures - {"solubility.png"}
    assert all((ROOT / "docs" / "static" / name).exists() for name in pictures)
