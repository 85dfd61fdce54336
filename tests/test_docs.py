"""The examples in the README, in CONTRIBUTING and in the guides, run as they are written."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def python_blocks(name):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), flags=re.S | re.M)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_examples_run_as_a_script(name, tmp_path):
    script = tmp_path / "example.py"
    script.write_text("\n".join(python_blocks(name)), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    if name == "README.md":
        assert done.stdout.startswith("STRICT")
        assert "c'Kc = -0.99 < 0" in done.stdout


def test_certificates_page_is_true():
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for i, block in enumerate(python_blocks("docs/certificates.md")):
        runner.run(parser.get_doctest(block, {}, f"block {i}", "docs/certificates.md", 0))
    results = runner.summarize()
    assert results.attempted >= 4
    assert results.failed == 0


def test_the_guide_runs():
    import numpy as np

    from mercer.kernels import Gaussian

    rng = np.random.default_rng(0)
    names = {
        "X": rng.standard_normal((30, 2)),
        "Y": rng.standard_normal((5, 2)),
        "X_new": rng.standard_normal((4, 2)),
        "y": rng.standard_normal(30),
        "v": rng.standard_normal(30),
        "Gaussian": Gaussian,
    }
    for block in python_blocks("docs/guide.md"):
        exec(compile(block, "docs/guide.md", "exec"), names)


def test_the_page_on_support_vector_machines_is_true(capsys):
    for block in python_blocks("docs/svm.md"):
        exec(compile(block, "docs/svm.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("converged")
    assert lines[1:4] == ["True", "True", "True"]
    assert lines[4].startswith("PiecewiseLogistic")


def run_page(name):
    names = {}
    for block in python_blocks(name):
        exec(compile(block, name, "exec"), names)


def test_the_first_example_is_true_and_makes_its_picture(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    run_page("docs/index.md")
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    proof = re.search(r"^```text\n(.*?)^```", page, flags=re.S | re.M)
    assert proof is not None
    *lines, status = capsys.readouterr().out.splitlines()
    assert lines == proof[1].splitlines()
    assert status.startswith("converged")
    assert (tmp_path / "decisions.png").exists()
    assert (ROOT / "docs" / "static" / "decisions.png").exists()


def test_the_page_on_choosing_is_true(capsys):
    run_page("docs/choosing.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["True", "1.0", "Gaussian(sigma=0.7)"]
    assert lines[3:] == ["[1.0, 0.0, 0.0, 0.0, 0.0]", "True True", "True"]


def test_the_page_on_ranking_is_true(capsys):
    run_page("docs/ranking.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("converged")
    assert lines[1:] == ["True", "True"]


def test_the_page_on_several_kernels_is_true(capsys):
    run_page("docs/multiple_kernels.md")
    lines = capsys.readouterr().out.splitlines()
    assert "converged" in lines[4]
    assert float(lines[5]) > 0.9
    assert lines[6].startswith("41 kernels; converged")
    assert [line.split(maxsplit=1)[1] for line in lines[8:12]] == ["'c'", "'b'", "'a'", "'a * b'"]


def test_the_page_on_learned_kernels_is_true(capsys):
    run_page("docs/learned_kernels.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["converged True", "True"]
    metric = lines.index("True Mahalanobis")
    assert lines[metric - 1] == "[0, 2, 1] True" or lines[metric - 1] == "[0, 1, 2] True"
    assert lines[-1] in ("Linear + Periodic True", "Periodic + Linear True")


def test_the_page_on_clusters_is_true(capsys):
    run_page("docs/clustering.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["True", "True"]
    assert lines[2].startswith("converged")
    assert lines[3:] == ["(1, 4) (1,)", "True", "['food']", "True", "True"]


@pytest.mark.filterwarnings("ignore:SVC. stopped because a callback asked to stop")
def test_the_page_on_long_runs_is_true(capsys):
    run_page("docs/runs.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("KernelRidge: `time_budget` of 1e-06 s was used up during")
    assert lines[1].split()[0] == "SVC"


def test_the_page_on_semi_supervised_learning_is_true(capsys):
    run_page("docs/semi_supervised.md")
    assert capsys.readouterr().out.splitlines() == ["1.0", "True", "1.0", "STRICT", "True"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("discriminant", ["True", "(200, 1)", "True"]),
        ("two_sample", ["statistic ...", "True", "True", "0.002", "True"]),
    ],
)
def test_the_pages_on_projections_and_tests_are_true(name, expected, capsys):
    for block in python_blocks(f"docs/{name}.md"):
        exec(compile(block, f"docs/{name}.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(expected)
    for line, pattern in zip(lines, expected, strict=True):
        assert re.fullmatch(re.escape(pattern).replace(re.escape("..."), ".*"), line)


def test_the_page_on_ridge_regression_is_true(capsys):
    for block in python_blocks("docs/ridge.md"):
        exec(compile(block, "docs/ridge.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "True (30,)"
    assert lines[1:3] == ["True", "True"]
    assert lines[3].startswith("converged")
    assert lines[4] == "[ True]"
    assert lines[-4:] == ["True", "True", "True True", "True"]


def test_the_page_on_measures_is_true(capsys):
    run_page("docs/measures.md")
    assert capsys.readouterr().out.splitlines() == [
        "PSD",
        "True",
        "True",
        *["True UNKNOWN"] * 3,
        "inf",
        "0.25 UNKNOWN",
        "2.125 PSD",
    ]


def test_the_page_on_transducers_is_true(capsys):
    run_page("docs/automata.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["2.0", "2.0 9 16", "2.0"]
    assert lines[3].startswith("total_weight: the sum over all paths diverges")
    assert lines[4:7] == ["[[9. 7. 8.]", " [7. 8. 6.]", " [8. 6. 9.]]"]
    assert any("c'Kc = -" in line for line in lines)  # of a pair HMM
    assert lines[-2:] == ["True", "True 2"]


def test_the_page_on_kernel_graphs_is_true(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    run_page("docs/kernel_graphs.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == ["0.0", "STRICT", "True", "2.0"]
    assert "Got 3." in lines[4]
    assert lines[5:] == ["((0, 1, 'f'), (1, 1, 'g'), (1, 1, 'h'), (1, 2, 'f'))", "4.0"]
    assert (tmp_path / "kernel_graph.png").exists()
    assert (ROOT / "docs" / "static" / "kernel_graph.png").exists()


def test_the_page_on_sequences_is_true(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    run_page("docs/sequences.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["PSD ['spam' 'ham']", "[1 0] AAA"]
    assert lines[2:5] == [
        "weight  pattern",
        "   2.0  'ana'  [1:4 3:6 | 4:7]",
        "   1.0  'ban'  [0:3 | 0:3]",
    ]
    assert lines[5:] == ["spam against ham", "['prize', 'free', 'a']"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["letters.png", "words.png"]


def test_the_page_on_trees_is_true(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    run_page("docs/trees.md")
    page = (ROOT / "docs" / "trees.md").read_text(encoding="utf-8")
    shown = re.search(r"^```text\n(.*?)^```", page, flags=re.S | re.M)
    assert shown is not None
    *lines, large, names = capsys.readouterr().out.splitlines()
    assert lines == shown[1].splitlines()
    assert large == "1.0 1386.29"
    assert names == "['(N dog)', '(D the)', '(NP (D the) (N dog))']"
    assert (tmp_path / "tree.png").exists()


def test_the_page_on_images_is_true(capsys):
    pytest.importorskip("matplotlib").use("agg")
    run_page("docs/images.md")
    assert capsys.readouterr().out.splitlines()[:2] == ["1.0", "0.507"]


def test_every_kernel_is_listed():
    import mercer.kernels

    page = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    exempt = {"Columns", "Constant"}  # written as columns(...) and as a number
    assert [name for name in mercer.kernels.__all__ if f"{name}" not in page and name not in exempt] == []


def test_the_page_on_strings_is_true(capsys):
    run_page("docs/strings.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["0.957", "PSD"]
    assert lines[2:5] == [
        "weight  pattern",
        "   4.0  'an'  [1:3 3:5 | 0:2 2:4]",
        "   4.0  'na'  [2:4 4:6 | 1:3 3:5]",
    ]
    assert lines[-3:] == ["True", "ATT True", "PSD"]


def test_the_page_on_graphs_is_true(capsys):
    pytest.importorskip("networkx")
    run_page("docs/graphs.md")
    printed = capsys.readouterr().out
    assert "['alcohol' 'ether']" in printed
    assert "'alcohol' against 'ether'" in printed or "weight  pattern" in printed


def test_the_page_on_uncertainty_is_true(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    run_page("docs/uncertainty.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["full True", "full 0.9", "split 0.9"]
    assert lines[3].startswith("coverage of split")
    assert lines[4:7] == ["['left']", "['left', 'right']", "['right']"]
    assert sum("VACUOUS" in line for line in lines) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["intervals.png", "panel.png"]


def test_the_page_on_shapley_values_is_true(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    run_page("docs/shapley.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["True", "True"]
    assert lines[3].startswith("shapley: the kernel must be a sum of products over coordinates")
    assert (tmp_path / "shapley.png").exists()


def test_the_page_on_searches_is_true(capsys):
    pytest.importorskip("matplotlib")
    run_page("docs/search.md")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Gaussian(sigma=0.56")
    assert lines[1:] == ["10 True", "Gaussian(sigma=0.6) 1", "True"]
