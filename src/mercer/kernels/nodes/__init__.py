"""Kernels on the nodes of one graph."""

__all__: list[str] = []
