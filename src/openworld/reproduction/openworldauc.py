"""OpenworldAUC's tables as runs (Hua et al., 2025, section 6 and appendix).

Recognition, imbalance, ratios and numbers of parameters come from the same run of a data set; both generalisation tasks
come from one run that is tuned on ImageNet's base half, and so does recognition on ImageNet where both are asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from openworld.evaluations.generalisation.spec import GeneralisationSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.spec import RecognitionSpec
from openworld.papers import SOURCE, TABLES, PaperTable, published_numbers
from openworld.papers.numbers import COOP_DATASETS, VARIANTS
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

PAPER = "openworldauc"
PUBLISHED_TASK = "base-to-new"

DEFAULTS = ("ViT-B/16", (1, 2, 3))

METHODS, STAND_INS, ABSENT = methods_of(PAPER), stand_ins_of(PAPER), PAPERS[PAPER]["absent"]
LEARNERS = LearnerPaper(PAPER, PUBLISHED_TASK, METHODS)  # what the specs of all its runs have alike
_OF_THE_PAPER = ("gates",)  # tasks of the paper's own methods, which added learners have no place in

_CROSSING = ("domain generalisation", "cross-data-set")
_CHEAPEST = "DTD"
_ON_ANY = ("size", "time")  # tasks for which any data set will do: a number of parameters, a duration
_TITLES = {"domain generalisation": VARIANTS, "imbalance": TABLES[PAPER]["3"].datasets}
"""Tasks that are played on fewer data sets than the eleven."""


def plan_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    needs = [need for table in tables for need in _needs(table, setup)]
    crossing = [need for need in needs if need.task in _CROSSING]
    crossing_methods = {*LEARNERS.methods_of(crossing, setup)}
    along = [  # a generalisation run with these methods scores its source's images as well
        need
        for need in needs
        if need.task == "recognition" and need.title == SOURCE and {*need.methods} <= crossing_methods
    ]
    groups: dict[tuple[str, DatasetSpec], list[TableNeed]] = {}
    for need in needs:
        if need not in crossing and need not in along:
            kind = "gates" if need.task == "gates" else "recognition"
            groups.setdefault((kind, setup.place(need.title, STAND_INS)), []).append(need)
    for (kind, data), group in groups.items():
        methods = LEARNERS.methods_of(group, setup)
        spec = recognition_spec(data, LEARNERS.settings(methods, data, setup))
        name = f"{kind}-{data.dataset}{setup.suffix(*_fewer(methods, kind))}"
        yield LEARNERS.run(name, spec, [data], methods, group, setup)
    if crossing:
        yield _generalisation_run(crossing, along, setup)


def _needs(table: PaperTable, setup: ReproductionSetup) -> Iterator[TableNeed]:
    named = {number.method for number in published_numbers(PAPER, table.number)}
    if not set(table.tasks) & set(_OF_THE_PAPER) and table.rows != "setting":
        named |= set(setup.methods(METHODS)) - set(METHODS)  # added ones
    methods = tuple(name for name in setup.methods(METHODS) if name in named)
    for task in table.tasks if methods else ():
        listed = [title for title in _TITLES.get(task, COOP_DATASETS) if title in table.datasets]
        if task in _ON_ANY:
            listed = [_CHEAPEST] if _CHEAPEST in listed else listed[:1]
        yield from (TableNeed(table.number, task, title, methods) for title in listed)


def recognition_spec(data: DatasetSpec, shared: Mapping[str, Any]) -> RecognitionSpec:
    """Return a run on one data set, with what the specs of all runs have alike."""
    place = {"dataset": data.dataset, "train_domain": data.domain, "published_names": data.published_names}
    return RecognitionSpec(keep_validation=False, keep_learners=False, **shared, **place)


def _generalisation_run(
    crossing: Sequence[TableNeed], along: Sequence[TableNeed], setup: ReproductionSetup
) -> PlannedRun:
    """Tuned on ImageNet's base half, then shown its variants and other data sets."""
    methods, source = LEARNERS.methods_of(crossing, setup), setup.place(SOURCE, STAND_INS)
    titles = [[need.title for need in crossing if need.task == task] for task in _CROSSING]
    variants, others = (places_of(title, STAND_INS, setup) for title in titles)
    shared: Any = LEARNERS.settings(methods, source, setup) | {"sentences": setup.crossing_sentences}
    spec = GeneralisationSpec(source=source, variants=variants, others=others, keep_learners=False, **shared)
    targets = {"domains": (titles[0], VARIANTS), "datasets": (titles[1], TABLES[PAPER]["13"].datasets)}
    name = f"generalisation-{source.dataset}{setup.suffix(*fewer_targets(targets), *_fewer(methods))}"
    return LEARNERS.run(name, spec, (source, *variants, *others), methods, [*along, *crossing], setup)


def _fewer(methods: Sequence[str], kind: str = "recognition") -> tuple[str, ...]:
    """What the name of a run adds where it has not all methods of Table 2, or of the table of gates."""
    number = "17" if kind == "gates" else "2"
    return LEARNERS.suffix(methods, {number.method for number in published_numbers(PAPER, number)})
