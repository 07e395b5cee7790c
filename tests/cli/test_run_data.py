"""`openworld run --data DIR` on tiny trees in the layouts of real data sets, and the audit of their names."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from in_process import openworld, told

from openworld.evaluations.recognition.outcome import load

sys.path.insert(0, str(Path(__file__).parents[1] / "datasets"))

from trees import plant  # noqa: E402

TAIL = """
seeds = [1]
shots = 2
views = 1
[[learners]]
learner = "zero-shot"
"""
COOP = """
[[learners]]
learner = "CoOp"
settings = { context_length = 2, schedule = { epochs = 1 } }
"""
SPECS = {
    "imagenet": 'dataset = "imagenet"',
    "dtd": 'dataset = "dtd"',
    "generalisation": """
protocol = "generalisation"
source = { dataset = "imagenet" }
variants = [{ dataset = "imagenetv2" }, { dataset = "imagenet-r" }]
others = [{ dataset = "caltech101" }, { dataset = "dtd" }]
""",
    "dynamic": """
protocol = "dynamic"
datasets = [{ dataset = "caltech101" }]
source = { dataset = "imagenet" }
variants = [{ dataset = "imagenetv2" }, { dataset = "imagenet-r" }]
others = [{ dataset = "dtd" }]
""",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with trees below data/ and a spec per name of SPECS; the cache of images lies there too."""
    folder = tmp_path_factory.mktemp("real")
    for name in ("imagenet", "imagenetv2", "imagenet-r", "dtd", "caltech101"):
        plant(folder / "data", name)
    for name, text in SPECS.items():
        (folder / f"{name}.toml").write_text(text + TAIL + (COOP if name == "generalisation" else ""))
    return folder


@pytest.fixture
def run(place, monkeypatch):
    """Runs a spec of that folder; `code` is that with which it must end."""
    monkeypatch.chdir(place)
    monkeypatch.setattr("openworld.datasets.names.wordnet.usual_places", tuple)
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.setenv("OPENWORLD_CACHE", str(place / "cache"))
    monkeypatch.setenv("OPENWORLD_DATA", "nowhere")  # restored afterwards, whatever --data makes of it

    def ask(name, *options, data="data", workers="1", code=0):
        done = openworld("run", f"{name}.toml", "--data", data, "--workers", workers, *options)
        assert done.exit_code == code, done.output
        return " ".join(done.output.split())

    return ask


def records(folder):
    return {path.parent.name: path.read_bytes() for path in sorted(folder.glob("units/*/record.json"))}


def audits(folder):
    return json.loads((folder / "audit.json").read_text())["audits"]


def test_recognition_on_imagenets_layout_and_the_audit_of_its_names(run, place):
    shown = run("imagenet")
    assert "imagenet · 6 base + 6 new classes" in shown
    assert "class names: 1 warning (the whole audit: runs/imagenet/audit.json)" in shown
    assert "'sunglass' and 'sunglasses' differ only in singular and plural" in shown
    (audit,) = audits(place / "runs" / "imagenet")
    assert audit["classes"] == 12 and "WordNet" in audit["not_made"][0]
    assert "sunglass" in (place / "runs" / "imagenet" / "report.html").read_text(encoding="utf-8")


def test_a_clean_audit_is_silent_and_the_place_of_the_data_is_in_no_record(run, place):
    assert "class names" not in run("dtd")
    first = records(place / "runs" / "dtd")
    shutil.copytree(place / "data" / "dtd", place / "moved" / "dtd")
    run("dtd", "--out", "runs/again", data="moved")
    assert records(place / "runs" / "again") == first and len(first) == 1
    assert not any(b"data" + os.sep.encode() in record for record in first.values())


def test_generalisation_to_a_variant_of_a_part_of_the_classes_and_to_other_data_sets(run, place):
    assert "class names: 1 warning" in run("generalisation")
    outcomes = load(place / "runs" / "generalisation")
    found = {each.facts["dataset"]: each.facts["n_new_classes"] for each in outcomes}
    assert found == {"imagenet": 6, "imagenetv2": 6, "imagenet-r": 2, "caltech101": 3, "dtd": 3}
    image = next((place / "data" / "dtd" / "images").rglob("*.jpg"))
    said = told(place, "predict", "runs/generalisation", image, "--unit", "CoOp, seed 1", "--run-names", "--json")
    assert [len(json.loads(said)[side]) for side in ("base_names", "new_names", "images")] == [6, 6, 1]


def test_what_is_missing_is_said_before_any_work(run, place, tmp_path):
    (tmp_path / "empty" / "dtd").mkdir(parents=True)
    shown = run("dynamic", data=str(tmp_path / "empty"), code=2)
    assert "5 of 5 data sets to download are not ready" in shown
    assert f"- imagenet-r: there is no folder {tmp_path / 'empty' / 'imagenet-rendition'}." in shown
    assert "openworld data check caltech101 imagenet " in shown and f" --root {tmp_path / 'empty'} says" in shown
    shutil.copytree(place / "data" / "dtd", tmp_path / "dtd")
    shutil.rmtree(tmp_path / "dtd" / "images" / "Abbey")
    shown = run("dtd", "--out", str(tmp_path / "run"), data=str(tmp_path), code=2)
    assert "images of 'dtd' are missing under" in shown
    assert f"openworld data check dtd --root {tmp_path} says" in shown
    assert "give the folder that holds the data sets" in run("dtd", data="nowhere", code=2)
