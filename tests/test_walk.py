"""Budgets of everyday calls and of the sources, which only go down: who needs more pays elsewhere."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

#: Functions, files, calls and returns of each call; see ``tests/walk.py``.
CALLS = {
    "SVC.fit": (329, 49, 589, 124),
    "SVC.predict, one row": (116, 24, 169, 33),
    "SVC(WeisfeilerLehman).fit": (345, 50, 2390, 420),
    "KernelRidge.fit": (232, 44, 367, 74),
    "KernelRidge(Spectrum).fit": (226, 42, 546, 110),
    "GaussianProcessRegressor.fit": (301, 57, 11786, 2507),
    "KernelSearchCV.fit": (420, 59, 6119, 1395),
    "block": (70, 17, 93, 10),
    "k(x, y)": (23, 7, 34, 6),
    "RandomFourier.transform": (26, 10, 31, 4),
    "Conformal.predict_interval": (126, 29, 199, 42),
}
CALLS_PER_EVALUATION = 737

SOURCES = {
    "hops": 502,
    "slope definitions": 106,
    "private functions with one use": 641,
    "module constants": 782,
    "modules at the top": 21,
    "lines of the longest file": 589,
}


@pytest.fixture(scope="module")
def measured():
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("MERCER_", "OPENBLAS_"))
    }
    done = subprocess.run(
        [sys.executable, ROOT / "tests" / "walk.py"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return json.loads(done.stdout)


def other_versions():
    """Packages of other versions than those with which the calls were counted."""
    lines = (ROOT / ".ci" / "constraints.txt").read_text().splitlines()
    pinned = dict(
        re.fullmatch(r"([\w.-]+)==([\w.]+)", line).groups() for line in lines if line and line[0] != "#"
    )
    return [f"{name} {version(name)}" for name, wanted in pinned.items() if version(name) != wanted]


@pytest.mark.parametrize("call", CALLS)
def test_walk(call, measured):
    others = other_versions()
    if others:
        pytest.skip(f"counted with the versions of .ci/constraints.txt, not with {', '.join(others)}")
    found = measured[call]
    counts = found["functions"], found["files"], found["calls"], found["returns"]
    assert all(count <= budget for count, budget in zip(counts, CALLS[call], strict=True)), counts
    assert found.get("calls per evaluation", 0) <= CALLS_PER_EVALUATION


@pytest.mark.parametrize("figure", SOURCES)
def test_sources(figure, measured):
    assert measured["sources"][figure] <= SOURCES[figure]
