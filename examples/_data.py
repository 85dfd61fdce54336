"""Finds the data, read in place: in the folder MERCER_DATA, else in ../shared/data beside the project."""

import os
import sys
from pathlib import Path


def find(*names: str) -> Path:
    """Return the path of the first of some data files, or say what is missing and end without an error."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("MERCER_DATA") or default)
    path = next((folder / name for name in names if (folder / name).is_file()), None)
    if path is None:
        print(
            f"This example reads {names[0]}, which is not in {folder}. Set MERCER_DATA to the "
            "folder that has it."
        )
        sys.exit(0)
    return path
