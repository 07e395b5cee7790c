"""Costs: counts equal those of the real images, and the disk is that of the cache."""

from dataclasses import replace

import pytest

from openworld import OpenworldError, features
from openworld.backbones import SHAPES, load
from openworld.evaluations import evaluation_of
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.learning_units import EncodedSet, units_of
from openworld.evaluations.runtime import shape
from openworld.reproduction.cache_use import Ledger, count_passes
from openworld.reproduction.cost import cost
from openworld.reproduction.plan import plan
from openworld.reproduction.settings import ReproductionSetup

FEW = ReproductionSetup(seeds=(1,), learners=("CLIP", "MaPLe", "CoOp"))


@pytest.mark.parametrize(("paper", "table"), [("openworldauc", "11"), ("openworldauc", "14"), ("openpl", "2")])
def test_images_and_units_are_those_of_the_tasks(paper, table):
    for run in plan(paper, [table], ReproductionSetup(seeds=(1, 2))).runs:
        tasks, units = evaluation_of(run.spec).tasks(run.spec), list(units_of(run.spec))
        assert len(units) == len(tasks)
        real = {(task.sources[part], task.encoding(part)) for task in tasks for part in task.sources}
        counted = {one for unit in units for one in unit.sets}
        assert len(counted) == len(real)
        assert sum(one.count for one in counted) == sum(len(source.load()) for source, _ in real)
        assert count_passes(counted) == passes_in_one_go(real)


def passes_in_one_go(real):
    """Images and passes, as the image tower is called when the run is encoded."""
    views = {source: {how.views for other, how in real if other == source} for source, _ in real}
    sizes = {source: len(source.load()) for source in views}
    return sum(sizes.values()), sum(sizes[source] * (1 + max(found)) for source, found in views.items())


def test_answers_of_generalisation_and_of_dynamic_runs():
    def first(*asked):
        (run,) = plan(*asked, FEW).runs
        return next(units_of(run.spec))

    crossing = first("openworldauc", ["4", "13"])
    own = crossing.tests[0].count
    variants = [one.count for one in crossing.tests[1:] if one.source.sources[0].dataset == "emoji-concepts"]
    others = [one.count for one in crossing.tests[1:] if one.source.sources[0].dataset != "emoji-concepts"]
    assert crossing.answers == own + sum(variants) + sum(own // 2 + count for count in others)
    assert others[-1] + own // 2 == 3770
    against = first("openpl", ["4", "5"])
    assert against.answers == 2000 + 980 and against.classes == 100


def test_published_counts_stand_in_for_data_that_is_not_there():
    found = cost(plan("openworldauc", ["2"], ReproductionSetup("nowhere", learners=("CLIP",))))
    assert found.units == 33
    tests = 50_000 + 2465 + 3669 + 8041 + 2463 + 30_300 + 3333 + 19_850 + 1692 + 8100 + 3783
    shots = 3 * 16 * (500 + 50 + 19 + 98 + 51 + 51 + 50 + 199 + 24 + 5 + 51)
    assert found.images == tests + shots and found.passes == tests + 9 * shots


def test_disk_is_that_of_encoded_images(tmp_path):
    source = DatasetSpec("emoji-groups", "twemoji").images("train", seed=1, shots=2)
    clip, images = load("embedded"), source.load()
    for more in ({}, {"patches": True}, {"pixels": True}):
        encoding = features.Encoding(views=1, **more)
        features.encode(clip, images, encoding, cache=tmp_path / str(more))
        real = sum(path.stat().st_size for path in (tmp_path / str(more)).rglob("*") if path.is_file())
        told = EncodedSet(source, encoding, len(images)).size(clip.config)
        assert real <= told < real + 2000  # heads and checksums


def test_a_plan_counts_shared_units_and_images_once():
    both, gates, whole = (
        cost(plan("openworldauc", tables, ReproductionSetup("nowhere", learners=("GMoP", "GMoP 0-1 Gate"))))
        for tables in (["2", "17"], ["17"], ["2"])
    )
    assert (both.units, gates.units, whole.units) == (66, 66, 33)
    assert both.images == gates.images == whole.images


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_those_of_the_published_backbones(name):
    import torch

    from openworld.backbones import BACKBONES, TwoTower

    with torch.device("meta"):
        model = TwoTower(shape(name))
    assert sum(one.numel() for one in model.parameters()) / 1e6 == pytest.approx(BACKBONES[name].parameters, abs=0.1)


def test_with_a_limit_the_disk_stays_below_it_and_what_is_made_again_is_counted():
    found = plan("openworldauc", ["2"], ReproductionSetup("nowhere", learners=("CLIP", "LoCoOp", "Gallop", "MaPLe")))
    whole, bound = cost(found), cost(found, limit=30 * 10**9)
    assert whole.limited is None and whole.cache_bytes > 250 * 10**9
    assert bound.cache_bytes <= 30 * 10**9 and bound.limited.most == bound.cache_bytes
    assert bound.limited.whole == whole.cache_bytes and bound.limited.made_again == 0
    assert bound.passes >= whole.passes + bound.limited.streamed > whole.passes
    roomy = cost(found, limit=10**12)
    assert (roomy.cache_bytes, roomy.passes, roomy.images) == (whole.cache_bytes, whole.passes, whole.images)
    assert roomy.limited.streamed == 0


def test_images_of_the_source_that_are_not_kept_are_seen_beside_every_other_data_set():
    (run,) = plan("openworldauc", ["13"], ReproductionSetup("nowhere", learners=("CLIP",), seeds=(1,))).runs
    unit = next(units_of(run.spec))
    training, *tests = (replace(one, encoding=replace(one.encoding, patches=True)) for one in unit.sets)
    unit = replace(unit, training=training, tests=tuple(tests))
    source, *others = tests
    config = shape("openai/clip-vit-base-patch16")
    ledger = Ledger(config, training.size(config))
    ledger.add([unit])
    beside = len(others) * (source.count // 2) + sum(one.count for one in others)
    assert ledger.use.streamed == source.count + beside
    roomy = Ledger(config, training.size(config) + source.size(config) + 10**9)
    roomy.add([unit])
    assert roomy.use.streamed < beside


def test_a_plan_refuses_a_limit_below_what_a_unit_needs():
    found = plan("openworldauc", ["2"], ReproductionSetup("nowhere", learners=("LoCoOp",)))
    with pytest.raises(OpenworldError, match="may have 20.0 GB.*--cache-limit"):
        cost(found, limit=20 * 10**9)
