"""How sure is a prediction? Intervals, sets, bounds and reasons, on proteins, gamma rays and houses.

Run: python examples/uncertainty.py [report.html]
"""

import gzip
import sys
import time

import numpy as np
from _data import find

from mercer import guarantees, shapley
from mercer.kernels import Gaussian
from mercer.machines import SVC, SVR, Conformal, GaussianProcessRegressor, KernelRidge
from mercer.show import Report, canvas, intervals, panel, shapley_bars

ALPHA = 0.1
TRAIN, TEST = 2000, 4000


def standardised(table: np.ndarray) -> np.ndarray:
    return (table - table.mean(axis=0)) / table.std(axis=0)


def halves(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:TRAIN], order[TRAIN : TRAIN + TEST]
    return X[train], y[train], X[test], y[test]


def proteins(report: Report) -> None:
    table = standardised(np.loadtxt(find("regression/protein.csv.gz"), delimiter=","))
    X, y, new, truth = halves(table[:, :-1], table[:, -1])
    machines = {
        "ridge, full": Conformal(KernelRidge(Gaussian(1.5), alpha=0.5), method="full"),
        "ridge, jackknife+": Conformal(KernelRidge(Gaussian(1.5), alpha=0.5), method="jackknife+"),
        "process, full": Conformal(GaussianProcessRegressor(Gaussian(1.5), alpha=0.5, tune=None)),
        "SVR, split": Conformal(SVR(Gaussian(1.5), C=1.0), random_state=0),
    }
    print(f"Deviations of {len(truth)} protein structures, intervals at {1 - ALPHA:.0%}:")
    rows = []
    for name, machine in machines.items():
        start = time.perf_counter()
        low, high = machine.fit(X, y).predict_interval(new, ALPHA).T
        seconds = time.perf_counter() - start
        covered = float(np.mean((low <= truth) & (truth <= high)))
        rows.append([name, covered, float(np.mean(high - low)), float(machine.guarantee(ALPHA)), seconds])
        print("  {:18} {:.3f} inside, mean width {:.2f} (guaranteed: {:.1f}), {:.1f} s".format(*rows[-1]))
    figure, ax = canvas(7.0, 3.6)
    intervals(machines["ridge, full"], new[:150], truth[:150], ax, alpha=ALPHA, data="new proteins")
    report.table(["machine", "inside", "mean width", "guaranteed", "seconds"], rows)
    report.figure(figure, "Full conformal intervals of kernel ridge regression.")


def gamma_rays(report: Report) -> None:
    with gzip.open(find("vectors/magic04.gz"), "rt") as file:
        cells = [line.strip().split(",") for line in file if line.strip()]
    X = standardised(np.array([row[:-1] for row in cells], dtype=float))
    y = np.array(["gamma" if row[-1] == "g" else "hadron" for row in cells])
    X, y, new, truth = halves(X, y)
    model = Conformal(SVC(Gaussian(2.0), C=3.0), random_state=0).fit(X, y)
    for alpha in (0.2, 0.1, 0.05):
        sets = model.predict_set(new, alpha)
        held = sets[np.arange(len(truth)), np.searchsorted(model.classes_, truth)].mean()
        sizes = "  ".join(f"{k} labels: {np.mean(sets.sum(axis=1) == k):.2f}" for k in range(3))
        print(f"  alpha={alpha:<4}  {held:.3f} hold the truth   {sizes}")
    found = guarantees.panel(SVC(Gaussian(2.0), C=3.0), X, y, cv=5)
    print(f"\n{found}")
    figure, ax = canvas(7.0, 3.6)
    panel(found, ax)
    report.figure(figure, "Bounds of a support vector machine that tells gamma rays from hadrons.")


def houses(report: Report) -> None:
    with gzip.open(find("vectors/cal_housing.gz"), "rt") as file:
        names = file.readline().strip().split(",")
        values = np.loadtxt(file, delimiter=",")
    price, X = np.log(values[:, -1]), standardised(values[:, :-1])
    X, y, new, _ = halves(X, price)
    model = KernelRidge(Gaussian(1.5), alpha=0.1, fit_intercept=True).fit(X, y)
    found = shapley(model, new[:40], background=X[:100])._replace(names=tuple(names[:-1]))
    mean = np.abs(found.values).mean(axis=0)
    for j in np.argsort(-mean)[:4]:
        print(f"  {names[j]:18} moves the logarithm of the price by {mean[j]:.2f} in the mean")
    figure, (left, right) = canvas(9.0, 3.0, columns=2)
    shapley_bars(found, None, left)
    shapley_bars(found, 0, right)
    report.figure(figure, "Prices of houses: all predictions, and one of them.")


def main() -> None:
    report = Report("How sure is a prediction?")
    proteins(report)
    print(f"\nGamma rays or hadrons, sets of labels of {TEST} events:")
    gamma_rays(report)
    print("\nWhat moves the price of a house in California:")
    houses(report)
    if len(sys.argv) > 1:
        print(f"\n{report.save(sys.argv[1])}")


if __name__ == "__main__":
    main()
