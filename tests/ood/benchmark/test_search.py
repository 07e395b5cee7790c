"""Settings searched on validation sets by a spec: of classifiers, two-tower models and learners; recorded and shown."""

import sys
from pathlib import Path

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.ood.benchmark.evaluation import EVALUATION, inputs, summary
from openworld.ood.benchmark.report import report, results_of, units_of
from openworld.results import RunFolder
from openworld.runs import to_json

sys.path.insert(0, str(Path(__file__).parent))

from benchmark_runs import RECIPE, run, spec_of  # noqa: E402

GAMMAS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


KNN_OF = {"detector": "KNN", "choose": {"k": [1, 3, 9]}}
GEN_OF = {"detector": "GEN", "settings": {"largest": 3}}
MODELS = [
    {"architecture": "convnet", "recipe": RECIPE, "detectors": [{"detector": "MSP"}, KNN_OF, GEN_OF]},
    {"backbone": "embedded", "detectors": [KNN_OF, {"detector": "MCM"}]},
    {"learner": "zero-shot", "label": "tuned", "backbone": "embedded",
     "detectors": [{"detector": "own score"}, GEN_OF, {"detector": "MCM"}]},
]  # fmt: skip


@pytest.fixture(scope="module")
def searched(places, tmp_path_factory):
    folder = tmp_path_factory.mktemp("searched")
    spec = spec_of(places, MODELS)
    return spec, folder, run(spec, folder)


def test_the_choice_and_test_scores_are_those_of_running_every_setting_as_a_detector_of_its_own(
    searched, places, tmp_path
):
    """A run without a search, whose tested set is the validation set, says what each setting is worth there."""
    _, folder, records = searched  # and its cache, so that no network is trained again
    by_hand = [
        {**MODELS[0], "detectors": [*_each("KNN", "k", (1, 3, 9)), *_each("GEN", "gamma", GAMMAS, largest=3)]},
        {**MODELS[1], "detectors": [*_each("KNN", "k", (1, 3, 9)), *_each("MCM", "temperature", (0.01, 1.0, 10.0))]},
        {**MODELS[2], "detectors": [*_each("GEN", "gamma", GAMMAS, largest=3),
                                    *_each("MCM", "temperature", (0.01, 1.0, 10.0))]},
    ]  # fmt: skip
    validation = {"dataset": str(places[1]), "part": "validation", "group": "near", "name": "validation"}
    plain = {"validation_sets": [], "sets": [validation]}
    worth = run(spec_of(places, by_hand, id_part="validation", **plain), tmp_path / "worth", folder / "cache")
    tested = run(
        spec_of(places, by_hand, **plain | {"sets": to_json(searched[0])["sets"]}),
        tmp_path / "tested",
        folder / "cache",
    )
    for record, known, shown in zip(records, worth, tested, strict=True):
        areas = {row.entity: row.value.value for row in read_rows(known).where(metric="auroc", set="validation")}
        searches = _searches(read_rows(record))
        assert searches
        for detector, rows in searches.items():
            labels = [_label(detector, {"": float(row.where["settings"].split()[-1])}) for row in rows]
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
    return [
        {"detector": detector, "label": _label(detector, {name: value}), "settings": {name: value, **fixed}}
        for value in values
    ]


def _label(detector, settings):
    return f"{detector} {list(settings.values())[0]:g}"


def test_every_setting_is_a_row_and_the_choice_is_shown_on_the_page(searched):
    spec, folder, records = searched
    run_folder = RunFolder(folder / "run", "ood-benchmark", tuple(records))
    results, _ = results_of(units_of(run_folder))
    searches = _searches(results)
    assert {name: len(rows) for name, rows in searches.items()} == {
        "KNN of convnet": 3, "GEN of convnet": 7, "KNN of embedded": 3, "MCM of embedded": 3, "GEN of tuned": 7,
        "MCM of tuned": 3,
    }  # fmt: skip
    chosen = {(name, row.where["settings"]) for name, rows in searches.items() for row in rows
              if row.where["chosen"] == "yes"}  # fmt: skip
    labels = {row.label.removesuffix(" (the default)") for row in report(run_folder).terminal_tables[1].rows}
    assert labels == {f"{name}, {settings}" for name, settings in chosen}
    assert "settings searched on" in " ".join(summary(spec))


def test_inputs_without_a_search_say_nothing_of_one(places):
    searching, plain = (
        spec_of(places, MODELS[1:2], validation_sets=sets).tasks[0] if sets else
        spec_of(places, [{"backbone": "embedded", "detectors": [{"detector": "MCM"}]}], validation_sets=[]).tasks[0]
        for sets in ([{"dataset": str(places[1]), "part": "validation"}], [])
    )  # fmt: skip
    machine = Machine()
    assert len([name for name in inputs(searching, machine) if "validation" in name]) == 2
    assert not [name for name in inputs(plain, machine) if "validation" in name]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"validation_part": "test"}, "validation_part is 'test', which is tested"),
        ({"validation_part": "train"}, "validation_part is 'train', which is learned from"),
        ({"validation_sets": []}, "KNN has candidates to choose from, but there are no validation_sets"),
    ],
)
def test_images_that_are_tested_or_learned_from_are_not_searched_on(places, changed, said):
    with pytest.raises(OpenworldError, match=said):
        spec_of(places, MODELS[1:2], **changed)


@pytest.mark.parametrize("corruption", [{}, {"corruption": "fog", "severity": 1}])
def test_a_set_that_is_tested_too_is_refused_however_it_is_corrupted(places, corruption):
    with pytest.raises(OpenworldError, match=r"is searched on and tested \(inverted\)"):
        spec_of(places, MODELS[1:2], validation_sets=[{"dataset": str(places[1]), "part": "test", **corruption}])
    with pytest.raises(OpenworldError, match=r"is searched on and tested \(in distribution\)"):
        spec_of(places, MODELS[1:2], validation_sets=[{"dataset": str(places[0]), "part": "test", **corruption}])


@pytest.mark.parametrize(
    ("detector", "said"),
    [
        ({"detector": "KNN", "choose": {"k": []}}, "choose.k lists no candidate"),
        ({"detector": "KNN", "choose": {"k": [0, 1]}}, "k is 0"),
        ({"detector": "KNN", "choose": {"neighbours": [1]}}, "neighbours"),
    ],
)
def test_candidates_are_checked_as_the_spec_is_read(places, detector, said):
    with pytest.raises(OpenworldError, match=said):
        spec_of(places, [{"backbone": "embedded", "detectors": [detector]}])


def test_a_detector_none_of_whose_settings_can_learn_is_refused_before_anything_is_trained(places):
    models = [{"backbone": "embedded", "detectors": [{"detector": "KNN", "choose": {"k": [500, 600]}}]}]
    with pytest.raises(OpenworldError, match="500 neighbour"):
        EVALUATION.require(spec_of(places, models).tasks, Machine())
