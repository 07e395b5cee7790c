"""What a plan is made of: runs, figures, images made to order; what the plans of papers that tune learners share."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from openworld.core.progress import Observer
from openworld.evaluations import evaluation_of
from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.learners import PublishedSetting as PublishedTask
from openworld.papers import TABLES, PaperTable
from openworld.papers.results import PaperRun
from openworld.report.figure import Figure
from openworld.reproduction.settings import ReproductionSetup

PAPERS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    files("openworld.reproduction").joinpath("papers.toml").read_text(encoding="utf-8")
)
"""Paper -> its methods, stand-ins and what is absent, from the file beside this one."""


def with_tuples(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of a file with its lists as tuples."""
    return {name: tuple(each) if isinstance(each, list) else each for name, each in entry.items()}


def methods_of(paper: str) -> dict[str, LearnerSpec]:
    """Return {what a paper calls a method: the learner}."""
    return {name: LearnerSpec(**{"learner": name} | entry) for name, entry in PAPERS[paper]["methods"].items()}


def stand_ins_of(paper: str) -> dict[str, DatasetSpec]:
    """Return {data set of a paper: what stands in for it on embedded data}."""
    return {title: DatasetSpec(*place) for title, place in PAPERS[paper]["stand_ins"].items()}


TWIN_FOLDER = "syn-is-twin"  # of the set, below that of the runs; specs of planned runs call it by this name

TWIN_DATASET = "emoji-concepts"
TWIN_STYLE = "noto"
TWIN_SHOWN = (f"{TWIN_DATASET}/{TWIN_STYLE}/test", f"emoji-concepts-b/{TWIN_STYLE}/test")
"""What is in distribution, as whom it was drawn, and which drawings are redrawn."""


@dataclass(frozen=True)
class RenderedTwin:
    """The rendered twin of Syn-IS, the set of `examples/syn-is-embedded.toml`: runs on embedded data read it.

    Its images are drawings redrawn in 17 styles, equally many at every level of the shift of their prompts.
    """

    levels: int = 6
    each: int = 100
    backbone: str = "embedded"

    @property
    def most_images(self) -> int:
        """How many images it has if no cell stays empty."""
        return self.each * self.levels**2

    def make(self, folder: Path, device: str, observer: Observer) -> None:
        """Make what is missing of the set; nothing where it is finished."""
        from openworld.own_data.synthesize.command import plan_set

        planned = plan_set(
            (f"{TWIN_DATASET}/{TWIN_STYLE}/train",),
            backbone=self.backbone,
            device=device,
            levels=self.levels,
            each=self.each,
            painter="rendered",
            images=TWIN_SHOWN,
            out=folder / TWIN_FOLDER,
            observer=observer,
        )
        planned.paint(observer)


def placed(spec: Any, folder: Path) -> Any:
    """Return a spec that reads the set in the folder of all runs, where it reads it at all."""
    here = str(folder / TWIN_FOLDER)
    changes = {}
    if spec.cells is not None and spec.cells.generated == TWIN_FOLDER:
        changes["cells"] = replace(spec.cells, generated=here)
    pool = tuple(replace(entry, dataset=here) if entry.dataset == TWIN_FOLDER else entry for entry in spec.pool)
    return replace(spec, pool=pool, **changes)


@dataclass(frozen=True)
class PlannedRun:
    name: str
    spec: Any
    datasets: Mapping[str, str] = field(default_factory=dict)  # what records call it -> the paper; no stand-ins
    methods: Mapping[str, str] = field(default_factory=dict)  # label of a learner -> what the paper calls it
    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    twin: RenderedTwin | None = None  # made before the run, whose spec calls it by the name of its folder

    @property
    def units(self) -> int:
        return len(evaluation_of(self.spec).tasks(self.spec))

    @property
    def data(self) -> tuple[DatasetSpec, ...]:
        return tuple(evaluation_of(self.spec).data(self.spec))


Runs = Sequence[PaperRun]  # in the order of the plan; they may hold more data sets and methods than a figure shows


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper that can be made again."""

    number: str  # as printed, with the letter of a panel that stands for itself; "5" means "5a", "5b" and so on
    title: str
    # Name, title and colours are set afterwards; what cannot be drawn has no chart, and its caption says why.
    draw: Callable[[Runs], Figure]
    tables: tuple[PaperTable, ...] = ()  # read from the same runs; one with fewer data sets needs only these
    runs: Callable[[ReproductionSetup], Iterable[PlannedRun]] = lambda setup: ()  # of its own
    refused: Callable[[ReproductionSetup], str] = lambda setup: ""  # why it cannot be made of the data; "": it can

    @property
    def heading(self) -> str:
        """Number and title."""
        return f"Figure {self.number}: {self.title}"


def by_number(figures: Iterable[PaperFigure]) -> Mapping[str, PaperFigure]:
    """Return figures by number, in the order of the numbers; those without one last."""

    def place(figure: PaperFigure) -> tuple[float, str]:
        digits = figure.number.rstrip("abcdefgh")
        return float(digits) if digits.isdigit() else float("inf"), figure.number

    return {figure.number: figure for figure in sorted(figures, key=place)}


def fewer_targets(chosen: Mapping[str, tuple[Iterable[str], Iterable[str]]]) -> tuple[str, ...]:
    """What the name of a run adds where it has not all targets of the paper."""
    if all(set(some) == set(every) for some, every in chosen.values()):
        return ()
    parts = [(word,) if set(some) == set(every) else dict.fromkeys(some) for word, (some, every) in chosen.items()]
    return tuple(part for group in parts for part in group)


@dataclass(frozen=True)
class TableNeed:
    """What a table asks for on one data set, in the paper's words."""

    table: str
    task: str
    title: str
    methods: tuple[str, ...]


@dataclass(frozen=True)
class LearnerPaper:
    name: str
    task: PublishedTask
    methods: Mapping[str, LearnerSpec]  # what the paper calls a method -> the learner

    def methods_of(self, needs: Iterable[TableNeed], setup: ReproductionSetup, *always: str) -> tuple[str, ...]:
        """Return the methods that any need has, and those that are always run, in the paper's order."""
        wanted = {name for need in needs for name in need.methods} | set(always)
        return tuple(name for name in setup.every_method(self.methods) if name in wanted)

    def suffix(self, methods: Iterable[str], every: Iterable[str] = ()) -> tuple[str, ...]:
        """Return what the name of a run adds where it has not all methods of the paper, or of `every`."""
        of_paper = [name for name in methods if name in self.methods]
        return () if set(of_paper) == set(every or self.methods) else tuple(of_paper)

    def settings(self, methods: Sequence[str], data: DatasetSpec, setup: ReproductionSetup) -> dict[str, Any]:
        """Return what the specs of all its runs have alike, for learners tuned on a data set."""
        known = setup.every_method(self.methods)
        return {
            "learners": tuple(setup.learner(known[name], data.dataset, self.task) for name in methods),
            "backbone": setup.backbone,
            "seeds": setup.seeds,
            "shots": setup.shots,
            "precision": setup.precision,
            "draw": setup.draw,
            "views": setup.views_for(self.task),
            "published": self.task,
        }

    def run(
        self,
        name: str,
        spec: Any,
        data: Iterable[DatasetSpec],
        methods: Iterable[str],
        needs: Iterable[TableNeed],
        setup: ReproductionSetup,
    ) -> PlannedRun:
        """Return a run with the tables that are read from it, and what the paper calls its data and learners."""
        known, wanted = setup.every_method(self.methods), {need.table for need in needs}
        labels = {known[method].label: method for method in methods}
        tables = tuple(number for number in TABLES[self.name] if number in wanted)
        return PlannedRun(name, spec, setup.titles(data), labels, tables)


def places_of(
    titles: Iterable[str], stand_ins: Mapping[str, DatasetSpec], setup: ReproductionSetup
) -> tuple[DatasetSpec, ...]:
    return tuple(dict.fromkeys(setup.place(title, stand_ins) for title in titles))
