"""The stored values of one kernel."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import MercerError, StoreError
from .files import locked, remove_leftovers, write_whole
from .index import Index
from .page import PAGE, PAGE_BYTES, Damaged, Page, read_page, write_page

__all__ = ["Folder", "KernelStore"]

#: Pages kept mapped, and changed pages kept in memory, at most.
MAPPED, CHANGED = 64, 64

#: Changed pages are written once a second, less often if writing takes more than a twentieth of the time.
SECONDS, SHARE = 1.0, 20.0

Place = tuple[int, int]

# Positions of points that have none in a store that is only read.
_FAR = 2**40


@dataclass(frozen=True)
class Folder:
    """Where the values of a kernel are, and who makes room for more."""

    path: Path
    digest: str
    label: str
    read_only: bool
    make_room: Callable[[int, str], bool]

    @property
    def lock(self) -> Path:
        """The file that writers lock; it outlives the folder."""
        return self.path.parent / "locks" / f"{self.digest}.lock"

    @property
    def key(self) -> bytes:
        """Digest of the kernel as it stands in the pages."""
        return bytes.fromhex(self.digest)

    def page(self, place: Place) -> Path:
        """File of a page."""
        return self.path / "pages" / f"{place[0]}-{place[1]}.page"

    def create(self) -> None:
        """Make the folder if it is not there.  The caller holds the lock."""
        try:
            (self.path / "pages").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                error.errno, f"GramStore: {self.path} cannot be made ({error.strerror})"
            ) from error
        remove_leftovers(self.path / "pages")
        remove_leftovers(self.path)
        if not (self.path / "kernel.json").exists():
            about = {"digest": self.digest, "kernel": self.label[:500]}
            write_whole(self.path / "kernel.json", json.dumps(about, indent=1).encode())

    def read(self, place: Place, verify: bool = True) -> Page | None:
        """A page from the disk; None if it is not there or, with a warning, damaged."""
        path = self.page(place)
        try:
            return read_page(path, self.key, *place, verify)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except Damaged as error:
            warnings.warn(
                f"GramStore: {path} is damaged: {error}. Its values are computed again.",
                RuntimeWarning,
                stacklevel=2,
            )
            return None
        except OSError as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(error.errno, f"GramStore: {path} cannot be read ({error.strerror})") from error


class KernelStore:
    """Values of one kernel: a page is looked for among the changed ones, the mapped ones, and on disk.

    There is one object per folder and process, so that all Gram matrices see what any of them has computed.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.generation = 0  # raised when positions have become invalid
        self._mutex = threading.RLock()
        self._index = Index(folder.path / "points.bin")
        self._temporary: dict[bytes, int] = {}
        self._changed: dict[Place, Page] = {}
        self._mapped: OrderedDict[Place, tuple[tuple[int, ...], Page]] = OrderedDict()
        self._verified: dict[Place, tuple[int, ...]] = {}
        self._written, self._cost = time.monotonic(), 0.0
        self._is_full = False
        weakref.finalize(self, _finish, folder, self._changed)

    def use(self, folder: Folder) -> None:
        """Let the limits of the latest caller hold."""
        with self._mutex:
            self.folder, self._is_full = folder, False

    # -- points ---------------------------------------------------------------------------------
    def positions(self, digests: list[str]) -> np.ndarray:
        """Positions of points, given to those that are new (for this process only if it may not write)."""
        keys = [bytes.fromhex(d) for d in digests]
        with self._mutex:
            if not self._index.read():
                self.forget()
            new = [k for k in keys if k not in self._index.position]
            if new and self.folder.read_only:
                for k in new:
                    self._temporary.setdefault(k, _FAR + len(self._temporary))
            elif new:
                self._add(new)
            known, own = self._index.position, self._temporary
            return np.array([known[k] if k in known else own[k] for k in keys], dtype=np.intp)

    def _add(self, keys: list[bytes]) -> None:
        with locked(self.folder.lock):
            self.folder.create()
            if not self._index.read():
                self.forget()
            self._index.append(keys)

    def forget(self) -> None:
        """Drop everything that rests on positions which are not valid any more."""
        with self._mutex:
            self.generation += 1
            self._changed.clear()
            self._mapped.clear()
            self._verified.clear()
            self._is_full = False

    # -- values ---------------------------------------------------------------------------------
    def page(self, place: Place, generation: int) -> Page:
        """What is known on a page, to those whose positions are of this generation; not to be changed."""
        with self._mutex:
            if generation != self.generation:
                return Page.empty()
            if place in self._changed:
                # Other threads go on with it.  What is known by now stays as it is.
                page = self._changed[place]
                return Page(page.rows, page.columns, page.known.copy(), page.values)
            try:
                status = self.folder.page(place).stat()
            except OSError:
                self._mapped.pop(place, None)
                return Page.empty()
            signature = (status.st_ino, status.st_mtime_ns, status.st_size)
            if place in self._mapped and self._mapped[place][0] == signature:
                self._mapped.move_to_end(place)
                return self._mapped[place][1]
            found = self.folder.read(place, verify=self._verified.get(place) != signature)
            if found is None:
                return Page.empty()
            self._verified[place] = signature
            page = found.about(*(self._index.block(number, PAGE) for number in place))
            self._mapped[place] = (signature, page)
            while len(self._mapped) > MAPPED:
                self._mapped.popitem(last=False)
            return page

    def put(
        self, place: Place, generation: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray
    ) -> None:
        """Keep the values of some rows and columns of a page, and write pages when it is time."""
        with self._mutex:
            if self.folder.read_only or self._is_full or generation != self.generation:
                return
            if place not in self._changed:
                self._changed[place] = self.page(place, generation).copy()
            page = self._changed[place]
            page.rows, page.columns = (self._index.block(number, PAGE) for number in place)  # with the newest
            page.put(rows, columns, values)
            if place[0] == place[1]:
                page.put(columns, rows, values.T)
            if len(self._changed) >= CHANGED or self._is_time():
                self.flush()

    def flush_if_due(self) -> None:
        """Write changed pages at the end of a piece of work, if they are few or it is time."""
        with self._mutex:
            # So few pages are written at once.
            if len(self._changed) <= 8 or self._is_time():
                self.flush()

    def _is_time(self) -> bool:
        return time.monotonic() - self._written > max(SECONDS, SHARE * self._cost)

    def flush(self) -> None:
        """Write all changed pages, together with what other processes have put there meanwhile."""
        with self._mutex:
            if not self._changed:
                return
            began = time.monotonic()
            with locked(self.folder.lock):
                if not self._index.read():  # somebody has cleared the store
                    self.forget()
                    return
                new = sum(not self.folder.page(place).exists() for place in self._changed)
                if new and not self.folder.make_room(new * PAGE_BYTES, self.folder.digest):
                    self._give_up()
                    return
                for place in list(self._changed):
                    self._mapped.pop(place, None)
                    _write(self.folder, place, self._changed[place])
                    del self._changed[place]
            self._written = time.monotonic()
            self._cost = self._written - began

    def _give_up(self) -> None:
        self._changed.clear()
        self._is_full = True
        warnings.warn(
            f"GramStore: {self.folder.path.parent} has reached its `max_bytes`. New values of "
            f"{self.folder.label} are computed but not kept.",
            RuntimeWarning,
            stacklevel=2,
        )


def _write(folder: Folder, place: Place, page: Page) -> None:
    there = folder.read(place)
    if there is not None:
        page.absorb(there)
        del there  # some systems cannot replace a file that is mapped
    write_page(folder.page(place), folder.key, *place, page)


def _finish(folder: Folder, changed: dict[Place, Page]) -> None:
    """Write what is left when nobody uses the store any more, or at the end of the process."""
    if not changed:
        return
    # Without patience: this may run within a garbage collection, while the same thread holds the lock.
    with contextlib.suppress(MercerError, OSError), locked(folder.lock, patience=1.0) as held:
        fits = held and folder.path.exists() and folder.make_room(len(changed) * PAGE_BYTES, folder.digest)
        for place, page in changed.items() if fits else ():
            _write(folder, place, page)
