"""The figures of a plan whose runs are finished: drawn, as files, for a page and as JSON."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from openworld.papers import PAPERS
from openworld.report.figure import Figure
from openworld.report.series_style import SeriesStyle
from openworld.reproduction.figures import FIGURES
from openworld.reproduction.figures.paper_figure import FigureRuns
from openworld.reproduction.plan import ReproductionPlan
from openworld.runs.atomic import write_file

STAND_IN = "Drawings that come with openworld stand in for the paper's data sets."
DRAWINGS = ("svg", "pdf")


@dataclass(frozen=True)
class MadeFigure:
    """A figure of a paper, made of our runs."""

    paper: str
    number: str
    figure: Figure
    remarks: tuple[str, ...] = ()
    backbones: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return f"{self.paper}, {self.figure.title}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*self.figure.caption, *self.remarks)

    def styled(self, styles: Mapping[str, SeriesStyle]) -> "MadeFigure":
        """Return it with the colours that its series have on a page."""
        own = {name: styles.get(name, style) for name, style in self.figure.styles.items()}
        return replace(self, figure=replace(self.figure, styles=own))

    @property
    def plain(self) -> Mapping[str, Any]:
        """Return it as plain values for JSON."""
        says = list(self.sentences)
        return {"figure": self.number, "title": self.heading, "says": says, "numbers": self.figure.rows()}


def draw_plan(plan: ReproductionPlan, folder: Path, failed: Collection[str] = ()) -> list[MadeFigure]:
    """Draw every figure of a plan; one of which no run is left is not made."""
    data, made = {run.name: [run.datasets.get(str(each), str(each)) for each in run.data] for run in plan.runs}, []
    for number, runs, remarks in plan.finished("figures", folder, failed):
        wanted = FIGURES[plan.paper][number]
        drawn = wanted.draw(FigureRuns(plan.paper, plan.setup, runs))
        figure = replace(drawn, name=f"figure-{number}", title=wanted.heading)
        remarks = (STAND_IN, *remarks) if plan.setup.embedded else remarks
        backbones = tuple(dict.fromkeys(run.backbone for run in runs if run.backbone))
        names = tuple(dict.fromkeys(name for run in runs for name in data[run.folder.name]))
        made.append(MadeFigure(PAPERS[plan.paper], number, figure, remarks, backbones, names))
    return made


def write_figures(plan: ReproductionPlan, folder: Path, figures: Sequence[MadeFigure]) -> str:
    """Write the numbers of every figure, and its drawings where matplotlib is there; return what is not written."""
    # Files of an earlier call whose figure could not be made this time are removed.
    made = {figure.number: figure.figure for figure in figures}
    folder.mkdir(parents=True, exist_ok=True)
    drawable = find_spec("matplotlib") is not None
    for number in plan.figures:
        path, figure = folder / f"figure-{number}", made.get(number)
        drawn = DRAWINGS if drawable and figure and figure.charts else ()
        for form in {"csv", *DRAWINGS} - ({"csv", *drawn} if figure else set()):
            path.with_suffix(f".{form}").unlink(missing_ok=True)
        if figure is not None:
            write_file(path.with_suffix(".csv"), figure.csv.encode())
        for form in drawn:
            figure.save(path.with_suffix(f".{form}"))
    return "" if drawable or not made else "SVG and PDF are not written: pip install 'openworld[plots]'."
