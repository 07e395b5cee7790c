"""Models that look at pictures and give a number per class: classifiers from a folder, two-tower backbones by name."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from openworld import classifiers
from openworld._errors import OpenworldError
from openworld.applications.estimate.columns import order_of
from openworld.backbones.cached import load_once
from openworld.backbones.dual_encoder import DualEncoder
from openworld.datasets.names.forms import readable_class_name
from openworld.features import encode
from openworld.learners.engine.text_bank import cosine_logits, require_distinct
from openworld.learners.engine.text_features import encode_names


@dataclass(frozen=True, eq=False)
class ClassifierJudge:
    """A saved classifier; its logits.

    classnames: with spaces for underscores, as image sets have them. order: the place of each among the classifier's
    own, where they are wanted in another order.
    """

    name: str
    classifier: classifiers.Classifier
    device: str
    classnames: tuple[str, ...]
    order: tuple[int, ...] | None = None

    @property
    def fingerprint(self) -> str:
        """Of weights and preprocessing."""
        return self.classifier.fingerprint

    def scores(self, images) -> np.ndarray:
        """float32[N, C]."""
        logits = self.classifier.logits(images, device=self.device)
        return logits if self.order is None else logits[:, self.order]

    @property
    def knows_training(self) -> bool:
        """Whether the folder says which pictures it was trained on."""
        return self.classifier.seen is not None

    def find_seen(self, images) -> np.ndarray:
        """Which pictures it was trained on, uint8[N]."""
        return self.classifier.find_seen(images)


@dataclass(frozen=True, eq=False)
class BackboneJudge:
    """A two-tower backbone that knows classes by their names; cosines, times its own scale where it is judged.

    scaled: whether the cosines are multiplied by the backbone's logit scale.
    """

    name: str
    clip: DualEncoder
    text: torch.Tensor
    classnames: tuple[str, ...]
    scaled: bool

    @property
    def fingerprint(self) -> str:
        """Of weights and text features."""
        return self.clip.fingerprint

    def scores(self, images) -> np.ndarray:
        """float32[N, C]; pictures are encoded anew and nothing is kept."""
        with tempfile.TemporaryDirectory() as scratch:
            embeddings = torch.from_numpy(np.array(encode(self.clip, images, cache=Path(scratch)).embeddings))
        scale = self.clip.logit_scale.detach().cpu() if self.scaled else 1.0
        return cosine_logits(embeddings, self.text, scale).float().numpy()

    @property
    def knows_training(self) -> bool:
        """Nobody lists what a backbone was trained on."""
        return False


Judge = ClassifierJudge | BackboneJudge


def is_classifier(name: str) -> bool:
    """Whether a model's name is the folder of a saved classifier."""
    return (Path(name) / classifiers.serialization.DESCRIPTION).is_file()


def find_judge(
    name: str,
    classnames: Sequence[str] | None,
    template: str,
    device: str,
    *,
    scaled: bool,
    architectures: Sequence[str] = (),
) -> Judge:
    """A model by the folder of a saved classifier, or by the name, folder or hub id of a backbone.

    Args:
        classnames: what a backbone is asked to tell apart; for a classifier, what it must tell apart, or None.
        template: sentence of the names, with {}. scaled: as for `BackboneJudge`.
        architectures: functions that may build a classifier, as --architecture names them.
    Raises:
        OpenworldError: no such model, a classifier of other classes or of a function that is not among those named, a
            backbone without names.
    """
    if is_classifier(name):
        classifier = _load(name, architectures)
        own = tuple(readable_class_name(one) for one in classifier.classnames)
        wanted = own if classnames is None else tuple(classnames)
        order = order_of(own, wanted, name, "those expected")
        return ClassifierJudge(Path(name).name, classifier, device, wanted, order)
    if classnames is None:
        raise OpenworldError(f"{name} knows no classes of its own: give class names, by folders or --classnames FILE.")
    require_distinct(classnames)
    clip = load_once(name, device)
    text = encode_names(clip, classnames, (template,)).cpu()
    return BackboneJudge(clip.name, clip, text, tuple(classnames), scaled)


def _load(folder: str, architectures: Sequence[str]) -> classifiers.Classifier:
    """A saved classifier; a function that builds it must have been named, since it runs somebody's code.

    A single name is taken for a folder's own function under another name: modules are moved.
    """
    own = classifiers.serialization.function_of(folder)
    if own and own not in architectures and len(architectures) != 1:
        raise classifiers.serialization.without_function(folder, own, "--architecture {}")
    return classifiers.load(folder, architecture=(own if own in architectures else architectures[0]) if own else None)
