"""The table of all laws."""

from . import rules  # noqa: F401 - importing the laws enters them into the table
from .rules.table import LAWS, Law

__all__ = ["LAWS", "Law"]
