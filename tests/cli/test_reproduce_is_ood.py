"""`openworld reproduce is-ood`: its plan, and tables from a tiny tree as released."""

import json
import shutil
import sys
from pathlib import Path

import pytest
import torch
from in_process import openworld, refused

sys.path.insert(0, str(Path(__file__).parents[1] / "ood" / "by_shift"))
sys.path.insert(0, str(Path(__file__).parents[1] / "classifiers"))

import torchvision_weights  # noqa: E402
from released_cells import plant  # noqa: E402

FEW = ("--learners", "MSP, DICE")


@pytest.fixture
def reproduce(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENWORLD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENWORLD_DATA", "")  # so that what --data sets is undone

    def ask(*arguments, code=0):
        done = openworld("reproduce", "is-ood", *arguments, columns=100)
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    return ask


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return plant(tmp_path_factory.mktemp("released"))


def test_a_plan_needs_no_data_and_holds_specs_remarks_and_counts_as_json(reproduce):
    shown = reproduce("--data", "elsewhere", "--plan", "--table", "1", "--table", "2", "--table", "8")
    for words in (
        "IS-OOD (Long et al., 2024) · Tables 1, 2, 8 · data in elsewhere",
        "imagenet21k 1 11,627,723 1.5 GB Tables 1, 8",
        "SynIS 1 365,000 47 MB Table 2",
        "It must hold 1 data set(s): imagenet",
        "64 of training images",
        "11.6 million",
        "resnet50_imagenet1k_v1",
    ):
        assert words in shown
    found = json.loads(reproduce("--data", "embedded", "--plan", "--json", *FEW))
    run, twin = found["runs"]
    assert run["name"] == "emoji-msp-dice" and run["spec"]["protocol"] == "ood-detection"
    assert twin["name"] == "rendered-msp-dice" and found["cost"]["units"] == 6
    assert "stand in for ImageNet-21K" in found["remarks"][0] and not Path("runs").exists()


def test_tables_of_the_released_division_stand_beside_the_printed_ones(reproduce, released):
    options = ("--table", "1", "--table", "7", "--table", "8", *FEW, "--workers", "1", "--out", "run")
    shown = reproduce("--data", str(released), *options)
    names = {path.name for path in Path("run/tables").iterdir()}
    assert names == {f"table-{number}.{form}" for number in "178" for form in ("csv", "md", "tex")}
    assert "IS-OOD (Long et al., 2024), Table 7: how AUPR follows shift on Syn-IS" in shown
    assert "ResNet-50" in shown + Path("run/report.html").read_text("utf-8")
    assert "Ours are of other data" not in shown, "a division that was given is the paper's own"
    rows = Path("run/tables/table-1.csv").read_text(encoding="utf-8").splitlines()
    assert rows[1].startswith("reproduction,MSP,is-ood,1,,ImageNet-21K,semantic shift,")


def test_the_judged_classifier_is_named_or_found_in_the_usual_places(reproduce, tmp_path):
    options = ("--data", str(tmp_path), "--table", "1", "--plan", "--json")

    def judged(*more):
        return json.loads(reproduce(*options, *more))["runs"][0]["spec"]["models"][0]["weights"]

    assert judged("--classifier", "mine.pth") == "mine.pth"
    assert judged() == str(tmp_path / "resnet50_imagenet1k_v1")
    for place in ("pretrained_weight/resnet50_imagenet1k_v1.pth", "resnet50-0676ba61.pth"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()
        assert judged() == str(tmp_path / place)


def test_other_names_teach_table_3_whose_plan_speaks_of_it_alone(reproduce, tmp_path):
    options = ("--data", str(tmp_path), "--table", "3", "--plan", "--json")
    usual, other = (json.loads(reproduce(*options, *more)) for more in ((), ("--names", "imagenet21k.txt")))
    (run,) = other["runs"]
    assert run["spec"]["names"] == ["imagenet21k.txt"] and run["name"].endswith("taught-by-imagenet21k")
    assert run["name"] != usual["runs"][0]["name"] and usual["runs"][0]["spec"]["names"] == ["imagenet"]
    said = json.dumps(usual)
    assert "They teach, too" in said and "one decomposition" in said
    assert "imglist" not in said and "every detector" not in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--data", "embedded", "--table", "9"), "table of is-ood"),
        (("--data", "embedded", "--learners", "GradNrm"), "did you mean 'GradNorm'"),
        (("--data", "embedded", "--classifier", "mine.pth"), "leave mine.pth out"),
        (("--data", "embedded", "--names", "mine.txt"), "leave mine.txt out"),
        (("--data", "data", "--names", "mine.csv"), "names is 'mine.csv', expected a text file (.txt)"),
    ],
)
def test_wrong_use_is_refused(reproduce, arguments, words):
    refused(words, "reproduce", "is-ood", *arguments)


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        ("imglist/imagenet21k", "holds no list cov_I_sem_J.txt"),
        ("imglist/imagenet1k/test_imagenet.txt", "test_imagenet.txt"),
        ("imagenet21k/imagenet21k_val/n02099712", "images of 'given cells' are missing"),
        ("resnet50_imagenet1k_v1", "resnet50_imagenet1k_v1"),
    ],
)
def test_what_is_missing_is_named(reproduce, released, tmp_path, lacking, words):
    gone = shutil.copytree(released, tmp_path / "data") / lacking
    shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
    shown = reproduce("--data", "data", "--table", "1", *FEW, "--out", "run", code=1)
    assert words in shown and "the same command resumes from there" in shown


@pytest.mark.slow
def test_torchvisions_file_is_the_judged_classifier_and_the_run_is_continued_where_it_was(
    reproduce, released, tmp_path
):
    """Its classes are ImageNet's, in the order of the classes of the data."""
    root = shutil.copytree(released, tmp_path / "data")
    shutil.rmtree(root / "resnet50_imagenet1k_v1")
    torch.manual_seed(0)
    torch.save(torchvision_weights.resnet((1, 1, 1, 1), 4, deep=True), root / "resnet50-0676ba61.pth")
    asked = ("--data", str(root), "--table", "1", "--learners", "MSP", "--out", "run")
    shown = reproduce(*asked)
    assert "The judged classifier is" in shown and "resnet50-0676ba61.pth" in shown.replace(" ", "")
    assert "MSP" in Path("run/tables/table-1.csv").read_text("utf-8")
    timings = {path: path.read_bytes() for path in Path("run").glob("*/units/*/timing.json")}
    reproduce(*asked)
    assert timings and {path: path.read_bytes() for path in timings} == timings, "nothing was computed again"
