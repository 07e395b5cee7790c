"""`openworld run --data DIR` on tiny trees in the layouts of real data sets, and the audit of their names."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.evaluations.finished_runs import read_report
from openworld.evaluations.recognition.outcome import load

sys.path.insert(0, str(Path(__file__).parents[1] / "datasets"))

from trees import plant  # noqa: E402

TAIL = """
seeds = [1]
shots = 2
views = 1
[[learners]]
learner = "zero-shot"
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
    """A folder with trees below data/ and a spec per name of SPECS; the cache of pictures lies there too."""
    folder = tmp_path_factory.mktemp("real")
    for name in ("imagenet", "imagenetv2", "imagenet-r", "dtd", "caltech101"):
        plant(folder / "data", name)
    for name, text in SPECS.items():
        (folder / f"{name}.toml").write_text(text + TAIL)
    return folder


@pytest.fixture
def run(place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setattr("openworld.datasets.names.wordnet.PLACES", ())
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.setenv("OPENWORLD_CACHE", str(place / "cache"))
    monkeypatch.setenv("OPENWORLD_DATA", "nowhere")  # restored afterwards, whatever --data makes of it

    def ask(name, *options, data="data", workers="1"):
        chosen = ["--data", data] if data else []
        return CliRunner().invoke(app, ["run", f"{name}.toml", *chosen, "--workers", workers, *options])

    return ask


def records(folder):
    return {path.parent.name: path.read_bytes() for path in sorted(folder.glob("units/*/record.json"))}


def test_recognition_on_imagenets_layout(run, place):
    done = run("imagenet")
    assert done.exit_code == 0, done.output
    assert "imagenet · 6 base + 6 new classes" in done.output
    assert "class names: 1 warning (the whole audit: runs/imagenet/audit.json)" in done.output
    assert "'sunglass' and 'sunglasses' differ only in singular and plural" in done.output
    (audit,) = json.loads((place / "runs" / "imagenet" / "audit.json").read_text())["audits"]
    assert audit["classes"] == 12 and "WordNet" in audit["not_made"][0]
    assert "sunglass" in (place / "runs" / "imagenet" / "report.html").read_text(encoding="utf-8")


def test_the_place_of_the_data_is_in_no_record(run, place):
    assert run("dtd").exit_code == 0
    first = records(place / "runs" / "dtd")
    shutil.copytree(place / "data" / "dtd", place / "moved" / "dtd")
    assert run("dtd", "--out", "runs/again", data="moved").exit_code == 0
    assert records(place / "runs" / "again") == first and len(first) == 2
    assert not any(b"data" + os.sep.encode() in record for record in first.values())


def test_a_clean_audit_is_silent(run):
    done = run("dtd")
    assert done.exit_code == 0 and "class names" not in done.output


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_worker_processes_find_the_data(run, place, engine):
    if engine == "ray":
        pytest.importorskip("ray")
    assert run("dtd").exit_code == 0
    done = run("dtd", "--out", f"runs/{engine}", "--engine", engine, workers="2")
    assert done.exit_code == 0, done.output
    assert records(place / "runs" / engine) == records(place / "runs" / "dtd")


def test_generalisation_to_a_variant_of_a_part_of_the_classes_and_to_other_data_sets(run, place):
    done = run("generalisation")
    assert done.exit_code == 0, done.output
    outcomes = load(place / "runs" / "generalisation")
    found = {one.facts["dataset"]: one.facts["n_new_classes"] for one in outcomes}
    assert found == {"imagenet": 6, "imagenetv2": 6, "imagenet-r": 2, "caltech101": 3, "dtd": 3}
    assert "class names: 1 warning" in done.output


def test_dynamic_scenarios_with_a_variant_of_a_part_of_the_classes(run, place):
    done = run("dynamic")
    assert done.exit_code == 0, done.output
    areas = read_report(place / "runs" / "dynamic").results.where(metric="auc", entity="zero-shot")
    runs = {(row.where["scenario"], row.where.get("target")) for row in areas if "images" in row.where}
    assert {("distribution-shift", "imagenet-r"), ("co-evolution", "dtd")} < runs and len(runs) == 5
    audits = json.loads((place / "runs" / "dynamic" / "audit.json").read_text())["audits"]
    assert [one["dataset"] for one in audits] == ["caltech101", "imagenet", "dtd"]


def test_what_is_missing_is_said_before_any_work(run, tmp_path):
    (tmp_path / "dtd").mkdir()
    done = run("dynamic", data=str(tmp_path))
    assert done.exit_code == 2
    assert "5 of 5 data sets to download are not ready" in done.output
    assert f"- imagenet-r: there is no folder {tmp_path / 'imagenet-rendition'}." in done.output
    assert "openworld data check caltech101 imagenet " in done.output and f" --root {tmp_path} says" in done.output


def test_missing_pictures_name_the_check(run, place, tmp_path):
    shutil.copytree(place / "data" / "dtd", tmp_path / "dtd")
    shutil.rmtree(tmp_path / "dtd" / "images" / "Abbey")
    done = run("dtd", "--out", str(tmp_path / "run"), data=str(tmp_path))
    assert done.exit_code == 2 and "images of 'dtd' are missing under" in done.output
    assert f"openworld data check dtd --root {tmp_path} says" in done.output


def test_a_folder_that_is_not_there_is_wrong_use(run):
    done = run("dtd", data="nowhere")
    assert done.exit_code == 2 and "give the folder that holds the data sets" in done.output
