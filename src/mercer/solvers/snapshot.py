"""Where an iteration has come to, in one file that a killed run leaves whole."""

from __future__ import annotations

import hashlib
import io
import time
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, StoreError
from ..gram.store.files import write_whole

__all__ = ["Snapshot", "fingerprint"]

#: Seconds between two snapshots: a kill loses no more than this.
SECONDS = 10.0


class Snapshot:
    """The coefficients that an iteration has reached.

    Parameters
    ----------
    path : path
        Its folder must exist.  The file is written aside and moved to its place.
    problem : str
        Name of the problem, from :func:`fingerprint`: coefficients of another one are refused.
    """

    def __init__(self, path: str | PathLike[str], problem: str) -> None:
        self.path, self._problem = Path(path), problem
        self._next = time.monotonic() + SECONDS

    def load(self) -> NDArray[np.float64] | None:
        """The coefficients of a run that did not come to its end; None if there is no file."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                problem, value = str(file["problem"]), np.asarray(file["value"], dtype=np.float64)
        except (OSError, ValueError, KeyError) as error:
            raise StoreError(f"checkpoint: {self.path} is not a checkpoint ({error}). Remove it.") from error
        if problem != self._problem:
            raise InputError(
                f"checkpoint: {self.path} belongs to another problem: data, kernel, penalty or weights "
                "differ. Remove it, or choose another file."
            )
        return value

    @property
    def is_due(self) -> bool:
        """Whether the last time was long enough ago."""
        return time.monotonic() >= self._next

    def save(self, value: NDArray[np.float64], *, now: bool = False) -> None:
        """Write the coefficients, if the last time was long enough ago."""
        if not now and not self.is_due:
            return
        buffer = io.BytesIO()
        np.savez(buffer, problem=np.array(self._problem), value=value)
        write_whole(self.path, buffer.getbuffer())
        self._next = time.monotonic() + SECONDS

    def remove(self) -> None:
        """The run has come to its end."""
        self.path.unlink(missing_ok=True)


def fingerprint(*parts: NDArray[np.float64] | str) -> str:
    """Name of a problem by the numbers that state it."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
