"""The OOD benchmark: its units, what they record, numbers by group, tests over images and seeds, refusals."""

import sys
from pathlib import Path

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations.rows import read_rows
from openworld.ood.benchmark.evaluation import EVALUATION, summary
from openworld.ood.benchmark.report import results_of, units_of
from openworld.results import RunFolder

sys.path.insert(0, str(Path(__file__).parent))

from benchmark_runs import RECIPE, run, spec_of  # noqa: E402

MODELS = [
    {"architecture": "convnet", "recipe": RECIPE,
     "detectors": [{"detector": "MSP"}, {"detector": "KNN", "settings": {"k": 3}}, {"detector": "Energy"}]},
    {"backbone": "embedded", "detectors": [{"detector": "MCM"}, {"detector": "KNN", "settings": {"k": 2}}]},
    {"learner": "zero-shot", "label": "tuned", "backbone": "embedded",
     "detectors": [{"detector": "own score"}, {"detector": "MSP"}]},
]  # fmt: skip
SETS = {"inverted": "near", "foggy": "covariate", "dim": "full-spectrum", "noisy": "far"}


def spec(places, models=MODELS, **changed):
    inside, other = map(str, places)
    sets = [
        {"dataset": other, "part": "test", "group": "near", "name": "inverted"},
        {"dataset": inside, "part": "test", "corruption": "fog", "severity": 5, "group": "covariate", "name": "foggy"},
        {"dataset": inside, "part": "test", "corruption": "brightness", "severity": 1, "group": "full-spectrum",
         "name": "dim"},
        {"dataset": other, "part": "test", "corruption": "shot_noise", "severity": 5, "group": "far", "name": "noisy"},
    ]  # fmt: skip
    return spec_of(places, models, **{"validation_sets": [], "sets": sets, "seeds": [0, 1], **changed})


@pytest.fixture(scope="module")
def ran(places, tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmark")
    made = spec(places)
    return made, folder, run(made, folder)


def test_a_classifier_is_a_unit_for_every_seed_and_what_is_given_one(ran):
    made, _, records = ran
    assert [record.name for record in records] == ["convnet, seed 0", "convnet, seed 1", "embedded", "tuned"]
    assert [record.metrics["kind"] for record in records] == ["classifier", "classifier", "two-tower", "learner"]
    assert len(made.tasks) == 4 and "3 model(s)" in summary(made) and len(EVALUATION.data(made)) == 2
    scores = [np.array(record.table("images")["score KNN"]) for record in records[:2]]
    assert not np.array_equal(*scores)


def test_a_record_says_what_its_numbers_rest_on(ran):
    _, _, records = ran
    for record in records:
        known = record.metrics
        assert known["classes"] == 8 and known["training_images"] == 16
        table = record.table("images")
        names = table["set"].astype(str)
        assert {name: int((names == name).sum()) for name in ("test", *SETS)} == dict.fromkeys(("test", *SETS), 16)
        (right,) = read_rows(record).where(metric="accuracy")
        assert right.entity == known["model"] and 0 <= right.value.value <= 1
        (judged,) = record.unit.arguments["task"]["models"]
        assert [entry["label"] for entry in judged["detectors"]] == [
            name.removeprefix("score ") for name in table if name.startswith("score ")
        ]


def test_results_are_means_over_seeds_and_tests_are_over_seeds(ran):
    _, folder, records = ran
    ran_folder = RunFolder(folder / "run", "ood-benchmark", tuple(records))
    results, _ = results_of(units_of(ran_folder))
    units = [(unit.model, unit.facts["seed"]) for unit in units_of(ran_folder).units]
    assert units == [("convnet", 0), ("convnet", 1), ("embedded", 0), ("tuned", 0)]
    row = results.result("KNN of convnet", "auroc", group="near", set="inverted")
    each = [read_rows(record).result("KNN", "auroc", group="near", set="inverted") for record in records[:2]]
    assert row.per_seed == tuple(one.value.value for one in each)
    assert row.value.value == pytest.approx(np.mean(row.per_seed))
    lows = [one.value.over("images").low for one in each]
    assert row.value.over("images").low == pytest.approx(np.mean(lows)), "the same images: their errors go together"
    assert {test.interval.over for test in results.comparisons if test.interval} <= {"seeds"}
    assert results.comparisons


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"id_part": "train"}, "train_part and id_part are both 'train'"),
        ({"sets": []}, "names of sets"),
        ({"models": []}, "labels of models"),
        ({"models": [MODELS[1], MODELS[1]]}, "labels of models"),
        ({"seeds": [0, 0]}, "seeds"),
        ({"seeds": [-1]}, "seeds"),
        ({"models": [{"backbone": "embedded", "detectors": [{"detector": "ODIN"}]}]}, "ODIN needs"),
        ({"models": [{"backbone": "embedded", "detectors": [{"detector": "KMN"}]}]}, "did you mean"),
    ],
)
def test_what_cannot_work_is_refused_as_the_spec_is_read(places, changed, said):
    with pytest.raises(OpenworldError, match=said):
        spec(places, **changed)


def test_a_detector_that_wants_more_images_is_refused_before_anything_is_trained(places, tmp_path):
    models = [{"architecture": "convnet", "recipe": RECIPE, "detectors": [{"detector": "KNN", "settings": {"k": 17}}]}]
    with pytest.raises(OpenworldError, match="17 neighbour"):
        run(spec(places, models, seeds=[0]), tmp_path)


def test_every_image_that_a_page_of_a_unit_shows_is_kept(ran):
    for record in ran[2]:
        table = record.table("images")
        names = table["set"].astype(str)
        for number, name in enumerate(dict.fromkeys(names.tolist())):
            rows = np.flatnonzero(names == name)
            group = str(table["group"][rows[0]])
            if group not in ("id", "near", "far"):
                continue
            for column in (column for column in table if column.startswith("score ")):
                order = np.argsort((1 if group == "id" else -1) * table[column][rows], kind="stable")[:8]
                kept = {f"images/{number}/{place}.png" for place in order.tolist()}
                assert kept <= set(record.attachments)
