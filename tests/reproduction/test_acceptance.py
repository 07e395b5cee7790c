"""The stages of an acceptance one by one, and its tolerances."""

import pytest

from openworld.datasets.names.class_names import listed_names
from openworld.datasets.published.catalogue import PUBLISHED
from openworld.papers import published_numbers
from openworld.reproduction.acceptance import COCOOP, PHOTO, TEMPLATES, tolerance_of, wrong_names, wrong_weights

COOPS = {
    "oxford_pets": "a photo of a {}, a type of pet.",
    "oxford_flowers": "a photo of a {}, a type of flower.",
    "food101": "a photo of {}, a type of food.",
    "fgvc_aircraft": "a photo of a {}, a type of aircraft.",
    "dtd": "{} texture.",
    "eurosat": "a centered satellite photo of {}.",
    "ucf101": "a photo of a person doing {}.",
}


def test_sentences_are_coops():
    assert {name: TEMPLATES[name] for name in PUBLISHED} == dict.fromkeys(PUBLISHED, PHOTO) | COOPS


@pytest.mark.parametrize("name", [name for name in PUBLISHED if listed_names(name)])
def test_listed_names_are_as_many_as_published_and_are_accepted_as_they_are(name):
    names = listed_names(name).names
    assert len(names) == PUBLISHED[name].classes
    assert list(wrong_names(name, names)) == []
    swapped = [names[1], names[0], *names[2:]]
    (told,) = wrong_names(name, swapped)
    assert "class 0" in told and repr(names[1]) in told


def test_classes_of_imagenets_variants_are_some_of_its_own_in_its_order():
    names = listed_names("imagenet").names
    assert list(wrong_names("imagenet-a", names[10:30])) == []
    assert list(wrong_names("imagenet-a", names[30:9:-1]))
    (told,) = wrong_names("caltech101", listed_names("caltech101").names[:-1])
    assert "is 'nothing'" in told


def test_names_mended_here_are_those_of_clip():
    names = ["projectile" if at == 744 else name for at, name in enumerate(listed_names("imagenet").names)]
    assert list(wrong_names("imagenet", names)) == []


def test_weights_that_know_nothing_depart():
    shape = {"image": {"patch_size": 16}, "text": {"vocabulary": 49_408, "end_token": 7}}
    numbers = {"parameters": 149_620_738, "logit_scale": 100.02, "zero_shot": {"right": 90, "images": 100}}
    model = {"name": "mine"} | shape | numbers
    assert list(wrong_weights(model)) == []
    assert "1 % of embedded drawings" in next(wrong_weights(model | {"zero_shot": {"right": 1, "images": 100}}))
    assert "another library" in next(wrong_weights(model | {"image": {}}))
    (told,) = wrong_weights(model | {"parameters": 149_620_737})
    assert "parameters is 149620737" in told


def test_more_images_leave_less_room():
    assert tolerance_of(50_000) < tolerance_of(8_041) < tolerance_of(1_692) < 0.005


def test_cocoops_accuracies_are_of_the_papers_data_sets_and_near_its_harmonic_means():
    means = [each for each in published_numbers("openworldauc", "8-9") if each.metric == "HM"]
    clip = {each.dataset: each.value for each in means if each.method == "CLIP"}
    assert set(COCOOP) == {each.dataset for each in means} - {"Average"}
    gaps = {name: abs(clip[name] - 2 * base * new / (base + new)) for name, (base, new) in COCOOP.items()}
    assert max(gaps.values()) == pytest.approx(1.08, abs=0.01) and gaps["ImageNet"] < 0.05
