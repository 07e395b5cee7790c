"""A model of two towers whose detectors are compared, as it is or with a learner that was tuned on it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from openworld import detectors
from openworld.core.errors import OpenworldError, present
from openworld.datasets import ImageSet
from openworld.datasets.names.word_lists import WordList
from openworld.detectors import Activations, FitStatistics, Head, Texts
from openworld.detectors.catalogue import TWO_TOWER
from openworld.detectors.engine.fitted import plain_scores
from openworld.detectors.engine.texts import OF_NEGATIVE_NAMES, encoder_of, name_pools
from openworld.detectors.engine.two_towers import (
    OF_LEARNERS,
    activations_of_learner,
    answers_by_cosine,
    detectors_of_learner,
    encoder_of_learner,
    offers_of,
)
from openworld.evaluations.runtime import Machine
from openworld.features import Encoding, encode
from openworld.learners import FittedLearner, encoding_for
from openworld.ood.feature_model import has_pixels
from openworld.ood.models import Detectors, Fitted, ImageAnswers, JudgedModel, Progress, are_labelled, named, unheard
from openworld.own_data.images import labels_among
from openworld.report.learner_facts import LearnerFacts


@dataclass(frozen=True, eq=False)
class TowerModel(JudgedModel):
    """A two-tower model with class names, whose texts are the head; or a learner, tuned on such a model and names.

    Args:
        clip: the two-tower model. classnames: in the order of its logits.
        template: the sentence around class names; of no meaning beside a learner, whose prompts have none.
        words: of which negative names are chosen; None for none. where: what their list is called.
        learner: tuned on `classnames`; it answers among these alone. facts: how it came to be.
        texts: of the names and of negative names that detectors look at; `ready` makes them.
    """

    clip: Any
    classnames: tuple[str, ...]
    template: str = ""
    words: WordList | None = None
    where: str = ""
    learner: FittedLearner | None = None
    facts: LearnerFacts | None = None
    texts: Texts | None = None
    notes: tuple[str, ...] = ()
    progress: Progress = unheard

    def __post_init__(self) -> None:
        if not self.classnames:
            raise OpenworldError(
                f"{self.clip.name} knows no classes of its own: give in-distribution images in folders named after "
                "their classes, or --classnames FILE."
            )

    @property
    def kind(self) -> str:
        return "learner" if self.learner else "two-tower"

    @property
    def name(self) -> str:
        return f"{self.learner.learner.name} on {self.clip.name}" if self.learner else self.clip.name

    @cached_property
    def fingerprint(self) -> str:
        if not self.learner:
            return self.clip.fingerprint
        digest = hashlib.sha256(self.clip.fingerprint.encode())
        for content in self.learner.files().values():
            digest.update(content)
        return digest.hexdigest()

    @property
    def offers(self) -> frozenset[str]:
        if self.learner:
            return offers_of(self.learner.learner)
        return frozenset({"logits", "features", "head", "texts", "patches"})

    @property
    def usual(self) -> tuple[str, ...]:
        negative = OF_NEGATIVE_NAMES if self.words is not None and self._compares_texts else ()
        return (*(OF_LEARNERS if self.learner else TWO_TOWER), *negative)

    @property
    def _compares_texts(self) -> bool:
        """Whether its logits are cosines with one text of each name."""
        return self.learner is None or answers_by_cosine(self.learner.learner)

    @cached_property
    def bank(self) -> Any:
        """The names of a learner, encoded."""
        return present(self.learner, "the learner").text_bank(self.classnames)

    @cached_property
    def names_alone(self) -> Texts | None:
        """Texts of the class names; None of a learner that compares images with none."""
        if self.learner is None:
            return detectors.encode_texts(self.clip, self.classnames, template=self.template)
        return Texts(self.bank.text.float()) if self._compares_texts else None

    def lacks(self, detector: Any) -> str:
        return super().lacks(self._as_read({"it": detector})["it"])

    def ready(self, chosen: Detectors) -> "TowerModel":
        texts, notes = self.names_alone, ()
        if self.words is not None and texts is not None:
            encode_names = encoder_of_learner(self.learner) if self.learner else encoder_of(self.clip, self.template)

            def progress(done: int, count: int) -> None:
                self.progress("encoding negative names", done, count)

            texts, notes = name_pools(texts.own, self.words, chosen.values(), encode_names, progress)
        return replace(self, texts=texts, notes=notes)

    def gather(self, chosen: Detectors, images: ImageSet | None, machine: Machine) -> FitStatistics:
        read = self._as_read(chosen)
        if images is None and self.learner:
            return detectors.gather(read, [Activations(texts=self.texts)])
        if images is None:
            names = present(self.texts, "the texts of the class names").own
            head = Head.of_texts(names.float(), self.clip.logit_scale.detach().float())
            no_image = torch.zeros(0, names.shape[1], device=self.clip.device)
            return detectors.gather(read, [Activations(no_image, head, texts=self.texts)])
        rows, seen = self._see(images, read.values(), machine, "learning from training images", own=False)
        labels = torch.from_numpy(labels_among(images, self.classnames)[rows]) if are_labelled(images) else None
        return detectors.gather(read, [replace(seen, labels=labels, texts=self.texts or seen.texts)])

    def score(self, fitted: Fitted, images: ImageSet, machine: Machine) -> ImageAnswers:
        read = [each.detector for each in fitted.values()]
        wants_own = any("learner" in detector.needs for detector in read)
        rows, seen = self._see(images, read, machine, f"scoring {images.name}", own=wants_own)
        own = {label: each for label, each in fitted.items() if not detectors.is_sequential(each.detector)}
        stream = seen.features if len(own) < len(fitted) else None  # which reads no logits and no patches
        return ImageAnswers(rows, plain_scores(detectors.score_together(own, seen)), *named(seen.logits), stream)

    def _as_read(self, chosen: Detectors) -> dict[str, Any]:
        """The detectors as they read the logits of a learner."""
        return detectors_of_learner(chosen, self.learner) if self.learner else dict(chosen)

    @torch.no_grad()
    def _see(self, images: ImageSet, chosen: Iterable[Any], machine: Machine, doing: str, *, own: bool):
        """Return the images that can be read, int64[n], and what the model shows of them."""
        if not has_pixels(images) and images.embeddings is None:
            raise OpenworldError(f"{images.name} are features, and {self.name} looks at images; give these.")
        encoding = encoding_for(self.learner.learner) if self.learner else Encoding()
        patches = any("patches" in detector.needs for detector in chosen)
        encoding = replace(encoding, patches=encoding.patches or patches)

        def progress(done: int, count: int) -> None:
            self.progress(doing, done, count)

        features = encode(self.clip, images, encoding, **machine.storage, progress=progress)
        if self.learner:
            seen = activations_of_learner(self.learner, features, bank=self.bank, own=own)
        else:
            texts = present(self.names_alone, "the texts of the class names")
            seen = detectors.activations_of(self.clip, features, texts)
        # Classes of other images are not those of the texts, and no score may look at them; fitted detectors bring
        # texts, with the negative names of their fit.
        return np.array(features.rows), replace(seen, labels=None, texts=None)
