"""Is a message spam?  Words, stretches of letters, and both; the same features in scikit-learn beside them.

Every message is predicted once, by a machine trained on four of five folds, which it is not in; the weights
of words (tf-idf) are learnt from those, too.  The collection has some messages several times: they count
once, or a copy in the training folds would give the answer away.  Nothing is tuned: C = 1 everywhere.

Run: python examples/sms_spam.py [sms_spam.png]
"""

import sys
import time
from typing import Any

import numpy as np
from _data import find
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import accuracy_score, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

from mercer.kernels import BagOfWords, NGram
from mercer.machines import SVC, Explanation
from mercer.show import canvas, plot_contributions, plot_sequence

WORDS = BagOfWords(idf="fit").normalized()
LETTERS = NGram(4).normalized()


def tfidf() -> Any:
    """scikit-learn's features for what WORDS computes."""
    return TfidfVectorizer(token_pattern=r"\w+")


def stretches() -> Any:
    """scikit-learn's features for what LETTERS computes."""
    return make_pipeline(CountVectorizer(analyzer="char", ngram_range=(4, 4), lowercase=False), Normalizer())


MACHINES = (
    ("words", "mercer", SVC(WORDS)),
    ("words", "mercer, balanced", SVC(WORDS, class_weight="balanced")),
    ("words", "scikit-learn", make_pipeline(tfidf(), LinearSVC())),
    ("letters", "mercer", SVC(LETTERS)),
    ("letters", "scikit-learn", make_pipeline(stretches(), LinearSVC())),
    ("both", "mercer", SVC(WORDS + LETTERS)),
    ("both", "scikit-learn", make_pipeline(make_union(tfidf(), stretches()), LinearSVC())),
)

Row = tuple[str, str, float, float, float]


def load() -> tuple[list[str], np.ndarray]:
    """Different messages and their labels."""
    lines = find("sms_spam/SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    label_of = {text: label for label, text in (line.split("\t", 1) for line in lines)}
    print(f"{len(lines)} messages, {len(label_of)} different ones")
    return list(label_of), np.array(list(label_of.values()))


def compare(texts: list[str], labels: np.ndarray) -> list[Row]:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    print(
        f"{'features':9} {'machine':17} {'accuracy':>8} {'precision':>10} {'recall of spam':>15} {'time':>8}"
    )
    rows = []
    for features, name, machine in MACHINES:
        started = time.perf_counter()
        predicted = cross_val_predict(machine, texts, labels, cv=folds)
        seconds = time.perf_counter() - started
        accuracy = accuracy_score(labels, predicted)
        precision, recall = (f(labels, predicted, pos_label="spam") for f in (precision_score, recall_score))
        print(
            f"{features:9} {name:17} {accuracy:8.4f} {precision:10.3f} {recall:15.3f} {seconds:6.1f} s",
            flush=True,
        )
        rows.append((features, name, accuracy, precision, recall))
    return rows


def explain(texts: list[str], labels: np.ndarray) -> tuple[str, Explanation]:
    """Why the first message that is spam is held for spam, by a machine that has not seen it."""
    held_out = int(np.flatnonzero(labels == "spam")[0])
    others = [i for i in range(len(texts)) if i != held_out]
    machine = SVC(WORDS).fit([texts[i] for i in others], labels[others])
    return texts[held_out], machine.explain(texts[held_out])


def draw(rows: list[Row], message: str, reasons: Explanation, path: str) -> None:
    figure, (top, middle, bottom) = canvas(8.5, 9, rows=3, heights=[2.6, 1.3, 3.4])
    draw_scores(top, rows)
    plot_sequence(message, reasons, middle)
    middle.set_title("One message, letter by letter", loc="left")
    plot_contributions(reasons, 15, bottom)
    bottom.set_title("The same, word by word", loc="left")
    figure.savefig(path, dpi=150, facecolor="white")
    print(f"\n{path}")


def draw_scores(ax: Any, rows: list[Row]) -> None:
    """Precision and recall of every machine."""
    places = np.arange(len(rows))
    for name, marker, colour, column in (
        ("precision", "o", "#0072b2", 3),
        ("recall of spam", "s", "#d55e00", 4),
    ):
        ax.plot([row[column] for row in rows], places, marker, color=colour, label=name)
    ax.set_yticks(places, labels=[f"{features}, {machine}" for features, machine, *_ in rows])
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlabel="on messages not seen")
    ax.grid(axis="y", color="#8a929b", alpha=0.3)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.3, ncols=2, frameon=False)


def main() -> None:
    texts, labels = load()
    print(f"{int((labels == 'spam').sum())} of them spam; 5 folds\n")
    rows = compare(texts, labels)
    message, reasons = explain(texts, labels)
    print(f"\n{message}\n\n{reasons}")
    if len(sys.argv) > 1:
        draw(rows, message, reasons, sys.argv[1])


if __name__ == "__main__":
    main()
