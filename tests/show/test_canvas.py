"""Figures of their own, and matplotlib that is imported late or not there."""

import subprocess
import sys

import pytest

from mercer.errors import MercerError
from mercer.kernels import Linear
from mercer.show import Report, canvas, heatmap, prediction, proof, spectrum


def test_importing_draws_on_neither_matplotlib_nor_pyplot():
    code = "import sys, mercer.show; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_canvas_leaves_pyplot_and_its_settings_alone():
    mpl = pytest.importorskip("matplotlib")
    plt = pytest.importorskip("matplotlib.pyplot")
    before, figures = dict(mpl.rcParams), plt.get_fignums()
    figure, axes = canvas(4.0, 3.0, columns=2)
    heatmap([[1.0]], ax=axes[0])
    assert dict(mpl.rcParams) == before
    assert list(figure.get_size_inches()) == [4.0, 3.0]
    assert plt.get_fignums() == figures


def test_without_axes_a_pyplot_figure_is_made(monkeypatch):
    mpl = pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    mpl.use("agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    try:
        ax = spectrum([[2.0]])
        assert ax.figure.number in plt.get_fignums()
    finally:
        plt.close("all")


@pytest.fixture
def no_matplotlib(monkeypatch):
    for name in [n for n in sys.modules if n == "matplotlib" or n.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # what Python makes of a package that is not there


@pytest.mark.usefixtures("no_matplotlib")
@pytest.mark.parametrize(
    "draw",
    [
        lambda: heatmap([[1.0]]),
        lambda: spectrum([[1.0]]),
        lambda: prediction(None, [[1.0]], [1.0]),
        lambda: canvas(),
    ],
)
def test_without_matplotlib_the_error_names_the_extra(draw):
    with pytest.raises(ImportError, match=r"pip install mercer\[show\]") as info:
        draw()
    assert isinstance(info.value, MercerError)


@pytest.mark.usefixtures("no_matplotlib")
def test_proofs_and_pages_need_no_matplotlib():
    assert "inner product" in proof(Linear())
    assert "inner product" in Report("t").proof(Linear()).html()


def test_the_colours_of_marks_stand_out_from_white_paper():
    """Contrast of at least 3 with white, by the WCAG formula."""
    from mercer.show.canvas import COLOURS

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for name in ("blue", "vermilion", "green"):
        assert 1.05 / (luminance(COLOURS[name]) + 0.05) >= 3
