"""The page on kernels on pairs of strings says what is true."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "alignments.md"


def test_the_page_is_true(capsys):
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M):
        exec(compile(block, PAGE.name, "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "0.0625 0.140625"
    assert lines[1].split() == ["weight", "pattern"]
    assert lines[5].startswith("STRICT [[1.0, ")
    assert lines[6] == "('AWGHE', 'AWHE')"
    assert lines[7] == "True"
    assert lines[9:11] == ["STRICT", "REFUTED"]
    assert "sum(c) = 0" in lines[11]
    assert lines[12:] == ["refuted UNKNOWN", "True"]
