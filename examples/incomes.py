"""Who earns more than 50,000? Support vector machines on census data, with their account of themselves.

Run: python examples/incomes.py
"""

import gzip
import time

import numpy as np
import sklearn.svm
from _data import find
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from mercer.kernels import Gaussian
from mercer.machines import SVC

GAMMA = 0.03


def load(name: str) -> tuple[csr_matrix, np.ndarray]:
    with gzip.open(find(f"vectors/{name}.gz")) as file:
        X, y = load_svmlight_file(file, n_features=123)
    narrow = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn's machines want these
    return csr_matrix((X.data, *narrow), X.shape), y


def main() -> None:
    X, y = load("a9a")
    X_new, y_new = load("a9a.t")
    print(f"{X.shape[0]} people, {X.shape[1]} sparse columns; {X_new.shape[0]} others for testing\n")

    started = time.perf_counter()
    model = SVC(Gaussian.from_gamma(GAMMA)).fit(X, y)
    print(f"mercer        {time.perf_counter() - started:6.1f} s   accuracy {model.score(X_new, y_new):.4f}")
    print(f"              {len(model.support_)} support vectors; {model.status_}; gap {model.gap_:.3g}")

    part = model.compress(0.05)
    print(
        f"compressed    {part.compression_.after} support vectors, decisions change by at most "
        f"{part.compression_.change:.3g}, accuracy {part.score(X_new, y_new):.4f}"
    )

    quick = SVC(Gaussian.from_gamma(GAMMA), time_budget=1.0).fit(X, y)
    print(f"in a second   accuracy {quick.score(X_new, y_new):.4f}; duality gap {quick.gap_:.3g}\n")

    few = 8000
    for name, machine in (
        ("mercer", SVC(Gaussian.from_gamma(GAMMA))),
        ("scikit-learn", sklearn.svm.SVC(gamma=GAMMA)),
    ):
        started = time.perf_counter()
        machine.fit(X[:few], y[:few])
        seconds = time.perf_counter() - started
        print(f"{name:13} {seconds:6.1f} s   accuracy {machine.score(X_new, y_new):.4f}   on {few} people")


if __name__ == "__main__":
    main()
