"""Kernel graphs: acyclic ones, loops, vertices with kernels, numbers of both signs, no path at all."""

from __future__ import annotations

import numpy as np

from mercer.kernels import Cosine, Gaussian, KernelGraph, Linear, Polynomial

from ..cases import Case

__all__ = ["CASES"]

PLANE = np.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [-1.0, 0.5], [1e-6, 0.0], [3.0, -2.0], [0.5, 0.5]])

DIAMOND = [("s", "a", Linear()), ("s", "b", Gaussian(2.0)), ("a", "t", Polynomial(2)), ("b", "t", 0.5),
           ("s", "t", Linear()), ("a", "b", 1)]  # fmt: skip
LOOPS = [("s", "a", "f"), ("a", "b", "g"), ("b", "a", 0.25), ("b", "b", "g"), ("b", "t", 2)]
SIGNED = [("s", "s", 0.4 * Cosine()), ("s", "t", Gaussian(1.0)), ("t", "s", -0.3)]
NAMED = {"f": Linear(), "g": 0.5 * Gaussian(1.5)}

CASES = [
    Case(KernelGraph(DIAMOND, "s", "t"), PLANE),
    Case(KernelGraph([*DIAMOND, ("t", "u", -Linear()), ("v", "s", Linear())], "s", "t"), PLANE),
    Case(KernelGraph(LOOPS, "s", "t", kernels=NAMED), PLANE),
    Case(KernelGraph(SIGNED, "s", "t"), PLANE),
    Case(KernelGraph([(0, 0, 0.5 * Gaussian(1.0))], 0, 0), PLANE),
    Case(
        KernelGraph([(0, 1), (1, 2), (0, 2)], 0, 2, vertices={0: Gaussian(1.0), 1: Linear(), 2: 3.0}), PLANE
    ),
    Case(KernelGraph([("s", "a", Linear()), ("t", "a", Linear())], "s", "t"), PLANE),
]
