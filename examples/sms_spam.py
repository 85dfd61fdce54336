"""Is a message spam?  Words, stretches of letters, and both; the same features in scikit-learn beside them.

Every message is predicted once, by a machine trained on four fifths of all messages, which it is not among; the
weights of words (tf-idf) are learnt from those, too.  Nothing is tuned: C = 1 everywhere.

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
    ("words", "mercer", SVC(kernel=WORDS)),
    ("words", "mercer, balanced", SVC(kernel=WORDS, class_weight="balanced")),
    ("words", "scikit-learn", make_pipeline(tfidf(), LinearSVC())),
    ("letters", "mercer", SVC(kernel=LETTERS)),
    ("letters", "scikit-learn", make_pipeline(stretches(), LinearSVC())),
    ("both", "mercer", SVC(kernel=WORDS + LETTERS)),
    ("both", "scikit-learn", make_pipeline(make_union(tfidf(), stretches()), LinearSVC())),
)

Row = tuple[str, str, float, float, float]


def load() -> tuple[list[str], np.ndarray]:
    lines = find("sms_spam/SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    return list(texts), np.array(labels)


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
    rest = np.arange(len(texts)) != held_out
    machine = SVC(kernel=WORDS).fit(
        [text for text, kept in zip(texts, rest, strict=True) if kept], labels[rest]
    )
    return texts[held_out], machine.explain(texts[held_out])


def draw(rows: list[Row], message: str, reasons: Explanation, path: str) -> None:
    figure, (left, right) = canvas(10, 4.2, columns=2)
    left.set_title("left")
    plot_contributions(reasons, 12, right)
    figure.savefig(path, dpi=150, facecolor="white")
    print(f"\n{path}")


def main() -> None:
    texts, labels = load()
    print(f"{len(texts)} messages, {int((labels == 'spam').sum())} spam; 5 folds\n")
    rows = compare(texts, labels)
    message, reasons = explain(texts, labels)
    print(f"\n{message}\n\n{reasons}")
    if len(sys.argv) > 1:
        draw(rows, message, reasons, sys.argv[1])


if __name__ == "__main__":
    main()
