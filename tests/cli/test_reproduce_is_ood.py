"""`openworld reproduce is-ood`: its plan, and tables from a tiny tree as released."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from in_process import openworld

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / part) for part in ("ood", "ood/by_shift", "classifiers")]

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
