"""Ctrl-C in a run."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from mercer.engine.runs import running


@contextmanager
def interruption(expected: bool = True) -> Iterator[None]:
    """A run; if it is interrupted, it goes to its end with what was reached, and raises there."""
    if not expected:
        yield
        return
    ended = False
    with pytest.raises(KeyboardInterrupt), running("test"):  # noqa: PT012 - the end of the body counts
        yield
        ended = True
    assert ended
