"""Gaussian processes on a table, on stretches of DNA, and on molecules.

The first rows compare two kernels on 1,500 rows of ``elevators``: one width for all features, and one for
each.  The evidence, computed from the training rows alone, knows which of them predicts other rows better.
Then a classifier tells promoters from other DNA, by leave-one-out probabilities beside five folds; and a
process on fingerprints predicts how soluble molecules are, and how sure that is.

Run: python examples/gaussian_processes.py [solubility.png]
"""

import csv
import sys

import numpy as np
from _data import find
from sklearn.model_selection import cross_val_predict

from mercer.errors import MissingExtraError
from mercer.kernels import Gaussian, NGram, Tanimoto, WhiteNoise
from mercer.machines import GaussianProcessClassifier, GaussianProcessRegressor
from mercer.show import canvas


def log_density(y: np.ndarray, mean: np.ndarray, std: np.ndarray) -> float:
    return float(np.mean(-0.5 * np.log(2 * np.pi * std**2) - 0.5 * ((y - mean) / std) ** 2))


def table() -> None:
    values = np.loadtxt(find("regression/elevators.csv.gz"), delimiter=",")
    values = values[np.random.default_rng(0).permutation(len(values))[:3000]]
    values = (values - values.mean(axis=0)) / np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)
    X, y, d = values[:, :-1], values[:, -1], values.shape[1] - 1
    print(f"{'elevators, 1,500 rows':28}{'evidence':>10}{'test log density':>18}{'evaluations':>13}")
    for name, width in (("one width", np.sqrt(d)), ("one width per feature", np.full(d, np.sqrt(d)))):
        kernel = 1.0 * Gaussian(width) + WhiteNoise(0.1)
        model = GaussianProcessRegressor(kernel).fit(X[:1500], y[:1500])
        mean, std = model.predict(X[1500:], return_std=True, include_noise=True)
        density = log_density(y[1500:], mean, std)
        print(f"{name:28}{model.log_marginal_likelihood_value_:10.1f}{density:18.3f}{model.n_iter_:13}")


def promoters() -> None:
    with open(find("promoters/promoters.data"), encoding="utf-8") as file:
        rows = [[part.strip() for part in line.split(",")] for line in file if line.strip()]
    texts, labels = [row[2] for row in rows], np.array([row[0] == "+" for row in rows])
    model = GaussianProcessClassifier(4.0 * NGram(3).normalized()).fit(texts, labels)
    left_out = model.leave_one_out().argmax(axis=1) == labels
    folds = cross_val_predict(model, texts, labels, cv=5) == labels
    print(f"\npromoters: accuracy {left_out.mean():.2f} left out, {folds.mean():.2f} in five folds")


def molecules(picture: str | None) -> None:
    try:
        from mercer.molecules import MorganFingerprint, parse

        with open(find("molecules/esol.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        found = parse([row["smiles"].strip() for row in rows], invalid="skip")
    except MissingExtraError as error:
        print(f"\nmolecules: {error}")
        return
    y = np.array([float(row["measured log solubility in mols per litre"]) for row in rows])[found.positions]
    order = np.random.default_rng(0).permutation(len(y))
    test, train = order[: len(y) // 5], order[len(y) // 5 :]
    kernel = 4.0 * Tanimoto().on(MorganFingerprint()) + WhiteNoise(0.1)
    model = GaussianProcessRegressor(kernel, fit_intercept=True)
    model.fit([found.molecules[i] for i in train], y[train])
    mean, std = model.predict([found.molecules[i] for i in test], return_std=True, include_noise=True)
    error, inside = np.sqrt(np.mean((mean - y[test]) ** 2)), np.mean(np.abs(mean - y[test]) < 2 * std)
    density = log_density(y[test], mean, std)
    print(f"\nsolubility of {len(test)} molecules: root mean square error {error:.2f}, of the mean")
    print(
        f"{y[test].std():.2f}; {100 * inside:.0f} % within two standard deviations, log density {density:.2f}"
    )
    if picture:
        figure, ax = canvas(5.2, 4.4)
        ax.errorbar(y[test], mean, 2 * std, fmt="o", markersize=3, linewidth=0.5, color="#0072b2", alpha=0.6)
        ax.plot([y.min(), y.max()], [y.min(), y.max()], "--", color="#1d2329", linewidth=1)
        ax.set_xlabel("measured log solubility")
        ax.set_ylabel("predicted, ± 2 std")
        figure.savefig(picture, dpi=110, facecolor="white")


if __name__ == "__main__":
    table()
    promoters()
    molecules(sys.argv[1] if len(sys.argv) > 1 else None)
