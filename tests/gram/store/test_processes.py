"""Several processes at once, and processes killed at any moment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

COMMON = """
import json, os, random, signal, sys, time
import numpy as np
import mercer
from mercer.domains import Objects
from mercer.gram.store import kernel as timing
from mercer.gram.store.page import PAGE, read_page

calls = 0

def product(x, y):
    global calls
    calls += 1
    return float((x * 31 + 7) * (y * 31 + 7) % 1009)

k = mercer.kernel(product, version="1")
store = sys.argv[1]

def truth(X):
    v = np.array(X, dtype=float) * 31 + 7
    return np.multiply.outer(v, v) % 1009

def known_values(points):
    # Every page on disk is whole, and every value in it is that of its points.
    names = {bytes.fromhex(d): p for d, p in zip(Objects().digests(points), points)}
    count = 0
    folder = os.path.join(store, k.digest(), "pages")
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        if not name.endswith(".page"):
            continue
        row, column = map(int, name[:-5].split("-"))
        from pathlib import Path
        page = read_page(Path(folder, name), bytes.fromhex(k.digest()), row, column)
        for r, c in np.argwhere(page.known):
            x, y = names[page.rows[r].tobytes()], names[page.columns[c].tobytes()]
            assert page.values[r, c] == product(x, y), (x, y)
            count += 1
    return count
"""

# Each child does some new work and kills itself at a line of the store's own code, one of those that the same
# work took on a copy of the store.  Which one is drawn; nothing is timed.
SWEEP = """
import shutil
from mercer.gram import request
from mercer.gram.store import files
timing.SECONDS = timing.SHARE = 0.0  # write all the time, to be killed while writing
request.SECONDS = float("inf")  # how much is computed at a time must not depend on how fast it is
scopes = [os.path.dirname(files.__file__), files.__file__]  # any of its lines, those that write to the disk
rng = random.Random(0)
X = list(range(320))

def in_child(points, where, scope, last):
    # Return the number of lines of this code that the work took, 0 if it was killed at line `last`.
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with open(reading) as pipe:
            count = int(pipe.read() or 0)
        os.waitpid(child, 0)
        return count
    lines = 0

    def trace(frame, event, argument):
        nonlocal lines
        if not frame.f_code.co_filename.startswith(scope):
            return None
        lines += event == "line"
        if lines == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    mercer.gram(k, points, store=where).dense()
    sys.settrace(None)
    os.write(writing, str(lines).encode())
    os._exit(0)

progress, kills = [], 0
for attempt in range(1, 41):
    points = rng.sample(X[: 8 * attempt], 8 * attempt)
    if os.path.isdir(store):
        shutil.copytree(store, store + "-copy")
    scope = scopes[attempt % 2]
    lines = in_child(points, store + "-copy", scope, -1)
    shutil.rmtree(store + "-copy")
    kills += in_child(points, store, scope, rng.randint(1, lines)) == 0
    if attempt % 4 == 0:
        progress.append(known_values(X))
calls = 0
right = bool(np.array_equal(mercer.gram(k, X, store=store).dense(), truth(X)))
first, calls = calls, 0
again = bool(np.array_equal(mercer.gram(k, X, store=store).dense(), truth(X)))
print(json.dumps([kills, progress, right, first, again, calls]))
"""

TOGETHER = """
timing.SECONDS = timing.SHARE = 0.0
seed = int(sys.argv[2])
rng = np.random.default_rng(seed)
right = True
for _ in range(2):
    X = [int(x) for x in rng.choice(400, 150, replace=False)]
    right = right and np.array_equal(mercer.gram(k, X, store=store).dense(), truth(X))
print(json.dumps([bool(right), calls]))
"""

AFTER = """
count = known_values(list(range(400)))
calls = 0
for seed in (0, 1, 2):
    rng = np.random.default_rng(seed)
    for _ in range(2):
        X = [int(x) for x in rng.choice(400, 150, replace=False)]
        assert np.array_equal(mercer.gram(k, X, store=store).dense(), truth(X))
print(json.dumps([count, calls]))
"""


def start(script: str, *arguments: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", COMMON + script, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def result(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_kills_at_any_moment_leave_a_valid_store(tmp_path: Path) -> None:
    kills, progress, right, first, again, last = result(start(SWEEP, tmp_path / "store"))
    assert kills == 40
    assert right
    assert again
    assert progress == sorted(progress)  # nothing known is lost
    assert len(set(progress)) > 5
    assert first <= 320 * 321 // 2 - progress[-1] // 2
    assert last == 0


@pytest.mark.slow
def test_three_processes_at_once(tmp_path: Path) -> None:
    runs = [start(TOGETHER, tmp_path, seed) for seed in (0, 1, 2)]
    assert all(result(run)[0] for run in runs)
    count, calls = result(start(AFTER, tmp_path))
    assert count > 0
    assert calls == 0  # nobody's values were lost to another's


# The function stands still at one pair, in this process or in a worker, and says that it is there.
INTERRUPTED = """
from pathlib import Path
from mercer.engine import workers
from mercer.gram.store import KernelStore

timing.SECONDS = float("inf")  # whatever is on disk at the end was written because of the interrupt
workers.COLD = workers.WARM = (0.0, 0.0)  # with two processes at hand, use them
STOP = 120, 150

def until(x, y):
    if (x, y) in (STOP, STOP[::-1]):
        os.write(1, b"there\\n")
        time.sleep(600)
    return float(x * y)

k = mercer.kernel(until, version="1")
finished = np.zeros((PAGE, PAGE), dtype=bool)  # all points are on one page
put = KernelStore.put

def noted(self, place, generation, rows, columns, values):
    put(self, place, generation, rows, columns, values)
    finished[np.ix_(rows, columns)] = finished[np.ix_(columns, rows)] = True

KernelStore.put = noted
X = list(range(200))
try:
    mercer.gram(k, X, store=store).dense()
except KeyboardInterrupt:
    KernelStore.put = put
    page = read_page(Path(store, k.digest(), "pages", "0-0.page"), bytes.fromhex(k.digest()), 0, 0)
    same = np.array_equal(page.known, finished)
    right = np.array_equal(page.values[page.known], np.pad(np.outer(X, X), (0, PAGE - 200))[page.known])
    print(json.dumps([int(finished.sum()), bool(same), bool(right)]))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("processes", ["1", "2"])
def test_what_was_computed_before_ctrl_c_is_kept(
    processes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERCER_NUM_THREADS", processes)
    process = start(INTERRUPTED, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "there\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    finished, same, right = result(process)
    assert 0 < finished < 200 * 200
    assert same  # all of it, and nothing else
    assert right


@pytest.mark.slow
def test_values_are_there_after_the_process_has_ended(tmp_path: Path) -> None:
    once = "X = list(range(1500)); mercer.gram(k, X, store=store).block(range(5)); print(json.dumps(calls))"
    assert result(start(once, tmp_path)) == 5 * 1500 - 10  # k(x, y) is k(y, x)
    rows = "X = list(range(1500)); mercer.gram(k, X, store=store).block(range(4)); print(json.dumps(calls))"
    assert result(start(rows, tmp_path)) == 0
