"""Time series of the UCR archive: nearest neighbours by warping, and a support vector machine on alignments.

Run: python examples/time_series.py

Prints the errors on the test sets, with all parameters chosen on the training sets, and draws into
time_series.png how two series of one class are aligned.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from _data import find
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from mercer.kernels import DTW, GlobalAlignment
from mercer.machines import SVC

NAMES = ["GunPoint", "ECG200", "Trace", "ItalyPowerDemand", "SyntheticControl", "BasicMotions"]

#: Bands to choose from, as shares of the length, and multiples of the median rule for the width.
BANDS = (0.0, 0.05, 0.1, 0.2, None)
WIDTHS = (0.1, 0.3, 1.0, 3.0)
PENALTIES = (1.0, 10.0, 100.0, 1000.0)

Split = tuple[np.ndarray, np.ndarray]


# -- data -----------------------------------------------------------------------------------------
def load(name: str) -> tuple[Split, Split]:
    """Training and test set: series of shape (n, length, channels), and their classes."""
    folder = find(f"ucr/{next(files(name))}").parent
    if name == "Trace":
        arrays = np.load(folder / "Trace.npz")
        return tuple((as_channels(arrays[f"X_{p}"]), arrays[f"y_{p}"]) for p in ("train", "test"))
    return tuple(read(folder / file.partition("/")[2]) for file in files(name))


def files(name: str) -> Iterator[str]:
    if name == "Trace":
        yield "Trace/Trace.npz"
        return
    ending = "ts" if name in ("ItalyPowerDemand", "BasicMotions") else "txt"
    for part in ("TRAIN", "TEST"):
        yield f"{name}/{name}_{part}.{ending}"


def read(path: Path) -> Split:
    """Read the two text formats of the archive: columns with the class first, or channels between colons."""
    lines = path.read_text().splitlines()
    if path.suffix == ".txt":
        rows = np.array([line.split() for line in lines if line], dtype=float)
        return as_channels(rows[:, 1:]), rows[:, 0]
    series, labels = [], []
    for line in lines[lines.index("@data") + 1 :]:
        *channels, label = line.split(":")
        series.append(np.array([channel.split(",") for channel in channels], dtype=float).T)
        labels.append(label)
    return np.stack(series), np.array(labels)


def as_channels(X: np.ndarray) -> np.ndarray:
    return X[:, :, None] if X.ndim == 2 else X


def standardized(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bring the channels to one scale, that of the training set."""
    centre, scale = train.mean(axis=(0, 1)), train.std(axis=(0, 1))
    return (train - centre) / scale, (test - centre) / scale


# -- two methods ----------------------------------------------------------------------------------
def nearest(D: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return labels[D.argmin(axis=1)]


def warping_error(train: Split, test: Split) -> tuple[float, int | None]:
    """Error of the nearest neighbour by warping.

    The band is the one that errs least on the training set, each of its series compared with the others.
    """
    (X, y), (X_test, y_test) = train, test
    best: tuple[float, int | None] = (np.inf, None)
    for share in BANDS:
        band = None if share is None else round(share * X.shape[1])
        D = DTW(band=band, layout="time_first").distances(X)
        np.fill_diagonal(D, np.inf)
        error = float(np.mean(nearest(D, y) != y))
        if error < best[0]:
            best = error, band
    band = best[1]
    D = DTW(band=band, layout="time_first").distances(X_test, X)
    return float(np.mean(nearest(D, y) != y_test)), band


def alignment_machine(train: Split) -> GridSearchCV:
    """Support vectors with the global alignment kernel; width and C by cross-validation."""
    X, y = train
    rule = GlobalAlignment("median", layout="time_first").resolve(X)
    grid = {"kernel": [rule.replace(sigma=w * rule.sigma) for w in WIDTHS], "C": list(PENALTIES)}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(SVC(), grid, cv=folds).fit(X, y)


# -- the picture ----------------------------------------------------------------------------------
def draw(train: Split, search: GridSearchCV, path: str) -> None:
    """Two series of one class above each other, joined where the alignments of most weight go through."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, y = train
    i, j = np.flatnonzero(y == y[0])[:2]
    kernel = search.best_estimator_.kernel
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    lift = 1.2 * float(np.ptp(X))
    axes.plot(X[i, :, 0] + lift, color="tab:blue")
    axes.plot(X[j, :, 0], color="tab:orange")
    found = [c for c in kernel.contributions(X[i], X[j]) if c.x_places]
    heaviest = max(c.weight for c in found)
    for c in found:
        (a, a_end), (b, b_end) = c.x_places[0], c.y_places[0]
        for s in np.linspace(0, 1, 1 + max(a_end - a, b_end - b) // 4):
            at, to = round(a + s * (a_end - 1 - a)), round(b + s * (b_end - 1 - b))
            strength = 0.15 + 0.6 * c.weight / heaviest
            heights = [X[i, at, 0] + lift, X[j, to, 0]]
            axes.plot([at, to], heights, color="black", alpha=strength, linewidth=0.6)
    axes.set_title(f"Two series of GunPoint, k(x, y) = {kernel(X[i], X[j]):.3f}: the weightiest alignment")
    axes.set_xlabel("step")
    axes.set_yticks([])
    figure.savefig(path, dpi=120)


def main() -> None:
    sets = {name: load(name) for name in NAMES}
    print("data               train  test  length  channels   1-NN DTW (band)   alignment SVC")
    for name, (train, test) in sets.items():
        started = time.perf_counter()
        X, X_test = standardized(train[0], test[0])
        train, test = (X, train[1]), (X_test, test[1])
        error, band = warping_error(train, test)
        search = alignment_machine(train)
        n, length, channels = X.shape
        row = f"{name:18} {n:5} {len(X_test):5} {length:7} {channels:9}   {error:8.3f} ({band!s:>4})"
        row += f"   {1.0 - search.score(*test):13.3f}"
        print(f"{row}   {time.perf_counter() - started:.1f} s", flush=True)
        if name == "GunPoint":
            draw(train, search, "time_series.png")
    print("\nWhy the alignment kernel is positive definite:\n")
    print(search.best_estimator_.kernel.certificate.deciding.tree())
    print("\nAnd why the Gaussian of a warping distance is not:\n")
    print(DTW(1.0).certificate.deciding.tree())
    print("\nThe picture of an alignment is in time_series.png")


if __name__ == "__main__":
    main()
