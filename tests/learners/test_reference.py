"""Losses, gradients, logits and tokens against the authors' code on a tiny seeded CLIP (float64 1e-9, float32 5e-5)."""

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import torch
from comparison import assert_close, assert_tokens, images_of, recorded
from tiny_clip import as_tensor, reference
from torch.nn.functional import normalize

from openworld.datasets.templates import PROMPTSRC, TCP_BEHIND, TCP_TEACHER, fill
from openworld.learners import (
    IVLP,
    RPO,
    TCP,
    VPT,
    CoCoOp,
    CoOp,
    DePT,
    GalLoP,
    GMoP,
    KgCoOp,
    LoCoOp,
    MaPLe,
    NameSets,
    ProDA,
    ProGrad,
    PromptSRC,
    Schedule,
    ZeroShot,
)
from openworld.learners.engine.text_bank import cosine_logits
from openworld.learners.gallop import closest_patch_cosines, joint_projection
from openworld.learners.maple import image_prompts
from openworld.learners.promptsrc import gaussian_weights

LEARNED = "prompt_learner"
CONTEXT = {"context": f"{LEARNED}.ctx"}
ANSWERS = {"logits": "logits_eval"}


@dataclass(frozen=True)
class Case:
    """A learner and what is recorded of it.

    `tensors`: our parameters and the recorded names, several where we stack them. `terms`: recorded terms of the loss,
    and ours with a factor. `draw`: what a step drew.
    """

    learner: object
    tensors: dict = field(default_factory=lambda: CONTEXT)
    terms: dict = field(default_factory=lambda: {"total": (1, "total")})
    answers: dict = field(default_factory=lambda: ANSWERS)
    draw: str = ""


def with_network(layer):
    """The context and the authors' network of two layers, whose second one we call `layer`."""
    names = {"hidden": "linear1", layer: "linear2"}
    kinds = ("weight", "bias")
    return CONTEXT | {f"{ours}_{kind}": f"{LEARNED}.meta_net.{names[ours]}.{kind}" for ours in names for kind in kinds}


def image_rows(depth):
    return ("image_encoder.VPT", *(f"image_encoder.transformer.resblocks.{n}.VPT_shallow" for n in range(1, depth)))


def both_towers(depth):
    text = (f"{LEARNED}.ctx", *(f"text_encoder.transformer.resblocks.{n}.VPT_shallow" for n in range(1, depth)))
    return {"text": text, "image": image_rows(depth)}


def maple(depth):
    deep = range(depth - 1)
    maps = {
        f"maps_{kind}": (
            f"{LEARNED}.proj.{kind}",
            *(f"{LEARNED}.compound_prompt_projections.{n}.{kind}" for n in deep),
        )
        for kind in ("weight", "bias")
    }
    text = (f"{LEARNED}.ctx", *(f"{LEARNED}.compound_prompts_text.{n}" for n in deep))
    return Case(MaPLe(context_length=4, depth=depth, words=None), {"text": text} | maps)


def total_and(**terms):
    return {"total": (1, "total")} | terms


def ivlp(depth):
    prompts = {"text_length": 4, "image_length": 4, "text_depth": depth, "image_depth": depth, "words": None}
    return Case(IVLP(**prompts), both_towers(depth))


KGCOOP_TERMS = total_and(ce=(1, "cross_entropy"), kg=(8, "guidance"))
PROGRAD = Case(ProGrad(context_length=4, words=None), terms=total_and(ce=(1, "cross_entropy"), kl=(1, "knowledge")))
TCP_TERMS = total_and(ce=(1, "cross_entropy"), score=(1, "guidance"))
PETS = {"behind": TCP_BEHIND["oxford_pets"], "template": TCP_TEACHER["oxford_pets"]}
DEPT_TENSORS = CONTEXT | {
    "image_scale": "film_lp_img.scale",
    "image_shift": "film_lp_img.bias",
    "text_scale": "film_lp_text.scale",
    "text_shift": "film_lp_text.bias",
    "head_weight": "linear_probe_proj.weight",
    "head_bias": "linear_probe_proj.bias",
}
DEPT = Case(
    DePT(words=None),
    DEPT_TENSORS,
    total_and(ce_similarity=(1, "cross_entropy"), ce_linear=(1, "head_cross_entropy"), kg=(1, "guidance")),
    {"base_logits": "logits_eval", "logits": "logits_eval_new"},
)
RPO_ROWS = {"text": f"{LEARNED}.text_prompt", "image": f"{LEARNED}.img_prompt"}
PRODA = Case(
    ProDA(contexts=8, context_length=4, keep_underscores=True),
    {"contexts": f"{LEARNED}.ctx"},
    total_and(ce_upper=(1, "cross_entropy"), orthogonality=(1, "orthogonality")),
    draw="draw/prompts_in_this_step",
)
GMOP = Case(
    GMoP(detector_context=4),
    {"classifier": "coop_prompter.ctx", "detectors": tuple(f"ood_prompter.{i}.ctx" for i in range(3))},
    total_and(ce=(1, "cross_entropy"), warm=(1, "detector_cross_entropy"), auc=(1, "pairwise")),
    {},
)
PROMPTSRC_TERMS = total_and(
    ce=(1, "cross_entropy"),
    text_l1_mean=(1, "text"),
    text=(25, "text"),
    image_l1_mean=(1, "image"),
    logits=(1, "logits"),
)


def gallop(file):
    return Case(
        GalLoP(top=tuple(reference(file)["setting/topk"].tolist()), keep_underscores=True),
        {"global": "global_prompt", "local": "local_prompts", "projection": "local_proj.linear.weight"},
        total_and(**{"global": (1, "global"), "local": (1, "local")}),
        draw="draw/global_prompt_index",
    )


CASES = {
    "coop": Case(CoOp(context_length=4)),
    "kgcoop": Case(KgCoOp(words=None), terms=KGCOOP_TERMS),
    "cocoop": Case(CoCoOp(words=None), with_network("shift")),
    "cocoop_wide": Case(CoCoOp(words=None), with_network("shift")),
    "prograd": PROGRAD,
    "prograd_b": PROGRAD,  # where the two gradients do not agree
    "tcp": Case(TCP(block=1), with_network("tokens"), TCP_TERMS),
    "tcp_wide": Case(TCP(block=1), with_network("tokens"), TCP_TERMS),
    "tcp_pets": Case(TCP(block=1, **PETS), with_network("tokens"), TCP_TERMS),
    "dept": DEPT,
    "dept_wide": DEPT,
    "rpo": Case(RPO(prompts=4, keep_underscores=True), RPO_ROWS),
    "rpo_clean": Case(RPO(prompts=4), RPO_ROWS),
    "locoop": Case(
        LoCoOp(context_length=4, top=3),
        terms=total_and(ce=(1, "cross_entropy"), neg_entropy=(-1, "background_entropy")),
    ),
    **{file: gallop(file) for file in ("gallop", "gallop_near_identity", "gallop_k20")},
    "proda_port": PRODA,
    "proda_port_clean": PRODA,
    "gmop": GMOP,
    **{f"vpt_{kind}": Case(VPT(image_length=4, depth=n), {"image": image_rows(n)})
       for n, kind in ((1, "shallow"), (2, "deep2"), (3, "deep3"))},
    "ivlp_d2": ivlp(2),
    "ivlp": ivlp(3),
    "maple_d2": maple(2),
    "maple": maple(3),
    "maple_wide": maple(3),
    "promptsrc": Case(PromptSRC(depth=3, words=None), both_towers(3), PROMPTSRC_TERMS),
}  # fmt: skip


def parameters_of(file, dtype):
    stored = reference(file)
    return {
        ours: as_tensor(recorded(stored, "param", theirs), dtype).requires_grad_()
        for ours, theirs in CASES[file].tensors.items()
    }


@pytest.mark.parametrize("file", CASES)
def test_loss_gradients_and_logits(precision, file):
    key, clip, dtype, tolerance = precision
    case, stored, parameters = CASES[file], reference(file), parameters_of(file, dtype)
    images, labels, _ = images_of(clip, dtype)
    learner, names = case.learner, stored["class_names"].tolist()
    labels = as_tensor(stored["input/labels"]).long() if "input/labels" in stored else labels
    if case.draw:
        draw = as_tensor(stored[case.draw]).long()
        images = replace(images, draw=draw[:, None] if file.startswith("gallop") else draw)
    terms = learner.loss(clip, parameters, images, labels, learner.prepare(clip, names))
    for theirs, (factor, ours) in case.terms.items():
        assert_close(factor * terms[ours], stored[f"{key}/loss/{theirs}"], tolerance)
    if isinstance(learner, ProGrad):
        kind, gradients = "grad_projected", learner.gradient(terms, parameters)
    else:
        terms["total"].backward()
        kind, gradients = "grad", {name: tensor.grad for name, tensor in parameters.items()}
    for ours, theirs in case.tensors.items():
        expected = recorded(stored, f"{key}/{kind}", theirs)
        # The bar of stacked tensors is that of each.
        pairs = (
            [(gradients[ours], expected)] if isinstance(theirs, str) else zip(gradients[ours], expected, strict=True)
        )
        for gradient, one in pairs:
            assert_close(gradient, one, tolerance)
    with torch.no_grad():
        answer = learner.answer(clip, parameters, images, learner.text_bank(clip, parameters, NameSets(tuple(names))))
    for ours, theirs in case.answers.items():
        assert_close(getattr(answer, ours), stored[f"{key}/{theirs}"], tolerance)


@pytest.mark.parametrize("file", CASES)
def test_a_start_has_the_recorded_shapes(clip, file):
    fresh = CASES[file].learner.start(clip, reference(file)["class_names"].tolist(), torch.Generator().manual_seed(0))
    shapes = {name: tensor.shape for name, tensor in fresh.items()}
    assert shapes == {name: tensor.shape for name, tensor in parameters_of(file, torch.float32).items()}


@pytest.mark.parametrize("file", CASES)
def test_tokens(clip, file):
    stored, learner = reference(file), CASES[file].learner
    names = stored["class_names"].tolist()
    if isinstance(learner, RPO):
        assert_tokens(clip.tokenizer(learner._sentences(names)), stored["tokens/prompts"])
        return
    # PromptSRC's teacher reads 60 sentences, which have a test of their own.
    ask = learner.prompted_names if isinstance(learner, PromptSRC) else learner.prepare
    prepared = ask(clip, names)
    prompts = prepared[0] if isinstance(prepared, tuple) else prepared
    if isinstance(learner, GalLoP):  # they put the context behind the start token of the name tokenised alone
        assert prompts.context_length == stored["setting/n_token_context"]
        assert_tokens(prompts.tokens[:, 5:], stored["tokens/class_names_alone"][:, 1:])
        fresh = learner.start(clip, ("owl",), torch.Generator())
        phrase = clip.text.tokens.weight[torch.from_numpy(stored["tokens/template"][0, 1:5].astype(np.int64))]
        assert all(torch.equal(context, phrase) for name in ("global", "local") for context in fresh[name])
    elif isinstance(learner, ProDA):
        assert_tokens(prompts["end"].tokens, stored["tokens/prompts"])
        assert_tokens(prepared[1].tokens, stored["tokens/context_only"])
        places = [("front", "middle", "end").index(learner._position(context)) for context in range(8)]
        assert places == stored["setting/position_0front_1middle_2end"].tolist()
    elif not isinstance(learner, VPT | GMoP):
        assert_tokens(prompts.tokens, stored["tokens/prompts"])
    if isinstance(learner, TCP | DePT):
        assert_tokens(clip.tokenizer(fill(learner.template, names)), stored["tokens/teacher"])


def test_zero_shot_logits(precision):
    key, clip, dtype, tolerance = precision
    images, _, names = images_of(clip, dtype)
    bank = ZeroShot().text_bank(clip, {}, NameSets(tuple(names)))
    logits = ZeroShot().answer(clip, {}, images, bank).logits
    assert_close(logits, reference("zeroshot")[f"{key}/logits_eval"], tolerance)


def test_gmop_on_base_and_new_names(precision):
    key, clip, dtype, tolerance = precision
    stored, learner, parameters = reference("gmop"), GMOP.learner, parameters_of("gmop", dtype)
    images, _, names = images_of(clip, dtype)
    new = tuple(reference("inputs")["new_class_names"].tolist())
    bank = learner.text_bank(clip, parameters, NameSets(tuple(names), new, training=tuple(names)))
    answer = learner.answer(clip, parameters, images, bank)
    assert_close(answer.baseness.exp(), stored[f"{key}/eval/detector_score"], tolerance)
    assert_close(answer.logits[:4, :8], stored[f"{key}/eval/base_logits"], tolerance)
    assert_close(answer.logits[4:, 8:], stored[f"{key}/eval/new_logits"], tolerance)


@pytest.mark.parametrize("file", ["tcp", "tcp_wide", "tcp_pets"])
def test_class_tokens_of_tcp(precision, file):
    key, clip, dtype, tolerance = precision
    stored, learner = reference(file), CASES[file].learner
    _, teacher = learner.prepare(clip, stored["class_names"].tolist())
    assert_close(teacher, stored[f"{key}/teacher/text_norm"], tolerance)
    tokens = learner.class_tokens(parameters_of(file, dtype), teacher)
    assert_close(tokens, stored[f"{key}/class_prompts"], tolerance)


def test_patch_logits_and_background_of_locoop(precision):
    key, clip, dtype, tolerance = precision
    stored, learner = reference("locoop"), CASES["locoop"].learner
    images, labels, names = images_of(clip, dtype)
    bank = learner.text_bank(clip, parameters_of("locoop", dtype), NameSets(tuple(names)))
    patches = cosine_logits(clip.project_patches(images.patches), bank.text, bank.scale)
    assert_close(patches, stored[f"{key}/logits_local_eval"], tolerance)
    logits = torch.from_numpy(stored["f64/logits_local_train"])
    label = logits.gather(-1, labels[:, None, None].expand(-1, logits.shape[1], 1))
    assert np.array_equal((logits > label).sum(dim=-1) < 3, stored["patch_has_label_in_top3"])


@pytest.mark.parametrize("file", ["gallop", "gallop_near_identity", "gallop_k20"])
def test_closest_patches_of_gallop(precision, file):
    key, clip, dtype, tolerance = precision
    stored = reference(file)
    images, _, _ = images_of(clip, dtype)
    text = normalize(as_tensor(stored[f"{key}/text_features_local"], dtype), dim=-1).transpose(0, 1)
    patches = images.patches @ joint_projection(clip, as_tensor(stored["param/local_proj.linear.weight"], dtype))
    closest = closest_patch_cosines(patches, text, stored["setting/topk"].tolist())
    assert_close(clip.logit_scale * closest.permute(1, 2, 0), stored[f"{key}/logits_local_train"], tolerance)


def test_features_of_both_towers_of_maple(precision):
    key, clip, dtype, tolerance = precision
    stored, parameters = reference("maple_wide"), parameters_of("maple_wide", dtype)
    images, _, names = images_of(clip, dtype)
    prompts = dict(enumerate(image_prompts(parameters)))
    assert_close(clip.encode_image(images.pixels, prompts=prompts), stored[f"{key}/image_features"], tolerance)
    bank = CASES["maple_wide"].learner.text_bank(clip, parameters, NameSets(tuple(names)))
    theirs = stored[f"{key}/text_features"]
    assert_close(bank.text, theirs / np.linalg.norm(theirs, axis=1, keepdims=True), tolerance)


def test_sentences_and_weights_of_promptsrc(clip):
    stored = reference("promptsrc")
    names = stored["class_names"].tolist()
    rows = [clip.tokenizer(fill(sentence, names)) for sentence in PROMPTSRC]
    ours = Counter(tuple(tuple(row) + (0,) * (77 - len(row)) for row in sentence) for sentence in rows)
    assert ours == Counter(tuple(map(tuple, sentence)) for sentence in stored["tokens/teacher"].tolist())
    weights = torch.tensor(gaussian_weights(10, mean=6, deviation=2), dtype=torch.float64)
    assert_close(weights, stored["f64/gpa_weights_E10_mean6_std2"], 1e-12)


def test_schedule_is_dassls():
    schedule = Schedule(epochs=50)
    assert schedule.rate(49) == pytest.approx(7.8853e-06, rel=1e-4)
    assert Schedule(epochs=10).rate(9) == pytest.approx(1.91e-4, rel=1e-2)
    assert GMoP().schedule.rate(40) == pytest.approx(0.001 * (1 + np.cos(np.pi * 0.4)))
