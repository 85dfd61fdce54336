"""The demonstration, from end to end on small data."""

import os
import re
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pytest

from mercer.cli import main
from mercer.cli.demo import own, refutation, sequences, shapes, strings
from mercer.cli.demo.contents import CHAPTERS, TASKS
from mercer.cli.demo.digits import one_against_rest
from mercer.cli.demo.proofs import DEEP
from mercer.cli.demo.stage import Stage
from mercer.cli.demo.structure import FINDINGS
from mercer.cli.expressions import evaluate
from mercer.kernels import Sigmoid

from ..show.pages import Page


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What `mercer demo --quick` prints, and the page it writes."""
    folder, no_data = tmp_path_factory.mktemp("demo"), tmp_path_factory.mktemp("no_data")
    result = subprocess.run(
        [sys.executable, "-m", "mercer.cli", "demo", "--quick"],
        capture_output=True,
        cwd=folder,
        env={
            **os.environ,
            "MERCER_DATA": str(no_data),
            "PYTHONIOENCODING": "utf-8",
            "PYTHONWARNINGS": "error",
        },
        encoding="utf-8",
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert os.listdir(folder) == ["mercer-demo.html"]
    return result, (folder / "mercer-demo.html").read_text(encoding="utf-8"), folder


def test_nothing_but_the_demonstration_is_printed(demo):
    result, _, folder = demo
    assert result.stderr == ""  # no bars when nobody is watching, no warnings
    assert f"The page: {(folder / 'mercer-demo.html').resolve()}" in result.stdout
    for number, chapter in enumerate(CHAPTERS, start=1):
        assert f"{number}. {chapter.title}" in result.stdout


def test_the_terminal_shows_the_deep_proof_and_the_witness(demo):
    out = demo[0].stdout
    for line in evaluate(DEEP).certificate.deciding.tree().splitlines():
        assert line in out
    witness = Sigmoid(1.0, 0.0).certificate.witness
    assert str(witness) in out
    (form,) = [line for line in out.splitlines() if line.strip().startswith("c'Kc = ")]
    digits = form.split("=")[1].strip()
    assert Decimal(digits) < 0
    assert len(digits.lstrip("-0.").replace(".", "")) >= 49
    assert "not positive definite: points" in out  # what refute found by itself
    assert "refuted, by a confirmed witness of" in out


def test_the_table_has_every_row_and_sane_scores(demo):
    lines = demo[0].stdout.splitlines()
    (start,) = [
        i for i, line in enumerate(lines) if line.split() == ["task", "kernel", "measure", "score", "time"]
    ]
    rows = lines[start + 2 : start + 2 + sum(len(task.trials) for task in TASKS)]
    width = {len(row) for row in rows}
    assert len(width) == 1, "aligned"
    trials = [(task, trial) for task in TASKS for trial in task.trials]
    for row, (task, trial) in zip(rows, trials, strict=True):
        assert row.split()[0] == task.name
        assert trial.kernel in row
        score = float(row.split()[-3])
        assert score > {"diabetes": 0.1, "digits": 0.9, "words": 0.6}[task.name]


def test_every_finding_is_shown(demo):
    lines = [line.split() for line in demo[0].stdout.splitlines()]
    for name, _ in FINDINGS:
        (line,) = [words for words in lines if words and words[0] == name]
        assert line[-1] == "s"
        assert float(line[-2]) >= 0
    out = demo[0].stdout
    (share,) = re.findall(r"KernelPCA +(\d+) % of the variance", out)
    assert 30 < int(share) < 100
    assert all(float(index) > 0.5 for index in re.findall(r"adjusted Rand index ([\d.]+)", out))
    (accuracy,) = re.findall(r"accuracy ([\d.]+) on the others", out)
    assert float(accuracy) > 0.7
    p_values = [float(p) for p in re.findall(r": p = ([\d.]+)", out)]
    assert len(p_values) == 2
    assert max(p_values) < 0.01


def test_strings_are_told_apart_and_the_reason_is_given(demo):
    out = demo[0].stdout
    assert "100 generated stretches of DNA" in " ".join(out.split())
    rows = [line.split() for line in out.splitlines() if line.strip().startswith("DNA")]
    assert len(rows) == len(sequences.KERNELS)
    scores = [float(row[-3]) for row in rows]
    assert min(scores) > 0.4  # at random 0.5, as n-grams alone are in the folds that scikit-learn 1.7 draws
    assert max(scores) > 0.75
    (value,) = re.findall(r"for 'motif': ([\d.]+) is the sum", " ".join(out.split()))
    assert float(value) > 0


def test_the_page_is_whole(demo):
    _, text, _ = demo
    page = Page(text)
    assert page.external() == []
    assert page.dangling() == []
    assert "http://" not in text
    assert "https://" not in text
    assert "script" not in page.tags
    assert len(set(page.ids)) == len(page.ids)
    assert page.tags.count("svg") == page.tags.count("figure") == 11
    assert "data:image/png;base64" in text
    for claim in evaluate(DEEP).certificate.deciding.walk():
        assert claim.subject in page.text
    assert str(Sigmoid(1.0, 0.0).certificate.witness) in page.text
    for task in TASKS:
        for trial in task.trials:
            assert trial.kernel in page.text


def test_quick_says_that_it_is(demo):
    assert "quick version: the first 150 patients" in demo[0].stdout
    assert "150 patients, 3 folds" in demo[0].stdout.replace("\n", " ")


# -- pieces ------------------------------------------------------------------------------------------------
def test_the_witness_is_recomputed_from_the_definition():
    """tanh by the decimal module: an arithmetic that the kernel does not use."""
    from decimal import localcontext

    k = Sigmoid(1.0, 0.0)
    witness = k.certificate.witness
    with localcontext() as context:
        context.prec = 80

        def tanh(t):
            a, b = t.exp(), (-t).exp()
            return (a - b) / (a + b)

        value = sum(
            Decimal(a) * Decimal(b) * tanh(Decimal(x[0]) * Decimal(y[0]))
            for a, x in zip(witness.coefficients, witness.points, strict=True)
            for b, y in zip(witness.coefficients, witness.points, strict=True)
        )
        assert abs(Decimal(refutation.quadratic_form(k, witness)) - value) < Decimal("1e-48")


def test_the_listing_of_the_own_kernel_runs():
    listings = []

    class Recorder(Stage):
        def code(self, text):
            listings.append(text)

    own.CHAPTER.show(Recorder.open(None, quick=True))
    scope = {}
    exec("import mercer\nfrom mercer.kernels import SetIntersection\n" + listings[0], scope)
    assert scope["letters"]("aab", "ba") == 3.0
    assert scope["shared_pairs"]("ab", "ab") == 3.0
    assert "type: ignore" not in listings[0]


def test_targets_of_one_against_the_rest():
    np.testing.assert_array_equal(one_against_rest(np.array([2, 0, 2])), [[-1, 1], [1, -1], [-1, 1]])


def test_every_kernel_of_a_row_is_certified_or_asserted():
    from mercer.cli.demo.words import letters

    assert letters.certificate.positive.asserted
    assert evaluate(DEEP).certificate.is_psd


# -- strings -----------------------------------------------------------------------------------------------
def test_strings_are_read_where_they_are(tmp_path, monkeypatch):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    assert strings.load_messages(quick=True) is None
    (tmp_path / "promoters").mkdir()
    (tmp_path / "promoters" / "promoters.data").write_text("+,S10,\t\ttacg\n-,AMPC,\t\tggca\n", "ascii")
    (tmp_path / "sms_spam").mkdir()
    (tmp_path / "sms_spam" / "SMSSpamCollection").write_text("ham\tHi\nspam\tWin £5\nham\tHi\n", "utf-8")
    dna, messages = strings.load_dna(quick=True), strings.load_messages(quick=True)
    assert (dna.strings, dna.labels.tolist()) == (["TACG", "GGCA"], ["promoter", "other"])
    assert (messages.strings, messages.labels.tolist()) == (["Hi", "Win £5"], ["ham", "spam"])


def test_generated_strings_have_the_motif(tmp_path, monkeypatch):
    monkeypatch.delenv("MERCER_DATA", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")  # ../shared/data is not there
    dna, again = strings.load_dna(quick=False), strings.load_dna(quick=False)
    assert dna.strings == again.strings
    windows = [[x[i : i + 6] for i in range(len(x) - 5)] for x in dna.strings]
    wrong = [
        min(sum(a != b for a, b in zip(w, strings.MOTIF, strict=True)) for w in some) for some in windows
    ]
    assert max(np.array(wrong)[dna.labels == "motif"]) <= 1
    assert np.mean(np.array(wrong)[dna.labels == "random"]) > 1.5  # chance alone seldom comes as close


def test_families_share_a_stretch():
    stretch = "acgtacgtacgt"
    assert sequences.families([stretch + "a", "g" + stretch, "t" * 20]).tolist() == [0, 0, 1]


# -- where the page goes -----------------------------------------------------------------------------------
@pytest.fixture
def no_chapters(monkeypatch):
    monkeypatch.setattr("mercer.cli.demo.contents.CHAPTERS", ())


@pytest.mark.usefixtures("no_chapters")
def test_no_page_is_written_without_being_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--no-page"]) == 0
    assert os.listdir(tmp_path) == []
    assert "The page" not in capsys.readouterr().out


@pytest.mark.usefixtures("no_chapters")
def test_the_output_is_chosen(tmp_path, capsys):
    assert main(["demo", "--output", str(tmp_path / "other.html")]) == 0
    assert os.listdir(tmp_path) == ["other.html"]


@pytest.mark.parametrize(("name", "message"), [("missing/page.html", "no folder"), ("", "is a folder")])
def test_a_bad_output_fails_before_the_work(tmp_path, capsys, name, message):
    assert main(["demo", "--quick", "--output", str(tmp_path / name)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_without_matplotlib_the_demo_says_what_to_install_or_skip(tmp_path, monkeypatch, capsys):
    for name in [n for n in sys.modules if n == "matplotlib" or n.startswith("matplotlib.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["demo", "--quick", "--output", str(tmp_path / "page.html")]) == 1
    err = capsys.readouterr().err
    assert "pip install mercer[show]" in err
    assert "--no-page" in err
    assert err.count("\n") == 1


def test_figures_are_not_drawn_without_a_page():
    def draw():
        raise AssertionError

    Stage.open(None, quick=True).figure(draw, "caption")


def test_progress_shows_only_to_a_terminal(capsys):
    stage = Stage.open(None, quick=True)
    assert list(stage.progress([1, 2, 3], "counting")) == [1, 2, 3]
    assert capsys.readouterr().err == ""


def test_rings_are_told_from_paths_by_structure_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("MERCER_DATA", str(tmp_path))
    source, graphs, labels = shapes.load_graphs(quick=True)
    assert "generated" in source
    assert len(graphs) == len(labels) == 120
    edges = np.array([(len(g.sources) // 2) - g.n for g in graphs])
    assert ((edges == 0) == (labels == "ring")).all()
