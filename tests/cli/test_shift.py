"""`openworld shift`: from folders to degrees, cells, groups and a page; every wrong use."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import torch
from every_output import keep_halves, save
from in_process import openworld, refused
from PIL import Image

from openworld import backbones, datasets
from openworld.own_data.shift import decomposition
from openworld.results import Results
from openworld.shifts import load_decomposition

THINGS = [f"{kind} {thing}" for kind in ("red", "old") for thing in "abcdefghijkl"]


def shift(*arguments):
    """What is measured, as JSON holds it where that is asked for."""
    done = openworld("shift", *arguments, columns=200)
    assert done.exit_code == 0, done.output
    return done.stdout


def numbers(text, metric, **place):
    """{last of the place, such as a name: number} of rows, from JSON or a file of it."""
    found = Results.from_json(text.read_text() if isinstance(text, Path) else text).where(metric=metric, **place)
    return {list(row.where.values())[-1] if row.where else row.entity: row.value.value for row in found}


def degrees(folder):
    return pyarrow.parquet.read_table(folder / "degrees.parquet").to_pydict()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A reference, other images of it, the same in grey, and a decomposition in two halves by hand."""
    top = tmp_path_factory.mktemp("images")
    images = datasets.load("emoji-concepts", part="test")
    save(top / "reference", images.subset(range(24)))
    save(top / "new", images.subset(range(24, 40)))
    save(top / "grey", images.subset(range(24, 40)), change=lambda image: image.convert("L"))
    keep_halves(top / "halves.safetensors")
    return top


@pytest.fixture
def usual(folders):
    laid = ("--laid", folders / "halves.safetensors")
    return "--reference", folders / "reference", *laid, "--neighbour", 2, "--least", 1


def test_degrees_cells_groups_and_a_page(folders, usual, tmp_path):
    shown = shift(*usual, "--test", folders / "new", "--test", folders / "grey", "--out", tmp_path)
    for words in ("far in meaning", ": of 32 images, ", "Where the images lie", "nearest reference image number 2"):
        assert words in shown
    assert numbers(tmp_path / "shift.json", "images", group="style") == {"new": 16, "grey": 16}
    table = degrees(tmp_path)
    csv = np.genfromtxt(tmp_path / "degrees.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert csv["semantic_degree"].tolist() == table["semantic_degree"] and len(csv) == 32
    assert all((folders / "reference") in Path(place).parents for place in table["semantic_nearest"])
    assert load_decomposition(tmp_path / "laid.safetensors").about["method"] == "by hand"
    page = (tmp_path / "report.html").read_text()
    assert "Which styles are far" in page and "data:image/jpeg" in page and "http://" not in page.replace("www.w3", "")
    found = json.loads((tmp_path / "shift.json").read_text())
    docs = (Path(__file__).parents[2] / "docs" / "shift-files.md").read_text()
    places = {name for row in found["results"] for name, value in row.items() if value is not None}
    apart = {"evaluation", "entity", "metric", "unit", "value", "seeds", "per_seed", "reason"}
    for names in (found, found["examples"][0], {row["metric"] for row in found["results"]}, places - apart):
        assert [name for name in names if f"`{name}`" not in docs] == [], "the page explains every name"

    clip = backbones.load("embedded")

    def halves(paths):  # a brute-force twin
        rows = torch.stack([clip.preprocess(Image.open(path).convert("RGB")) for path in paths])
        with torch.no_grad():
            rows = clip.encode_image(rows).double()
        return [torch.nn.functional.normalize(half, dim=1) for half in rows.chunk(2, dim=1)]

    reference = halves(sorted((folders / "reference").rglob("*.png")))
    for name, rows, others in zip(("semantic", "covariate"), halves(table["image"]), reference, strict=True):
        expected = (1 - rows @ others.T).sort(dim=1).values[:, 1]
        np.testing.assert_allclose(table[f"{name}_degree"], expected, atol=1e-4)


def test_unreadable_images_stop_it_or_are_counted(folders, usual, tmp_path):
    save(tmp_path, datasets.load("emoji-concepts", part="test").subset(range(12)))
    (next(tmp_path.iterdir()) / "broken.png").write_bytes(b"no image")
    refused("broken.png", "shift", *usual, "--test", tmp_path, code=1)
    text = shift(*usual, "--test", tmp_path, "--allow-corrupt", 1, "--json")
    assert [*numbers(text, "unreadable_images", set=1).values(), *numbers(text, "images", set=1).values()] == [1, 12]


def test_data_sets_by_name_and_folders_of_one_name(usual, folders, tmp_path):
    where = "emoji-groups/emojione-monotone/validation"
    for season, style in (("winter", "grey"), ("summer", "new")):
        shutil.copytree(folders / style, tmp_path / season / "test")
    sides = ("--test", where, "--test", tmp_path / "winter" / "test", "--test", tmp_path / "summer" / "test")
    text = shift(*usual, *sides, "--json")
    count = len(datasets.load("emoji-groups", domain="emojione-monotone", part="validation"))
    assert numbers(text, "images", set=1) == {where: count} and numbers(text, "classes", set=1) == {where: 8}
    assert [*numbers(text, "classes")] == ["reference (reference)", where, "winter/test", "summer/test"]


def test_a_kept_laid_gives_the_same_degrees_and_kept_levels_the_same_cells(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(decomposition, "STEPS", 5)
    (tmp_path / "names.txt").write_text("\n".join(THINGS))
    sides = "--reference", folders / "reference", "--test", folders / "new", "--neighbour", 2
    shift(*sides, "--classnames", tmp_path / "names.txt", "--out", tmp_path / "first")
    kept = "--laid", tmp_path / "first" / "laid.safetensors", "--levels-of", tmp_path / "first" / "shift.json"
    shift(*sides, *kept, "--out", tmp_path / "second")
    for name in ("degrees.csv", "degrees.parquet", "laid.safetensors"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    (tmp_path / "single").mkdir()
    shutil.copy(next((folders / "new").rglob("*.png")), tmp_path / "single")
    sides = "--reference", folders / "reference", "--test", tmp_path / "single", "--neighbour", 2
    assert ": the image lies " in shift(*sides, *kept)


def test_laid_taught_by_images_sees_appearance_and_is_kept(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(decomposition, "STEPS", 5)
    monkeypatch.setattr(decomposition, "LOOKS", ("plain", "monochrome", "pixel art", "papercut", "fog 3"))
    images = datasets.load("emoji-concepts", part="test")
    two = [int(row) for label in range(22) for row in np.flatnonzero(images.labels == label)[:2]]
    save(tmp_path / "things", images.subset(two))
    sides = "--test", folders / "new", "--neighbour", 2, "--taught-by", "images"
    shift("--reference", tmp_path / "things", *sides, "--out", tmp_path / "first")
    found = json.loads((tmp_path / "first" / "shift.json").read_text())
    limits = " ".join(found["limits"])
    assert found["backbone"] == "embedded, looks" and "images of 22 things in 5 appearances" in limits
    assert "Of the 44 reference images 22 taught" in limits
    kept = "--reference", tmp_path / "things", *sides[:4], "--laid", tmp_path / "first" / "laid.safetensors"
    shift(*kept, "--out", tmp_path / "second")
    assert degrees(tmp_path / "first") == degrees(tmp_path / "second")
    words = "classes, and LAID learns what meaning is from images of 20"
    refused(words, "shift", "--reference", folders / "reference", *sides)


def test_refusals(folders, usual, tmp_path):
    new = ("--test", folders / "new")
    sides = ("--reference", folders / "reference", *new)
    (tmp_path / "single").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "single" / "a.png")
    names = tmp_path / "names.txt"
    names.write_text("cat\ndog\n")
    single = tmp_path / "single"
    for arguments, sentence in (
        ((*usual, "--test", single), "single holds 1 image(s), expected two or more"),
        ((*usual, *new, "--neighbour", 30), "neighbour 30 needs 32 or more"),
        ((*usual, "--test", names), "is a file without embeddings; give a folder"),
        (("--reference", single, "--test", single), "no class names for LAID to learn from"),
        ((*sides, "--classnames", names), "there are 2 class names"),
        ((*usual, *new, "--levels-of", names), "holds no levels"),
        ((*usual, *new, *new), "new is given twice"),
        ((*usual, *new, "--taught-by", "imges"), "images"),
    ):
        done = openworld("shift", *arguments)
        assert done.exit_code in (1, 2) and sentence in done.stderr, (arguments, done.output)
