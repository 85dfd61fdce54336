"""Several processes at once, and processes killed at any moment."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
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

SWEEP = """
timing.SECONDS = timing.SHARE = 0.0  # write all the time, to be killed while writing
rng = random.Random(0)
X = list(range(300))
progress, kills = [], 0
end = time.monotonic() + 8.0
while kills < 40 and time.monotonic() < end:
    child = os.fork()
    if child == 0:
        rng.shuffle(X)
        mercer.gram(k, X, store=store).dense()
        os._exit(0)
    time.sleep(0.002 + 0.08 * rng.random())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    kills += 1
    if kills % 8 == 0:
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
for _ in range(4):
    X = [int(x) for x in rng.choice(400, 150, replace=False)]
    right = right and np.array_equal(mercer.gram(k, X, store=store).dense(), truth(X))
print(json.dumps([bool(right), calls]))
"""

AFTER = """
count = known_values(list(range(400)))
calls = 0
for seed in (0, 1, 2):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        X = [int(x) for x in rng.choice(400, 150, replace=False)]
        assert np.array_equal(mercer.gram(k, X, store=store).dense(), truth(X))
print(json.dumps([count, calls]))
"""


def start(script: str, *arguments: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", COMMON + script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_kills_at_any_moment_leave_a_valid_store(tmp_path: Path) -> None:
    kills, progress, right, first, again, last = result(start(SWEEP, tmp_path))
    assert kills >= 8
    assert right
    assert again
    assert progress == sorted(progress)  # nothing known is lost
    assert progress[-1] > 0
    assert first <= 300 * 301 // 2 - progress[-1] // 2
    assert last == 0


@pytest.mark.slow
def test_three_processes_at_once(tmp_path: Path) -> None:
    runs = [start(TOGETHER, tmp_path, seed) for seed in (0, 1, 2)]
    assert all(result(run)[0] for run in runs)
    count, calls = result(start(AFTER, tmp_path))
    assert count > 0
    assert calls == 0  # nobody's values were lost to another's


INTERRUPTED = """
def slow(x, y):
    time.sleep(0.002)
    return float(x * y)

k = mercer.kernel(slow, version="1")
print("ready", flush=True)
try:
    mercer.gram(k, list(range(200)), store=store).dense()
except KeyboardInterrupt:
    print(time.monotonic(), sum(p.known.sum() for p in pages()))
"""

PAGES = """
def pages():
    from pathlib import Path
    for path in Path(store, k.digest(), "pages").glob("*.page"):
        yield read_page(path, bytes.fromhex(k.digest()), *map(int, path.stem.split("-")))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_what_was_computed_before_ctrl_c_is_kept(tmp_path: Path) -> None:
    process = start(PAGES + INTERRUPTED, tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(3.5)
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    answered, known = map(float, out.split())
    assert answered - pressed < 1.0
    assert known > 100


@pytest.mark.slow
def test_values_are_there_after_the_process_has_ended(tmp_path: Path) -> None:
    once = "X = list(range(1500)); mercer.gram(k, X, store=store).block(range(5)); print(json.dumps(calls))"
    assert result(start(once, tmp_path)) == 5 * 1500 - 10  # k(x, y) is k(y, x)
    rows = "X = list(range(1500)); mercer.gram(k, X, store=store).block(range(4)); print(json.dumps(calls))"
    assert result(start(rows, tmp_path)) == 0
