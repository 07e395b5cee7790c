"""The fewest passes, counted; early refusals; warnings; fits and scores in one stream."""

from dataclasses import replace

import pytest
import torch
from seen_images import make_images, whole

from openworld import OpenworldError
from openworld.detectors import (
    ASH,
    GEN,
    KNN,
    MCM,
    MDS,
    MSP,
    NAC,
    ODIN,
    AdaSCALE,
    GradNorm,
    Gram,
    MCDropout,
    NNGuide,
    RankFeat,
    plan,
    profile,
    require_images,
)
from openworld.detectors.engine.bank import Bank
from openworld.testing import small_classifier


def batches(seed, count=6, size=10):
    for part in range(count):
        images = make_images(seed + part, size)
        yield images, small_classifier().see(images).predictions


@pytest.fixture
def counted():
    """Calls of the classifier, of its last stage, and gradients of images, while a block runs."""
    counts = {"forward": 0, "stage": 0, "backward": 0}

    def more(what):
        return lambda *_: counts.update({what: counts[what] + 1})

    module = small_classifier().module
    handles = [module.register_forward_hook(more("forward")), module.last.register_forward_hook(more("stage"))]
    handles.append(module.head.register_full_backward_hook(more("backward")))
    yield counts
    for handle in handles:
        handle.remove()


EXPECTED = {  # case: (detectors, (forward passes, backward passes, further runs of the last stage))
    "one pass": ([MSP(), GEN(), MDS(), KNN(3), GradNorm(), ASH()], (1, 0, 0)),
    "the last stage again": ([MSP(), RankFeat()], (1, 0, 1)),
    "a backward and a forward": ([MSP(), ODIN()], (2, 1, 0)),
    "one direction, two steps": ({"small": ODIN(step=0.001), "large": ODIN(step=0.01)}, (3, 1, 0)),
    "two directions": ([ODIN(), AdaSCALE()], (3, 2, 0)),
    "how layers move the softmax": ([NAC(), Gram()], (1, 1, 0)),
    "passes with dropout": ({"one": MCDropout(5), "same passes": MCDropout(5, "entropy")}, (6, 0, 0)),
    "all": (profile("is-ood") | {"KNN": KNN(3)}, (2, 1, 1)),
}


@pytest.mark.parametrize("case", EXPECTED)
def test_no_more_passes_are_made_than_needed(case, counted):
    detectors, expected = EXPECTED[case]
    route = plan(detectors, small_classifier())
    fitted = route.fit(batches(1))
    counted.update(dict.fromkeys(counted, 0))
    route.score(fitted, [make_images(50, 8)])
    forwards, backwards, stages = expected
    assert counted == {"forward": forwards, "stage": forwards + stages, "backward": backwards}


def test_a_fit_costs_what_is_learned_from(counted):
    list(batches(1))  # makes the labels, by passes of its own
    shown = list(batches(1))
    counted.update(dict.fromkeys(counted, 0))
    plan(profile("is-ood") | {"KNN": KNN(3)}, small_classifier()).fit(shown)
    assert counted == {"forward": 6, "stage": 6, "backward": 0}


def test_scores_are_those_of_each_detector_alone():
    detectors = {"KNN": KNN(3), "ODIN": ODIN(), "AdaSCALE": AdaSCALE()}
    route = plan(detectors, small_classifier())
    scores = route.score(route.fit(batches(1)), (images for images, _ in batches(20)))
    for name, detector in detectors.items():
        alone = plan([detector], small_classifier())
        theirs = alone.score(alone.fit(batches(1)), batches(20))[name]  # labels that come along are not looked at
        torch.testing.assert_close(scores[name], theirs)
        assert scores[name].shape == (60,)


def test_weak_combinations_are_named():
    transformer = replace(small_classifier(), family="transformer")
    warnings = plan([MSP(), ASH(), GradNorm()], transformer).warnings
    assert [warning.split()[0] for warning in warnings] == ["ASH", "GradNorm"]
    assert "weak on a transformer" in warnings[0] and "53.2" in warnings[0]
    assert plan([ASH()], small_classifier()).warnings == ()


class Remembering(MSP):
    sequential = True


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plan([MCM()], small_classifier()), "MCM compares with class names and needs a two-tower model"),
        (lambda: plan([KNN(1), KNN(2)], small_classifier()), "two detectors have one name"),
        (
            lambda: plan([Remembering()], small_classifier()),
            "batch by batch; give the features of all images",
        ),
        (lambda: plan({"KNN": KNN}, small_classifier()), r"KNN came as a class, expected an instance: KNN\(\)"),
        (lambda: profile("isood"), "unknown profile 'isood'; did you mean 'is-ood'"),
    ],
)
def test_refused_at_once(call, said):
    with pytest.raises(OpenworldError, match=said):
        call()


def test_missing_labels_are_refused_with_the_first_batch():
    def one_then_break():
        yield make_images(0, 4), None
        raise AssertionError("a second batch was asked for")

    with pytest.raises(OpenworldError, match="MDS needs labels"):
        plan([MDS()], small_classifier()).fit(one_then_break())


def test_too_few_images_for_neighbours_are_refused_before_any_is_seen():
    require_images({"KNN": KNN(3, bank=3), "guide": NNGuide(3, share=1.0), "MSP": MSP()}, 3)
    kept = Bank(share=0.1).kept(90)
    assert kept == len(NNGuide(kept, share=0.1).fit(whole()).state)
    with pytest.raises(OpenworldError, match=f"NNGuide asks for {kept + 1} .* holds {kept} of 90 "):
        require_images({"guide": NNGuide(kept + 1, share=0.1)}, 90)
