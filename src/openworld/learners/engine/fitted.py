"""A learner bound to what it learned; how it is fitted, saved and loaded."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from openworld.backbones import DualEncoder
from openworld.backbones.layouts import require_finite
from openworld.core.errors import OpenworldError
from openworld.core.gpu_memory import BatchSize
from openworld.core.representation import short_repr
from openworld.core.types import checked
from openworld.features import Encoding, Features
from openworld.learners.engine.images import Answer, Consumes, Images, Lifted, Tensors, select_images
from openworld.learners.engine.saved_folders import LearnerDescription, describe
from openworld.learners.engine.settings import PublishedSetting, configure
from openworld.learners.engine.text_bank import NameSets, Subset, TextBank, require_distinct
from openworld.learners.engine.training import PLAIN, Loop, Schedule, draw_batches, draw_batches_by_class, minimise
from openworld.runs.atomic import write_file
from openworld.runs.outputs import LEARNER, require_folder

PLAIN_IMAGES = Encoding()
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
        return Answer(*(_joined([getattr(part, name) for part in parts]) for name in Answer.__annotations__))

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
        return _joined(self._in_parts(own_score, features, bank))

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
        return {"parameters.safetensors": save(parameters), "learner.json": json.dumps(description, indent=1).encode()}


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


@checked
def load(folder: Path, clip: DualEncoder) -> FittedLearner:
    """Read back what `FittedLearner.save` wrote.

    Args:
        folder: where it was saved.
        clip: the backbone it was fitted on, on any device.

    Raises:
        OpenworldError: a folder without a saved learner or with a damaged one, another backbone, an unknown learner.
    """
    from openworld.learners import find_learner

    folder = Path(folder)
    saved, parameters = _read_saved(folder, str(clip.device))
    if saved.backbone_fingerprint != clip.fingerprint:
        raise OpenworldError(
            f"{folder} was fitted on backbone {saved.backbone!r} with other weights than {clip.name!r}; "
            "load that backbone."
        )
    learner = configure(find_learner(saved.learner), saved.settings)
    return FittedLearner(learner, clip, saved.classnames, parameters, saved.history)


def fit_prompts(learner: TrainedLearner, clip: DualEncoder, features: Features, *, seed: int) -> FittedLearner:
    """Train a learner from its `start` by its `loss` under its `schedule`, and its `loop` where it has one."""
    require_trainable(learner, features)
    loop = getattr(learner, "loop", PLAIN)
    generator = torch.Generator().manual_seed(seed)
    start = learner.start(clip, features.classnames, generator)
    prepared = learner.prepare(clip, features.classnames)

    def loss(parameters: Tensors, images: Images, labels: Tensor) -> Tensors:
        return learner.loss(clip, parameters, images, labels, prepared)

    batches = batches_of(learner, clip, features, generator, loop)
    learned, history = minimise(start, loss, batches, learner.schedule, loop)
    return FittedLearner(learner, clip, tuple(features.classnames), learned, history)


def require_trainable(learner: Learner, features: Features) -> None:
    """Refuse to fit on no image, and on names that no prompt could tell apart."""
    if not len(features):
        raise OpenworldError(f"there is no image to fit {learner.name} on; give at least one shot of a class.")
    require_distinct(features.classnames)


def batches_of(
    learner: TrainedLearner,
    clip: Any,
    features: Features,
    generator: torch.Generator,
    loop: Loop = PLAIN,
    schedule: Schedule | None = None,
    consumes: Consumes | None = None,
):
    """Return, for `train`, a function from epoch to images and labels of its steps, one view of each."""
    labels = torch.as_tensor(features.labels, device=clip.device)
    schedule, consumes = schedule or learner.schedule, consumes or learner.consumes
    augmented, views_of = consumes != "embeddings", features.views
    if augmented and views_of is None:
        raise OpenworldError(
            f"{learner.name} trains on augmented views of images, and these features hold none; encode images with "
            "`encoding_for(learner, Encoding(views=...))`. On embeddings of your own, take a learner without views."
        )
    number = 0 if views_of is None else views_of.shape[1]
    if augmented and features.fresh_views and number < schedule.epochs:
        raise OpenworldError(
            f"{learner.name} trains {schedule.epochs} epochs, and of every image {number} fresh views "
            "came; encode one for every epoch."
        )
    draws = loop.draws(generator) if loop.draws else repeat(None)
    lifted = Lifted(learner, clip) if hasattr(learner, "lift") else None

    def rows_of_steps() -> list[Tensor]:
        if loop.by_class:
            return draw_batches_by_class(labels.cpu(), schedule, generator)
        return draw_batches(len(features), schedule, generator)

    def batches(epoch: int) -> Iterator[tuple[Images, Tensor]]:
        for rows in rows_of_steps():
            views: Any = None
            if augmented and features.fresh_views:
                views = np.full(len(rows), epoch)
            elif augmented:
                views = torch.randint(number, (len(rows),), generator=generator).numpy()
            images = select_images(features, clip, consumes, rows.numpy(), views)
            pixels = lifted.rows(list(zip(rows.tolist(), views, strict=True)), images.pixels) if lifted else None
            yield replace(images, draw=next(draws), rows=pixels), labels[rows.to(labels.device)]

    return batches


def _joined(parts: list[Any]) -> Any:
    return None if parts[0] is None else torch.cat(parts).float().cpu().numpy()


def _read_saved(folder: Path, device: str) -> tuple[LearnerDescription, Tensors]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    description = describe(folder)
    try:
        # Copied, since matrix products round otherwise where a weight does not lie as the allocator lays it.
        parameters = {name: one.clone() for name, one in load_file(folder / "parameters.safetensors", device).items()}
    except (OSError, ValueError, SafetensorError) as error:
        raise OpenworldError(
            f"{folder} holds no whole learner ({error}); give a folder that `FittedLearner.save` wrote, or fit again."
        ) from error
    require_finite(parameters, str(folder))
    return description, parameters
