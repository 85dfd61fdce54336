"""The instruction set is chosen when the module is loaded, so each one gets a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mercer import _native

pytestmark = pytest.mark.native

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"OMP_WAIT_POLICY": "passive"} | environment,  # be quick on a busy machine too
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_native_code_under(isa):
    """The quick files here; ``make isas`` runs the whole suite."""
    if isa not in _native.available_isas():
        pytest.skip(f"this machine cannot run {isa}")
    if isa == _native.isa():
        pytest.skip(f"{isa} is what the rest of the suite runs on")
    quick = ("packed", "layouts", "reduced", "series")
    files = [str(HERE / f"test_{name}.py") for name in quick]
    done = python("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *files, MERCER_ISA=isa)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_baseline_is_always_there_and_comes_first():
    assert _native.available_isas()[0] == "baseline"
    assert _native.isa() in _native.available_isas()


def test_an_unknown_instruction_set_is_an_import_error_that_names_the_others():
    done = python("-c", "import mercer._native", MERCER_ISA="sse9")
    assert done.returncode != 0
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("ImportError: mercer: MERCER_ISA")
    assert "'sse9'" in message
    for name in _native.available_isas():
        assert name in message


def test_every_instruction_set_gives_the_same_up_to_rounding():
    script = (
        "import numpy as np; from mercer.engine import pairwise as e; r = np.random.default_rng(0);"
        "X = r.random((150, 9)); print(*[float(f(X).sum()).hex() for f in (e.squared_distances,"
        "e.l1_distances, e.min_sums, e.max_sums, e.chi_square, e.jensen, e.dot)])"
    )
    sums = []
    for isa in _native.available_isas():
        done = python("-c", script, MERCER_ISA=isa)
        assert done.returncode == 0, done.stderr
        sums.append([float.fromhex(word) for word in done.stdout.split()])
    for other in sums[1:]:
        assert other == pytest.approx(sums[0], rel=1e-13)
