"""What a backbone is and what runs on it: loaded, looked at, and shown some of the embedded pictures."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from openworld import backbones, datasets
from openworld._arrays import require_at_least
from openworld._errors import OpenworldError
from openworld.backbones import DualEncoder, TwoTower, needed_files
from openworld.backbones.image_prompts import require_class_token
from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.features import encode
from openworld.learners import all_learners
from openworld.learners.engine.requirements import lacking, missing_part
from openworld.learners.engine.text_bank import cosine_logits
from openworld.learners.engine.text_features import encode_names
from openworld.metrics.accuracy import wilson_interval
from openworld.runs.scratch import ScratchFolder
from openworld.shifts.appearance import AppearanceEncoder

DATASET = "emoji-concepts"
_FIRST = 4  # pictures encoded before the clock starts: what happens only once


@dataclass(frozen=True)
class ZeroShotFigure:
    """How many embedded pictures were named right.

    Args:
        right: of `pictures`. classes: how many names there were to choose from; one in so many is right by chance.
        low, high: the 95 % interval of the share (Wilson).
    """

    right: int
    pictures: int
    classes: int
    low: float
    high: float


@dataclass(frozen=True)
class BackboneCheck:
    """What was found.

    Args:
        name: as it was asked for. run_by: "openworld", or the class and the library.
        family: of the towers: "clip" or "siglip"; "" where another library runs it.
        parameters: numbers in the weights, the logit scale included. dtype, device: of the weights.
        joint_dimension: width D of the embeddings. logit_scale: what cosines are multiplied by.
        pixels: side of the pictures. image, text: the towers' settings, as far as they are known.
        tokenizer: how sentences are read. files: what was read, in full. fingerprint: of the weights in memory.
        learners, methods: name -> None where it runs, else what is missing.
        zero_shot: a sanity figure. seconds_per_picture: reading included.
    """

    name: str
    run_by: str
    family: str
    parameters: int
    dtype: str
    device: str
    joint_dimension: int
    logit_scale: float
    pixels: int
    image: dict
    text: dict
    tokenizer: dict
    files: tuple[str, ...]
    fingerprint: str
    learners: dict[str, str | None]
    methods: dict[str, str | None]
    zero_shot: ZeroShotFigure
    seconds_per_picture: float

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return asdict(self)


def check_backbone(
    name: str, *, device: str = "cpu", pictures: int = 100, progress: Callable[[int, int], None] | None = None
) -> BackboneCheck:
    """Load a backbone, try what needs which of its parts, and name some of the embedded pictures with it.

    Args:
        name: as for `openworld.backbones.load`. device: where it is run.
        pictures: how many are shown, one class after the other; at most all of the test pictures.
        progress: called with (pictures done, pictures in all).

    Raises:
        OpenworldError: what `load` raises; more pictures than there are, or none.
    """
    images = _chosen(pictures)
    clip = backbones.load(name, device=device)
    zero_shot, seconds = _shown(clip, images, progress)
    ours = isinstance(clip, TwoTower)
    return BackboneCheck(
        name=clip.name,
        run_by="openworld" if ours else clip.architecture,
        family=clip.config.family if ours else "",
        parameters=sum(one.numel() for one in (clip if ours else clip.module).parameters()),
        dtype=str(clip.dtype).removeprefix("torch."),
        device=str(clip.device),
        joint_dimension=clip.config.joint_dimension,
        logit_scale=float(clip.logit_scale),
        pixels=clip.config.image.image_size,
        image=asdict(clip.config.image) if ours else {},
        text=asdict(clip.config.text) if ours else {},
        tokenizer=_tokenizer(clip),
        files=files_read(name),
        fingerprint=clip.fingerprint,
        learners={own: lacking(clip, learner.published("")) for own, learner in all_learners().items()},
        methods=_methods(clip),
        zero_shot=zero_shot,
        seconds_per_picture=seconds,
    )


def files_read(name: str) -> tuple[str, ...]:
    """The files that `load` reads of a name, as far as it is known."""
    whole = next((one for one in needed_files(name) if one.complete), None)
    if whole is None:
        return ()
    return tuple(dict.fromkeys(str(path) for need in whole.needs for path in need.found))


def _chosen(count: int):
    """So many test pictures, the first of every class, then the second."""
    images = datasets.load(DATASET)
    require_at_least(1, pictures=count)
    if count > len(images):
        raise OpenworldError(f"--images is {count:,}, and {DATASET} has {len(images):,}; ask for as many or fewer.")
    labels = np.asarray(images.labels)
    turn = np.empty(len(labels), np.int64)
    for label in np.unique(labels):
        turn[labels == label] = np.arange((labels == label).sum())
    return images.subset(np.sort(np.lexsort((labels, turn))[:count]))


@torch.no_grad()
def _shown(clip: DualEncoder, images, progress) -> tuple[ZeroShotFigure, float]:
    """How well it names pictures, and how long one takes."""
    text = encode_names(clip, images.classnames, (TEMPLATES.get(DATASET, PHOTO),)).cpu()
    with ScratchFolder() as scratch:
        encode(clip, images.subset(range(min(_FIRST, len(images)))), cache=Path(scratch))
        started = time.perf_counter()
        features = encode(clip, images, cache=Path(scratch), progress=progress)
        seconds = (time.perf_counter() - started) / len(images)
        embeddings = torch.from_numpy(np.array(features.embeddings))
    guesses = cosine_logits(embeddings, text, torch.ones(())).argmax(dim=1).numpy()
    right = int((guesses == np.asarray(images.labels)).sum())
    low, high = wilson_interval(right / len(images), len(images))
    return ZeroShotFigure(right, len(images), len(images.classnames), low, high), seconds


def _tokenizer(clip: DualEncoder) -> dict:
    """Class, vocabulary and longest sentence, as far as they are known."""
    tokenizer = clip.tokenizer
    if tokenizer is None:
        return {}
    engine = getattr(tokenizer, "engine", None)
    kind = {} if engine is None else {"kind": type(engine.model).__name__, "vocabulary": engine.get_vocab_size()}
    return kind | {"positions": tokenizer.positions}


def _methods(clip: DualEncoder) -> dict[str, str | None]:
    """What is no learner, by what it asks of a backbone."""
    return {
        "zero-shot names, predict, estimate and its references": None,
        "detectors on embeddings, shift taught by class names": None,
        "GL-MCM (patch features)": missing_part(lambda: require_class_token(clip.image, "patch features need")),
        "shift --taught-by pictures (activations)": missing_part(lambda: AppearanceEncoder(clip)),
    }
