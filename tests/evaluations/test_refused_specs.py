"""What specs are refused for before anything is read or run: a mistake, and the words that tell it."""

import shutil
from functools import partial

import pytest
from small_specs import draw

from openworld import OpenworldError
from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.entries import DecompositionSpec, ReferenceSpec
from openworld.evaluations.recognition.operating_point import OperatingSpec
from openworld.evaluations.runtime import Machine
from openworld.ood.model_entries import JudgedSpec
from openworld.reproduction.settings import ReproductionSetup

COOP = {"learner": "CoOp", "settings": {"context_length": 2, "schedule": {"epochs": 1}}}
CHOICE = {"learners": [{"learner": "CoOp", "choose": {"context_length": [1, 2]}}]}
SQUARES = {"dataset": "squares"}
SHARED = {"learners": [COOP], "views": 1, "shots": 2, "seeds": [1]}
SPECS = {
    "recognition": SHARED | SQUARES,
    "dynamic": SHARED,
    "generalisation": SHARED
    | {"source": SQUARES, "variants": [{"dataset": "darker"}], "others": [{"dataset": "stripes"}]},
    "recognition-by-shift": SHARED
    | {
        "sources": [SQUARES],
        "pool": [SQUARES, {"dataset": "darker"}],
        "estimators": [{"estimator": "AC"}, {"estimator": "FRAP"}],
        "k": 1,
        "levels": 3,
        "least": 2,
    },
    "decomposed-zero-shot": {
        "sets": [SQUARES],
        "methods": [{"method": "PCA"}],
        "sentences": ["a {}.", "a dark {}.", "a small {}.", "half a {}."],
        "seeds": [0],
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The small drawings, also without a class that learners are tuned on, and the new classes alone."""
    place = tmp_path_factory.mktemp("drawings")
    draw(place)
    for name in ("blue square", "green square"):
        shutil.copytree(place / "squares/test" / name, place / "base/test" / name)
    for part in ("train", "test"):
        shutil.copytree(place / "squares" / part, place / "empty" / part)
    for image in (place / "empty/train/blue square").iterdir():
        image.unlink()
    shutil.copytree(place / "squares/test/red square", place / "new/test/red square")
    return place


def learner(name, **given):
    return {"learners": [{"learner": name} | given]}


@pytest.mark.parametrize(
    ("protocol", "changed", "words"),
    [
        ("recognition", learner("coop2"), "unknown learner 'coop2'; did you mean 'CoOp'"),
        ("recognition", learner("CoOp", settings={"context_lenght": 4}), "did you mean 'context_length'"),
        ("recognition", learner("GMoP", choose={"alfa": (0.1,)}), "did you mean 'alpha'"),
        ("recognition", learner("GMoP", choose={"alpha": ()}), "choose.alpha lists no candidate"),
        ("recognition", learner("GMoP", choose={"detectors": (3, 1)}), "detectors is 1"),
        ("recognition", {"learners": []}, "labels of learners must be distinct, and at least one"),
        ("recognition", {"learners": [COOP] * 2}, "distinct"),
        ("recognition", {"seed": [1]}, "did you mean 'seeds'"),
        ("recognition", {"shots": "16"}, "shots"),
        ("recognition", {"shots": 0}, "shots is 0"),
        ("recognition", {"views": 0}, "views is 0, expected 1"),
        ("recognition", {"shots": [4, 0]}, r"shots\[1\] is 0"),
        ("recognition", {"shots": [4, 4]}, "shots must be distinct"),
        ("recognition", {"shots": []}, "shots must be distinct, and at least one"),
        ("recognition", {"imbalance_factor": 0.5}, "imbalance_factor is 0.5, expected 1"),
        ("recognition", {"resamples": 0}, "resamples is 0, expected 1"),
        ("recognition", {"seeds": [1, -1]}, "seeds.1. is -1"),
        ("recognition", {"ratios": [1, 0]}, "ratios must be above 0"),
        ("recognition", {"crop_scale": [0.5, 1.5]}, "crop_scale"),
        ("recognition", {"threads": 0}, "threads is 0"),
        ("recognition", {"precision": "float64"}, "precision.*'float64'"),
        ("recognition", {"datasets": ["squares"]}, "dataset says something of one"),
        ("recognition", {"dataset": "empty"}, "no image in part 'train', first 'blue square'"),
        ("dynamic", {"scenarios": []}, "scenarios must be distinct, and at least one"),
        ("dynamic", {"scenarios": ["emerging"]}, "did you mean 'emerging-classes'"),
        (
            "dynamic",
            {"scenarios": ["co-evolution"], "others": []},
            "co-evolution needs at least one entry under others",
        ),
        ("dynamic", {"datasets": [{"dataset": "emoji-groups"}] * 2}, "datasets must be distinct"),
        ("dynamic", {"levels": [0.0, 1.0, 0.5]}, "strictly increasing"),
        ("dynamic", {"image_limit": 0}, "image_limit is 0"),
        ("dynamic", {"shift_limit": 0}, "shift_limit is 0"),
        ("dynamic", CHOICE, "settings under choose"),
        ("generalisation", {"variants": [], "others": []}, "no target"),
        ("generalisation", {"variants": [{"dataset": "darker"}] * 2}, "variants must be distinct"),
        ("generalisation", {"variants": [SQUARES]}, "is the source"),
        ("generalisation", {"others": [SQUARES | {"domain": "noto"}]}, "source"),
        ("generalisation", {"seeds": [1, 1]}, "seeds must be distinct"),
        ("generalisation", CHOICE, "settings under choose"),
        ("generalisation", {"shots": 0}, "shots is 0"),
        ("generalisation", {"variants": [{"dataset": "new"}]}, "shows no base class of"),
        (
            "generalisation",
            {"variants": [{"dataset": "stripes"}], "others": []},
            "4 classes of the variant are no class",
        ),
        ("generalisation", {"variants": [], "others": [{"dataset": "base"}]}, "every class of .* is a base class"),
        ("recognition-by-shift", CHOICE, "choose"),
        ("recognition-by-shift", {"pool": []}, "pool must be distinct"),
        ("recognition-by-shift", {"levels": 2}, "levels"),
        ("recognition-by-shift", {"quantiles": {"looks": [0.1, 0.9]}}, "looks"),
        ("recognition-by-shift", {"estimators": [{"estimator": "GDE"}]}, "partners"),
        ("recognition-by-shift", {"estimators": [{"estimator": "MaNo"}]}, "many shifts"),
        ("recognition-by-shift", {"estimators": [{"estimator": "FRAP", "reference": "B"}]}, "needs a reference"),
        ("recognition-by-shift", {"references": []}, "needs a reference"),
        ("recognition-by-shift", {"base_part": "validation"}, "give each another one"),
        ("recognition-by-shift", {"validation_part": "train"}, "give each another one"),
        ("recognition-by-shift", {"references": [{"name": "uniform"}]}, "has no backbone"),
        ("recognition-by-shift", {"estimators": [{"estimator": "AC"}] * 2}, "labels of estimators must be distinct"),
        ("recognition-by-shift", {"pool": [SQUARES | {"part": "train"}]}, "another part"),
        ("recognition-by-shift", {"pool": [SQUARES | {"part": "validation"}]}, "another part"),
        ("recognition-by-shift", {"classes": "all"}, "base classes alone"),
        ("decomposed-zero-shot", {"sets": []}, "sets must be distinct"),
        ("decomposed-zero-shot", {"seeds": [1, 1]}, "seeds must be distinct"),
        ("decomposed-zero-shot", {"methods": [{"method": "PCA"}] * 2}, "labels of methods must be distinct"),
        ("decomposed-zero-shot", {"methods": [{"method": "PCB"}]}, "did you mean 'PCA'"),
        ("decomposed-zero-shot", {"sets": [SQUARES | {"looks": ["fogg 3"]}]}, "did you mean 'fog 3'"),
        ("decomposed-zero-shot", {"sets": [SQUARES | {"looks": []}]}, "and at least one"),
        ("decomposed-zero-shot", {"sets": [SQUARES | {"as_drawn": True}]}, "leave as_drawn out"),
        ("decomposed-zero-shot", {"images": -1}, "images"),
    ],
)
def test_a_mistake_is_named(place, monkeypatch, protocol, changed, words):
    monkeypatch.chdir(place)
    with pytest.raises(OpenworldError, match=words):
        spec = read_protocol({"protocol": protocol} | SPECS[protocol] | changed)
        evaluation_of(spec).units(spec, Machine(cache=str(place / "cache")))


@pytest.mark.parametrize("backbone", ["ViT-B/16", "ViT-B-16/openai", "openai/clip-vit-base-patch16"])
def test_one_model_has_one_name_as_papers_openai_and_open_clip_call_it(place, monkeypatch, backbone):
    monkeypatch.chdir(place)
    specs = [read_protocol({"protocol": protocol} | SPECS[protocol] | {"backbone": backbone}) for protocol in SPECS]
    specs += [make(backbone=backbone) for make in (JudgedSpec, DecompositionSpec, partial(ReferenceSpec, "CLIP"))]
    specs.append(ReproductionSetup("data", backbone=backbone))
    assert {spec.backbone for spec in specs} == {"openai/clip-vit-base-patch16"}


@pytest.mark.parametrize("protocol", SPECS)
def test_without_the_mistake_there_are_units_which_notice_changed_images(place, monkeypatch, protocol):
    monkeypatch.chdir(place)
    spec = read_protocol({"protocol": protocol} | SPECS[protocol])
    evaluation = evaluation_of(spec)
    unit = evaluation.units(spec, Machine(cache=str(place / "cache")))[0]
    changed = next(name for name in unit.inputs if name != "backbone")
    with pytest.raises(OpenworldError, match=f"{changed} changed since"):
        evaluation(**unit.arguments, **unit.resources, inputs={**unit.inputs, changed: "other"})


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({}, "none came; give a miss rate, a hit rate, or the costs"),
        ({"miss_rate": 0.1, "hit_rate": 0.1}, "miss rate and hit rate came"),
        ({"hit_rate": 0.1, "new_share": 0.1}, "hit rate and costs came"),
        ({"base_missed": 1.0}, "needs that of a base image missed and that of a new one not hit"),
        ({"base_missed": 1.0, "new_unhit": 1.0, "new_share": 2.0}, "new_share is 2.0"),
        ({"miss_rate": 1.0}, "miss_rate is 1.0"),
    ],
)
def test_rules_that_are_none_are_refused(rule, words):
    with pytest.raises(OpenworldError, match=words):
        OperatingSpec(**rule)


@pytest.mark.parametrize(("device", "words"), [("gpu", "unknown device 'gpu'"), ("cuda:99", "not on this machine")])
def test_a_device_that_is_not_there_is_refused(device, words):
    with pytest.raises(OpenworldError, match=words):
        Machine(device=device)
