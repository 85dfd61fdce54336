"""Widths per feature by `tune`: does it pay on new data?

Support vector machines on magic04, spambase and a9a (500 rows to train), ridge regression on elevators
(500 rows), each against the width "scale", and support vector machines against the best of a grid by
cross-validation.  Prints errors on 4,000 other rows; rows of magic04
were used before, to set the ridge of the span.

Run: python examples/relevances.py [--rows 500] [name ...]
"""

import argparse
import gzip
import time
import warnings

import numpy as np
from _data import find
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from mercer.kernels import Gaussian
from mercer.machines import SVC, KernelRidge
from mercer.selection import tune

TRAIN, TEST = 500, 4_000
C_GRID, WIDTHS = np.logspace(-1, 3, 5), np.logspace(-1, 1, 5)


def table(name):
    """Rows of a table of numbers, shuffled and standardised on the training rows."""
    if name == "a9a":
        with gzip.open(find("vectors/a9a.gz")) as file:
            X, y = load_svmlight_file(file, n_features=123)
        X = X.toarray()
    else:
        part = "regression/elevators.csv.gz" if name == "elevators" else f"vectors/{name}.gz"
        letters = {"g": "1", "h": "0"}  # the classes of magic04
        with gzip.open(find(part), "rt") as file:
            lines = [line.strip().split(",") for line in file if line[0] not in "w"]  # a header of words
        rows = np.array([[*row[:-1], letters.get(row[-1], row[-1])] for row in lines if len(row) > 1], float)
        X, y = rows[:, :-1], rows[:, -1]
    order = np.random.default_rng(0).permutation(len(X))[: TRAIN + TEST]
    X, y = X[order], y[order]
    if name != "a9a":
        spread = X[:TRAIN].std(axis=0)
        X = (X[:, spread > 0] - X[:TRAIN, spread > 0].mean(axis=0)) / spread[spread > 0]
        X = np.clip(X, -10, 10)  # a few rows of elevators are a hundred standard deviations away
    if name == "elevators":
        y = (y - y[:TRAIN].mean()) / y[:TRAIN].std()
    return X[:TRAIN], y[:TRAIN], X[TRAIN:], y[TRAIN:]


def error_of(model, X, y):
    """Share of errors, or root mean square error in units of the standard deviation."""
    if hasattr(model, "classes_"):
        return float((model.predict(X) != y).mean())
    return float(np.sqrt(((model.predict(X) - y) ** 2).mean()))


def report(label, make, X, y):
    """Run one method and print its error and time."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = make()
    seconds = time.perf_counter() - start
    model = getattr(found, "machine", found)
    print(f"  {label:<40} {error_of(model, X, y):8.4f} {seconds:7.1f} s", flush=True)
    return found


def classify(name, criteria):
    X, y, X_new, y_new = table(name)
    print(f"{name}: {len(X)} rows to train, {X.shape[1]} features; share of errors on {len(X_new)} others")
    machine = SVC(Gaussian("scale"))
    report('"scale", C = 1', lambda: machine.fit(X, y), X_new, y_new)
    grid = {"kernel__sigma": WIDTHS * Gaussian("scale").resolve(X).sigma, "C": C_GRID}
    report("grid of 5 x 5, 5 folds", lambda: GridSearchCV(machine, grid).fit(X, y), X_new, y_new)
    for criterion in criteria:
        for per_feature in (False, True):
            label = f"{criterion}, {'a width per feature' if per_feature else 'one width'}"
            found = report(
                label,
                lambda c=criterion, p=per_feature: tune(
                    machine, X, y, criterion=c, per_feature=p, n_restarts=5, random_state=0
                ),
                X_new,
                y_new,
            )
    print("    most relevant:", np.argsort(-found.relevances["kernel__sigma"])[:5].tolist())


def regress(name):
    X, y, X_new, y_new = table(name)
    print(f"{name}: {len(X)} rows to train, {X.shape[1]} features; root mean square error on {len(X_new)}")
    machine = KernelRidge(Gaussian("scale"), alpha=0.1, fit_intercept=True, signal_variance="evidence")
    by_loo = KernelRidge(Gaussian("scale"), alpha="loo", fit_intercept=True)
    report('"scale", alpha by leave-one-out', lambda: by_loo.fit(X, y), X_new, y_new)
    for criterion in ("evidence", "loo"):
        for per_feature in (False, True):
            label = f"{criterion}, {'a width per feature' if per_feature else 'one width'}"
            found = report(
                label,
                lambda c=criterion, p=per_feature: tune(machine, X, y, criterion=c, per_feature=p),
                X_new,
                y_new,
            )
    print("    most relevant:", np.argsort(-found.relevances["kernel__sigma"])[:5].tolist())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=TRAIN, help="rows to train on")
    parser.add_argument("names", nargs="*", default=["magic04", "spambase", "a9a", "elevators"])
    options = parser.parse_args()
    TRAIN = options.rows
    for name in options.names:
        if name == "elevators":
            regress(name)
        else:
            classify(name, ("radius_margin", "span"))
