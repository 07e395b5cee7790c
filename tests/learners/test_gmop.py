"""GMoP's parts by hand, against the authors' loss code, and its ablations."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from openworld import OpenworldError
from openworld.learners import GMoP, NameSets
from openworld.learners.engine.detector_prompts import divide_classes
from openworld.learners.gmop import mixture_loss

STORED = json.loads((Path(__file__).parents[1] / "reference" / "gmop.json").read_text())


@pytest.mark.parametrize("case", STORED["gmop_partitions"], ids=lambda case: f"n{case['n_classes']}K{case['K']}")
def test_partitions_are_the_authors(case):
    partitions = divide_classes(case["n_classes"], case["K"])
    assert partitions.names.tolist() == case["pseudo_base_text_class_index"]
    assert partitions.labels.tolist() == [row[: case["n_classes"]] for row in case["label_of_class"]]


@given(count=st.integers(2, 60), detectors=st.integers(2, 8))
def test_every_class_is_pseudo_new_once(count, detectors):
    if detectors > count:
        with pytest.raises(OpenworldError, match="cannot divide"):
            divide_classes(count, detectors)
        return
    partitions = divide_classes(count, detectors)
    assert ((partitions.labels < 0).sum(axis=0) == 1).all()
    for names, labels in zip(partitions.names, partitions.labels, strict=True):
        assert all(names[labels[index]] == index for index in range(count) if labels[index] >= 0)
        assert len(set(names.tolist())) == len(names)


def batch(case):
    inputs = case["inputs"]
    base, new, detector = (
        torch.tensor(inputs[name], dtype=torch.float64, requires_grad=True)
        for name in ("g_logits", "h_logits", "detector_logits")
    )
    labels = torch.tensor(inputs["target"])
    columns = torch.tensor(divide_classes(inputs["n_classes"], inputs["K"]).labels)
    return base, new, detector, labels, columns, GMoP(alpha=inputs["alpha"], lam=inputs["lam"])


@pytest.mark.parametrize("case", STORED["gmop_batch_loss"], ids=lambda case: f"n{case['inputs']['n_classes']}")
def test_loss_and_gradients_are_the_authors(case):
    base, new, detector, labels, columns, settings = batch(case)
    theirs = case["reference"]
    terms = mixture_loss(base, new, detector, labels, columns, settings)
    terms["total"].backward()
    terms = {name: float(term.detach()) for name, term in terms.items()}
    assert terms["cross_entropy"] == pytest.approx(theirs["ce_g_fp32"], rel=1e-6)
    assert terms["detector_cross_entropy"] == pytest.approx(theirs["detector_ce"], rel=1e-6)
    assert terms["pairwise"] == pytest.approx(theirs["auc_loss"], rel=1e-6)
    # Their cross-entropy of the classifier runs in half precision, which shows in the total and in its gradient.
    assert terms["total"] == pytest.approx(theirs["total"], rel=1e-3)
    np.testing.assert_allclose(base.grad, theirs["grad_g_logits"], atol=1e-4)
    np.testing.assert_allclose(detector.grad, theirs["grad_detector_logits"], atol=1e-6)
    assert new.grad is not None


def by_hand(base, new, detector, labels, columns, gates):
    """The pairwise term written as the double loop of the definition."""
    total = 0.0
    for one, column in zip(detector.softmax(-1), columns, strict=True):
        positives = [i for i, label in enumerate(labels) if column[label] >= 0]
        negatives = [i for i, label in enumerate(labels) if column[label] < 0]
        if positives and negatives:
            score = one.max(dim=-1).values
            pairs = [gates(p, q) * (1 - (score[p] - score[q])) ** 2 for p in positives for q in negatives]
            total += sum(pairs) / len(pairs)
    return float(total / len(detector))


@pytest.mark.parametrize("gate", ["none", "0-1", "sigmoid", "detached", "logit"])
def test_gates_by_the_double_loop(gate):
    base, new, detector, labels, columns, settings = batch(STORED["gmop_batch_loss"][0])
    one = torch.arange(len(labels))

    def weight(logits, i):
        if gate == "none":
            return 1.0
        if gate == "0-1":
            return float(logits[i].argmax() == labels[i])
        value = logits[i] if gate == "logit" else logits[i].softmax(-1)
        return float(torch.sigmoid(value[labels[one[i]]]))

    with torch.no_grad():
        terms = mixture_loss(base, new, detector, labels, columns, replace(settings, gate=gate))
        expected = by_hand(base, new, detector, labels, columns, lambda p, q: weight(base, p) * weight(new, q))
    assert float(terms["pairwise"]) == pytest.approx(expected, rel=1e-10)


def test_only_the_published_gate_trains_the_classifier_through_the_pairs():
    base, new, detector, labels, columns, settings = batch(STORED["gmop_batch_loss"][0])
    for gate, moves in {"sigmoid": True, "logit": True, "detached": False, "0-1": False, "none": False}.items():
        terms = mixture_loss(base, new, detector, labels, columns, replace(settings, gate=gate))
        (gradient,) = torch.autograd.grad(terms["pairwise"], base, allow_unused=True)
        assert (gradient is not None and bool(gradient.abs().sum() > 0)) == moves


def test_a_batch_without_pseudo_new_images_trains_the_classifier_alone():
    base, new, detector, _, columns, settings = batch(STORED["gmop_batch_loss"][0])
    labels = torch.zeros(len(base), dtype=torch.long)  # class 0 is pseudo new for detector 0 and base for the others
    terms = mixture_loss(base, new, detector, labels, columns, settings)
    assert float(terms["pairwise"].detach()) == 0
    assert float(terms["total"].detach()) == pytest.approx(float(terms["cross_entropy"].detach()))


def test_a_single_pseudo_base_image_counts_whole():
    base, new, detector, _, columns, settings = batch(STORED["gmop_batch_loss"][0])
    labels = torch.zeros(len(base), dtype=torch.long)
    labels[0] = 1  # the one base image of detector 0, the one new image of detector 1; detector 2 has no new one
    terms = mixture_loss(base, new, detector, labels, columns, settings)
    own = [(0, slice(0, 1)), (1, slice(1, None))]
    expected = sum(cross_entropy(detector[i, some], columns[i, labels[some]]) for i, some in own) / 3
    torch.testing.assert_close(terms["detector_cross_entropy"], expected)


@pytest.mark.parametrize(
    "settings",
    [
        {"new_classifier": "tuned"},
        {"single_prompt": True, "gate": "none"},
        {"partition_seed": 1, "detectors": 2},
    ],
    ids=str,
)
def test_ablations_fit_and_answer(clip, shots, settings):
    learner = GMoP(detector_context=4, **settings)
    learner = replace(learner, schedule=replace(learner.schedule, epochs=2))
    fitted = learner.fit(clip, shots, seed=1)
    bank = fitted.text_bank(shots.classnames, ("sea turtle", "violin"))
    assert fitted.logits(shots, bank, "all").shape == (len(shots), len(shots.classnames) + 2)
    assert (fitted.baseness(shots, bank) <= 0).all()
    assert fitted.history[-1]["total"] < fitted.history[0]["total"]


def test_detectors_keep_their_training_names_in_another_domain(clip):
    learner = GMoP(detector_context=4)
    training = ("golden retriever", "ice_cream", "traffic light", "fried rice", "owl")
    parameters = learner.start(clip, training, torch.Generator().manual_seed(0))
    bank = learner.text_bank(clip, parameters, NameSets(("owl", "lamp"), ("violin",), training))
    detectors = bank.parts
    assert detectors.own_names.sum(dim=1).tolist() == [4, 4, 4]
    # Every detector also sees the asked names that it does not hold: lamp and violin, and owl where it is pseudo new.
    assert (detectors.candidates & ~detectors.own_names).sum(dim=1).tolist() == [2, 3, 2]


def test_a_name_spelt_otherwise_in_another_domain_is_the_same_name(clip):
    learner = GMoP(detector_context=4, detectors=2)
    training = ("ice_cream", "owl", "lamp")
    parameters = learner.start(clip, training, torch.Generator().manual_seed(0))
    same, other = (
        learner.text_bank(clip, parameters, NameSets(base, ("violin",), training))
        for base in (training, ("Ice cream", "owl", "lamp"))
    )
    assert torch.equal(same.parts.candidates, other.parts.candidates)
    torch.testing.assert_close(same.parts.text, other.parts.text)
