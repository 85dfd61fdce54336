"""Odd input for every machine and map: containers, targets, weights, and every parameter.

    python tests/machines/fuzz_inputs.py --cases 2000 --seed 0
    python tests/machines/fuzz_inputs.py --case "SVC, X, polars frame"

A case names a machine, an argument of it or of ``fit``, and an odd value.  It passes if the machine refuses
the value with an error of ours that names the argument, or if it fits as it does on plain arrays.  "fits" and
"refuses" ask for one of the two.  Cases run in a process beside this one: where that one crashes or hangs,
its case has failed, and the next one begins in a new process.
"""

import argparse
import inspect
import os
import random
import select
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier

import mercer.features
import mercer.machines
import mercer.selection
from mercer.errors import MercerError
from mercer.kernels import ExponentialDot, Gaussian, Intersection, MinMax, Polynomial
from mercer.machines import SVC, KernelRidge, MultipleKernelRidge

FITS, REFUSES, EITHER = "fits", "refuses", "either"

#: Seconds that one case may take.
PATIENCE = 30

N = 20
RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 2.0, (N, 3))
NUMBERS = X[:, 0] - X[:, 1] ** 2
CLASSES = (X[:, 0] > X[:, 1]).astype(int)

#: What constructors need, or what makes a fit of a few points quick.
ARGUMENTS = {
    "Cells": (KernelRidge(Gaussian(1.0)),),
    "Conformal": (KernelRidge(Gaussian(1.0)),),
    "EmpiricalMap": (Gaussian(1.0),),
    "Explicit": (Polynomial(2),),
    "Homogeneous": (Intersection(),),
    "IncompleteCholesky": (Gaussian(1.0),),
    "KernelSearchCV": (SVC(Gaussian(1.0)), {"C": [1.0, 10.0]}),
    "MultipleKernelTransformer": (MultipleKernelRidge(),),
    "Nystrom": (Gaussian(1.0), 5),
    "PositiveRandom": (ExponentialDot(), 8),
    "RandomFourier": (Gaussian(1.0), 8),
    "Sampled": (MinMax(), 8),
    "TensorSketch": (Polynomial(2), 8),
}
OPTIONS = {
    "KernelKMeans": {"n_clusters": 2},
    "SpectralClustering": {"n_clusters": 2},
    "Nystrom": {"random_state": 0},
    "KernelPerceptron": {"random_state": 0},
    "PegasosSVC": {"max_iter": 50, "random_state": 0},
    "SVC": {"kernel": Gaussian(1.0)},
    "Conformal": {"random_state": 0},
    "Cells": {"random_state": 0},
}
#: Estimators of something else than rows of numbers with one target.
OTHERS = {
    "KernelGraphInference",
    "FeatureMap",
    "KernelCCA",
    "MercerExpansion",
    "SmoothingSpline",
    "TransductiveAlignment",
    "WeightedMinHash",
}


def estimators():
    """Every public estimator, by name."""
    found = {}
    for module in (mercer.machines, mercer.features, mercer.selection):
        for name in module.__all__:
            cls = getattr(module, name)
            if inspect.isclass(cls) and issubclass(cls, BaseEstimator) and name not in OTHERS:
                found[name] = cls
    return found


def made(cls, **changes):
    names = list(inspect.signature(cls).parameters)
    given = dict(zip(names, ARGUMENTS.get(cls.__name__, ()), strict=False))
    return cls(**{**given, **OPTIONS.get(cls.__name__, {}), **changes})


# -- odd values ---------------------------------------------------------------------------------
def with_one(value, dtype=None):
    A = X.astype(dtype) if dtype else X.copy()
    A[3, 1] = value
    return A


def broken(kind, attribute, value):
    A = getattr(sparse, f"{kind}_array")(X)
    getattr(A, attribute)[3] = value
    return A


def masked(values):
    hidden = np.zeros(np.shape(values), dtype=bool)
    hidden[3] = True
    return np.ma.masked_array(values, hidden)


def memmap():
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, X)
        file.flush()
        return np.load(file.name, mmap_mode="r")


def named(A):
    return {name: A[:, i] for i, name in enumerate("abc")}


def twice():
    frame = pd.DataFrame(X, columns=["a", "b", "a"])
    return frame


POINTS = {
    "list": (FITS, lambda: X.tolist()),
    "tuple of rows": (FITS, lambda: tuple(map(tuple, X))),
    "Fortran order": (FITS, lambda: np.asfortranarray(X)),
    "strides": (FITS, lambda: np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3]),
    "reversed strides": (FITS, lambda: np.ascontiguousarray(X[::-1])[::-1]),
    "read-only": (FITS, lambda: np.frombuffer(X.tobytes()).reshape(X.shape)),
    "memory map": (FITS, memmap),
    "big-endian": (FITS, lambda: X.astype(">f8")),
    "longdouble": (FITS, lambda: X.astype(np.longdouble)),
    "objects": (EITHER, lambda: X.astype(object)),
    "pandas frame": (FITS, lambda: pd.DataFrame(named(X))),
    "pandas, odd index": (FITS, lambda: pd.DataFrame(named(X), index=np.arange(N)[::-1])),
    "pandas, whole numbers as names": (FITS, lambda: pd.DataFrame(X)),
    "pandas, nullable": (FITS, lambda: pd.DataFrame(named(X)).astype("Float64")),
    "pandas, Arrow": (FITS, lambda: pd.DataFrame(named(X)).astype("double[pyarrow]")),
    "polars frame": (FITS, lambda: pl.DataFrame(named(X))),
    "polars array": (FITS, lambda: pl.DataFrame(named(X)).to_numpy()),
    "polars column": (EITHER, lambda: pl.Series(X[:, 0]).to_numpy().reshape(-1, 1)),
    "Arrow table": (FITS, lambda: pa.table(named(X))),
    "Arrow array": (EITHER, lambda: pa.array(X[:, 0]).to_numpy().reshape(-1, 1)),
    **{f"{f} matrix": (EITHER, lambda f=f: getattr(sparse, f"{f}_matrix")(X)) for f in ("csr", "csc", "coo")},
    **{
        f"{f} array": (EITHER, lambda f=f: getattr(sparse, f"{f}_array")(X))
        for f in ("csr", "lil", "dok", "bsr", "dia")
    },
    "masked, nothing hidden": (EITHER, lambda: np.ma.masked_array(X)),
    "generator": (EITHER, lambda: (row for row in X)),
    "huge": (EITHER, lambda: X * 1e155),
    "largest": (EITHER, lambda: X * 8e307),
    "tiny": (EITHER, lambda: X * 1e-155),
    "subnormal": (EITHER, lambda: X * 1e-310),
    "constant": (EITHER, lambda: np.ones_like(X)),
    "half precision": (EITHER, lambda: X.astype(np.float16)),
    "booleans": (EITHER, lambda: X > 1),
    "large integers": (EITHER, lambda: (X * 2.0**62).astype(np.uint64)),
    "NaN": (REFUSES, lambda: with_one(np.nan)),
    "infinity": (REFUSES, lambda: with_one(-np.inf)),
    "NaN in float32": (REFUSES, lambda: with_one(np.nan, np.float32)),
    "None": (REFUSES, lambda: None),
    "None inside": (REFUSES, lambda: with_one(None, object)),
    "complex": (REFUSES, lambda: X + 1j),
    "complex list": (REFUSES, lambda: (X + 1j).tolist()),
    "complex sparse": (REFUSES, lambda: sparse.csr_array(X + 1j)),
    "masked": (REFUSES, lambda: masked(X)),
    "one dimension": (REFUSES, lambda: X[:, 0]),
    "three dimensions": (REFUSES, lambda: X[:, :, None]),
    "no rows": (EITHER, lambda: X[:0]),
    "no columns": (EITHER, lambda: X[:, :0]),
    "ragged": (REFUSES, lambda: [[1.0, 2.0], [3.0]] * (N // 2)),
    "numbers as strings": (EITHER, lambda: X.astype(str)),
    "words": (REFUSES, lambda: ["a", "b"] * (N // 2)),
    "a word": (REFUSES, lambda: "words"),
    "a number": (REFUSES, lambda: 3.0),
    "dict": (REFUSES, lambda: named(X)),
    "set": (REFUSES, lambda: set(X[:, 0])),
    "object": (REFUSES, object),
    "dates": (REFUSES, lambda: X.astype("datetime64[s]")),
    "durations": (REFUSES, lambda: X.astype("timedelta64[s]")),
    "pandas dates": (REFUSES, lambda: pd.DataFrame(named(X)).assign(a=pd.date_range("2020", periods=N))),
    "pandas words": (REFUSES, lambda: pd.DataFrame(named(X)).assign(a="word")),
    "pandas missing": (REFUSES, lambda: pd.DataFrame(named(with_one(np.nan))).astype("Float64")),
    "repeated names": (REFUSES, twice),
    "polars lazy": (REFUSES, lambda: pl.DataFrame(named(X)).lazy()),
    "polars null": (REFUSES, lambda: pl.DataFrame({"a": [1.0, None] * (N // 2), "b": X[:, 1]})),
    "coo row": (REFUSES, lambda: broken("coo", "row", 10**6)),
    "coo negative": (REFUSES, lambda: broken("coo", "col", -1)),
    "csc index": (REFUSES, lambda: broken("csc", "indices", 10**6)),
    "csr index": (REFUSES, lambda: broken("csr", "indices", -7)),
    "csr pointer": (REFUSES, lambda: broken("csr", "indptr", 10**6)),
    "bsr index": (REFUSES, lambda: broken("bsr", "indices", 10**6)),
    "sparse NaN": (REFUSES, lambda: sparse.csr_array(with_one(np.nan))),
}


def targets(y):
    """Odd targets, given plain ones."""
    return {
        "list": (FITS, lambda: y.tolist()),
        "pandas": (FITS, lambda: pd.Series(y)),
        "pandas, odd index": (FITS, lambda: pd.Series(y, index=np.arange(N)[::-1])),
        "polars": (FITS, lambda: pl.Series(y)),
        "Arrow": (FITS, lambda: pa.array(y)),
        "read-only": (FITS, lambda: np.frombuffer(y.tobytes(), dtype=y.dtype)),
        "column": (EITHER, lambda: y[:, None]),
        "objects": (EITHER, lambda: y.astype(object)),
        "booleans": (EITHER, lambda: y > y.mean()),
        "words": (EITHER, lambda: np.where(y > y.mean(), "yes", "no")),
        "constant": (EITHER, lambda: np.ones(N)),
        "huge": (EITHER, lambda: y * 1e200),
        "two columns": (EITHER, lambda: np.column_stack([y, y])),
        "generator": (EITHER, lambda: (v for v in y)),
        "None": (REFUSES, lambda: None),
        "NaN": (REFUSES, lambda: np.where(np.arange(N) == 3, np.nan, y)),
        "infinity": (REFUSES, lambda: np.where(np.arange(N) == 3, np.inf, y)),
        "None inside": (REFUSES, lambda: [None, *y[1:].tolist()]),
        "complex": (REFUSES, lambda: y + 1j),
        "masked": (REFUSES, lambda: masked(y)),
        "three dimensions": (REFUSES, lambda: y[:, None, None]),
        "too short": (REFUSES, lambda: y[:-1]),
        "too long": (REFUSES, lambda: np.append(y, y[:1])),
        "empty": (REFUSES, lambda: y[:0]),
        "mixed": (REFUSES, lambda: ["a", *y[1:].tolist()]),
        "dict": (REFUSES, lambda: dict(enumerate(y.tolist()))),
        "set": (REFUSES, lambda: set(range(N))),
        "dates": (REFUSES, lambda: np.arange(N).astype("datetime64[D]")),
        "pandas dates": (REFUSES, lambda: pd.Series(pd.date_range("2020", periods=N))),
        "a number": (REFUSES, lambda: 1.0),
        "object": (REFUSES, object),
    }


WEIGHTS = {
    "None": (FITS, lambda: None),
    "ones": (FITS, lambda: np.ones(N)),
    "list": (FITS, lambda: [1] * N),
    "pandas": (FITS, lambda: pd.Series(np.ones(N), index=np.arange(N)[::-1])),
    "polars": (FITS, lambda: pl.Series(np.ones(N))),
    "some zero": (EITHER, lambda: np.arange(N) % 2.0),
    "tiny": (EITHER, lambda: np.full(N, 1e-300)),
    "huge": (EITHER, lambda: np.full(N, 1e300)),
    "a number": (EITHER, lambda: 1.0),
    "NaN": (REFUSES, lambda: np.where(np.arange(N) == 3, np.nan, 1.0)),
    "infinity": (REFUSES, lambda: np.where(np.arange(N) == 3, np.inf, 1.0)),
    "negative": (REFUSES, lambda: -np.ones(N)),
    "zero": (REFUSES, lambda: np.zeros(N)),
    "too short": (REFUSES, lambda: np.ones(N - 1)),
    "two dimensions": (REFUSES, lambda: np.ones((N, 2))),
    "complex": (REFUSES, lambda: np.ones(N) * 1j),
    "masked": (REFUSES, lambda: masked(np.ones(N))),
    "words": (REFUSES, lambda: ["a"] * N),
    "dict": (REFUSES, lambda: dict.fromkeys(range(N), 1.0)),
    "dates": (REFUSES, lambda: np.arange(N).astype("datetime64[D]")),
}


def nothing(*args, **options):
    """Return None, whatever it is asked for."""


VALUES = {
    "None": lambda: None,
    "a word": lambda: "no",
    "empty word": lambda: "",
    "-1": lambda: -1,
    "0": lambda: 0,
    "1.5": lambda: 1.5,
    "10**30": lambda: 10**30,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "True": lambda: True,
    "list": lambda: [1, 2],
    "array": lambda: np.array([1, 2]),
    "dict": lambda: {},
    "object": object,
    "complex": lambda: 1j,
    "function": lambda: nothing,
}


def all_cases():
    """(machine, argument, name of the odd value) of all cases."""
    found = []
    for name, cls in estimators().items():
        arguments = inspect.signature(cls.fit).parameters
        found += [(name, "X", odd) for odd in POINTS]
        if "y" in arguments and needs_target(cls):
            found += [(name, "y", odd) for odd in targets(NUMBERS)]
        if "sample_weight" in arguments:
            found += [(name, "sample_weight", odd) for odd in WEIGHTS]
        for parameter in inspect.signature(cls).parameters:
            found += [(name, parameter, odd) for odd in VALUES]
    return found


def needs_target(cls):
    return bool(made(cls).__sklearn_tags__().target_tags.required)


# -- one case, in the process beside ------------------------------------------------------------
def fitted(machine, X, y, **more):
    """What a machine says after a fit about the points that it has seen."""
    arguments = inspect.signature(machine.fit).parameters
    machine.fit(X, y, **more) if "y" in arguments else machine.fit(X, **more)
    for method in ("predict", "transform"):
        if hasattr(machine, method):
            values = getattr(machine, method)(X)
            return values.toarray() if sparse.issparse(values) else np.asarray(values)
    return machine.labels_


def problem(name, argument, odd):
    """What is wrong with the outcome of a case, or None."""
    cls = estimators()[name]
    y = CLASSES if is_classifier(made(cls)) or name == "KernelSearchCV" else NUMBERS
    changes, points, labels, more = {}, X, y, {}
    expected, value = {"X": POINTS, "y": targets(y), "sample_weight": WEIGHTS}.get(
        argument, {odd: (EITHER, VALUES[odd])} if odd in VALUES else {}
    )[odd]
    if name == "LaplacianRLS" and odd in ("NaN", "None inside"):  # points without a target
        expected = EITHER
    default = inspect.signature(cls).parameters.get(argument)
    if argument == "X":
        points = value()
    elif argument == "y":
        labels = value()
    elif argument == "sample_weight":
        more = {"sample_weight": value()}
    else:
        changes = {argument: value()}
        if isinstance(default.default, bool) and odd != "True" and (argument, odd) != ("verbose", "0"):
            expected = REFUSES
    try:
        got = fitted(made(cls, **changes), points, labels, **more)
    except MercerError as error:
        text = str(error)
        if expected is FITS:
            return f"refuses it: {type(error).__name__}: {text[:300]}"
        words = {"X": ("X", "sample", "point", "margin"), "y": ("y", "sample")}.get(
            argument, (argument, "X must have")
        )
        named = any(word in text for word in words)
        return None if named else f"{type(error).__name__} without the argument's name: {text[:300]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    if expected is REFUSES:
        return "accepts it"
    if got.dtype.kind == "f" and not np.isfinite(got).all():
        return "answers with numbers that are not finite"
    if expected is FITS:
        plain = fitted(made(cls), X, y)
        if got.shape != plain.shape or not (
            np.allclose(got, plain, rtol=1e-5, atol=1e-7) if plain.dtype.kind == "f" else (got == plain).all()
        ):
            return "fits otherwise than plain arrays"
    return None


def child():
    """Read cases, a line each, and answer in a line each."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what machines print is no answer
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:  # parameters may be names of files
        os.chdir(folder)
        for line in sys.stdin:
            found = problem(*line.rstrip("\n").split(", ", 2)) or "ok"
            print(found.replace("\n", " "), file=answers, flush=True)


# -- all cases ----------------------------------------------------------------------------------
def failures(cases):
    """Pairs of a case and what is wrong with it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    left = list(reversed(cases))
    while left:
        with subprocess.Popen([sys.executable, __file__, "--child"], **pipes) as process:
            answer = "ok"
            while left and answer:
                case = left.pop()
                process.stdin.write(", ".join(case) + "\n")
                process.stdin.flush()
                in_time = select.select([process.stdout], [], [], PATIENCE)[0]
                answer = process.stdout.readline().rstrip("\n") if in_time else ""
                if answer not in ("", "ok"):
                    yield case, answer
            if not answer:
                process.kill()
                code = process.wait()
                yield case, f"crashes with exit code {code}" if in_time else f"no answer after {PATIENCE} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case")
    parser.add_argument("--machine")
    parser.add_argument("--child", action="store_true")
    options = parser.parse_args()
    if options.child:
        child()
        return
    if options.case is not None:
        warnings.simplefilter("ignore")
        print(problem(*options.case.split(", ", 2)) or "ok")
        return
    cases = all_cases()
    random.Random(options.seed).shuffle(cases)
    if options.machine:
        cases = [case for case in cases if case[0] == options.machine]
    cases, count = cases[: options.cases], 0
    for case, wrong in failures(cases):
        count += 1
        print(f"{', '.join(case)}: {wrong}", flush=True)
    print(f"{len(cases)} cases, {count} failed")
    sys.exit(count > 0)


if __name__ == "__main__":
    main()
