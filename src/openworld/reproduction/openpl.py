"""OpenPL's tables as runs (OpenPL, section 4 and appendix).

Both scenarios of classes come from one run of a data set, which is tuned on half of its classes and can play either at
hardly any cost; distribution shift and co-evolution from one run that is tuned on all of ImageNet's classes.
"""

from collections.abc import Iterator, Sequence

from openworld.evaluations.dynamic.spec import DynamicSpec
from openworld.evaluations.dynamic.task import OF_CLASSES
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.papers import SOURCE, TABLES, PaperTable, published_numbers
from openworld.reproduction.learner_runs import LearnerPaper, TableNeed, places_of
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
_LEARNERS = LearnerPaper(PAPER, PUBLISHED_TASK, METHODS)
_BASELINE = "CLIP"  # every curve is compared with zero-shot CLIP, which is always run
_TAKING_OVER = {"distribution-shift": STAND_INS, "co-evolution": ENTERING}


def default_tables(setup: ReproductionSetup) -> tuple[str, ...]:
    """The tables that are made where none is named: all; on embedded data those of the main text, as two data sets
    would fill the appendix with repetitions."""
    return MAIN_TABLES if setup.embedded else tuple(TABLES[PAPER])


def plan_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    """The runs that the tables are read from, each one once."""
    needs = [need for table in tables for need in _needs(table, setup)]
    groups: dict[DatasetSpec, list[TableNeed]] = {}
    for need in needs:
        if need.task in OF_CLASSES:
            groups.setdefault(setup.place(need.title, STAND_INS), []).append(need)
    for data, group in groups.items():
        yield _class_run(data, group, setup)
    against = [need for need in needs if need.task in _TAKING_OVER]
    if against:
        yield _source_run(against, setup)


def _needs(table: PaperTable, setup: ReproductionSetup) -> Iterator[TableNeed]:
    named = {number.method for number in published_numbers(PAPER, table.number)}
    methods = tuple(name for name in setup.methods(METHODS) if name in named or name not in METHODS)
    for task in table.tasks if methods else ():
        yield from (TableNeed(table.number, task, title, methods) for title in table.datasets)


def _class_run(data: DatasetSpec, needs: Sequence[TableNeed], setup: ReproductionSetup) -> PlannedRun:
    methods = _LEARNERS.methods_of(needs, setup, _BASELINE)
    spec = DynamicSpec(scenarios=OF_CLASSES, datasets=(data,), **_LEARNERS.settings(methods, data, setup))
    name = f"classes-{data.dataset}{setup.suffix(*_LEARNERS.suffix(methods))}"
    return _LEARNERS.run(name, spec, [data], methods, needs, setup)


def _source_run(needs: Sequence[TableNeed], setup: ReproductionSetup) -> PlannedRun:
    """Tuned on all of ImageNet's classes, which then give way to those of variants and other data sets."""
    methods, source = _LEARNERS.methods_of(needs, setup, _BASELINE), setup.place(SOURCE, STAND_INS)
    titles = {task: [need.title for need in needs if need.task == task] for task in _TAKING_OVER}
    variants, others = (places_of(titles[task], stand_ins, setup) for task, stand_ins in _TAKING_OVER.items())
    scenarios = tuple(task for task in titles if titles[task])
    shared = _LEARNERS.settings(methods, source, setup)
    spec = DynamicSpec(scenarios=scenarios, source=source, variants=variants, others=others, **shared)
    targets = {
        "shift": (titles["distribution-shift"], TABLES[PAPER]["8"].datasets),
        "co-evolution": (titles["co-evolution"], TABLES[PAPER]["9"].datasets),
    }
    name = f"from-{source.dataset}{setup.suffix(*fewer_targets(targets), *_LEARNERS.suffix(methods))}"
    return _LEARNERS.run(name, spec, (source, *variants, *others), methods, needs, setup)
