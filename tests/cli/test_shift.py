"""`openworld shift`: from folders to degrees, cells, groups and a page; every wrong use."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import torch
from PIL import Image

from openworld import backbones, datasets
from openworld.cli.app import app
from openworld.cli.in_process import CliRunner
from openworld.own_data.shift import decomposition
from openworld.results import Results
from openworld.shifts import Decomposition, load_decomposition


def openworld(*arguments):
    return CliRunner().invoke(app, ["shift", *map(str, arguments)], env={"COLUMNS": "200"})


def numbers(text, metric, **place):
    """{last of the place, such as a name: number} of rows, from JSON or a file of it."""
    found = Results.from_json(text.read_text() if isinstance(text, Path) else text).where(metric=metric, **place)
    return {list(row.where.values())[-1] if row.where else row.entity: row.value.value for row in found}


def save(folder, images, count, *, change=None):
    """The first pictures of an image set in class folders."""
    for row in range(count):
        own = folder / images.classnames[images.labels[row]].replace(" ", "_")
        own.mkdir(parents=True, exist_ok=True)
        picture = images.image(row)
        (change(picture) if change else picture).save(own / f"{row}.png")


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A reference, other pictures of it, the same in grey, and a decomposition in two halves by hand."""
    top = tmp_path_factory.mktemp("pictures")
    images = datasets.load("emoji-concepts", part="test")
    save(top / "known", images, 24)
    save(top / "new", images.subset(range(24, 40)), 16)
    save(top / "grey", images.subset(range(24, 40)), 16, change=lambda picture: picture.convert("L"))
    clip = backbones.load("embedded")
    width = clip.config.joint_dimension
    about = {"method": "by hand", "backbone": clip.name, "weights": clip.fingerprint}
    Decomposition.of_matrix(torch.eye(width), about=about).save(top / "halves.safetensors")
    return top


@pytest.fixture
def usual(folders):
    return "--reference", folders / "known", "--laid", folders / "halves.safetensors", "--neighbour", 2, "--least", 1


def test_degrees_cells_groups_and_a_page(folders, usual, tmp_path):
    done = openworld(*usual, "--test", folders / "new", "--test", folders / "grey", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert (
        "far in meaning" in done.output and ": of 32 images, " in done.output and "Where the images lie" in done.output
    )
    assert "Report:" in done.output and "nearest reference image number 2" in done.output
    assert numbers(tmp_path / "out" / "shift.json", "images", group="style") == {"new": 16, "grey": 16}
    with (tmp_path / "out" / "degrees.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = pyarrow.parquet.read_table(tmp_path / "out" / "degrees.parquet").to_pydict()
    assert len(rows) == 32 and [float(row["semantic_degree"]) for row in rows] == table["semantic_degree"]
    assert all((folders / "known") in one.parents for one in map(type(folders), table["semantic_nearest"]))
    assert load_decomposition(tmp_path / "out" / "laid.safetensors").about["method"] == "by hand"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Which styles are far" in page and "data:image/jpeg" in page and "http://" not in page.replace("www.w3", "")


def test_degrees_are_those_of_the_pictures_by_brute_force(folders, usual, tmp_path):
    openworld(*usual, "--test", folders / "new", "--out", tmp_path)
    table = pyarrow.parquet.read_table(tmp_path / "degrees.parquet").to_pydict()
    clip = backbones.load("embedded")

    def halves(paths):
        rows = torch.stack([clip.preprocess(Image.open(path).convert("RGB")) for path in paths])
        with torch.no_grad():
            rows = torch.nn.functional.normalize(clip.encode_image(rows).double(), dim=1)
        return [torch.nn.functional.normalize(half, dim=1) for half in rows.chunk(2, dim=1)]

    known = halves(sorted((folders / "known").rglob("*.png")))
    for name, own, other in zip(("semantic", "covariate"), halves(table["picture"]), known, strict=True):
        expected = (1 - own @ other.T).sort(dim=1).values[:, 1]
        np.testing.assert_allclose(table[f"{name}_degree"], expected, atol=1e-4)


def test_what_is_in_the_reference_is_said_to_be(folders, usual):
    text = openworld(*usual, "--test", folders / "known", "--json").output
    assert any("24 of the 24 images are in the reference too" in one for one in json.loads(text)["warnings"])
    medians = [numbers(text, metric) for metric in ("median_degree", "reference_median_degree")]
    assert medians[0]["meaning"] == pytest.approx(medians[1]["meaning"], abs=1e-6)


def test_pictures_without_classes_have_no_concepts(folders, usual, tmp_path):
    for place, file in enumerate(sorted((folders / "new").rglob("*.png"))):
        (tmp_path / f"{place}.png").write_bytes(file.read_bytes())
    text = openworld(*usual, "--test", tmp_path, "--json").output
    assert not numbers(text, "far", group="concept") and not numbers(text, "far", group="style")
    assert numbers(text, "images", set=1) == {tmp_path.name: 16}


def test_unreadable_pictures_stop_it_or_are_counted(folders, usual, tmp_path):
    save(tmp_path, datasets.load("emoji-concepts", part="test"), 12)
    (next(tmp_path.iterdir()) / "broken.png").write_bytes(b"no picture")
    refused = openworld(*usual, "--test", tmp_path)
    assert refused.exit_code == 1 and "broken.png" in refused.output
    text = openworld(*usual, "--test", tmp_path, "--allow-corrupt", 1, "--json").output
    assert [*numbers(text, "unreadable_images", set=1).values(), *numbers(text, "images", set=1).values()] == [1, 12]


def test_data_sets_by_name(usual, folders):
    where = "emoji-groups/emojione-monotone/validation"
    text = openworld(*usual, "--test", where, "--test", folders / "new", "--json").output
    images = datasets.load("emoji-groups", domain="emojione-monotone", part="validation")
    assert numbers(text, "images", set=1) == {where: len(images)} and numbers(text, "classes", set=1) == {where: 8}
    assert numbers(text, "images", group="style").keys() == {where, "new"}


def test_every_name_in_the_json_is_explained(usual, folders):
    told = json.loads(openworld(*usual, "--test", folders / "new", "--test", folders / "grey", "--json").output)
    page = (Path(__file__).parents[2] / "docs" / "measuring-shift.md").read_text()
    places = {name for row in told["results"] for name, value in row.items() if value is not None}
    metrics = {row["metric"] for row in told["results"]}
    apart = {"evaluation", "entity", "metric", "unit", "value", "seeds", "per_seed", "reason"}
    for names in (told, told["examples"][0], metrics, places - apart):
        assert [name for name in names if f"`{name}`" not in page] == []


def test_numbers_agree_with_the_degrees_of_the_pictures(usual, folders, tmp_path):
    openworld(*usual, "--test", folders / "new", "--test", folders / "grey", "--out", tmp_path)
    text = (tmp_path / "shift.json").read_text()
    table = {
        name: np.array(held)
        for name, held in pyarrow.parquet.read_table(tmp_path / "degrees.parquet").to_pydict().items()
    }
    sides = {"semantic": "meaning", "covariate": "appearance"}
    results, far = Results.from_json(text), {half: table[f"{half}_far"] for half in sides}
    for half, word in sides.items():
        degrees = table[f"{half}_degree"]
        assert (degrees > results.value(word, "usual_degree").value).tolist() == far[half].tolist()
        assert results.value(word, "far").value == far[half].mean()
        assert results.value(word, "median_degree").value == np.median(degrees)
        starts = [row.value.value for row in results.where(entity=word, metric="level_start")]
        levels = np.searchsorted(starts[1:], degrees, side="right")
        assert len(starts) == 8 and levels.tolist() == table[f"{half}_level"].tolist()
        counts = [row.value.value for row in results.where(entity=word, metric="images")]
        assert counts == np.bincount(levels, minlength=8).tolist()
        for row in results.where(entity=word, metric="median_degree", group="style"):
            assert row.value.value == np.median(degrees[table["set"] == row.where["name"]])
    both, neither = far["semantic"] & far["covariate"], ~far["semantic"] & ~far["covariate"]
    counts = numbers(text, "images")
    assert (counts["both"], counts["neither"]) == (both.sum(), neither.sum())
    assert results.value("meaning", "far_in_it_alone").value == (far["semantic"] & ~both).mean()
    cells = {tuple(row.where.values()): row.value.value for row in results if "covariate_level" in row.where}
    own = list(zip(table["covariate_level"].tolist(), table["semantic_level"].tolist(), strict=True))
    assert {cell: count for cell, count in cells.items() if count} == {cell: own.count(cell) for cell in set(own)}


def test_a_kept_laid_gives_the_same_degrees_and_kept_levels_the_same_cells(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(decomposition, "STEPS", 20)
    (tmp_path / "names.txt").write_text(
        "\n".join(f"{kind} {thing}" for kind in ("red", "old") for thing in "abcdefghijkl")
    )
    sides = "--reference", folders / "known", "--test", folders / "new", "--neighbour", 2
    first = openworld(*sides, "--classnames", tmp_path / "names.txt", "--out", tmp_path / "first")
    assert first.exit_code == 0, first.output
    kept = "--laid", tmp_path / "first" / "laid.safetensors", "--levels-of", tmp_path / "first" / "shift.json"
    openworld(*sides, *kept, "--out", tmp_path / "second")
    for name in ("degrees.csv", "degrees.parquet", "laid.safetensors"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    one = next((folders / "new").rglob("*.png"))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / one.name).write_bytes(one.read_bytes())
    alone = openworld("--reference", folders / "known", "--test", tmp_path / "one", "--neighbour", 2, *kept)
    assert alone.exit_code == 0 and ": the image lies " in alone.output


def test_how_many_names_teach_is_said_and_chosen_and_ids_are_named(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(decomposition, "STEPS", 2)
    ids = ["n01440764", "n01443537"]  # tench, goldfish
    names = tmp_path / "names.txt"
    names.write_text("\n".join([*ids, *(f"{kind} {thing}" for kind in ("red", "old") for thing in "abcdefghijkl")]))
    sides = "--reference", folders / "known", "--test", folders / "new", "--neighbour", 2, "--classnames", names
    drawn = openworld(*sides, "--most-names", 21, "--out", tmp_path / "drawn")
    assert drawn.exit_code == 0, drawn.output
    limits = " ".join(json.loads((tmp_path / "drawn" / "shift.json").read_text())["limits"])
    assert "21 of 26 class names" in limits and "--most-names 0" in limits
    assert len(load_decomposition(tmp_path / "drawn" / "laid.safetensors").about["names"]) == 21
    openworld(*sides, "--most-names", 0, "--out", tmp_path / "all")
    assert load_decomposition(tmp_path / "all" / "laid.safetensors").about["names"][:3] == [
        "tench",
        "goldfish",
        "red a",
    ]
    names.write_text(names.read_text() + "\nn00005787")
    monkeypatch.setattr("openworld.datasets.names.overlaps.find_wordnet", lambda: None)
    refused = openworld(*sides)
    assert refused.exit_code == 2 and "'n00005787'" in refused.output


def test_laid_taught_by_pictures_sees_looks_and_is_kept(folders, tmp_path, monkeypatch):
    monkeypatch.setattr(decomposition, "STEPS", 5)
    monkeypatch.setattr(decomposition, "LOOKS", ("plain", "monochrome", "pixel art", "papercut", "fog 3"))
    images = datasets.load("emoji-concepts", part="test")
    two = [int(row) for label in range(22) for row in np.flatnonzero(images.labels == label)[:2]]
    save(tmp_path / "things", images.subset(two), 44)
    sides = "--test", folders / "new", "--neighbour", 2, "--taught-by", "pictures"
    done = openworld("--reference", tmp_path / "things", *sides, "--out", tmp_path / "first")
    assert done.exit_code == 0, done.output
    told = json.loads((tmp_path / "first" / "shift.json").read_text())
    assert told["backbone"] == "embedded, looks" and "images of 22 things in 5 appearances" in " ".join(told["limits"])
    kept = "--reference", tmp_path / "things", *sides[:4], "--laid", tmp_path / "first" / "laid.safetensors"
    assert openworld(*kept, "--out", tmp_path / "second").exit_code == 0
    assert "Of the 44 reference images 22 taught" in " ".join(told["limits"])
    degrees = [(tmp_path / place / "degrees.csv").read_bytes() for place in ("first", "second")]
    assert degrees[0] == degrees[1]
    save(tmp_path / "few", images.subset(two[::2]), 22)
    refused = openworld("--reference", tmp_path / "few", *sides)
    assert refused.exit_code == 2 and "what is far cannot be told" in refused.output
    refused = openworld("--reference", folders / "known", *sides)
    assert refused.exit_code == 2 and "classes, and LAID learns what meaning is from images of 20" in refused.output


def test_killed_it_goes_on_and_ends_with_the_same_bytes(folders, usual, tmp_path, monkeypatch):
    arguments = ["shift", *map(str, usual), "--test", str(folders / "new"), "--test", str(folders / "grey"), "--quiet"]
    script = (
        "import os, signal\nfrom openworld.own_data.shift import measurement as measuring_shift\n"
        "measuring_shift._against = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"from openworld.cli.app import app\napp({arguments!r})"
    )
    cache = tmp_path / "cache"
    killed = subprocess.run([sys.executable, "-c", script], env=os.environ | {"OPENWORLD_CACHE": str(cache)})
    assert killed.returncode == -signal.SIGKILL
    known = {file: file.stat().st_mtime_ns for file in cache.rglob("*.safetensors")}
    assert known
    results = []
    for folder in (cache, tmp_path / "other"):
        monkeypatch.setenv("OPENWORLD_CACHE", str(folder))
        assert openworld(*arguments[1:], "--out", tmp_path / "out").exit_code == 0
        results.append({file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()})
    assert results[0] == results[1] and len(results[0]) == 6
    assert all(file.stat().st_mtime_ns == time for file, time in known.items())


def test_names_sizes_and_modes_of_files_do_not_matter(folders, usual, tmp_path):
    top = tmp_path / "neue Bilder 猫"
    images = datasets.load("emoji-concepts", part="test")
    for row, mode in enumerate(("L", "RGB", "RGBA", "P", "1", "LA", "CMYK")):
        own = top / f"ein Ding {row} é"
        own.mkdir(parents=True)
        ending = "jpg" if mode == "CMYK" else "png"
        images.image(row).resize((3 + 90 * row, 200 - 30 * row or 1)).convert(mode).save(own / f"ü {row}.{ending}")
    (own / ".hidden.png").write_bytes(b"left by an operating system")
    done = openworld(*usual, "--test", top, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    concepts = numbers(tmp_path / "out" / "shift.json", "images", group="concept")
    assert concepts == {f"ein Ding {row} é": 1 for row in range(7)}


def test_folders_that_hold_no_classes(folders, usual, tmp_path):
    picture = next((folders / "new").rglob("*.png")).read_bytes()
    for place in ("a/deep/1.png", "a/deep/2.png", "b/3.png"):
        (tmp_path / "deep" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "deep" / place).write_bytes(picture)
        (tmp_path / "parts" / "train" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "parts" / "train" / place).write_bytes(picture)
    text = openworld(*usual, "--test", tmp_path / "deep", "--test", folders / "new", "--json").output
    assert [numbers(text, metric, set=1) for metric in ("images", "classes")] == [{"deep": 3}, {"deep": 0}]
    assert any("deep holds images in folders at several depths" in one for one in json.loads(text)["warnings"])
    refused = openworld(*usual, "--test", tmp_path / "parts")
    assert refused.exit_code == 2 and "parts holds parts, not classes" in refused.output


def test_folders_of_one_name_are_told_by_where_they_lie(folders, usual, tmp_path):
    for season, looks in (("winter", "grey"), ("summer", "new")):
        shutil.copytree(folders / looks, tmp_path / season / "test")
    both = "--test", tmp_path / "winter" / "test", "--test", tmp_path / "summer" / "test"
    text = openworld(*usual, *both, "--json").output
    assert [*numbers(text, "classes")] == ["known (reference)", "winter/test", "summer/test"]


def test_refusals(folders, usual, tmp_path):
    known, new = folders / "known", folders / "new"
    (tmp_path / "empty").mkdir()
    (tmp_path / "one").mkdir()
    (tmp_path / "hidden").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "one" / "a.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "hidden" / ".a.png")
    (tmp_path / "names.txt").write_text("cat\ndog\n")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    loose = "--reference", tmp_path / "one", "--test", tmp_path / "one"
    few = "--reference", known, "--test", new, "--classnames", tmp_path / "names.txt"
    for arguments, sentence in (
        ((*usual, "--test", tmp_path / "empty"), "holds no image"),
        ((*usual, "--test", tmp_path / "one"), "one holds 1 image(s), expected two or more"),
        ((*usual, "--test", new, "--neighbour", 30), "neighbour 30 needs 32 or more"),
        ((*usual, "--test", tmp_path / "names.txt"), "is a file without embeddings; give a folder"),
        ((*usual, "--test", tmp_path / "nowhere"), "nowhere"),
        (loose, "no class names for LAID to learn from"),
        (few, "there are 2 class names"),
        (("--reference", known, "--test", new, "--laid", tmp_path / "names.txt"), "holds no decomposition"),
        ((*usual, "--test", new, "--levels-of", tmp_path / "names.txt"), "holds no levels"),
        ((*usual, "--test", new, "--levels-of", tmp_path / "nowhere.json"), "there is no file"),
        (("--reference", known, "--test", new, "--laid", tmp_path / "nowhere"), "there is no file"),
        ((*usual, "--test", new, "--test", new), "new is given twice"),
        ((*usual, "--test", new, "--out", tmp_path / "names.txt"), "names.txt is a file; give a folder"),
        ((*usual, "--test", new, "--out", tmp_path / "run"), "run holds a run; give another folder"),
        ((*usual, "--test", new, "--levels", 2), "levels"),
        ((*usual, "--test", new, "--taught-by", "pictues"), "pictures"),
        ((*usual, "--test", "emoji-concepts/noto/test/more"), "has too many parts"),
        ((*usual, "--test", tmp_path / "hidden"), "holds no image but hidden ones"),
    ):
        done = openworld(*arguments)
        assert done.exit_code in (1, 2) and sentence in done.output, (arguments, done.output)
        assert "Traceback" not in done.output
