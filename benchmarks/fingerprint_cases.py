"""Cases of fingerprints, against RDKit."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from mercer.kernels import MinMax, Tanimoto

from .harness import Case, Skipped

N, BITS = 5000, 2048


def fingerprints(counts: bool) -> list[Any]:
    """Fingerprints about as full as those of drugs, as RDKit holds them."""
    if find_spec("rdkit") is None:
        raise Skipped("rdkit is not installed: pip install rdkit")
    from rdkit.DataStructs import ExplicitBitVect, UIntSparseIntVect

    rng = np.random.default_rng(0)
    found = []
    for _ in range(N if not counts else N // 5):
        positions = rng.integers(0, BITS, int(rng.integers(20, 80))).tolist()
        vector = UIntSparseIntVect(BITS) if counts else ExplicitBitVect(BITS)
        for position in positions:
            if counts:
                vector[position] += 1
            else:
                vector.SetBit(position)
        found.append(vector)
    return found


def ours(k: Any) -> Any:
    return lambda vectors: k.block(vectors)


def theirs(vectors: list[Any]) -> np.ndarray:
    from rdkit.DataStructs import BulkTanimotoSimilarity

    return np.array([BulkTanimotoSimilarity(vector, vectors) for vector in vectors])


CASES = [
    Case(
        "tanimoto",
        f"Tanimoto {N:,} x {N:,}, {BITS:,} bits, from RDKit's vectors",
        "RDKit BulkTanimotoSimilarity",
        lambda: fingerprints(False),
        ours(Tanimoto()),
        theirs,
        lambda a, b: bool((a == b).all()),
        repeats=3,
        target=5.0,
    ),
    Case(
        "min-max",
        f"MinMax {N // 5:,} x {N // 5:,}, {BITS:,} counts, from RDKit's vectors",
        "RDKit BulkTanimotoSimilarity",
        lambda: fingerprints(True),
        ours(MinMax()),
        theirs,
        lambda a, b: bool((a == b).all()),
        repeats=3,
        target=None,
    ),
]
