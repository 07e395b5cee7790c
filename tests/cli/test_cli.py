"""The command line as a process, and how it ends: two lines, an exit code, a pipe that closes, a disk that is full."""

import inspect
import os
import re
import subprocess
import sys

import pytest
from in_process import openworld

from openworld import OpenworldError
from openworld.cli import console
from openworld.cli.app import COMMANDS, commands
from openworld.core.errors import failing

NAMES_AS_ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
IMPORTS = """
import sys; sys.argv = ['openworld', '--help']
from openworld.cli import main
try: main()
except SystemExit: pass
heavy = {'torch', 'numpy', 'matplotlib', 'pyarrow', 'scipy', 'PIL'} & set(sys.modules)
assert not heavy, heavy
"""


def process(*arguments, **settings):
    """A real one: the entry point, its exit code and its streams."""
    command = [sys.executable, "-m", "openworld", *arguments]
    return subprocess.run(command, **({"capture_output": True, "text": True} | settings))


def without_letters(**settings):
    """An environment in which no variable says how text is read but those that are given."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHONUTF8"))}
    return kept | settings


def test_help_and_version_need_no_heavy_package():
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"openworld \d+\.\d+\.\d+\n", process("--version").stdout)


def test_a_process_ends_with_two_lines_and_exit_code_2_and_with_debug_in_a_traceback():
    done, debugged = process("list", "learner"), process("--debug", "list", "learner")
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.strip().splitlines()) <= 2
    assert "Traceback" in debugged.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("list", "learner"), "unknown kind 'learner'; did you mean 'learners'"),
        (("run", "none.toml"), "none.toml does not exist"),
        (("run", "broken.toml"), "not a valid .toml file"),
        (("demo", "--preset", "quik"), "did you mean 'quick'"),
        (("demo", "--device", "gpu"), "unknown device 'gpu'"),
    ],
)
def test_wrong_use_is_two_lines_and_nothing_is_written(tmp_path, arguments, sentence):
    (tmp_path / "broken.toml").write_text("learners = [\nseeds = 1")
    done = openworld(*arguments, cwd=tmp_path)
    assert done.exit_code == 2 and sentence in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert [path.name for path in tmp_path.iterdir()] == ["broken.toml"]


def fail(error):
    raise error


def fail_at_work(error):
    with failing():
        raise error


@pytest.mark.parametrize(
    ("work", "failure", "code", "sentence"),
    [
        (fail, KeyboardInterrupt(), 130, "stopped; what is done is kept"),
        (fail, console.Terminated(), 143, "stopped; what is done is kept"),
        (fail, OSError(28, "No space left on device", "runs/demo"), 1, "runs/demo: No space left on device"),
        (fail, MemoryError(), 1, "MemoryError"),
        (fail, OpenworldError("told"), 2, "told"),
        (fail_at_work, OpenworldError("an image is gone."), 1, "an image is gone."),
    ],
)
def test_every_failure_is_a_sentence_and_an_exit_code(work, failure, code, sentence, capsys):
    with pytest.raises(SystemExit) as ended, console.reporting(()):
        work(failure)
    said = capsys.readouterr().err
    assert ended.value.code == code and sentence in said and len(said.strip().splitlines()) <= 2


def test_a_reader_that_goes_away_ends_it_quietly():
    program = [sys.executable, "-m", "openworld", "list", "datasets"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reading:
        reading.stdout.close()
        assert reading.wait() in (0, 1) and reading.stderr.read() == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("run", "--help"), ("list", "metrics")])
def test_an_output_that_is_full_is_a_sentence(arguments):
    with open("/dev/full", "w") as full:
        done = process(*arguments, stdout=full, stderr=subprocess.PIPE, capture_output=False)
    assert done.returncode == 1 and "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_text_that_the_output_cannot_hold_is_a_sentence(tmp_path):
    (tmp_path / "names.txt").write_text("Käfer\nkäfer\n", encoding="utf-8")
    env = without_letters(PYTHONIOENCODING="ascii")
    done = process("data", "audit", "names.txt", "--json", cwd=tmp_path, env=env)
    assert done.returncode == 1 and "\\xe4" in done.stderr and "PYTHONUTF8=1" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_with_an_umlaut_is_refused_with_the_way_out_where_names_are_read_as_ascii(tmp_path):
    (tmp_path / "köln" / "cat").mkdir(parents=True)
    done = process("report", "köln", cwd=tmp_path, env=without_letters(**NAMES_AS_ASCII))
    assert done.returncode in (1, 2) and "PYTHONUTF8=1" in done.stderr and "Error" not in done.stderr, done.stderr


def test_a_command_reads_the_same_words_where_pydantic_is_loaded():
    """As by Ray: cyclopts then has it check defaults, too."""
    pytest.importorskip("pydantic")
    done = openworld("estimate", "fit", "--source", "none.npz", "--out", "watch.safetensors")
    assert done.exit_code == 2 and "there is no file none.npz" in done.stderr
    assert openworld("reproduce", "openpl", "--data", "embedded", "--table", "2", "--plan").exit_code == 0


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_default_is_of_its_type_as_pydantic_reads_it(words):
    pydantic = pytest.importorskip("pydantic")
    command = commands
    for word in words:
        command = command[word]
    for parameter in inspect.signature(command.default_command).parameters.values():
        if parameter.default is not parameter.empty:
            pydantic.TypeAdapter(parameter.annotation).validate_python(parameter.default)
