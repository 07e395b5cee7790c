"""Tuned prompt learners as models whose detectors are compared: saved ones, and ones that are trained first."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.applications.detect.models import Detectors, Progress, ScoredImages, stream_of, wants_patches
from openworld.applications.detect.places import FeatureTable, Images, are_labelled
from openworld.applications.images import labels_among
from openworld.datasets import ImageSet
from openworld.datasets.names.word_lists import WordList
from openworld.datasets.splits import few_shot
from openworld.detectors import FitStatistics, FittedDetector, Texts, activations_of_learner
from openworld.detectors.engine.fitted import plain_scores
from openworld.detectors.engine.name_pools import OF_NEGATIVE_NAMES, name_pools
from openworld.detectors.engine.tuned_learners import (
    OF_LEARNERS,
    LogitMCM,
    answers_by_cosine,
    detectors_of_learner,
    encoder_of_learner,
    offers_of,
    require_served,
)
from openworld.features import Encoding, encode
from openworld.features.encoding import usual_crop_scale
from openworld.learners import FittedLearner, configure, encoding_for, find_learner
from openworld.learners.engine.requirements import offers_everything, require_able
from openworld.report.learner_facts import LearnerFacts
from openworld.runs import to_json
from openworld.runs.scratch import ScratchFolder

SHOTS, VIEWS = 16, 8  # of every class, of every image; shots as published for OOD detection


@dataclass(frozen=True)
class LearnerWish:
    """A learner that is to be trained first, with settings that differ from those published for OOD detection."""

    name: str
    settings: Mapping[str, Any]
    shots: int = SHOTS
    seed: int = 0


@dataclass(frozen=True, eq=False)
class LearnerModel:
    """A tuned learner, which answers among the names that it was tuned on; negative names are chosen of `words`."""

    fitted: FittedLearner
    facts: LearnerFacts
    words: WordList | None = None
    where: str = ""
    texts: Texts | None = None
    notes: tuple[str, ...] = ()
    kinds = (LogitMCM,)

    @property
    def name(self) -> str:
        return f"{self.fitted.learner.name} on {self.fitted.clip.name}"

    @property
    def classnames(self) -> tuple[str, ...]:
        return self.fitted.classnames

    @cached_property
    def fingerprint(self) -> str:
        own = sha256(self.fitted.clip.fingerprint.encode())
        for content in self.fitted.files().values():
            own.update(content)
        return own.hexdigest()

    @property
    def offers(self) -> frozenset[str]:
        return offers_of(self.fitted.learner)

    @property
    def usual(self) -> tuple[str, ...]:
        negative = OF_NEGATIVE_NAMES if self.words is not None and answers_by_cosine(self.fitted.learner) else ()
        return (*OF_LEARNERS, *negative)

    @cached_property
    def bank(self) -> Any:
        """Its names, encoded."""
        return self.fitted.text_bank(self.classnames)

    def as_read(self, detector: Any) -> Any:
        """The detector as it reads the learner's logits."""
        return detectors_of_learner({"it": detector}, self.fitted)["it"]

    def with_negatives(self, chosen: Detectors, progress: Progress) -> "LearnerModel":
        """The model with the negative names that detectors look at."""
        require_served(self.fitted, self.name, chosen)
        if self.words is None:
            return self
        encode_names = encoder_of_learner(self.fitted)
        texts, notes = name_pools(self.bank.text.float(), self.words, chosen.values(), encode_names, progress)
        return replace(self, texts=texts, notes=notes)

    def gather(self, chosen: Detectors, images: Images | None, progress: Progress) -> FitStatistics:
        read = detectors_of_learner(chosen, self.fitted)
        if images is None:
            blank = detectors.Activations(texts=self.texts or (Texts(self.bank.text) if self._has_texts else None))
            return detectors.gather(read, [blank])
        seen = self._see(images, progress, wants_patches(read.values()), own=False)[1]
        labels = torch.from_numpy(labels_among(images, self.classnames)) if are_labelled(images) else None
        return detectors.gather(read, [replace(seen, labels=labels, texts=self.texts or seen.texts)])

    def score(
        self, fitted: Mapping[str, FittedDetector], images: Images, progress: Progress, allow_corrupt: int = 0
    ) -> ScoredImages:
        known = [own.detector for own in fitted.values()]
        wants_own = any("learner" in detector.needs for detector in known)
        rows, seen = self._see(images, progress, wants_patches(known), allow_corrupt, own=wants_own)
        own = {label: each for label, each in fitted.items() if not detectors.is_sequential(each.detector)}
        return ScoredImages(rows, plain_scores(detectors.score_together(own, seen)), stream_of(fitted, seen))

    @property
    def _has_texts(self) -> bool:
        return answers_by_cosine(self.fitted.learner)

    @torch.no_grad()
    def _see(self, images: Images, progress: Progress, patches: bool, allow_corrupt: int = 0, *, own: bool):
        if isinstance(images, FeatureTable):
            raise OpenworldError(f"{images.name} are features, and {self.name} looks at images; give these.")
        encoding = encoding_for(self.fitted.learner)
        encoding = replace(encoding, patches=encoding.patches or patches)
        with ScratchFolder() as scratch:  # images are encoded anew and nothing is kept
            options = {"cache": Path(scratch), "allow_corrupt": allow_corrupt, "progress": progress}
            features = encode(self.fitted.clip, images, encoding, **options)
            seen = activations_of_learner(self.fitted, features, bank=self.bank, own=own)
            # Classes of other images are not the learner's; fitted detectors bring texts and negative names.
            return np.array(features.rows), replace(seen, labels=None, texts=None)


def tune(wish: LearnerWish, clip: Any, images: Images | None, classnames: Sequence[str], progress: Progress):
    """Return a learner trained on labelled in-distribution images, and how it came to be; () names are the images'."""
    learner = configure(find_learner(wish.name), wish.settings, getattr(images, "name", ""), "ood")
    if not offers_everything(clip):
        require_able(clip, learner)
    if not isinstance(images, ImageSet) or not are_labelled(images):
        raise OpenworldError(
            f"{wish.name} is trained on labelled images: give --train, or a part train of --id, in folders named after "
            "their classes; or give the folder of a saved learner as --model."
        )
    named = _named(images, classnames)
    shots = named.subset(few_shot(named.labels, wish.shots, random.Random(wish.seed))) if wish.shots else named
    views = Encoding(VIEWS, usual_crop_scale(images.name), wish.seed)
    encoding = encoding_for(learner, Encoding() if learner.consumes == "embeddings" else views)
    with ScratchFolder() as scratch:
        features = encode(clip, shots, encoding, cache=Path(scratch), progress=progress)
        fitted = learner.fit(clip, features, seed=wish.seed)
    return fitted, facts_of(fitted, seed=wish.seed, images=len(shots), views=VIEWS)


def facts_of(fitted: FittedLearner, **known: Any) -> LearnerFacts:
    """Return what a page says of the training of a learner."""
    settings = to_json(fitted.learner)
    return LearnerFacts(
        fitted.learner.name, settings, fitted.clip.name, len(fitted.history), fitted.tuned_parameters, **known
    )


def _named(images: ImageSet, classnames: Sequence[str]) -> ImageSet:
    if not classnames or tuple(classnames) == images.classnames:
        return images
    if len(classnames) != len(images.classnames):
        raise OpenworldError(
            f"{images.name} has {len(images.classnames)} classes, and {len(classnames)} class names came; give a name "
            "for each, in the order of their numbers."
        )
    return replace(images, classnames=tuple(classnames))
