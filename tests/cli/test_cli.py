"""The command line as a person meets it: help that teaches, tables, two-line errors, exit codes that mean something."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from in_process import openworld

from openworld import OpenworldError
from openworld.cli import console
from openworld.core.errors import failing
from openworld.results import Results

sys.path.insert(0, str(Path(__file__).parents[1] / "evaluations"))

from small_specs import draw  # noqa: E402


def process(*arguments):
    """A real one: the entry point, its exit code and its streams."""
    return subprocess.run([sys.executable, "-m", "openworld", *arguments], capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    path = tmp_path_factory.mktemp("score") / "mine.npz"
    generator = np.random.default_rng(0)
    side = np.tile(np.repeat(["base", "new"], 50), 2)
    np.savez(
        path,
        side=side,
        score=generator.standard_normal(200) + (side == "base"),
        correct=generator.random(200) < 0.7,
        model=np.repeat(["first", "<script>alert(1)</script>"], 100),
        id=np.tile(np.arange(100), 2),
    )
    return path


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    path = tmp_path_factory.mktemp("spec") / "small.toml"
    draw(path.parent)
    path.write_text(
        f'dataset = "{path.parent / "squares"}"\nseeds = [1, 2]\nshots = 2\nviews = 1\n'
        '[[learners]]\nlearner = "zero-shot"\n'
        '[[learners]]\nlearner = "CoOp"\nsettings = { context_length = 2, schedule = { epochs = 1 } }\n'
    )
    return path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", ["estimate", "detect"])
def test_what_most_people_need_of_a_large_command_is_one_screen_and_the_docs_are_named(command):
    lines = openworld(command, "--help", columns=80).stdout.splitlines()
    ends = [number for number, line in enumerate(lines) if line.startswith("╰")]
    options = next(number for number, line in enumerate(lines) if "─ Options ─" in line)
    assert next(end for end in ends if end > options) < 40 and any("docs/" in line for line in lines[ends[-1] :])


WORDS = {  # what is typed -> what must be said
    ("version",): "Did you mean --version",
    ("list",): "openworld list detectors",
    ("doctor",): "OPENWORLD_CACHE",
}


@pytest.mark.parametrize("arguments", WORDS)
def test_a_pointer_stands_where_people_look(arguments):
    done = openworld(*arguments, columns=160)
    assert WORDS[arguments] in done.stdout + done.stderr


def test_the_help_of_new_names_every_kind():
    from openworld.api.new.new_plug_in import EXAMPLES
    from openworld.evaluations import EVALUATIONS

    text = openworld("new", "--help", columns=160).stdout
    assert all(kind in text for kind in (*EXAMPLES, *EVALUATIONS) if ":" not in kind)


def test_the_help_of_run_says_how_classes_are_cut_and_what_a_view_keeps():
    text = " ".join(openworld("run", "--help").stdout.replace("│", " ").split())
    assert "first half" in text and "base = []" in text and "new = []" in text
    assert "[0.5, 1.0]" in text and "[0.08, 1.0]" in text


def test_help_and_version_need_no_heavy_package():
    code = (
        "import sys; sys.argv = ['openworld', '--help']\n"
        "from openworld.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'torch', 'numpy', 'matplotlib', 'pyarrow', 'scipy', 'PIL'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"openworld \d+\.\d+\.\d+\n", process("--version").stdout)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("list", "learner"), "unknown kind 'learner'; did you mean 'learners'"),
        (("run", "none.toml"), "none.toml does not exist"),
        (("score", "none.csv"), "none.csv"),
        (("report", "nowhere"), "nowhere holds no run"),
        (("demo", "--preset", "quik"), "did you mean 'quick'"),
        (("demo", "--style", "twemojis"), "twemoji"),
        (("demo", "--device", "gpu"), "unknown device 'gpu'"),
        (("run", "."), "is no plain file, but a folder"),
        (("score", "."), "is a folder, expected .npz, .safetensors, .parquet, .csv"),
    ],
)
def test_wrong_use_is_two_lines_and_exit_code_2(tmp_path, arguments, sentence):
    done = openworld(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert list(tmp_path.iterdir()) == []


def test_a_process_ends_with_two_lines_and_exit_code_2_and_with_debug_in_a_traceback():
    done, debugged = process("list", "learner"), process("--debug", "list", "learner")
    assert (done.returncode, done.stdout) == (2, "") and len(done.stderr.strip().splitlines()) <= 2
    assert "Traceback" in debugged.stderr and "Traceback" not in done.stderr


def test_a_spec_that_is_no_toml_is_wrong_use(tmp_path):
    (tmp_path / "broken.toml").write_text("learners = [\nseeds = 1")
    done = openworld("run", "broken.toml", cwd=tmp_path)
    assert (done.returncode, "not a valid .toml file" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("failure", "code", "sentence"),
    [
        (KeyboardInterrupt(), 130, "stopped; what is done is kept"),
        (OSError(28, "No space left on device", "runs/demo"), 1, "runs/demo: No space left on device"),
        (MemoryError(), 1, "MemoryError"),
        (EOFError(), 1, "EOFError"),
        (OpenworldError("told"), 2, "told"),
    ],
    ids=repr,
)
def test_every_failure_is_a_sentence_and_an_exit_code(failure, code, sentence, capsys):
    def fail():
        raise failure

    with pytest.raises(SystemExit) as ended, console.reporting(()):
        fail()
    told = capsys.readouterr().err
    assert ended.value.code == code
    assert sentence in told
    assert len(told.strip().splitlines()) <= 2


def test_a_failure_while_working_is_not_wrong_use():
    def fail():
        with failing():
            raise OpenworldError("an image is gone.")

    with pytest.raises(SystemExit) as ended, console.reporting(()):
        fail()
    assert ended.value.code == 1


def test_a_reader_that_goes_away_ends_it_quietly():
    program = [sys.executable, "-m", "openworld", "list", "datasets"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.wait() in (0, 1)
        assert process.stderr.read() == ""


def test_score_of_one_side_says_why_there_is_no_number(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("side,score,correct\nbase,1,true\nbase,2,false\n")
    done = openworld("score", path, "--out", tmp_path / "scored [b]")
    assert done.returncode == 0, done.stderr
    assert "has no OpenworldAUC: there is no new sample" in done.stdout
    assert "scored [b]/report.html" in done.stdout and (tmp_path / "scored [b]" / "report.html").exists()


def test_score_compares_models_on_the_same_images(predictions, tmp_path):
    done = openworld("score", predictions, "--out", tmp_path / "scored")
    assert done.returncode == 0, done.stderr
    assert "first" in done.stdout
    assert "<script>alert(1)</script>" in done.stdout and "points that" in done.stdout
    page = (tmp_path / "scored" / "report.html").read_text()
    assert "<script>alert" not in page


def test_score_as_json(predictions):
    found = Results.from_json(openworld("score", predictions, "--json").stdout).where(metric="openworld_auc")
    assert found.entities == ("first", "<script>alert(1)</script>")
    assert 0 < found.rows[0].value.value < 1


def test_run_then_report_then_run_again(spec, tmp_path):
    first = openworld("run", spec, "--workers", 1, "--out", tmp_path / "run")
    assert first.returncode == 0, first.stderr
    assert "zero-shot" in first.stdout
    assert (tmp_path / "run" / "report.html").stat().st_size < 1_500_000
    text = openworld("report", tmp_path / "run", "--table", "markdown").stdout
    assert "Forward: of every new class one image in 5 is kept" in " ".join(text.split())
    table = openworld("report", tmp_path / "run", "--table", "csv").stdout
    assert table.splitlines()[0].startswith("evaluation,entity,setting") and ",forward," in table
    records = contents(tmp_path / "run" / "units")
    again = openworld("run", spec, "--workers", 1, "--out", tmp_path / "run", "--quiet")
    assert (again.returncode, again.stdout) == (0, "")
    assert contents(tmp_path / "run" / "units") == records
    picture = next((tmp_path / "run").rglob("pictures/*.png"))
    told = openworld("predict", tmp_path / "run", picture, "--unit", "CoOp, seed 1", "--run-names", "--csv")
    assert (told.returncode, len(told.stdout.splitlines())) == (0, 2), told.stderr


def test_another_spec_in_the_same_folder_is_refused(spec, tmp_path):
    folder = tmp_path / "run"
    openworld("run", spec, "--workers", 1, "--out", folder)
    other = tmp_path / "other.toml"
    other.write_text(spec.read_text().replace("shots = 2", "shots = 4"))
    done = openworld("run", other, "--workers", 1, "--out", folder)
    assert done.returncode == 2
    assert "shots" in done.stderr
