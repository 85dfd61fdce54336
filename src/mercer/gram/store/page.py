"""Pages: squares of 256 x 256 kernel values, each with its points, a bitmap of what is known, and a checksum.

==========  =======  ====================================================================
offset      bytes    contents (little-endian)
==========  =======  ====================================================================
0           64       magic, format version, page size, kernel digest, row and column of the page
64          32       BLAKE2b of all the rest, the 64 bytes before it included
96          4096     digests of the points of the rows, 16 bytes each, zero where there is none yet
4192        4096     digests of the points of the columns
8288        8192     one bit per value: whether it is known
16480       524288   values, float64, row by row
==========  =======  ====================================================================
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...digests import POINT_BYTES
from ...errors import StoreError
from .files import write_whole

__all__ = ["PAGE", "PAGE_BYTES", "Damaged", "Page", "read_page", "write_page"]

#: Rows and columns of a page.
PAGE = 256

VERSION = 1
_MAGIC = b"MERCERPG"
_HEAD = struct.Struct("<8sII32sQQ")
_CHECKSUM = 32
_POINTS = PAGE * POINT_BYTES
_BITMAP = PAGE * PAGE // 8
_START = _HEAD.size + _CHECKSUM
PAGE_BYTES = _START + 2 * _POINTS + _BITMAP + 8 * PAGE * PAGE


class Damaged(Exception):
    """A page is not what was written."""


@dataclass(eq=False)
class Page:
    """One page: digests of its points, of shape (256, 16), and which of its values are known."""

    rows: np.ndarray
    columns: np.ndarray
    known: np.ndarray
    values: np.ndarray

    @classmethod
    def empty(cls) -> Page:
        """A page that knows nothing."""
        points = np.zeros((2, PAGE, POINT_BYTES), dtype=np.uint8)
        return cls(points[0], points[1], np.zeros((PAGE, PAGE), dtype=bool), np.zeros((PAGE, PAGE)))

    def copy(self) -> Page:
        """A page that may be changed."""
        return Page(*(a.copy() for a in (self.rows, self.columns, self.known, self.values)))

    def about(self, rows: np.ndarray, columns: np.ndarray) -> Page:
        """The page as seen by an index that has these points there: values of other points are not known."""
        here = (self.rows == rows).all(axis=1)[:, None] & (self.columns == columns).all(axis=1)
        return Page(rows, columns, self.known & here, self.values)

    def put(self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> None:
        """Store finite values; others are left unknown, for they may be an accident."""
        where = np.ix_(rows, columns)
        finite = np.isfinite(values)
        self.values[where] = np.where(finite, values, self.values[where])
        self.known[where] |= finite

    def absorb(self, other: Page) -> None:
        """Take over what the same page knows elsewhere."""
        news = other.about(self.rows, self.columns).known & ~self.known
        self.values[news] = other.values[news]
        self.known |= news


def write_page(path: Path, kernel: bytes, row: int, column: int, page: Page) -> None:
    """Replace a page on disk."""
    head = _HEAD.pack(_MAGIC, VERSION, PAGE, kernel, row, column)
    points = page.rows.tobytes() + page.columns.tobytes()
    bitmap = np.packbits(page.known, bitorder="little").tobytes()
    values = page.values.astype("<f8", copy=False).tobytes()
    write_whole(path, head, _checksum(head, points, bitmap, values), points, bitmap, values)


def read_page(path: Path, kernel: bytes, row: int, column: int, verify: bool = True) -> Page:
    """Map a page into memory; raise :class:`Damaged` if it is not whole, FileNotFoundError if not there."""
    with path.open("rb") as file:
        head = file.read(_HEAD.size)
        if len(head) == _HEAD.size and head[:8] == _MAGIC and _HEAD.unpack(head)[1] > VERSION:
            raise StoreError(
                f"GramStore: {path} was written by a newer version of mercer. Upgrade, or clear it."
            )
        if head != _HEAD.pack(_MAGIC, VERSION, PAGE, kernel, row, column):
            raise Damaged("its head is not the one it should have")
        if file.seek(0, 2) != PAGE_BYTES:
            raise Damaged("its length is not that of a page")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if verify and data[_HEAD.size : _START] != _checksum(head, memoryview(data)[_START:]):
        raise Damaged("its checksum does not fit")
    points = np.frombuffer(data, np.uint8, 2 * _POINTS, _START).reshape(2, PAGE, POINT_BYTES)
    bitmap = np.frombuffer(data, np.uint8, _BITMAP, _START + 2 * _POINTS)
    known = np.unpackbits(bitmap, bitorder="little").view(bool).reshape(PAGE, PAGE)
    values = np.frombuffer(data, "<f8", PAGE * PAGE, _START + 2 * _POINTS + _BITMAP).reshape(PAGE, PAGE)
    return Page(points[0].copy(), points[1].copy(), known, values)


def _checksum(*pieces: bytes | memoryview) -> bytes:
    state = hashlib.blake2b(digest_size=_CHECKSUM)
    for piece in pieces:
        state.update(piece)
    return state.digest()
