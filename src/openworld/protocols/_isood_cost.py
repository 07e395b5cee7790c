"""What a plan of incremental shift comes to: judged models, pictures, disk, counted without data; and hours.

Hours follow from a few steps and pictures on this machine and straight lines from there. Searching for neighbours and
the detectors' sums are left out: next to passes of a network they are short, except for the search of KNN among all
training pictures of ImageNet, which `_isood_plan.remarks` names.
"""

from openworld.datasets.templates import CLIP_80, EMOJI_LOOKS
from openworld.evaluations.ood_detection.spec import IncrementalShiftSpec
from openworld.protocols._cost import RECORD_BYTES, Cost, RunCost
from openworld.protocols._estimation_cost import key_of
from openworld.protocols._estimation_work import count
from openworld.protocols._isood_speeds import ShiftSpeeds, classifiers_of
from openworld.reproduction.plan import Plan, units_of
from openworld.reproduction.settings import PlannedRun

LISTED = {"imagenet21k": 522_500 + 11_060_223, "SynIS": 320_000}
"""Pictures of the published lists (qqwsad5/IS-OOD @ 7b52db8): both parts of ImageNet-21K-P, and Syn-IS.

The training part is counted as Alibaba-MIIL/ImageNet21K states its winter 2021 release; its lists were not counted.
"""

TESTED = 45_000
"""In-distribution test pictures of the published list."""

KNOWN = 1_281_167
"""ImageNet's training pictures, which the detectors of a saved classifier learn from."""

PASSES = 3.2
"""Passes of a network that the paper's eight detectors take together per picture, as bench/detectors.py prints it."""

SCORE_BYTES = 8
WIDTH_BYTES = 4 * 512
"""Of a picture's embedding, by which shift degrees are measured."""


def shift_cost(plan: Plan, speeds: ShiftSpeeds | None = None, workers: int = 1) -> Cost:
    """What there is to do.

    Args:
        plan: of IS-OOD.
        speeds: of `measure_shift`; None tells no seconds.
        workers: units at a time.
    """
    runs = tuple(_run_cost(run, speeds, workers) for run in plan.runs)
    embedded = sum(pictures_of(run) for run in plan.runs if not _judges_given(run))
    rows = sum(units_of(run.spec) * pictures_of(run) * _columns(run.spec) for run in plan.runs)
    records = sum(RECORD_BYTES * one.units for one in runs) + SCORE_BYTES * rows
    every = sum(one.pictures for one in runs)
    return Cost(runs, every, every, WIDTH_BYTES * embedded, records, {}, workers, speeds.guessed if speeds else ())


def pictures_of(run: PlannedRun) -> int:
    """What every judged model sees: in-distribution test pictures and those of the pool; or all that are named."""
    spec = run.spec
    if spec.protocol == "decomposed-zero-shot":
        return sum(len(one.looks) * _shown(one, spec) for one in spec.sets)
    if spec.cells:
        return TESTED + LISTED[spec.cells.pictures.rpartition("/")[2]]
    tested = sum(count(one.dataset, one.domain, spec.id_part) for one in spec.sources)
    tested = tested if spec.classes == "all" else tested // 2
    shown = [count(one.dataset, one.domain, one.part) for one in spec.pool]
    return tested + sum(min(one, spec.images or one) for one in shown)


def _run_cost(run: PlannedRun, speeds: ShiftSpeeds | None, workers: int) -> RunCost:
    units, pictures = units_of(run.spec), pictures_of(run)
    if speeds is None:
        return RunCost(run.name, units, run.tables, pictures, None, None, None)
    tell = _decomposed_seconds if run.spec.protocol == "decomposed-zero-shot" else _judged_seconds
    before, during = tell(run, units, pictures, speeds)
    at_a_time = max(1, min(workers, units))
    return RunCost(run.name, units, run.tables, pictures, before, during, (before + during) / at_a_time)


def _judged_seconds(run: PlannedRun, units: int, pictures: int, speeds: ShiftSpeeds) -> tuple[float, float]:
    """Of training, embedding and splitting; and of the judged models' passes."""
    (one,) = classifiers_of(run)
    given = _judges_given(run)
    known = KNOWN if given else one.pictures
    train = 0.0 if given else units * one.steps * one.recipe.batch_size * speeds.step[key_of(one)]
    embed = 0.0 if given else (known + pictures) * speeds.encode + _splitting(run.spec.decomposition, 200, speeds)
    passes = PASSES if _columns(run.spec) > 1 else 1.0
    during = units * (known + passes * pictures) * speeds.look[key_of(one)] + units * (known + pictures) * speeds.read
    return train + embed, during


def _decomposed_seconds(run: PlannedRun, units: int, pictures: int, speeds: ShiftSpeeds) -> tuple[float, float]:
    """Of encoding and of splitting; naming takes next to nothing."""
    spec = run.spec
    redrawn = sum((len(one.looks) - ("plain" in one.looks)) * _shown(one, spec) for one in spec.sets)
    names = 300 if spec.names[0].startswith("emoji-") else 1000
    ways = [one.split_by(spec.backbone, 0) for one in spec.methods for _ in (spec.seeds if one.has_seeds else (0,))]
    return pictures * speeds.encode + redrawn * speeds.shown + sum(_splitting(how, names, speeds) for how in ways), 0.0


def _splitting(how, names: int, speeds: ShiftSpeeds) -> float:
    """Of reading so many names in sentences and training on them."""
    sentences = len(how.templates or (EMOJI_LOOKS if how.backbone == "embedded" else CLIP_80))
    return names * sentences * speeds.sentence + getattr(how.build(), "steps", 0) * speeds.laid


def _shown(one, spec) -> int:
    """Pictures of an entry in one look; drawings as drawn are shown once each, other test drawings several times."""
    every = 100 if one.as_drawn else count(one.dataset, one.domain, one.part)
    return min(every, spec.images or every)


def _judges_given(run: PlannedRun) -> bool:
    return isinstance(run.spec, IncrementalShiftSpec) and run.spec.cells is not None


def _columns(spec) -> int:
    """Scores of a picture that a record holds."""
    return max((len(one.detectors) for one in getattr(spec, "models", ())), default=0)
