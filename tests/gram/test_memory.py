import subprocess
import sys

import pytest

from mercer import memory
from mercer.errors import MemoryLimitError, ParameterError


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1000", 1000),
        ("500MB", 500_000_000),
        ("4GiB", 4 * 2**30),
        ("4G", 4 * 2**30),
        ("1.5 gib", 3 * 2**29),
        ("2e3", 2000),
        (" 7 KiB ", 7168),
        ("0", 0),
    ],
)
def test_sizes_are_read(monkeypatch, text, count):
    monkeypatch.setenv("MERCER_MEMORY", text)
    assert memory.memory_limit() == count


@pytest.mark.parametrize("text", ["lots", "-1", "4XB", "GiB", "4 4", "nan", "1,5GB"])
def test_nonsense_is_refused_by_name(monkeypatch, text):
    monkeypatch.setenv("MERCER_MEMORY", text)
    with pytest.raises(ParameterError, match="MERCER_MEMORY must be a number of bytes"):
        memory.memory_limit()


def test_without_the_variable_three_quarters_of_what_is_available(monkeypatch):
    monkeypatch.delenv("MERCER_MEMORY", raising=False)
    monkeypatch.setattr(memory, "available_memory", lambda: 400)
    assert memory.memory_limit() == 300
    monkeypatch.setenv("MERCER_MEMORY", "  ")
    assert memory.memory_limit() == 300


def test_require_names_need_limit_and_remedy(monkeypatch):
    monkeypatch.setenv("MERCER_MEMORY", "1GiB")
    memory.require(2**30, "a matrix")
    with pytest.raises(
        MemoryLimitError, match=r"a matrix needs 3\.00 GiB and the limit is 1\.00 GiB\. Do less\."
    ):
        memory.require(3 * 2**30, "a matrix", "Do less.")
    assert issubclass(MemoryLimitError, MemoryError)


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_unified_control_groups_take_the_tightest_ancestor(tmp_path):
    write(tmp_path / "a" / "b", memory__max="max\n", memory__current="50\n")
    write(
        tmp_path / "a",
        memory__max="1000\n",
        memory__current="700\n",
        memory__stat="file 9\ninactive_file 100\n",
    )
    names = ("memory.max", "memory.current", "inactive_file")
    assert memory._room(tmp_path, "/a/b", *names) == 400
    write(tmp_path / "a" / "b", memory__max="60\n")
    assert memory._room(tmp_path, "/a/b", *names) == 10
    assert memory._room(tmp_path, "/elsewhere", *names) == sys.maxsize


def test_legacy_control_groups(tmp_path):
    write(tmp_path, **{"memory__limit_in_bytes": "500", "memory__usage_in_bytes": "600"})
    assert (
        memory._room(
            tmp_path, "/gone", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
        )
        == 0
    )


def test_this_machine_has_an_answer():
    assert 0 < memory.available_memory() <= sys.maxsize


LIMITED = """
import resource
import numpy as np
from mercer import gram, memory
from mercer.errors import MemoryLimitError
from mercer.kernels import Linear

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
assert memory.available_memory() <= 2**30
try:
    gram(Linear(), np.ones((20_000, 1))).dense()
except MemoryLimitError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux enforces RLIMIT_AS")
def test_limits_of_addresses_count(monkeypatch):
    monkeypatch.delenv("MERCER_MEMORY", raising=False)
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False)
    assert "needs 2.98 GiB and the limit is" in done.stdout, done.stderr
