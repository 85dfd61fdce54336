"""Rows of the long demonstration: questions by their parse trees, molecules by their fingerprints."""

from __future__ import annotations

import csv
import os
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from ...kernels import BagOfWords, MinMax, SubsetTree, Tanimoto, WeisfeilerLehman
from ...machines import SVC, KernelRidge
from ...trees import read_kelp

__all__ = ["data_folder", "structured_rows"]


#: A row of the table: data, kernel, score; and the seconds that it took.
Row = tuple[str, str, str, float]


def data_folder() -> Path:
    """Where data sets are that do not come with the library."""
    return Path(os.environ.get("MERCER_DATA") or Path.cwd().parent / "shared" / "data")


def structured_rows(folder: Path) -> list[Row]:
    """Rows of the data sets that are there; molecules need RDKit."""
    rows = []
    if (folder / "trees" / "trec_train.klp.gz").is_file():
        rows += _questions(folder / "trees")
    if (folder / "molecules" / "esol.csv").is_file() and find_spec("rdkit") is not None:
        rows += _solubility(folder / "molecules" / "esol.csv")
    return rows


def _questions(folder: Path) -> list[Row]:
    """Accuracy on the official test set of the TREC questions, six classes."""
    train, test = (read_kelp(folder / f"trec_{part}.klp.gz") for part in ("train", "test"))
    # Questions for training, of 5,452: with all of them the rows would take a minute.
    questions = 1500
    y, truth = np.array(train.labels)[:questions], np.array(test.labels)
    name = f"TREC questions, {questions:,} to learn from: accuracy"
    found: list[Row] = [(name, "largest class", f"{max(np.mean(truth == c) for c in set(y)):.3f}", 0.0)]
    for label, kernel, X, Z in (
        ("`BagOfWords`", BagOfWords(), train.texts["quest"], test.texts["quest"]),
        (
            "`SubsetTree(0.4, leaves=True)`",
            SubsetTree(0.4, leaves=True),
            train.trees["grct"],
            test.trees["grct"],
        ),
    ):
        started = time.perf_counter()
        machine = SVC(kernel.normalized(), C=10).fit(X[:questions], y)
        score, seconds = np.mean(machine.predict(Z) == truth), time.perf_counter() - started
        found.append((name, label, f"{score:.3f}", seconds))
    return found


def _solubility(path: Path) -> list[Row]:
    """Root mean square error on a fifth of the molecules of ESOL."""
    from ...molecules import MolecularGraph, MorganFingerprint, parse

    with path.open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    molecules, kept = parse([record["smiles"].strip() for record in records], invalid="skip")
    y = np.array([float(record["measured log solubility in mols per litre"]) for record in records])[kept]
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    X, Z = [molecules[i] for i in train], [molecules[i] for i in test]
    name = f"solubility of {len(y):,} molecules: root mean square error"
    found: list[Row] = [(name, "the mean", f"{np.sqrt(np.mean((y[test] - y[train].mean()) ** 2)):.3f}", 0.0)]
    for label, kernel in (
        ("`Tanimoto`, bits", Tanimoto().on(MorganFingerprint())),
        ("`MinMax`, counts", MinMax().on(MorganFingerprint(counts=True))),
        ("`WeisfeilerLehman(3)`, graphs", WeisfeilerLehman(3).on(MolecularGraph()).normalized()),
    ):
        started = time.perf_counter()
        errors = KernelRidge(kernel, alpha="loo").fit(X, y[train]).predict(Z) - y[test]
        error, seconds = np.sqrt(np.mean(errors**2)), time.perf_counter() - started
        found.append((name, label, f"{error:.3f}", seconds))
    return found
