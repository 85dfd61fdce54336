"""The report: one file that parses, needs nothing, escapes everything, and is never half written."""

import locale
import os
import re
import stat

import pytest

from mercer.errors import InputError
from mercer.kernels import Gaussian, Linear
from mercer.show import Fragment, Report, canvas, heatmap, proof, spectrum
from mercer.show.report import write_atomically

from .pages import Page


def full():
    figure, ax = canvas()
    heatmap([[1.0, 0.5], [0.5, 1.0]], ["a", "b"], ax)
    other, ax = canvas()
    spectrum([[1.0, 2.0], [2.0, 1.0]], ax)
    return (
        Report("Title & more", "lead with `code` <b>")
        .heading("First <section>")
        .text("A `code < 1` & text.")
        .code("x = 1\n  <y>")
        .proof((Gaussian(1.0) + Linear()) ** 2)
        .heading("Second")
        .table(["name", "value"], [["a", 1.5], ["b", 2]], "caption")
        .figure(figure, "A heat map.")
        .figure(other, "A `spectrum`.", "eigenvalues")
    )


def test_the_page_parses_and_needs_nothing_else():
    text = full().html()
    page = Page(text)
    assert page.external() == []
    assert page.dangling() == []
    assert "http://" not in text
    assert "https://" not in text
    assert not {"script", "link", "iframe", "object"} & set(page.tags)
    assert len(set(page.ids)) == len(page.ids), "ids must be unique across figures"
    assert page.tags.count("svg") == 2
    assert page.tags.count("figcaption") == 2


def test_everything_is_escaped():
    text = full().html()
    assert "First &lt;section&gt;" in text
    assert "<code>code &lt; 1</code> &amp; text." in text
    assert "x = 1\n  &lt;y&gt;" in text
    assert "<title>Title &amp; more</title>" in text
    assert "First <section>" in Page(text).text


def test_proofs_fold():
    page = Page(Report("t").proof(Gaussian(1.0) * 2.0).html())
    assert page.tags.count("details") == page.tags.count("summary") >= 2
    assert "nonnegative scaling" in page.text
    assert "Bochner" in page.text


def test_figures_take_the_colours_of_the_page_and_are_described():
    text = full().html()
    assert "currentColor" in text
    assert "var(--blue, #0072b2)" in text
    assert re.search(r'<svg role="img" aria-label="eigenvalues"', text)
    assert "image/png;base64" in text


def test_a_figure_of_somebody_elses_keeps_its_paper():
    matplotlib_figure = pytest.importorskip("matplotlib.figure")
    figure = matplotlib_figure.Figure()
    figure.subplots().plot([0, 1])
    text = Report("t").figure(figure, "c").html()
    assert "background: white; color: black" in text
    assert "currentColor" not in text.split("<svg")[1]


def test_figures_are_the_same_every_time():
    assert full().html() == full().html()


def test_numbers_go_right_and_fragments_stay_html():
    text = Report("t").table(["k", "v", "w"], [["x", 0.123456, Fragment("<b>y</b>")]], right=[0]).html()
    assert '<td class="number">x</td><td class="number">0.1235</td><td><b>y</b></td>' in text


def test_rows_must_fit_the_columns():
    with pytest.raises(InputError, match="every row must have 2 cells"):
        Report("t").table(["a", "b"], [["x"]])


def test_an_empty_table_is_a_table():
    assert "<thead>" in Report("t").table(["a"], []).html()


def test_numbers_do_not_follow_the_locale(monkeypatch):
    mpl = pytest.importorskip("matplotlib")
    for name in ("format_string", "str"):
        monkeypatch.setattr(locale, name, lambda *args, **kwargs: "0,5")
    with mpl.rc_context({"axes.formatter.use_locale": True}):
        figure, ax = canvas()
        heatmap([[1.0, 0.5], [0.5, 1.0]], None, ax)
        text = Page(Report("t").table(["v"], [[1.5]]).figure(figure, "c").html()).text
    assert "1.5" in text
    assert "0.6" in text, "the colour bar has ticks"
    assert "0,5" not in text


# -- files -------------------------------------------------------------------------------------------------
def test_save_returns_the_path(tmp_path):
    path = Report("t").text("é").save(tmp_path / "page.html")
    assert path == tmp_path / "page.html"
    assert "é" in path.read_text(encoding="utf-8")
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_failed_write_leaves_the_old_page_and_no_litter(tmp_path, monkeypatch, step):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_the_file_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    calls = []
    real = {name: getattr(os, name) for name in ("fsync", "replace")}
    for name, function in real.items():
        monkeypatch.setattr(os, name, lambda *a, n=name, f=function: (calls.append(n), f(*a))[1])
    write_atomically(tmp_path / "page.html", "text")
    assert calls[:2] == ["fsync", "replace"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        new = write_atomically(tmp_path / "new.html", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    new.chmod(0o604)
    write_atomically(new, "y")
    assert stat.S_IMODE(new.stat().st_mode) == 0o604


@pytest.mark.skipif(os.name != "posix", reason="symbolic links of POSIX")
def test_a_link_stays_a_link(tmp_path):
    target = tmp_path / "target.html"
    target.write_text("old")
    link = tmp_path / "link.html"
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


# -- proofs ------------------------------------------------------------------------------------------------
def test_proof_of_a_kernel_and_of_its_certificate():
    k = Gaussian(1.0) - 2.0 * Gaussian(3.0)
    assert proof(k) == proof(k.certificate)
    assert proof(k)._repr_html_() == str(proof(k))


def test_proof_shows_the_witness_and_escapes():
    from mercer.kernels import Sigmoid

    k = Sigmoid(1.0, 0.0)
    page = Page(proof(k))
    assert str(k.certificate.witness) in page.text
    assert "&lt; 0" in proof(k)
    assert 'class="mercer-verdict bad">REFUTED' in proof(k)


def test_proof_shows_every_node():
    k = (Gaussian(1.0) + 0.5 * Linear()).normalized() ** 2
    page = Page(proof(k))
    for claim in k.certificate.deciding.walk():
        assert claim.subject in page.text
        assert claim.reason in page.text
