"""Chapter: the table of tasks, kernels, scores and times."""

from __future__ import annotations

import time
from collections.abc import Sequence

from .stage import Chapter, Stage
from .tasks import Task

__all__ = ["chapter"]


def chapter(tasks: Sequence[Task]) -> Chapter:
    """Make the chapter that runs every trial of the tasks."""

    def show(stage: Stage) -> None:
        from threadpoolctl import threadpool_limits

        data = {task.name: task.load(stage.quick) for task in tasks}
        stage.text(
            "Every machine takes any of these kernels: kernel ridge regression, unless a row names another. "
            + " ".join(f"{task.name.capitalize()}: {task.note(data[task.name])}" for task in tasks)
            + " scikit-learn's machines see the same folds. The time is that of all fits and predictions of "
            "a row, on one thread."
        )
        rows = []
        trials = [(task, trial) for task in tasks for trial in task.trials]
        for task, trial in stage.progress(trials, "training"):
            with threadpool_limits(1):
                started = time.perf_counter()
                score = trial.score(data[task.name])
                seconds = time.perf_counter() - started
            rows.append(
                [
                    task.name,
                    f"`{trial.kernel}`" if trial.ours else trial.kernel,
                    task.measure,
                    f"{score:.3f}",
                    f"{seconds:.2f} s",
                ]
            )
        stage.table(["task", "kernel", "measure", "score", "time"], rows, right=[3, 4])

    return Chapter("Machines that take any of them", show)
