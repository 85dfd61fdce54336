"""Prices of houses: a kernel for each group of columns, and a report.

Run: python examples/housing.py [report.html]
"""

import gzip
import sys

import numpy as np
from _data import find

import mercer
from mercer.kernels import Gaussian, Linear, Matern
from mercer.machines import KernelRidge
from mercer.show import Report, canvas, prediction

TRAIN, TEST = 2000, 4000


def load() -> tuple[dict[str, np.ndarray], np.ndarray]:
    with gzip.open(find("vectors/cal_housing.gz"), "rt") as file:
        names = file.readline().strip().split(",")
        values = np.loadtxt(file, delimiter=",")
    table = dict(zip(names, values.T, strict=True))
    price = np.log(table.pop("medianHouseValue"))
    for name in ("totalRooms", "totalBedrooms", "population"):  # per household, on a scale of ratios
        table[name] = np.log(table[name] / table["households"])
    table.pop("households")
    table["medianIncome"] = np.log(table["medianIncome"])
    return table, price


def rows(table: dict[str, np.ndarray], index: np.ndarray) -> dict[str, np.ndarray]:
    return {name: column[index] for name, column in table.items()}


def main() -> None:
    table, price = load()
    order = np.random.default_rng(0).permutation(len(price))
    train, test = order[:TRAIN], order[TRAIN : TRAIN + TEST]
    print(f"{len(price)} districts; {TRAIN} drawn for training and {TEST} others for testing\n")

    place = ("longitude", "latitude")
    house = ("housingMedianAge", "totalRooms", "totalBedrooms", "population", "medianIncome")
    width = np.array([table[name].std() for name in house])
    kernels = {
        "house, linear": mercer.columns({house: Linear()}),
        "house": mercer.columns({house: Gaussian(2 * width)}),
        "place": mercer.columns({place: Matern(0.5, 1.0)}),
        "place + house": mercer.columns({place: Matern(0.5, 1.0), house: Gaussian(2 * width)}),
    }
    scores = []
    for name, kernel in kernels.items():
        machine = KernelRidge(kernel, alpha=0.1, fit_intercept=True).fit(rows(table, train), price[train])
        error = price[test] - machine.predict(rows(table, test))
        scores.append([name, 1 - error.var() / price[test].var()])
        print(f"{name:14}  R² of the logarithm of the price {scores[-1][1]:.3f}")
    print("\nWhy the last kernel is positive definite:\n")
    print(kernel.certificate.deciding.tree())

    if len(sys.argv) > 1:
        figure, ax = canvas()
        prediction(machine, rows(table, test), price[test], ax, data="held-out districts", name="log price")
        page = Report("House prices in California", f"{TRAIN} districts for training, {TEST} for testing.")
        page.table(["kernel", "R²"], scores).proof(kernel).figure(
            figure, "The last kernel, on districts it has not seen."
        )
        print(f"\n{page.save(sys.argv[1])}")


if __name__ == "__main__":
    main()
