"""A paper's tables and figures made again, beside the printed ones: what `openworld reproduce` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from openworld._types import Count, Positive, Range, checked
from openworld.api.finished_run import open_run
from openworld.api.progress import observing
from openworld.report.report import Report


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The runs of a paper, and its tables and figures beside the printed ones."""

    folder: Path
    tables: tuple[Any, ...]
    figures: tuple[Any, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)  # {run that failed: why}
    names: tuple[str, ...] = ()

    @cached_property
    def runs(self) -> dict[str, Report]:
        """The finished runs by name."""
        return {name: open_run(self.folder / name) for name in self.names if name not in self.failures}


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
) -> Report:
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

    Returns:
        A report: `.tables["table-2"]` and `.figures["figure-5a"]` are as numbered by the paper, `.found.tables` and
        `.found.figures` tell what they show, `.found.runs` has the finished runs and `.found.failures` what failed.

    Raises:
        OpenworldError: an unknown paper, table, figure or `show`, data that is not there, or every run failed.
    """
    from openworld.evaluations.running import RunOptions
    from openworld.reproduction.changes import Changes, read_added, read_settings
    from openworld.reproduction.comparison.page import comparison_report, write_plan
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
    names = tuple(run.name for run in planned.runs)
    found = Reproduction(folder, made.comparisons, made.figures, failures, names)
    return replace(comparison_report(made.comparisons, made.figures), found=found)
