"""Costs: counts equal those of the real pictures, times add up, and every learner can be measured."""

from dataclasses import replace

import pytest

from openworld import OpenworldError, features
from openworld.backbones import load
from openworld.evaluations import module_of
from openworld.evaluations.runtime import Source
from openworld.learners import LEARNERS, Schedule
from openworld.learners._training import draw_batches
from openworld.protocols._cost import cost, seconds_of
from openworld.protocols._disk_cost import Ledger
from openworld.protocols._speed_trial import Line, Speed, line
from openworld.protocols._speeds import SHAPES, Speeds, _speed, measure, shape, speed_key
from openworld.protocols._work import Pictures, UnitWork, batches, count_pictures, schedules, to_encode, work_of
from openworld.reproduction.plan import plan
from openworld.reproduction.settings import Ground
from openworld.testing import small_world

FEW = Ground(seeds=(1,), learners=("CLIP", "MaPLe", "CoOp"))


@pytest.mark.parametrize(("paper", "table"), [("openworldauc", "11"), ("openworldauc", "14"), ("openpl", "2")])
def test_pictures_and_units_are_those_of_the_tasks(paper, table):
    found = plan(paper, [table], Ground(seeds=(1, 2)))
    work = work_of(found.runs)
    for run in found.runs:
        tasks = module_of(run.spec).tasks(run.spec)
        assert len(work[run.name]) == len(tasks)
        real = {(task.sources[part], task.encoding(part)) for task in tasks for part in task.sources}
        counted = to_encode(work[run.name])
        assert len(counted) == len(real)
        assert sum(one.count for one in counted) == sum(len(source.load()) for source, _ in real)
        assert count_pictures(counted) == passes_in_one_go(real)


def passes_in_one_go(real):
    """Pictures and passes, as the image tower is called when the run is encoded."""
    views = {source: {how.views for other, how in real if other == source} for source, _ in real}
    sizes = {source: len(source.load()) for source in views}
    return sum(sizes.values()), sum(sizes[source] * (1 + max(found)) for source, found in views.items())


def test_answers_of_generalisation_and_of_dynamic_runs():
    crossing = work_of(plan("openworldauc", ["4", "13"], FEW).runs)
    (units,) = crossing.values()
    assert units[0].answers[:2] == ((1000, 100), (1000, 100)) and units[0].answers[-1] == (3770, 99)
    against = work_of(plan("openpl", ["4", "5"], FEW).runs)
    (units,) = against.values()
    assert units[0].answers == ((2000, 100), (980, 98)) and units[0].classes == 100


@pytest.mark.parametrize("count", [5, 32, 100])
@pytest.mark.parametrize("drop_last", [True, False])
def test_steps_of_an_epoch_are_those_of_training(count, drop_last):
    import torch

    schedule = Schedule(batch_size=32, drop_last=drop_last)
    assert batches(count, schedule) == len(draw_batches(count, schedule, torch.Generator()))


def test_published_counts_stand_in_for_data_that_is_not_there():
    found = cost(plan("openworldauc", ["2"], Ground("nowhere", learners=("CLIP",))))
    assert found.units == 33 and found.seconds is None
    tests = 50_000 + 2465 + 3669 + 8041 + 2463 + 30_300 + 3333 + 19_850 + 1692 + 8100 + 3783
    shots = 3 * 16 * (500 + 50 + 19 + 98 + 51 + 51 + 50 + 199 + 24 + 5 + 51)
    assert found.pictures == tests + shots and found.passes == tests + 9 * shots


def test_disk_is_that_of_encoded_pictures(tmp_path):
    source = Source("emoji-groups", "twemoji", "train", 1, 2)
    clip, images = load("embedded"), source.load()
    for more in ({}, {"patches": True}, {"pixels": True}):
        encoding = features.Encoding(views=1, **more)
        features.encode(clip, images, encoding, cache=tmp_path / str(more))
        real = sum(path.stat().st_size for path in (tmp_path / str(more)).rglob("*") if path.is_file())
        told = Pictures(source, encoding, len(images)).size(clip.config)
        assert real <= told < real + 2000  # heads and checksums


def test_seconds_are_steps_and_answers():
    learner = LEARNERS["CoOp"](schedule=Schedule(epochs=3, batch_size=4))
    unit = UnitWork(learner, (), 5, 20, ((100, 10), (50, 10)))
    assert unit.steps == 15
    lines = Speed(Line(1.0, 0.1), Line(2.0, 0.0), Line(0.01, 0.001))
    assert seconds_of(unit, Speeds(1.0, {speed_key(learner): lines})) == pytest.approx(15 * 1.5 + 2 * 2 + 150 * 0.02)


def test_a_plan_counts_shared_units_and_pictures_once():
    both, gates, whole = (
        cost(plan("openworldauc", tables, Ground("nowhere", learners=("GMoP", "GMoP 0-1 Gate"))))
        for tables in (["2", "17"], ["17"], ["2"])
    )
    assert (both.units, gates.units, whole.units) == (66, 66, 33)
    assert both.pictures == gates.pictures == whole.pictures


def test_hours_of_a_plan_and_of_its_learners():
    found = plan("openworldauc", ["11", "12"], Ground())
    units = [unit for run in work_of(found.runs).values() for unit in run]
    one = Speed(Line(0.01, 0.0), Line(0.0, 0.0), Line(0.001, 0.0))
    speeds = Speeds(0.002, {speed_key(unit.learner): one for unit in units})
    alone, both = cost(found, speeds, workers=1), cost(found, speeds, workers=2)
    assert alone.seconds == pytest.approx(sum(run.encode_seconds + run.unit_seconds for run in alone.runs))
    assert both.seconds < alone.seconds and both.learners == alone.learners
    assert sum(alone.learners.values()) == pytest.approx(sum(run.unit_seconds for run in alone.runs))


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_can_be_measured(name):
    learner = LEARNERS[name].published("", "base-to-new")
    if hasattr(learner, "schedule"):
        learner = small(learner)
    unit = UnitWork(learner, (), 7, 28, ((10, 7),))
    found = _speed(small_world().clip, unit, 3, 6)
    assert (found.step.at(7) > 0) == bool(schedules(learner))
    assert found.names.at(7) > 0 and found.answer.at(7) > 0


def small(learner):
    """With settings that fit a random tower of three blocks."""
    from dataclasses import fields, replace

    fitting = {"depth": 2, "text_depth": 2, "image_depth": 2, "block": 1, "prompts": 2, "contexts": 2, "top": None}
    own = {one.name: fitting[one.name] for one in fields(learner) if one.name in fitting}
    if learner.name == "GalLoP":
        own["top"] = (1, 2)
    return replace(learner, **own)


def test_a_learner_that_refuses_few_classes_is_measured_with_its_own_number():
    unit = UnitWork(LEARNERS["LoCoOp"](top=5), (), 7, 28, ())
    assert _speed(small_world().clip, unit, 3, 6).step.at(7) > 0


def test_measuring_tells_progress_and_knows_learners_of_a_kind():
    found = plan("openworldauc", ["11", "12"], Ground(learners=("TCP",), quick=4))
    units, told = [unit for run in work_of(found.runs).values() for unit in run], []
    speeds = measure("embedded", units, embedded=True, told=lambda *step: told.append(step))
    assert [what for *_, what in told] == ["encoding", "TCP"] and list(speeds.learners) == [speed_key(units[0].learner)]
    assert speeds.encode > 0 and Speeds.from_dict(speeds.to_dict()) == speeds


def test_learners_are_measured_by_single_steps_when_time_is_over():
    found = plan("openworldauc", ["2"], Ground(learners=("CLIP", "KgCoOp", "CoOp", "DePT-Kg"), seeds=(1,)))
    units = [unit for run in work_of(found.runs).values() for unit in run]
    speeds = measure("embedded", units, embedded=True, limit=0.0)
    assert speeds.briefly == ("KgCoOp", "DePT") and set(speeds.learners) == {speed_key(unit.learner) for unit in units}
    assert cost(found, speeds).guessed == speeds.briefly
    measured = {unit.learner.name: speeds.learners[speed_key(unit.learner)] for unit in units}
    coop = measured["CoOp"]
    for name in speeds.briefly:
        assert measured[name].step.at(50) > 0 and measured[name].step != coop.step
        assert (measured[name].names, measured[name].answer) == (coop.names, coop.answer)


def test_what_a_learner_says_or_weighs_costs_no_time():
    gmop = LEARNERS["GMoP"]
    assert speed_key(gmop(alpha=0.1, template="a {}.")) == speed_key(gmop())
    assert speed_key(gmop(schedule=Schedule(epochs=1))) == speed_key(gmop())
    assert speed_key(gmop(detectors=5)) != speed_key(gmop())
    assert speed_key(gmop(schedule=Schedule(batch_size=8))) != speed_key(gmop())


def test_lines_go_through_both_points_and_never_fall():
    found = line(3, 9, 0.3, 0.9)
    assert (found.at(3), found.at(9), found.at(100)) == pytest.approx((0.3, 0.9, 10.0))
    assert line(3, 9, 0.5, 0.3) == Line(0.4, 0.0)
    assert line(3, 9, 0.1, 0.9).start == 0.0


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_those_of_the_published_backbones(name):
    import torch

    from openworld.backbones import BACKBONES, TwoTower

    with torch.device("meta"):
        model = TwoTower(shape(name))
    assert sum(one.numel() for one in model.parameters()) / 1e6 == pytest.approx(BACKBONES[name].parameters, abs=0.1)


def test_with_a_limit_the_disk_stays_below_it_and_what_is_made_again_is_counted():
    found = plan("openworldauc", ["2"], Ground("nowhere", learners=("CLIP", "LoCoOp", "Gallop", "MaPLe")))
    whole, bound = cost(found), cost(found, limit=30 * 10**9)
    assert whole.limited is None and whole.feature_bytes > 250 * 10**9
    assert bound.feature_bytes <= 30 * 10**9 and bound.limited.most == bound.feature_bytes
    assert bound.limited.whole == whole.feature_bytes and bound.limited.made_again == 0
    assert bound.passes >= whole.passes + bound.limited.streamed > whole.passes
    roomy = cost(found, limit=10**12)
    assert (roomy.feature_bytes, roomy.passes, roomy.pictures) == (whole.feature_bytes, whole.passes, whole.pictures)
    assert roomy.limited.streamed == 0


def test_pictures_of_the_source_that_are_not_kept_are_seen_beside_every_other_data_set():
    (units,) = work_of(plan("openworldauc", ["13"], Ground("nowhere", learners=("CLIP",), seeds=(1,))).runs).values()
    patches = tuple(replace(one, encoding=replace(one.encoding, patches=True)) for one in units[0].pictures)
    train, source, *others = patches
    config = shape("openai/clip-vit-base-patch16")
    ledger = Ledger(config, train.size(config))
    ledger.add([replace(units[0], pictures=patches)])
    beside = len(others) * (source.count // 2) + sum(one.count for one in others)
    assert ledger.cost.streamed == source.count + beside
    roomy = Ledger(config, train.size(config) + source.size(config) + 10**9)
    roomy.add([replace(units[0], pictures=patches)])
    assert roomy.cost.streamed < beside


def test_a_plan_refuses_a_limit_below_what_a_unit_needs():
    found = plan("openworldauc", ["2"], Ground("nowhere", learners=("LoCoOp",)))
    with pytest.raises(OpenworldError, match="may have 20.0 GB.*--cache-limit"):
        cost(found, limit=20 * 10**9)
