"""The page on kernel PCA and kernel CCA is true."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "spectral.md"


def test_examples_run_as_written(capsys):
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M):
        exec(compile(block, "docs/spectral.md", "exec"), names)
    assert capsys.readouterr().out.split("\n") == ["(300, 6) True", "True", "True", "True", "0.01", ""]
