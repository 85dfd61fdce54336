"""The number of threads that the engine uses, and limits on those of BLAS.

Parallelism lives on one level at a time: either a whole block is cut into tiles that run on several threads,
each single-threaded inside, or one native call (or BLAS) spreads over the cores by itself.  Threads of a
:class:`Team` do different work and share the cores: each spreads over its part.

BLAS can be limited for the whole process only.  A thread limits it during its own linear algebra
(:func:`single_threaded_blas`), and gives its limits up while it runs code of the user (:func:`user_code`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import threadpoolctl

from mercer import _native
from mercer.errors import ParameterError

__all__ = ["Team", "few_threads", "inside_tile", "num_threads", "single_threaded_blas", "user_code"]

#: Points up to which linear algebra runs on one thread: memory bounds it, or it is too short to share.
SMALL = 4096

_local = threading.local()
_is_forked = False


def _after_fork() -> None:
    global _is_forked
    _is_forked = True


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_after_fork)


def num_threads() -> int:
    """Number of threads that work may be spread over, from here.

    ``MERCER_NUM_THREADS`` where it is set, else what OpenMP would use, which honours ``OMP_NUM_THREADS`` and
    ``threadpoolctl.threadpool_limits``.  Inside a tile the answer is 1, and so it is in a process that was
    forked: the threads of OpenMP stay behind, and waiting for them would take forever.  Members of a
    :class:`Team` have an equal share each.

    Examples
    --------
    >>> with inside_tile():
    ...     num_threads()
    1
    """
    if _is_forked or getattr(_local, "depth", 0) > 0:
        return 1
    team: Team | None = getattr(_local, "team", None)
    return _all_threads() if team is None else max(1, _all_threads() // team.size)


def _all_threads() -> int:
    text = os.environ.get("MERCER_NUM_THREADS")
    if text is None:
        return _native.max_threads()
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise ParameterError(
            f"mercer: the environment variable MERCER_NUM_THREADS must be an integer of at least 1. "
            f"Got {text!r}. Unset it to use every core that OpenMP offers."
        )
    return count


@contextmanager
def inside_tile() -> Iterator[None]:
    """Mark the calling thread as working on a tile, where no further threads are started."""
    _local.depth = getattr(_local, "depth", 0) + 1
    try:
        yield
    finally:
        _local.depth -= 1


class Team:
    """Threads that work side by side and share what :func:`num_threads` would give each of them.

    Examples
    --------
    >>> team, alone = Team(), num_threads()
    >>> with team.member():
    ...     num_threads() == alone
    True
    """

    def __init__(self) -> None:
        self.size, self._lock = 0, threading.Lock()

    def count(self, more: int) -> None:
        """Count more or fewer at work; for those who are about to begin, and those who do not after all."""
        with self._lock:
            self.size += more

    @contextmanager
    def member(self, *, counted: bool = False) -> Iterator[None]:
        """Have the calling thread at work, who may have been counted before."""
        before = getattr(_local, "team", None)
        self.count(0 if counted else 1)
        _local.team = self
        try:
            yield
        finally:
            _local.team = before
            self.count(-1)


@cache
def _controller() -> Any:
    """The BLAS libraries of the process; finding them takes milliseconds, so it happens once."""
    import scipy.linalg.cython_blas  # noqa: F401  (its BLAS must be loaded to be found)

    return threadpoolctl.ThreadpoolController().select(user_api="blas")


_lock = threading.Lock()
_limits = 0  # over all threads
_limiter: Any = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread in the whole process while at least one caller is inside.

    The first to enter sets the limit, the last to leave restores the previous one; in between, entering and
    leaving cost no more than a lock.  For linear algebra of the library: code of the user runs in
    :func:`user_code`.
    """
    _change_limits(1)
    _local.limits = getattr(_local, "limits", 0) + 1
    try:
        yield
    finally:
        _local.limits -= 1
        _change_limits(-1)


@contextmanager
def user_code() -> Iterator[None]:
    """Give up the limits that the calling thread has set on BLAS: for kernels and callbacks of the user.

    Limits of other threads stay, because the bits of what those compute depend on them.
    """
    own = getattr(_local, "limits", 0)
    if own == 0:
        yield
        return
    _local.limits = 0
    _change_limits(-own)
    try:
        yield
    finally:
        _change_limits(own)
        _local.limits = own


def _change_limits(count: int) -> None:
    global _limits, _limiter
    with _lock:
        before, _limits = _limits, _limits + count
        if before == 0 < _limits:
            _release_control()
            _limiter = _controller().limit(limits=1)
        elif before > 0 == _limits:
            _release_control()
            _limiter.restore_original_limits()
            _limiter = None
            _release_control()


def few_threads(n: int, small: int = SMALL) -> AbstractContextManager[None]:
    """Limit BLAS to one thread for matrices so small that its threads would wait for each other."""
    return single_threaded_blas() if n <= small else nullcontext()


def _release_control() -> None:
    """Let the calling thread set limits, and afterwards any other.

    Recent versions of threadpoolctl listen only to the thread that first set a limit and silently ignore the
    others.  Here the thread that leaves last is rarely the one that came first.
    """
    for library in _controller().lib_controllers:
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)
