"""Settings searched on validation sets by a spec: of classifiers, two-tower models and learners; recorded and shown."""

import numpy as np
import pytest

from openworld import OpenworldError
from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.artifacts import Crew
from openworld.evaluations.ood_benchmark.evaluation import EVALUATION, summary
from openworld.evaluations.ood_benchmark.record import OODBenchmarkRecord
from openworld.evaluations.ood_benchmark.results import BenchmarkFacts
from openworld.evaluations.ood_benchmark.task import inputs, tasks
from openworld.evaluations.runtime import Machine
from openworld.runs import RunStore, execute, read_spec, to_json

RECIPE = {"epochs": 1, "side": 28, "batch_size": 8}
GAMMAS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)


@pytest.fixture(scope="module")
def places(few_shapes, tmp_path_factory):
    """Two folders of the same shapes: in distribution; and others, negatives of them, by other names."""
    from PIL import Image, ImageOps

    other = tmp_path_factory.mktemp("others")
    for file in few_shapes.glob("*/*/*.png"):
        target = other / file.relative_to(few_shapes)
        target.parent.mkdir(parents=True, exist_ok=True)
        ImageOps.invert(Image.open(file, formats=("PNG",)).convert("RGB")).save(target)
    return few_shapes, other


def spec_of(places, models, **changed):
    inside, other = places
    return read_protocol(
        {
            "protocol": "ood-benchmark",
            "sources": [{"dataset": str(inside)}],
            "sets": [
                {"dataset": str(other), "part": "test", "group": "near", "name": "inverted"},
                {"dataset": str(inside), "part": "test", "corruption": "fog", "severity": 5, "group": "covariate"},
            ],
            "validation_sets": [{"dataset": str(other), "part": "validation"}],
            "seeds": [0],
            "shots": None,
            "replicates": 0,
            "models": models,
        }
        | changed
    )


def run(spec, folder):
    machine = Machine(cache=str(folder / "cache"))
    for stage in evaluation_of(spec).artifacts(spec, machine):
        stage.work(Crew("local", 1, folder), None)
    evaluation_of(spec).require(tasks(spec), machine)
    return execute(EVALUATION.units(spec, machine), RunStore(folder / "run"))


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
    _, _, records = searched
    by_hand = [
        {**MODELS[0], "detectors": [*_each("KNN", "k", (1, 3, 9)), *_each("GEN", "gamma", GAMMAS, largest=3)]},
        {**MODELS[1], "detectors": [*_each("KNN", "k", (1, 3, 9)), *_each("MCM", "temperature", (0.01, 1.0, 10.0))]},
        {**MODELS[2], "detectors": [*_each("GEN", "gamma", GAMMAS, largest=3),
                                    *_each("MCM", "temperature", (0.01, 1.0, 10.0))]},
    ]  # fmt: skip
    validation = {"dataset": str(places[1]), "part": "validation", "group": "near", "name": "validation"}
    plain = {"validation_sets": [], "sets": [validation]}
    worth = run(spec_of(places, by_hand, id_part="validation", **plain), tmp_path / "worth")
    tested = run(spec_of(places, by_hand, **plain | {"sets": to_json(searched[0])["sets"]}), tmp_path / "tested")
    for record, known, shown in zip(records, worth, tested, strict=True):
        areas = {
            number["detector"]: number["value"]
            for number in known.metrics["numbers"]
            if number["metric"] == "auroc" and number["set"] == "validation"
        }
        assert record.metrics["searches"]
        for search in record.metrics["searches"]:
            labels = [_label(search["detector"], trial["settings"]) for trial in search["trials"]]
            assert [trial["auroc"] for trial in search["trials"]] == pytest.approx([areas[label] for label in labels])
            assert search["chosen"] == int(np.argmax([areas[label] for label in labels]))
            own = record.table("images")[f"score {search['detector']}"]
            assert np.allclose(own, shown.table("images")[f"score {labels[search['chosen']]}"], atol=1e-6)


def _each(detector, name, values, **fixed):
    return [
        {"detector": detector, "label": _label(detector, {name: value}), "settings": {name: value, **fixed}}
        for value in values
    ]


def _label(detector, settings):
    return f"{detector} {list(settings.values())[0]:g}"


def test_every_setting_is_a_row_and_the_choice_is_shown_on_the_page(searched):
    spec, folder, records = searched
    facts = BenchmarkFacts(tuple(_typed(record) for record in records), tuple(records))
    rows = [row for record in facts.records for row in facts.searches(record)]
    assert [(search.detector, len(search.trials)) for search in rows] == [
        ("KNN of convnet", 3), ("GEN of convnet", 7), ("KNN of embedded", 3), ("MCM of embedded", 3),
        ("GEN of tuned", 7), ("MCM of tuned", 3),
    ]  # fmt: skip
    assert "settings searched on" in " ".join(summary(spec))


def _typed(record):
    return read_spec(record.metrics, OODBenchmarkRecord)


def test_records_and_inputs_without_a_search_say_nothing_of_one(places):
    searching, plain = (
        tasks(spec_of(places, MODELS[1:2], validation_sets=sets))[0] if sets else
        tasks(spec_of(places, [{"backbone": "embedded", "detectors": [{"detector": "MCM"}]}], validation_sets=[]))[0]
        for sets in ([{"dataset": str(places[1]), "part": "validation"}], [])
    )  # fmt: skip
    machine = Machine()
    assert {name for name in inputs(searching, machine) if name.startswith("validation")} == {
        "validation images 0", "validation images 1"
    }  # fmt: skip
    assert not [name for name in inputs(plain, machine) if name.startswith("validation")]
    assert not [name for name in to_json(plain) if name.startswith("validation")]


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
        EVALUATION.require(tasks(spec_of(places, models)), Machine())
