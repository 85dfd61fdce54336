"""Random features of the incomes of a9a: the error of the kernel against the number of features.

Run: python examples/feature_error.py [report.html]
"""

import gzip
import sys

import numpy as np
from _data import find
from sklearn.datasets import load_svmlight_file

from mercer.features import Nystrom, RandomFourier
from mercer.kernels import Gaussian
from mercer.show import Report, canvas

TRAIN, TEST, SEEDS = 2000, 500, 3
SIZES = [32, 64, 128, 256, 512, 1024, 2048]


def main() -> None:
    with gzip.open(find("vectors/a9a.gz")) as file:
        X = load_svmlight_file(file, n_features=123)[0].toarray()
    order = np.random.default_rng(0).permutation(len(X))
    train, test = X[order[:TRAIN]], X[order[TRAIN : TRAIN + TEST]]
    k = Gaussian("median").resolve(train)
    K = k.block(test)
    maps = {
        "paired": lambda m, seed: RandomFourier(k, m, random_state=seed),
        "offset": lambda m, seed: RandomFourier(k, m, form="offset", random_state=seed),
        "orthogonal": lambda m, seed: RandomFourier(k, m, orthogonal=True, random_state=seed),
        "Nystrom": lambda m, seed: Nystrom(k, m, random_state=seed),
    }

    print(f"{k!r} on people it has not seen: root mean squared error of k(x, y), mean of {SEEDS} draws\n")
    print("features  " + "".join(f"{name:>12}" for name in maps))
    errors: dict[str, list[float]] = {name: [] for name in maps}
    for m in SIZES:
        for name, make in maps.items():
            found = []
            for seed in range(SEEDS if name != "Nystrom" else 1):
                Z = make(min(m, TRAIN), seed).fit(train).transform(test)
                found.append(np.sqrt(np.mean((Z @ Z.T - K) ** 2)))
            errors[name].append(float(np.mean(found)))
        print(f"{m:8}  " + "".join(f"{errors[name][-1]:12.4f}" for name in maps))
    bound = RandomFourier(k, SIZES[-1]).fit(train).error_bound(theorem="hoeffding")
    print(
        f"\nHoeffding's bound on the largest error of the {TRAIN}, {SIZES[-1]} features: {float(bound):.3f}"
    )

    if len(sys.argv) > 1:
        figure, ax = canvas()
        for name, values in errors.items():
            ax.loglog(SIZES, values, marker="o", label=name)
        ax.set_xlabel("features")
        ax.set_ylabel("root mean squared error of k(x, y)")
        ax.legend()
        page = Report("The error of feature maps", f"{k!r} on {TEST} people that no map has seen.")
        page.table(["features", *maps], [[m, *(errors[n][i] for n in maps)] for i, m in enumerate(SIZES)])
        print(page.figure(figure, "Error against the number of features.").save(sys.argv[1]))


if __name__ == "__main__":
    main()
