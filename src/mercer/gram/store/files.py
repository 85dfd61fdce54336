"""Files that are whole or not there, and locks between processes."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from ...errors import StoreError

__all__ = ["SUFFIX", "locked", "remove_leftovers", "write_whole"]

#: Ending of files that were still being written.
SUFFIX = ".part"

_POLL_SECONDS = 0.005


def write_whole(path: Path, *pieces: bytes | memoryview) -> None:
    """Write a file aside, bring it to the disk, and move it to its place.

    Readers see the old contents or the new ones, never a mixture, whenever this process is killed.
    """
    aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}{SUFFIX}")
    try:
        with aside.open("xb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        if isinstance(error, OSError):
            raise StoreError(
                error.errno,
                f"GramStore: {path} cannot be written ({error.strerror}). Free some space, or choose another "
                "place for the store",
            ) from error
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes were writing.  The caller holds the lock, so nobody else is."""
    for path in folder.glob(f".*{SUFFIX}"):
        with contextlib.suppress(OSError):
            path.unlink()


@contextlib.contextmanager
def locked(path: Path, patience: float | None = None) -> Iterator[bool]:
    """Hold a lock that no other process or thread holds; the system releases it if we die.

    With ``patience`` give up after this number of seconds, and yield False.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise StoreError(error.errno, f"GramStore: {path} cannot be opened ({error.strerror})") from error
    with file:
        end = None if patience is None else time.monotonic() + patience
        held = _acquire(file.fileno())
        while not held and (end is None or time.monotonic() < end):
            time.sleep(_POLL_SECONDS)
            held = _acquire(file.fileno())
        try:
            yield held
        finally:
            if held:
                _release(file.fileno())


if sys.platform == "win32":
    import msvcrt

    def _acquire(fd: int) -> bool:
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _release(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)
