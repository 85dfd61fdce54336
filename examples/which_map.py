"""Which feature map for the incomes of a9a, and a support vector machine on it beside the exact one.

Run: python examples/which_map.py [report.html]
"""

import gzip
import sys
import time

import numpy as np
from _data import find
from sklearn.datasets import load_svmlight_file

from mercer.features import advise
from mercer.kernels import Gaussian
from mercer.machines import SVC
from mercer.show import Report, advice, canvas

TRAIN, TEST = 10_000, 5_000


def main() -> None:
    with gzip.open(find("vectors/a9a.gz")) as file:
        X, y = load_svmlight_file(file, n_features=123)
    order = np.random.default_rng(0).permutation(X.shape[0])
    train, test = order[:TRAIN], order[TRAIN : TRAIN + TEST]
    X, k = X.toarray(), Gaussian(5.0)
    found = advise(k, X[train], y[train])
    print(found, "\n")
    for machine in (SVC(k), SVC(approximation=found.best)):
        start = time.perf_counter()
        machine.fit(X[train], y[train])
        fitted = time.perf_counter()
        error = 1 - machine.score(X[test], y[test])
        seconds = fitted - start, time.perf_counter() - fitted
        print(
            f"{machine.status_}\n  test error {error:.4f}, fit {seconds[0]:.2f} s, predict {seconds[1]:.2f} s"
        )

    if len(sys.argv) > 1:
        figure, ax = canvas()
        advice(found, ax)
        page = Report("Which feature map", f"{k!r} on {TRAIN} people of a9a.")
        print(page.figure(figure, "Error of the kernel against the time of the features.").save(sys.argv[1]))


if __name__ == "__main__":
    main()
