"""Machines drawn with matplotlib."""

import pytest

from mercer.automata import counting, from_regex

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from mercer.show import automaton, canvas  # noqa: E402


def test_draws_every_state_and_arc(tmp_path):
    T = counting(from_regex(".{2}"), gap=0.5)
    axes = automaton(T)
    kinds = [type(patch).__name__ for patch in axes.patches]
    assert kinds.count("Circle") == T.n_states + len(T.final)
    assert kinds.count("FancyArrowPatch") == 5
    assert {"0", "1", "2", ".:ε", ".:ε/0.5", ".:."} == {text.get_text() for text in axes.texts}
    axes.figure.savefig(tmp_path / "machine.png")
    assert (tmp_path / "machine.png").read_bytes().startswith(b"\x89PNG")


def test_draws_on_given_axes():
    _, ax = canvas()
    assert automaton(from_regex("ab"), ax) is ax
    assert len(ax.texts) == 3 + 2
