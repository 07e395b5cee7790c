"""Accuracy estimation: a judged model followed by hand, partners, conditions, resuming, and bad specs."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from openworld import OpenworldError, classifiers
from openworld.datasets.corruptions import CORRUPTIONS
from openworld.estimators import ESTIMATORS
from openworld.evaluations import AccuracyEstimationSpec, evaluation_of, read_protocol
from openworld.evaluations.rows import ROWS, read_rows
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.label_free.benchmark import spec as run_spec
from openworld.label_free.benchmark.evaluation import EVALUATION, summary, tasks
from openworld.runs import RunStore, execute

sys.path.append(str(Path(__file__).parent))
from by_colour import SCALE, network  # noqa: E402

# (red, green) of every image, in levels; the greater names it.
SOURCE = {"green": [(0, 51), (0, 102), (0, 153), (51, 0)], "red": [(51, 0), (102, 0), (153, 0), (204, 0)]}
TARGET = {"green": [(0, 51), (0, 204), (102, 0), (0, 255)], "red": [(51, 0), (204, 0), (0, 51), (0, 102)]}


def plant(root, part, images):
    for name, levels in images.items():
        folder = root / part / name
        folder.mkdir(parents=True)
        for number, (red, green) in enumerate(levels):
            Image.new("RGB", (16, 16), (red, green, 0)).save(folder / f"{number}.png")


@pytest.fixture(scope="module")
def colours(tmp_path_factory):
    """A source, a target, and the network by colour saved under two seeds."""
    root = tmp_path_factory.mktemp("colours")
    for part in ("train", "validation"):
        plant(root / "home", part, SOURCE)
    plant(root / "home", "test", SOURCE)
    plant(root / "away", "test", TARGET)
    preprocess = classifiers.Preprocess(16, 16, "squash", (0.0,) * 3, (1.0,) * 3)
    for seed, scale in ((0, SCALE), (1, -SCALE)):  # the second one is wrong wherever the first is right
        module = network(2)
        module.scale.data.fill_(scale)
        classifiers.save(
            classifiers.Classifier(module, ("green", "red"), preprocess, "by_colour:network"),
            root / "saved" / str(seed) / "3",
        )
    return root


def given(root, **changed):
    return {
        "protocol": "accuracy-estimation",
        "sources": [{"dataset": str(root / "home")}],
        "targets": [{"dataset": str(root / "away"), "row": "away", "name": "away"}],
        "models": [
            {
                "architecture": "by_colour:network",
                "weights": f"{root}/saved/{{seed}}/{{epoch}}",
                "label": "by colour",
                "checkpoints": [3],
            }
        ],
        "references": [{"name": "uniform"}, {"name": "dirichlet"}],
        "estimators": [{"estimator": name, "settings": settings} for name, settings in BY_HAND.items()],
        "seeds": [0, 1],
    } | changed


BY_HAND = {"ATC-MC": {}, "GDE": {}, "DoC": {"calibrate": False}, "AC": {"calibrate": False}, "FRAP": {}}


def prepare(spec, folder, cache, **options):
    stages = evaluation_of(spec).artifacts(spec, Machine(cache=str(cache), **options))
    return [stage.work(RunOptions(folder, workers=1), None) for stage in stages]


def run(spec, folder, cache, **options):
    made = prepare(spec, folder, cache, **options)
    return made, execute(EVALUATION.units(spec, Machine(cache=str(cache), **options)), RunStore(folder))


@pytest.fixture(scope="module")
def by_hand(colours, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return run(read_protocol(given(colours)), folder, folder / "cache")


def confidence(level):
    return 1 / (1 + np.exp(-SCALE * level / 255))


def test_a_judged_model_by_hand(by_hand):
    made, (record, other) = by_hand
    assert made == [0, 16]  # nothing to train; eight images of the source and eight of the target
    assert record.name == "by colour, seed 0, epoch 3"
    metrics, rows = record.metrics, read_rows(record)
    assert (metrics["source_images"], metrics["source_mistakes"]) == (8, 1)
    assert rows.value("", "source_accuracy").value == 7 / 8 and rows.value("", "images").value == 8
    truth = rows.result("", "true_accuracy")
    assert (truth.value.value, truth.where["images"], truth.where["kind"]) == (5 / 8, "away", "natural")
    errors = {row.entity: 1 - row.value.value for row in rows.where(metric="estimated_accuracy")}
    # Source: levels 51 51 51 102 102 153 153 204, one mistake at 51: the lowest two tie, so that none lies below.
    assert errors["ATC-MC"] == 0.0
    assert errors["GDE"] == 1.0  # its partner says the opposite of every image
    here = np.mean([confidence(level) for level in (51, 51, 51, 102, 102, 153, 153, 204)])
    there = np.mean([confidence(level) for level in (51, 204, 102, 255, 51, 204, 51, 102)])
    assert errors["AC"] == pytest.approx(1 - there, abs=1e-6)
    assert errors["DoC"] == pytest.approx(1 / 8 + here - there, abs=1e-6)
    assert read_rows(other).value("", "true_accuracy").value == 3 / 8


def test_the_table_says_which_image_a_row_is_of(by_hand, colours, told_columns):
    record = by_hand[1][0]
    table = record.table("images")
    assert set(table) <= told_columns
    assert table["id"].tolist() == list(range(8)) and set(table["target"]) == {0}
    assert table["prediction"].tolist() == [0, 0, 1, 0, 1, 1, 0, 0]
    right = (table["prediction"] == table["label"]).mean()
    assert right == read_rows(record).value("", "true_accuracy").value
    for path, name in zip(table["path"], table["label_name"], strict=True):
        assert (colours / "away" / path).is_file() and path.split("/")[-2] == name
    assert table["prediction_name"].tolist() == [("green", "red")[one] for one in table["prediction"]]


@pytest.fixture(scope="module")
def with_a_reference(colours, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    kept = {"name": "its twin", "classifier": f"{colours}/saved/0/3", "architecture": "by_colour:network"}
    spec = given(colours, references=[kept], estimators=[{"estimator": "FRAP"}])
    return run(read_protocol(spec), folder, folder / "cache")[1]


def calibration_error(confidences, right):
    """Expected calibration error over 15 bins of equal width, bin by bin."""
    bins = np.minimum(np.ceil(15 * np.asarray(confidences)).astype(int) - 1, 14)
    shares = [
        (bins == place).mean() * abs(right[bins == place].mean() - confidences[bins == place].mean())
        for place in np.unique(bins)
    ]
    return sum(shares)


def test_calibration_errors_of_a_reference_at_fixed_temperatures_by_hand(with_a_reference):
    levels = np.array([51, 204, 102, 255, 51, 204, 51, 102])
    right = np.array([True, True, False, True, True, True, False, False])
    rows = read_rows(with_a_reference[0]).where(entity="its twin")
    ttc = rows.value("its twin", "temperature").value
    for kind, tau in {"unscaled": 1, "τ = 0.1": 0.1, "τ = 0.05": 0.05, "τ = 0.01": 0.01, "TTC": ttc}.items():
        confidences = 1 / (1 + np.exp(-SCALE * levels / 255 / tau))
        error = rows.value("its twin", "expected_calibration_error", calibration=kind).value
        assert error == pytest.approx(calibration_error(confidences, right), abs=1e-6), kind


def test_the_first_unit_keeps_what_references_say_of_images_that_they_name_right(with_a_reference):
    first, second = with_a_reference
    examples, tau = first.metrics["examples"], read_rows(first).value("its twin", "temperature").value
    assert [(one["id"], one["label"], one["classes"]) for one in examples] == [
        (0, "green", ["green", "red"]),
        (4, "red", ["red", "green"]),
    ]
    for one in examples:
        for scale, temperature in {"raw": 1.0, "own": 1.0, "calibrated": tau}.items():
            likeliest = 1 / (1 + np.exp(-SCALE * 51 / 255 / temperature))
            assert one[scale] == pytest.approx([likeliest, 1 - likeliest], abs=1e-6)
        assert f"examples/{one['id']}.png" in first.attachments
    assert not second.metrics["examples"] and second.attachments == (ROWS,)


def test_an_uninformative_reference_is_said_to_be_one(by_hand):
    record = by_hand[1][0]
    assert any("uninformative" in warning for warning in record.metrics["notes"]["away"]["FRAP"]["warnings"])
    rows = read_rows(record)
    assert rows.where(metric="expected_calibration_error", condition="away").entities == ("classifiers",)
    assert not len(rows.where(metric="semantic_alignment"))
    assert "no taxonomy" in by_hand[1][0].metrics["taxonomy"]["reason"]


def test_a_record_says_what_ran(by_hand):
    metrics = by_hand[1][0].metrics
    assert metrics["architecture"] == "by_colour:network" and metrics["checkpoint"] == 0 and metrics["epoch"] == 3
    assert metrics["references"] == ["uniform", "dirichlet"] and metrics["classes"] == 2
    frap = metrics["estimators"][-1]
    assert frap["reference"] == "uniform" and frap["settings"]["tau"] == "dynamic"
    assert metrics["estimators"][0]["reference"] is None
    seconds = by_hand[1][0].timing["seconds"]
    assert set(seconds["fit"]) == set(seconds["estimate"]) == set(BY_HAND)
    shown = [name for name in by_hand[1][0].attachments if name.startswith("images/0/")]
    assert len(shown) == 2 and by_hand[1][1].attachments == (ROWS,)


@pytest.fixture(scope="module")
def trained(shapes):
    """Two small networks, two checkpoints, two seeds; a natural shift and four corrupted conditions."""
    model = {"checkpoints": [1, 2], "recipe": {"epochs": 2, "side": 28, "batch_size": 24}}
    return {
        "protocol": "accuracy-estimation",
        "sources": [{"dataset": str(shapes)}],
        "shots": 4,
        "targets": [{"dataset": str(shapes), "row": "shapes", "name": "shapes", "corrupted_row": "shapes, corrupted"}],
        "corruptions": ["fog", "contrast"],
        "severities": [1, 5],
        "images": 16,
        "seeds": [0, 1],
        "references": [{"name": "uniform"}],
        "models": [{"architecture": "convnet", **model}, {"architecture": "resnet-8", **model}],
    }


def test_partners_own_seeds_first_then_other_models_at_the_same_place(trained):
    planned = tasks(read_protocol(trained | {"seeds": [0, 1, 10]}))
    assert [task.name for task in planned][:3] == [f"convnet, seed {s}, epoch {e}" for s, e in ((0, 1), (0, 2), (1, 1))]
    task = next(one for one in planned if (one.model, one.seed, one.checkpoint) == (0, 1, 1))
    partners = [(one.label, one.seed, one.epoch) for one in task.partners]
    own = [("convnet", 10, 2), ("convnet", 0, 2)]
    assert partners == [*own, ("resnet-8", 1, 2), ("resnet-8", 10, 2), ("resnet-8", 0, 2)]
    # A model with fewer checkpoints takes part with its last.
    first, second = trained["models"]
    planned = tasks(read_protocol(trained | {"models": [first, second | {"checkpoints": [2]}], "seeds": [4]}))
    assert [[one.epoch for one in task.partners] for task in planned] == [[2], [2], [1]]
    assert [task.is_first for task in planned] == [True, False, False]


def test_conditions_in_order(trained):
    spec = read_protocol(trained)
    assert isinstance(spec, AccuracyEstimationSpec)
    conditions = spec.conditions
    assert [one.name for one in conditions][:3] == ["shapes", "fog 1", "fog 5"]
    assert [one.row for one in conditions] == ["shapes"] + ["synthetic"] * 4 + ["shapes, corrupted"] * 4
    assert conditions[5].name == "shapes fog 1"
    assert len({one.images.load().fingerprint for one in conditions[1:5]}) == 4
    assert all(len(one.images.load()) == 16 for one in conditions)
    assert summary(spec)[0].endswith("1 natural and 8 synthetic conditions")
    assert set(EVALUATION.fingerprints(spec)) == {"training", "source", *(one.name for one in conditions)}


@pytest.fixture
def few_corruptions(monkeypatch):
    """Scores are fitted on four corruptions instead of nineteen."""
    few = {name: CORRUPTIONS[name] for name in ("fog", "contrast", "brightness", "pixelate")}
    monkeypatch.setattr(run_spec, "CORRUPTIONS", few)


def test_a_run_trains_looks_and_estimates_once(trained, few_corruptions, tmp_path):
    model = {"architecture": "convnet", "recipe": {"epochs": 1, "side": 28, "batch_size": 24}}
    small = trained | {"models": [model], "seeds": [0, 1, 2], "corruptions": ["fog"], "severities": [5]}
    spec, folder = read_protocol(small), tmp_path / "run"
    made, records = run(spec, folder, tmp_path / "cache")
    # The corrupted target is the corrupted source and looked at once; four corruptions of the source are for scores.
    assert made == [3, 16 + 16 + 16 + 4 * 16]
    assert len(records) == 3 and {path.name for path in folder.glob(".*")} == {".locks", ".writing"}
    metrics, rows = records[0].metrics, read_rows(records[0])
    estimates = {row.entity: row.value.value for row in rows.where(metric="estimated_accuracy", condition="fog 5")}
    assert set(estimates) == set(ESTIMATORS)
    known = {name: value for name, value in estimates.items() if value is not None}
    assert set(ESTIMATORS) - set(known) <= {"two-views"}  # a reference that knows nothing of the source tells nothing
    assert all(0 <= value <= 1 for value in known.values())
    assert len(metrics["training"]["history"]) == 1
    # A score has seen nothing of the corruption that it is asked about.
    sets = [metrics["notes"][each["name"]]["MDE"]["details"]["sets"] for each in metrics["conditions"]]
    assert sets == [4, 3, 3]
    assert prepare(spec, folder, tmp_path / "cache") == [0, 0]
    assert prepare(read_protocol(small | {"severities": [4, 5]}), folder, tmp_path / "cache") == [0, 16]


def test_changed_images_and_an_emptied_cache_stop_a_planned_unit(colours, tmp_path):
    unit = EVALUATION.units(read_protocol(given(colours)), Machine(cache=str(tmp_path)))[0]
    with pytest.raises(OpenworldError, match="gone from the cache; start the run again"):
        unit.run()
    changed = dict(unit.inputs) | {"source images": "others"}
    with pytest.raises(OpenworldError, match="source images changed since this run was planned"):
        EVALUATION(unit.arguments["task"], unit.resources["machine"], changed)


def test_damaged_answers_are_refused_by_a_unit_and_made_again_by_the_stage(colours, tmp_path):
    spec, folder, cache = read_protocol(given(colours)), tmp_path / "run", tmp_path / "cache"
    prepare(spec, folder, cache)
    damaged = sorted(cache.rglob("answers-*.safetensors"))[0]
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(OpenworldError, match="damaged in the cache; start the run again"):
        [unit.run() for unit in EVALUATION.units(spec, Machine(cache=str(cache)))]
    assert prepare(spec, folder, cache) == [0, 8]
    assert damaged.read_bytes() == whole


def test_an_unreadable_image_stops_or_is_left_out(colours, tmp_path):
    root = shutil.copytree(colours, tmp_path / "colours")
    (root / "away" / "test" / "red" / "3.png").write_bytes(b"no image")
    spec, folder = read_protocol(given(root)), tmp_path / "run"
    with pytest.raises(OpenworldError, match=r"condition 1: away.*3\.png"):
        run(spec, folder, tmp_path / "cache")
    record = run(spec, folder, tmp_path / "cache", allow_corrupt=1)[1][0]
    assert read_rows(record).value("", "images").value == 7 and record.table("images")["id"].max() == 6


BAD = {
    "there is no condition": {"targets": []},
    "labels of models must be distinct, and at least one": {"models": []},
    "seeds must be distinct": {"seeds": [0, 0]},
    "unknown corruption 'fogg'.*'fog'": {"corruptions": ["fogg"]},
    "severities are": {"severities": [0], "corruptions": ["fog"]},
    "neither|an architecture, to be trained": {"models": [{"label": "nothing"}]},
    "stand beside its recipe": {"models": [{"architecture": "convnet", "recipe": {"checkpoints": [1]}}]},
    "checkpoints are": {"models": [{"architecture": "convnet", "checkpoints": [5], "recipe": {"epochs": 2}}]},
    "leave the recipe out": {"models": [{"weights": "mine/{seed}", "recipe": {"epochs": 2}}]},
    "such as checkpoints = ": {"models": [{"weights": "mine/{seed}/{epoch}"}]},
    "one classifier for 2 checkpoints": {"models": [{"weights": "mine/{seed}", "checkpoints": [1, 2]}]},
    "one classifier for the seeds 0, 1": {"models": [{"weights": "mine"}]},
    "an architecture and no classifier": {"references": [{"name": "CLIP", "architecture": "convnet"}]},
    "unknown key 'epoch'": {"models": [{"architecture": "convnet", "recipe": {"epoch": 2}}]},
    "needs a reference": {"references": [], "estimators": [{"estimator": "FRAP"}]},
    "unknown reference 'clip'": {"estimators": [{"estimator": "FRAP", "reference": "clip"}]},
    "needs partners": {"seeds": [0], "estimators": [{"estimator": "GDE"}]},
    "ALine-S needs partners": {"seeds": [0, 1], "estimators": [{"estimator": "ALine-S"}]},
    "unknown estimator 'ATC'": {"estimators": [{"estimator": "ATC"}]},
    "unknown key 'tauu'": {"estimators": [{"estimator": "FRAP", "settings": {"tauu": 1.0}}]},
    "labels of estimators must be distinct": {"estimators": [{"estimator": "AC"}, {"estimator": "AC"}]},
    "give one of them": {"references": [{"name": "CLIP"}]},
    "templates is 'all'": {"references": [{"name": "CLIP", "backbone": "embedded", "templates": "all"}]},
    "give shots = 0": {"held_out": 2},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_specs_are_refused(colours, message):
    with pytest.raises(OpenworldError, match=message):
        read_protocol(given(colours) | BAD[message])


def test_estimators_that_cannot_be_had_are_left_out_where_none_is_asked_for(colours):
    alone = {"architecture": "by_colour:network", "weights": f"{colours}/saved/0/3", "label": "by colour"}
    spec = read_protocol(given(colours, models=[alone], seeds=[0], estimators=[], references=[]))
    assert {"GDE", "ALine-S", "ALine-D", "FRAP", "RAP", "two-views"} == set(spec.left_out)
    assert [one.label for one in spec.estimators] == [name for name in ESTIMATORS if name not in spec.left_out]
    assert not replace(spec, estimators=spec.estimators[:2]).left_out


def test_other_classes_are_refused(colours, shapes, tmp_path):
    spec = read_protocol(given(colours, targets=[{"dataset": str(shapes)}]))
    with pytest.raises(OpenworldError, match=r"8 class\(es\) that are not among the 2 of the model"):
        EVALUATION.units(spec, Machine(cache=str(tmp_path)))
