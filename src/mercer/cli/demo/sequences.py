"""Chapter: kernels on strings, what they found, and the machine behind one of them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ...automata import counting, from_regex
from ...kernel import Kernel
from ...kernels import BagOfWords, GappedKmer, NGram, RegexCount, WeightedDegree
from ...machines import SVC, Explanation
from ...show import automaton, canvas, plot_contributions, plot_sequence
from .stage import Chapter, Stage
from .strings import MOTIF, Labelled, load_dna, load_messages

__all__ = ["CHAPTER", "KERNELS", "families"]

#: Length of a common substring that puts two strings into one fold.
SHARED = 12

TRIPLES = WeightedDegree(3, [0.0, 0.0, 1.0], shift=2).normalized()
#: Odds of the motif, summed over all places: each letter is right with probability 0.7, not 0.25.
ODDS = "".join(f"({letter}<2.4>|.<0.4>)" for letter in MOTIF)
KERNELS: tuple[tuple[str, Kernel], ...] = (
    ("`GappedKmer(6, 4)`, normalised", GappedKmer(6, 4).normalized()),
    (f"`RegexCount`, odds of {MOTIF}", 1e-3 * RegexCount(ODDS, by="total")),
    ("`WeightedDegree(3, [0, 0, 1], shift=2)`, normalised", TRIPLES),
)
WORDS = BagOfWords(idf="fit").normalized()


def _show(stage: Stage) -> None:
    dna, messages = load_dna(stage.quick), load_messages(stage.quick)
    where = f"{dna.source}." if messages is None else f"{dna.source}; and {messages.source}."
    stage.text(
        f"Strings: {where} The third kernel below counts three letters that stand in both strings, at most "
        "two places apart, and its proof says why that is positive definite:"
    )
    stage.proof(TRIPLES)
    _compare(stage, dna, messages)
    _explain(stage, dna)
    stage.figure(
        lambda: automaton(counting(from_regex(MOTIF))).figure,
        f"The transducer that counts `{MOTIF}`: it skips a beginning (reads any letter, writes nothing), "
        "copies the motif, and skips the rest. Weights on its arcs give the odds above. Composed with its "
        "inverse it is a kernel, positive definite by construction.",
    )


def _compare(stage: Stage, dna: Labelled, messages: Labelled | None) -> None:
    folds = 3 if stage.quick else 5
    relatives = families(dna.strings)
    trials = [("DNA", name, kernel, dna, relatives) for name, kernel in KERNELS]
    if messages is not None:
        alone = np.arange(len(messages.strings))
        trials.append(("messages", "`BagOfWords`, tf-idf, normalised", WORDS, messages, alone))
    rows = []
    for task, name, kernel, data, groups in stage.progress(trials, "sequences"):
        started = time.perf_counter()
        score = _accuracy(kernel, data, groups, folds)
        rows.append([task, name, f"{score:.3f}", f"{time.perf_counter() - started:.2f} s"])
    stage.text(
        f"Support vector machines, {folds} folds; DNA that shares {SHARED} letters in a row stays in one "
        "fold, or a machine would know the answer from a piece of the question."
    )
    stage.table(["strings", "kernel", "accuracy", "time"], rows, right=[2, 3])


def _explain(stage: Stage, dna: Labelled) -> None:
    # the first string, and a machine that knows no relative of it
    groups = families(dna.strings)
    others = np.flatnonzero(groups != groups[0])
    machine = SVC(TRIPLES).fit([dna.strings[i] for i in others], dna.labels[others])
    string, reasons = dna.strings[0], machine.explain(dna.strings[0])
    stage.text(
        f"Why a machine holds a string that it has not seen for {reasons.prediction!r}: "
        f"{reasons.value:.3g} is the sum of what {len(reasons)} patterns add, the intercept among them."
    )
    shown, rest = list(reasons)[:8], list(reasons)[8:]
    rows = [
        [f"`{c.pattern}`", f"{c.weight:+.3f}", " ".join(f"{a}:{b}" for a, b in c.x_places)] for c in shown
    ]
    if rest:
        rows.append([f"{len(rest)} more", f"{sum(c.weight for c in rest):+.3f}", ""])
    stage.table(["pattern", "adds", "stands at"], rows, right=[1])
    stage.figure(
        lambda: _picture(string, reasons),
        "The same string, its letters coloured by what the patterns that cover them add, and the patterns.",
    )


def families(strings: list[str]) -> np.ndarray:
    """Numbers of the families of strings that share a long stretch, directly or through others."""
    from scipy.sparse.csgraph import connected_components

    return np.asarray(connected_components(NGram(SHARED).block(strings) > 0)[1])


def _accuracy(kernel: Kernel, data: Labelled, groups: np.ndarray, folds: int) -> float:
    """Accuracy on strings no relatives of which are in the training set."""
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict

    kept = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
    predicted = cross_val_predict(SVC(kernel), data.strings, data.labels, cv=kept, groups=groups)
    return float(np.mean(predicted == data.labels))


def _picture(string: str, reasons: Explanation) -> Any:
    figure, (top, bottom) = canvas(7.6, 4.6, rows=2, heights=[1.0, 3.0])
    plot_sequence(string, reasons, top)
    plot_contributions(reasons, 10, bottom)
    return figure


CHAPTER = Chapter("Sequences", _show)
