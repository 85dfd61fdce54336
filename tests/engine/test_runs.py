"""Runs: time budgets, callbacks, Ctrl-C."""
# ruff: noqa: PT012, SIM117 - what happens inside of a run is what is tested

import io
import threading
import time

import numpy as np
import pytest
import tqdm

import mercer
from mercer import gram
from mercer.engine import runs
from mercer.engine.runs import (
    Convergence,
    Progress,
    Stopped,
    Task,
    checkpoint,
    conclude,
    current_run,
    joining,
    running,
    stop_reason,
    tracked,
)
from mercer.errors import MercerError, StoppedError, TimeBudgetError
from mercer.kernels import DTW, EditDistance, Gaussian, Subsequence
from mercer.machines import SVC


def test_without_a_run_nothing_stops():
    checkpoint()
    assert current_run() is None
    assert stop_reason() == ""
    assert list(tracked(range(3), "counting", "number")) == [0, 1, 2]


def test_a_run_without_a_usable_state_ends_with_an_error():
    with pytest.raises(TimeBudgetError, match=r"^Ridge: `time_budget` of 1e-09 s was used up during factor"):
        with running("Ridge", 1e-9), Task("factor", 3):
            checkpoint()
    assert issubclass(TimeBudgetError, TimeoutError)
    assert issubclass(TimeBudgetError, MercerError)
    assert current_run() is None
    checkpoint()


def test_a_concluded_run_goes_to_its_end():
    with running("KMeans", 1e-9):
        with pytest.raises(Stopped) as stopped:
            checkpoint()
        assert conclude(stopped.value) == "the time budget was used up"
        checkpoint()
        assert list(tracked(range(2), "means", "mean")) == [0, 1]
        assert stop_reason() == "the time budget was used up"


def test_an_interrupt_is_raised_at_the_end():
    reached = []
    error = KeyboardInterrupt("the first")
    with pytest.raises(KeyboardInterrupt, match="the first"), running("SVC"):
        assert conclude(error) == "it was interrupted"
        reached.append("state")
    assert reached == ["state"]
    with pytest.raises(KeyboardInterrupt), running("SVC"):  # what fails on the way does not hide it
        conclude(error)
        raise ValueError
    with pytest.raises(KeyboardInterrupt):  # nobody would raise it later
        conclude(error)


def test_a_run_inside_another_ends_with_it():
    with running("inner", 100.0) as alone:
        assert alone.seconds_left > 50
    with running("outer", 1e-9) as outer:
        with pytest.raises(Stopped), running("inner", 100.0) as inner:
            assert inner.deadline == outer.deadline
            checkpoint()
        outer.conclude()


def test_callbacks():
    seen = []
    with running("run", callbacks=[seen.append]) as run:
        for _ in tracked(range(3), "counting", "number"):
            time.sleep(1.5 * runs.PAUSE)
        run.finish()
    assert [(p.iteration, p.task, p.total) for p in seen] == [(i, "counting", 3) for i in range(3)]
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)
    with running("short", callbacks=[seen.append]) as run:
        run.finish()
    assert len(seen) == 4


def test_a_callback_stops_a_run():
    with pytest.raises(StoppedError, match="a callback returned True during counting"):
        with running("run", callbacks=[lambda progress: True]):
            list(tracked(range(3), "counting", "number"))
    with running("run", callbacks=[lambda progress: True]):
        with pytest.raises(Stopped) as stopped:
            checkpoint()
        assert conclude(stopped.value) == "a callback asked to stop"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_errors_of_callbacks(error):
    def fails(progress):
        raise error("mine")

    with pytest.raises(error, match="mine"), running("run", callbacks=[fails]):
        checkpoint()


def test_a_callback_that_computes_is_not_watched_itself():
    def computes(progress):
        time.sleep(1.5 * runs.PAUSE)
        checkpoint()

    with running("run", callbacks=[computes]):
        checkpoint()


def words(n):
    return ["".join(np.random.default_rng(i).choice(list("ab"), 30)) for i in range(n)]


@mercer.kernel(assume="PSD", reason="a Gaussian")
def slow(x, y):
    time.sleep(1e-3)
    return float(np.exp(-((x - y) ** 2)))


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (Subsequence(3), words(150)),
        (Subsequence(3).normalized(), words(150)),
        (EditDistance(), words(150)),
        (DTW(1.0), [np.random.default_rng(i).standard_normal((9, 1)) for i in range(150)]),
        (slow, list(range(60))),
        (Gaussian(1.0), np.random.default_rng(0).standard_normal((3000, 5))),
    ],
    ids=["Subsequence", "normalized", "EditDistance", "DTW", "Python", "Gaussian"],
)
@pytest.mark.parametrize("compute", [lambda k, X: k.block(X), lambda k, X: gram(k, X).dense()])
def test_kernel_values_report_how_many_are_left(kernel, points, compute, monkeypatch):
    """In parts that take some seconds at most, however slow a kernel is."""
    monkeypatch.setattr(runs, "PAUSE", 0.0)
    seen, shown, updates = [], [], []

    class Bar:
        def update(self, count):
            updates.append(count)

        def close(self):
            pass

    monkeypatch.setattr(runs, "progress_bar", lambda name, total, *rest: shown.append((name, total)) or Bar())
    with running("run", callbacks=[seen.append]) as run:
        compute(kernel, points)
        run.finish()
    assert {name for name, _ in shown} == {"kernel values"}
    assert len(updates) > 1
    assert all(total is None or total > 1 for _, total in shown)
    assert {p.task for p in seen} >= {"kernel values"}


def test_another_thread_takes_part():
    found = []

    def work(run):
        with joining(run):
            found.append(current_run())
            run(Progress(1, 0.5, 0.1, 0.0))

    def fails(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), running("run", callbacks=[fails]) as run:
        thread = threading.Thread(target=work, args=(run,))
        thread.start()
        thread.join()
        assert stop_reason() == "it was interrupted"
    assert found == [run]


@pytest.mark.parametrize("is_terminal", [False, True])
def test_bars_are_made_for_terminals_alone(is_terminal, monkeypatch):
    class Stream(io.StringIO):
        def isatty(self):
            return is_terminal

    made = []

    class Bar(tqdm.tqdm):
        def __init__(self, *args, **options):
            made.append(options["desc"])
            super().__init__(*args, **options)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    monkeypatch.setattr("sys.stderr", Stream())
    X = np.random.default_rng(0).standard_normal((60, 2))
    SVC(Gaussian(1.0)).fit(X, np.arange(60) % 3).predict(X)
    with Convergence("a loop", 1e-3) as loop:
        loop.update(1, 0.5)
    assert bool(made) == is_terminal
