"""FASTA files of all kinds."""

import gzip
import io

import pytest

from mercer.errors import InputError, ParameterError
from mercer.sequences import FastaRecord, read_fasta, write_fasta

RECORDS = [
    FastaRecord("sp|P1|A", "a protein of some length", "MKV" * 50),
    FastaRecord("empty", "", ""),
    FastaRecord("two", "", "acgtNN"),
]


@pytest.mark.parametrize("name", ["a.fasta", "a.fa.gz"])
@pytest.mark.parametrize("width", [1, 60, None])
def test_what_is_written_is_read_back(tmp_path, name, width):
    write_fasta(RECORDS, tmp_path / name, width=width)
    assert read_fasta(tmp_path / name) == RECORDS
    assert read_fasta(str(tmp_path / name)) == RECORDS
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith("gz")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["unix", "windows", "mac"])
@pytest.mark.parametrize("kind", ["bytes", "text", "gzip"])
def test_line_ends_comments_and_white_space(end, kind):
    lines = [
        "; a comment",
        "",
        ">one  first of two ",
        "AC GT",
        "",
        ";inside",
        "  TT",
        "*",
        ">two",
        "",
        ">\tthree x",
    ]
    text = end.join(lines)
    content = text.encode()
    file = {
        "bytes": lambda: io.BytesIO(content),
        "text": lambda: io.StringIO(text, newline=""),
        "gzip": lambda: io.BytesIO(gzip.compress(content)),
    }[kind]()
    assert read_fasta(file) == [("one", "first of two", "ACGTTT*"), ("two", "", ""), ("three", "x", "")]


def test_case_and_alphabet():
    text = ">a\nACgt\n>b\nNNac\n"
    assert [r.sequence for r in read_fasta(io.StringIO(text), case="upper")] == ["ACGT", "NNAC"]
    assert [r.sequence for r in read_fasta(io.StringIO(text), case="lower")] == ["acgt", "nnac"]
    with pytest.raises(InputError, match="line 4: the letter 'N'"):
        read_fasta(io.StringIO(text), case="upper", alphabet="ACGT")


def test_no_records_is_no_error():
    assert read_fasta(io.StringIO("")) == []
    assert read_fasta(io.StringIO("; nothing yet\n\n")) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\n\nACGT\n>a\n", "line 3: letters before the first heading"),
        (b">a\nAC\n> \nGT\n", "line 3: the heading has no name"),
        (b">a\nAC\n\xff\xfe\n", "line 3: not UTF-8"),
        (gzip.compress(b">a\n" + b"ACGT" * 100)[:-12], "damaged"),
    ],
    ids=["letters", "name", "encoding", "gzip"],
)
def test_what_is_wrong_is_named_with_its_line(content, message):
    with pytest.raises(InputError, match=message):
        read_fasta(io.BytesIO(content))


def test_a_byte_order_mark_is_no_letter():
    assert read_fasta(io.BytesIO(b"\xef\xbb\xbf>a\nAC\n")) == [("a", "", "AC")]


def test_a_byte_order_mark_is_no_letter_in_text_either():
    assert read_fasta(io.StringIO("\ufeff>a\nAC")) == read_fasta(io.StringIO(">a\nAC"))


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_fasta(tmp_path / "none.fa")
    with pytest.raises(InputError, match="`source`"):
        read_fasta(3)


@pytest.mark.parametrize(
    "record",
    [
        ("two words", "AC"),
        ("", "AC"),
        ("a", "A C"),
        ("a", ">AC"),
        ("a", "x\ny", "AC"),
        ("a",),
        "ac",
        ("a", 3),
    ],
    ids=["name", "no-name", "space", "heading", "lines", "one", "text", "number"],
)
def test_records_that_could_not_be_read_back_are_refused(record):
    with pytest.raises(InputError, match=r"records\[0\]"):
        write_fasta([record], io.StringIO())


def test_bad_arguments():
    with pytest.raises(ParameterError, match="`width`"):
        write_fasta([], io.StringIO(), width=0)
    with pytest.raises(ParameterError, match="`case`"):
        read_fasta(io.StringIO(""), case="title")
