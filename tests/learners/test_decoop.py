"""DeCoOp: its mixture at the ends of the threshold, missing kinds of images, Otsu by brute force, the counts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.learners import DeCoOp, Images, Schedule
from openworld.learners.decoop import otsu

SHORT = Schedule(epochs=2, batch_size=8, momentum=0, weight_decay=0, warmup=False, drop_last=False)
LEARNER = DeCoOp(detector_context=4, classifier_context=4, detector_schedule=SHORT, schedule=SHORT)
NEW = ("sea turtle", "violin")


def test_the_stages_follow_one_another(clip, shots):
    fitted, longer = (
        replace(LEARNER, schedule=replace(SHORT, epochs=epochs)).fit(clip, shots, seed=1) for epochs in (1, 3)
    )
    assert torch.equal(fitted.parameters["detectors"], longer.parameters["detectors"])
    assert torch.equal(fitted.parameters["threshold"], longer.parameters["threshold"])
    assert not torch.equal(fitted.parameters["classifiers"], longer.parameters["classifiers"])
    assert ["hinge" in epoch for epoch in longer.history] == [True, True, False, False, False]
    assert 0 < float(fitted.parameters["threshold"]) < 1


def test_the_threshold_is_measured_and_does_not_count_as_tuned(clip, shots):
    fitted = LEARNER.fit(clip, shots, seed=1)
    learned = [tensor for name, tensor in fitted.parameters.items() if name != "threshold"]
    assert fitted.tuned_parameters == sum(tensor.numel() for tensor in learned)
    assert fitted.parameters["threshold"].numel() == 1


def test_loss_is_that_of_both_stages(clip, shots):
    start = LEARNER.start(clip, shots.classnames, torch.Generator().manual_seed(0))
    parameters = {name: tensor.requires_grad_(True) for name, tensor in start.items()}
    prepared = LEARNER.prepare(clip, shots.classnames)
    given = (clip, parameters, Images(torch.from_numpy(shots.embeddings)), torch.from_numpy(shots.labels), prepared)
    first = LEARNER.detector_loss(*given)
    second = LEARNER.classifier_loss(*given, LEARNER.judge(clip, parameters, prepared))
    both = LEARNER.loss(*given)
    torch.testing.assert_close(both["total"], first["total"] + second["total"])
    # Before there is a threshold every image is every expert's own.
    assert float(second["divergence"].detach()) == 0
    apart = [*torch.autograd.grad(first["total"], parameters["detectors"])]
    apart += torch.autograd.grad(second["total"], parameters["classifiers"])
    torch.testing.assert_close(list(torch.autograd.grad(both["total"], list(parameters.values()))), apart)


@pytest.mark.parametrize("classes", [[0], [1], [0, 3, 6], [1, 2, 4, 5]])
def test_a_batch_that_lacks_pseudo_base_or_pseudo_new_images(clip, shots, classes):
    batch = shots.select(np.flatnonzero(np.isin(shots.labels, classes)))
    parameters = LEARNER.start(clip, shots.classnames, torch.Generator().manual_seed(0))
    contexts = parameters["detectors"].requires_grad_(True)
    images, labels = Images(torch.from_numpy(batch.embeddings)), torch.from_numpy(batch.labels)
    terms = LEARNER.detector_loss(clip, parameters, images, labels, LEARNER.prepare(clip, shots.classnames))
    terms["total"].backward()
    assert all(bool(torch.isfinite(term)) for term in terms.values())
    assert bool(torch.isfinite(contexts.grad).all())
    if classes == [0, 3, 6]:
        assert float(contexts.grad[0].abs().max()) == 0  # all are pseudo new for detector 0: it has nothing to learn


def test_two_classes_need_two_detectors(clip, shots):
    two = replace(shots.select(np.flatnonzero(shots.labels < 2)), classnames=shots.classnames[:2])
    with pytest.raises(OpenworldError, match="3 detector.* cannot divide 2 base class"):
        LEARNER.fit(clip, two, seed=1)
    fitted = replace(LEARNER, detectors=2).fit(clip, two, seed=1)
    assert np.isfinite(fitted.logits(two, fitted.text_bank(two.classnames, NEW))).all()


@given(scores=st.lists(st.floats(0, 1, width=32), min_size=1, max_size=40))
def test_otsu_parts_where_the_groups_differ_most(scores):
    scores = np.asarray(scores)
    threshold = otsu(scores)
    if scores.min() == scores.max():
        assert threshold == scores[0]
        return
    counts, edges = np.histogram(scores, 256)
    middles = (edges[1:] + edges[:-1]) / 2
    values = np.repeat(middles, counts)

    def between(cut):
        lower, upper = values[values <= cut], values[values > cut]
        return len(lower) * len(upper) * (lower.mean() - upper.mean()) ** 2 if len(lower) and len(upper) else 0.0

    assert threshold in middles
    assert between(threshold) == pytest.approx(max(map(between, middles)), rel=1e-9)
