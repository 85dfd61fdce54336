"""The page on automata and rational kernels says what is true."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "automata.md"


def test_the_page_on_automata_is_true(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    assert "'ab'" in capsys.readouterr().out
