"""Learners as models of OOD detection: trained in the run, or saved; their own score, and detectors of logits."""

from dataclasses import replace

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
from openworld.evaluations import evaluation_of, read_protocol
from openworld.evaluations.artifacts import Crew
from openworld.evaluations.rows import read_rows
from openworld.evaluations.runtime import Machine
from openworld.learners import LEARNERS, FittedLearner, load
from openworld.learners.engine.text_bank import cosine_logits
from openworld.ood.by_shift.evaluation import EVALUATION
from openworld.ood.model_entries import DetectorSpec, JudgedSpec
from openworld.runs import RunStore, execute
from openworld.testing import small_world

SHORT = {"context_length": 2, "schedule": {"epochs": 1}}


@pytest.fixture(scope="module")
def world():
    return small_world()


@pytest.fixture(scope="module")
def fitted(world):
    """A function from the name of a learner to it, fitted for two epochs."""
    made = {}

    def fit(name):
        if name not in made:
            made[name] = _fitted(world, name)
        return made[name]

    return fit


def learner_scores(made, chosen, features):
    """Scores float64[N] by label of images that detectors learn from and then score, and the predictions."""
    seen = activations_of_learner(made, features)
    known = detectors.fit_together(detectors_of_learner(chosen, made), [seen])
    scores = score_together(known, replace(seen, labels=None))
    return {label: own.double().numpy() for label, own in scores.items()}, seen.predictions.numpy()


def _fitted(world, name):
    learner = LEARNERS[name]()
    short = {
        field: replace(getattr(learner, field), epochs=2)
        for field in ("schedule", "detector_schedule", "projection_schedule")
        if hasattr(learner, field)
    }
    learner = replace(learner, **short)
    return learner.fit(world.clip, world.shots, seed=0)


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
    own = made.own_score(features, bank)
    for row in (0, len(features) - 1):
        image = normalize(torch.from_numpy(features.embeddings[row]).float(), dim=0)
        best = torch.softmax(bank.text @ image, dim=0).max().item()
        surest = 0.0
        for patch in torch.from_numpy(features.patches[row]).float() @ bank.projection:
            cosines = [[float(normalize(patch, dim=0) @ name) for name in context] for context in bank.local]
            surest = max(surest, torch.softmax(torch.tensor(cosines).mean(dim=0), dim=0).max().item())
        assert own[row] == pytest.approx(best + surest, abs=1e-4)


def test_detectors_of_features_are_refused_where_features_say_nothing(fitted):
    require_served(fitted("CoOp"), "CoOp", {"KNN": KNN(), "MSP": MSP()})
    with pytest.raises(OpenworldError, match="KNN needs bank and features.*GalLoP answers by more than cosines"):
        require_served(fitted("GalLoP"), "GalLoP", {"MSP": MSP(), "KNN": KNN()})
    with pytest.raises(OpenworldError, match="answers by more than cosines"):
        JudgedSpec(learner="MaPLe", backbone="embedded", detectors=(DetectorSpec("KNN"),))


# --- runs -------------------------------------------------------------------------------------------------------


def given(root, models, **changed):
    return {
        "protocol": "ood-detection",
        "sources": [{"dataset": str(root)}],
        "id_part": "validation",
        "shots": None,
        "pool": [{"dataset": str(root)}],
        "models": models,
        "decomposition": {"settings": {"steps": 2}, "templates": ["a {}.", "a dark {}.", "a small {}.", "half a {}."]},
        "k": 2,
        "levels": 3,
        "least": 2,
        "seeds": [0, 1],
    } | changed


def run(spec, folder, cache):
    machine = Machine(cache=str(cache))
    stages = evaluation_of(spec).artifacts(spec, machine)
    evaluation_of(spec).require(spec.tasks, machine)
    made = {stage.doing: stage.work(Crew("local", 1, folder), None) for stage in stages}
    return made, execute(EVALUATION.units(spec, machine), RunStore(folder))


MODELS = [
    {"learner": "zero-shot", "backbone": "embedded", "detectors": [{"detector": "own score"}, {"detector": "MSP"}]},
    {"learner": "CoOp", "backbone": "embedded", "settings": SHORT, "views": 1, "shots": 3,
     "detectors": [{"detector": "own score"}, {"detector": "KNN", "settings": {"k": 2}}]},
    {"learner": "LoCoOp", "backbone": "embedded", "settings": SHORT, "views": 1, "label": "local"},
]  # fmt: skip


@pytest.fixture(scope="module")
def ran(few_shapes, tmp_path_factory):
    folder = tmp_path_factory.mktemp("learners")
    spec = read_protocol(given(few_shapes, MODELS, shots=2))
    return spec, folder, *run(spec, folder, folder / "cache")


def test_a_learner_is_trained_once_for_every_seed_and_kept(ran):
    spec, folder, made, records = ran
    assert [record.name for record in records] == [
        "zero-shot", "CoOp, seed 0", "CoOp, seed 1", "local, seed 0", "local, seed 1"
    ]  # fmt: skip
    assert made["tuning"] == 5 * 4 * 2
    again, same = run(spec, folder, folder / "cache")
    assert not any(again.values()) and [one.metrics for one in same] == [one.metrics for one in records]


def test_its_record_is_that_of_any_model(ran):
    _, _, _, (zero_shot, coop, other, local, _) = ran
    assert {record.metrics["kind"] for record in ran[3]} == {"learner"}
    assert set(read_rows(local).where(metric="auroc").entities) == set(OF_LEARNERS)
    scores, others = (np.array(record.table("images")["score own score"]) for record in (coop, other))
    assert not np.array_equal(scores, others)
    own, msp = (np.array(zero_shot.table("images")[f"score {label}"]) for label in ("own score", "MSP"))
    assert np.allclose(np.exp(own), msp, atol=1e-5)  # log of the largest softmax at its own temperature


def test_a_damaged_learner_is_trained_again(ran, tmp_path):
    spec, folder, _, _ = ran
    training = spec.tasks[1].learner
    machine = Machine(cache=str(folder / "cache"))
    file = folder / "cache" / training.key / "parameters.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert not training.is_kept(machine)
    training.build(machine)
    assert training.is_kept(machine) and file.read_bytes() == whole


def test_a_saved_learner_answers_as_the_one_that_was_saved(ran, few_shapes, tmp_path):
    spec, folder, _, records = ran
    machine = Machine(cache=str(folder / "cache"))
    for seed, task in enumerate(spec.tasks[1:3]):
        fitted = task.learner.load(machine)
        assert isinstance(fitted, FittedLearner)
        fitted.save(tmp_path / f"tuned-{seed}" / "attachments" / "learner")
    entry = MODELS[1] | {"learner": str(tmp_path / "tuned-{seed}")}
    entry = {key: value for key, value in entry.items() if key not in ("settings", "views", "shots")}
    saved = read_protocol(given(few_shapes, [entry | {"label": "mine"}], shots=2))
    made, found = run(saved, tmp_path / "run", folder / "cache")
    assert "tuning" not in made and [record.name for record in found] == ["mine, seed 0", "mine, seed 1"]
    for one, other in zip(found, records[1:3], strict=True):
        assert read_rows(one).where(metric="auroc").rows == read_rows(other).where(metric="auroc").rows
    assert load(tmp_path / "tuned-0" / "attachments" / "learner", fitted.clip).classnames == fitted.classnames
    single = JudgedSpec(learner=str(tmp_path / "tuned-0"))
    assert (single.backbone, single.has_seeds, single.kind) == ("embedded", False, "learner")


def test_a_saved_learner_of_other_classes_is_refused(ran, shapes, few_shapes, tmp_path):
    spec, folder, _, _ = ran
    spec.tasks[1].learner.load(Machine(cache=str(folder / "cache"))).save(tmp_path / "tuned")
    other = read_protocol(given(few_shapes, [{"learner": str(tmp_path / "tuned")}], classes="all", shots=2))
    with pytest.raises(OpenworldError, match="trained on other class names"):
        EVALUATION.require(other.tasks, Machine(cache=str(folder / "cache")))


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"learner": "CoOp"}, "needs a backbone"),
        ({"learner": "CoOps", "backbone": "embedded"}, "unknown learner"),
        ({"learner": "CoOp", "backbone": "embedded", "settings": {"context": 2}}, "context_length"),
        ({"learner": "CoOp", "backbone": "embedded", "architecture": "convnet"}, "stands on a backbone"),
        ({"backbone": "embedded", "shots": 2}, "those of a learner"),
        ({"learner": "no/where"}, "no saved learner"),
        ({"learner": "tuned-{seed}"}, "name of their backbone"),
        ({"learner": "CoOp", "backbone": "embedded", "views": 0}, "views"),
        ({"backbone": "embedded", "detectors": [{"detector": "own score"}]}, "needs learner"),
    ],
)
def test_what_cannot_work_is_refused(few_shapes, entry, reason):
    with pytest.raises(OpenworldError, match=reason):
        read_protocol(given(few_shapes, [entry]))


def test_a_template_goes_to_a_learner_that_reads_one():
    made = JudgedSpec(learner="KgCoOp", backbone="embedded", template="a drawing of a {}.").resolved("emoji-concepts")
    assert made.settings["template"] == "a drawing of a {}." and made.resolved("emoji-concepts") == made
    with pytest.raises(OpenworldError, match="CoOp reads no template"):
        JudgedSpec(learner="CoOp", backbone="embedded", template="a {}").resolved("emoji-concepts")


def test_negative_names_serve_learners_whose_prompts_encode_any_name():
    made = JudgedSpec(learner="LoCoOp", backbone="embedded", negatives="words.txt")
    assert [each.label for each in made.detectors] == [*OF_LEARNERS, "NegLabel", "AdaNeg"]
    with pytest.raises(OpenworldError, match="NegLabel encodes names of what the classes are not, and GalLoP does not"):
        JudgedSpec(learner="GalLoP", backbone="embedded", detectors=(DetectorSpec("NegLabel"),), negatives="words.txt")
    with pytest.raises(OpenworldError, match="give negatives: 'wordnet'"):
        JudgedSpec(learner="CoOp", backbone="embedded", detectors=(DetectorSpec("NegLabel"),))


def test_the_record_says_how_a_learner_was_trained(ran):
    facts = ran[3][1].metrics["learner"]
    assert (facts["learner"], facts["seed"], facts["images"], facts["views"], facts["epochs"]) == ("CoOp", 0, 8, 1, 1)
    assert facts["settings"]["context_length"] == 2
