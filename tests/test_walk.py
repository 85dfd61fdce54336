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
    "SVC.fit": (280, 46, 502, 115),
    "SVC.predict, one row": (87, 19, 116, 20),
    "SVC(WeisfeilerLehman).fit": (317, 50, 2614, 357),
    "KernelRidge.fit": (200, 41, 295, 63),
    "KernelRidge(Spectrum).fit": (225, 43, 497, 101),
    "GaussianProcessRegressor.fit": (344, 58, 7427, 1874),
    "KernelSearchCV.fit": (366, 57, 5245, 1353),
    "block": (66, 16, 89, 10),
    "k(x, y)": (22, 7, 30, 6),
    "RandomFourier.transform": (24, 9, 29, 4),
    "Conformal.predict_interval": (103, 26, 154, 30),
}
CALLS_PER_EVALUATION = 495

SOURCES = {
    "hops": 279,
    "slope definitions": 106,
    "private functions with one use": 414,
    "module constants": 380,
    "modules at the top": 21,
    "lines of the longest file": 595,
}


@pytest.fixture(scope="module")
def measured():
    """The least counts of three processes: on a busy machine a call may take so long that clocks are read."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("MERCER_", "OMP_", "OPENBLAS_", "SCIPY_"))
    }
    command = [sys.executable, ROOT / "tests" / "walk.py"]
    runs = []
    for _ in range(3):
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        runs.append(json.loads(done.stdout))
    return {name: {key: min(run[name][key] for run in runs) for key in runs[0][name]} for name in runs[0]}


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
