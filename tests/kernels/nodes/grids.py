"""Grid graphs, whose Laplacian the cosine transform diagonalises."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

__all__ = ["grid"]


def grid(side: int) -> Any:
    """Adjacency of the grid of ``side`` times ``side`` nodes."""
    path = scipy.sparse.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    eye = scipy.sparse.eye_array(side)
    return (scipy.sparse.kron(path, eye) + scipy.sparse.kron(eye, path)).tocsr()
