"""Warnings that point at the line of the user, not at one of ours."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import sklearn

__all__ = ["warn"]

#: Code that stands between the user and the warning: ours, and the mixins that call ``fit`` for the user.
_BETWEEN = (f"{Path(__file__).parent}{os.sep}", f"{Path(sklearn.__file__).parent}{os.sep}")


def warn(message: str, category: type[Warning]) -> None:
    """Warn, as if from the line that called into this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
