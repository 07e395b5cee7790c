"""The OOD benchmark: which images its sets show, its units and what they record, settings that are searched, refusals.

Numbers, tests and pages of small runs are in tests/golden.
"""

import numpy as np
import pytest
from PIL import Image, ImageOps

from openworld import OpenworldError
from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.rows import read_rows
from openworld.evaluations.running import RunOptions
from openworld.evaluations.runtime import Machine
from openworld.learners import load
from openworld.ood.benchmark.evaluation import EVALUATION, inputs, summary
from openworld.ood.benchmark.report import report, results_of, units_of
from openworld.ood.model_entries import JudgedSpec
from openworld.results import RunFolder
from openworld.runs import RunStore, execute, to_json

RECIPE = {"epochs": 1, "side": 16, "batch_size": 8}
GAMMAS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
KNN_OF = {"detector": "KNN", "choose": {"k": [1, 3, 9]}}
GEN_OF = {"detector": "GEN", "settings": {"largest": 3}}
CLASSIFIER, TOWER, LEARNER = MODELS = [
    {"architecture": "convnet", "recipe": RECIPE, "detectors": [{"detector": "MSP"}, KNN_OF, GEN_OF]},
    {"backbone": "embedded", "detectors": [KNN_OF, {"detector": "MCM"}]},
    {"learner": "zero-shot", "label": "tuned", "backbone": "embedded",
     "detectors": [{"detector": "own score"}, GEN_OF, {"detector": "MCM"}]},
]  # fmt: skip
COOP = {"learner": "CoOp", "backbone": "embedded", "settings": {"context_length": 2, "schedule": {"epochs": 1}},
        "views": 1, "shots": 1, "detectors": [{"detector": "own score"}, {"detector": "MSP"}]}  # fmt: skip


@pytest.fixture(scope="module")
def places(few_shapes, tmp_path_factory):
    """Two folders of the same shapes: in distribution; and others, negatives of them, by other names."""
    other = tmp_path_factory.mktemp("others")
    for file in few_shapes.glob("*/*/*.png"):
        target = other / file.relative_to(few_shapes)
        target.parent.mkdir(parents=True, exist_ok=True)
        ImageOps.invert(Image.open(file, formats=("PNG",)).convert("RGB")).save(target)
    return few_shapes, other


def spec_of(places, models, **changed):
    inside, other = map(str, places)
    fog = {"corruption": "fog", "severity": 5, "group": "covariate"}
    usual = {
        "protocol": "ood-benchmark",
        "sources": [{"dataset": inside}],
        "sets": [{"dataset": other, "group": "near", "name": "inverted"}, {"dataset": inside, "name": "foggy"} | fog],
        "validation_sets": [{"dataset": other, "part": "validation"}],
        "seeds": [0],
        "shots": None,
        "replicates": 0,
        "models": models,
    }
    return read_protocol(usual | changed)


def run(spec, folder, cache=None):
    machine = Machine(cache=str(cache or folder / "cache"))
    work(spec, machine, folder)
    evaluation_of(spec).require(spec.tasks, machine)
    return execute(EVALUATION.units(spec, machine), RunStore(folder / "run"))


def work(spec, machine, folder):
    """How much every stage had to do."""
    stages = evaluation_of(spec).artifacts(spec, machine)
    return {stage.doing: stage.work(RunOptions(folder, workers=1), None) for stage in stages}


def run_folder(folder, records):
    return RunFolder(folder / "run", "ood-benchmark", tuple(records))


@pytest.fixture(scope="module")
def ran(places, tmp_path_factory):
    folder = tmp_path_factory.mktemp("searched")
    spec = spec_of(places, [*MODELS, COOP], seeds=[0, 1])
    return spec, folder, run(spec, folder)


def test_a_classifier_is_a_unit_for_every_seed_and_records_say_what_numbers_rest_on(ran):
    spec, _, records = ran
    names = ["convnet, seed 0", "convnet, seed 1", "embedded", "tuned", "CoOp, seed 0", "CoOp, seed 1"]
    kinds = ["classifier", "classifier", "two-tower", "learner", "learner", "learner"]
    assert [(record.name, record.metrics["kind"]) for record in records] == list(zip(names, kinds, strict=True))
    assert "4 model(s)" in summary(spec) and "settings searched on" in " ".join(summary(spec))
    scores = [np.array(record.table("images")["score KNN"]) for record in records[:2]]
    assert not np.array_equal(*scores)
    for record in records:
        assert record.metrics["classes"] == 8 and record.metrics["training_images"] == 16
        table = record.table("images")
        names, columns = table["set"].astype(str), [name for name in table if name.startswith("score ")]
        assert {name: int((names == name).sum()) for name in names} == dict.fromkeys(("test", "inverted", "foggy"), 16)
        (right,) = read_rows(record).where(metric="accuracy")
        assert right.entity == record.metrics["model"] and 0 <= right.value.value <= 1
        (judged,) = record.unit.arguments["task"]["models"]
        assert [f"score {entry['label']}" for entry in judged["detectors"]] == columns
        for number, (name, sign) in enumerate({"test": 1, "inverted": -1}.items()):  # images that a page shows
            rows = np.flatnonzero(names == name)
            worst = {place for column in columns for place in np.argsort(sign * table[column][rows], kind="stable")[:8]}
            assert {f"images/{number}/{place}.png" for place in worst} <= set(record.attachments)


def test_results_are_means_over_seeds_and_tests_are_over_seeds(ran):
    _, folder, records = ran
    results, _ = results_of(units_of(run_folder(folder, records)))
    row = results.result("KNN of convnet", "auroc", group="near", set="inverted")
    each = [read_rows(record).result("KNN", "auroc", group="near", set="inverted") for record in records[:2]]
    assert row.per_seed == tuple(one.value.value for one in each)
    assert row.value.value == pytest.approx(np.mean(row.per_seed))
    lows = [one.value.over("images").low for one in each]
    assert row.value.over("images").low == pytest.approx(np.mean(lows)), "the same images: their errors go together"
    assert results.comparisons
    assert {test.interval.over for test in results.comparisons if test.interval} <= {"seeds"}


def test_the_choice_and_test_scores_are_those_of_running_every_setting_as_a_detector_of_its_own(ran, places, tmp_path):
    """A run without a search, whose tested set is the validation set, says what each setting is worth there."""
    spec, folder, (first, _, tower, learner, *_) = ran  # and its cache, so that no network is trained again
    neighbours, temperatures = _each("KNN", "k", (1, 3, 9)), _each("MCM", "temperature", (0.01, 1.0, 10.0))
    gammas = _each("GEN", "gamma", GAMMAS, largest=3)
    each = ((CLASSIFIER, [*neighbours, *gammas]), (TOWER, [*neighbours, *temperatures]),
            (LEARNER, [*gammas, *temperatures]))  # fmt: skip
    by_hand = [model | {"detectors": detectors} for model, detectors in each]
    validation = {"dataset": str(places[1]), "part": "validation", "group": "near", "name": "validation"}
    plain, cache = {"validation_sets": [], "sets": [validation]}, folder / "cache"
    worth = run(spec_of(places, by_hand, id_part="validation", **plain), tmp_path / "worth", cache)
    plain |= {"sets": to_json(spec)["sets"]}
    tested = run(spec_of(places, by_hand, **plain), tmp_path / "tested", cache)
    for record, known, shown in zip((first, tower, learner), worth, tested, strict=True):
        areas = {row.entity: row.value.value for row in read_rows(known).where(metric="auroc", set="validation")}
        searches = _searches(read_rows(record))
        assert searches
        for detector, rows in searches.items():
            labels = [_label(detector, float(row.where["settings"].split()[-1])) for row in rows]
            assert [row.value.value for row in rows] == pytest.approx([areas[label] for label in labels])
            (chosen,) = (place for place, row in enumerate(rows) if row.where["chosen"] == "yes")
            assert chosen == int(np.argmax([areas[label] for label in labels]))
            own = record.table("images")[f"score {detector}"]
            assert np.allclose(own, shown.table("images")[f"score {labels[chosen]}"], atol=1e-6)


def _searches(results):
    """{detector: rows of the settings that were tried}."""
    searches = {}
    for row in results.where(metric="validation_auroc"):
        searches.setdefault(row.entity, []).append(row)
    return searches


def _each(detector, name, values, **fixed):
    entries = {_label(detector, value): {name: value, **fixed} for value in values}
    return [{"detector": detector, "label": label, "settings": settings} for label, settings in entries.items()]


def _label(detector, value):
    return f"{detector} {value:g}"


def test_the_choice_is_shown_on_the_page(ran):
    _, folder, records = ran
    searched = run_folder(folder, (records[0], *records[2:4]))
    searches = _searches(results_of(units_of(searched))[0])
    assert list(map(len, searches.values())) == [3, 7, 3, 3, 7, 3]
    chosen = {(name, row.where["settings"]) for name, rows in searches.items() for row in rows
              if row.where["chosen"] == "yes"}  # fmt: skip
    labels = {row.label.removesuffix(" (the default)") for row in report(searched).terminal_tables[1].rows}
    assert labels == {f"{name}, {settings}" for name, settings in chosen}


def test_inputs_without_a_search_say_nothing_of_one(places):
    (searching,) = spec_of(places, [TOWER]).tasks
    (plain,) = spec_of(places, [{"backbone": "embedded"}], validation_sets=[]).tasks
    searched, unsearched = ([name for name in inputs(task, Machine()) if "validation" in name]
                            for task in (searching, plain))  # fmt: skip
    assert len(searched) == 2 and not unsearched


def test_a_learner_is_trained_once_for_every_seed_and_again_where_it_is_damaged(ran):
    spec, folder, records = ran
    machine = Machine(cache=str(folder / "cache"))
    assert not any(work(spec, machine, folder).values())
    training = spec.tasks[-2].learner
    file = folder / "cache" / training.key / "parameters.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert work(spec, machine, folder)["tuning"] == 4 * 2 and file.read_bytes() == whole
    scores, others = (np.array(record.table("images")["score own score"]) for record in records[-2:])
    assert not np.array_equal(scores, others)
    facts = records[-2].metrics["learner"]
    assert (facts["learner"], facts["seed"], facts["images"], facts["views"], facts["epochs"]) == ("CoOp", 0, 8, 1, 1)
    assert facts["settings"]["context_length"] == 2


def test_a_saved_learner_answers_as_the_one_that_was_saved(ran, places, tmp_path):
    spec, folder, records = ran
    machine = Machine(cache=str(folder / "cache"))
    for seed, task in enumerate(spec.tasks[-2:]):
        fitted = task.learner.load(machine)
        fitted.save(tmp_path / f"tuned-{seed}" / "attachments" / "learner")
    entry = {"learner": str(tmp_path / "tuned-{seed}"), "backbone": "embedded", "label": "mine"}
    saved = spec_of(places, [entry | {"detectors": COOP["detectors"]}], seeds=[0, 1])
    assert "tuning" not in work(saved, machine, folder)
    found = run(saved, tmp_path, folder / "cache")
    assert [record.name for record in found] == ["mine, seed 0", "mine, seed 1"]
    for one, other in zip(found, records[-2:], strict=True):
        assert read_rows(one).where(metric="auroc").rows == read_rows(other).where(metric="auroc").rows
    assert load(tmp_path / "tuned-0" / "attachments" / "learner", fitted.clip).classnames == fitted.classnames
    single = JudgedSpec(learner=str(tmp_path / "tuned-0"))
    assert (single.backbone, single.has_seeds, single.kind) == ("embedded", False, "learner")
    other = spec_of(places, [{"learner": str(tmp_path / "tuned-0")}], classes="base")
    with pytest.raises(OpenworldError, match="trained on other class names"):
        EVALUATION.require(other.tasks, machine)


def models(**detector):
    return {"models": [{"backbone": "embedded", "detectors": [detector]}]}


def validated(place, **changed):
    return lambda places: {"validation_sets": [{"dataset": str(places[place]), "part": "test", **changed}]}


FOG = {"corruption": "fog", "severity": 1}
REFUSED = [
    ({"id_part": "train"}, "train_part and id_part are both 'train'"),
    ({"sets": []}, "names of sets"),
    ({"models": []}, "labels of models"),
    ({"models": [TOWER, TOWER]}, "labels of models"),
    ({"seeds": [0, 0]}, "seeds"),
    ({"seeds": [-1]}, "seeds"),
    (models(detector="ODIN"), "ODIN needs"),
    (models(detector="KMN"), "did you mean"),
    (models(detector="KNN", choose={"k": []}), "choose.k lists no candidate"),
    (models(detector="KNN", choose={"k": [0, 1]}), "k is 0"),
    (models(detector="KNN", choose={"neighbours": [1]}), "neighbours"),
    ({"validation_part": "test"}, "validation_part is 'test', which is tested"),
    ({"validation_part": "train"}, "validation_part is 'train', which is learned from"),
    ({"validation_sets": []}, "KNN has candidates to choose from, but there are no validation_sets"),
    (validated(1), r"is searched on and tested \(inverted\)"),
    (validated(0, **FOG), r"is searched on and tested \(in distribution\)"),
]


@pytest.mark.parametrize(("changed", "said"), REFUSED)
def test_what_cannot_work_is_refused_as_the_spec_is_read(places, changed, said):
    with pytest.raises(OpenworldError, match=said):
        changed = changed(places) if callable(changed) else changed
        spec_of(places, **{"models": [TOWER]} | changed)


@pytest.mark.parametrize("choice", [{"settings": {"k": 500}}, {"choose": {"k": [500, 600]}}])
def test_a_detector_that_wants_more_images_is_refused_before_anything_is_trained(places, choice):
    with pytest.raises(OpenworldError, match="500 neighbour"):
        EVALUATION.require(spec_of(places, **models(detector="KNN", **choice)).tasks, Machine())


def names_of(task):
    return [set(images.image_set.classnames) for images in task.others]


def test_a_data_set_that_is_in_distribution_shows_the_classes_that_a_group_means(repository):
    spec = read_protocol(repository / "examples" / "ood-benchmark-embedded.toml")
    sets = tuple(each for each in spec.sets if each.dataset == "emoji-concepts")
    (task, *_) = type(spec)(spec.sources, sets, spec.models[1:2], classes="base", seeds=(1,)).tasks
    other, *same = names_of(task)
    inside = set(task.ground.names)
    assert len(inside) == 50 and not other & inside and len(other) == 50
    assert [each.group for each in sets] == ["near", "covariate", "covariate", "covariate"]
    assert all(names == inside for names in same)
    (task, *_) = type(spec)(spec.sources, spec.sets[:1], spec.models[1:2], classes="all", seeds=(1,)).tasks
    with pytest.raises(OpenworldError, match="only classes that are in distribution, and its group is near"):
        names_of(task)


def test_a_flat_folder_is_a_set(places, tmp_path):
    for number in range(3):
        Image.new("RGB", (32, 32), (80 * number, 0, 0)).save(tmp_path / f"{number}.png")
    sets = [{"dataset": str(tmp_path), "group": "far", "name": "flat"}]
    (task,) = spec_of(places, [{"backbone": "embedded"}], sets=sets, validation_sets=[]).tasks
    (images,) = [images.image_set for images in task.others]
    assert len(images) == 3 and images.classnames == (tmp_path.name.replace("_", " "),)


def test_names_far_away_and_order_in_units_of_a_model_and_a_learner(places, tmp_path):
    (tmp_path / "words.txt").write_text("\n".join(f"noun {place}" for place in range(40)))
    listed = [{"detector": name, "settings": {"groups": 2}} for name in ("NegLabel", "AdaNeg")]
    common = {"backbone": "embedded", "negatives": str(tmp_path / "words.txt"), "detectors": listed}
    tuned = {"learner": "CoOp", "views": 1, "settings": {"context_length": 2, "schedule": {"epochs": 1}}}
    records = run(spec_of(places, [common, common | tuned], validation_sets=[]), tmp_path)
    for record in records:
        table = record.table("images")
        assert {"score NegLabel", "score AdaNeg"} <= set(table)
        streams = [name for name in table if name.startswith("stream AdaNeg")]
        assert len(streams) == 2 and not [name for name in table if name.startswith("stream NegLabel")]
        assert any("AdaNeg remembers" in warning for warning in record.metrics["warnings"])
    _, sets = results_of(units_of(run_folder(tmp_path, records)))
    assert set(sets.sequential) == {"AdaNeg of embedded", "AdaNeg of CoOp"}
