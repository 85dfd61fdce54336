"""Damaged, foreign, newer, full and read-only stores: the right values or an error, never wrong values."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mercer
from mercer import GramStore
from mercer.errors import ParameterError, StoreError
from mercer.gram.store import files
from mercer.gram.store.page import PAGE_BYTES

CALLS = 0


def distance(x: int, y: int) -> float:
    global CALLS
    CALLS += 1
    return float(abs(x - y) + 1)


K = mercer.kernel(distance, version="1")
X = list(range(300))
TRUTH = np.abs(np.subtract.outer(X, X)) + 1.0
ALL = 300 * 301 // 2


def run(path: Any, points: list[int] = X) -> int:
    """Compute the matrix, compare it with the truth, and count the calls of the kernel."""
    global CALLS
    CALLS = 0
    assert np.array_equal(mercer.gram(K, points, store=path).dense(), TRUTH[np.ix_(points, points)])
    return CALLS


@pytest.fixture
def store(tmp_path: Path) -> Path:
    assert run(tmp_path) == ALL
    assert run(tmp_path) == 0
    return tmp_path


def folder(store: Path) -> Path:
    return store / K.digest()


def pages(store: Path) -> list[Path]:
    return sorted((folder(store) / "pages").iterdir())


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x10
    path.write_bytes(data)


@pytest.mark.parametrize("offset", [0, 9, 20, 50, 70, 100, 4200, 9000, 16480, 200_000, PAGE_BYTES - 1])
def test_a_flipped_bit_is_found_and_the_page_computed_again(store: Path, offset: int) -> None:
    page = pages(store)[0]
    flip(page, offset)
    if offset == 9:  # the format version of the page
        with pytest.raises(StoreError, match="newer version"):
            run(store)
        return
    with pytest.warns(RuntimeWarning, match=r"0-0\.page is damaged"):
        assert 0 < run(store) < ALL
    assert run(store) == 0


@pytest.mark.parametrize("length", [0, 10, 64, 5000, PAGE_BYTES - 1])
def test_a_truncated_page(store: Path, length: int) -> None:
    os.truncate(pages(store)[1], length)
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert 0 < run(store) < ALL
    assert run(store) == 0


def test_a_lost_page(store: Path) -> None:
    pages(store)[2].unlink()
    assert 0 < run(store) < ALL
    assert run(store) == 0


def test_a_page_in_the_place_of_another(store: Path) -> None:
    first, second, third = pages(store)
    os.replace(first, third)
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert run(store) > 0
    assert run(store) == 0
    assert second.exists()


@pytest.mark.parametrize("offset", [0, 5, 16, 40, 16 + 20 * 100 + 3, 16 + 20 * 299 + 19])
def test_a_damaged_index(store: Path, offset: int) -> None:
    flip(folder(store) / "points.bin", offset)
    run(store, X[::-1])
    assert run(store) == 0


@pytest.mark.parametrize("length", [0, 7, 16, 17, 16 + 20 * 100, 16 + 20 * 100 + 13, 16 + 20 * 299])
def test_a_truncated_index_never_puts_values_at_other_points(store: Path, length: int) -> None:
    os.truncate(folder(store) / "points.bin", length)
    run(store, X[::-1])  # other points get the positions of the lost ones
    assert run(store) == 0


def test_a_lost_index_and_a_lost_folder(store: Path) -> None:
    (folder(store) / "points.bin").unlink()
    assert run(store, X[50:]) > 0
    assert run(store, X[50:]) == 0
    GramStore(store).clear()
    assert run(store) == ALL
    assert run(store) == 0


def test_a_store_cleared_while_in_use(store: Path) -> None:
    gram = mercer.gram(K, X, store=store)
    GramStore(store).clear()
    for _ in range(3):
        assert np.array_equal(gram.dense(), TRUTH)
    assert run(store, X[::-1]) == 0


def test_leftovers_of_killed_processes_are_removed(store: Path) -> None:
    leftover = folder(store) / "pages" / f".0-0.page.123{files.SUFFIX}"
    leftover.write_bytes(b"half")
    run(store, [1, 2, 3])
    mercer.gram(K, [1000], store=store).dense()
    assert not leftover.exists()


# -- formats ------------------------------------------------------------------------------------
def test_a_newer_store_is_refused(store: Path) -> None:
    (store / "store.json").write_text(json.dumps({"format": "mercer gram store", "version": 99}))
    with pytest.raises(StoreError, match="newer version of mercer"):
        GramStore(store)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "other", "version": 1}', '{"version": "x"}'])
def test_a_foreign_description_is_refused(store: Path, text: str) -> None:
    (store / "store.json").write_text(text)
    with pytest.raises(StoreError, match="not the description"):
        GramStore(store)


def test_a_directory_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(StoreError, match="not a Gram store, and not empty"):
        GramStore(tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        GramStore(tmp_path / "file")
    with pytest.raises(OSError, match="cannot be used"):
        GramStore(tmp_path / "file" / "store")


def test_no_pickle(tmp_path: Path) -> None:
    script = """
import sys
import mercer, numpy as np
seen = []
sys.addaudithook(lambda event, args: seen.append(event) if event.startswith(("pickle", "marshal")) else None)
from mercer.kernels import Gaussian
X = np.random.default_rng(0).standard_normal((300, 2))
for _ in range(2):
    mercer.gram(Gaussian(), X, store=sys.argv[1]).dense()
print([e for e in seen if e.startswith("pickle")])
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
    for path in tmp_path.rglob("*"):
        assert path.suffix in {".json", ".bin", ".page", ".lock", ""}


# -- room and rights ----------------------------------------------------------------------------
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, X[:10])

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left") as caught:
        mercer.gram(K, X[:20], store=tmp_path).dense()
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert list(tmp_path.rglob(f"*{files.SUFFIX}")) == []
    run(tmp_path, X[:30])
    assert run(tmp_path, X[:30]) == 0


def test_read_only(store: Path) -> None:
    before = {p: p.stat().st_mtime_ns for p in store.rglob("*") if p.is_file()}
    reader = GramStore(store, read_only=True)
    assert run(reader) == 0
    assert np.array_equal(mercer.gram(K, [5, 1000, 2000], store=reader).dense()[0], [1.0, 996.0, 1996.0])
    cross = mercer.gram(K, [5, 1000], [3000, 5], store=reader).dense()
    assert np.array_equal(cross, [[2996.0, 1.0], [2001.0, 996.0]])
    assert before == {p: p.stat().st_mtime_ns for p in store.rglob("*") if p.is_file()}
    for operation in (reader.clear, reader.evict):
        with pytest.raises(StoreError, match="read-only"):
            operation()
    with pytest.raises(StoreError, match="cannot be used"):
        GramStore(store / "nowhere", read_only=True)


def test_a_directory_that_cannot_be_written_is_read_only(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.warns(RuntimeWarning, match="cannot be written to"):
        assert GramStore(store).read_only


# -- limits -------------------------------------------------------------------------------------
def test_limits_evict_the_kernel_unused_for_longest(tmp_path: Path) -> None:
    store = GramStore(tmp_path, max_bytes=3 * PAGE_BYTES + 10_000)
    kernels = [mercer.kernel(distance, version=str(i)) for i in range(4)]
    for i, k in enumerate(kernels):
        mercer.gram(k, X[:20], store=store).dense()
        os.utime(tmp_path / k.digest() / "kernel.json", (i, i))
    left = {info.digest for info in store.info().kernels}
    assert left == {k.digest() for k in kernels[1:]}
    assert store.info().nbytes <= (store.max_bytes or 0)
    mercer.gram(kernels[1], X[:20], store=store)  # used again
    assert store.evict(2 * PAGE_BYTES) == [kernels[2].digest(), kernels[3].digest()]
    assert [info.digest for info in store.info().kernels] == [kernels[1].digest()]
    store.clear(kernels[1])
    assert store.info().kernels == ()


def test_a_kernel_that_alone_exceeds_the_limit_is_told(tmp_path: Path) -> None:
    store = GramStore(tmp_path, max_bytes=f"{2 * PAGE_BYTES}")
    with pytest.warns(RuntimeWarning, match="has reached its `max_bytes`"):
        assert run(store) == ALL
    assert store.info().nbytes <= 2 * PAGE_BYTES


def test_arguments(tmp_path: Path) -> None:
    for wrong in (-1, 1.5, "much", True):
        with pytest.raises(ParameterError, match="max_bytes"):
            GramStore(tmp_path, max_bytes=wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="must be given"):
        GramStore(tmp_path).evict()
    assert GramStore(tmp_path, max_bytes="1GiB").max_bytes == 2**30
    assert eval(repr(GramStore(tmp_path, max_bytes=5)), {"GramStore": GramStore}).max_bytes == 5
    info = GramStore(tmp_path).info()
    assert (info.nbytes, info.kernels, info.read_only) == (0, (), False)
