"""Files of examples in the format of KeLP."""

import gzip
import io

import pytest

from mercer.domains import Tree
from mercer.errors import InputError
from mercer.trees import read_kelp

LINES = """\
HUM |BS:quest| Who slept ? |ES| |BV:bow| who:1.0 s:2.0 |EV| |BT:a| (S(who)(VP(sleep))) |ET| |BT:b| (x) |ET|

LOC |BT:b| (y(z)) |ET| |BT:a| (S(where::w)) |ET| |BS:quest|  |ES|
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_labels_trees_and_texts(tmp_path, packed, end):
    content = LINES.replace("\n", end).encode()
    path = tmp_path / "file.klp"
    path.write_bytes(gzip.compress(content) if packed else content)
    found = read_kelp(path)
    assert found == read_kelp(str(path)) == read_kelp(io.StringIO(LINES)) == read_kelp(io.BytesIO(content))
    assert found.labels == ["HUM", "LOC"]
    assert found.texts == {"quest": ["Who slept ?", ""]}
    assert found.trees == {
        "a": [Tree("(S who (VP sleep))"), Tree("(S where::w)")],
        "b": [Tree("(x)"), Tree("(y z)")],
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A |BT:a| (S(a) |ET|", r"line 2, tree 'a': the bracket at position 1 is not closed: 1 '\)' missing"),
        ("A |BT:a|  |ET|", r"line 2, tree 'a': must be a tree"),
        ("A |BT:b| (S(a)) |ET|", r"line 2: the representation 'b' is here, and not in the first line"),
        ("A |BT:a| (S) |ET| |BT:a| (S) |ET|", r"line 2: the representation 'a' is twice"),
        ("A |BT:a| (S)", r"line 2: there is no representation 'a', which the first line has"),
    ],
)
def test_what_is_wrong_with_a_line(tmp_path, line, message):
    path = tmp_path / "bad.klp"
    path.write_text(f"A |BT:a| (S(a)) |ET|\n{line}\n")
    with pytest.raises(InputError, match=rf"read_kelp: .*bad\.klp, {message}"):
        read_kelp(path)


def test_what_is_no_such_file(tmp_path):
    with pytest.raises(InputError, match=r"the file, line 1: there is no tree"):
        read_kelp(io.StringIO("some text\n"))
    with pytest.raises(InputError, match=r"`source` must be a path or an open file. Got int"):
        read_kelp(3)
    path = tmp_path / "damaged.gz"
    path.write_bytes(gzip.compress(LINES.encode())[:-9])
    with pytest.raises(InputError, match=r"read_kelp: .*damaged.gz is gzipped but damaged"):
        read_kelp(path)
    assert read_kelp(io.StringIO("")) == ([], {}, {})
