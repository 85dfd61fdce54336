"""Text files, plain or gzipped."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from ..errors import InputError

__all__ = ["read_text"]


def read_text(path: Path, caller: str) -> str:
    """The text of a file in UTF-8; whether it is gzipped is seen from its first bytes."""
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{caller}: {path} is gzipped but damaged: {error}.") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{caller}: {path}, line {line}: not UTF-8 text: {error.reason}.") from error
