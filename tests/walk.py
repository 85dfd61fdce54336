"""How far everyday calls walk through the library, and its size: counts, no times.

    python tests/walk.py

A call is traced on data that it has not seen, after one on other data, in all threads that it starts.
Functions of this package count, and code without a file that they run; comprehensions do not, since only some
versions of Python give them frames.  A *return* is a step into a folder of the package that was left before.
A *hop* is a function or method of fewer than ten lines that the sources name exactly once.
"""

import ast
import collections
import json
import os
import re
import sys
import threading
import warnings
from pathlib import Path

import numpy as np

import mercer
from mercer.features import RandomFourier
from mercer.kernels import Gaussian, Spectrum, WeisfeilerLehman, WhiteNoise
from mercer.machines import SVC, Conformal, GaussianProcessRegressor, KernelRidge
from mercer.selection import KernelSearchCV

SOURCES = Path(mercer.__file__).parent
COMPREHENSIONS = {"<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}
SLOPES = re.compile("_slopes?|_other_slopes|_gradient|_adjoint|_derivative|_diagonal_(gradient|slopes)")


def everyday_calls():
    """Pairs of a name and a function of 0 or 1, which chooses the data."""

    def table(n, seed):
        rng = np.random.default_rng([n, seed])
        X = rng.standard_normal((n, 5))
        return (
            X,
            (X[:, 0] * X[:, 1] + 0.3 * X[:, 2] > 0).astype(int),
            np.sin(X[:, 0]) + 0.1 * rng.standard_normal(n),
        )

    def words(seed):
        return ["".join(np.random.default_rng([seed, i]).choice(list("ACGT"), 30)) for i in range(60)]

    def ring(seed, i):
        labels = np.random.default_rng([seed, i]).choice(list("CNO"), 8)
        return 8, [(j, (j + 1) % 8) for j in range(8)], list(labels)

    def process(X, _, y):
        return GaussianProcessRegressor(1.0 * Gaussian(1.0) + WhiteNoise(0.1)).fit(X, y)

    big, mid = ([table(n, seed) for seed in (0, 1)] for n in (500, 200))
    texts = [words(seed) for seed in (0, 1)]
    rings = [[ring(seed, i) for i in range(60)] for seed in (0, 1)]
    thirds = np.arange(60) % 3
    k = Gaussian(1.0)
    grid = {"kernel": [Gaussian(0.5), Gaussian(1.0)], "C": [0.1, 1.0, 10.0]}
    fitted = SVC(k).fit(*big[0][:2])
    fourier = RandomFourier(k, 64).fit(big[0][0])
    conformal = Conformal(KernelRidge(k)).fit(mid[0][0], mid[0][2])
    return [
        ("SVC.fit", lambda i: SVC(Gaussian(1.0)).fit(*big[i][:2])),
        ("SVC.predict, one row", lambda i: fitted.predict(big[i][0][:1])),
        ("SVC(WeisfeilerLehman).fit", lambda i: SVC(WeisfeilerLehman(2)).fit(rings[i], thirds)),
        ("KernelRidge.fit", lambda i: KernelRidge(Gaussian(1.0)).fit(big[i][0], big[i][2])),
        ("KernelRidge(Spectrum).fit", lambda i: KernelRidge(Spectrum(3)).fit(texts[i], thirds)),
        ("GaussianProcessRegressor.fit", lambda i: process(*mid[i])),
        ("KernelSearchCV.fit", lambda i: KernelSearchCV(SVC(Gaussian(1.0)), grid, cv=3).fit(*big[i][:2])),
        ("block", lambda i: k.block(big[i][0], big[i][0])),
        ("k(x, y)", lambda i: k(big[i][0][0], big[i][0][1])),
        ("RandomFourier.transform", lambda i: fourier.transform(big[i][0])),
        ("Conformal.predict_interval", lambda i: conformal.predict_interval(mid[i][0][:5])),
    ]


def trace(call):
    """Functions, files, calls and returns of a call, and what it returns."""
    call(0)
    functions, files, left, count, returns, folder = set(), set(), set(), 0, 0, None

    def profile(frame, event, _):
        nonlocal count, returns, folder
        code, caller = frame.f_code, frame.f_back
        if event != "call" or code.co_name in COMPREHENSIONS:
            return
        file = Path(code.co_filename)
        is_generated = code.co_filename.startswith("<") and caller is not None
        if not (caller if is_generated else frame).f_code.co_filename.startswith(str(SOURCES)):
            return
        count += 1
        functions.add((code.co_filename, code.co_qualname))
        if is_generated:
            return
        files.add(file)
        here = file.relative_to(SOURCES).parts[0]
        if folder is not None and here != folder:
            left.add(folder)
            returns += here in left
        folder = here

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        result = call(1)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {"functions": len(functions), "files": len(files), "calls": count, "returns": returns}, result


def walks():
    """Counts of all everyday calls by name; for a process also the calls of an evaluation of the evidence."""
    found = {}
    for name, call in everyday_calls():
        found[name], result = trace(call)
        if isinstance(result, GaussianProcessRegressor):
            found[name]["calls per evaluation"] = round(found[name]["calls"] / result.n_iter_)
    return found


def size():
    """Figures of the sources."""
    short, names, private = collections.defaultdict(list), collections.Counter(), 0
    constants = slopes = longest = 0
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text()
        tree = ast.parse(text)
        longest = max(longest, text.count("\n"))
        constants += len(re.findall(r"^[A-Z][A-Z0-9_]+(?:, [A-Z0-9_]+)*(?:: [^=]+)? = ", text, re.M))
        here = collections.Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and re.match("_(?!_)", node.name):
                private += here[node.name] == 1
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute):
                names[node.id if isinstance(node, ast.Name) else node.attr] += 1
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
                is_documented = len(node.body) > 1 and ast.get_docstring(node) is not None
                short[node.name].append(node.end_lineno - node.body[is_documented].lineno + 1)
                slopes += SLOPES.fullmatch(node.name) is not None
    return {
        "hops": sum(len(lines) == 1 and lines[0] < 10 and names[name] == 1 for name, lines in short.items()),
        "slope definitions": slopes,
        "private functions with one use": private,
        "module constants": constants,
        "modules at the top": len(list(SOURCES.glob("*.py"))),
        "lines of the longest file": longest,
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    os.environ["MERCER_NUM_THREADS"] = "1"
    os.environ.pop("MERCER_MEMORY", None)
    json.dump({**walks(), "sources": size()}, sys.stdout, indent=2)
