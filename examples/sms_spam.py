"""Is a message spam?  Messages as sets of words, rare words weighing more.

Run: python examples/sms_spam.py
"""

import math
import re
import time
from collections import Counter

import numpy as np
from _data import find

from mercer.kernels import Jaccard, SetIntersection
from mercer.machines import KernelRidge

TRAIN = 2000


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z']+|\d+|[£$!?]", text.lower()))


def main() -> None:
    lines = find("sms_spam/SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    y = np.array([1.0 if label == "spam" else -1.0 for label in labels])
    messages = [words(text) for text in texts]

    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:TRAIN], order[TRAIN:]
    print(
        f"{len(y)} messages, {int((y > 0).sum())} spam; {TRAIN} drawn for training, the others for testing\n"
    )

    counts = Counter(word for i in train for word in messages[i])
    weights = {word: math.log(TRAIN / count) for word, count in counts.items()}
    kernels = {
        "common words": SetIntersection(),
        "common words, normalised": SetIntersection().normalized(),
        "rare words weigh more": SetIntersection(weights).normalized(),
        "Jaccard": Jaccard(),
    }
    for name, kernel in kernels.items():
        started = time.perf_counter()
        machine = KernelRidge(kernel, alpha=0.3, fit_intercept=True).fit(
            [messages[i] for i in train], y[train]
        )
        predicted = machine.predict([messages[i] for i in test]) > 0
        truth = y[test] > 0
        print(
            f"{name:26}  {kernel.certificate.verdict!s:6}  accuracy {np.mean(predicted == truth):.4f}   "
            f"spam found {np.mean(predicted[truth]):.3f}   wrongly accused {np.mean(predicted[~truth]):.4f}  "
            f"{time.perf_counter() - started:.1f} s"
        )


if __name__ == "__main__":
    main()
