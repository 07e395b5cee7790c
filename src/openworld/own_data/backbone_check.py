"""What a backbone is and what runs on it: loaded, looked at, and shown some of the embedded images."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from openworld import backbones, datasets
from openworld.backbones import DualEncoder, TwoTower, needed_files
from openworld.backbones.published_files import fetch_commands
from openworld.backbones.towers import require_class_token
from openworld.core.errors import OpenworldError
from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.features import encode
from openworld.learners import all_learners
from openworld.learners.engine.requirements import lacking, missing_part
from openworld.learners.engine.text_bank import cosine_logits
from openworld.learners.engine.text_features import encode_names
from openworld.metrics import wilson_interval
from openworld.runs.scratch import ScratchFolder
from openworld.shifts.appearance import AppearanceEncoder

DATASET = "emoji-concepts"
_FIRST = 4  # images encoded before the clock starts: what happens only once


@dataclass(frozen=True)
class ZeroShotFigure:
    """How many images were named right among how many classes, and the 95 % interval of the share (Wilson)."""

    right: int
    images: int
    classes: int
    low: float
    high: float


@dataclass(frozen=True)
class BackboneCheck:
    """What a backbone is, what runs on it, and how well and how fast it names images."""

    name: str  # as it was asked for
    run_by: str  # "openworld", or the class and the library
    family: str  # of the towers, "clip" or "siglip"; "" where another library runs it
    parameters: int  # numbers in the weights, the logit scale included
    dtype: str
    device: str
    joint_dimension: int  # width D of the embeddings
    logit_scale: float  # what cosines are multiplied by
    pixels: int  # side of the images
    image: dict  # settings of the tower, as far as they are known; so is `text`
    text: dict
    tokenizer: dict
    files: tuple[str, ...]  # what was read, in full
    fingerprint: str  # of the weights in memory
    learners: dict[str, str | None]  # name -> None where it runs, else what is missing; so is `methods`
    methods: dict[str, str | None]
    zero_shot: ZeroShotFigure
    seconds_per_image: float  # reading included

    @property
    def lines(self) -> tuple[str, ...]:
        """Everything in words, a line each."""
        family = {"clip": "CLIP", "siglip": "SigLIP", "": "dual encoder"}[self.family]
        tally, image, text = self.zero_shot, f"{self.pixels} x {self.pixels} pixels", []
        if self.image:
            token = "class token" if self.image["class_token"] else "no class token"
            image += (
                f" in patches of {self.image['patch_size']}; {_tower(self.image)}, {token}, {self.image['activation']}"
            )
        if self.tokenizer:
            text.append(f"at most {self.tokenizer['positions']} tokens")
        if "kind" in self.tokenizer:
            text.append(f"vocabulary of {self.tokenizer['vocabulary']:,} ({self.tokenizer['kind']})")
        if self.text:
            causal = "causal, pooled at the end token" if self.text["causal"] else "bidirectional"
            text.append(f"{_tower(self.text)}, {causal}")
        facts = {
            "images": image,
            "sentences": "; ".join(text) or "by the library's own tokenizer",
            "embeddings": f"{self.joint_dimension} numbers; cosines are multiplied by {self.logit_scale:.4g}",
            "files": ", ".join(self.files) or "the library's own",
            "fingerprint": self.fingerprint[:16],
            "zero-shot": f"{tally.right} of {tally.images} embedded images named right among {tally.classes} names "
            f"({100 * tally.low:.0f} to {100 * tally.high:.0f} %; by chance {100 / tally.classes:.3g} %)",
            "speed": f"{self.seconds_per_image:.3g} s an image",
        }
        head = f"{self.name}: {family}, run by {self.run_by}, {self.parameters / 1e6:,.1f} M weights"
        lines = [f"{head} in {self.dtype} on {self.device}", *(f"  {what:<14}{fact}" for what, fact in facts.items())]
        for what, able in (("learners", self.learners), ("methods", self.methods)):
            by_reason: dict[str | None, list[str]] = {None: []}
            for name, reason in able.items():
                by_reason.setdefault(reason, []).append(name)
            lines.append(f"  {what:<14}run: {', '.join(by_reason.pop(None)) or 'none'}")
            lines += [f"{'':<16}do not: {', '.join(names)}: {reason}" for reason, names in by_reason.items()]
        return tuple(lines)

    def to_dict(self) -> dict:
        """Plain values for JSON."""
        return asdict(self)


def check_backbone(
    name: str, *, device: str = "cpu", progress: Callable[[int, int], None] | None = None
) -> BackboneCheck:
    """Load a backbone, try what needs which of its parts, and name an embedded test image of each class with it."""
    clip, images = backbones.load(name, device=device), datasets.load(DATASET)
    images = images.subset(np.unique(images.labels, return_index=True)[1])
    zero_shot, seconds = _shown(clip, images, progress)
    ours = isinstance(clip, TwoTower)
    engine = getattr(clip.tokenizer, "engine", None)
    kind = {"kind": type(engine.model).__name__, "vocabulary": engine.get_vocab_size()} if engine else {}
    learners: dict[str, Any] = all_learners()
    whole = next((files for files in needed_files(name) if files.complete), None)
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
        tokenizer=kind | ({} if clip.tokenizer is None else {"positions": clip.tokenizer.positions}),
        files=tuple(dict.fromkeys(str(path) for need in whole.needs for path in need.found)) if whole else (),
        fingerprint=clip.fingerprint,
        learners={title: lacking(clip, learner.published("")) for title, learner in learners.items()},
        methods={
            "zero-shot names, predict, estimate and its references": None,
            "detectors on embeddings, shift taught by class names": None,
            "GL-MCM (patch features)": missing_part(lambda: require_class_token(clip.image, "patch features need")),
            "shift --taught-by images (activations)": missing_part(lambda: AppearanceEncoder(clip)),
        },
        zero_shot=zero_shot,
        seconds_per_image=seconds,
    )


def find_places(name: str) -> dict:
    """Where a backbone's files are looked for, what is there, and what fetches them; {} for a name that is none."""
    try:
        places = json.dumps([asdict(files) for files in needed_files(name)], default=str)
        return {"places": json.loads(places), "fetch": list(fetch_commands(name))}
    except OpenworldError:
        return {}


def say_places(name: str, files: dict) -> Iterator[str]:
    """Yield what to put where (any one of the places does), then the commands that fetch it (any one of them)."""
    if files["places"]:
        yield f"{name} is read from one of these places:"
    for number, place in enumerate(files["places"], start=1):
        folder = place["folder"] or "a folder of yours, given in place of the name, or the hub cache"
        yield f"  {number}. {folder} (layout of {place['layout']})"
        for need in place["needs"]:
            forms = ", or ".join(" with ".join(form) for form in need["any_of"])
            there = ", ".join(Path(path).name for path in need["found"])
            yield f"       {need['purpose']:<14}{f'there: {there}' if there else forms}"
    if files["fetch"]:
        yield "On a machine with network, one of these fetches it:"
        yield from (f"  {command}" for command in files["fetch"])
        yield (
            "Carry the folder over and give it in place of the name (transformers:FOLDER where transformers runs it), "
            "or the package's cache: ~/.cache/huggingface/hub of the hub ($HF_HUB_CACHE)."
        )


def _tower(settings: dict) -> str:
    return f"{settings['layers']} blocks of {settings['width']}"


@torch.no_grad()
def _shown(clip: DualEncoder, images, progress) -> tuple[ZeroShotFigure, float]:
    """How well it names images, and how long one takes."""
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
