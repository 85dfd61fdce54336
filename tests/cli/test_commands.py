"""The command line: output, errors in one line, exit codes."""

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version

import pytest

import mercer.kernels
from mercer.cli import commands, main
from mercer.cli.catalogue import EXAMPLES, entries
from mercer.cli.tables import aligned
from mercer.kernel import Kernel
from mercer.kernels import Gaussian, Linear


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "mercer.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


# -- version and usage -------------------------------------------------------------------------------------
def test_version(capsys):
    with pytest.raises(SystemExit) as info:
        main(["--version"])
    assert info.value.code == 0
    assert capsys.readouterr().out == f"mercer {version('mercer')}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["nonsense"], ["explain"], ["demo", "--nonsense"], ["kernels", "extra"]]
)
def test_wrong_arguments(arguments, capsys):
    with pytest.raises(SystemExit) as info:
        main(arguments)
    assert info.value.code == 2
    assert capsys.readouterr().out == ""


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit) as info:
        main(["--help"])
    assert info.value.code == 0
    text = capsys.readouterr().out
    assert all(name in text for name in ("demo", "kernels", "explain", "--version"))


def test_light_commands_import_nothing_heavy():
    code = (
        "import sys\n"
        "from mercer.cli import main\n"
        "main(['explain', 'Linear()'])\n"
        "sys.exit(any(m in sys.modules for m in ('matplotlib', 'sklearn.datasets', 'sklearn.svm', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


# -- explain -----------------------------------------------------------------------------------------------
def test_explain_prints_the_proof(capsys):
    assert main(["explain", "Gaussian(1.0) + 0.5 * Linear()"]) == 0
    assert capsys.readouterr().out == (Gaussian(1.0) + 0.5 * Linear()).certificate.explain() + "\n"


def test_explain_shows_the_witness(capsys):
    assert main(["explain", "Sigmoid(1.0, 0.0)"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("REFUTED")
    assert "c'Kc = -" in out


def test_explain_as_json(capsys):
    assert main(["explain", "--json", "Sigmoid(1.0, 0.0)"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == "REFUTED"
    assert data["positive"]["witness"]["value"] < 0


@pytest.mark.parametrize(
    "expression",
    ["Nothing()", "Gaussian(-1)", "__import__('os')", "Linear(", "1", "Linear()" + ".exp()" * 500],
)
def test_bad_expressions_are_one_line_on_the_error_stream(expression, capsys):
    assert main(["explain", expression]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("mercer: ")
    assert captured.err.count("\n") == 1


def test_a_deep_proof_is_an_answer_or_one_line(capsys):
    code = main(["explain", "Linear()" + ".exp()" * 45])
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, "") or (code == 2 and captured.err.count("\n") == 1)


# -- kernels -----------------------------------------------------------------------------------------------
def public():
    values = {name: getattr(mercer.kernels, name) for name in mercer.kernels.__all__}
    return {name for name, v in values.items() if isinstance(v, type) and issubclass(v, Kernel)}


def test_every_public_kernel_is_listed_with_its_domain_and_verdict(capsys):
    assert main(["kernels"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["family", "kernel", "domain", "verdict", "by"]
    listed = [line.split()[1].partition("(")[0] for line in lines[2 : lines.index("")]]
    assert sorted(listed) == sorted(public())
    (line,) = [line for line in lines if " Linear() " in line]
    assert line.split() == ["dot", "Linear()", "vectors", "PSD", "inner", "product"]


def test_the_listing_agrees_with_the_certificates():
    for entry in entries():
        if entry.kernel is not None:
            assert type(entry.kernel).__name__ == entry.name
    assert EXAMPLES.keys() <= public()
    unmade = {entry.name for entry in entries() if entry.kernel is None}
    assert not unmade & {"Linear", "Gaussian", "Polynomial", "Anova", "Matern", "ChiSquare", "Jaccard"}


# -- failures ----------------------------------------------------------------------------------------------
def test_an_interrupt_is_clean(monkeypatch, capsys):
    def interrupted(text):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.cli.expressions.evaluate", interrupted)
    assert main(["explain", "Linear()"]) == 130
    captured = capsys.readouterr()
    assert captured.err == "mercer: interrupted\n"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_real_interrupt_is_clean(tmp_path):
    code = (
        "import sys, os, signal, threading\n"
        "import mercer.cli.demo.contents as contents\n"
        "from mercer.cli.demo.stage import Chapter\n"
        "import time\n"
        "def wait(stage):\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "contents.CHAPTERS = (Chapter('sleep', wait),)\n"
        "from mercer.cli import main\n"
        "sys.exit(main(['demo', '--no-page']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert any(line.strip() == "ready" for line in process.stdout)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == "mercer: interrupted\n"


def test_library_and_system_errors_are_one_line(monkeypatch, capsys):
    def full(*args, **kwargs):
        raise OSError("no space left\non device")

    monkeypatch.setattr("mercer.cli.catalogue.listing", full)
    assert main(["kernels"]) == 1
    assert capsys.readouterr().err == "mercer: no space left on device\n"


def test_unexpected_errors_are_not_hidden(monkeypatch):
    def broken():
        raise ZeroDivisionError

    monkeypatch.setattr("mercer.cli.catalogue.listing", broken)
    with pytest.raises(ZeroDivisionError):
        main(["kernels"])


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_leaves_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "mercer.cli", "kernels"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=60)
    assert "Traceback" not in err
    assert "Exception ignored" not in err


def test_a_terminal_without_box_characters():
    result = command("explain", "2 * Linear()", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert "Linear()" in result.stdout


def test_run_as_a_module():
    result = command("explain", "Linear()")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("PSD  Linear()")


def test_commands_are_parsed_without_running_them():
    arguments = commands.parse(["demo", "--quick", "--output", "x.html"])
    assert (arguments.quick, str(arguments.output), arguments.no_page) == (True, "x.html", False)
    assert str(commands.parse(["demo"]).output) == "mercer-demo.html"


def test_tables_are_aligned():
    text = aligned(["a", "number"], [["long cell", "1.5"], ["x", "10.25"]], right=[1])
    assert text.splitlines() == [
        "a          number",
        "─────────────────",
        "long cell     1.5",
        "x           10.25",
    ]
    assert aligned(["a"], []) == "a\n─"
