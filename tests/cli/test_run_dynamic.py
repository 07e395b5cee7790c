"""`openworld run` on dynamic scenarios: tables, page, resuming, and `openworld report` of such a run."""

import csv
import io
import json

import numpy as np
import pytest
from in_process import openworld
from PIL import Image

SPEC = """
protocol = "dynamic"
datasets = [{ dataset = "./squares" }]
source = { dataset = "./squares" }
variants = [{ dataset = "./darker" }]
others = [{ dataset = "./stripes" }]
seeds = [1, 2]
shots = 2
views = 1
[[learners]]
learner = "CoOp"
settings = { context_length = 2, schedule = { epochs = 1 } }
"""
COLOURS = {"red": (220, 30, 30), "green": (30, 160, 60), "blue": (30, 60, 220), "yellow": (240, 220, 40)}


def draw(root, shade, step):
    for name, colour in COLOURS.items():
        for part in ("train", "test"):
            folder = root / part / f"{name} {root.name if root.name == 'stripes' else 'square'}"
            folder.mkdir(parents=True)
            for number in range(3):
                picture = np.full((32, 32, 3), 255, np.uint8)
                picture[4 + number : 28 : step, 4:28] = np.array(colour) * shade
                Image.fromarray(picture).save(folder / f"{number}.png")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dynamic")
    for name, shade, step in (("squares", 1.0, 1), ("darker", 0.5, 1), ("stripes", 1.0, 4)):
        draw(folder / name, shade, step)
    (folder / "spec.toml").write_text(SPEC)
    return folder, openworld("run", "spec.toml", "--workers", "1", cwd=folder, cache=folder / "cache")


def test_a_table_per_scenario_run_and_a_page(ran):
    folder, done = ran
    assert done.returncode == 0, done.stderr
    headings = ("emerging-classes", "varying-ratio", "distribution-shift", "co-evolution")
    assert all(f"The numbers: {heading}, ./squares" in done.stdout for heading in headings)
    assert done.stdout.count("zero-shot  ") >= 4 and "ΔAUC" in done.stdout
    assert "zero-shot" in (folder / "runs" / "spec" / "report.html").read_text(encoding="utf-8")


def test_started_again_it_computes_nothing(ran):
    folder, _ = ran
    before = {path: path.stat().st_mtime_ns for path in (folder / "runs" / "spec" / "units").glob("*/record.json")}
    again = openworld("run", "spec.toml", "--json", "--workers", "1", cwd=folder, cache=folder / "cache")
    assert again.returncode == 0, again.stderr
    areas = [row for row in json.loads(again.stdout)["results"] if row["metric"] == "auc" and row["images"]]
    assert len(areas) == 4 * 2
    assert {path: path.stat().st_mtime_ns for path in before} == before and len(before) == 8


def test_the_report_is_made_again_and_exported(ran):
    folder, _ = ran
    exported = openworld("report", "runs/spec", "--table", "csv", cwd=folder, cache=folder / "cache")
    rows = list(csv.DictReader(io.StringIO(exported.stdout)))
    assert exported.returncode == 0 and sum(row["metric"] == "delta_auc" and row["images"] != "" for row in rows) == 8


def test_an_unknown_protocol_is_refused(tmp_path):
    (tmp_path / "spec.toml").write_text('protocol = "dynamics"\n[[learners]]\nlearner = "CoOp"\n')
    done = openworld("run", "spec.toml", cwd=tmp_path, cache=tmp_path / "cache")
    assert done.returncode == 2 and "unknown protocol 'dynamics'; did you mean 'dynamic'" in done.stderr
