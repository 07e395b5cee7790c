"""`openworld shift`: from folders to degrees, cells, groups and a page; every wrong use."""

import csv
import json

import numpy as np
import pyarrow.parquet
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from openworld import backbones, datasets
from openworld.cli.app import app
from openworld.shift import Decomposition, load_decomposition


def openworld(*arguments):
    return CliRunner().invoke(app, ["shift", *map(str, arguments)], env={"COLUMNS": "200"})


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
    assert done.output.startswith("Of 32 pictures, ") and "looks \\ meaning" in done.output
    assert "Report:" in done.output and "2nd nearest of 24 reference pictures" in done.output
    told = json.loads((tmp_path / "out" / "shift.json").read_text())
    assert np.sum(told["cells"]) == 32 and [one["name"] for one in told["looks"]] and len(told["tests"]) == 2
    assert {one["n"] for one in told["looks"]} == {16}
    with (tmp_path / "out" / "degrees.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = pyarrow.parquet.read_table(tmp_path / "out" / "degrees.parquet").to_pydict()
    assert len(rows) == 32 and [float(row["semantic_degree"]) for row in rows] == table["semantic_degree"]
    assert all((folders / "known") in one.parents for one in map(type(folders), table["semantic_nearest"]))
    assert load_decomposition(tmp_path / "out" / "laid.safetensors").about["method"] == "by hand"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Which looks are far" in page and "data:image/png" in page and "http://" not in page.replace("www.w3", "")


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
    told = json.loads(openworld(*usual, "--test", folders / "known", "--json").output)
    assert any("24 of the 24 pictures are in known too" in one for one in told["warnings"])


def test_pictures_without_classes_have_no_concepts(folders, usual, tmp_path):
    for place, file in enumerate(sorted((folders / "new").rglob("*.png"))):
        (tmp_path / f"{place}.png").write_bytes(file.read_bytes())
    told = json.loads(openworld(*usual, "--test", tmp_path, "--json").output)
    assert told["concepts"] == [] and told["looks"] == [] and told["tests"][0]["n"] == 16


def test_unreadable_pictures_stop_it_or_are_counted(folders, usual, tmp_path):
    save(tmp_path, datasets.load("emoji-concepts", part="test"), 12)
    (next(tmp_path.iterdir()) / "broken.png").write_bytes(b"no picture")
    refused = openworld(*usual, "--test", tmp_path)
    assert refused.exit_code == 1 and "broken.png" in refused.output
    told = json.loads(openworld(*usual, "--test", tmp_path, "--allow-corrupt", 1, "--json").output)
    assert told["tests"][0]["unreadable"] == 1 and told["tests"][0]["n"] == 12


def test_refusals(folders, usual, tmp_path):
    known, new = folders / "known", folders / "new"
    (tmp_path / "empty").mkdir()
    (tmp_path / "one").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "one" / "a.png")
    (tmp_path / "names.txt").write_text("cat\ndog\n")
    loose = "--reference", tmp_path / "one", "--test", tmp_path / "one"
    few = "--reference", known, "--test", new, "--classnames", tmp_path / "names.txt"
    for arguments, sentence in (
        ((*usual, "--test", tmp_path / "empty"), "holds no picture"),
        ((*usual, "--test", tmp_path / "one"), "one holds 1 picture(s), expected two or more"),
        ((*usual, "--test", new, "--neighbour", 30), "neighbour 30 needs 32 or more"),
        ((*usual, "--test", tmp_path / "names.txt"), "is a file; give a folder"),
        ((*usual, "--test", tmp_path / "nowhere"), "nowhere"),
        (loose, "no class names for LAID to learn from"),
        (few, "there are 2 class names"),
        (("--reference", known, "--test", new, "--laid", tmp_path / "names.txt"), "holds no decomposition"),
    ):
        done = openworld(*arguments)
        assert done.exit_code in (1, 2) and sentence in done.output, (arguments, done.output)
        assert "Traceback" not in done.output
