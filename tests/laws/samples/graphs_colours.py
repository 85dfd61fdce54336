"""Samples of the kernels of Weisfeiler-Lehman colours."""

from __future__ import annotations

from mercer.kernels.dot import Linear
from mercer.kernels.graphs.assignments import WassersteinWL, WLOptimalAssignment
from mercer.kernels.graphs.histograms import EdgeHistogram
from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman
from mercer.kernels.radial import Gaussian

from ..cases import Case
from .graphs_histograms import GRAPHS

__all__ = ["CASES"]

CASES: list[Case] = [
    *(Case(WeisfeilerLehman(h), GRAPHS) for h in (0, 1, 5)),
    Case(WeisfeilerLehman(3, edge_labels=False), GRAPHS),
    *(Case(WeisfeilerLehman(2, base=base), GRAPHS) for base in (EdgeHistogram(), Linear(), Gaussian(2.0))),
    *(Case(WLOptimalAssignment(h), GRAPHS) for h in (0, 4)),
    Case(WLOptimalAssignment(2, edge_labels=False), GRAPHS),
    *(Case(WassersteinWL(h, g), GRAPHS) for h, g in ((0, 1.0), (3, 0.1), (3, 20.0))),
]
