"""Labelled strings for the chapter on sequences: real ones where they are at hand, else generated ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["MOTIF", "Labelled", "load_dna", "load_messages"]

#: What is planted into generated DNA, and what promoters are known for.
MOTIF = "TATAAT"


@dataclass(frozen=True)
class Labelled:
    """Strings, their classes, and where they come from."""

    source: str
    strings: list[str]
    labels: np.ndarray


def load_dna(quick: bool) -> Labelled:
    """Promoters of E. coli, or DNA into which a motif was planted."""
    path = _find("promoters/promoters.data")
    if path is None:
        return _planted(100 if quick else 200)
    rows = [line.split(",") for line in path.read_text(encoding="ascii").splitlines() if line]
    labels = np.array(["promoter" if row[0].strip() == "+" else "other" for row in rows])
    source = (
        f"{len(rows)} stretches of DNA from E. coli, {int((labels == 'promoter').sum())} of them promoters"
    )
    return Labelled(source, [row[2].strip().upper() for row in rows], labels)


def load_messages(quick: bool) -> Labelled | None:
    """Different short messages, spam or not; None if they are not at hand."""
    path = _find("sms_spam/SMSSpamCollection")
    if path is None:
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    label_of = {text: label for label, text in (line.split("\t", 1) for line in lines if line)}
    # Enough for a fair score within a second.
    strings = list(label_of)[: 300 if quick else 1000]
    labels = np.array([label_of[text] for text in strings])
    spam = int((labels == "spam").sum())
    source = f"the first {len(strings)} different messages of a collection, {spam} of them spam"
    return Labelled(source, strings, labels)


def _planted(n: int) -> Labelled:
    """Random DNA; every other string has the motif, one letter of it wrong, near one place."""
    rng = np.random.default_rng(0)
    length = 60
    letters = rng.choice(list("ACGT"), (n, length))
    for row in letters[::2]:
        copy = np.array(list(MOTIF))
        copy[rng.integers(len(MOTIF))] = rng.choice(list("ACGT"))
        start = length // 2 + rng.integers(-2, 3)
        row[start : start + len(MOTIF)] = copy
    labels = np.where(np.arange(n) % 2 == 0, "motif", "random")
    source = f"{n} generated stretches of DNA, {MOTIF} planted into half of them with a letter changed"
    return Labelled(source, ["".join(row) for row in letters], labels)


def _find(name: str) -> Path | None:
    """A file in the folder MERCER_DATA, else in ../shared/data beside the working folder; None if missing."""
    folder = Path(os.environ.get("MERCER_DATA") or Path.cwd().parent / "shared" / "data")
    return folder / name if (folder / name).is_file() else None
