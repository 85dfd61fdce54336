"""Solubility and lipophilicity of molecules: kernels on fingerprints and on graphs, beside the mean.

Each row has the root mean square error and, as a Gaussian process sees it, the share of the test values
within two standard deviations of the prediction (95 % if the model were right).

Run: python examples/molecules.py [molecule.png]
"""

import csv
import sys

import numpy as np
from _data import find

from mercer import Kernel
from mercer.kernels import MinMax, Tanimoto, WeisfeilerLehman
from mercer.machines import KernelRidge
from mercer.molecules import MolecularGraph, MorganFingerprint, parse
from mercer.show import molecule

DATA = {
    "esol": "measured log solubility in mols per litre",
    "freesolv": "expt",
    "lipophilicity": "exp",
}
KERNELS: dict[str, Kernel] = {
    "Tanimoto, bits": Tanimoto().on(MorganFingerprint()),
    "MinMax, counts": MinMax().on(MorganFingerprint(counts=True)),
    "Weisfeiler-Lehman": WeisfeilerLehman(3).on(MolecularGraph()).normalized(),
}


def load(name: str) -> tuple[list[object], np.ndarray]:
    with open(find(f"molecules/{name}.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = parse([row["smiles"].strip() for row in rows], invalid="skip")
    y = np.array([float(row[DATA[name]]) for row in rows])
    return found.molecules, y[found.positions]


def main() -> None:
    data = {name: load(name) for name in DATA}
    print(f"{'root mean square error':24}{'mean':>8}" + "".join(f"{name:>20}" for name in KERNELS))
    for name, (molecules, y) in data.items():
        order = np.random.default_rng(0).permutation(len(y))
        test, train = order[: len(y) // 5], order[len(y) // 5 :]
        X, Z = [molecules[i] for i in train], [molecules[i] for i in test]
        cells = [f"{np.sqrt(np.mean((y[test] - y[train].mean()) ** 2)):8.3f}"]
        for k in KERNELS.values():
            model = KernelRidge(k, alpha="loo").fit(X, y[train])
            values, std = model.predict(Z, return_std=True)
            errors = values - y[test]
            inside = np.abs(errors) <= 2 * np.sqrt(std**2 + model.noise_variance_)
            cells.append(f"{np.sqrt(np.mean(errors**2)):13.3f} {100 * inside.mean():4.0f} %")
        print(f"{name:24}" + "".join(cells))
        if name == "esol" and len(sys.argv) > 1:
            amygdalin, *others = molecules
            model = KernelRidge(KERNELS["Tanimoto, bits"], alpha="loo").fit(others, y[1:])
            picture = molecule(amygdalin, model.explain(amygdalin)).figure
            picture.savefig(sys.argv[1], dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    main()
