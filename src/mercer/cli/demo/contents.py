"""The contents of the demonstration.  Later kinds of data add their chapters and tasks here."""

from __future__ import annotations

from . import (
    diabetes,
    digits,
    own,
    pictures,
    proofs,
    refutation,
    sequences,
    shapes,
    structure,
    training,
    words,
)
from .stage import Chapter
from .tasks import Task

__all__ = ["CHAPTERS", "TASKS"]

#: Rows of the table, task by task.
TASKS: tuple[Task, ...] = (diabetes.TASK, digits.TASK, words.TASK)

CHAPTERS: tuple[Chapter, ...] = (
    pictures.CHAPTER,
    proofs.CHAPTER,
    refutation.CHAPTER,
    own.CHAPTER,
    training.chapter(TASKS),
    structure.CHAPTER,
    sequences.CHAPTER,
    shapes.CHAPTER,
)
