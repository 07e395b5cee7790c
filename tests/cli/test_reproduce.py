"""`openworld reproduce`: plans that need no data, tiny trees in the papers' layouts, and a kill in the middle."""

import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from openworld import backbones
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.results import Results

sys.path.insert(0, str(Path(__file__).parents[1] / "datasets"))

from trees import plant  # noqa: E402

QUICK = ("--data", "data", "--backbone", "embedded", "--seeds", "1", "--quick", "10", "--workers", "1")
CLIP = ("--learners", "CLIP")
FORMS = ("csv", "md", "tex")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the trees of four data sets below data/; the cache of pictures lies there too."""
    folder = tmp_path_factory.mktemp("real")
    for name in ("imagenet", "imagenetv2", "dtd", "oxford_flowers"):
        plant(folder / "data", name)
    return folder


@pytest.fixture
def ask(place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setattr("openworld.datasets.names.wordnet.PLACES", ())
    monkeypatch.setenv("OPENWORLD_CACHE", str(place / "cache"))
    monkeypatch.setenv("OPENWORLD_DATA", "nowhere")  # restored afterwards, whatever --data makes of it
    return lambda *arguments: CliRunner().invoke(app, ["reproduce", *arguments])


def results(folder):
    """Every file of every run that must not depend on how it went."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.glob("*/units/**/*"))
        if path.is_file() and path.name != "timing.json" and ".locks" not in path.parts
    }


def test_a_plan_needs_no_data_and_says_what_is_missing(ask):
    done = ask("openworldauc", "--data", "elsewhere", "--plan")
    assert done.exit_code == 0, done.output
    assert "OpenworldAUC (Hua et al., 2025) · Tables 2 to 4, 7, 8-9, 10 to 17 · data in elsewhere" in done.output
    assert "recognition-dtd" in done.output and "generalisation-imagenet" in done.output
    assert "In all 432 units (one learner with one seed), each counted once" in done.output
    assert "There is no folder elsewhere yet. It must hold 15 data set(s): imagenet, caltech101" in done.output
    assert not Path("runs").exists()


def test_a_plan_refuses_a_limit_that_is_too_small(ask):
    plan = ("openworldauc", "--data", "elsewhere", "--plan", "--workers", "1")
    told = ask(*plan, "--cache-limit", "50GB").output.replace("\n", " ")
    assert "324 GB of disk without --cache-limit" in told
    done = ask(*plan, "--cache-limit", "20GB")
    assert done.exit_code == 2 and "20.0 GB" in done.output and "--cache-limit" in done.output
    done = ask(*plan, "--cache-limit", "plenty")
    assert done.exit_code == 2 and "'plenty'" in done.output


def test_records_made_in_a_cache_with_a_limit_are_the_same_bytes(ask, place):
    asked = ("openworldauc", "--table", "7", "--learners", "MaPLe", "--views", "2", *QUICK, "--workers", "1")
    told, sizes = [], []
    for name, limit in (("free", ()), ("bound", ("--cache-limit", "15MB"))):
        done = ask(*asked, *limit, "--cache", str(place / f"{name} cache"), "--out", name)
        assert done.exit_code == 0, done.output
        told.append(results(place / name))
        sizes.append(sum(path.stat().st_size for path in (place / f"{name} cache").glob("*/*")))
    assert told[0] == told[1] != {} and max(sizes) <= 15 * 10**6


def test_a_plan_names_the_data_sets_that_are_not_there(ask):
    done = ask("openpl", "--table", "5", "--data", "data", "--plan")
    assert done.exit_code == 0 and "1 of 2 data sets to download are not ready" in done.output
    assert "- eurosat: there is no folder data/eurosat" in done.output


def test_a_plan_as_json_holds_specs_and_cost(ask):
    done = ask("openpl", "--data", "embedded", "--table", "2", "--learners", "CLIP, CoOp", "--plan", "--json")
    told = json.loads(done.output)
    (run,) = told["runs"]
    assert run["spec"]["protocol"] == "dynamic" and run["methods"] == {"zero-shot": "CLIP", "CoOp": "CoOp"}
    assert told["cost"]["units"] == 6 and told["cost"]["bytes"] > 0
    assert not Path("runs").exists()


def test_missing_data_is_told_at_once_before_any_work(ask, tmp_path):
    done = ask("openpl", "--table", "4", *QUICK[2:], "--data", str(tmp_path), "--out", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert "2 of 2 data sets to download are not ready" in done.output
    assert f"openworld data check imagenet imagenet-r --root {tmp_path} says" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("openworldauc", "--data", "embedded", "--table", "99"), "unknown table of openworldauc '99'"),
        (("openpl", "--data", "embedded", "--table", "1"), "Table 1 of openpl cannot be made"),
        (("openpl", "--data", "embedded", "--figure", "7"), "unknown figure of openpl '7'"),
        (("openworldauc", "--data", "data", "--figure", "3", "--accept"), "leave --table, --figure out"),
        (("openpl", "--data", "embedded", "--seeds", "one"), "--seeds is 'one', expected whole numbers"),
        (("openpl", "--data", "embedded", "--learners", "Coopp"), "did you mean 'CoOp'"),
        (("openwolrdauc", "--data", "embedded"), "did you mean 'openworldauc'"),
    ],
)
def test_wrong_use_is_two_lines_and_exit_code_2(ask, arguments, message):
    done = ask(*arguments)
    assert done.exit_code == 2 and message in done.output


def test_tables_stand_beside_the_printed_ones(ask, place):
    done = ask("openworldauc", "--table", "11", "--table", "12", *QUICK, "--out", "beside")
    assert done.exit_code == 0, done.output
    assert "[1/2] recognition-dtd-tcp-seed-1: done" in done.output
    assert "OpenworldAUC (Hua et al., 2025), Table 11" in done.output and "Page: beside/report.html" in done.output
    folder = place / "beside"
    names = {path.name for path in (folder / "tables").iterdir()}
    assert names == {f"table-{number}.{form}" for number in (11, 12) for form in ("csv", "md", "tex")}
    rows = (folder / "tables" / "table-11.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("evaluation,entity,paper,table,") and len(rows) == 1 + 12 * 6 and ",DTD," in rows[1]
    assert "Table 12" in (folder / "report.html").read_text(encoding="utf-8")
    assert (folder / "recognition-dtd-tcp-seed-1" / "report.html").is_file()


def test_tables_and_figures_as_json(ask):
    done = ask("openworldauc", "--table", "12", "--figure", "2", *QUICK, "--out", "beside", "--json")
    table, figure = json.loads(done.output)
    assert table["table"] == "12" and table["numbers"][0]["dataset"] == "Flowers102"
    assert figure["figure"] == "2" and figure["numbers"][0]["panel"] == "DTD, ours" and figure["says"]


def test_figures_are_drawn_beside_the_printed_numbers(ask, place):
    done = ask("openworldauc", "--figure", "2", *QUICK, "--out", "beside")
    assert done.exit_code == 0, done.output
    assert "Figure 2 · data in data" in done.output and "Figures: beside/figures/" in done.output
    folder = place / "beside"
    drawn = {path.suffix: path for path in (folder / "figures").iterdir()}
    assert set(drawn) == {".csv", ".svg", ".pdf"} and {path.stem for path in drawn.values()} == {"figure-2"}
    rows = list(csv.DictReader(drawn[".csv"].read_text(encoding="utf-8").splitlines()))
    titles = ("DTD, ours", "DTD, printed", "Flowers102, ours", "Flowers102, printed")
    assert tuple(dict.fromkeys(row["panel"] for row in rows)) == titles
    assert {row["metric"] for row in rows} == {"OverallAcc", "HM", "AUROC", "OpenworldAUC"}
    ours = [row for row in rows if (row["panel"], row["metric"], row["ratio"]) == (titles[0], "OpenworldAUC", "5")]
    (measured,) = map(Results.from_parquet, folder.glob("recognition-dtd-*/units/*/attachments/rows.parquet"))
    sweep = measured.where(metric="openworld_auc", ratio=5.0)
    assert float(ours[0]["value"]) == pytest.approx(sweep.rows[0].value.value, abs=1e-5)
    assert "Figure 2: four metrics against the ratio" in (folder / "report.html").read_text(encoding="utf-8")


def test_units_of_other_runs_are_taken_over(ask, place):
    first = ask("openworldauc", "--table", "7", "--learners", "CLIP", *QUICK, "--out", "shared", "--quiet")
    again = ask("openworldauc", "--table", "7", "--learners", "CLIP, CoOp", *QUICK, "--out", "shared", "--quiet")
    assert (first.exit_code, again.exit_code, again.output) == (0, 0, "")
    alone, both = (place / "shared" / f"recognition-dtd-{name}-seed-1" for name in ("clip", "clip-coop"))
    (kept,) = alone.glob("units/*/timing.json")
    copied = both / "units" / kept.parent.name / "timing.json"
    assert copied.read_bytes() == kept.read_bytes()  # the time of the first run: it was not computed again


@pytest.fixture
def damaged(ask, tmp_path, monkeypatch):
    """The trees of Table 3; one picture of the first cannot be read."""
    for name in ("dtd", "food101", "oxford_flowers", "oxford_pets", "sun397"):
        plant(tmp_path / "data", name)
    next((tmp_path / "data" / "dtd" / "images").rglob("*.jpg")).write_bytes(b"no picture")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_that_fails_is_named_and_tables_are_made_of_the_others(ask, damaged):
    tables = damaged / "run" / "tables"
    tables.mkdir(parents=True)
    (tables / "table-7.csv").write_text("of an earlier call")
    done = ask("openworldauc", "--table", "3", "--table", "7", *CLIP, *QUICK, "--out", "run")
    assert done.exit_code == 1, done.output
    assert "1 of 5 runs failed, and Table 7 cannot be made" in done.output
    assert "- recognition-dtd-clip-seed-1 (for Tables 3, 7): " in done.output
    assert {path.name for path in tables.iterdir()} == {f"table-3.{form}" for form in FORMS}
    table = (tables / "table-3.csv").read_text(encoding="utf-8")
    assert ",Flowers102," in table and ",DTD," not in table
    told = (tables / "table-3.md").read_text(encoding="utf-8")
    assert "Missing here, because their runs failed: recognition-dtd-clip-seed-1." in told
    assert "recognition-dtd-clip-seed-1" in (damaged / "run" / "report.html").read_text(encoding="utf-8")


def test_no_table_is_made_where_every_run_fails(ask, damaged):
    done = ask("openworldauc", "--table", "7", *CLIP, *QUICK, "--out", "run")
    assert done.exit_code == 1 and "1 of 1 runs failed, and Table 7 cannot be made" in done.output
    assert not (damaged / "run" / "tables").exists()


@pytest.mark.slow
def test_a_figure_whose_runs_fail_is_named_and_the_others_are_drawn(ask, damaged):
    figures = damaged / "run" / "figures"
    figures.mkdir(parents=True)
    (figures / "figure-6b.csv").write_text("of an earlier call")
    done = ask("openworldauc", "--figure", "6b", "--figure", "11", *CLIP, *QUICK, "--out", "run")
    assert done.exit_code == 1, done.output
    assert "1 of 2 runs failed, and Figure 6b cannot be made" in done.output
    assert "- shots-dtd-clip-seed-1 (for Figures 6b, 11): " in done.output
    assert {path.name for path in figures.iterdir()} == {f"figure-11.{form}" for form in ("csv", "svg", "pdf")}
    rows = list(csv.DictReader((figures / "figure-11.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["method"] for row in rows} == {"CLIP"} and [row["shots"] for row in rows] == ["1", "2", "4", "8", "16"]
    page = (damaged / "run" / "report.html").read_text(encoding="utf-8")
    assert "Missing here, because their runs failed: shots-dtd-clip-seed-1." in page and "OxfordPets" in page


def test_unreadable_pictures_may_be_allowed(ask, damaged):
    done = ask("openworldauc", "--table", "7", *CLIP, *QUICK, "--out", "run", "--allow-corrupt", "1")
    assert done.exit_code == 0, done.output
    assert (damaged / "run" / "tables" / "table-7.csv").is_file()


@pytest.fixture
def documented(repository, tmp_path):
    """The example of docs/reproduce.md: its file of learners, written, and its command's arguments."""
    text = (repository / "docs" / "reproduce.md").read_text(encoding="utf-8").partition("## Your own learners")[2]
    learners, command = (text.split("```")[place].partition("\n")[2] for place in (1, 3))
    (tmp_path / "my-learners.toml").write_text(learners, encoding="utf-8")
    words = [str(tmp_path / word) if word.endswith(".toml") else word for word in shlex.split(command)[2:]]
    return [*words, "--out", str(tmp_path / "run")]


@pytest.mark.parametrize("data", ["data", pytest.param("embedded", marks=pytest.mark.slow)])
def test_the_documented_learners_stand_in_a_papers_table(ask, documented, tmp_path, data):
    backbone = ("--backbone", "embedded")
    done = ask(*(data if word == "embedded" else word for word in documented), *backbone, "--workers", "1")
    assert done.exit_code == 0, done.output
    (table,) = tmp_path.glob("run/tables/table-2.csv")
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    ours = {row["entity"]: row for row in rows if row["metric"] == "initial_accuracy" and row["value"]}
    assert list(ours) == ["CLIP", "zero-shot-ensemble (added)", "CLIP, bare names (added)"]
    assert [bool(row["printed"]) for row in ours.values()] == [True, False, False]
    assert "Added, and not of the paper: CLIP, bare names with templates" in done.output
    assert data == "data" or all(float(row["value"]) > 0.2 for row in ours.values())


def test_other_settings_shots_and_views_run_beside_the_papers(ask, place):
    one = ("openworldauc", "--table", "7", "--learners", "CLIP, CoOp", *QUICK, "--out", "otherwise")
    other = ("--settings", "CoOp.context_length = 2", "--shots", "2", "--views", "1")
    assert [ask(*one, *more).exit_code for more in ((), other)] == [0, 0]
    assert len(list(place.glob("otherwise/recognition-*/run.json"))) == 2
    told = (place / "otherwise" / "tables" / "table-7.md").read_text(encoding="utf-8")
    width = backbones.load("embedded").config.text.width
    assert f"| CoOp | {2 * width} " in told and "Settings changed: CoOp with context\\_length = 2." in told
    assert "Learners see 2 images of each class" in told and "Learners see 1 augmented views" in told


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3])
def test_a_kill_in_the_middle_resumes_with_the_same_bytes(place, tmp_path, kills):
    def start(out):
        arguments = ["openworldauc", "--table", "11", "--table", "12", "--table", "7", "--learners", "CLIP,CoOp,TCP"]
        command = [
            sys.executable,
            "-m",
            "openworld",
            "reproduce",
            *arguments,
            *QUICK,
            "--workers",
            "2",
            "--out",
            str(out),
            "--quiet",
        ]
        environment = os.environ | {"OPENWORLD_CACHE": str(out.parent / f"cache-{out.name}")}
        return subprocess.Popen(command, cwd=place, env=environment, start_new_session=True)

    started = time.monotonic()
    assert start(tmp_path / "whole").wait() == 0
    seconds = time.monotonic() - started
    for number in range(kills):
        process = start(tmp_path / "killed")
        time.sleep(seconds * (0.3 + 0.2 * number))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert start(tmp_path / "killed").wait() == 0
    assert results(tmp_path / "killed") == results(tmp_path / "whole") and results(tmp_path / "whole")
    for form in ("csv", "md", "tex"):
        for number in ("7", "11", "12"):
            name = f"tables/table-{number}.{form}"
            assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_data_set_alone_is_made_where_the_others_are_not_on_disk(ask):
    asked_for = ("openworldauc", "--dataset", "dtd", "--dataset", "Flowers102", "--table", "2", *QUICK, *CLIP)
    done = ask(*asked_for, "--out", "few")
    assert done.exit_code == 0, done.output
    assert "Average of 2" in done.output and "of DTD and Flowers102 alone" in done.output
    without = ask("openworldauc", "--dataset", "sun397", "--table", "2", *QUICK, *CLIP)
    assert without.exit_code == 2 and "1 of 1 data sets to download are not ready" in without.output


def test_python_makes_the_same_tables_of_a_data_set_alone(ask):
    import openworld as ow

    settings = {"backbone": "embedded", "seeds": (1,), "learners": ("CLIP",), "quick": 10, "workers": 1, "quiet": True}
    made = ow.reproduce("openworldauc", "data", (2,), dataset=("dtd",), out="few", **settings)
    assert made.found.tables[0].datasets == ("DTD",) and list(made.tables) == ["table-2"]
