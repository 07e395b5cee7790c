"""How fast this machine is: seconds to encode a picture, of a training step, and of an answer, of every learner.

A training step and an answer are measured with few and with more class names, on a backbone of the real size; in
between and beyond they are taken to grow in a straight line. Weights do not matter for that and are drawn at random
where they would have to be downloaded.
"""

import io
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from openworld import datasets
from openworld._errors import OpenworldError
from openworld.backbones import ImageConfig, Preprocess, TextConfig, TwoTower, TwoTowerConfig
from openworld.evaluations.runtime import backbone
from openworld.features import encode
from openworld.learners._size import WordTokenizer
from openworld.protocols._speed_trial import Line, Speed, Trial, fastest, names_of, timed
from openworld.protocols._work import UnitWork, schedules
from openworld.runs import digest

SHAPES: dict[str, TwoTowerConfig] = {
    "openai/clip-vit-base-patch16": TwoTowerConfig(),
    "openai/clip-vit-base-patch32": TwoTowerConfig(image=ImageConfig(patch_size=32)),
    "openai/clip-vit-large-patch14": TwoTowerConfig(
        text=TextConfig(width=768, heads=12, mlp_width=3072),
        image=ImageConfig(patch_size=14, width=1024, layers=24, heads=16, mlp_width=4096),
        joint_dimension=768,
    ),
}
"""Backbones whose speed can be measured without their weights."""

_ALIKE = {"google/siglip-base-patch16-224": "openai/clip-vit-base-patch16"}
"""Backbones whose image tower is as large as that of one of these."""

FEWEST, MOST = 3, 100  # class names that a step is measured with
_SENTENCE_SECONDS = 0.06  # of reading all class names once, at the larger number
_SLOW = 0.05  # seconds per picture, of which a few will do
LIMIT = 75.0
"""Seconds that measuring may take before learners are measured by their training steps alone, once each."""


@dataclass(frozen=True)
class Speeds:
    """What was measured.

    Args:
        encode: seconds of a picture's pass through the image tower, reading included.
        learners: by `speed_key`.
        briefly: names of learners of which training steps alone were measured, once each, for lack of time.
    """

    encode: float
    learners: Mapping[str, Speed]
    briefly: tuple[str, ...] = ()

    def to_dict(self) -> dict:
        """Plain values for JSON; `from_dict` reads them."""
        return asdict(self)

    @staticmethod
    def from_dict(told: Mapping) -> "Speeds":
        """What `to_dict` gave, read again."""
        lines = {key: Speed(*(Line(**line) for line in one.values())) for key, one in told["learners"].items()}
        return Speeds(told["encode"], lines, tuple(told["briefly"]))


def shape(name: str) -> TwoTowerConfig:
    """The configuration of a backbone, without its weights where it is one of `SHAPES`."""
    return SHAPES[name] if name in SHAPES else backbone(name).config


def speed_key(learner) -> str:
    """Equal for learners that take equally long: what they say in words or weigh by numbers plays no part."""
    told = {one.name: getattr(learner, one.name) for one in fields(learner)}
    counted = {name: value for name, value in told.items() if _counts(value)}
    batch = [one.batch_size for one in schedules(learner)]
    return f"{learner.name} {digest([counted, batch])[:12]}"


def _counts(value) -> bool:
    return isinstance(value, int) or (isinstance(value, tuple) and all(isinstance(one, int) for one in value))


def measure(
    name: str,
    units: Iterable[UnitWork],
    *,
    device: str = "cpu",
    threads: int = 1,
    embedded: bool = False,
    told: Callable[[int, int, str], None] | None = None,
    limit: float = LIMIT,
) -> Speeds:
    """Measure what the learners of `units` need on a backbone; those of one `speed_key` are measured once.

    Args:
        name: of the backbone.
        units: whose learners, and how many classes they are tuned on.
        device: where steps and pictures are computed.
        threads: CPU threads of a unit; pictures are encoded with as many as torch is set to.
        embedded: encode drawings of the embedded world, not photos of usual size.
        told: called with (measured, to be measured, what is being measured).
        limit: seconds after which only the first of each kind is still measured whole. Of the others training steps are
            measured, once each, and answers are taken to be as slow as those of the slowest of their kind;
            `Speeds.briefly` tells which they are.
    """
    started, before = time.monotonic(), torch.get_num_threads()
    clip = stand_in(name, device)
    wanted = _each_kind_first({speed_key(unit.learner): unit for unit in units})
    told = told or (lambda done, total, what: None)
    told(0, len(wanted) + 1, "encoding")
    pictures, found, briefly = _seconds_to_encode(clip, embedded), {}, {}
    try:
        torch.set_num_threads(threads)
        few, many = _counts_of_names(clip)
        for place, (key, unit) in enumerate(wanted.items(), start=1):
            alike = [found[other] for other in found if _kind(wanted[other]) == _kind(unit)]
            told(place, len(wanted) + 1, unit.learner.name)
            if alike and time.monotonic() - started > limit:
                slowest = max(alike, key=lambda one: one.step.at(MOST))
                briefly[key] = Speed(_speed(clip, unit, few, many, brief=True).step, slowest.names, slowest.answer)
            else:
                found[key] = _speed(clip, unit, few, many)
    finally:
        torch.set_num_threads(before)
    names = tuple(dict.fromkeys(wanted[key].learner.name for key in briefly))
    return Speeds(pictures, found | briefly, names)


def _kind(unit: UnitWork) -> str:
    return unit.learner.consumes if schedules(unit.learner) else "nothing"


def _each_kind_first(wanted: dict[str, UnitWork]) -> dict[str, UnitWork]:
    first = {_kind(unit): key for key, unit in reversed(wanted.items())}
    return {key: wanted[key] for key in (*sorted(first.values(), key=list(wanted).index), *wanted)}


def _speed(clip: TwoTower, unit: UnitWork, few: int, many: int, *, brief: bool = False) -> Speed:
    trial = Trial(clip, unit.learner, brief)
    try:
        return trial.speed(few, many)
    except OpenworldError:  # some learner cannot be tuned on so few classes; it can on those of its unit
        return trial.speed(unit.classes, 2 * unit.classes)


@torch.no_grad()
def _counts_of_names(clip: TwoTower) -> tuple[int, int]:
    """Few names, and so many that reading them once takes a moment."""
    names = names_of(8)
    each = fastest(lambda: clip.encode_text(names), clip.device) / len(names)
    many = min(MOST, max(3 * FEWEST, round(_SENTENCE_SECONDS / each)))
    return max(FEWEST, many // 5), many


def seconds_to_encode(name: str, device: str = "cpu", *, embedded: bool = False) -> float:
    """Of one picture by a backbone, whose weights are drawn at random where they would have to be downloaded."""
    alike = _ALIKE.get(name, name)
    return _seconds_to_encode(stand_in(alike, device), embedded)


def stand_in(name: str, device: str) -> TwoTower:
    """The backbone, its weights drawn at random where they would have to be downloaded."""
    return _untrained(name, device) if name in SHAPES else backbone(name, device)


def _seconds_to_encode(clip: TwoTower, embedded: bool) -> float:
    """Of one picture, reading and resizing included, as `encode` does it."""
    images = datasets.load("emoji-concepts") if embedded else photos()
    with tempfile.TemporaryDirectory() as folder:

        def run(count: int) -> float:
            return timed(lambda: encode(clip, images.subset(range(count)), cache=Path(folder)), clip.device)

        run(1)  # what happens only once
        few = run(4) / 4
        return few if few > _SLOW else run(64) / 64


@cache
def photos() -> datasets.ImageSet:
    """A picture of ImageNet's usual size, over and over."""
    noise = np.random.default_rng(0).integers(0, 256, (47, 63, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).resize((500, 375), Image.Resampling.BICUBIC).save(file, "JPEG", quality=90)
    numbers, content = np.arange(64), file.getvalue()

    def read(_: int) -> Image.Image:
        return Image.open(io.BytesIO(content), formats=("JPEG",))

    return datasets.ImageSet("photos", "", ("noise",), 0 * numbers, numbers, "the same photo", read)


@cache
def _untrained(name: str, device: str) -> TwoTower:
    config = SHAPES[name]
    size = config.image.image_size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        clip = TwoTower(
            config,
            tokenizer=WordTokenizer(config.text.vocabulary, config.text.positions),
            preprocess=Preprocess(size, size, "shortest", (0.5,) * 3, (0.25,) * 3),
            name=f"{name}, random weights",
        )
    return clip.to(device).requires_grad_(False).eval()
