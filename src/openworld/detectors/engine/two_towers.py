"""What two-tower models see of images, as detectors read it: embeddings with class names as a head; and what prompt
learners tuned on them see: logits, a score of their own, and perhaps texts.

A learner is anything with `classnames`, `clip`, `learner`, and the methods `text_bank`, `answer` and `own_score` of
`openworld.learners.FittedLearner`; nothing of it is changed. It answers among its own names alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from openworld.backbones import DualEncoder
from openworld.core.errors import OpenworldError
from openworld.core.types import checked
from openworld.datasets.names.forms import normalise_class_name
from openworld.detectors.engine.activations import Activations
from openworld.detectors.engine.head import Head
from openworld.detectors.engine.texts import OF_NEGATIVE_NAMES, Encode, Texts
from openworld.detectors.mcm import MCM
from openworld.detectors.msp import MSP
from openworld.detectors.own_score import OWN_SCORE
from openworld.features import Features

OF_LEARNERS = (OWN_SCORE, "MCM", "MSP", "MaxLogit", "Energy", "GEN")
"""Detectors of a learner that lists none: its own, and those of its logits over the in-distribution names."""

COSINE_LEARNERS = ("zero-shot", "zero-shot-ensemble", "CoOp", "KgCoOp", "GMoP", "ProGrad", "TCP", "LoCoOp")
"""Learners whose logits are cosines of the backbone's image embeddings with one text feature of each name.

Their tuned text features are a head over those embeddings, so that detectors of features and texts serve them, too; and
their prompts encode any name, so that those of negative names do.
"""


@torch.no_grad()
@checked
def activations_of(clip: DualEncoder, features: Features, texts: Texts, head: Head | None = None) -> Activations:
    """Encoded images, ready for any detector.

    The head is the model's zero-shot classifier over unit embeddings, so that MSP, Energy, KNN, MDS and the like run on
    two-tower models too; a head of your own, such as `linear_probe(activations.features, activations.labels)`,
    takes its place where there are training images. Labels are those of the encoded set, and are right
    only where its classes are those of the texts.

    Args:
        clip: the backbone that encoded them. features: encoded images, with patches for GL-MCM.
        texts: class names as `encode_texts` gives them. head: of as many classes, over unit embeddings.
    Raises:
        OpenworldError: features of another width than the backbone's, a head of another number of classes.
    """
    embeddings = torch.from_numpy(features.embeddings[:]).to(clip.device).float()
    if embeddings.shape[1] != clip.config.joint_dimension:
        raise OpenworldError(
            f"features have width {embeddings.shape[1]}, the backbone {clip.name!r} {clip.config.joint_dimension}; "
            "encode them with this backbone."
        )
    if head is not None and head.classes != len(texts.own):
        raise OpenworldError(f"the head has {head.classes} classes, the texts {len(texts.own)}; name the same classes.")
    unit = normalize(embeddings, dim=1)
    patches = None
    if features.patches is not None:
        rows = torch.from_numpy(features.patches[:]).to(clip.device, clip.dtype)
        patches = clip.project_patches(rows).float()  # ty: ignore[missing-attribute]: others refuse it in a sentence
    same = len(features.classnames) == len(texts.own)
    return Activations(
        unit,
        head or Head.of_texts(texts.own.to(unit), clip.logit_scale.float()),
        labels=torch.from_numpy(features.labels[:]).to(clip.device) if same else None,
        texts=texts.to(unit),
        patches=patches,
    )


def answers_by_cosine(learner: Any) -> bool:
    """Whether a learner, or its class, is one of `COSINE_LEARNERS`."""
    kind = learner if isinstance(learner, type) else type(learner)
    return kind.name in COSINE_LEARNERS and kind.__module__.startswith("openworld.")


def offers_of(learner: Any) -> frozenset[str]:
    """Return what of `NEEDS` a learner, or its class, shows."""
    more = {"features", "head", "texts", "patches"} if answers_by_cosine(learner) else set()
    return frozenset({"logits", "learner"} | more)


def require_served(fitted: Any, label: str, chosen: Mapping[str, Any]) -> None:
    """Refuse detectors that look at features or texts which a learner, or its class, does not answer by."""
    learner = getattr(fitted, "learner", fitted)
    allowed = offers_of(learner) | {"labels"} | ({"bank"} if answers_by_cosine(learner) else set())
    for name, detector in chosen.items():
        lacking = set(detector.needs) - allowed
        if not lacking or detector.name == MCM.name:
            continue
        if detector.name in OF_NEGATIVE_NAMES:
            raise OpenworldError(
                f"{name} encodes names of what the classes are not, and {label} does not compare embeddings with one "
                f"text of each name; take {OWN_SCORE}, or a learner that does ({', '.join(COSINE_LEARNERS)})."
            )
        raise OpenworldError(
            f"{name} needs {' and '.join(sorted(lacking))}, and {label} answers by more than cosines of embeddings "
            f"with texts; take detectors of logits ({', '.join(OF_LEARNERS)})."
        )


def detectors_of_learner(chosen: Mapping[str, Any], fitted: Any) -> dict[str, Any]:
    """Return the detectors as they read a learner's logits, which are its scale times cosines where MCM reads those."""
    scale = float(fitted.clip.logit_scale)
    return {label: MSP(scale * made.temperature) if isinstance(made, MCM) else made
            for label, made in chosen.items()}  # fmt: skip


def activations_of_learner(
    fitted: Any, features: Features, texts: Texts | None = None, *, bank: Any = None, own: bool = True
) -> Activations:
    """Encoded images, as a learner answers them among its names.

    Args:
        features: with what the learner consumes, and patches where a detector looks at them.
        texts: of its names, with negative names; None for its names alone. Not looked at where it has no such texts.
        bank: of its names, where it was made before. own: whether its own score is wanted: it may cost a pass.
    """
    bank = fitted.text_bank(fitted.classnames) if bank is None else bank
    answer = fitted.answer(features, bank)
    logits = answer.logits if answer.base_logits is None else answer.base_logits
    logits = torch.from_numpy(logits).to(fitted.clip.device)
    score = None
    if own:
        score = fitted.own_score(features, bank) if hasattr(fitted.learner, "own_score") else answer.baseness
        score = torch.from_numpy(score).to(logits.device)
    if answers_by_cosine(fitted.learner):
        seen = activations_of(fitted.clip, features, Texts(bank.text) if texts is None else texts)
        return replace(seen, outputs=logits, own=score)
    same = len(features.classnames) == logits.shape[1]
    labels = torch.from_numpy(features.labels[:]).to(logits.device) if same else None
    return Activations(outputs=logits, labels=labels, own=score)


def encoder_of_learner(fitted: Any) -> Encode:
    """Return what encodes names behind a learner's prompts, which need no sentence, as its own names are encoded."""

    def encode(names: Sequence[str], sentence: str) -> Tensor:
        rounds = _distinct(names)
        text = torch.cat([fitted.text_bank([names[place] for place in places]).text.float() for places in rounds])
        return text[torch.tensor([place for places in rounds for place in places]).argsort().to(text.device)]

    return encode


def _distinct(names: Sequence[str]) -> list[list[int]]:
    """Places of names, in rounds in each of which no two are the same but for case: learners refuse such names."""
    rounds: list[list[int]] = []
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        key = normalise_class_name(name)
        turn = seen.get(key, 0)
        seen[key] = turn + 1
        if turn == len(rounds):
            rounds.append([])
        rounds[turn].append(place)
    return rounds
