"""Losses, logits and gradients against the authors' code on a tiny seeded CLIP (float64 1e-9, float32 5e-5)."""

import numpy as np
import pytest
import torch
from comparison import assert_close, images_of, leaf
from tiny_clip import as_tensor, reference

from openworld.learners import CoOp, GMoP, KgCoOp, NameSets, Schedule, ZeroShot


def test_zero_shot_logits(precision):
    key, clip, dtype, tolerance = precision
    images, _, names = images_of(clip, dtype)
    learner = ZeroShot()
    bank = learner.text_bank(clip, {}, NameSets(tuple(names)))
    assert_close(learner.answer(clip, {}, images, bank).logits, reference("zeroshot")[f"{key}/logits_eval"], tolerance)


def test_coop(precision):
    key, clip, dtype, tolerance = precision
    stored = reference("coop")
    images, labels, names = images_of(clip, dtype)
    learner = CoOp(context_length=4)
    parameters = {"context": leaf(stored, "prompt_learner.ctx", dtype)}
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    assert_close(parameters["context"].grad, stored[f"{key}/grad/prompt_learner.ctx"], tolerance)
    bank = learner.text_bank(clip, parameters, NameSets(tuple(names)))
    assert_close(learner.answer(clip, parameters, images, bank).logits, stored[f"{key}/logits_eval"], tolerance)


def test_kgcoop(precision):
    key, clip, dtype, tolerance = precision
    stored = reference("kgcoop")
    images, labels, names = images_of(clip, dtype)
    learner = KgCoOp(words=None)
    parameters = {"context": leaf(stored, "prompt_learner.ctx", dtype)}
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    assert_close(terms["cross_entropy"], stored[f"{key}/loss/ce"], tolerance)
    assert_close(8 * terms["guidance"], stored[f"{key}/loss/kg"], tolerance)
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    assert_close(parameters["context"].grad, stored[f"{key}/grad/prompt_learner.ctx"], tolerance)


def gmop(stored, dtype):
    detectors = torch.stack([as_tensor(stored[f"param/ood_prompter.{i}.ctx"], dtype) for i in range(3)])
    classifier = as_tensor(stored["param/coop_prompter.ctx"], dtype)
    return GMoP(detector_context=4), {
        "classifier": classifier.requires_grad_(True),
        "detectors": detectors.requires_grad_(True),
    }


def test_gmop_loss_and_gradients(precision):
    key, clip, dtype, tolerance = precision
    stored = reference("gmop")
    images, labels, names = images_of(clip, dtype)
    learner, parameters = gmop(stored, dtype)
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    terms["total"].backward()
    assert_close(terms["cross_entropy"], stored[f"{key}/loss/ce"], tolerance)
    assert_close(terms["detector_cross_entropy"], stored[f"{key}/loss/warm"], tolerance)
    assert_close(terms["pairwise"], stored[f"{key}/loss/auc"], tolerance)
    assert_close(terms["total"], stored[f"{key}/loss/total"], tolerance)
    assert_close(parameters["classifier"].grad, stored[f"{key}/grad/coop_prompter.ctx"], tolerance)
    for detector in range(3):
        theirs = stored[f"{key}/grad/ood_prompter.{detector}.ctx"]
        assert_close(parameters["detectors"].grad[detector], theirs, tolerance)


def test_gmop_at_test_time(precision):
    key, clip, dtype, tolerance = precision
    stored = reference("gmop")
    images, _, names = images_of(clip, dtype)
    learner, parameters = gmop(stored, dtype)
    new = tuple(reference("inputs")["new_class_names"].tolist())
    bank = learner.text_bank(clip, parameters, NameSets(tuple(names), new, training=tuple(names)))
    answer = learner.answer(clip, parameters, images, bank)
    assert_close(answer.baseness.exp(), stored[f"{key}/eval/detector_score"], tolerance)
    assert_close(answer.logits[:4, :8], stored[f"{key}/eval/base_logits"], tolerance)
    assert_close(answer.logits[4:, 8:], stored[f"{key}/eval/new_logits"], tolerance)


def test_gmop_partitions_name_the_same_classes():
    stored, learner = reference("gmop"), GMoP()
    names = reference("inputs")["class_names"]
    partitions = learner.divide(len(names))
    for detector in range(3):
        theirs = stored[f"partition/detector_{detector}_classnames"]
        assert [name.replace("_", " ") for name in names[partitions.names[detector]]] == [
            name.replace("_", " ") for name in theirs
        ]
        map_of_theirs = stored[f"partition/detector_{detector}_label_map"][: len(names)]
        assert partitions.labels[detector].tolist() == map_of_theirs.tolist()


def test_schedule_is_dassls():
    schedule = Schedule(epochs=50)
    assert schedule.rate(49) == pytest.approx(7.8853e-06, rel=1e-4)
    assert Schedule(epochs=10).rate(9) == pytest.approx(1.91e-4, rel=1e-2)
    assert GMoP().schedule.rate(40) == pytest.approx(0.001 * (1 + np.cos(np.pi * 0.4)))
