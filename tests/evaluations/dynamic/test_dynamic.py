"""The dynamic protocol on folders of shapes with the embedded backbone: units, records, tables, refusals."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations import DynamicSpec, read_protocol
from openworld.evaluations.dynamic.curves import PLACE, SCENARIOS
from openworld.evaluations.dynamic.evaluation import EVALUATION
from openworld.evaluations.dynamic.scenarios import class_order
from openworld.evaluations.dynamic.spec import tasks
from openworld.evaluations.encoding import encode_tasks
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.runs import RunStore, execute, read_spec

FEW = {"schedule": {"epochs": 1}}
LEARNERS = (
    {"learner": "CoOp", "settings": {"context_length": 4, **FEW}},
    {"learner": "DeCoOp", "settings": {"detectors": 2, "detector_schedule": {"epochs": 1}, **FEW}},
)


@pytest.fixture(scope="session")
def animals(shapes, tmp_path_factory):
    """Another data set: three of the shapes under other names, one under its own."""
    root = tmp_path_factory.mktemp("animals")
    names = {"red circle": "ladybird", "green square": "frog", "blue circle": "whale", "red square": "red square"}
    for own, name in names.items():
        shutil.copytree(shapes / "test" / own, root / "test" / name)
    return root


@pytest.fixture(scope="session")
def drawings(shapes, tmp_path_factory):
    """A variant: half of the classes, four images of each."""
    root = tmp_path_factory.mktemp("drawings")
    for folder in sorted((shapes / "test").iterdir())[::2]:
        shutil.copytree(folder, root / "test" / folder.name, ignore=lambda *_: ["4.png"])
    return root


@pytest.fixture(scope="session")
def spec(shapes, animals, drawings):
    given = {
        "protocol": "dynamic",
        "learners": LEARNERS,
        "datasets": [{"dataset": str(shapes)}],
        "source": {"dataset": str(shapes)},
        "variants": [{"dataset": str(drawings)}],
        "others": [{"dataset": str(animals)}],
        "seeds": (1, 2),
        "shots": 2,
        "views": 1,
    }
    return read_spec(given, DynamicSpec)


@pytest.fixture(scope="session")
def records(spec, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dynamic")
    planned = EVALUATION.units(spec, Machine(cache=str(folder / "cache")))
    return execute(planned, RunStore(folder / "run"))


def test_zero_shot_is_the_baseline_of_every_run(spec):
    assert [one.label for one in spec.compared] == ["zero-shot", "CoOp", "DeCoOp"]
    mine = read_spec({"learners": [{"learner": "CoOp"}, {"learner": "zero-shot", "label": "CLIP"}]}, DynamicSpec)
    assert [one.label for one in mine.compared] == ["CoOp", "CLIP"]


def test_a_unit_per_kind_of_tuning_learner_and_seed(spec):
    planned = tasks(spec)
    assert [(task.scenarios, task.learner.label, task.seed) for task in planned] == [
        (scenarios, learner, seed)
        for scenarios in (SCENARIOS[:2], SCENARIOS[2:])
        for learner in ("zero-shot", "CoOp", "DeCoOp")
        for seed in (1, 2)
    ]
    assert len({task.name for task in planned}) == 12
    schedule = planned[2].learner.settings["schedule"]
    assert (schedule["epochs"], schedule["learning_rate"]) == (1, 2e-3)


def test_it_is_tuned_on_the_first_half_of_the_seeds_order(spec, records):
    names = tasks(spec)[0].image_sets["test"].load().classnames
    for task, record in zip(tasks(spec), records, strict=True):
        order = class_order(8, task.seed)
        trained = order[:4] if task.of_classes else order
        assert record.metrics["training_classnames"] == [names[one] for one in trained]
        assert set(task.image_sets["train"].load().labels) == set(trained.tolist())


def test_scenario_runs_by_hand(records):
    of_classes, against = records[0].metrics["courses"], records[-1].metrics["courses"]
    played = of_classes + against
    by_scenario = [(course["scenario"], [view["n_new_classes"] for view in course["views"]]) for course in played]
    assert by_scenario == [
        ("emerging-classes", [0, 1, 2, 2, 3, 4]),
        ("varying-ratio", [0, 1, 2, 2, 3, 4]),
        ("distribution-shift", [0] * 6),
        ("co-evolution", [0, 1, 2, 2, 3, 4]),
    ]
    assert [view["n_classes"] for view in of_classes[0]["views"]] == [4, 5, 6, 6, 7, 8]
    assert {view["n_classes"] for course in of_classes[1:] + against for view in course["views"]} == {4}
    assert {view["n_images"] for view in against[0]["views"]} == {16}  # four images of the four drawn classes
    assert against[1]["n_base_classes"] == 4 and "red square" in against[1]["classnames"]


def test_both_class_scenarios_begin_alike(records):
    for record in records[:6]:
        emerging, varying = record.metrics["courses"]
        assert emerging["views"][0] == varying["views"][0]
        starts = [[row.value for row in read_rows(record).where(scenario=name, level=0.0)] for name in SCENARIOS[:2]]
        assert starts[0] == starts[1] and len(starts[0]) == 4


def test_a_name_on_both_sides_is_taken_from_the_other(records):
    course = records[-1].metrics["courses"][1]
    names = [course["classnames"][one] for view in course["views"] for one in view["classes"]]
    assert "red square" in names
    assert all(course["classnames"].index("red square") not in view["classes"] for view in course["views"])


def test_numbers_follow_from_the_tables(records):
    for record in records:
        table, scores, rows = record.table("predictions"), record.table("scores"), read_rows(record)
        for number, course in enumerate(record.metrics["courses"]):
            place = {key: course[key] for key in PLACE if course[key]}
            for view in course["views"]:
                shown = (table["course"] == number) & (table["level"] == view["level"])
                right = table["prediction"][shown] == table["label"][shown]
                value = {
                    key: rows.value(record.metrics["learner"], key, **place, level=view["level"])
                    for key in ("accuracy", "base_accuracy", "new_accuracy", "auroc")
                }
                assert value["accuracy"].value == pytest.approx(right.mean()) and view["n_images"] == shown.sum()
                assert set(table["prediction"][shown]) <= set(view["classes"])
                new = view["n_new_images"] / view["n_images"]
                sides = [(1 - new) * (value["base_accuracy"].value or 0), new * (value["new_accuracy"].value or 0)]
                assert sum(sides) == pytest.approx(right.mean())
                scored = ((scores["course"] == number) & (scores["level"] == view["level"])).sum()
                both = 0 < view["n_new_classes"] < view["n_classes"]
                assert scored == (view["n_images"] if both else 0)
                assert (value["auroc"].value is None) != both
                assert both or "no " in value["auroc"].reason


def test_every_row_has_its_image(records, told_columns):
    """By course, part and id: a path below the folder of the part, and a class name."""
    for record in records:
        images, table = record.table("images"), record.table("predictions")
        assert set(images) | set(table) | set(record.table("scores")) <= told_columns
        keys = [tuple(row) for row in zip(*(images[name] for name in ("course", "part", "id")), strict=True)]
        named = dict(zip(keys, images["label_name"], strict=True))
        assert len(named) == len(keys)
        for course, part, number, label in zip(*(table[n] for n in ("course", "part", "id", "label")), strict=True):
            assert named[course, part, number] == record.metrics["courses"][course]["classnames"][label]
        folders = [path.split("/")[-2] for path in images["path"]]
        assert [one.casefold() for one in folders] == [one.casefold() for one in images["label_name"]]


def test_zero_shot_depends_on_the_seed_through_the_classes_alone(records):
    last = {"scenario": "emerging-classes", "level": 1.0}
    one, two = (read_rows(record).value("zero-shot", "accuracy", **last) for record in records[:2])
    assert one.value == two.value  # at the last level every class is in play


def test_a_run_goes_on_where_it_was(spec, records, tmp_path):
    machine = Machine(cache=str(tmp_path / "cache"))
    few = replace(spec, learners=spec.compared[:1], scenarios=("varying-ratio",), seeds=(1,))
    (first,) = execute(EVALUATION.units(few, machine), RunStore(tmp_path / "run"))
    both = replace(few, seeds=(1, 2))
    again, _ = execute(EVALUATION.units(both, machine), RunStore(tmp_path / "run"))
    assert again.unit.key == first.unit.key
    assert [course["scenario"] for course in first.metrics["courses"]] == ["varying-ratio"]
    assert first.metrics["courses"][0] == records[0].metrics["courses"][1]


def test_scenarios_that_are_left_out_decide_nothing(spec):
    machine = Machine()
    one = replace(spec, scenarios=("emerging-classes",), learners=spec.compared[:1], seeds=(1,))
    other = replace(one, variants=(), others=())
    assert [unit.key for unit in EVALUATION.units(one, machine)] == [
        unit.key for unit in EVALUATION.units(other, machine)
    ]


def test_everything_is_encoded_before_and_once(spec, tmp_path):
    machine, calls = Machine(cache=str(tmp_path / "cache")), []
    few = replace(spec, learners=spec.compared[:2])
    # Two shots of 4 classes and of all 8 for two seeds, 5 test images of 8, 4 of the variant's 4, 5 of the other's 4.
    shots = 2 * (2 * 4 + 2 * 8)
    assert encode_tasks(tasks(few), machine, lambda done, total: calls.append((done, total))) == shots + 40 + 16 + 20
    assert calls[-1] == (calls[-1][1],) * 2 and encode_tasks(tasks(few), machine) == 0
    assert len(EVALUATION.fingerprints(few)) == 2 * 2 + 3


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"scenarios": []}, "scenarios must be distinct, and at least one"),
        ({"scenarios": ["emerging"]}, "did you mean 'emerging-classes'"),
        ({"scenarios": ["co-evolution"], "others": []}, "co-evolution needs at least one entry under others"),
        ({"datasets": [{"dataset": "emoji-groups"}] * 2}, "datasets must be distinct"),
        ({"levels": [0.0, 1.0, 0.5]}, "strictly increasing"),
        ({"image_limit": 0}, "image_limit is 0"),
        ({"shift_limit": 0}, "shift_limit is 0"),
        ({"seeds": [1, 1]}, "seeds must be distinct"),
        ({"learners": [{"learner": "CoOp"}] * 2}, "labels of learners must be distinct"),
        ({"learners": [{"learner": "CoOp", "choose": {"context_length": [2, 4]}}]}, "settings under choose"),
        ({"views": 0}, "views is 0"),
    ],
)
def test_wrong_specs_are_refused(given, sentence):
    with pytest.raises(OpenworldError, match=sentence):
        read_spec({"learners": [{"learner": "CoOp"}], **given}, DynamicSpec)


def test_changed_images_are_noticed(spec, tmp_path):
    unit = EVALUATION.units(replace(spec, learners=spec.compared[:1], seeds=(1,)), Machine(cache=str(tmp_path)))[0]
    with pytest.raises(OpenworldError, match="test changed since"):
        EVALUATION(**unit.arguments, **unit.resources, inputs={**unit.inputs, "test": "other"})


def test_domains_left_out_are_the_first_of_the_data_set():
    spec = read_spec({"learners": [{"learner": "CoOp"}]}, DynamicSpec)
    assert {one.domain for one in (*spec.datasets, spec.source, *spec.others)} == {"twemoji"}
    assert np.isclose(spec.levels, [0, 0.2, 0.4, 0.6, 0.8, 1]).all() and spec.published == "openpl"


def test_the_example_asks_for_all_four_scenarios(repository):
    spec = read_protocol(repository / "examples" / "dynamic-embedded.toml")
    assert isinstance(spec, DynamicSpec) and spec.scenarios == SCENARIOS
    assert len(tasks(spec)) == 2 * len(spec.compared) * len(spec.seeds)
