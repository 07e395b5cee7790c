"""`openworld reproduce is-ood`: its plan; tables from a tiny tree as released; one short run on drawings for real."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import torch

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "ood" / "by_shift"))
sys.path.insert(0, str(Path(__file__).parents[1] / "classifiers"))

import torchvision_weights  # noqa: E402
from released_cells import plant  # noqa: E402

FEW = ("--learners", "MSP, DICE")


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENWORLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENWORLD_DATA", "")  # so that what --data sets is undone
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *arguments: CliRunner().invoke(app, ["reproduce", "is-ood", *arguments])


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("released"))


def test_a_plan_of_the_papers_data_needs_none(ask):
    done = ask("--data", "elsewhere", "--plan", "--table", "1", "--table", "2", "--table", "8")
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.split())
    assert "IS-OOD (Long et al., 2024) · Tables 1, 2, 8 · data in elsewhere" in told
    assert "imagenet21k 1 11,627,723 1.5 GB Tables 1, 8" in told and "SynIS 1 365,000 47 MB Table 2" in told
    assert "It must hold 1 data set(s): imagenet" in told
    assert "64 of training images" in told and "11.6 million" in told and "resnet50_imagenet1k_v1" in told
    assert not Path("runs").exists()


def test_a_plan_as_json_holds_specs_remarks_and_counts(ask):
    done = ask("--data", "embedded", "--plan", "--json", *FEW)
    told = json.loads(done.output)
    run, twin = told["runs"]
    assert run["name"] == "emoji-msp-dice" and run["spec"]["protocol"] == "ood-detection"
    assert twin["name"] == "rendered-msp-dice" and told["cost"]["units"] == 6
    assert "stand in for ImageNet-21K" in told["remarks"][0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--table", "9"), "table of is-ood"),
        (("--learners", "GradNrm"), "did you mean 'GradNorm'"),
    ],
)
def test_wrong_use_is_refused(ask, arguments, message):
    done = ask("--data", "embedded", *arguments)
    assert done.exit_code == 2 and message in done.output


def test_tables_of_the_released_division_stand_beside_the_printed_ones(ask, released):
    options = ("--table", "1", "--table", "7", "--table", "8", *FEW, "--workers", "1", "--out", "run")
    done = ask("--data", str(released), *options)
    assert done.exit_code == 0, done.output
    names = {path.name for path in Path("run/tables").iterdir()}
    assert names == {f"table-{number}.{form}" for number in "178" for form in ("csv", "md", "tex")}
    told = " ".join(done.output.split())
    assert "IS-OOD (Long et al., 2024), Table 7: how AUPR follows shift on Syn-IS" in told
    assert "Ours with backbone ResNet-50" in told or "ResNet-50" in Path("run/report.html").read_text("utf-8")
    assert "Ours are of other data" not in told, "a division that was given is the paper's own"
    rows = Path("run/tables/table-1.csv").read_text(encoding="utf-8").splitlines()
    assert rows[1].startswith("reproduction,MSP,is-ood,1,,ImageNet-21K,semantic shift,")


def test_the_judged_classifier_is_named_or_found_in_the_usual_places(ask, tmp_path):
    options = ("--data", str(tmp_path), "--table", "1", "--plan", "--json")

    def judged(*more):
        return json.loads(ask(*options, *more).output)["runs"][0]["spec"]["models"][0]["weights"]

    assert judged("--classifier", "mine.pth") == "mine.pth"
    assert judged() == str(tmp_path / "resnet50_imagenet1k_v1")
    for place in ("pretrained_weight/resnet50_imagenet1k_v1.pth", "resnet50-0676ba61.pth"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()
        assert judged() == str(tmp_path / place)


@pytest.mark.slow
def test_torchvisions_file_is_the_judged_classifier(ask, released, tmp_path):
    """Its classes are ImageNet's, in the order of the classes of the data."""
    root = tmp_path / "data"
    shutil.copytree(released, root)
    shutil.rmtree(root / "resnet50_imagenet1k_v1")
    torch.manual_seed(0)
    torch.save(torchvision_weights.resnet((1, 1, 1, 1), 4, deep=True), root / "resnet50-0676ba61.pth")
    done = ask("--data", str(root), "--table", "1", "--learners", "MSP", "--out", "run")
    assert done.exit_code == 0, done.output
    assert "The judged classifier is" in done.output and "resnet50-0676ba61.pth" in "".join(done.output.split("\n"))
    assert "MSP" in Path("run/tables/table-1.csv").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "embedded", "--classifier", "mine.pth"), "leave mine.pth out"),
        (("--data", "embedded", "--names", "mine.txt"), "leave mine.txt out"),
        (("--data", "data", "--names", "mine.csv"), "names is 'mine.csv', expected a text file (.txt)"),
    ],
)
def test_a_classifier_and_names_are_for_downloaded_data(ask, arguments, message):
    done = ask(*arguments)
    assert done.exit_code == 2 and message in " ".join(done.output.split())


def test_other_names_teach_table_3_whose_plan_speaks_of_it_alone(ask, tmp_path):
    options = ("--data", str(tmp_path), "--table", "3", "--plan", "--json")
    usual, other = (json.loads(ask(*options, *more).output) for more in ((), ("--names", "imagenet21k.txt")))
    (run,) = other["runs"]
    assert run["spec"]["names"] == ["imagenet21k.txt"] and run["name"].endswith("taught-by-imagenet21k")
    assert run["name"] != usual["runs"][0]["name"] and usual["runs"][0]["spec"]["names"] == ["imagenet"]
    said = json.dumps(usual)
    assert "They teach, too" in said and "one decomposition" in said
    assert "imglist" not in said and "every detector" not in said


@pytest.mark.parametrize(
    ("lacking", "message"),
    [
        ("imglist/imagenet21k", "holds no list cov_I_sem_J.txt"),
        ("imglist/imagenet1k/test_imagenet.txt", "test_imagenet.txt"),
        ("imagenet21k/imagenet21k_val/n02099712", "images of 'given cells' are missing"),
        ("resnet50_imagenet1k_v1", "resnet50_imagenet1k_v1"),
    ],
)
def test_what_is_missing_is_named(ask, released, tmp_path, lacking, message):
    shutil.copytree(released, tmp_path / "data")
    gone = tmp_path / "data" / lacking
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    done = ask("--data", str(tmp_path / "data"), "--table", "1", *FEW, "--out", "run")
    assert done.exit_code == 1 and message in " ".join(done.output.split())
    assert "the same command goes on from there" in " ".join(done.output.split())


@pytest.mark.slow
def test_a_short_run_on_drawings_is_continued_where_it_was(ask):
    short = ("--data", "embedded", "--quick", "12", *FEW, "--seeds", "0", "--out", "run")
    first = ask(*short)
    assert first.exit_code == 0, first.output
    assert "IS-OOD (Long et al., 2024), Table 8" in first.output
    assert "Ours are of other data (emoji-concepts)" in " ".join(first.output.split())
    timings = {path: path.read_bytes() for path in Path("run").glob("*/units/*/timing.json")}
    again = ask(*short)
    assert again.exit_code == 0 and timings
    assert {path: path.read_bytes() for path in timings} == timings, "nothing was computed again"
