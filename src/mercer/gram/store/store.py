"""A directory that keeps the values of kernels."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import uuid
import warnings
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import memory
from ...errors import ParameterError, StoreError
from ...kernel import Kernel
from .files import locked, write_whole
from .kernel import Folder, KernelStore

__all__ = ["GramStore", "KernelInfo", "StoreInfo"]

FORMAT, VERSION = "mercer gram store", 1

_open: weakref.WeakValueDictionary[Path, KernelStore] = weakref.WeakValueDictionary()
_mutex = threading.Lock()


@dataclass(frozen=True)
class KernelInfo:
    """What a store keeps of one kernel: points, pages, bytes, and when it was last used (seconds)."""

    digest: str
    kernel: str
    points: int
    pages: int
    nbytes: int
    used: float


@dataclass(frozen=True)
class StoreInfo:
    """What a store keeps; kernels in the order of their last use, the latest first."""

    path: str
    nbytes: int
    max_bytes: int | None
    read_only: bool
    kernels: tuple[KernelInfo, ...]


class GramStore:
    """Directory that keeps kernel values from one run to the next.

    ``mercer.gram(k, X, store=GramStore(path))`` looks values up here and computes only those that are not
    known yet, whatever order, subset or superset of the points they were computed for.  ``docs/store.md``
    says what is kept and how.

    Parameters
    ----------
    path : str or path
        Made if it does not exist.  A directory that holds anything else is refused.
    max_bytes : int or str, optional
        Limit such as ``"10GiB"``.  To stay within it the kernels that have not been used for longest are
        evicted; if the kernel at work alone exceeds it, its further values are not kept, with a warning.
    read_only : bool, default=False
        Look values up but write nothing.

    Examples
    --------
    >>> import tempfile, mercer
    >>> from mercer.gram import gram
    >>> store = GramStore(tempfile.mkdtemp(), max_bytes="1GiB")
    >>> @mercer.kernel(version="1")
    ... def shared(x, y):
    ...     return len(set(x) & set(y))
    >>> K = gram(shared, ["abc", "bcd"], store=store)
    >>> K.dense()
    array([[3., 2.],
           [2., 3.]])
    >>> store.info().kernels[0].points
    2
    >>> store.clear()
    """

    def __init__(
        self, path: str | os.PathLike[str], *, max_bytes: int | str | None = None, read_only: bool = False
    ) -> None:
        self.path = Path(path).expanduser().resolve()
        self.max_bytes = _limit(max_bytes)
        self.read_only = read_only
        if not read_only and self.path.is_dir() and not os.access(self.path, os.W_OK | os.X_OK):
            self.read_only = True
            warnings.warn(
                f"GramStore: {self.path} cannot be written to. Known values are used, new ones are not kept.",
                RuntimeWarning,
                stacklevel=2,
            )
        self._open()

    def _open(self) -> None:
        try:
            if not self.read_only:
                self.path.mkdir(parents=True, exist_ok=True)
            entries = [entry for entry in os.listdir(self.path) if not entry.startswith(".")]
        except OSError as error:
            raise StoreError(
                error.errno, f"GramStore: the directory {self.path} cannot be used ({error.strerror})"
            ) from error
        about = self.path / "store.json"
        if "store.json" in entries:
            _check_format(about)
        elif entries:
            raise StoreError(
                f"GramStore: {self.path} is not a Gram store, and not empty. Choose a directory of its own."
            )
        elif not self.read_only:
            write_whole(about, json.dumps({"format": FORMAT, "version": VERSION}).encode())

    def kernel(self, k: Kernel) -> KernelStore:
        """The values of one kernel; raise :class:`~mercer.errors.DigestError` if it has no digest."""
        digest = k.digest()
        folder = Folder(self.path / digest, digest, repr(k), self.read_only, self.make_room)
        if not self.read_only:
            with contextlib.suppress(OSError):
                os.utime(folder.path / "kernel.json")
        with _mutex:
            found = _open.get(folder.path)
            if found is None or found.folder.read_only != self.read_only:
                found = _open[folder.path] = KernelStore(folder)
            found.use(folder)
            return found

    # -- contents -------------------------------------------------------------------------------
    def info(self) -> StoreInfo:
        """Kernels, points, pages and bytes."""
        kernels = tuple(sorted(map(_describe, self._folders()), key=lambda info: -info.used))
        total = sum(info.nbytes for info in kernels)
        return StoreInfo(str(self.path), total, self.max_bytes, self.read_only, kernels)

    def clear(self, k: Kernel | None = None) -> None:
        """Remove the values of one kernel, or of all."""
        self._require_writable("clear")
        for folder in self._folders():
            if k is None or folder.name == k.digest():
                self._remove(folder)

    def evict(self, max_bytes: int | str | None = None) -> list[str]:
        """Remove the kernels unused for longest until at most ``max_bytes`` are left; return their digests.

        Without an argument the limit of the store is taken.
        """
        self._require_writable("evict")
        limit = self.max_bytes if max_bytes is None else _limit(max_bytes)
        if limit is None:
            raise ParameterError(
                "GramStore.evict: `max_bytes` must be given, for the store has no limit of its own."
            )
        return self._shrink(limit, keep="")

    def make_room(self, count: int, keep: str) -> bool:
        """Evict other kernels until ``count`` bytes more fit; return whether they do."""
        if self.max_bytes is None:
            return True
        self._shrink(self.max_bytes - count, keep)
        return sum(info.nbytes for info in self.info().kernels) + count <= self.max_bytes

    def _shrink(self, limit: int, keep: str) -> list[str]:
        info, gone = self.info(), []
        left = info.nbytes
        for kernel in reversed(info.kernels):
            # Without patience: the caller holds the lock of another kernel, and two may wait for each other.
            if (
                left > limit
                and kernel.digest != keep
                and self._remove(self.path / kernel.digest, patience=0.0)
            ):
                left -= kernel.nbytes
                gone.append(kernel.digest)
        return gone

    def _remove(self, folder: Path, patience: float | None = None) -> bool:
        """Move a folder out of sight at once, then delete it; return whether that could be done."""
        trash = self.path / f".trash-{uuid.uuid4().hex}"
        with locked(self.path / "locks" / f"{folder.name}.lock", patience) as held:
            try:
                if held:
                    folder.rename(trash)
            except FileNotFoundError:  # somebody else has
                return True
            except OSError as error:
                raise StoreError(
                    error.errno, f"GramStore: {folder} cannot be removed ({error.strerror})"
                ) from error
        for leftover in self.path.glob(".trash-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        return held

    def _folders(self) -> list[Path]:
        try:
            return [p for p in self.path.iterdir() if len(p.name) == 64 and p.is_dir()]
        except FileNotFoundError:
            return []

    def _require_writable(self, operation: str) -> None:
        if self.read_only:
            raise StoreError(f"GramStore.{operation}: the store {self.path} is read-only.")

    def __repr__(self) -> str:
        limit = "" if self.max_bytes is None else f", max_bytes={self.max_bytes}"
        return f"GramStore({str(self.path)!r}{limit}{', read_only=True' if self.read_only else ''})"


def _limit(value: Any) -> int | None:
    if isinstance(value, str):
        with contextlib.suppress(ParameterError):
            value = memory.parse_bytes(value)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise ParameterError(
        f"GramStore: `max_bytes` must be a number of bytes or a text such as '10GiB'. Got {value!r}."
    )


def _check_format(path: Path) -> None:
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        known, version = about["format"] == FORMAT, int(about["version"])
    except (OSError, ValueError, TypeError, KeyError):
        known, version = False, 0
    if not known:
        raise StoreError(
            f"GramStore: {path} is not the description of a Gram store. Choose another directory."
        )
    if version > VERSION:
        raise StoreError(
            f"GramStore: {path.parent} was written by a newer version of mercer (format {version}; this one "
            f"reads {VERSION}). Upgrade mercer, or choose another directory."
        )


def _describe(folder: Path) -> KernelInfo:
    info = KernelInfo(folder.name, "", 0, 0, 0, 0.0)
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        info = replace(
            info, kernel=str(json.loads((folder / "kernel.json").read_text(encoding="utf-8"))["kernel"])
        )
        info = replace(info, used=(folder / "kernel.json").stat().st_mtime)
    with contextlib.suppress(OSError):
        size = (folder / "points.bin").stat().st_size
        info = replace(info, points=max(0, size - 16) // 20, nbytes=size)
        with os.scandir(folder / "pages") as entries:
            sizes = [entry.stat().st_size for entry in entries if entry.name.endswith(".page")]
        info = replace(info, pages=len(sizes), nbytes=size + sum(sizes))
    return info
