"""How much memory a result may take.

The limit is ``MERCER_MEMORY`` where it is set (``"4GiB"``, ``"500MB"``, plain bytes), else 75 % of what is
available to this process: the free memory of the machine, or what is left to its control group or to its
address space (``RLIMIT_AS``, ``ulimit -v``), whichever is least.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

from .errors import MemoryLimitError, ParameterError

__all__ = ["allows", "available_memory", "can_hold", "format_bytes", "memory_limit", "parse_bytes", "require"]

#: Part of the available memory that one result may take when ``MERCER_MEMORY`` is not set.
SHARE = 0.75

#: Bytes that are taken without reading what is available: that opens a dozen files, and takes a millisecond.
SMALL = 64 << 20

#: Most bytes of a matrix that is held because it is used again: 16,000 points in double precision.
HELD_BYTES = 2 << 30

_UNITS = {
    "": 1,
    "b": 1,
    **{p + "b": 1000**i for i, p in enumerate("kmgt", 1)},
    **{p + "ib": 1024**i for i, p in enumerate("kmgt", 1)},
    **{p: 1024**i for i, p in enumerate("kmgt", 1)},
}
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([kmgt]?i?b?)\s*", re.IGNORECASE)

# The roots of the control groups: the unified hierarchy, and the memory controller of the older one.
_UNIFIED = Path("/sys/fs/cgroup")
_LEGACY = Path("/sys/fs/cgroup/memory")


def parse_bytes(text: str) -> int:
    """Number of bytes written as ``"1048576"``, ``"500MB"`` (decimal), ``"4GiB"`` or ``"4G"`` (binary).

    Examples
    --------
    >>> parse_bytes("4GiB"), parse_bytes("500MB"), parse_bytes("1000")
    (4294967296, 500000000, 1000)
    """
    match = _SIZE.fullmatch(text)
    unit = None if match is None else _UNITS.get(match[2].lower())
    if match is None or unit is None:
        raise ParameterError(
            f"MERCER_MEMORY must be a number of bytes such as '4GiB', '500MB' or '1000000000'. Got {text!r}."
        )
    return int(float(match[1]) * unit)


def format_bytes(count: float) -> str:
    """Amount of memory for people, in GiB (in MiB below a tenth of one).

    Examples
    --------
    >>> format_bytes(3 * 2**30)
    '3.00 GiB'
    """
    return f"{count / 2**30:.2f} GiB" if count >= 0.1 * 2**30 else f"{count / 2**20:.3g} MiB"


def memory_limit() -> int:
    """Bytes that one result may take: ``MERCER_MEMORY``, else 75 % of what is available."""
    text = os.environ.get("MERCER_MEMORY", "").strip()
    return parse_bytes(text) if text else int(SHARE * available_memory())


def allows(count: float, share: float = 1.0) -> bool:
    """Whether ``count`` bytes fit into a share of the limit."""
    if count <= SMALL and "MERCER_MEMORY" not in os.environ:
        return True
    return count <= share * memory_limit()


def can_hold(count: float) -> bool:
    """Whether a matrix of ``count`` bytes is held where it is used more than once.

    The one rule for all solvers: up to 2 GiB, and half of the limit.  Larger matrices are computed again for
    every use.
    """
    return count <= HELD_BYTES and allows(count, 1 / 2)


def require(count: float, what: str, remedy: str = "") -> None:
    """Raise :class:`~mercer.errors.MemoryLimitError` unless ``count`` bytes fit into the limit.

    Parameters
    ----------
    count : float
        Bytes needed.
    what : str
        What needs them, as the subject of a sentence: "the dense 5 x 5 Gram matrix".
    remedy : str
        A sentence saying what to do instead.
    """
    if not allows(count):
        limit = memory_limit()
        remedy = remedy or "Use fewer points or a low-rank approximation."
        raise MemoryLimitError(
            f"{what} needs {format_bytes(count)} and the limit is {format_bytes(limit)}. "
            f"{remedy} MERCER_MEMORY (such as '8GiB') sets another limit."
        )


def available_memory() -> int:
    """Bytes that this process can still take; ``sys.maxsize`` if the system gives no limit.

    Read at most once in a second.
    """
    global _available
    now = time.monotonic()
    if not _available or now - _available[0] > 1:
        _available = now, min(_machine(), _control_groups(), _address_space())
    return _available[1]


#: When the available memory was read, and what it was.
_available: tuple[float, int] | None = None


def _machine() -> int:
    """Free memory of the machine."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):  # macOS knows only the second
        try:
            return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            continue
    return sys.maxsize


def _address_space() -> int:
    """Addresses that the limit of this process leaves."""
    try:
        import resource  # not on Windows

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return sys.maxsize
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError, IndexError):
        return sys.maxsize
    return max(0, limit - used)


def _control_groups() -> int:
    """Room left in the tightest control group above this process."""
    room = sys.maxsize
    try:
        entries = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return room
    for entry in entries:
        if len(entry) != 3:
            continue
        if entry[1] == "":
            room = min(room, _room(_UNIFIED, entry[2], "memory.max", "memory.current", "inactive_file"))
        elif "memory" in entry[1].split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            room = min(room, _room(_LEGACY, entry[2], *names))
    return room


def _room(root: Path, group: str, limit: str, usage: str, reclaimable: str) -> int:
    """Limit minus usage, the least over a group and its ancestors; page cache that can go counts as free.

    Inside a container the path of the group may not exist below the mount: then only its root is seen.
    """
    room = sys.maxsize
    folder = root / group.lstrip("/")
    while True:
        most = _number(folder / limit)
        if most is not None:
            used = _number(folder / usage) or 0
            room = min(room, max(0, most - used + _statistic(folder / "memory.stat", reclaimable)))
        if folder == root or root not in folder.parents:
            return room
        folder = folder.parent


def _number(path: Path) -> int | None:
    """The number in a file; None for ``max``, or if there is no such file."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _statistic(path: Path, name: str) -> int:
    try:
        for line in path.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    except (OSError, ValueError):
        pass
    return 0
