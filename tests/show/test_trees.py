"""Pictures of trees."""

import pytest

from mercer.contributions import Contribution, Contributions
from mercer.errors import InputError, ParameterError
from mercer.kernels import SubsetTree
from mercer.machines import SVC
from mercer.show import canvas, tree
from mercer.show.canvas import COLOURS

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex

X, Y = "(S (NP (D the) (N dog)) (VP sleeps))", "(S (NP (D the) (N cat)) (VP sleeps))"


@pytest.fixture
def ax():
    return canvas()[1]


def strengths(ax):
    """Sign and strength of the colour of each node."""
    signs = {COLOURS["blue"]: 1, COLOURS["vermilion"]: -1}
    colours = [text.get_bbox_patch().get_facecolor() for text in ax.texts]
    return [signs.get(to_hex(c[:3]), 0) * c[3] for c in colours]


def test_nodes_stand_over_their_children(ax):
    tree(X, ax=ax)
    at = {text.get_text(): text.get_position() for text in ax.texts}
    assert list(at) == ["S", "NP", "D", "the", "N", "dog", "VP", "sleeps"]
    assert [at[w][0] for w in ("the", "dog", "sleeps")] == [0, 1, 2]
    assert at["NP"] == (0.5, -1.0)
    assert at["S"] == (1.25, 0.0)
    assert len(ax.collections[0].get_segments()) == 7
    assert strengths(ax) == [0] * 8


def test_colours_are_what_fragments_add_at_their_roots(ax):
    k = SubsetTree(1.0)
    tree(X, k.contributions(X, Y), ax=ax)
    # D the: 1; VP sleeps: 1; NP: 2 fragments; S: (1 + 2) * (1 + 1) = 6
    found = strengths(ax)
    assert [value / found[0] for value in found] == pytest.approx([1, 2 / 6, 1 / 6, 0, 0, 0, 1 / 6, 0])
    other = canvas()[1]
    tree(Y, k.contributions(X, Y), ax=other, side="y")
    assert strengths(other) == pytest.approx(found)


def test_decisions_have_two_colours_and_a_note(ax):
    machine = SVC(SubsetTree(0.5), C=1.0).fit(
        [X, Y, "(S (VP sleeps))", "(S (NP he) (VP sleeps))"], [0, 0, 1, 1]
    )
    found = machine.explain("(S (NP he) (VP sleeps))")
    tree("(S (NP he) (VP sleeps))", found, ax=ax)
    assert any(value > 0 for value in strengths(ax))
    assert [t.get_text() for t in ax.get_legend().get_texts()][-1].startswith("without a place: (intercept)")


def test_what_cannot_be_drawn(ax):
    with pytest.raises(InputError, match=r"tree: `contributions` must be of the tree that is drawn"):
        tree("(a b)", SubsetTree().contributions(X, Y), ax=ax)
    with pytest.raises(InputError, match=r"tree: `contributions` must come from"):
        tree(X, [1.0], ax=ax)
    with pytest.raises(ParameterError, match=r'tree: `side` must be "x" or "y"'):
        tree(X, Contributions([Contribution("(a)", 1.0)]), ax=ax, side="z")


def test_the_size_of_a_new_figure():
    small, large = tree(X).figure, tree(("a", *"bcdefghijklm")).figure
    assert large.get_size_inches()[0] > small.get_size_inches()[0]
