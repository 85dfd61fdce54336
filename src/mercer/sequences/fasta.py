"""Reading and writing FASTA files."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from ..errors import InputError, ParameterError
from ..textfiles import read_lines

__all__ = ["FastaRecord", "read_fasta", "write_fasta"]


class FastaRecord(NamedTuple):
    """One sequence of a FASTA file: the first word of its heading, the rest of it, and the letters.

    Kernels on strings take a record as its sequence.
    """

    name: str
    description: str
    sequence: str


def read_fasta(
    source: str | os.PathLike[str] | IO[Any],
    *,
    case: Literal["keep", "upper", "lower"] = "keep",
    alphabet: Iterable[str] | None = None,
) -> list[FastaRecord]:
    r"""Read the records of a FASTA file, plain or gzipped.

    A heading ``>name description`` begins a record; the lines up to the next one are its letters.  White
    space within them, empty lines and lines that begin with ``;`` (comments) are left out; line ends may be
    those of any system.  A record may be empty.  Files are UTF-8; whether they are gzipped is seen from
    their first bytes.

    Parameters
    ----------
    source : path or file
        Opened for text or for bytes; a file is read from where it stands and stays open.
    case : {"keep", "upper", "lower"}, default="keep"
        What to do with the case of letters, which often marks repeats.  Kernels that are set up for DNA read
        small letters as capitals; for others "a" and "A" are two letters.
    alphabet : collection of letters, optional
        The only letters allowed (after ``case``); any other is an error.

    Returns
    -------
    list of FastaRecord
        Tuples ``(name, description, sequence)``.  The list goes into a machine as it is: kernels on strings
        compare the sequences.

    Raises
    ------
    InputError
        If the file is no FASTA file; the message names the line.

    Examples
    --------
    >>> import io
    >>> read_fasta(io.StringIO(">seq1 a gene\nGATT\nACA\n>seq2\nCAT\n"))[0]
    FastaRecord(name='seq1', description='a gene', sequence='GATTACA')
    """
    if case not in ("keep", "upper", "lower"):
        raise ParameterError(f"read_fasta: `case` must be 'keep', 'upper' or 'lower'. Got {case!r}.")
    allowed = None if alphabet is None else frozenset(alphabet)
    lines, name = read_lines(source, "read_fasta")
    found: list[FastaRecord] = []
    heading: tuple[str, str] | None = None
    letters: list[str] = []
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith(";"):
            continue
        if line.startswith(">"):
            if heading is not None:
                found.append(FastaRecord(*heading, "".join(letters)))
            word, _, description = line[1:].strip().replace("\t", " ", 1).partition(" ")
            if not word:
                raise InputError(f"read_fasta: {name}, line {number}: the heading has no name. Got {line!r}.")
            heading, letters = (word, description.strip()), []
            continue
        if heading is None:
            raise InputError(
                f"read_fasta: {name}, line {number}: letters before the first heading. A FASTA file begins "
                f"with a line '>name'. Got {line[:40]!r}."
            )
        read = "".join(line.split())
        if case != "keep":
            read = read.upper() if case == "upper" else read.lower()
        if allowed is not None and not allowed.issuperset(read):
            unknown = next(letter for letter in read if letter not in allowed)
            raise InputError(
                f"read_fasta: {name}, line {number}: the letter {unknown!r} is not in the alphabet "
                f"{''.join(sorted(allowed))!r}."
            )
        letters.append(read)
    if heading is not None:
        found.append(FastaRecord(*heading, "".join(letters)))
    return found


def write_fasta(
    records: Iterable[Any], target: str | os.PathLike[str] | IO[str], *, width: int | None = 60
) -> None:
    """Write records to a FASTA file.

    Parameters
    ----------
    records : iterable of FastaRecord, (name, sequence) or (name, description, sequence)
        Names are single words; no part may hold a line end.
    target : path or file opened for text
        A path that ends in ``.gz`` is gzipped.
    width : int or None, default=60
        Letters per line; None writes each sequence on one line.

    Examples
    --------
    >>> import sys
    >>> write_fasta([("seq1", "a gene", "GATTACA"), ("seq2", "CAT")], sys.stdout, width=5)
    >seq1 a gene
    GATTA
    CA
    >seq2
    CAT
    """
    if width is not None and not (type(width) is int and width >= 1):
        raise ParameterError(
            f"write_fasta: `width` must be an integer of at least 1, or None. Got {width!r}."
        )
    text = "".join(_format(record, f"records[{i}]", width) for i, record in enumerate(records))
    if not isinstance(target, str | os.PathLike):
        target.write(text)
        return
    # A timestamp would make equal contents different files.
    content = text.encode("utf-8")
    Path(target).write_bytes(gzip.compress(content, mtime=0) if str(target).endswith(".gz") else content)


def _format(record: Any, name: str, width: int | None) -> str:
    parts = tuple(record) if isinstance(record, tuple | list) else ()
    if len(parts) == 2:
        parts = (parts[0], "", parts[1])
    if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
        raise InputError(
            f"write_fasta: {name} must be (name, sequence) or (name, description, sequence), all text. "
            f"Got {record!r}."
        )
    word, description, letters = parts
    if not word or len(word.split()) != 1 or word.split()[0] != word:
        raise InputError(f"write_fasta: the name of {name} must be one word. Got {word!r}.")
    if len(description.splitlines()) > 1:
        raise InputError(f"write_fasta: the description of {name} must be one line. Got {description!r}.")
    if letters.split() not in ([], [letters]) or ">" in letters or ";" in letters:
        raise InputError(
            f"write_fasta: the sequence of {name} must have no white space, '>' or ';', which would not be "
            "read back as letters."
        )
    step = width or max(len(letters), 1)
    lines = [letters[i : i + step] for i in range(0, len(letters), step)]
    return "\n".join([f">{word} {description}".strip(), *lines, ""])
