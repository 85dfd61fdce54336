"""Warnings of machines."""

from ..messages import warn

__all__ = ["warn"]
