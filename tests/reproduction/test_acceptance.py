"""The stages of an acceptance one by one, and its tolerances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from openworld import datasets
from openworld.backbones import SHAPES, TwoTower
from openworld.backbones.preprocess import openai_preprocess
from openworld.datasets.names.class_names import listed_names
from openworld.datasets.published.catalogue import PUBLISHED
from openworld.learners.engine.parameter_counts import WordTokenizer
from openworld.metrics import openworld_auc
from openworld.papers import published_numbers
from openworld.reproduction import acceptance_model as model
from openworld.reproduction import acceptance_stages as stages
from openworld.reproduction.acceptance_cells import COCOOP, AcceptanceCell, tolerance_of

SCORES = some.lists(some.tuples(some.integers(0, 5), some.booleans()), min_size=1, max_size=12)


@given(SCORES, SCORES)
def test_plain_metrics_are_those_of_the_package(base, new):
    sides = [np.array(column) for side in (base, new) for column in zip(*side, strict=True)]
    sides = [sides[0].astype(float), sides[1], sides[2].astype(float), sides[3]]
    plain, ours = stages.plain_metrics(*sides), openworld_auc(*sides)
    assert plain["openworld_auc"] == pytest.approx(ours.value, abs=1e-12)
    assert plain["auroc"] == pytest.approx(ours.auroc, abs=1e-12)
    assert plain["base_accuracy"] == pytest.approx(ours.base_accuracy, abs=1e-12)
    assert plain["new_accuracy"] == pytest.approx(ours.new_accuracy, abs=1e-12)


def test_what_is_known_of_vit_b_16_is_true_of_its_shape():
    shape = SHAPES["openai/clip-vit-base-patch16"]
    clip = TwoTower(shape, tokenizer=WordTokenizer(), preprocess=openai_preprocess(224), name="random weights")
    clip.requires_grad_(False)
    facts = model.facts_of(clip)
    assert {key: facts[key] for key in facts if key != "logit scale"} == {
        key: value for key, value in model.VIT_B_16.items() if key != "logit scale"
    }


def test_sentences_are_those_that_the_package_uses():
    told = {name: stages.SENTENCES.get(name, stages.PHOTO) for name in PUBLISHED}
    assert told == {name: datasets.templates.TEMPLATES[name] for name in PUBLISHED}


@pytest.mark.parametrize("name", [name for name in PUBLISHED if listed_names(name)])
def test_listed_names_are_as_many_as_published_and_are_accepted_as_they_are(name):
    names = listed_names(name).names
    assert len(names) == PUBLISHED[name].classes
    assert list(stages.names_departures("title", name, names)) == []
    swapped = [names[1], names[0], *names[2:]]
    (told,) = stages.names_departures("title", name, swapped)
    assert "class 0" in told.what and repr(names[1]) in told.what


def test_classes_of_imagenets_variants_are_some_of_its_own_in_its_order():
    names = listed_names("imagenet").names
    assert list(stages.names_departures("A", "imagenet-a", names[10:30])) == []
    assert list(stages.names_departures("A", "imagenet-a", names[30:9:-1]))
    (told,) = stages.names_departures("Caltech101", "caltech101", listed_names("caltech101").names[:-1])
    assert "is 'nothing'" in told.what


def test_names_mended_here_are_those_of_clip():
    names = ["projectile" if at == 744 else name for at, name in enumerate(listed_names("imagenet").names)]
    assert list(stages.names_departures("ImageNet", "imagenet", names)) == []


def test_weights_that_know_nothing_depart(monkeypatch):
    from openworld import backbones

    clip = backbones.load("embedded")
    assert model.named_drawings(clip) > 0.5
    monkeypatch.setattr(model, "VIT_B_16", model.facts_of(clip))
    assert list(model.weights_departures(clip)) == []
    monkeypatch.setattr(model, "named_drawings", lambda _: 0.01)
    (told,) = model.weights_departures(clip)
    assert told.stage == "weights" and "1 %" in told.what


def test_more_pictures_leave_less_room():
    assert tolerance_of(50_000) < tolerance_of(8_041) < tolerance_of(1_692) < 0.005
    cell = AcceptanceCell("DTD", "HM", 56.62, "Table 8-9", 56.9, 0.3)
    assert cell.within and not AcceptanceCell("DTD", "HM", 56.62, "Table 8-9", None, 0.3).within


def test_cocoops_accuracies_are_of_the_papers_data_sets_and_near_its_harmonic_means():
    printed = {one.dataset: one.value for one in published_numbers("openworldauc", "8-9") if one.metric == "HM"}
    assert set(COCOOP) == set(printed) - {"Average"}
    clip = {
        one.dataset: one.value
        for one in published_numbers("openworldauc", "8-9")
        if one.metric == "HM" and one.method == "CLIP"
    }
    gaps = {name: abs(clip[name] - 2 * base * new / (base + new)) for name, (base, new) in COCOOP.items()}
    assert max(gaps.values()) == pytest.approx(1.08, abs=0.01) and gaps["ImageNet"] < 0.05
