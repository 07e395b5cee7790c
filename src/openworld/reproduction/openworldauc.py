"""OpenworldAUC's tables as runs (Hua et al., 2025, section 6 and appendix).

Recognition, imbalance, ratios and numbers of parameters come from the same run of a data set; both generalisation tasks
come from one run that is tuned on ImageNet's base half, and so does recognition on ImageNet where both are asked for.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.generalisation.spec import GeneralisationSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.spec import RecognitionSpec
from openworld.papers import SOURCE, TABLES, PaperTable, published_numbers
from openworld.papers.tables import COOP_DATASETS, VARIANTS
from openworld.reproduction.settings import PaperDefaults, PlannedRun, ReproductionSetup, fewer_targets

PAPER = "openworldauc"
PUBLISHED_TASK = "base-to-new"

DEFAULTS = PaperDefaults()

METHODS: dict[str, LearnerSpec] = {
    "CLIP": LearnerSpec("zero-shot"),
    "CoOp": LearnerSpec("CoOp"),
    "MaPLe": LearnerSpec("MaPLe"),
    "PromptSRC": LearnerSpec("PromptSRC"),
    "LoCoOp": LearnerSpec("LoCoOp"),
    "KgCoOp": LearnerSpec("KgCoOp"),
    "DePT-Kg": LearnerSpec("DePT"),
    "Gallop": LearnerSpec("GalLoP"),
    # Released with 16 tokens per expert; Table 7 counts 30,720 numbers, which is 4.
    "DeCoOp": LearnerSpec("DeCoOp", settings={"classifier_context": 4}),
    "TCP": LearnerSpec("TCP"),
    "GMoP w/o Gate": LearnerSpec("GMoP", "GMoP, no gate", {"gate": "none"}),
    "GMoP 0-1 Gate": LearnerSpec("GMoP", "GMoP, gate 0-1", {"gate": "0-1"}),
    "GMoP": LearnerSpec("GMoP"),
}
"""What the paper calls a method -> the learner."""

ABSENT = {
    "1": "it lists properties of metrics and holds no results",
    "5": "it is a truth table and holds no results",
    "6": "it lists symbols and holds no results",
}

STAND_INS: dict[str, DatasetSpec] = {
    "ImageNet": DatasetSpec("emoji-concepts"),
    "Caltech101": DatasetSpec("emoji-concepts-b"),
    "OxfordPets": DatasetSpec("emoji-concepts-b"),
    "StanfordCars": DatasetSpec("emoji-concepts-b"),
    "Flowers102": DatasetSpec("emoji-concepts-b"),
    "Food101": DatasetSpec("emoji-concepts-b"),
    "FGVCAircraft": DatasetSpec("emoji-concepts-b"),
    "SUN397": DatasetSpec("emoji-concepts-b"),
    "DTD": DatasetSpec("emoji-subgroups"),
    "EuroSAT": DatasetSpec("emoji-subgroups"),
    "UCF101": DatasetSpec("emoji-concepts-b"),
    "ImageNetV2": DatasetSpec("emoji-concepts", "noto"),
    "ImageNet-Sketch": DatasetSpec("emoji-concepts", "emojione-monotone"),
    "ImageNet-A": DatasetSpec("emoji-concepts", "fluent-emoji-high-contrast"),
    "ImageNet-R": DatasetSpec("emoji-concepts", "fluent-emoji"),
}
"""Three embedded data sets for the paper's eleven; other artists' drawings of the same concepts for the variants."""

_OF_THE_PAPER = ("gates",)
"""Tasks of the paper's own methods, which added learners have no place in."""

_CROSSING = ("domain generalisation", "cross-data-set")
_CHEAPEST = ("DTD",)
_TITLES = {
    "domain generalisation": VARIANTS,
    "size": _CHEAPEST,  # any data set will do for a number of parameters, or a duration
    "time": _CHEAPEST,
    "imbalance": TABLES[PAPER]["3"].datasets,
}
"""Tasks that are played on fewer data sets than the eleven."""


@dataclass(frozen=True)
class Need:
    """What a table asks for on one data set, in the paper's words."""

    table: str
    task: str
    title: str
    methods: tuple[str, ...]


def default_tables(setup: ReproductionSetup) -> tuple[str, ...]:
    """The tables that are made where none is named: all."""
    return tuple(TABLES[PAPER])


def remarks(setup: ReproductionSetup) -> tuple[str, ...]:
    """What sets these runs apart from the paper's, beyond what every plan tells: nothing."""
    return ()


def plan_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    """The runs that the tables are read from, each one once."""
    needs = [need for table in tables for need in _needs(table, setup)]
    crossing = [need for need in needs if need.task in _CROSSING]
    along = [need for need in needs if _comes_along(need, _methods(crossing, setup))]
    groups: dict[tuple[str, DatasetSpec], list[Need]] = {}
    for need in needs:
        if need not in crossing and need not in along:
            kind = "gates" if need.task == "gates" else "recognition"
            groups.setdefault((kind, setup.place(need.title, STAND_INS)), []).append(need)
    for (kind, data), group in groups.items():
        yield _recognition_run(kind, data, group, setup)
    if crossing:
        yield _generalisation_run(crossing, along, setup)


def _needs(table: PaperTable, setup: ReproductionSetup) -> Iterator[Need]:
    named = {number.method for number in published_numbers(PAPER, table.number)}
    own = [] if set(table.tasks) & set(_OF_THE_PAPER) or table.rows == "setting" else _added(setup)
    methods = tuple(name for name in setup.methods(METHODS) if name in named or name in own)
    for task in table.tasks if methods else ():
        known = _TITLES.get(task, COOP_DATASETS)
        listed = [title for title in known if title in table.datasets]
        yield from (Need(table.number, task, title, methods) for title in listed)


def _comes_along(need: Need, methods: Sequence[str]) -> bool:
    """Whether the generalisation run with these methods holds it: it scores its source's pictures as well."""
    return need.task == "recognition" and need.title == SOURCE and set(need.methods) <= set(methods)


def _recognition_run(kind: str, data: DatasetSpec, needs: Sequence[Need], setup: ReproductionSetup) -> PlannedRun:
    methods = _methods(needs, setup)
    spec = RecognitionSpec(
        dataset=data.dataset, train_domain=data.domain, keep_validation=False, **_shared(methods, data, setup)
    )
    name = f"{kind}-{data.dataset}{setup.suffix(*_fewer(methods, kind))}"
    return PlannedRun(name, spec, setup.titles([data]), _labels(methods, setup), _tables(needs))


def _generalisation_run(crossing: Sequence[Need], along: Sequence[Need], setup: ReproductionSetup) -> PlannedRun:
    """Tuned on ImageNet's base half, then shown its variants and other data sets."""
    methods, source = _methods(crossing, setup), setup.place(SOURCE, STAND_INS)
    titles = {task: [need.title for need in crossing if need.task == task] for task in _CROSSING}
    variants, others = (_places(titles[task], setup) for task in _CROSSING)
    spec = GeneralisationSpec(source=source, variants=variants, others=others, **_shared(methods, source, setup))
    asked = {
        "domains": (titles[_CROSSING[0]], VARIANTS),
        "datasets": (titles[_CROSSING[1]], TABLES[PAPER]["13"].datasets),
    }
    name = f"generalisation-{source.dataset}{setup.suffix(*fewer_targets(asked), *_fewer(methods))}"
    data = (source, *variants, *others)
    return PlannedRun(name, spec, setup.titles(data), _labels(methods, setup), _tables([*along, *crossing]))


def _shared(methods: Sequence[str], data: DatasetSpec, setup: ReproductionSetup) -> dict:
    """What the specs of both protocols have alike."""
    known = setup.changes.methods(METHODS)
    learners = tuple(setup.learner(known[one], data.dataset, PUBLISHED_TASK) for one in methods)
    kept = {"learners": learners, "backbone": setup.backbone, "seeds": setup.seeds, "shots": setup.shots}
    kept["precision"] = setup.changes.precision
    return kept | {"views": setup.views(PUBLISHED_TASK), "published": PUBLISHED_TASK, "keep_learners": False}


def _methods(needs: Iterable[Need], setup: ReproductionSetup) -> tuple[str, ...]:
    wanted = {one for need in needs for one in need.methods}
    return tuple(one for one in setup.changes.methods(METHODS) if one in wanted)


def _added(setup: ReproductionSetup) -> list[str]:
    """The methods that are not of the paper."""
    return [name for name in setup.methods(METHODS) if name not in METHODS]


def _fewer(methods: Sequence[str], kind: str = "recognition") -> tuple[str, ...]:
    """What the name of a run adds where it has not all methods of the paper."""
    number = "17" if kind == "gates" else "2"
    every = {number.method for number in published_numbers(PAPER, number)}
    of_paper = [one for one in methods if one in METHODS]
    return () if set(of_paper) == every else tuple(of_paper)


def _places(titles: Iterable[str], setup: ReproductionSetup) -> tuple[DatasetSpec, ...]:
    return tuple(dict.fromkeys(setup.place(title, STAND_INS) for title in titles))


def _tables(needs: Iterable[Need]) -> tuple[str, ...]:
    wanted = {need.table for need in needs}
    return tuple(number for number in TABLES[PAPER] if number in wanted)


def _labels(methods: Sequence[str], setup: ReproductionSetup) -> dict[str, str]:
    known = setup.changes.methods(METHODS)
    return {known[one].label: one for one in methods}
