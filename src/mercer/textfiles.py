"""Lines of text files, plain or gzipped, from a path or an open file."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .errors import InputError

__all__ = ["read_lines"]

GZIP_MAGIC = b"\x1f\x8b"


def read_lines(source: Any, caller: str) -> tuple[Iterable[str], str]:
    """The lines of a path or an open file, and what to call it in errors.

    Files are UTF-8; whether they are gzipped is seen from their first bytes.  Line ends may be those of any
    system.

    Parameters
    ----------
    source : path or file
        Opened for text or for bytes; a file is read from where it stands and stays open.
    caller : str
        Name of the function that reads, for errors.
    """
    if isinstance(source, str | os.PathLike):
        return _decoded(Path(source).read_bytes(), str(source), caller), str(source)
    if not hasattr(source, "read"):
        raise InputError(f"{caller}: `source` must be a path or an open file. Got {type(source).__name__}.")
    name, content = str(getattr(source, "name", "the file")), source.read()
    if isinstance(content, bytes):
        return _decoded(content, name, caller), name
    return io.StringIO(content.removeprefix("\ufeff"), None), name  # a mark of the byte order is no letter


def _decoded(content: bytes, source: str, caller: str) -> Iterator[str]:
    """Lines of a file's bytes."""
    if content.startswith(GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{caller}: {source} is gzipped but damaged: {error}.") from error
    for number, line in enumerate(content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{caller}: {source}, line {number}: not UTF-8 text: {error.reason}.") from error
