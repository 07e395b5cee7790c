"""OpenPL's tables as runs (OpenPL, section 4 and appendix).

Both scenarios of classes come from one run of a data set, which is tuned on half of its classes and can play either at
hardly any cost; distribution shift and co-evolution from one run that is tuned on all of ImageNet's classes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from openworld.evaluations.dynamic.spec import DynamicSpec
from openworld.evaluations.dynamic.task import OF_CLASSES
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.papers import SOURCE, TABLES, PaperTable, published_numbers
from openworld.reproduction.settings import PaperDefaults, PlannedRun, ReproductionSetup, fewer_targets

PAPER = "openpl"
PUBLISHED_TASK = "openpl"

DEFAULTS = PaperDefaults()

METHODS: dict[str, LearnerSpec] = {
    "CLIP": LearnerSpec("zero-shot"),
    "CoOp": LearnerSpec("CoOp"),
    "CoCoOp": LearnerSpec("CoCoOp"),
    "VPT": LearnerSpec("VPT"),
    "MaPLe": LearnerSpec("MaPLe"),
    "ProGrad": LearnerSpec("ProGrad"),
    "KgCoOp": LearnerSpec("KgCoOp"),
    "RPO": LearnerSpec("RPO"),
    "PromptSRC": LearnerSpec("PromptSRC"),
    "ProDA": LearnerSpec("ProDA"),
    "TCP": LearnerSpec("TCP"),
}
"""What the paper calls a method -> the learner."""

ABSENT = {
    "1": "it holds formulas and no results",
    "34": "its numbers (distribution shift to ImageNet-Sketch) are missing from the text that is published; Table 8 "
    "averages them, and a run for Table 8 holds ours",
    "35": "its numbers (distribution shift to ImageNetV2) are missing from the text that is published; Table 8 "
    "averages them, and a run for Table 8 holds ours",
}

STAND_INS: dict[str, DatasetSpec] = {
    "ImageNet": DatasetSpec("emoji-concepts"),
    "Caltech101": DatasetSpec("emoji-concepts"),
    "DTD": DatasetSpec("emoji-subgroups"),
    "EuroSAT": DatasetSpec("emoji-subgroups"),
    "FGVCAircraft": DatasetSpec("emoji-concepts"),
    "Food101": DatasetSpec("emoji-concepts"),
    "Flowers102": DatasetSpec("emoji-concepts"),
    "OxfordPets": DatasetSpec("emoji-concepts"),
    "StanfordCars": DatasetSpec("emoji-concepts"),
    "SUN397": DatasetSpec("emoji-concepts"),
    "UCF101": DatasetSpec("emoji-concepts"),
    "ImageNetV2": DatasetSpec("emoji-concepts", "noto"),
    "ImageNet-R": DatasetSpec("emoji-concepts", "fluent-emoji"),
    "ImageNet-A": DatasetSpec("emoji-concepts", "fluent-emoji-high-contrast"),
    "ImageNet-Sketch": DatasetSpec("emoji-concepts", "emojione-monotone"),
}
"""Two embedded data sets whose classes come and go; other artists' drawings of the same concepts for the variants."""

ENTERING = {title: DatasetSpec("emoji-concepts-b") for title in STAND_INS} | {
    title: DatasetSpec("emoji-subgroups") for title in ("DTD", "EuroSAT")
}
"""What stands in for a data set whose pictures and classes take over from ImageNet's."""

MAIN_TABLES = tuple(str(number) for number in range(2, 10))
_TAKING_OVER = {"distribution-shift": STAND_INS, "co-evolution": ENTERING}


@dataclass(frozen=True)
class Need:
    """What a table asks for on one data set, in the paper's words."""

    table: str
    task: str
    title: str
    methods: tuple[str, ...]


def default_tables(setup: ReproductionSetup) -> tuple[str, ...]:
    """The tables that are made where none is named: all; on embedded data those of the main text, as two data sets
    would fill the appendix with repetitions."""
    return MAIN_TABLES if setup.embedded else tuple(TABLES[PAPER])


def remarks(setup: ReproductionSetup) -> tuple[str, ...]:
    """What sets these runs apart from the paper's, beyond what every plan tells: nothing."""
    return ()


def plan_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    """The runs that the tables are read from, each one once."""
    needs = [need for table in tables for need in _needs(table, setup)]
    groups: dict[DatasetSpec, list[Need]] = {}
    for need in needs:
        if need.task in OF_CLASSES:
            groups.setdefault(setup.place(need.title, STAND_INS), []).append(need)
    for data, group in groups.items():
        yield _class_run(data, group, setup)
    against = [need for need in needs if need.task in _TAKING_OVER]
    if against:
        yield _source_run(against, setup)


def _needs(table: PaperTable, setup: ReproductionSetup) -> Iterator[Need]:
    named = {number.method for number in published_numbers(PAPER, table.number)}
    methods = tuple(name for name in setup.methods(METHODS) if name in named or name not in METHODS)
    for task in table.tasks if methods else ():
        yield from (Need(table.number, task, title, methods) for title in table.datasets)


def _class_run(data: DatasetSpec, needs: Sequence[Need], setup: ReproductionSetup) -> PlannedRun:
    methods = _methods(needs, setup)
    spec = DynamicSpec(scenarios=OF_CLASSES, datasets=(data,), **_shared(methods, data, setup))
    name = f"classes-{data.dataset}{setup.suffix(*_fewer(methods))}"
    return PlannedRun(name, spec, setup.titles([data]), _labels(methods, setup), _tables(needs))


def _source_run(needs: Sequence[Need], setup: ReproductionSetup) -> PlannedRun:
    """Tuned on all of ImageNet's classes, which then give way to those of variants and other data sets."""
    methods, source = _methods(needs, setup), setup.place(SOURCE, STAND_INS)
    variants, others = (_places(needs, task, setup) for task in _TAKING_OVER)
    scenarios = tuple(task for task in _TAKING_OVER if any(need.task == task for need in needs))
    shared = _shared(methods, source, setup)
    spec = DynamicSpec(scenarios=scenarios, source=source, variants=variants, others=others, **shared)
    whole = {"shift": ("distribution-shift", "8"), "co-evolution": ("co-evolution", "9")}
    asked = {
        word: ([need.title for need in needs if need.task == task], TABLES[PAPER][table].datasets)
        for word, (task, table) in whole.items()
    }
    name = f"from-{source.dataset}{setup.suffix(*fewer_targets(asked), *_fewer(methods))}"
    data = (source, *variants, *others)
    return PlannedRun(name, spec, setup.titles(data), _labels(methods, setup), _tables(needs))


def _shared(methods: Sequence[str], data: DatasetSpec, setup: ReproductionSetup) -> dict:
    """What the specs of both kinds of run have alike."""
    known = setup.changes.methods(METHODS)
    learners = tuple(setup.learner(known[one], data.dataset, PUBLISHED_TASK) for one in methods)
    kept = {"learners": learners, "backbone": setup.backbone, "seeds": setup.seeds, "shots": setup.shots}
    kept["precision"] = setup.changes.precision
    return kept | {"views": setup.views(PUBLISHED_TASK), "published": PUBLISHED_TASK}


def _methods(needs: Iterable[Need], setup: ReproductionSetup) -> tuple[str, ...]:
    """In the paper's order; zero-shot CLIP always, which every curve is compared with."""
    wanted = {one for need in needs for one in need.methods} | {"CLIP"}
    return tuple(one for one in setup.changes.methods(METHODS) if one in wanted)


def _fewer(methods: Sequence[str]) -> tuple[str, ...]:
    """What the name of a run adds where it has not all methods of the paper."""
    of_paper = [one for one in methods if one in METHODS]
    return () if len(of_paper) == len(METHODS) else tuple(of_paper)


def _places(needs: Iterable[Need], task: str, setup: ReproductionSetup) -> tuple[DatasetSpec, ...]:
    titles = [need.title for need in needs if need.task == task]
    return tuple(dict.fromkeys(setup.place(title, _TAKING_OVER[task]) for title in titles))


def _tables(needs: Iterable[Need]) -> tuple[str, ...]:
    wanted = {need.table for need in needs}
    return tuple(number for number in TABLES[PAPER] if number in wanted)


def _labels(methods: Sequence[str], setup: ReproductionSetup) -> dict[str, str]:
    known = setup.changes.methods(METHODS)
    return {known[one].label: one for one in methods}
