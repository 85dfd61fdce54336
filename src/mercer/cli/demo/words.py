"""Rows: is a word English or Italian?  A kernel of the user's own on strings."""

from __future__ import annotations

from typing import Any

import numpy as np

import mercer
from mercer.kernels import SetIntersection

from .tasks import Task, Trial

__all__ = ["ENGLISH", "ITALIAN", "TASK", "letters", "pairs", "shared_pairs"]


# The part that chapter `own` prints.
# begin
@mercer.kernel(assume="PSD", reason="the inner product of the letter counts")
def letters(a, b):  # type: ignore[no-untyped-def]
    """Compare two words by the letters they share, with their counts."""
    return sum(a.count(c) * b.count(c) for c in set(a) & set(b))


def pairs(word):  # type: ignore[no-untyped-def]
    """Neighbouring letters, with marks for the beginning and the end."""
    return set(zip("^" + word, word + "$", strict=True))


shared_pairs = SetIntersection().on(pairs)
# end

FOLDS = 10
ENGLISH = """
about above after again along because before behind between bring could during early enough every
found friend great heard house knew large learn light might money mother never night often people
right school should sound still story their thought three through together under water where which
while world would young
""".split()  # noqa: SIM905 - words are easier to read than quotes
ITALIAN = """
acqua adesso allora amico ancora bello bene bianco buono casa cielo città come cosa dentro dolce
dopo dove fuori giorno giovane grande insieme lavoro lettera libro madre mano mare meglio mondo
nuovo occhi ogni padre parola parte persona piccolo poco porta prima quando questo sempre senza
sotto strada tempo terra tutto uomo vita
""".split()  # noqa: SIM905 - words are easier to read than quotes


def _load(quick: bool) -> tuple[list[str], np.ndarray]:
    step = 2 if quick else 1
    english, italian = ENGLISH[::step], ITALIAN[::step]
    return [*english, *italian], np.array([-1.0] * len(english) + [1.0] * len(italian))


def _accuracy(kernel: mercer.Kernel) -> Any:
    def score(data: tuple[list[str], np.ndarray]) -> float:
        from sklearn.model_selection import KFold, cross_val_predict

        from ...machines import KernelRidge

        words, language = data
        folds = KFold(FOLDS, shuffle=True, random_state=0)
        predicted = cross_val_predict(KernelRidge(kernel, alpha=0.3), words, language, cv=folds)
        return float(np.mean((predicted > 0) == (language > 0)))

    return score


TASK = Task(
    name="words",
    measure="accuracy",
    note=lambda data: f"{len(data[0])} English and Italian ones, classified in {FOLDS} folds.",
    load=_load,
    trials=(
        Trial("letters", _accuracy(letters)),
        Trial("letters.normalized() + shared_pairs", _accuracy(letters.normalized() + shared_pairs)),
    ),
)
