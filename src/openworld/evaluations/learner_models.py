"""Learners as models whose detectors are compared: trained on the in-distribution images of a run, or saved ones.

A training is an artifact; its key is a hash of the learner with its settings, the weights of its backbone, the seed,
the views and the images. Where images of no known class are to be detected nobody knows a new name, so that a learner
answers among the in-distribution names alone.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from openworld import detectors
from openworld._errors import OpenworldError
from openworld.detectors import Activations
from openworld.detectors.mcm import MCM
from openworld.detectors.plugin_api import FittedDetector
from openworld.detectors.plugin_api import fit as fit_detector
from openworld.evaluations.artifacts import Stage, folder_of, has_whole, keep
from openworld.evaluations.image_selection import ImageSelection, cached_here
from openworld.evaluations.learning import usual_crop_scale
from openworld.evaluations.runtime import Machine, backbone, encoded
from openworld.features import Encoding, Features
from openworld.learners import Answer, FittedLearner, ZeroShot, configure, encoding_for, find_learner, load, origin
from openworld.learners.engine.text_bank import TextBank
from openworld.runs import digest

VERSION = 1
"""Raise it when the same training gives another learner."""

OWN_SCORE = "own score"

OF_LEARNERS = (OWN_SCORE, "MCM", "MSP", "MaxLogit", "Energy", "GEN")
"""Detectors of a learner that lists none: its own, and those of its logits over the in-distribution names."""

COSINE_LEARNERS = ("zero-shot", "zero-shot-ensemble", "CoOp", "KgCoOp", "GMoP", "ProGrad", "TCP", "LoCoOp")
"""Learners whose logits are cosines of the backbone's image embeddings with one text feature of each name.

Their tuned text features are a head over those embeddings, so that detectors of features and texts serve them, too.
"""

_FILES = ("parameters.safetensors", "learner.json")


@dataclass(frozen=True)
class OwnScore:
    """The score by which a learner itself detects images of no known class; `FittedLearner.own_score` computes it."""

    name: ClassVar[str] = OWN_SCORE
    summary: ClassVar[str] = "the learner's own detection score"
    needs: ClassVar[tuple[str, ...]] = ("learner",)
    gathers: ClassVar[tuple] = ()


@dataclass(frozen=True)
class LogitMCM:
    """MCM of a learner: the softmax of its logits over the backbone's scale, which of cosines is that of cosines.

    Args:
        temperature: of MCM. scale: by which the learner multiplies cosines.
    """

    temperature: float
    scale: float

    name: ClassVar[str] = MCM.name
    paper: ClassVar[str] = MCM.paper
    summary: ClassVar[str] = MCM.summary
    needs: ClassVar[tuple[str, ...]] = ("logits",)
    gathers: ClassVar[tuple] = ()

    def fit(self, features=None, labels=None, head=None) -> FittedDetector:
        """Nothing is learned."""
        return fit_detector(self, features, labels, head)

    def read(self, state: None, activations: Activations) -> Tensor:
        """Scores float[N]."""
        return (activations.logits / (self.scale * self.temperature)).softmax(dim=1).amax(dim=1)


@dataclass(frozen=True)
class LearnerTraining:
    """One training of a learner, its settings written out whole; `label` is what tables call the model."""

    label: str
    learner: str
    settings: dict[str, Any]
    backbone: str
    seed: int
    views: int
    images: ImageSelection
    threads: int

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.label}, seed {self.seed}"

    @property
    def key(self) -> str:
        """A hash of what comes of it."""
        parts = {name: getattr(self, name) for name in ("learner", "settings", "seed", "views", "threads")}
        parts |= {"weights": backbone(self.backbone).fingerprint, "images": self.images.fingerprint}
        return digest({"trained learner": parts | {"version": VERSION}})[:32]

    def size(self) -> int:
        """How many images it learns from."""
        return len(self.images.load())

    def is_kept(self, machine: Machine) -> bool:
        """Whether it is trained."""
        return all(has_whole(folder_of(self, machine), name) for name in _FILES)

    def build(self, machine: Machine) -> None:
        """Train it, and keep what it learned."""
        torch.set_num_threads(self.threads)
        learner, images = configure(find_learner(self.learner), self.settings), self.images.load()
        fitted = learner.fit(machine.backbone(self.backbone), self._shots(learner, machine), seed=self.seed)
        about = {"name": images.name, "domain": images.domain, "model": self.name, "count": len(images)}
        keep(folder_of(self, machine), fitted.files(), about | {"images": images.fingerprint})

    def load(self, machine: Machine) -> FittedLearner:
        """Return the fitted learner.

        Raises:
            OpenworldError: it is gone from the cache, or damaged.
        """
        if not self.is_kept(machine):
            raise OpenworldError(f"{self.name} is gone from the cache, or damaged; start the run again.")
        return load(folder_of(self, machine), machine.backbone(self.backbone))

    def _shots(self, learner, machine: Machine) -> Features:
        views = Encoding(self.views, usual_crop_scale(self.images.sources[0].dataset), self.seed)
        encoding = encoding_for(learner, Encoding() if learner.consumes == "embeddings" else views)
        return encoded(self.images.load(), self.backbone, machine, encoding)


@dataclass(frozen=True)
class LearnerFolder:
    """A learner that `FittedLearner.save` wrote, or that a unit of a run kept, on its backbone."""

    label: str
    folder: str
    backbone: str

    @property
    def key(self) -> str:
        """A hash of what lies there."""
        return _hash_of_files(str(saved_folder(self.folder)))

    def load(self, machine: Machine) -> FittedLearner:
        """Return the learner.

        Raises:
            OpenworldError: none is there, or one of another backbone.
        """
        return load(saved_folder(self.folder), machine.backbone(self.backbone))


def tuning_stages(learners: Iterable[LearnerTraining | LearnerFolder | None], machine: Machine) -> tuple[Stage, ...]:
    """Return the stage that trains those learners of a run that are trained; none where there are none."""
    tuned = [learner for learner in learners if isinstance(learner, LearnerTraining)]
    return (Stage("tuning", "tuned learners on", "images", machine, lambda: tuned),) if tuned else ()


def learner_inputs(learner: LearnerTraining | LearnerFolder | None) -> dict[str, str]:
    """Return what a result depends on beside a task: the files of a saved learner, the package of a plug-in."""
    if isinstance(learner, LearnerFolder):
        return {f"learner {learner.folder}": learner.key}
    package = origin(learner.learner) if learner else ""
    return {f"plug-in {learner.learner}": package} if package else {}


def is_saved(learner: str) -> bool:
    """Whether an entry `learner` is a folder, not a name of `openworld list learners`.

    >>> is_saved("LoCoOp"), is_saved("runs/mine/learner"), is_saved("tuned-{seed}")
    (False, True, True)
    """
    return "/" in learner or "{seed}" in learner or Path(learner).is_dir()


def saved_folder(folder: str) -> Path:
    """Return the folder that holds learner.json: itself, or that in the folder of a run's unit.

    Raises:
        OpenworldError: there is none.
    """
    for inside in ("", "learner", "attachments/learner"):
        if (Path(folder) / inside / "learner.json").is_file():
            return Path(folder) / inside
    raise OpenworldError(
        f"there is no saved learner in {folder}; give a folder that `FittedLearner.save` wrote, or a unit of a run "
        "whose spec says `keep_learners = true`."
    )


def backbone_of(folder: str) -> str:
    """Return the name of the backbone that a saved learner was fitted on.

    Raises:
        OpenworldError: no learner there, or a damaged one.
    """
    file = saved_folder(folder) / "learner.json"
    try:
        return json.loads(file.read_bytes())["backbone"]
    except (ValueError, KeyError, TypeError) as error:
        raise OpenworldError(f"{file} is damaged ({error}); save the learner again.") from error


def resolved_settings(learner: str, settings: Mapping[str, Any], template: str, dataset: str) -> dict[str, Any]:
    """Return the settings of a learner written out whole: published ones for OOD detection, and others over them.

    Args:
        template: the sentence of frozen text features, where the learner reads one; "" for that of the data set.

    Raises:
        OpenworldError: an unknown learner or setting; a template for a learner that reads none.
    """
    kind = find_learner(learner)
    made = configure(kind, settings, dataset, "ood")
    if template:
        names = {field.name for field in fields(made)}
        if not names & {"template", "templates"}:
            raise OpenworldError(f"{learner} reads no template; leave it out, or see its settings for its words.")
        made = replace(made, **({"template": template} if "template" in names else {"templates": (template,)}))
    return asdict(made)


def learns(learner: str) -> bool:
    """Whether a learner learns anything, so that seeds matter."""
    return not issubclass(find_learner(learner), ZeroShot)


def require_served(fitted: FittedLearner | type, label: str, chosen: Mapping[str, Any]) -> None:
    """Refuse detectors that look at features or texts which a learner does not answer by.

    Args:
        fitted: the learner, or its class.
        label: of the model. chosen: detectors by their labels.
    """
    learner = getattr(fitted, "learner", fitted)
    allowed = {"logits", "labels", "learner"}
    if _is_cosine(learner):
        allowed |= {"features", "head", "texts", "patches", "bank"}
    for name, detector in chosen.items():
        lacking = set(detector.needs) - allowed
        if lacking and detector.name != MCM.name:
            raise OpenworldError(
                f"{name} needs {' and '.join(sorted(lacking))}, and {label} answers by more than cosines of embeddings "
                f"with texts; take detectors of logits ({', '.join(OF_LEARNERS)})."
            )


def encoding_of_images(learner, chosen: Iterable[Any]) -> Encoding:
    """Return what a learner and its detectors look at of images that are not trained on."""
    encoding = encoding_for(learner)
    return replace(encoding, patches=encoding.patches or any("patches" in detector.needs for detector in chosen))


@torch.no_grad()
def learner_scores(
    fitted: FittedLearner, chosen: Mapping[str, Any], training: Features, parts: Sequence[Features]
) -> tuple[list[dict[str, np.ndarray]], list[np.ndarray], tuple[str, ...]]:
    """Return what a learner's detectors say of encoded images.

    Args:
        fitted: its names are the in-distribution classes.
        chosen: detectors by label, `OwnScore` among them.
        training: images that detectors learn from, labelled by those classes.
        parts: image sets to be scored, encoded with `encoding_of_images`.

    Returns:
        Of each part the scores float64[N] by label, larger = more in-distribution, and the predicted classes int64[N];
        warnings of detectors.
    """
    require_served(fitted, fitted.learner.name, chosen)
    bank = fitted.text_bank(fitted.classnames)
    read = {label: _on_logits(made, fitted) for label, made in chosen.items() if not isinstance(made, OwnScore)}
    known = detectors.fit_together(read, [_activations(fitted, bank, training, fitted.answer(training, bank))])
    scores, predictions = [], []
    for features in parts:
        # Classes of these images may be others, and no score may look at them.
        answer = fitted.answer(features, bank)
        seen = replace(_activations(fitted, bank, features, answer), labels=None)
        found = {label: own.double().cpu().numpy() for label, own in detectors.score_together(known, seen).items()}
        if len(read) < len(chosen):
            own = fitted.own_score(features, bank) if hasattr(fitted.learner, "own_score") else answer.baseness
            found |= {label: own.astype(np.float64) for label in chosen if label not in read}
        scores.append({label: found[label] for label in chosen})
        predictions.append(seen.predictions.cpu().numpy())
    return scores, predictions, tuple(text for detector in known.values() for text in detector.warnings)


def _activations(fitted: FittedLearner, bank: TextBank, features: Features, answer: Answer) -> Activations:
    """The learner's logits; where these are cosines with texts, the images and texts as well."""
    logits = answer.logits if answer.base_logits is None else answer.base_logits
    logits = torch.from_numpy(logits).to(fitted.clip.device)
    if _is_cosine(fitted.learner):
        return replace(detectors.activations_of(fitted.clip, features, detectors.Texts(bank.text)), outputs=logits)
    same = len(features.classnames) == logits.shape[1]
    labels = torch.from_numpy(features.labels[:]).to(logits.device) if same else None
    return Activations(outputs=logits, labels=labels)


def _on_logits(detector: Any, fitted: FittedLearner) -> Any:
    return LogitMCM(detector.temperature, float(fitted.clip.logit_scale)) if isinstance(detector, MCM) else detector


def _is_cosine(learner) -> bool:
    kind = learner if isinstance(learner, type) else type(learner)
    return kind.name in COSINE_LEARNERS and kind.__module__.startswith("openworld.")


@cached_here(maxsize=64)
def _hash_of_files(folder: str) -> str:
    return digest({name: hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest() for name in _FILES})[:32]
