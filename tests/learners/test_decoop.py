"""DeCoOp: its mixture at the ends of the threshold, missing kinds of images, Otsu by brute force, the counts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from openworld import OpenworldError
from openworld.learners import DeCoOp, Images, NameSets, Schedule, ZeroShot
from openworld.learners.decoop import classifier_terms, detector_terms, otsu
from openworld.learners.engine.parameter_counts import tuned_parameters
from openworld.learners.engine.text_bank import cosine_logits

SHORT = Schedule(epochs=2, batch_size=8, momentum=0, weight_decay=0, warmup=False, drop_last=False)
LEARNER = DeCoOp(detector_context=4, classifier_context=4, detector_schedule=SHORT, schedule=SHORT)
NEW = ("sea turtle", "violin")


def answer_at(threshold, clip, shots, names=None):
    parameters = LEARNER.start(clip, shots.classnames, torch.Generator().manual_seed(0))
    bank = LEARNER.text_bank(clip, parameters, names or NameSets(shots.classnames, NEW))
    images = Images(torch.from_numpy(shots.embeddings))
    experts = cosine_logits(images.embeddings, bank.experts, bank.scale)
    answer = LEARNER.answer(clip, parameters | {"threshold": torch.tensor(threshold)}, images, bank)
    return answer, experts, bank.detectors.log_scores(images.embeddings, bank.scale).exp()


def test_at_threshold_zero_the_experts_are_averaged(clip, shots):
    answer, experts, _ = answer_at(0.0, clip, shots)
    torch.testing.assert_close(answer.logits, experts.mean(dim=0))


def test_above_every_score_zero_shot_clip_answers(clip, shots):
    answer, _, _ = answer_at(1.1, clip, shots)
    images = Images(torch.from_numpy(shots.embeddings))
    each = []
    for template in LEARNER.templates:
        learner = ZeroShot((template,))
        each.append(
            learner.answer(clip, {}, images, learner.text_bank(clip, {}, NameSets(shots.classnames, NEW))).logits
        )
    torch.testing.assert_close(answer.logits, torch.stack(each).mean(dim=0))


def test_in_between_the_sum_of_accepted_experts_is_divided_by_all(clip, shots):
    _, _, scores = answer_at(0.0, clip, shots)
    threshold = float(scores.median())
    answer, experts, scores = answer_at(threshold, clip, shots)
    accepted = scores >= threshold
    assert {1, 2} & set(accepted.sum(dim=0).tolist())
    for row, which in enumerate(accepted.T):
        if which.any():
            torch.testing.assert_close(answer.logits[row], experts[which, row].sum(dim=0) / 3)
    torch.testing.assert_close(answer.baseness, scores.amax(dim=0).log())


def test_other_names_change_what_is_said_of_a_name(clip, shots):
    _, _, scores = answer_at(0.0, clip, shots)
    alone, _, _ = answer_at(float(scores.max()), clip, shots, NameSets(shots.classnames))
    among, _, _ = answer_at(float(scores.max()), clip, shots, NameSets(shots.classnames, NEW))
    assert LEARNER.depends_on_other_names
    assert not torch.allclose(alone.logits, among.logits[:, : len(shots.classnames)], atol=1e-3)


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


def test_terms_by_hand():
    logits = torch.tensor([[[0.0, 0.0], [2.0, 2.0], [0.0, 50.0]]], dtype=torch.float64)
    terms = detector_terms(logits, torch.tensor([[0, 1, -1]]), margin=0.4)
    log2 = float(np.log(2))
    assert float(terms["detector_cross_entropy"]) == pytest.approx(log2)
    assert float(terms["base_entropy"]) == pytest.approx(log2)
    assert float(terms["hinge"]) == pytest.approx(0.4 + log2)
    assert float(terms["total"]) == pytest.approx(0.4 + 2 * log2)
    zero_shot = torch.tensor([[0.0, 0.0], [0.0, 0.0], [5.0, 5.0]], dtype=torch.float64)
    accepted = torch.tensor([[True, False, False]])
    terms = classifier_terms(logits, zero_shot, accepted, torch.tensor([1, 0, 0]))
    assert float(terms["classifier_cross_entropy"]) == pytest.approx(log2)
    # The divergence of a fair coin from one that falls on one side e^50 times as often: log 1/2 + 50 / 2, and 0.
    assert float(terms["divergence"]) == pytest.approx((25 - log2) / 2)


@pytest.mark.parametrize("count", [3, 4, 5, 7])
def test_class_counts_that_do_not_divide(clip, shots, count):
    some = replace(shots.select(np.flatnonzero(shots.labels < count)), classnames=shots.classnames[:count])
    fitted = LEARNER.fit(clip, some, seed=1)
    assert all(np.isfinite(epoch["total"]) for epoch in fitted.history)
    bank = fitted.text_bank(some.classnames[:1], NEW)
    assert fitted.logits(some, bank).shape == (4 * count, 3)
    assert np.isfinite(fitted.baseness(some, bank)).all()


def test_two_classes_need_two_detectors(clip, shots):
    two = replace(shots.select(np.flatnonzero(shots.labels < 2)), classnames=shots.classnames[:2])
    with pytest.raises(OpenworldError, match="3 detector.* cannot divide 2 base class"):
        LEARNER.fit(clip, two, seed=1)
    fitted = replace(LEARNER, detectors=2).fit(clip, two, seed=1)
    assert np.isfinite(fitted.logits(two, fitted.text_bank(two.classnames, NEW))).all()


def test_detectors_keep_their_training_names_in_another_domain(clip):
    training = ("golden retriever", "ice_cream", "traffic light", "fried rice", "owl")
    parameters = LEARNER.start(clip, training, torch.Generator().manual_seed(0))
    detectors = LEARNER.text_bank(clip, parameters, NameSets(("Owl", "lamp"), ("violin",), training)).detectors
    assert detectors.own_names.sum(dim=1).tolist() == [4, 4, 4]
    # Every detector also sees the asked names that it has not learned: lamp and violin, and owl where it is pseudo new.
    assert (detectors.candidates & ~detectors.own_names).sum(dim=1).tolist() == [2, 3, 2]


def test_published_rates():
    learner = DeCoOp.published("imagenet")
    assert {learner.detector_schedule.rate(epoch, step=77 * epoch) for epoch in range(50)} == {2e-3}
    rates = [learner.schedule.rate(0, step=step) for step in (0, 50, 100, 150, 200)]
    assert rates == pytest.approx([2e-3, 1e-3, 0, 1e-3, 2e-3])


def test_counts_as_released_and_as_in_table_7():
    assert tuned_parameters(DeCoOp()) == 6 * 16 * 512 == 49_152
    assert tuned_parameters(DeCoOp(classifier_context=4)) == 3 * (16 + 4) * 512 == 30_720


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


@pytest.mark.parametrize("settings", [{"detectors": 1}, {"margin": -0.1}, {"templates": ()}, {"classifier_context": 0}])
def test_impossible_settings_are_refused(settings):
    with pytest.raises(OpenworldError):
        DeCoOp(**settings)
