"""A paper's tables and figures made again, beside the printed ones: what `openworld reproduce` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from openworld import _html
from openworld._types import Count, Positive, Range, checked
from openworld.api.finished_run import open_run
from openworld.api.progress import observing
from openworld.report.figure import Figure
from openworld.report.report import Report
from openworld.report.report_base import Named, ReportBase
from openworld.report.table_view import TableView
from openworld.results import Results


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(ReportBase):
    """The runs of a paper, and its tables and figures beside the printed ones.

    Args:
        folder: of all runs, with a page of its own, `report.html`.
        paper_tables: every table that could be made, beside the printed one: `.sentences` say what the numbers share.
        failures: {run that failed: why}.
        names: of the runs.
        drawn: every figure that could be made: `.figure`, and `.sentences` that say what it shows.
    """

    folder: Path
    paper_tables: tuple[Any, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    drawn: tuple[Any, ...] = ()

    @cached_property
    def runs(self) -> dict[str, Report]:
        """The finished runs by name."""
        return {name: open_run(self.folder / name) for name in self.names if name not in self.failures}

    @cached_property
    def results(self) -> Results:
        """Every number of the tables beside the printed one, and the tests between them."""
        from openworld.reproduction.comparison.table import compared_results

        return compared_results(self.paper_tables)

    @property
    def tables(self) -> dict[str, TableView]:
        """The tables by number, ours beside the printed numbers."""
        from openworld.reproduction.comparison.table import table_of

        return Named({made.table.number: TableView(table_of(made)) for made in self.paper_tables})

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures by number; `.rows()` are their numbers, `.save("figure.pdf")` needs `pip install matplotlib`."""
        return Named({made.number: made.figure for made in self.drawn})

    @property
    def verdict(self) -> tuple[str, ...]:
        """A sentence for each table and figure."""
        tables = (f"{comparison.table.heading}: {comparison.sentences[0]}" for comparison in self.paper_tables)
        return (*tables, *(f"{made.heading}: {made.sentences[0]}" for made in self.drawn))

    def __repr__(self) -> str:
        return "\n".join(self.verdict)

    def _repr_html_(self) -> str:
        return _html.block(["", *self.verdict])


@checked
def reproduce(
    paper: str,
    data: Path | str,
    table: Sequence[str | int] = (),
    *,
    figure: Sequence[str | int] = (),
    dataset: Sequence[str] = (),
    checkpoint: Sequence[str | int] = (),
    backbone: str = "",
    out: Path | str | None = None,
    learners: Sequence[str] = (),
    seeds: Sequence[Count] = (),
    add: Path | str | None = None,
    settings: Sequence[str] = (),
    shots: Positive | None = None,
    views: int | str | None = None,
    precision: str = "float32",
    draw: str = "coop",
    published_names: bool = False,
    sentences: str = "target",
    classifier: Path | str = "",
    names: Path | str = "",
    quick: Positive = 1,
    margin: float = 0.01,
    show: Literal["interval", "deviation"] = "interval",
    device: str = "auto",
    workers: Annotated[int, Range(0, 1024)] = 0,
    engine: Literal["local", "ray"] = "local",
    cache: Path | str | None = None,
    cache_limit: str = "",
    allow_corrupt: Count = 0,
    quiet: bool = False,
) -> Reproduction:
    """Carry out the runs behind a paper's tables and figures, and put these beside the printed ones.

    Args:
        paper: "openworldauc", "openpl", "frap" or "is-ood".
        data: folder of all downloaded data sets, or "embedded" for the world that comes along.
        table: numbers of tables; () for all where no figure is named.
        figure: numbers of figures, such as "5" or "5a"; ("all",) for all.
        dataset: only these, by the paper's name or ours, such as "DTD" or "dtd"; of FRAP sources or rows. The others
            need no download. () for all.
        checkpoint: of FRAP's classifiers: epochs, or "last"; () for those of the paper.
        learners: only these methods; () for all. Other parameters are the options of `openworld reproduce`.

    Raises:
        OpenworldError: an unknown paper, table, figure or `show`, data that is not there, or every run failed.
    """
    from openworld.evaluations.running import RunOptions
    from openworld.reproduction.changes import Changes, read_added, read_settings
    from openworld.reproduction.comparison.page import write_plan
    from openworld.reproduction.plan import ReproductionSetup
    from openworld.reproduction.series import carry_out_runs, failure, plan_what_is_there, require_data

    changes = Changes(
        read_added(Path(add)) if add else (),
        read_settings(settings),
        shots,
        views,
        precision,
        draw,
        published_names,
        sentences,
    )
    setup = ReproductionSetup(str(data), backbone, tuple(seeds), tuple(learners), quick, changes, str(classifier))
    setup = replace(setup, datasets=tuple(dataset), checkpoints=tuple(map(str, checkpoint)), names=str(names))
    planned = plan_what_is_there(paper, tuple(map(str, table)), setup, figures=tuple(map(str, figure)))
    require_data(planned)
    folder = Path(out) if out is not None else Path("runs") / planned.folder_name
    place = None if cache is None else Path(cache)
    options = RunOptions(folder, device, workers, place, allow_corrupt, engine, cache_limit, ("openworld.reproduce",))
    with observing(quiet=quiet) as observer:
        failures = carry_out_runs(planned, options, observer)
    if len(failures) == len(planned.runs):
        raise failure(planned, failures)
    made = write_plan(planned, folder, failures, margin=margin, show=show)
    return Reproduction(folder, made.comparisons, failures, tuple(run.name for run in planned.runs), made.figures)
