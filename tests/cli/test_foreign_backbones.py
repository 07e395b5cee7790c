"""Models that other libraries run, through the commands that need no prompted tower."""

import json

import pytest
from in_process import refused, told
from small_specs import draw

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
def place(tmp_path_factory, foreign_folder):
    """A folder with drawings, and two folders of images of two classes."""
    folder = tmp_path_factory.mktemp("foreign")
    draw(folder)
    foreign_folder("align")
    from foreign_models import make_image

    for part, seed in (("reference", 0), ("new", 100)):
        for label, name in enumerate(("cat", "dog")):
            (folder / part / name).mkdir(parents=True)
            for row in range(12):
                make_image(60, 50, seed + 20 * label + row).save(folder / part / name / f"{row}.png")
    (folder / "names.txt").write_text("\n".join(f"thing number {number}" for number in range(24)))
    (folder / "few.txt").write_text("\n".join(FEW))
    return folder


def run(place, text, backbone, name):
    (place / f"{name}.toml").write_text(text.format(backbone=backbone, few=FEW))
    return told(place, "run", f"{name}.toml", "--workers", 1, "--out", name, "--json")


def test_a_run_of_learners_of_names_alone_is_kept_and_names_other_images(place, foreign_folder):
    backbone = f"transformers:{foreign_folder('align')}"
    shown = run(place, NAMES_ALONE, backbone, "names")
    assert "zero-shot-ensemble" in shown and (place / "names" / "report.html").is_file()
    assert run(place, NAMES_ALONE, backbone, "names") == shown
    asked = ("--unit", "zero-shot, seed 1", "--new", "sea otter", "--json", "--backbone", backbone)
    found = json.loads(told(place, "predict", "names", "new/cat/0.png", *asked))
    assert len(found["images"]) == 1 and found["new_names"] == ["sea otter"]


def test_shift_is_measured_in_its_features(place, foreign_folder, monkeypatch):
    monkeypatch.setattr("openworld.own_data.shift.decomposition.STEPS", 5)
    asked = ("--reference", "reference", "--test", "new", "--classnames", "names.txt", "--templates", "few.txt")
    asked += ("--backbone", f"transformers:{foreign_folder('align')}")
    told(place, "shift", *asked, "--out", "shift")
    assert (place / "shift" / "degrees.csv").is_file()
    refused("image tower", "shift", *asked, "--taught-by", "images", cwd=place)
