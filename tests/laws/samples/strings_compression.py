"""Samples of the compression similarity."""

from __future__ import annotations

from mercer.kernels.strings.compression import Compression

from ..cases import Case

__all__ = ["CASES"]

STRINGS = ["", "a", "a" * 200, "to be or not to be", "to be or not to be", [0, 255], "\U0001d504" * 5]

CASES: list[Case] = [
    *(Case(Compression(method), STRINGS) for method in ("zlib", "bz2", "lzma")),
    Case(Compression("zlib", level=1), STRINGS),
]
