"""A learner bound to what it learned; how it is saved and loaded, and in which folders it lies."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from openworld.backbones import DualEncoder
from openworld.backbones.devices import Precision
from openworld.backbones.layouts import require_finite
from openworld.backbones.published_files import require_data
from openworld.core.errors import OpenworldError
from openworld.core.gpu_memory import BatchSize
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.features import Encoding, Features
from openworld.learners.engine.images import Answer, Consumes, Images, Tensors, select_images
from openworld.learners.engine.settings import PublishedSetting, configure
from openworld.learners.engine.text_bank import NameSets, Subset, TextBank
from openworld.learners.engine.training import Schedule
from openworld.runs.atomic import write_file
from openworld.runs.outputs import LEARNER, require_folder
from openworld.runs.sealed import read_saved

PLAIN_IMAGES = Encoding()
DESCRIPTION, PARAMETERS = "learner.json", "parameters.safetensors"
CHUNK = 128  # images answered at a time: bounds the memory of learners that compare patches, or run a tower


class Learner(Protocol):
    """What every learner offers: a frozen dataclass of settings that says what it is, fits, and answers.

    name, paper, tunes, cost: for tables; `name` is what specs say. consumes: what it sees of images.
    depends_on_other_names: whether logits among base names change with the new names.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    tunes: ClassVar[str]
    cost: ClassVar[str]
    consumes: ClassVar[Consumes]
    depends_on_other_names: ClassVar[bool]

    @classmethod
    def published(cls, dataset: str, task: PublishedSetting = "base-to-new") -> "Learner": ...

    def fit(self, clip: Any, train: Features, *, seed: int) -> "FittedLearner": ...

    def text_bank(self, clip: Any, parameters: Tensors, names: NameSets) -> Any: ...

    def answer(self, clip: Any, parameters: Tensors, images: Images, bank: Any) -> Answer: ...


class TrainedLearner(Learner, Protocol):
    """A learner that learns tensors: `start` makes them, and training by `schedule` lowers the "total" of `loss`."""

    @property
    def schedule(self) -> Schedule: ...

    def start(self, clip: Any, classnames: Sequence[str], generator: torch.Generator) -> Tensors: ...

    def prepare(self, clip: Any, classnames: Sequence[str]) -> Any: ...

    def loss(self, clip: Any, parameters: Tensors, images: Images, labels: Tensor, prepared: Any) -> Tensors: ...


@checked
@dataclass(frozen=True)
class FittedLearner:
    """What `fit` returns.

    Args:
        learner: the settings it was fitted with.
        clip: the frozen backbone.
        classnames: the training names, in label order.
        parameters: learned tensors by name.
        history: mean loss terms of each epoch.
    """

    learner: Learner
    clip: DualEncoder
    classnames: tuple[str, ...]
    parameters: Tensors
    history: tuple[dict[str, float], ...] = ()

    __repr__ = short_repr

    @property
    def tuned_parameters(self) -> int:
        """How many numbers were learned; what the learner names as `measured` was not, and is kept beside them."""
        measured = getattr(self.learner, "measured", ())
        return sum(tensor.numel() for name, tensor in self.parameters.items() if name not in measured)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of the backbone and of what `files` gives."""
        digest = hashlib.sha256(self.clip.fingerprint.encode())
        for content in self.files().values():
            digest.update(content)
        return digest.hexdigest()

    @torch.no_grad()
    @checked
    def text_bank(self, base_names: Sequence[str], new_names: Sequence[str] = ()) -> TextBank:
        """Encode names once, with this learner's prompts.

        Args:
            base_names: names to choose among for base images, at least one; usually `classnames`.
            new_names: names to choose among for new images; may be empty.

        Raises:
            OpenworldError: no base name, an empty name, two names that prompts cannot distinguish, a name too long.
        """
        names = NameSets(tuple(base_names), tuple(new_names), self.classnames)
        return self.learner.text_bank(self.clip, self.parameters, names)

    @torch.no_grad()
    @checked
    def answer(self, features: Features, bank: Any) -> Answer:
        """Logits over all names of a bank and detection scores of encoded images, as NumPy arrays.

        Args:
            features: N images, encoded with this backbone and with `encoding_for(learner)`.
            bank: of `text_bank`.

        Raises:
            OpenworldError: features of another width than the backbone's, or without what the learner consumes.
        """
        parts = self._in_parts(self.learner.answer, features, bank)

        def joined(name: str) -> np.ndarray | None:
            tensors = [getattr(part, name) for part in parts]
            return None if tensors[0] is None else torch.cat(tensors).float().cpu().numpy()

        return Answer(*map(joined, Answer.__annotations__))

    @checked
    def logits(self, features: Features, bank: Any, subset: Subset = "all") -> np.ndarray:
        """Logits of encoded images, logit scale included.

        Args:
            features, bank: as for `answer`, which gives all logits and detection scores at once.
            subset: "base", "new" or "all" (base names, then new names).

        Returns:
            float32[N, C], C the number of names of the subset.

        Raises:
            OpenworldError: an unknown subset, and what `answer` raises.
        """
        answer = self.answer(features, bank)
        if subset == "base" and answer.base_logits is not None:
            return answer.base_logits
        columns = {"base": slice(0, bank.base_count), "new": slice(bank.base_count, None), "all": slice(None)}
        return answer.logits[:, columns[subset]]

    @checked
    def baseness(self, features: Features, bank: Any) -> np.ndarray:
        """The detection score of encoded images: float32[N], larger = more like a base class; see `answer`."""
        return self.answer(features, bank).baseness

    @torch.no_grad()
    @checked
    def own_score(self, features: Features, bank: Any) -> np.ndarray:
        """Return the score by which the learner itself tells images of the bank's names from images of any other.

        That of its paper where the learner has a method `own_score` (LoCoOp, GalLoP); else `baseness`: with a bank of
        base names alone the log of their largest softmax at the learner's own temperature, or what its detectors say.

        Args:
            features: as for `answer`. bank: of base names alone.

        Returns:
            float32[N], larger = more in-distribution.
        """
        own_score: Any = getattr(self.learner, "own_score", None)
        if own_score is None:
            return self.baseness(features, bank)
        return torch.cat(self._in_parts(own_score, features, bank)).float().cpu().numpy()

    def _in_parts(self, ask: Callable, features: Features, bank: Any) -> list:
        """Return what a method of the learner says of images, `CHUNK` of them at a time."""

        def part(rows: slice):
            images = select_images(features, self.clip, self.learner.consumes, np.arange(rows.start, rows.stop))
            return ask(self.clip, self.parameters, images, bank)

        return BatchSize(CHUNK, f"answering with {self.learner.name}").parts(part, len(features))

    @checked
    def save(self, folder: Path) -> None:
        """Write `files` into a folder, which is made where it is missing."""
        require_folder("folder", Path(folder), own=(LEARNER,))
        for name, content in self.files().items():
            write_file(Path(folder) / name, content)

    def files(self) -> dict[str, bytes]:
        """`parameters.safetensors` and `learner.json`, which `load` reads; the backbone is named, not copied."""
        from safetensors.torch import save

        description = {
            "learner": self.learner.name,
            "settings": asdict(self.learner),  # ty: ignore[invalid-argument-type]: a dataclass, as its protocol says
            "classnames": self.classnames,
            "backbone": self.clip.name,
            "backbone_fingerprint": self.clip.fingerprint,
            "history": self.history,
        }
        if self.clip.dtype != torch.float32:  # the usual one goes without saying
            description["precision"] = str(self.clip.dtype).removeprefix("torch.")
        parameters = {name: tensor.cpu().contiguous() for name, tensor in self.parameters.items()}
        return {PARAMETERS: save(parameters), DESCRIPTION: json.dumps(description, indent=1).encode()}


@checked
def encoding_for(learner: Learner | type[Learner], encoding: Encoding = PLAIN_IMAGES) -> Encoding:
    """`encoding` with what a learner consumes besides global embeddings; give it `views` for training images.

    >>> from openworld.learners import CoOp
    >>> encoding_for(CoOp, Encoding(views=8)).pixels
    False
    """
    return replace(encoding, patches=learner.consumes == "patches", pixels=learner.consumes == "pixels")


def schedules_of(learner: Any) -> list[Schedule]:
    """Return the stages of a learner's training; none where it tunes nothing."""
    return [value for field in fields(learner) if isinstance(value := getattr(learner, field.name), Schedule)]


@dataclass(frozen=True)
class LearnerDescription:
    """What learner.json says: the learner, and the backbone that it was fitted on."""

    learner: str
    settings: dict[str, Any]
    classnames: tuple[str, ...]
    backbone: str
    backbone_fingerprint: str
    history: tuple[dict[str, float], ...]  # loss terms of each epoch
    precision: Precision = "float32"  # in which the backbone computed


@checked
def load(folder: Path, clip: DualEncoder) -> FittedLearner:
    """Read back what `FittedLearner.save` wrote.

    Args:
        folder: where it was saved.
        clip: the backbone it was fitted on, on any device.

    Raises:
        OpenworldError: a folder without a saved learner or with a damaged one, another backbone, an unknown learner.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from openworld.learners import find_learner

    folder = Path(folder)
    saved = describe(folder)
    try:
        # Copied, since matrix products round otherwise where a weight does not lie as the allocator lays it.
        tensors = load_file(folder / PARAMETERS, str(clip.device))
        parameters = {name: tensor.clone() for name, tensor in tensors.items()}
    except (OSError, ValueError, SafetensorError) as error:
        raise OpenworldError(
            f"{folder} holds no whole learner ({error}); give a folder that `FittedLearner.save` wrote, or fit again."
        ) from error
    require_finite(parameters, str(folder))
    if saved.backbone_fingerprint != clip.fingerprint:
        raise OpenworldError(
            f"{folder} was fitted on backbone {saved.backbone!r} with other weights than {clip.name!r}; "
            "load that backbone."
        )
    learner = configure(find_learner(saved.learner), saved.settings)
    return FittedLearner(learner, clip, saved.classnames, parameters, saved.history)


def describe(folder: Path | str) -> LearnerDescription:
    """Return what the learner.json of a folder says."""
    remedy = "give a folder that `FittedLearner.save` wrote, or fit again."
    return read_saved(Path(folder) / DESCRIPTION, LearnerDescription, f"{folder} holds no whole learner", remedy)


def is_saved(learner: str) -> bool:
    """Return whether an entry `learner` is a folder ("/" or "{seed}" in it, or one is there), not a name."""
    return "/" in learner or "{seed}" in learner or Path(learner).is_dir()


def holds_learner(folder: str) -> bool:
    """Whether a saved learner lies in a folder, or in the unit of a run that it is."""
    return _inside(folder) is not None


def saved_folder(folder: str) -> Path:
    """Return the folder that holds learner.json: itself, or that in the folder of a run's unit."""
    inside = _inside(folder)
    if inside is not None:
        return inside
    raise OpenworldError(
        f"there is no saved learner in {folder}; give a folder that `FittedLearner.save` wrote, or a unit of a run "
        "whose spec says `keep_learners = true`."
    )


def backbone_of(folder: Path | str, say: str) -> str:
    """Return the name of a saved learner's backbone; `say` is how another one is named, such as "--backbone {}"."""
    place = saved_folder(str(folder))
    return require_data(describe(place).backbone, place / DESCRIPTION, say)


def _inside(folder: str) -> Path | None:
    places = (Path(folder) / inside for inside in ("", "learner", "attachments/learner"))
    return next((place for place in places if (place / DESCRIPTION).is_file()), None)
