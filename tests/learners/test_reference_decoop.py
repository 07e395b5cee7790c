"""DeCoOp against the authors' code on the tiny CLIP (float64 1e-9, float32 5e-5): both stages, threshold, answers."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from comparison import assert_close, images_of
from tiny_clip import as_tensor, reference

from openworld.learners import DeCoOp, NameSets
from openworld.learners.decoop import otsu
from openworld.learners.engine.detector_prompts import divide_classes

STORED = reference("decoop")
NEW = tuple(reference("inputs")["new_class_names"].tolist())
LEARNER = DeCoOp(detector_context=4, classifier_context=4)
K = range(3)


@pytest.fixture
def case(precision):
    """One precision's model, images, recorded parameters and what the learner prepares of them."""
    key, clip, dtype, tolerance = precision
    images, labels, names = images_of(clip, dtype)
    parameters = {
        ours: torch.stack([as_tensor(STORED[f"param/{theirs}.{i}.ctx"], dtype) for i in K]).requires_grad_(True)
        for ours, theirs in {"detectors": "ood_prompter", "classifiers": "coop_prompter"}.items()
    }
    prepared = LEARNER.prepare(clip, names)

    def close(ours, theirs):
        assert_close(ours, STORED[f"{key}/{theirs}"], tolerance)

    return SimpleNamespace(**locals())


def spoken(names):
    return [name.replace("_", " ") for name in names]


def rows(prompts, count=77):
    """Tokens as the authors store them, zero-padded to 77."""
    tokens = prompts.tokens.numpy()
    return np.pad(tokens, ((0, 0), (0, count - tokens.shape[1])))


def test_partitions():
    names, divided = STORED["class_names"], divide_classes(8, 3)
    assert divided.names.shape[1] == STORED["setting/n_divs"]
    for i in K:
        theirs = {
            key: STORED[f"partition/detector_{i}_{key}"] for key in ("classnames", "label_map", "mask", "recovery")
        }
        assert divided.names[i].tolist() == theirs["recovery"].tolist()
        assert spoken(names[divided.names[i]]) == spoken(theirs["classnames"])
        # A detector that lacks one name has a ninth entry in their maps that no label reads.
        assert divided.labels[i].tolist() == theirs["label_map"][:8].tolist()
        assert (divided.labels[i] >= 0).tolist() == theirs["mask"][:8].astype(bool).tolist()


def test_tokens(case):
    for i, own in zip(K, rows(case.prepared.own_prompts).reshape(len(K), -1, 77), strict=True):
        assert (own == STORED[f"tokens/detector_{i}_train"]).all()
        # At test time the authors put a detector's own names first; ours stand in one order for all detectors.
        every = rows(case.clip.prompt_names((*case.names, *NEW), 4))
        assert sorted(every.tolist()) == sorted(STORED[f"tokens/detector_{i}_eval"].tolist())
    assert (rows(case.prepared.classifier_prompts) == STORED["tokens/classifier_train"]).all()
    sentences = [one.format(name) for one in LEARNER.templates for name in spoken(case.names)]
    for ours, theirs in zip(case.clip.tokenizer(sentences), STORED["tokens/clip_prompts_7_templates"], strict=True):
        assert ours == theirs[: len(ours)].tolist() and not theirs[len(ours) :].any()


def test_first_stage(case):
    terms = LEARNER.detector_loss(case.clip, case.parameters, case.images, case.labels, case.prepared)
    terms["total"].backward()
    case.close(terms["detector_cross_entropy"], "stage1/loss_id")
    case.close(terms["hinge"], "stage1/loss_ood")
    case.close(terms["base_entropy"], "stage1/entropy_id_mean")
    case.close(terms["new_entropy"], "stage1/entropy_ood_mean")
    case.close(terms["total"], "stage1/loss_total")
    for i in K:
        case.close(case.parameters["detectors"].grad[i], f"stage1/grad/ood_prompter.{i}.ctx")
    assert case.parameters["classifiers"].grad is None


def test_threshold(case):
    detectors = LEARNER.judge(case.clip, case.parameters, case.prepared)
    scores = detectors.log_scores(case.images.embeddings, case.clip.logit_scale).exp()
    case.close(scores.T, "threshold/scores_per_detector")
    thresholds = torch.tensor([otsu(one.numpy()) for one in scores], dtype=torch.float64)
    case.close(thresholds, "threshold/otsu_per_detector")
    case.close(LEARNER.measure(case.clip, Shown(case.images.embeddings.numpy()), detectors), "threshold/min")


class Shown:
    """As much of `Features` as the threshold needs."""

    def __init__(self, embeddings):
        self.embeddings = embeddings

    def __len__(self):
        return len(self.embeddings)


@pytest.mark.parametrize("stage", ["stage2", "stage2_thr"])
def test_second_stage(case, stage):
    detectors = LEARNER.judge(case.clip, case.parameters, case.prepared)
    threshold = float(STORED[f"{case.key}/{stage}/threshold_used"])
    given = (case.clip, case.parameters | {"threshold": torch.tensor(threshold, dtype=case.dtype)})
    terms = LEARNER.classifier_loss(*given, case.images, case.labels, case.prepared, detectors)
    terms["total"].backward()
    case.close(terms["total"], f"{stage}/loss_total")
    for i in K:
        case.close(case.parameters["classifiers"].grad[i], f"{stage}/grad/coop_prompter.{i}.ctx")
    assert case.parameters["detectors"].grad is None
    accepted = detectors.log_scores(case.images.embeddings, case.clip.logit_scale).exp() >= threshold
    assert accepted.T.int().tolist() == STORED[f"{stage}/is_id"].tolist()


@pytest.mark.parametrize("stage", ["eval", "eval_thr"])
def test_answers(case, stage):
    used = STORED[f"{case.key}/{stage.replace('eval', 'stage2')}/threshold_used"]
    parameters = case.parameters | {"threshold": as_tensor(used, case.dtype)}
    bank = LEARNER.text_bank(case.clip, parameters, NameSets(tuple(case.names), NEW))
    answer = LEARNER.answer(case.clip, parameters, case.images, bank)
    case.close(answer.logits.softmax(dim=-1), f"{stage}/probs")
    case.close(answer.baseness.exp(), f"{stage}/detector_score")
    *_, detectors = bank.parts
    scores = detectors.log_scores(case.images.embeddings, bank.scale).exp()
    assert (scores >= parameters["threshold"]).T.int().tolist() == STORED[f"{stage}/select"].tolist()
    assert (scores.amax(dim=0) < parameters["threshold"]).int().tolist() == STORED[f"{stage}/use_zero_shot"].tolist()
    case.close(torch.tensor(auroc(answer.baseness, STORED["input/eval_labels"] < 8)), f"{stage}/auroc_made_up_labels")


def auroc(scores, is_base):
    base, new = scores[torch.as_tensor(is_base)].detach(), scores[torch.as_tensor(~is_base)].detach()
    return float((base[:, None] > new).double().mean())
