"""Warnings that point at the line of the user, not at one of ours."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

__all__ = ["warn"]


def warn(message: str, category: type[Warning]) -> None:
    """Warn, as if from the line that called into this package."""
    # Between the user and the warning: our code, and mixins of scikit-learn that call ``fit`` for the user.
    packages = (sys.modules[name].__file__ for name in (__package__, "sklearn") if name in sys.modules)
    between = tuple(f"{Path(str(path)).parent}{os.sep}" for path in packages)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(between):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
