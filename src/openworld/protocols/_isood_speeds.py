"""How fast this machine is at what IS-OOD's runs do: classifiers, embeddings, pictures in looks, sentences, LAID."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial

import torch

from openworld.classifiers import Recipe
from openworld.protocols._estimation_cost import key_of, time_classifier
from openworld.protocols._estimation_work import TrainingWork
from openworld.protocols._speed_trial import fastest, names_of
from openworld.protocols._speeds import photos, seconds_to_encode, stand_in
from openworld.reproduction.plan import Plan
from openworld.reproduction.settings import PlannedRun
from openworld.shift import LAID, in_looks

JUDGED = Recipe(side=224)
"""What a saved classifier of photos is measured as: ResNet-50's size is ImageNet's."""

_CPU = torch.device("cpu")
_SENTENCES, _GRID, _STEPS = 64, (12, 8), 4  # of a measured reading, and of a measured training of LAID


@dataclass(frozen=True)
class ShiftSpeeds:
    """Seconds, as measured on this machine.

    Args:
        step: of a training step per picture. look: of an answer to a picture; both by classifier.
        encode: of a picture by the backbone. shown: of a picture in a look, the mean over the plan's.
        read: of a picture. sentence: of a class name in a sentence. laid: of a step of LAID.
        guessed: classifiers that are not installed, and were measured by another that has as much to do.
    """

    step: Mapping[str, float]
    look: Mapping[str, float]
    encode: float
    shown: float
    read: float
    sentence: float
    laid: float
    guessed: tuple[str, ...] = ()

    def to_dict(self) -> dict:
        """Plain values for JSON; `from_dict` reads them."""
        return asdict(self)

    @staticmethod
    def from_dict(told: Mapping) -> "ShiftSpeeds":
        """What `to_dict` gave, read again."""
        return ShiftSpeeds(**{name: told[name] for name in ShiftSpeeds.__annotations__})


def classifiers_of(run: PlannedRun) -> list[TrainingWork]:
    """What a run judges, of one seed; a saved classifier is taken to be ResNet-50."""
    found = []
    for one in getattr(run.spec, "models", ()):
        recipe = JUDGED if one.weights else one.trained_by(run.spec.sources[0].dataset)
        pictures = 0 if one.weights else len(run.spec.ground.training.load())
        classes = 1000 if one.weights else len(run.spec.ground.names)
        found.append(TrainingWork(one.architecture or "timm:resnet50", recipe, classes, pictures, 1, 1))
    return found


def keys_of(plan: Plan) -> set[str]:
    """What `step` and `look` must know to tell the cost of a plan."""
    return {key_of(one) for run in plan.runs for one in classifiers_of(run)}


def measure_shift(
    plan: Plan,
    *,
    device: str = "cpu",
    threads: int = 1,
    told: Callable[[int, int, str], None] | None = None,
) -> ShiftSpeeds:
    """Measure what a plan needs.

    Args:
        plan: as for `shift_cost`.
        device: where to compute.
        threads: CPU threads of a unit.
        told: called with (measured, to be measured, what is being measured).
    """
    told, before, judged = told or (lambda *_: None), torch.get_num_threads(), {}
    known = {key_of(one): one for run in plan.runs for one in classifiers_of(run)}
    total = len(known) + 2
    try:
        torch.set_num_threads(threads)
        for place, (key, one) in enumerate(known.items()):
            told(place, total, one.architecture)
            judged[key] = (*time_classifier(one, device), one.architecture)
        told(total - 2, total, "pictures")
        encode = seconds_to_encode(plan.ground.backbone, device, embedded=plan.ground.embedded)
        shown, read = _of_pictures(plan)
        told(total - 1, total, "sentences")
        sentence, laid = _of_splitting(plan.ground.backbone, device)
    finally:
        torch.set_num_threads(before)
    step, look = ({key: one[place] for key, one in judged.items()} for place in (0, 1))
    guessed = tuple(name for _, _, alike, name in judged.values() if alike)
    return ShiftSpeeds(step, look, encode, shown, read, sentence, laid, guessed)


def _of_pictures(plan: Plan) -> tuple[float, float]:
    """Of a picture in a look, the mean over all looks of the plan but its own, and as it is."""
    shown = [one for run in plan.runs if run.spec.protocol == "decomposed-zero-shot" for one in run.spec.ground.shown]
    images = shown[0].load() if plan.ground.embedded and shown else photos()
    looks = tuple(dict.fromkeys(one.look for one in shown if one.look != "plain"))

    def read(one) -> None:
        one.image(0).convert("RGB").resize((224, 224))

    plain = fastest(partial(read, images), _CPU)
    each = [fastest(partial(read, one), _CPU) for one in in_looks(images, looks)]
    return (sum(each) / len(each) if each else plain), plain


def _of_splitting(name: str, device: str) -> tuple[float, float]:
    """Of a sentence, and of a step of LAID in the backbone's width."""
    clip = stand_in(name, device)
    sentences = names_of(_SENTENCES)
    grid = torch.randn(*_GRID, clip.config.joint_dimension, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        reading = fastest(lambda: clip.encode_text(sentences), clip.device) / _SENTENCES
    return reading, fastest(lambda: LAID(steps=_STEPS).fit(grid), _CPU) / _STEPS
