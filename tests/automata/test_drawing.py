"""Pictures of machines: what is in them, and that nothing lies on anything else."""

import random
import re
from xml.etree import ElementTree

import pytest

from mercer.automata import ANY, EPSILON, Transducer, counting, from_regex, pair_hmm, string, to_dot, to_svg
from mercer.automata.drawing import MOST_STATES, arc_texts, picture
from mercer.automata.layout import LETTER, LINE, RADIUS, layout

SVG = "{http://www.w3.org/2000/svg}"

#: A transducer of the kind of figure 6.4: two final states that lead to each other.
FIGURE_6_4 = Transducer(
    [
        (0, 0, "b", "a", 2.0),
        (0, 1, "a", "b", 3.0),
        (1, 1, "b", "a", 4.0),
        (1, 2, "a", "a", 1.0),
        (1, 3, "a", "a", 2.0),
        (2, 3, "b", "a", 4.0),
        (3, 2, "b", "b", 2.0),
        (3, 3, "b", "a", 3.0),
    ],
    {0: 1.0},
    {2: 0.5, 3: 2.0},
)
FIGURE_6_7 = counting(from_regex(".{2}"), gap=0.5).over("ab")

MACHINES = {
    "6.4": FIGURE_6_4,
    "6.7": FIGURE_6_7,
    "pattern": from_regex("(ab|c)+d?|[^a-d]x{2,4}"),
    "cycle": from_regex("(abc|de)*"),
    "string": string("mississippi"),
    "pairs": pair_hmm({("a", "a"): 0.5}, {"a": 0.5, "b": 0.5}, open=0.1, extend=0.2, stop=0.1),
    "two": string("ab") | string("cd", weight=2.0),
}


def boxes(T):
    """Left, top, right, bottom of every state and every text."""
    found, texts = picture(T), arc_texts(T)
    for x, y in found.states:
        yield x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS
    for pair, curve in found.curves.items():
        (x, y), lines = curve.text, texts[pair]
        half, tall = LETTER * max(map(len, lines)) / 2, LINE * len(lines) / 2
        yield x - half, y - tall, x + half, y + tall


@pytest.mark.parametrize("name", MACHINES)
def test_nothing_covers_anything_else(name):
    found = list(boxes(MACHINES[name]))
    for i, a in enumerate(found):
        for b in found[:i]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3], (name, a, b)


@pytest.mark.parametrize("name", MACHINES)
def test_everything_lies_within_the_picture(name):
    found = picture(MACHINES[name])
    for left, top, right, bottom in boxes(MACHINES[name]):
        assert left >= 0
        assert top >= 0
        assert right <= found.width
        assert bottom <= found.height


def test_states_of_random_graphs_never_overlap():
    rng = random.Random(0)
    for _ in range(50):
        n = rng.randrange(1, 15)
        texts = {(rng.randrange(n), rng.randrange(n)): ["a:b/2"] for _ in range(rng.randrange(3 * n))}
        states = layout(n, [0], texts).states
        for i, (x, y) in enumerate(states):
            assert all((x - u) ** 2 + (y - v) ** 2 >= (2 * RADIUS) ** 2 for u, v in states[:i])


def test_arcs_of_a_chain_lead_to_the_right():
    xs = [x for x, _ in picture(string("abcdef")).states]
    assert xs == sorted(xs)
    assert len({y for _, y in picture(string("abcdef")).states}) == 1


def test_dot():
    text = to_dot(Transducer([(0, 1, 'a"\\', EPSILON, 0.5), (1, 1, ANY, ANY, 1.0)], {0: 2.0}, {1: 0.25}))
    assert '0 [label="2/0", style=bold];' in text
    assert '1 [label="1/0.25", shape=doublecircle];' in text
    assert r'0 -> 1 [label="a\"\\:ε/0.5"];' in text
    assert '1 -> 1 [label=".:."];' in text


def test_svg_shows_states_and_arcs():
    root = ElementTree.fromstring(to_svg(FIGURE_6_4))
    assert len(root.findall(f".//{SVG}circle")) == 4 + 2  # final states have two
    bold = [c for c in root.iter(f"{SVG}circle") if float(c.get("stroke-width")) > 2]
    assert len(bold) == 1
    assert len(root.findall(f".//{SVG}path")) == 8
    words = [t.text for t in root.iter(f"{SVG}text")]
    assert {"0", "1", "2/0.5", "3/2", "a:b/3", "b:a/2", "b:b/2", "a:a", "a:a/2"} <= set(words)


def test_symbols_that_mean_something_to_svg_or_to_nobody():
    T = string(["<&>", " ", "\0", 7, ("x", 1)])
    words = [t.text for t in ElementTree.fromstring(to_svg(T)).iter(f"{SVG}text")]
    assert {"<&>", "' '", r"'\x00'", "7", "('x', 1)"} <= set(words)


def test_many_arcs_between_two_states_are_counted():
    (lines,) = arc_texts(from_regex("[a-z]")).values()
    assert lines == ["a", "b", "c", "d", "e", "(21 more)"]


def test_notebooks_show_what_can_be_read():
    assert re.match("<svg ", FIGURE_6_4._repr_svg_())
    assert string("a" * MOST_STATES)._repr_svg_() is None


def test_a_machine_without_states():
    nothing = Transducer([], {}, {})
    assert ElementTree.fromstring(to_svg(nothing)).findall(f".//{SVG}circle") == []
    assert to_dot(nothing).count("->") == 0
