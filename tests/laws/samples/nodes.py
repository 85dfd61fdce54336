"""Samples of the kernels on nodes: weights, self-loops, isolated nodes, several components, names."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Adjacency
from mercer.kernels import (
    Cutoff,
    Diffusion,
    ExponentialDiffusion,
    GraphMatern,
    Heat,
    InverseCosine,
    LaplacianKernel,
    OneStep,
    PathKernel,
    Regularized,
    SeriesKernel,
    Steps,
    TruncatedSpectrum,
    VonNeumann,
)

from ..cases import Case

__all__ = ["CASES", "NAMED", "PATH", "SIGNED", "WEIGHTED", "cosine"]

#: The path of four nodes.
PATH = Adjacency(4, [(0, 1), (1, 2), (2, 3)])

#: Two components with weights and self-loops, and an isolated node.
WEIGHTED = Adjacency(7, [(0, 1, 2.0), (1, 2, 0.25), (0, 2), (2, 2, 1.5), (3, 4), (4, 5, 3.0), (3, 3)])

#: Weights of both signs.
SIGNED = Adjacency(5, [(0, 1, -1.0), (1, 2, 0.5), (2, 3, -2.0), (3, 0), (4, 4, -0.5)])

#: Nodes that are called by names of several types.
NAMED = Adjacency(4, [(0, 1), (1, 2), (0, 2), (2, 3)], names=["a", 1, ("b", 2), None])

#: A positive definite matrix of similarities.
DOMINANT = Adjacency(3, [(0, 0, 3.0), (1, 1, 3.0), (2, 2, 3.0), (0, 1), (1, 2)])


def cosine(x: np.ndarray) -> np.ndarray:
    """A function of eigenvalues that does not decrease everywhere."""
    return np.asarray(1.0 + np.cos(3.0 * x))


def _nodes(graph: Adjacency) -> list[Any]:
    """All nodes, some of them twice."""
    names = list(graph.names or range(graph.n))
    return [*names, *names[:3]]


CASES: list[Case] = [
    Case(kernel, _nodes(kernel.graph))
    for kernel in (
        *(Diffusion(g, t) for g in (PATH, WEIGHTED, NAMED) for t in (0.0, 0.3, 20.0)),
        *(Diffusion(g, 0.7, laplacian="normalized") for g in (PATH, WEIGHTED)),
        *(ExponentialDiffusion(g, decay) for g in (PATH, WEIGHTED, SIGNED) for decay in (-0.5, 0.0, 1.5)),
        *(VonNeumann(g, decay) for g in (PATH, WEIGHTED, SIGNED) for decay in (-0.2, 0.25)),
        *(PathKernel(g, length) for g in (PATH, WEIGHTED, SIGNED, NAMED) for length in (1, 2, 3, 6)),
        PathKernel(DOMINANT, 3),
        *(SeriesKernel(g, c) for g in (PATH, WEIGHTED, SIGNED) for c in ([0, 1, 1], [1, 0, 0.5], [1, 0.1])),
        SeriesKernel(PATH, []),
        SeriesKernel(Adjacency(3, [(0, 1), (1, 2)]), [0.0, 1.0, 1.0]),
        TruncatedSpectrum(PATH, 1),
        TruncatedSpectrum(WEIGHTED, 3),
        TruncatedSpectrum(DOMINANT, 3),
        *(
            LaplacianKernel(g, r)
            for g in (PATH, WEIGHTED, NAMED)
            for r in (
                Regularized(0.1),
                Heat(2.0),
                OneStep(2.0),
                Steps(2.5, 3),
                InverseCosine(),
                Cutoff(0.8),
                GraphMatern(1.5, 2.0),
                cosine,
            )
        ),
        *(
            LaplacianKernel(WEIGHTED, r, laplacian="combinatorial")
            for r in (Regularized(0.1), Heat(0.1), OneStep(9.0), Steps(10.0, 2), Cutoff(2.0), GraphMatern())
        ),
    )
]
