"""Graphs as data."""

from ..domains import Graph, GraphBatch

__all__ = ["Graph", "GraphBatch"]
