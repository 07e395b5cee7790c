"""OpenPL's tables as runs (OpenPL, section 4 and appendix).

Both scenarios of classes come from one run of a data set, which is tuned on half of its classes and can play either at
hardly any cost; distribution shift and co-evolution from one run that is tuned on all of ImageNet's classes.
"""

from collections.abc import Iterator, Sequence

from openworld.evaluations.dynamic.curves import Scenario
from openworld.evaluations.dynamic.spec import OF_CLASSES, DynamicSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.papers import SOURCE, TABLES, PaperTable, published_numbers
from openworld.reproduction.planned_runs import (
    PAPERS,
    LearnerPaper,
    PlannedRun,
    TableNeed,
    fewer_targets,
    methods_of,
    places_of,
    stand_ins_of,
)
from openworld.reproduction.settings import ReproductionSetup

PAPER = "openpl"
PUBLISHED_TASK = "openpl"

DEFAULTS = ("ViT-B/16", (1, 2, 3))

METHODS, STAND_INS, ABSENT = methods_of(PAPER), stand_ins_of(PAPER), PAPERS[PAPER]["absent"]
ENTERING = dict.fromkeys(STAND_INS, DatasetSpec("emoji-concepts-b")) | {
    title: STAND_INS[title] for title in ("DTD", "EuroSAT")
}
"""What stands in for a data set whose images and classes take over from ImageNet's."""

MAIN_TABLES = tuple(str(number) for number in range(2, 10))
_LEARNERS = LearnerPaper(PAPER, PUBLISHED_TASK, METHODS)
_BASELINE = "CLIP"  # every curve is compared with zero-shot CLIP, which is always run
_TAKING_OVER: dict[Scenario, dict[str, DatasetSpec]] = {"distribution-shift": STAND_INS, "co-evolution": ENTERING}
_TARGETS = {task: TABLES[PAPER][table].datasets for task, table in zip(_TAKING_OVER, ("8", "9"), strict=True)}
"""Every data set that takes over from ImageNet, in the order of a run, whichever table is asked for first."""

_WORDS: dict[str, Scenario] = {"shift": "distribution-shift", "co-evolution": "co-evolution"}


def default_tables(setup: ReproductionSetup) -> tuple[str, ...]:
    # Two embedded data sets would fill the appendix with repetitions.
    return MAIN_TABLES if setup.embedded else tuple(TABLES[PAPER])


def plan_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    needs = [need for table in tables for need in _needs(table, setup)]
    groups: dict[DatasetSpec, list[TableNeed]] = {}
    for need in needs:
        if need.task in OF_CLASSES:
            groups.setdefault(setup.place(need.title, STAND_INS), []).append(need)
    for data, group in groups.items():
        methods = _LEARNERS.methods_of(group, setup, _BASELINE)
        spec = DynamicSpec(scenarios=OF_CLASSES, datasets=(data,), **_LEARNERS.settings(methods, data, setup))
        name = f"classes-{data.dataset}{setup.suffix(*_LEARNERS.suffix(methods))}"
        yield _LEARNERS.run(name, spec, [data], methods, group, setup)
    against = [need for need in needs if need.task in _TAKING_OVER]
    if against:
        yield _source_run(against, setup)


def _needs(table: PaperTable, setup: ReproductionSetup) -> Iterator[TableNeed]:
    printed = {number.method for number in published_numbers(PAPER, table.number)}
    named = printed if table.printed else set(METHODS)
    methods = tuple(name for name in setup.methods(METHODS) if name in named or name not in METHODS)
    for task in table.tasks if methods else ():
        yield from (TableNeed(table.number, task, title, methods) for title in table.datasets)


def _source_run(needs: Sequence[TableNeed], setup: ReproductionSetup) -> PlannedRun:
    """Tuned on all of ImageNet's classes, which then give way to those of variants and other data sets."""
    methods, source = _LEARNERS.methods_of(needs, setup, _BASELINE), setup.place(SOURCE, STAND_INS)
    wanted = {(need.task, need.title) for need in needs}
    titles = {task: [title for title in every if (task, title) in wanted] for task, every in _TARGETS.items()}
    variants, others = (places_of(titles[task], stand_ins, setup) for task, stand_ins in _TAKING_OVER.items())
    scenarios = tuple(task for task in titles if titles[task])
    shared = _LEARNERS.settings(methods, source, setup)
    spec = DynamicSpec(scenarios=scenarios, source=source, variants=variants, others=others, **shared)
    targets = {word: (titles[task], _TARGETS[task]) for word, task in _WORDS.items()}
    name = f"from-{source.dataset}{setup.suffix(*fewer_targets(targets), *_LEARNERS.suffix(methods))}"
    return _LEARNERS.run(name, spec, (source, *variants, *others), methods, needs, setup)
