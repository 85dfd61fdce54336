"""The page on nodes is true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "nodes.md"


def test_the_page_on_nodes_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("networkx")
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[0]) > 0.95
    assert lines[1].startswith("VonNeumann: `decay` must be below 0.5")
    assert "largest of this Laplacian is 3" in lines[2]
    assert lines[3].endswith("c'Kc = -0.236068 < 0")
    assert lines[4:] == ["1.000000 0.006432", "2 0.0", "[0.    0.    0.012]"]
