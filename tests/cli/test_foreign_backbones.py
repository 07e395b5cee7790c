"""Models that other libraries run, through the commands that need no prompted tower."""

import sys
from pathlib import Path

import pytest

from openworld.cli.app import app
from openworld.cli.in_process import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "evaluations"))

from small_specs import draw  # noqa: E402

NAMES_ALONE = """
dataset = "./squares"
backbone = "{backbone}"
seeds = [1]
shots = 2
[[learners]]
learner = "zero-shot"
[[learners]]
learner = "zero-shot-ensemble"
"""
FEW = ["a {}.", "a dark {}.", "a small {}.", "half a {}."]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("foreign")
    draw(folder)
    return folder


@pytest.fixture
def run(place, monkeypatch):
    monkeypatch.chdir(place)
    monkeypatch.setenv("OPENWORLD_CACHE", str(place / "cache"))
    return lambda *words: CliRunner().invoke(app, [*map(str, words)])


def spec(place, name, backbone, tail=""):
    (place / f"{name}.toml").write_text(NAMES_ALONE.format(backbone=backbone) + tail)
    return f"{name}.toml"


@pytest.mark.parametrize("architecture", ["align", "siglip2"])
def test_a_run_of_learners_of_names_alone_ends_with_table_report_and_records(architecture, place, run, foreign_folder):
    backbone = f"transformers:{foreign_folder(architecture)}"
    done = run("run", spec(place, architecture, backbone), "--workers", 1, "--out", architecture, "--json")
    assert done.exit_code == 0, done.output
    assert "zero-shot-ensemble" in done.stdout and (place / architecture / "report.html").is_file()
    again = run("run", spec(place, architecture, backbone), "--workers", 1, "--out", architecture, "--json")
    assert again.exit_code == 0 and again.stdout == done.stdout


def test_a_learner_that_needs_a_prompted_tower_is_refused_before_anything_is_encoded(place, run, foreign_folder):
    backbone = f"transformers:{foreign_folder('altclip')}"
    coop = spec(place, "coop", backbone, '[[learners]]\nlearner = "CoOp"\n')
    done = run("run", coop, "--workers", 1, "--out", "coop")
    assert done.exit_code == 2
    assert "CoOp cannot run on" in done.stderr and "zero-shot-ensemble" in done.stderr
    assert "encoded" not in done.output


def test_a_kept_run_names_other_pictures(place, run, foreign_folder):
    backbone = f"transformers:{foreign_folder('align')}"
    assert run("run", spec(place, "kept", backbone), "--workers", 1, "--out", "kept").exit_code == 0
    from foreign_models import picture

    (place / "pictures").mkdir()
    picture().save(place / "pictures" / "one.png")
    done = run(
        "predict",
        "kept",
        "pictures",
        "--unit",
        "zero-shot, seed 1",
        "--new",
        "sea otter",
        "--json",
        "--backbone",
        backbone,
    )
    assert done.exit_code == 0, done.output
    assert "one.png" in done.stdout


@pytest.fixture(scope="module")
def folders(place, foreign_folder):
    """Two folders of pictures of two classes."""
    foreign_folder("altclip")
    from foreign_models import picture

    for part, seed in (("reference", 0), ("new", 100)):
        for label, name in enumerate(("cat", "dog")):
            (place / part / name).mkdir(parents=True)
            for row in range(12):
                picture(60, 50, seed + 20 * label + row).save(place / part / name / f"{row}.png")
    (place / "names.txt").write_text("\n".join(f"thing number {number}" for number in range(24)))
    return place


def test_shift_is_measured_in_its_features(folders, run, foreign_folder, monkeypatch):
    monkeypatch.setattr("openworld.own_data.shift.decomposition.STEPS", 20)
    backbone = f"transformers:{foreign_folder('altclip')}"
    (folders / "few.txt").write_text("\n".join(FEW))
    words = ("shift", "--reference", "reference", "--test", "new", "--classnames", "names.txt", "--backbone", backbone)
    done = run(*words, "--templates", "few.txt", "--out", "shift")
    assert done.exit_code == 0, done.output
    assert (folders / "shift" / "degrees.csv").is_file()
    taught = run(*words, "--taught-by", "pictures")
    assert taught.exit_code == 2 and "image tower" in taught.stderr and "Traceback" not in taught.output


def test_accuracy_is_estimated_of_it_and_with_it_as_reference(folders, run, foreign_folder):
    model, reference = (f"transformers:{foreign_folder(one)}" for one in ("siglip2", "altclip"))
    words = ("--source", "reference", "--target", "new", "--model", model, "--reference", reference)
    done = run("estimate", *words, "--json")
    assert done.exit_code == 4, done.output  # an untrained model of two classes
    assert "FRAP" in done.stdout


def test_decomposed_zero_shot_runs_on_it(place, run, foreign_folder):
    backbone = f"transformers:{foreign_folder('align')}"
    (place / "halves.toml").write_text(
        f'protocol = "decomposed-zero-shot"\nsets = [{{ dataset = "emoji-concepts" }}]\nbackbone = "{backbone}"\n'
        'images = 40\nmethods = [{ method = "LAID", settings = { steps = 5 } }]\nseeds = [1]\n'
        f"sentences = {FEW}\n"
    )
    done = run("run", "halves.toml", "--workers", 1, "--out", "halves")
    assert done.exit_code == 0, done.output


def test_detectors_on_embeddings_run_on_it(place, run, foreign_folder):
    backbone = f"transformers:{foreign_folder('align')}"
    text = (
        'protocol = "ood-detection"\nclasses = "base"\nshots = 2\nimages = 60\nseeds = [1]\n'
        'sources = [{ dataset = "emoji-concepts" }]\n'
        'pool = [{ dataset = "emoji-concepts", domain = "noto" }, { dataset = "emoji-concepts-b", domain = "noto" }]\n'
        f'[[models]]\nbackbone = "{backbone}"\n'
        f'[decomposition]\nbackbone = "{backbone}"\nsettings = {{ steps = 5 }}\ntemplates = {FEW}\n'
    )
    (place / "cells.toml").write_text(text)
    done = run("run", "cells.toml", "--workers", 1, "--out", "cells")
    assert done.exit_code == 0, done.output
