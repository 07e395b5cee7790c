"""`openworld reproduce`: plans that need no data, and tiny trees in the papers' layouts."""

import csv
import json
import sys
from pathlib import Path

import pytest
from in_process import openworld, refused

from openworld import backbones
from openworld.results import Results

sys.path.insert(0, str(Path(__file__).parents[1] / "datasets"))

from trees import plant  # noqa: E402

QUICK = ("--data", "data", "--backbone", "embedded", "--seeds", "1", "--quick", "50", "--workers", "1")
CLIP = ("--learners", "CLIP")
FORMS = ("csv", "md", "tex")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the trees of four data sets below data/; the cache of images lies there too."""
    folder = tmp_path_factory.mktemp("real")
    for name in ("imagenet", "imagenetv2", "dtd", "oxford_flowers"):
        plant(folder / "data", name)
    return folder


@pytest.fixture
def reproduce(place, monkeypatch):
    """Runs the command in that folder; `code` is that with which it must end."""
    monkeypatch.chdir(place)
    monkeypatch.setattr("openworld.datasets.names.wordnet.usual_places", tuple)
    monkeypatch.setenv("OPENWORLD_CACHE", str(place / "cache"))
    monkeypatch.setenv("OPENWORLD_DATA", "nowhere")  # restored afterwards, whatever --data makes of it

    def ask(*arguments, code=0):
        done = openworld("reproduce", *arguments, columns=100)
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    return ask


def rows_of(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_a_plan_needs_no_data_and_says_what_is_missing_and_what_it_costs(reproduce):
    plan = ("openworldauc", "--data", "elsewhere", "--plan", "--workers", "1")
    shown = reproduce(*plan)
    tables = "Tables 2 to 4, 7, 8-9, 10 to 17"
    assert f"OpenworldAUC (Hua et al., 2025) · {tables} · data in elsewhere" in shown
    assert "recognition-dtd" in shown and "generalisation-imagenet" in shown
    assert "In all 432 units (one learner with one seed), each counted once" in shown
    assert "There is no folder elsewhere yet. It must hold 15 data set(s): imagenet, caltech101" in shown
    assert "324 GB of disk without --cache-limit" in reproduce(*plan, "--cache-limit", "50GB")
    found = reproduce("openpl", "--data", "embedded", "--table", "2", "--learners", "CLIP, CoOp", "--plan", "--json")
    (run,) = json.loads(found)["runs"]
    assert run["spec"]["protocol"] == "dynamic" and run["methods"] == {"zero-shot": "CLIP", "CoOp": "CoOp"}
    assert json.loads(found)["cost"]["units"] == 6 and not Path("runs").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("openpl", "--data", "embedded", "--seeds", "one"), "--seeds is 'one', expected whole numbers"),
        (
            ("openpl", "--table", "4", *QUICK, "--data", ".", "--out", "out"),
            "openworld data check imagenet imagenet-r --root . says",
        ),
        (
            ("openworldauc", "--dataset", "sun397", "--table", "2", *QUICK, *CLIP, "--out", "out"),
            "1 of 1 data sets to download are not ready",
        ),
    ],
)
def test_wrong_use_is_said_before_any_work(reproduce, place, arguments, words):
    refused(words, "reproduce", *arguments)
    assert not (place / "out").exists()


def test_tables_and_figures_stand_beside_the_printed_ones(reproduce, place, monkeypatch):
    few = ("--learners", "CLIP, TCP, GMoP")
    asked = ("openworldauc", "--table", "11", "--table", "12", "--figure", "2", *few, *QUICK, "--out", "beside")
    shown = reproduce(*asked)
    assert "recognition-dtd-tcp-seed-1: done" in shown and "Figure 2 · data in data" in shown
    assert "OpenworldAUC (Hua et al., 2025), Table 11" in shown and "Page: beside/report.html" in shown
    folder = place / "beside"
    tables = {path.name for path in (folder / "tables").iterdir()}
    assert tables == {f"table-{number}.{form}" for number in (11, 12) for form in FORMS}
    rows = rows_of(folder / "tables" / "table-11.csv")
    assert len(rows) == 12 * 6 and rows[0]["dataset"] == "DTD" and rows[0]["paper"] and rows[0]["table"] == "11"
    drawn = {path.name for path in (folder / "figures").iterdir()}
    assert drawn == {f"figure-2.{form}" for form in ("csv", "svg", "pdf")}
    rows = rows_of(folder / "figures" / "figure-2.csv")
    titles = ("DTD, ours", "DTD, printed", "Flowers102, ours", "Flowers102, printed")
    assert tuple(dict.fromkeys(row["panel"] for row in rows)) == titles
    assert {row["metric"] for row in rows} == {"OverallAcc", "HM", "AUROC", "OpenworldAUC"}
    ours = [row for row in rows if (row["panel"], row["metric"], row["ratio"]) == (titles[0], "OpenworldAUC", "5")]
    (measured,) = map(Results.from_parquet, folder.glob("recognition-dtd-*/units/*/attachments/rows.parquet"))
    sweep = measured.where(metric="openworld_auc", ratio=5.0)
    assert float(ours[0]["value"]) == pytest.approx(sweep.rows[0].value.value, abs=1e-5)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Table 12" in page and "Figure 2: four metrics against the ratio" in page
    monkeypatch.setattr("openworld.report.figure.Figure.save", lambda *_: None)  # it is drawn above
    *_, table, figure = json.loads(reproduce(*asked, "--json"))
    assert table["table"] == "12" and table["numbers"][0]["dataset"] == "Flowers102"
    assert figure["figure"] == "2" and figure["numbers"][0]["panel"] == "DTD, ours" and figure["says"]


def test_units_of_other_runs_are_taken_over_and_settings_run_beside_the_papers(reproduce, place):
    asked = ("openworldauc", "--table", "7", *QUICK, "--out", "shared", "--quiet")
    assert reproduce(*asked, *CLIP) == reproduce(*asked, "--learners", "CLIP, CoOp") == ""
    alone, both = (place / "shared" / f"recognition-dtd-{name}-seed-1" for name in ("clip", "clip-coop"))
    (kept,) = alone.glob("units/*/timing.json")
    copied = both / "units" / kept.parent.name / "timing.json"
    assert copied.read_bytes() == kept.read_bytes()  # the time of the first run: it was not computed again
    changed = ("--settings", "CoOp.context_length = 2", "--shots", "2", "--views", "1")
    reproduce(*asked, "--learners", "CLIP, CoOp", *changed)
    assert len(list(place.glob("shared/recognition-*/run.json"))) == 3
    table = (place / "shared" / "tables" / "table-7.md").read_text(encoding="utf-8")
    width = backbones.load("embedded").config.text.width
    assert f"| CoOp | {2 * width} " in table and "Settings changed: CoOp with context\\_length = 2." in table
    assert "Learners see 2 images of each class" in table and "Learners see 1 augmented views" in table


@pytest.fixture
def damaged(reproduce, tmp_path, monkeypatch):
    """The trees of Table 3; one image of the first cannot be read. Tables and figures of an earlier call lie there."""
    for name in ("dtd", "food101", "oxford_flowers", "oxford_pets", "sun397"):
        plant(tmp_path / "data", name)
    next((tmp_path / "data" / "dtd" / "images").rglob("*.jpg")).write_bytes(b"no image")
    monkeypatch.chdir(tmp_path)
    for old in ("tables/table-7.csv", "figures/figure-6b.csv"):
        (tmp_path / "run" / old).parent.mkdir(parents=True)
        (tmp_path / "run" / old).write_text("of an earlier call")
    return tmp_path / "run"


def test_a_run_that_fails_is_named_and_tables_are_made_of_the_others(reproduce, damaged):
    asked = ("openworldauc", *CLIP, *QUICK, "--out", "run", "--table", "7")
    shown = reproduce(*asked, "--table", "3", code=1)
    assert "1 of 5 runs failed, and Table 7 cannot be made" in shown
    assert "- recognition-dtd-clip-seed-1 (for Tables 3, 7): " in shown
    assert {path.name for path in (damaged / "tables").iterdir()} == {f"table-3.{form}" for form in FORMS}
    assert {row["dataset"] for row in rows_of(damaged / "tables" / "table-3.csv")} >= {"Flowers102"}
    assert ",DTD," not in (damaged / "tables" / "table-3.csv").read_text(encoding="utf-8")
    table = (damaged / "tables" / "table-3.md").read_text(encoding="utf-8")
    assert "Missing here, because their runs failed: recognition-dtd-clip-seed-1." in table
    assert "recognition-dtd-clip-seed-1" in (damaged / "report.html").read_text(encoding="utf-8")
    assert "1 of 1 runs failed, and Table 7 cannot be made" in reproduce(*asked, code=1)
    reproduce(*asked, "--allow-corrupt", "1")
    assert (damaged / "tables" / "table-7.csv").is_file()
