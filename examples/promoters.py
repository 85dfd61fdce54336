"""Which DNA sequences are promoters?  Two kernels of our own on strings, composed and trained.

Run: python examples/promoters.py
"""

import numpy as np
from _data import find
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from mercer.kernels import SetIntersection
from mercer.machines import KernelRidge


def sites(sequence: str) -> set[tuple[int, str]]:
    """Each position with its letter: the sequences are aligned."""
    return set(enumerate(sequence))


def words(sequence: str) -> set[tuple[int, str]]:
    """Three letters at each position."""
    return {(i, sequence[i : i + 3]) for i in range(len(sequence) - 2)}


def main() -> None:
    rows = [line.split(",") for line in find("promoters/promoters.data").read_text().splitlines() if line]
    sequences = [row[2].strip() for row in rows]
    y = np.array([1.0 if row[0].strip() == "+" else -1.0 for row in rows])
    print(f"{len(y)} sequences of {len(sequences[0])} letters, {int((y > 0).sum())} promoters\n")

    kernels = {
        "sites": SetIntersection().on(sites),
        "sites ** 3": SetIntersection().on(sites) ** 3,
        "sites + words": SetIntersection().on(sites) + 3 * SetIntersection().on(words),
        "(sites + words).gaussian(10)": (SetIntersection().on(sites) + SetIntersection().on(words)).gaussian(
            10.0
        ),
    }
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for name, kernel in kernels.items():
        machine = KernelRidge(kernel.normalized(), alpha=0.1)
        right = (cross_val_predict(machine, sequences, y, cv=folds) > 0) == (y > 0)
        print(f"{name:28}  accuracy {right.mean():.3f} in 10 folds")

    print("\nWhy the last one is positive definite:\n")
    print(kernel.certificate.deciding.tree())


if __name__ == "__main__":
    main()
