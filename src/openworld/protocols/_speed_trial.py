"""One learner, tried on random pictures: seconds of a training step, of preparing names, and of an answer."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np
import torch

from openworld.backbones import TwoTower
from openworld.features import Features
from openworld.learners import Images, Names, Schedule
from openworld.learners._training import PLAIN

PICTURES = 8  # per answer
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


@dataclass(frozen=True, eq=False)
class Trial:
    """One learner, tried on random pictures; where it is brief, training steps alone and each once."""

    clip: TwoTower
    learner: object
    brief: bool = False

    def speed(self, few: int, many: int) -> Speed:
        """Lines through the seconds with few and with many names; of a brief trial only `step` tells anything."""
        parameters, step = self._step_line(few, many)
        if self.brief:
            return Speed(step, Line(0.0, 0.0), Line(0.0, 0.0))
        images = self._images(2 if self._runs_tower else PICTURES)
        at_few, at_many = (self._answer(parameters, few, count, images) for count in (few, many))
        preparing, answering = (line(few, many, *pair) for pair in zip(at_few, at_many, strict=True))
        # A pass through the image tower would drown what names add, and a line through both be one through noise.
        return Speed(step, preparing, Line(at_few[1], 0.0) if self._runs_tower else answering)

    @property
    def _runs_tower(self) -> bool:
        return self.learner.consumes == "pixels"

    def _step_line(self, few: int, many: int) -> tuple[dict, Line]:
        """What is tuned, and seconds of a step by number of names."""
        if getattr(self.learner, "in_stages", False):
            parameters, at_few = self._stages(few)
            return parameters, line(few, many, at_few, self._stages(many)[1])
        if not hasattr(self.learner, "schedule"):
            return {}, Line(0.0, 0.0)
        batch = self.learner.schedule.batch_size
        # Where the image tower runs, one picture and more names show better what names add.
        counts, many = ((1, batch), 2 * many) if self._runs_tower else ((batch,), many)
        parameters, at_few = self._steps(few, counts)
        _, at_many = self._steps(many, counts[:1])
        slope = line(few, many, at_few[0], at_many[0]).slope
        return parameters, Line(max(at_few[-1] - slope * few, 0.0), slope)

    def _steps(self, classes: int, counts: tuple[int, ...]) -> tuple[dict, list[float]]:
        """What is tuned for so many classes, and seconds of a step of each number of pictures."""
        learner, loop, names = self.learner, getattr(self.learner, "loop", PLAIN), names_of(classes)
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
        names = names_of(count)
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
        learner, names = replace(self.learner, **once), names_of(classes)
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

        image = config.image
        return Images(
            embeddings=draw(count, config.joint_dimension),
            patches=draw(count, image.grid**2, image.width) if consumes == "patches" else None,
            pixels=draw(count, 3, *2 * [image.image_size]).to(self.clip.dtype) if consumes == "pixels" else None,
        )

    def _labels(self, count: int, classes: int) -> torch.Tensor:
        return (torch.arange(count) % classes).to(self.clip.device)

    def _seconds(self, run: Callable[[], object]) -> float:
        return timed(run, self.clip.device) if self.brief else fastest(run, self.clip.device)


def names_of(count: int) -> tuple[str, ...]:
    return tuple(f"class {number}" for number in range(count))


def fastest(run: Callable[[], object], device: torch.device) -> float:
    """The fastest of up to three calls: whatever else a machine does only makes one slower."""
    times = [timed(run, device)]
    while len(times) < 3 and sum(times) < _ENOUGH:
        times.append(timed(run, device))
    return min(times)


def timed(run: Callable[[], object], device: torch.device) -> float:
    """Seconds of a call; on a CPU its processor time per thread, as if nothing else ran there."""
    on_cpu = device.type == "cpu"
    clock = time.process_time if on_cpu else time.perf_counter
    started = clock()
    run()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return (clock() - started) / (torch.get_num_threads() if on_cpu else 1)


def line(few: int, many: int, at_few: float, at_many: float) -> Line:
    """Through both points; flat at their mean where more names were not slower."""
    slope = (at_many - at_few) / (many - few)
    if slope <= 0:
        return Line(statistics.fmean((at_few, at_many)), 0.0)
    return Line(max(at_few - slope * few, 0.0), slope)
