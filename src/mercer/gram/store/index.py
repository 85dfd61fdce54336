"""The points of a store, in the order of their arrival.

``points.bin`` is a head of 16 bytes and, for each point, its digest and a CRC of digest and position, 20
bytes.  It is only ever appended to, under the lock.  What a killed process left unfinished at its end is cut
off by the next one; a record that is damaged names no point any more.
"""

from __future__ import annotations

import os
import struct
import zlib
from pathlib import Path

import numpy as np

from ...digests import POINT_BYTES
from ...errors import StoreError
from .files import write_whole

__all__ = ["Index"]

VERSION = 1
_MAGIC = b"MERCERPT"
_HEAD = struct.Struct("<8sII")
_RECORD = POINT_BYTES + 4


class Index:
    """Positions of points, as last read from the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position: dict[bytes, int] = {}
        self.digests = np.zeros((0, POINT_BYTES), dtype=np.uint8)
        self._written = self.digests
        self._inode = -1

    def __len__(self) -> int:
        return len(self.digests)

    def read(self) -> bool:
        """Bring this up to date; return False if the file is not a continuation of what was known."""
        try:
            with self.path.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                data = file.read()
        except FileNotFoundError:
            data, inode = b"", -1
        head = data[: _HEAD.size]
        if head[:8] == _MAGIC and len(head) == _HEAD.size and _HEAD.unpack(head)[1] > VERSION:
            raise StoreError(f"GramStore: {self.path} was written by a newer version of mercer.")
        whole = head == self._head()
        count = (len(data) - _HEAD.size) // _RECORD if whole else 0
        start = _HEAD.size
        records = np.frombuffer(data, np.uint8, count * _RECORD, start if count else 0).reshape(
            count, _RECORD
        )
        same = inode == self._inode and count >= len(self)
        same = same and bool((records[: len(self), :POINT_BYTES] == self._written).all())
        if not same:
            same = len(self) == 0
            self.position, self.digests = {}, self.digests[:0]
        digests = records[:, :POINT_BYTES].copy()
        for i in range(len(self), count):
            record = data[start + i * _RECORD : start + (i + 1) * _RECORD]
            if record[POINT_BYTES:] == _check(record[:POINT_BYTES], i):
                self.position.setdefault(record[:POINT_BYTES], i)
            else:
                digests[i] = 0
        self.digests, self._written, self._inode = digests, records[:, :POINT_BYTES].copy(), inode
        return same

    def append(self, digests: list[bytes]) -> None:
        """Give positions to new points.  The caller holds the lock and has just called :meth:`read`."""
        if self._inode == -1 or not self._is_whole():
            write_whole(self.path, self._head())
            self.read()
        new = [d for d in dict.fromkeys(digests) if d not in self.position]
        if not new:
            return
        records = b"".join(d + _check(d, len(self) + i) for i, d in enumerate(new))
        try:
            with self.path.open("r+b") as file:
                file.truncate(_HEAD.size + len(self) * _RECORD)
                file.seek(0, 2)
                file.write(records)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(
                error.errno,
                f"GramStore: {self.path} cannot be written ({error.strerror}). Free some space, or choose "
                "another place for the store",
            ) from error
        self.read()

    def block(self, number: int, size: int) -> np.ndarray:
        """Digests of one page's worth of points, zero where there is none."""
        part = self.digests[number * size : (number + 1) * size]
        if len(part) == size:
            return part
        return np.concatenate([part, np.zeros((size - len(part), POINT_BYTES), dtype=np.uint8)])

    @staticmethod
    def _head() -> bytes:
        return _HEAD.pack(_MAGIC, VERSION, POINT_BYTES)

    def _is_whole(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(_HEAD.size) == self._head()


def _check(digest: bytes, position: int) -> bytes:
    return struct.pack("<I", zlib.crc32(struct.pack("<Q", position), zlib.crc32(digest)))
