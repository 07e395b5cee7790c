"""What every detector in DETECTORS keeps; one that is not enrolled in CONTRACT below makes this file fail."""

from dataclasses import FrozenInstanceError, replace

import pytest
import torch
from small_classifier import WIDTH, whole

from openworld import OpenworldError
from openworld.detectors import DETECTORS, NEEDS, PROFILES, fit_together, score_together
from openworld.runs import to_json

# Settings that suit 90 training images of 24 features; {} where the defaults do.
CONTRACT = {
    **dict.fromkeys(("MSP", "ODIN", "MDS", "GradNorm", "DICE", "RankFeat", "ASH", "Energy", "MaxLogit", "ReAct"), {}),
    **dict.fromkeys(("SCALE", "GEN", "RMDS", "fDBD", "SHE", "NCI", "VRA", "CoP", "AdaSCALE", "MCM", "GL-MCM"), {}),
    "KNN": {"k": 3},
    "ViM": {"dimensions": 8},
    "NNGuide": {"k": 3, "share": 1.0},
    "CoRP": {"dimensions": 64},
    "NegLabel": {"groups": 5},
}
LEARN_NOTHING = {"MSP", "ODIN", "GradNorm", "RankFeat", "ASH", "Energy", "MaxLogit", "SCALE", "GEN"}
LEARN_NOTHING |= {"MCM", "GL-MCM", "NegLabel"}
detectors = pytest.mark.parametrize("name", DETECTORS)


def made(name):
    return DETECTORS[name](**CONTRACT[name])


def fitted(name, seen=None):
    return made(name).fit(whole() if seen is None else seen)


def close(ours, theirs, tolerance=1e-5):
    scale = max(1e-3, float(theirs.abs().max()))
    torch.testing.assert_close(ours.double(), theirs.double(), atol=tolerance * scale, rtol=0)


def test_every_detector_is_enrolled():
    assert not DETECTORS.keys() - CONTRACT.keys(), "enrol the new detector: give it its settings in CONTRACT"
    assert not CONTRACT.keys() - DETECTORS.keys()


@detectors
def test_its_class_says_what_it_is(name):
    detector = DETECTORS[name]
    assert detector.name == name and detector.paper
    assert 5 < len(detector.summary) < 60
    assert detector.needs and set(detector.needs) <= set(NEEDS)
    assert ">>>" in detector.__doc__


@detectors
def test_it_says_whether_it_keeps_features_and_looks_at_labels(name):
    asked = {need for statistic in made(name).gathers for need in statistic.needs}
    for need in ("bank", "labels"):
        assert (need in asked) is (need in DETECTORS[name].needs)
    assert (not made(name).gathers) is (name in LEARN_NOTHING)


@detectors
def test_settings_are_frozen_and_can_be_written_down(name):
    with pytest.raises((FrozenInstanceError, TypeError)):
        made(name).anything = 1
    assert DETECTORS[name](**to_json(made(name))) == made(name)
    assert hash(made(name)) == hash(made(name))


@detectors
def test_a_finite_number_for_every_image(name):
    scores = fitted(name).score(whole(2))
    assert scores.shape == (90,) and scores.is_floating_point() and scores.isfinite().all()
    assert not scores.requires_grad
    assert len(scores.unique()) > 45, "images can be told apart"


@detectors
def test_an_image_has_its_score_whatever_the_others_are(name):
    scores = fitted(name).score(whole(2))
    turned = torch.arange(90).flip(0)
    close(fitted(name).score(whole(2).take(turned)), scores.flip(0))
    close(fitted(name).score(whole(2).take([4])), scores[4:5])


@detectors
def test_no_image_has_no_score(name):
    assert fitted(name).score(whole(2).take([])).shape == (0,)


@detectors
def test_the_cut_into_batches_does_not_matter(name):
    parts = list(whole().split(7))
    close(fit_together({name: made(name)}, parts)[name].score(whole(2)), fitted(name).score(whole(2)))


@detectors
def test_calls_repeat_and_inputs_are_kept(name):
    seen = whole(2)
    before = [part.clone() for part in (seen.features, seen.logits, seen.maps.early, seen.maps.late, seen.patches)]
    assert torch.equal(fitted(name).score(seen), fitted(name).score(seen))
    for kept, part in zip((seen.features, seen.logits, seen.maps.early, seen.maps.late), before, strict=False):
        assert torch.equal(kept, part)


@detectors
def test_double_precision_and_half_precision(name):
    def read(seen, dtype):
        moved = {how: h.to(dtype) for how, h in seen.perturbed.items()}
        return replace(seen, features=seen.features.to(dtype), outputs=seen.outputs.to(dtype), perturbed=moved)

    expected = fitted(name).score(whole(2))
    close(fitted(name, read(whole(), torch.float64)).score(read(whole(2), torch.float64)), expected, 1e-4)
    assert fitted(name, read(whole(), torch.float16)).score(read(whole(2), torch.float16)).isfinite().all()


@detectors
def test_what_is_missing_is_named(name):
    blind = {
        "features": {"features": None, "texts": None, "labels": None},
        "head": {"head": None},
        "logits": {"outputs": None, "head": None},
        "maps": {"maps": None},
        "gradient": {"perturbed": {}},
        "texts": {"texts": None},
        "patches": {"patches": None},
    }
    for need in set(DETECTORS[name].needs) & set(blind):
        seen = replace(whole(2), **blind[need])
        with pytest.raises(OpenworldError, match="needs"):
            made(name).fit(seen).score(seen)


@detectors
def test_labels_are_asked_for_by_those_that_learn_from_them(name):
    without = replace(whole(), labels=None)
    if "labels" in DETECTORS[name].needs:
        with pytest.raises(OpenworldError, match=f"{name} needs labels of the training images"):
            fitted(name, without)
    else:
        made(name).fit(without)


@detectors
def test_labels_of_test_images_are_not_looked_at(name):
    blind = replace(whole(2), labels=None)
    assert torch.equal(fitted(name).score(blind), fitted(name).score(whole(2)))


@detectors
def test_it_learns_nothing_from_nothing(name):
    if name in LEARN_NOTHING:
        made(name).fit()
    else:
        with pytest.raises(OpenworldError, match=f"no training image, but {name} learns"):
            made(name).fit()


@detectors
def test_another_number_of_features_is_refused(name):
    if "features" in DETECTORS[name].needs and "head" in DETECTORS[name].needs:
        with pytest.raises(OpenworldError, match=f"features have 5 columns, but the head reads {WIDTH}"):
            fitted(name).score(torch.zeros(2, 5))


def test_fitted_together_they_are_the_same():
    everyone = {name: made(name) for name in DETECTORS}
    together = score_together(fit_together(everyone, whole().split(13)), whole(2))
    for name in DETECTORS:
        close(together[name], fitted(name).score(whole(2)))


def test_profiles_name_known_detectors():
    assert all(type(detector) is DETECTORS[detector.name] for listed in PROFILES.values() for detector in listed)
    assert len(PROFILES["is-ood"]) == 8
