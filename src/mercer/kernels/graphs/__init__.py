"""Kernels between graphs."""

__all__: list[str] = []
