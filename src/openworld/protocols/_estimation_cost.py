"""What a plan of accuracy estimation will cost: trainings, pictures to look at, estimates, disk, hours.

Hours follow from a few steps and pictures of every architecture on this machine, and straight lines from there. A
backbone is measured on its shape, without its weights.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
import torch

from openworld._errors import OpenworldError
from openworld.classifiers import build
from openworld.estimators import Outputs
from openworld.protocols._estimation_work import RunWork, TrainingWork, work_of
from openworld.protocols._speed_trial import fastest
from openworld.protocols._speeds import seconds_to_encode
from openworld.reproduction.plan import Plan

_STEPPED, _LOOKED = 8, 16  # pictures of a measured step and look: few, so that large networks take seconds
_SHOWN, _CLASSES = 400, 20  # of a measured estimate
_CORRUPTED_SIDE, _WARM = 64, 20  # frost is drawn a few times, and kept
_ALIKE = {"timm:resnet50": ("resnet-18", 90), "timm:densenet121": ("densenet-121", 56)}
"""Networks that an extra brings -> one of ours, and the side of pictures at which it has as much to do with one."""


@dataclass(frozen=True)
class EstimationSpeeds:
    """Seconds, as measured on this machine.

    Args:
        step: of a training step per picture, by architecture and side. look: of an answer to a picture, likewise.
        encode: of a picture by a backbone. corrupt: of a pixel, the mean over all corruptions.
        estimate: of an estimator, per picture and class: the mean over all of the plan.
        guessed: architectures that are not installed, and were measured by another that has as much to do.
    """

    step: Mapping[str, float]
    look: Mapping[str, float]
    encode: Mapping[str, float]
    corrupt: float
    estimate: float
    guessed: tuple[str, ...] = ()

    def to_dict(self) -> dict:
        """Plain values for JSON; `from_dict` reads them."""
        return asdict(self)

    @staticmethod
    def from_dict(told: Mapping) -> "EstimationSpeeds":
        """What `to_dict` gave, read again."""
        return EstimationSpeeds(**{name: told[name] for name in EstimationSpeeds.__annotations__})


@dataclass(frozen=True)
class EstimationRunCost:
    """One run; seconds are None where nothing was measured.

    Args:
        name, tables: of the run.
        units: judged models. trainings: how many. conditions: how many each is judged on.
        pictures: that all of them and the references look at.
        train_seconds, look_seconds, unit_seconds: of the stages, one after the other; `unit_seconds` of the estimates.
        seconds: until it is done, with several workers.
    """

    name: str
    tables: tuple[str, ...]
    units: int
    trainings: int
    conditions: int
    pictures: int
    train_seconds: float | None = None
    look_seconds: float | None = None
    unit_seconds: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class EstimationCost:
    """A plan: its runs, disk, and how many units run at a time."""

    runs: tuple[EstimationRunCost, ...]
    cache_bytes: int
    record_bytes: int
    workers: int
    guessed: tuple[str, ...] = ()

    @property
    def units(self) -> int:
        """How many models are judged."""
        return sum(run.units for run in self.runs)

    @property
    def seconds(self) -> float | None:
        """Until everything is done; None where nothing was measured."""
        each = [run.seconds for run in self.runs]
        return None if None in each else sum(each)


def estimation_cost(plan: Plan, speeds: EstimationSpeeds | None = None, workers: int = 1) -> EstimationCost:
    """What a plan will cost.

    Args:
        plan: of `reproduction.plan`, of runs of accuracy estimation.
        speeds: of `measure_estimation`; None tells no seconds.
        workers: units that run at a time, at least 1.
    """
    work = work_of(plan.runs)
    told = tuple(_run_cost(run.name, run.tables, work[run.name], speeds, workers) for run in plan.runs)
    guessed = speeds.guessed if speeds else ()
    bytes_of = [(one.cache_bytes, one.record_bytes) for one in work.values()]
    return EstimationCost(told, sum(one for one, _ in bytes_of), sum(one for _, one in bytes_of), workers, guessed)


def _run_cost(name: str, tables, work: RunWork, speeds: EstimationSpeeds | None, workers: int) -> EstimationRunCost:
    trainings = [one.seeds for one in work.trainings]
    counts = (name, tables, work.judged, sum(trainings), work.conditions, work.shown)
    if speeds is None:
        return EstimationRunCost(*counts)
    train = sum(one.steps * one.recipe.batch_size * speeds.step[key_of(one)] for one in work.trainings)
    look = _look_seconds(work, speeds)
    estimate = work.judged * work.estimators * work.shown * work.classes * speeds.estimate
    stages = ((train, sum(trainings)), (look, work.conditions), (estimate, work.judged))
    whole = sum(seconds / max(1, min(workers, units)) for seconds, units in stages)
    return EstimationRunCost(*counts, train, look, estimate, whole)


def _look_seconds(work: RunWork, speeds: EstimationSpeeds) -> float:
    """Pictures are read and corrupted once for all."""
    each = sum(one.judged * speeds.look[key_of(one)] for one in work.trainings)
    each += sum(speeds.encode[name] for name in work.backbones)
    side = max((one.recipe.side for one in work.trainings), default=0)
    return work.shown * each + work.corrupted * speeds.corrupt * side**2


def keys_of(plan: Plan) -> set[str]:
    """What `step` and `encode` must know to tell the cost of a plan."""
    work = work_of(plan.runs).values()
    return {key_of(one) for run in work for one in run.trainings} | {name for run in work for name in run.backbones}


def key_of(work: TrainingWork) -> str:
    """Equal where a step and an answer take about equally long per picture: classes hardly matter."""
    return f"{work.architecture} {work.recipe.side}"


def measure_estimation(
    plan: Plan,
    *,
    device: str = "cpu",
    threads: int = 1,
    told: Callable[[int, int, str], None] | None = None,
) -> EstimationSpeeds:
    """Measure what a plan needs.

    Args:
        plan: as for `estimation_cost`.
        device: where to compute.
        threads: CPU threads of a unit.
        told: called with (measured, to be measured, what is being measured).
    """
    work = work_of(plan.runs).values()
    trainings = {key_of(one): one for run in work for one in run.trainings}
    names = tuple(dict.fromkeys(name for run in work for name in run.backbones))
    told, total, before = told or (lambda *_: None), len(trainings) + len(names) + 2, torch.get_num_threads()
    step, look, encode, guessed = {}, {}, {}, {}
    try:
        torch.set_num_threads(threads)
        for place, (key, one) in enumerate(trainings.items()):
            told(place, total, one.architecture)
            step[key], look[key], guessed[one.architecture] = time_classifier(one, device)
        for place, name in enumerate(names, len(trainings)):
            told(place, total, name)
            encode[name] = seconds_to_encode(name, device, embedded=plan.ground.embedded)
        told(total - 2, total, "corruptions")
        corrupting = _of_corruptions()
        told(total - 1, total, "estimators")
        unknown = tuple(name for name, alike in guessed.items() if alike)
        return EstimationSpeeds(step, look, encode, corrupting, _of_estimators(plan), unknown)
    finally:
        torch.set_num_threads(before)


def time_classifier(one: TrainingWork, device: str) -> tuple[float, float, bool]:
    """Seconds of a step and of an answer, per picture; and whether another network stood in."""
    network, side, guessed = _network(one)
    network = network.to(device, memory_format=torch.channels_last)
    pixels = torch.rand(_LOOKED, 3, side, side, device=device)
    labels = torch.zeros(_STEPPED, dtype=torch.int64, device=device)

    def step() -> None:
        network.train()
        torch.nn.functional.cross_entropy(network(pixels[:_STEPPED]), labels).backward()

    @torch.inference_mode()
    def answer() -> None:
        network.eval()(pixels)

    step()  # what happens only once
    place = torch.device(device)
    return fastest(step, place) / _STEPPED, fastest(answer, place) / _LOOKED, guessed


def _network(one: TrainingWork) -> tuple[torch.nn.Module, int, bool]:
    """The network, untrained, and the side of its pictures; where it is not installed, one that has as much to do."""
    try:
        return build(one.architecture, one.classes, one.recipe.side), one.recipe.side, False
    except OpenworldError:
        if one.architecture not in _ALIKE:
            raise
        name, side = _ALIKE[one.architecture]
        return build(name, one.classes, side), side, True


def _of_corruptions() -> float:
    """Of a pixel, the mean over all corruptions in the middle severity."""
    from openworld.datasets.corruptions import CORRUPTIONS

    generator = np.random.default_rng(0)
    picture = generator.integers(0, 256, (_CORRUPTED_SIDE, _CORRUPTED_SIDE, 3), dtype=np.uint8)

    def every() -> None:
        for corruption in CORRUPTIONS.values():
            corruption(picture, 3, generator)

    for _ in range(_WARM):
        every()
    return fastest(every, torch.device("cpu")) / len(CORRUPTIONS) / _CORRUPTED_SIDE**2


def _of_estimators(plan: Plan) -> float:
    """Of a picture and class, the mean over the estimators of the first run."""
    generator, labels = np.random.default_rng(0), np.arange(_SHOWN) % _CLASSES
    logits, similar, other = generator.normal(0, 2, (3, _SHOWN, _CLASSES))
    outputs = Outputs(logits, labels=labels, reference=similar / 50, partners=(other,))
    specs = plan.runs[0].spec.estimators
    fitted = [one.build().fit(outputs) for one in specs if not one.is_score]

    def every() -> None:
        for one in fitted:
            one.estimate(outputs)

    return fastest(every, torch.device("cpu")) / max(1, len(fitted)) / logits.size
