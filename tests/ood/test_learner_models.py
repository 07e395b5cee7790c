"""Models that a spec lists: what is refused and resolved; learners, with their own score and detectors of logits."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from openworld import OpenworldError, detectors
from openworld.detectors import GLMCM, KNN, MCM, MSP, OwnScore, score_together
from openworld.detectors.engine.two_towers import (
    COSINE_LEARNERS,
    OF_LEARNERS,
    activations_of_learner,
    detectors_of_learner,
    require_served,
)
from openworld.learners import LEARNERS
from openworld.learners.engine.text_bank import cosine_logits
from openworld.ood.model_entries import TWO_TOWER, DetectorSpec, JudgedSpec
from openworld.runs import read_spec
from openworld.testing import small_world


@pytest.fixture(scope="module")
def world():
    return small_world()


@pytest.fixture(scope="module")
def fitted(world):
    """A function from the name of a learner to it, fitted for two epochs."""

    @cache
    def fit(name):
        schedules = ("schedule", "detector_schedule", "projection_schedule")
        learner = LEARNERS[name]()
        short = {each: replace(getattr(learner, each), epochs=2) for each in schedules if hasattr(learner, each)}
        return replace(learner, **short).fit(world.clip, world.shots, seed=0)

    return fit


def learner_scores(made, chosen, features):
    """Scores float64[N] by label of images that detectors learn from and then score, and the predictions."""
    seen = activations_of_learner(made, features)
    known = detectors.fit_together(detectors_of_learner(chosen, made), [seen])
    scores = score_together(known, replace(seen, labels=None))
    return {label: own.double().numpy() for label, own in scores.items()}, seen.predictions.numpy()


def test_those_whose_logits_are_cosines_are_named(world, fitted):
    """By a fit of every learner: a new one is either enrolled or answers by more than cosines with its texts."""
    cosine = []
    for name in LEARNERS:
        made = fitted(name)
        features = world.shots
        bank = made.text_bank(made.classnames)
        answer = made.answer(features, bank)
        text = getattr(bank, "text", None)
        embeddings = torch.from_numpy(features.embeddings[:])
        if (
            text is None
            or text.shape != (len(made.classnames), embeddings.shape[1])
            or made.learner.consumes == "pixels"
        ):
            continue
        expected = cosine_logits(embeddings, text, bank.scale).detach().numpy()
        logits = answer.logits if answer.base_logits is None else answer.base_logits
        if np.allclose(logits, expected, atol=1e-4):
            cosine.append(name)
    assert sorted(cosine) == sorted(COSINE_LEARNERS)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_its_own_score_and_those_of_logits(world, fitted, name):
    made = fitted(name)
    chosen = {label: DetectorSpec(label).build() for label in OF_LEARNERS}
    features = world.shots
    scores, prediction = learner_scores(made, chosen, features)
    assert list(scores) == list(OF_LEARNERS)
    answer = made.answer(features, made.text_bank(made.classnames))
    logits = answer.logits if answer.base_logits is None else answer.base_logits
    assert np.array_equal(prediction, logits.argmax(axis=1))
    shifted = np.exp(logits.astype(float) - logits.max(axis=1, keepdims=True))
    assert np.allclose(scores["MSP"], (shifted / shifted.sum(axis=1, keepdims=True)).max(axis=1), atol=1e-5)
    if not hasattr(made.learner, "own_score"):
        assert np.array_equal(scores["own score"], answer.baseness.astype(float))


def test_mcm_of_a_learner_is_that_of_its_texts(world, fitted):
    made = fitted("CoOp")
    features = world.shots
    scores, _ = learner_scores(made, {"MCM": MCM(), "warm": MCM(0.5)}, features)
    seen = detectors.activations_of(world.clip, features, detectors.Texts(made.text_bank(made.classnames).text))
    for label, plain in (("MCM", MCM()), ("warm", MCM(0.5))):
        assert np.allclose(scores[label], plain.fit(seen).score(seen).numpy(), atol=1e-6)


def test_the_own_score_of_locoop_is_gl_mcm_with_its_texts(world, fitted):
    made = fitted("LoCoOp")
    chosen = {"own score": OwnScore(), "GL-MCM": GLMCM()}
    features = world.shots
    scores, _ = learner_scores(made, chosen, features)
    assert np.allclose(scores["own score"], scores["GL-MCM"], atol=1e-5)


def test_the_own_score_of_gallop_by_loops(world, fitted):
    made = fitted("GalLoP")
    features = world.shots
    bank = made.text_bank(made.classnames)
    local, projection = bank.parts
    own = made.own_score(features, bank)
    for row in (0, len(features) - 1):
        image = normalize(torch.from_numpy(features.embeddings[row]).float(), dim=0)
        best = torch.softmax(bank.text @ image, dim=0).max().item()
        surest = 0.0
        for patch in torch.from_numpy(features.patches[row]).float() @ projection:
            cosines = [[float(normalize(patch, dim=0) @ name) for name in context] for context in local]
            surest = max(surest, torch.softmax(torch.tensor(cosines).mean(dim=0), dim=0).max().item())
        assert own[row] == pytest.approx(best + surest, abs=1e-4)


def test_detectors_of_features_are_refused_where_features_say_nothing(fitted):
    require_served(fitted("CoOp"), "CoOp", {"KNN": KNN(), "MSP": MSP()})
    with pytest.raises(OpenworldError, match="KNN needs bank and features.*GalLoP answers by more than cosines"):
        require_served(fitted("GalLoP"), "GalLoP", {"MSP": MSP(), "KNN": KNN()})


# --- entries of a spec ----------------------------------------------------------------------------------------


def detecting(*names, **beside):
    return {"detectors": [{"detector": name} for name in names]} | beside


TOWER, COOP, NETWORK = (
    {"backbone": "embedded"},
    {"learner": "CoOp", "backbone": "embedded"},
    {"architecture": "convnet"},
)
REFUSED = [
    ({}, "give one"),
    (TOWER | NETWORK, "as it is"),
    (NETWORK | {"template": "a {}."}, "two-tower"),
    ({"weights": "here", "recipe": {"epochs": 1}}, "not trained"),
    (NETWORK | {"profile": "is-odd"}, "is-ood"),
    (NETWORK | {"profile": "two-tower"}, "texts"),
    (TOWER | {"profile": "is-ood"}, "gradient"),
    (TOWER | detecting("NegLabel"), "negatives"),
    (TOWER | detecting("AdaNeg"), "negatives"),
    (TOWER | detecting("CSP", negatives="nouns.txt"), "needs adjectives beside the nouns of nouns.txt"),
    (TOWER | detecting("MSP", "MSP"), "labels of detectors of embedded must be distinct"),
    (NETWORK | {"detectors": [{"detector": "KNN", "settings": {"neighbours": 3}}]}, "neighbours"),
    ({"learner": "CoOp"}, "needs a backbone"),
    (COOP | {"learner": "CoOps"}, "unknown learner"),
    (COOP | {"settings": {"context": 2}}, "context_length"),
    (COOP | NETWORK, "stands on a backbone"),
    (TOWER | {"shots": 2}, "those of a learner"),
    ({"learner": "no/where"}, "no saved learner"),
    ({"learner": "tuned-{seed}"}, "name of their backbone"),
    (COOP | {"views": 0}, "views"),
    (TOWER | detecting("own score"), "needs learner"),
    (COOP | detecting("KNN", learner="MaPLe"), "answers by more than cosines"),
    (
        COOP | detecting("NegLabel", learner="GalLoP", negatives="words.txt"),
        "NegLabel encodes names .* GalLoP does not",
    ),
    (COOP | detecting("NegLabel"), "give negatives: 'wordnet'"),
]


@pytest.mark.parametrize(("entry", "said"), REFUSED)
def test_what_cannot_work_is_refused(entry, said):
    with pytest.raises(OpenworldError, match=said):
        read_spec(entry, JudgedSpec)


def test_a_template_goes_to_a_learner_that_reads_one():
    made = JudgedSpec(learner="KgCoOp", backbone="embedded", template="a drawing of a {}.").resolved("emoji-concepts")
    assert made.settings["template"] == "a drawing of a {}." and made.resolved("emoji-concepts") == made
    with pytest.raises(OpenworldError, match="CoOp reads no template"):
        JudgedSpec(learner="CoOp", backbone="embedded", template="a {}").resolved("emoji-concepts")


def test_detectors_of_an_entry_that_lists_none():
    eight = ("MSP", "ODIN", "MDS", "GradNorm", "KNN", "DICE", "RankFeat", "ASH")
    for entry, labels in (
        (NETWORK, eight),
        (TOWER, TWO_TOWER),
        (COOP | {"negatives": "words.txt"}, (*OF_LEARNERS, "NegLabel", "AdaNeg")),
    ):
        assert tuple(each.label for each in JudgedSpec(**entry).detectors) == labels
