"""A generated set read back: an image set like any other, and files that were changed since."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.shifts.synthesis import generate, read_generated


@pytest.fixture
def folder(plan, painter, tmp_path):
    generate(plan, painter(), tmp_path / "set")
    return tmp_path / "set"


def test_labels_styles_levels_and_groups_are_the_plans(plan, folder):
    found = read_generated(folder)
    assert (found.images.name, found.images.classnames) == ("set", plan.prompts.labels)
    assert found.styles == tuple(style.name for style in plan.prompts.styles)
    columns = (found.images.labels, found.style, found.images.groups, found.grid.semantic, found.grid.covariate)
    plans = (plan.prompt // 4, plan.prompt % 4, plan.prompt, plan.semantic, plan.covariate)
    assert all(map(np.array_equal, columns, plans))
    assert found.images.image(6).getpixel((0, 0)) == tuple(plan.commission(6).seed.to_bytes(8, "big")[:3])


def test_a_cell_is_an_image_set_of_its_own_and_it_travels(folder):
    found = read_generated(folder)
    cell = found.cell(0, 1)
    assert len(cell) == 5
    assert cell.image(0) == found.images.image(5)
    assert len(found.cell(1, 1)) == 0
    images = pickle.loads(pickle.dumps(found.images))
    assert images.fingerprint == found.images.fingerprint and images.image(0).size == (8, 8)


def test_other_pixels_in_files_of_the_same_names_are_another_set(plan, painter, folder, tmp_path):
    other = generate(replace(plan, seed=plan.seed + 1), painter(), tmp_path / "other").images
    assert other.content != read_generated(folder).images.content


def test_changed_files_are_refused_by_name(plan, folder):
    first, second = (folder / plan.commission(number).file for number in (0, 1))
    first.write_bytes(second.read_bytes())
    second.unlink()
    found = read_generated(folder)
    with pytest.raises(OpenworldError, match="was changed after it was made"):
        found.images.image(0)
    with pytest.raises(OpenworldError, match="cannot be read"):
        found.images.image(1)


def test_a_changed_manifest_or_table_is_refused(folder):
    manifest = folder / "manifest.json"
    about = json.loads(manifest.read_text())
    for text, words in (
        (json.dumps(about | {"version": 99}), "has version 99, expected 1"),
        ("{", "is of no generated set"),
        (json.dumps(about | {"table_sha256": "0"}), "is not the one its manifest was written for"),
    ):
        manifest.write_text(text)
        with pytest.raises(OpenworldError, match=words):
            read_generated(folder)
    (folder / "images.parquet").unlink()
    with pytest.raises(OpenworldError, match="cannot be read"):
        read_generated(folder)
