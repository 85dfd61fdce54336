"""Several kernels with learned weights: DNA, a table of numbers and text, and images.

Promoters: kernels on strings, combined; sequences that share twelve letters in a row stay in one fold.
Solubility of molecules (ESOL): a table with numbers and one column of text, each column with a kernel of its
own, and then products of columns, which come in only after the columns themselves.  Digits: pixels by
Gaussian kernels of three widths, and patches by a Fisher vector.

Beside the learned weights stand those of the average and of the alignment, each kernel alone, and the kernel
that does best within the training data ("best, chosen").  C = 10 and alpha = 0.1 throughout; nothing is
chosen on test data.

What comes out: in the table learned weights are the best, and products of columns gain a little more; for
digits they find the right width among three, and add the patches.  For promoters they are worse than the
average.  A margin is a number of the training data: stretches that overlap are recognised by words of six
letters, which therefore get a large weight, and say nothing about the test folds, where no stretch overlaps
with those of training.  (With one sequence of each family, words of six letters have no weight.)
Cross-validation that keeps families together chooses the right kernel.

Run: python examples/multiple_kernels.py [weights.png]
"""

import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from _data import find
from promoters import families, load
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

from mercer import Kernel
from mercer.kernels import (
    FisherVector,
    GappedKmer,
    Gaussian,
    Linear,
    LocalAlignment,
    Mismatch,
    Spectrum,
    WeightedDegree,
    columns,
)
from mercer.machines import KernelHierarchy, MultipleKernelRidge, MultipleKernelSVC
from mercer.models import Mixture
from mercer.show import canvas, kernel_weights

C, ALPHA = 10.0, 0.1
FOLDS, INNER_FOLDS = 5, 3

WEIGHTS: dict[str, dict[str, Any]] = {
    "average": {"weights": "average"},
    "alignment": {"weights": "alignment"},
    "learn": {"weights": "learn"},
    "learn, norm 2": {"weights": "learn", "norm": 2.0},
}

Rows = np.ndarray
Splits = Iterator[tuple[Rows, Rows]]
Errors = dict[str, float]


def rows_of(X: Any, rows: Rows) -> Any:
    """Some rows of a list or of a table."""
    return {name: [X[name][i] for i in rows] for name in X} if isinstance(X, dict) else [X[i] for i in rows]


def error(machine: Any, X: Any, y: np.ndarray, splits: Splits) -> float:
    """Share of wrong labels, or root of the mean squared error, on test rows."""
    losses: list[float] = []
    for train, test in splits:
        predicted = clone(machine).fit(rows_of(X, train), y[train]).predict(rows_of(X, test))
        wrong = predicted != y[test] if y.dtype.kind != "f" else (predicted - y[test]) ** 2
        losses.extend(np.asarray(wrong, dtype=float))
    mean = float(np.mean(losses))
    return mean if y.dtype.kind != "f" else mean**0.5


def compare(
    kernels: Mapping[str, Kernel], machine: Any, X: Any, y: np.ndarray, splits: Callable[..., Splits]
) -> Errors:
    """Errors of each kernel alone, of the best within the training data, and of the weighted sums."""
    every = np.arange(len(y))
    found = {
        f"  {name}": error(clone(machine).set_params(kernels=[k]), X, y, splits(every))
        for name, k in kernels.items()
    }
    chosen: list[float] = []
    for train, test in splits(every):
        inside = {
            name: error(
                clone(machine).set_params(kernels=[k]),
                rows_of(X, train),
                y[train],
                splits(train, INNER_FOLDS),
            )
            for name, k in kernels.items()
        }
        best = kernels[min(inside, key=inside.__getitem__)]
        chosen.append(error(clone(machine).set_params(kernels=[best]), X, y, iter([(train, test)])))
    numeric = y.dtype.kind == "f"
    found["best, chosen"] = float(np.mean(np.square(chosen)) ** 0.5 if numeric else np.mean(chosen))
    for name, params in WEIGHTS.items():
        found[name] = error(clone(machine).set_params(kernels=kernels, **params), X, y, splits(every))
    return found


# -- data ---------------------------------------------------------------------------------------------
def promoters() -> tuple[Errors, Any]:
    """Kernels on strings."""
    sequences, labels = load()
    groups = families(sequences)
    kernels = {
        "Spectrum(3)": Spectrum(3).normalized(),
        "Spectrum(6)": Spectrum(6).normalized(),
        "Mismatch(5, 1)": Mismatch(5, 1).normalized(),
        "GappedKmer(6, 4)": GappedKmer(6, 4).normalized(),
        "LocalAlignment": LocalAlignment("dna", beta=0.1, open=10.0, extend=0.5).normalized(),
        "WeightedDegree(4)": WeightedDegree(4).normalized(),
        "WeightedDegree(4), shift 2": WeightedDegree(4, shift=2).normalized(),
    }

    def splits(rows: Rows, folds: int = FOLDS) -> Splits:
        kind = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
        return kind.split(rows, labels[rows], groups[rows])

    machine = MultipleKernelSVC(C=C)
    found = compare(kernels, machine, sequences, labels, splits)
    return found, machine.set_params(kernels=kernels).fit(sequences, labels)


def solubility(n: int = 400) -> tuple[Errors, Any]:
    """Numbers and text in one table, and products of its columns."""
    with find("molecules/esol.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    order = np.random.default_rng(0).permutation(len(table))[:n]
    numbers = {
        "degree": "Minimum Degree",
        "weight": "Molecular Weight",
        "donors": "Number of H-Bond Donors",
        "rings": "Number of Rings",
        "bonds": "Number of Rotatable Bonds",
        "surface": "Polar Surface Area",
    }
    X: dict[str, list[Any]] = {"smiles": [table[i]["smiles"] for i in order]}
    for name, column in numbers.items():
        values = np.array([float(table[i][column]) for i in order])
        X[name] = list((values - values.mean()) / values.std())
    y = np.array([float(table[i]["measured log solubility in mols per litre"]) for i in order])
    parts = {"smiles": Spectrum(3).normalized(), **dict.fromkeys(numbers, Gaussian(1.0))}
    kernels = {name: columns({name: k}) for name, k in parts.items()}

    def splits(rows: Rows, folds: int = FOLDS) -> Splits:
        return KFold(folds, shuffle=True, random_state=0).split(rows)

    machine = MultipleKernelRidge(alpha=ALPHA)
    found = compare(kernels, machine, X, y, splits)
    machine.set_params(kernels=KernelHierarchy.products(kernels, degree=2))
    found["learn, products of two columns"] = error(machine, X, y, splits(np.arange(n)))
    return found, machine.fit(X, y)


def digits(n: int = 500) -> tuple[Errors, Any]:
    """Pixels and patches."""
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.images))
    images, y = data.images[order] / 16, data.target[order].astype(str)
    patches = [
        np.array([im[i : i + 3, j : j + 3].ravel() for i in range(6) for j in range(6)]) for im in images
    ]
    others = np.vstack(patches[n : n + 300])  # images that take no part in the comparison
    mixture = Mixture.fit(others, 16, covariance_type="diag", random_state=0)
    X = {"pixels": list(images[:n].reshape(n, -1)), "patches": patches[:n]}
    kernels = {f"pixels, width {w:g}": columns({"pixels": Gaussian(w)}) for w in (0.5, 1.5, 4.0)}
    kernels["pixels, linear"] = columns({"pixels": Linear()})
    kernels["patches, Fisher"] = columns({"patches": FisherVector(mixture, improved=True)})
    y = y[:n]

    def splits(rows: Rows, folds: int = 3) -> Splits:
        return StratifiedKFold(folds, shuffle=True, random_state=0).split(rows, y[rows])

    machine = MultipleKernelSVC(C=C)
    found = compare(kernels, machine, X, y, splits)
    return found, machine.set_params(kernels=kernels).fit(X, y)


def main() -> None:
    models: dict[str, Any] = {}
    for make, title in (
        (promoters, "promoters: share of errors"),
        (solubility, "solubility: root mean squared error"),
        (digits, "digits: share of errors"),
    ):
        errors, model = make()
        print(title)
        for name, value in errors.items():
            print(f"  {name:36s} {value:.3f}")
        print(f"  weights on all data ({model.status_}):")
        print("\n".join(f"    {line}" for line in str(model.kernel_weights()).splitlines()[1:9]) + "\n")
        models[title.split(":")[0]] = model
    if len(sys.argv) > 1:
        figure, axes = canvas(7.0, 9.0, rows=3)
        for ax, (title, model) in zip(axes, models.items(), strict=True):
            kernel_weights(model, n=8, ax=ax).set_title(title)
        figure.savefig(sys.argv[1], dpi=150, facecolor="white")


if __name__ == "__main__":
    main()
