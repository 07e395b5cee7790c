"""How fast this machine is: seconds to encode a picture, of a training step, and of an answer, of every learner.

A training step and an answer are measured with few and with more class names, on a backbone of the real size; in
between and beyond they are taken to grow in a straight line. Weights do not matter for that and are drawn at random
where they would have to be downloaded.
"""

import io
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from openworld import datasets
from openworld._errors import OpenworldError
from openworld.backbones import ImageConfig, Preprocess, TextConfig, TwoTower, TwoTowerConfig
from openworld.features import Features, encode
from openworld.learners import Images, Names, Schedule
from openworld.learners._size import WordTokenizer
from openworld.learners._training import PLAIN
from openworld.protocols._work import UnitWork, schedules
from openworld.protocols._workbench import backbone
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

FEWEST, MOST = 3, 100  # class names that a step is measured with
_SENTENCE_SECONDS = 0.06  # of reading all class names once, at the larger number
_PICTURES = 8  # per answer
_ENOUGH = 0.3  # seconds after which a measurement is not repeated


@dataclass(frozen=True)
class Line:
    """Seconds with no class name, and what every name adds."""

    start: float
    slope: float

    def at(self, names: int) -> float:
        """Seconds with so many names."""
        return self.start + self.slope * names


@dataclass(frozen=True)
class Speed:
    """Seconds of a training step, of preparing names for an answer, and of an answer to one picture."""

    step: Line
    names: Line
    answer: Line


@dataclass(frozen=True)
class Speeds:
    """What was measured: seconds per pass of a picture through the image tower (reading included), and by learner."""

    encode: float
    learners: Mapping[str, Speed]

    def to_dict(self) -> dict:
        """Plain values for JSON; `from_dict` reads them."""
        return asdict(self)

    @staticmethod
    def from_dict(told: Mapping) -> "Speeds":
        """What `to_dict` gave, read again."""
        lines = {key: Speed(*(Line(**line) for line in one.values())) for key, one in told["learners"].items()}
        return Speeds(told["encode"], lines)


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
) -> Speeds:
    """Measure what the learners of `units` need on a backbone; those of one `speed_key` are measured once.

    Args:
        name: of the backbone.
        units: whose learners, and how many classes they are tuned on.
        device: where steps and pictures are computed.
        threads: CPU threads of a unit; pictures are encoded with as many as torch is set to.
        embedded: encode drawings of the embedded world, not photos of usual size.
        told: called with (measured, to be measured, what is being measured).
    """
    clip = _stand_in(name, device) if name in SHAPES else backbone(name, device)
    wanted = {speed_key(unit.learner): unit for unit in units}
    told = told or (lambda done, total, what: None)
    told(0, len(wanted) + 1, "encoding")
    pictures, found, before = _seconds_to_encode(clip, embedded), {}, torch.get_num_threads()
    try:
        torch.set_num_threads(threads)
        few, many = _counts_of_names(clip)
        for place, (key, unit) in enumerate(wanted.items(), start=1):
            told(place, len(wanted) + 1, unit.learner.name)
            found[key] = _speed(clip, unit, few, many)
    finally:
        torch.set_num_threads(before)
    return Speeds(pictures, found)


def _speed(clip: TwoTower, unit: UnitWork, few: int, many: int) -> Speed:
    trial = _Trial(clip, unit.learner)
    try:
        return trial.speed(few, many)
    except OpenworldError:  # some learner cannot be tuned on so few classes; it can on those of its unit
        return trial.speed(unit.classes, 2 * unit.classes)


@dataclass(frozen=True, eq=False)
class _Trial:
    """One learner, tried on random pictures."""

    clip: TwoTower
    learner: object

    def speed(self, few: int, many: int) -> Speed:
        """Lines through the seconds with few and with many names."""
        parameters, step = self._step_line(few, many)
        images = self._images(2 if self._runs_tower else _PICTURES)
        at_few, at_many = (self._answer(parameters, few, count, images) for count in (few, many))
        preparing, answering = (_line(few, many, *pair) for pair in zip(at_few, at_many, strict=True))
        # A pass through the image tower would drown what names add, and a line through both be one through noise.
        return Speed(step, preparing, Line(at_few[1], 0.0) if self._runs_tower else answering)

    @property
    def _runs_tower(self) -> bool:
        return self.learner.consumes == "pixels"

    def _step_line(self, few: int, many: int) -> tuple[dict, Line]:
        """What is tuned, and seconds of a step by number of names."""
        if getattr(self.learner, "in_stages", False):
            parameters, at_few = self._stages(few)
            return parameters, _line(few, many, at_few, self._stages(many)[1])
        if not hasattr(self.learner, "schedule"):
            return {}, Line(0.0, 0.0)
        batch = self.learner.schedule.batch_size
        # Where the image tower runs, one picture and more names show better what names add.
        counts, many = ((1, batch), 2 * many) if self._runs_tower else ((batch,), many)
        parameters, at_few = self._steps(few, counts)
        _, at_many = self._steps(many, counts[:1])
        slope = _line(few, many, at_few[0], at_many[0]).slope
        return parameters, Line(max(at_few[-1] - slope * few, 0.0), slope)

    def _steps(self, classes: int, counts: tuple[int, ...]) -> tuple[dict, list[float]]:
        """What is tuned for so many classes, and seconds of a step of each number of pictures."""
        learner, loop, names = self.learner, getattr(self.learner, "loop", PLAIN), _names(classes)
        generator = torch.Generator().manual_seed(0)
        start = learner.start(self.clip, names, generator)
        parameters = {key: tensor.detach().requires_grad_(True) for key, tensor in start.items()}
        prepared = learner.prepare(self.clip, names)

        def step(count: int) -> None:
            draw = next(loop.draws(generator)) if loop.draws else None
            images, labels = replace(self._images(count), draw=draw), self._labels(count, classes)
            terms = learner.loss(self.clip, parameters, images, labels, prepared)
            if loop.gradient:
                loop.gradient(terms, parameters)
            else:
                torch.autograd.grad(terms["total"], list(parameters.values()), allow_unused=True)

        seconds = [self._seconds(partial(step, count)) for count in counts]
        return {key: tensor.detach() for key, tensor in parameters.items()}, seconds

    def _answer(self, parameters: dict, tuned: int, count: int, images: Images) -> tuple[float, float]:
        """Seconds of preparing so many names, the first of them tuned on, and of the answer to one picture."""
        names = _names(count)
        asked = Names(names[:tuned], names[tuned:], names[:tuned])
        with torch.no_grad():
            preparing = self._seconds(lambda: self.learner.text_bank(self.clip, parameters, asked))
            bank = self.learner.text_bank(self.clip, parameters, asked)
            answering = self._seconds(lambda: self.learner.answer(self.clip, parameters, images, bank))
        return preparing, answering / len(images)

    def _stages(self, classes: int) -> tuple[dict, float]:
        """A fit of one step per stage, less what comes before the first."""
        stages = [one.name for one in fields(self.learner) if isinstance(getattr(self.learner, one.name), Schedule)]
        once = {name: replace(getattr(self.learner, name), epochs=1) for name in stages}
        learner, names = replace(self.learner, **once), _names(classes)
        count = max(one.batch_size for one in once.values())
        embeddings, rows = self._images(count).embeddings.cpu().float().numpy(), np.arange(count)
        labels = self._labels(count, classes).cpu().numpy()
        features = Features(embeddings, labels, rows, rows, names, "random")
        preparing = self._seconds(lambda: learner.prepare(self.clip, names))
        fitted = []
        fitting = self._seconds(lambda: fitted.append(learner.fit(self.clip, features, seed=0)))
        return fitted[0].parameters, max(fitting - preparing, 0.1 * fitting) / len(stages)

    def _images(self, count: int) -> Images:
        """Random pictures, with all that a learner may be shown."""
        config, consumes, random = self.clip.config, self.learner.consumes, torch.Generator().manual_seed(0)
        wide = torch.promote_types(self.clip.dtype, torch.float32)

        def draw(*sizes: int) -> torch.Tensor:
            return torch.randn(*sizes, generator=random).to(self.clip.device, wide)

        side, patches = config.image.image_size, (config.image.grid**2, config.image.width)
        return Images(
            embeddings=draw(count, config.joint_dimension),
            patches=draw(count, *patches) if consumes == "patches" else None,
            pixels=draw(count, 3, side, side).to(self.clip.dtype) if consumes == "pixels" else None,
        )

    def _labels(self, count: int, classes: int) -> torch.Tensor:
        return (torch.arange(count) % classes).to(self.clip.device)

    def _seconds(self, run: Callable[[], object]) -> float:
        return _fastest(run, self.clip.device)


def _names(count: int) -> tuple[str, ...]:
    return tuple(f"class {number}" for number in range(count))


def _fastest(run: Callable[[], object], device: torch.device) -> float:
    """The fastest of up to three calls: whatever else a machine does only makes one slower."""
    times = [_timed(run, device)]
    while len(times) < 3 and sum(times) < _ENOUGH:
        times.append(_timed(run, device))
    return min(times)


def _timed(run: Callable[[], object], device: torch.device) -> float:
    """Seconds of a call; on a CPU its processor time per thread, as if nothing else ran there."""
    on_cpu = device.type == "cpu"
    clock = time.process_time if on_cpu else time.perf_counter
    started = clock()
    run()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return (clock() - started) / (torch.get_num_threads() if on_cpu else 1)


def _line(few: int, many: int, at_few: float, at_many: float) -> Line:
    """Through both points; flat at their mean where more names were not slower."""
    slope = (at_many - at_few) / (many - few)
    if slope <= 0:
        return Line(statistics.fmean((at_few, at_many)), 0.0)
    return Line(max(at_few - slope * few, 0.0), slope)


@torch.no_grad()
def _counts_of_names(clip: TwoTower) -> tuple[int, int]:
    """Few names, and so many that reading them once takes a moment."""
    names = _names(8)
    each = _fastest(lambda: clip.encode_text(names), clip.device) / len(names)
    many = min(MOST, max(3 * FEWEST, round(_SENTENCE_SECONDS / each)))
    return max(FEWEST, many // 5), many


def _seconds_to_encode(clip: TwoTower, embedded: bool) -> float:
    """Of one picture, reading and resizing included, as `encode` does it."""
    images = datasets.load("emoji-concepts") if embedded else _photos()
    with tempfile.TemporaryDirectory() as folder:

        def run(count: int) -> float:
            return _timed(lambda: encode(clip, images.subset(range(count)), cache=Path(folder)), clip.device)

        run(2)  # what happens only once
        slow = run(4) / 4
        count = _PICTURES if slow > 0.05 else 64
        return run(count) / count


@cache
def _photos() -> datasets.ImageSet:
    """A picture of ImageNet's usual size, over and over."""
    noise = np.random.default_rng(0).integers(0, 256, (47, 63, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).resize((500, 375), Image.Resampling.BICUBIC).save(file, "JPEG", quality=90)
    numbers, content = np.arange(64), file.getvalue()

    def read(_: int) -> Image.Image:
        return Image.open(io.BytesIO(content))

    return datasets.ImageSet("photos", "", ("noise",), 0 * numbers, numbers, "the same photo", read)


@cache
def _stand_in(name: str, device: str) -> TwoTower:
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
