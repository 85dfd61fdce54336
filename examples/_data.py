"""Finds the data, read in place: in the folder MERCER_DATA, else in ../shared/data beside the project."""

import os
import sys
from pathlib import Path


def find(name: str) -> Path:
    """Return the path of a data file, or say what is missing and end the example without an error."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("MERCER_DATA") or default)
    path = folder / name
    if not path.is_file():
        print(
            f"This example reads {name}, which is not in {folder}. Set MERCER_DATA to the folder that has it."
        )
        sys.exit(0)
    return path
