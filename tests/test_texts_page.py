"""The examples of the page on texts run, and print what the page leads to expect."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "texts.md"


def test_the_page_on_texts_is_true(capsys):
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.S | re.M):
        exec(compile(block, "docs/texts.md", "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert 0 < float(lines[0]) < 1
    assert sorted(eval(lines[1]), key=str) == [("red", "sky"), "red", "sky"]
    first = eval(lines[2])
    assert first[0] > first[1] > first[2] == 1.0  # they share c alone
    assert lines[3:] == ["REFUTED", "[('one', 'GATTACA'), ('two', 'CAT')]"]
