"""Ctrl-C ends every machine soon, and the loop around it too."""

import signal
import subprocess
import sys
import time

import pytest

#: Generous, for busy machines: it takes less than a second.
SECONDS = 10

# One process for all: it reads what to do, and does it in a loop that only an interrupt ends.
SCRIPT = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
import mercer
from mercer import gram
from mercer.domains import Graph
from mercer.kernels import Gaussian, RandomWalk, Subsequence, TreeWalk
from mercer.machines import *
from sklearn.model_selection import GridSearchCV

rng = np.random.default_rng(0)

def data(n):
    X = rng.standard_normal((n, 5))
    return X, (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int)

def graph(n):
    ends = rng.integers(0, n, (3 * n, 2))
    return Graph(n, [(int(u), int(v)) for u, v in {(min(e), max(e)) for e in ends.tolist()} if u != v])

def slow(x, y):
    return float(np.exp(-abs(x - y)))

while line := input():
    work = eval("lambda: " + line)
    print("at work", flush=True)
    try:
        while True:
            work()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""

WORK = {
    "KernelDiscriminant": "KernelDiscriminant(Gaussian(1.0)).fit(*data(2500))",
    "KernelPCA": "KernelPCA(Gaussian(1.0), solver='dense').fit(data(2500)[0])",
    "KernelRidge": "KernelRidge(Gaussian(1.0), alpha=1e-3).fit(*data(5000))",
    "SVC": "SVC(Gaussian(0.2), C=1e6, tol=1e-6, cache_size=1).fit(*data(3000))",
    "SVC of many classes": "SVC(Gaussian(0.2), C=1e6).fit(data(3000)[0], rng.integers(0, 12, 3000))",
    "KernelLogistic": "KernelLogistic(Gaussian(1.0), alpha=1e-3).fit(*data(3000))",
    "KernelKMeans": "KernelKMeans(Gaussian(1.0), n_clusters=20, n_init=1000).fit(data(3000)[0])",
    "MMDTest": "MMDTest(Gaussian(1.0), n_permutations=10**5).test(data(1500)[0], data(1500)[0])",
    "Gram": "gram(Gaussian(1.0), data(12000)[0]).dense()",
    "strings": "Subsequence(5).block([''.join(rng.choice(list('abcd'), 100)) for _ in range(800)])",
    "Python": "mercer.kernel(slow).block([float(v) for v in rng.standard_normal(3000)])",
    "RandomWalk": "RandomWalk(1e-6).block([graph(2000)])",
    "TreeWalk": "TreeWalk(3, arity=3).block([Graph(201, [(0, i) for i in range(1, 201)])])",
    "GridSearchCV": "GridSearchCV(SVC(Gaussian(0.5)), {'C': [1e3, 1e4]}, cv=3).fit(*data(2000))",
}


@pytest.fixture(scope="module")
def worker():
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen([sys.executable, "-c", SCRIPT], **pipes) as process:
        yield process
        process.stdin.write("\n")
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("name", WORK)
def test_control_c(name, worker):
    worker.stdin.write(WORK[name] + "\n")
    assert worker.stdout.readline() == "at work\n"
    time.sleep(0.5)
    worker.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    assert worker.stdout.readline() == "interrupted\n"
    assert time.perf_counter() - sent < SECONDS
