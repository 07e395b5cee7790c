"""Costs: counts equal those of the real images, and the disk is that of the cache."""

from dataclasses import replace

import pytest
from paper_runs import plan_of

from openworld import OpenworldError, features
from openworld.backbones import SHAPES, load
from openworld.evaluations import evaluation_of
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.runtime import shape
from openworld.reproduction.acceptance import VIT_B_16
from openworld.reproduction.cost import cost, count_images, learning_units


@pytest.mark.parametrize(("paper", "table"), [("openworldauc", "11"), ("openworldauc", "14"), ("openpl", "2")])
def test_images_and_units_are_those_of_the_tasks(paper, table):
    found = plan_of(paper, (table,), data="embedded", seeds=(1, 2))
    for run in found.runs:
        tasks, units = evaluation_of(run.spec).tasks(run.spec), list(learning_units(run.spec))
        assert len(units) == len(tasks)
        real = {(task.image_sets[part], task.encoding(part)) for task in tasks for part in task.image_sets}
        counted = {entry for _, sets in units for entry in sets}
        assert len(counted) == len(real)
        assert sum(count_images(source) for source, *_ in counted) == sum(len(source.load()) for source, _ in real)
        once = sum(len(source.load()) for source in {source for source, _ in real})  # in all ways of encoding it
        assert cost(replace(found, runs=(run,)))["images"] == once


def test_published_counts_stand_in_for_data_that_is_not_there():
    found = cost(plan_of("openworldauc", ("2",), learners=("CLIP",)))
    assert found["units"] == 33
    tests = 50_000 + 2465 + 3669 + 8041 + 2463 + 30_300 + 3333 + 19_850 + 1692 + 8100 + 3783
    shots = 3 * 16 * (500 + 50 + 19 + 98 + 51 + 51 + 50 + 199 + 24 + 5 + 51)
    assert found["images"] == tests + shots


def test_disk_is_that_of_encoded_images(tmp_path):
    source = DatasetSpec("emoji-groups", "twemoji").images("train", seed=1, shots=2)
    clip, images = load("embedded"), source.load()
    for more in ({}, {"patches": True}, {"pixels": True}):
        encoding = features.Encoding(views=1, **more)
        features.encode(clip, images, encoding, cache=tmp_path / str(more))
        real = sum(path.stat().st_size for path in (tmp_path / str(more)).rglob("*") if path.is_file())
        told = features.encoded_size(clip.config, encoding, len(images))
        assert real <= told < real + 2000  # heads and checksums


def test_a_plan_counts_shared_units_and_images_once():
    both, gates, whole = (
        cost(plan_of("openworldauc", tables, learners=("GMoP", "GMoP 0-1 Gate")))
        for tables in (("2", "17"), ("17",), ("2",))
    )
    assert tuple(each["units"] for each in (both, gates, whole)) == (66, 66, 33)
    assert both["images"] == gates["images"] == whole["images"]


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_those_of_the_published_backbones(name):
    import torch

    from openworld.backbones import BACKBONES, TwoTower

    with torch.device("meta"):
        model = TwoTower(shape(name))
    assert name.endswith(f"patch{shape(name).image.patch_size}")
    count = sum(one.numel() for one in model.parameters())
    assert count / 1e6 == pytest.approx(BACKBONES[name].parameters, abs=0.1)
    if name == "openai/clip-vit-base-patch16":  # what an acceptance compares weights with
        assert VIT_B_16["parameters"] == count and VIT_B_16["image patch_size"] == 16
        assert VIT_B_16["text vocabulary"] == 49_408


def test_disk_is_that_of_every_encoded_set_once():
    found = plan_of("openworldauc", ("2",), learners=("CLIP", "LoCoOp", "Gallop", "MaPLe"))
    config = shape(found.setup.backbone)
    units = dict.fromkeys(unit for run in found.runs for unit in learning_units(run.spec))
    every = dict.fromkeys(entry for _, sets in units for entry in sets)
    encoded = sum(features.encoded_size(config, encoding, count_images(source)) for source, _, encoding in every)
    assert encoded > 250 * 10**9
    rows = sum(count_images(source) for _, sets in units for source, *_ in sets[1:])
    assert cost(found)["bytes"] == encoded + 100_000 * len(units) + 24 * rows
    with pytest.raises(OpenworldError, match="may have 20.0 GB.*--cache-limit"):
        cost(found, limit=20 * 10**9)
