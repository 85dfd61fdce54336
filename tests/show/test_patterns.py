"""Pictures of what patterns add."""

import numpy as np
import pytest

from mercer.contributions import Contribution, Contributions
from mercer.errors import InputError, ParameterError
from mercer.kernels import BagOfWords, NGram, RegexCount, WeightedDegree
from mercer.machines import SVC
from mercer.show import canvas, plot_contributions, plot_sequence
from mercer.show.canvas import COLOURS, GUIDE

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex

FIVE = Contributions(
    [Contribution(letter, weight) for letter, weight in zip("abcde", [5, -4, 3, -2, 1], strict=True)]
)


@pytest.fixture
def ax():
    return canvas()[1]


def bars(ax):
    """Name, length and colour of each bar from the top."""
    names = [label.get_text() for label in ax.get_yticklabels()]
    lengths = [bar.get_width() for bar in ax.patches]
    return list(zip(names, lengths, [to_hex(bar.get_facecolor()) for bar in ax.patches], strict=True))


def letters(ax):
    return [text.get_text() for text in ax.texts]


def cells(ax):
    """Weight of every coloured cell, relative to the largest, by row and place."""
    found = {}
    for patch in ax.patches:
        sign = {COLOURS["blue"]: 1, COLOURS["vermilion"]: -1}[to_hex(patch.get_facecolor()[:3])]
        found[int(patch.get_y()), int(patch.get_x())] = sign * patch.get_alpha()
    strongest = max(abs(value) for value in found.values())
    return {place: value / strongest for place, value in found.items()}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# -- bars --------------------------------------------------------------------------------------------------
def test_bars_add_up_and_the_strongest_is_on_top(ax):
    plot_contributions(FIVE, 3, ax)
    blue, red = COLOURS["blue"], COLOURS["vermilion"]
    assert bars(ax) == [("'a'", 5, blue), ("'b'", -4, red), ("'c'", 3, blue), ("2 more", -1, GUIDE)]
    assert sum(length for _, length, _ in bars(ax)) == FIVE.total == 3.0
    assert ax.get_xlabel() == "weight, 3 in all"
    low, high = ax.get_ylim()
    assert low > high  # the first bar is on top


def test_nothing_is_left_out_without_need(ax):
    plot_contributions(FIVE, 5, ax)
    assert [name for name, _, _ in bars(ax)] == ["'a'", "'b'", "'c'", "'d'", "'e'"]


def test_long_names_are_cut_and_dollars_are_no_formulas(ax):
    plot_contributions(Contributions([Contribution("x" * 100, 1.0), Contribution("$5 $", 0.5)]), ax=ax)
    long, money = ax.get_yticklabels()
    assert long.get_text() == f"'{'x' * 13}…{'x' * 13}'"
    assert money.get_text() == "'$5 $'"
    assert not money.get_parse_math()
    ax.figure.canvas.draw()


def test_of_a_decision_the_sides_are_named(ax):
    machine = SVC(kernel=NGram(1)).fit(["aa", "ab", "cc", "cb"], ["left", "left", "right", "right"])
    reasons = machine.explain("aac")
    plot_contributions(reasons, ax=ax)
    assert ax.get_xlabel().startswith("← for 'right'")
    assert "for 'left' →" in ax.get_xlabel()


def test_nothing_shared_is_an_empty_picture(ax):
    plot_contributions(NGram(2).contributions("a", "b"), ax=ax)
    assert bars(ax) == []
    ax.figure.canvas.draw()


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "all"])
def test_the_number_of_bars_is_checked(n):
    with pytest.raises(ParameterError, match="`n` must be an integer >= 1"):
        plot_contributions(FIVE, n)


# -- letters -----------------------------------------------------------------------------------------------
def test_letters_are_coloured_by_what_they_add(ax):
    found = Contributions(
        [
            Contribution("ab", 4.0, ((0, 2),)),
            Contribution("b", -3.0, ((1, 2),)),
            Contribution("d", -0.5, ((3, 4),)),
            Contribution("everywhere", 7.0),
        ]
    )
    plot_sequence("abcd", found, ax)
    assert letters(ax) == list("abcd")
    assert cells(ax) == pytest.approx({(0, 0): 1.0, (0, 1): -0.5, (0, 3): -0.25})
    assert legend(ax) == ["adds, up to 2 per letter", "takes away, up to 1 per letter"]
    assert ax.get_xlabel() == "without a place: 'everywhere', +7"


def test_a_pattern_that_depends_on_its_place_colours_the_right_one(ax):
    found = WeightedDegree(1, shift=1).contributions("aca", "aab")
    plot_sequence("aca", found, ax)
    # a at 0 meets a at 0 (weight 1) and at 1 (1/4); a at 2 meets that at 1 (1/4)
    assert cells(ax) == pytest.approx({(0, 0): 1.0, (0, 2): 0.2})
    other = canvas()[1]
    plot_sequence("aab", found, other, side="y")
    assert cells(other) == pytest.approx({(0, 0): 1.0, (0, 1): 0.5})


def test_rows_wrap_and_are_numbered(ax):
    x = "ab" * 65
    plot_sequence(x, NGram(1).contributions(x, "a"), ax)
    assert "".join(letters(ax)) == x
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "60", "120"]
    assert set(cells(ax)) == {(i // 60, i % 60) for i in range(0, 130, 2)}


def test_of_a_long_sequence_the_heaviest_stretch_is_shown(ax):
    x = "a" * 2000 + "b" * 50 + "a" * 2000
    plot_sequence(x, NGram(1).contributions(x, "b"), ax)
    assert len(letters(ax)) == 1200
    assert "b" * 50 in "".join(letters(ax))
    assert ax.get_xlabel().endswith("of 4,050 symbols")


def test_an_empty_match_stands_at_no_letter(ax):
    plot_sequence("ab", RegexCount("a?").contributions("ab", "a"), ax)
    assert set(cells(ax)) == {(0, 0)}
    assert ax.get_xlabel() == "without a place: '', +6"  # three places in ab, two in a


def test_words_keep_their_distance(ax):
    x = ["the", "cat", "saw", "a", "cat"]
    plot_sequence(x, NGram(1).contributions(x, ["cat"]), ax)
    assert letters(ax) == x
    assert set(cells(ax)) == {(0, 4), (0, 14)}


def test_words_of_a_text_are_coloured_in_it(ax):
    text = "Win £5 or $5!"
    plot_sequence(text, BagOfWords().contributions(text, "win win"), ax)
    assert "".join(letters(ax)) == text
    assert set(cells(ax)) == {(0, 0), (0, 1), (0, 2)}
    ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("x", "shown"),
    [("a\nb\0", ["a", "\\n", "b", "\\x00"]), (b"a\x01", ["a", "\\x01"]), ([1, ""], ["1", "''"])],
)
def test_what_cannot_be_seen_is_escaped(ax, x, shown):
    plot_sequence(x, NGram(1).contributions(x, x), ax)
    assert letters(ax) == shown


@pytest.mark.parametrize("x", ["", []])
def test_an_empty_sequence_is_an_empty_picture(x):
    ax = plot_sequence(x, NGram(1).contributions(x, x))
    assert letters(ax) == []
    ax.figure.canvas.draw()


def test_letters_fit_their_cells():
    """The font is never wider than a cell, in a figure of its own and in a small one of somebody else."""
    x = "ACGT" * 60
    for ax in (None, canvas(2.0, 1.0)[1]):
        ax = plot_sequence(x, NGram(2).contributions(x, x), ax)
        ax.figure.canvas.draw()
        a, b = (ax.transData.transform((i, 0)) for i in (0, 1))
        extents = [text.get_window_extent() for text in ax.texts]
        assert max(box.width for box in extents) <= 1.05 * (b[0] - a[0])


def test_letters_and_the_rest_add_up_to_the_decision():
    from mercer.show.patterns import spread

    machine = SVC(kernel=WeightedDegree(2, shift=1).normalized()).fit(["aab", "aba", "bba"], [0, 1, 1])
    reasons = machine.explain("abb")
    rest = sum(c.weight for c in reasons if not c.x_places)
    assert np.sum(spread(3, reasons, "x", "test", "{}")) + rest == pytest.approx(reasons.value, rel=1e-12)


def test_contributions_of_another_sequence_are_refused(ax):
    found = NGram(2).contributions("banana", "an")
    with pytest.raises(InputError, match=r"must be those of `x`. Pattern 'an' stands at 3:5 there"):
        plot_sequence("ban", found, ax)
    with pytest.raises(ParameterError, match='`side` must be "x" or "y"'):
        plot_sequence("banana", found, ax, side="left")
    for draw in (plot_contributions, lambda found: plot_sequence("a", found)):
        with pytest.raises(InputError, match=r"must come from `kernel.contributions\(x, y\)`"):
            draw([1, 2])
