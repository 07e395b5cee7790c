"""A paper's tables and figures made again, beside the printed ones: `openworld reproduce`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from openworld.api.answers import TextReport
from openworld.api.arguments import Listed, Numbers, OutputFolder, Report, Views
from openworld.api.finished_runs import open_run
from openworld.api.work import made_by
from openworld.core.console import ALERTED, Ending, observing
from openworld.core.errors import OpenworldError, failing
from openworld.core.types import Count, Positive, Range, checked

MANY = 13
"""Tables beyond which a terminal shows a line of each, and the page the tables themselves."""


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The runs of a paper, and its tables and figures beside the printed ones."""

    folder: Path
    tables: tuple[Any, ...]
    figures: tuple[Any, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)  # {run that failed: why}
    names: tuple[str, ...] = ()
    claims: tuple[Any, ...] = ()  # each with `.says`, `.state` and `.tests`

    @cached_property
    def runs(self) -> "dict[str, Report]":
        """The finished runs by name."""
        return {name: open_run(self.folder / name) for name in self.names if name not in self.failures}


@checked
def reproduce(
    paper: str,
    data: Path | str,
    table: Sequence[str | int] = (),
    *,
    figure: Sequence[str | int] = (),
    out: Annotated[Path | str | None, OutputFolder(pages=("reproduction", ""))] = None,
    plan: bool = False,
    quiet: bool = False,
    dataset: Sequence[str] = (),
    checkpoint: Sequence[str | int] = (),
    backbone: str = "",
    learners: Listed = (),
    seeds: Numbers = (),
    quick: Positive = 1,
    classifier: Path | str = "",
    names: Path | str = "",
    add: Path | str | None = None,
    settings: Sequence[str] = (),
    shots: Positive | None = None,
    views: Views | None = None,
    precision: str = "float32",
    draw: str = "coop",
    published_names: bool = False,
    sentences: str = "target",
    margin: float = 0.01,
    show: Literal["interval", "deviation"] = "interval",
    accept: bool = False,
    claims: bool = False,
    device: str = "auto",
    workers: Annotated[int, Range(0, 1024)] = 0,
    engine: Literal["local", "ray"] = "local",
    cache: Path | str | None = None,
    cache_limit: str = "",
    allow_corrupt: Count = 0,
) -> "Report | TextReport":
    """Make a paper's tables and figures again, and put them beside the printed ones.

    ```
    openworld reproduce openworldauc --data embedded --quick 4
    openworld reproduce openworldauc --data ~/data --table 2 --plan
    openworld reproduce openworldauc --data ~/data --table 2 --device cuda
    openworld reproduce openpl --data ~/data --table 6 --table 7 \\
        --learners "CLIP, CoOp, ProDA"
    openworld reproduce frap --data ~/data --dataset cifar10 --checkpoint last
    openworld reproduce is-ood --data embedded --quick 4
    ```

    Four papers: `openworldauc` (learners that must notice new classes), `openpl` (learners while classes and images
    change), `frap` (accuracy estimated without labels), `is-ood` (detectors of images that are out of distribution).

    **Data.** With `--data embedded` drawings that come with openworld stand in for the paper's data sets, with settings
    that suit the small CLIP that comes along: everything runs without a download. Numbers of other data are not
    subtracted from the printed ones; the orders of the methods are compared. `--data FOLDER` needs the paper's data
    sets (`openworld data plan PAPER` says where to get them), and takes the published settings, model and seeds.
    `--dataset` makes the tables of some data sets alone; the others need no download.

    **Cost.** First it says what the runs cost: units (one learner with one seed), images to encode, disk; `--plan`
    stops there, and needs no data. Each run serves all tables and figures that need it. Killed and started again, it
    resumes, and ends with the same records.

    **Result.** Every table stands beside the printed one: on screen, in OUT/tables (CSV, Markdown, LaTeX) and on one
    page; figures lie in OUT/figures, too (drawn with pip install 'openworld[plots]'). On the paper's data every number
    is tested against the printed one: reproduced within `--margin`, higher, lower, or undecided.

    **Claims.** `--claims` runs what the paper's claims are about, such as "GMoP has the best OpenworldAUC", and says of
    each whether our numbers show it, in part or throughout, contradict it, or do not decide.

    **Begin** with `--accept` on downloaded data. It compares CLIP without any tuning, which has no randomness, with the
    printed numbers of OpenworldAUC or OpenPL, and tells which of images, names, sentences, preprocessing and weights is
    not the paper's. Exit code 0 where all agree, 3 where a number departs.

    More on each paper, on learners of your own beside the paper's (`--add`), on other settings and on disk:
    docs/reproduce.md.

    Args:
        paper: openworldauc, openpl, frap or is-ood.
        data: folder of all downloaded data sets; or embedded: drawings that come with openworld.
        table: number of a table; default: all, unless figures are named.
        figure: number of a figure, such as 3, 5 or 5a, or all.
        out: folder of all runs; default: runs/PAPER-BACKBONE. Continued if unfinished.
        plan: say what would run and what it costs, and stop.
        quiet: show no progress; on the command line, print nothing but errors.
        dataset: only this data set, or row of frap, such as DTD or dtd.
        checkpoint: frap: judge after this epoch alone, or last.
        backbone: ViT-B/16, ViT-B/32, ViT-L/14, a name of openworld list, a folder, a hub id.
        learners: only these methods, such as "CLIP, CoOp, GMoP".
        seeds: seeds, all of them in every run; default: the paper's.
        quick: divide all epochs by this.
        classifier: is-ood: the judged classifier, such as torchvision's resnet50-0676ba61.pth.
        names: is-ood, Table 3: a text file of names that LAID learns from, one per line.
        add: TOML file of [[learners]], as in a run's spec: rows beside the paper's.
        settings: other settings: 'CoOp.schedule.epochs = 100'.
        shots: training images of each class; papers: 16.
        views: augmented views of each training image, or fresh: one for every epoch; default: 8.
        precision: of the frozen towers: float32; on a GPU tf32, bfloat16 or float16 are faster.
        draw: few-shot draw: coop, or openworldauc, that of its released code.
        published_names: ImageNet's classes as in published runs: two pairs share a name.
        sentences: openworldauc, across data sets: new names in the target's sentences, or the source's.
        margin: a number is reproduced where it is shown to lie within this fraction of the printed one.
        show: behind our numbers: interval (95 %), or deviation (±, over seeds).
        accept: compare untuned CLIP with printed numbers; exit code 3 if it departs.
        claims: hold what the paper claims against the tables and figures made again.
        device: auto (all GPUs there are), cpu, cuda, mps, cuda:1, or cuda:0,cuda:1.
        workers: processes; 0: one per core, on GPUs as many as their memory holds.
        engine: local: this machine; ray: Ray here, or the cluster that RAY_ADDRESS names.
        cache: folder of encoded images; default: see `openworld doctor`.
        cache_limit: how much encoded images may take, such as 50GB; what is not kept is computed again.
        allow_corrupt: how many unreadable images each image set may have; with more the run stops.

    Returns:
        A report: `.tables["table-2"]` and `.figures["figure-5a"]` are as numbered by the paper, `.found.tables` and
        `.found.figures` tell what they show, `.found.runs` has the finished runs and `.found.failures` what failed. A
        `TextReport` with the plan, or with the numbers of `accept`.

    Raises:
        OpenworldError: an unknown paper, table, figure or `show`, data that is not there, or every run failed.
    """
    from openworld.evaluations.running import RunOptions
    from openworld.reproduction.acceptance import acceptance_plan
    from openworld.reproduction.claims import needed
    from openworld.reproduction.cost import cost, plain_plan
    from openworld.reproduction.series import carry_out_runs, failure, plan_what_is_there, use_data
    from openworld.reproduction.settings import ReproductionSetup, read_added, read_settings

    if accept and (table or figure):
        raise OpenworldError("--accept compares rows of all tables that can be repeated; leave --table, --figure out.")
    if claims and (table or figure or accept):
        raise OpenworldError("--claims runs the tables and figures that claims are about; leave the others out.")
    chosen: dict[str, Any] = {"views": views, "precision": precision, "draw": draw, "crossing_sentences": sentences}
    chosen |= {} if shots is None else {"shots": shots}
    setup = ReproductionSetup(
        data=str(data),
        backbone=backbone,
        seeds=tuple(seeds),
        learners=tuple(learners),
        quick=quick,
        added=read_added(Path(add)) if add else (),
        settings=read_settings(settings),
        published_names=published_names,
        classifier=str(classifier),
        names=str(names),
        datasets=tuple(dataset),
        checkpoints=tuple(map(str, checkpoint)),
        **chosen,
    )
    if accept:
        planned = acceptance_plan(paper, setup)
    else:
        table, figure = needed(paper) if claims else (table, figure)
        planned = plan_what_is_there(paper, tuple(map(str, table)), setup, figures=tuple(map(str, figure)))
    folder = Path(out or Path("runs", f"{planned.folder_name}{'-accepted' if accept else ''}"))
    cache = None if cache is None else Path(cache)
    options = RunOptions(folder, device, workers, cache, allow_corrupt, engine, cache_limit, made_by("reproduce"))
    use_data(planned, whole=not plan)
    counted = cost(planned, options.cache_bytes)
    beginning = _beginning(planned, counted)
    if plan:
        return TextReport((*beginning, *_missing(planned)), plain_plan(planned, counted))
    with observing(quiet=quiet) as observer:
        for line in TextReport(beginning).lines():
            observer.say(line)
        failures = carry_out_runs(planned, options, observer)
    failed = failure(planned, failures) if failures else None
    if failed is not None and len(failures) == len(planned.runs):
        raise failed
    with failing():
        if accept:
            return _acceptance(planned, options, failures, "" if failed is None else str(failed))
        if claims:
            return _claims(planned, folder, failures, "" if failed is None else str(failed))
        return _comparison(planned, folder, failures, "" if failed is None else str(failed), margin=margin, show=show)


def _beginning(planned: Any, counted: Any) -> tuple[Any, ...]:
    """What runs, for which tables, and what it costs."""
    from openworld import __version__
    from openworld.report.render import terminal_table
    from openworld.reproduction.cost import cost_in_words, cost_table

    headline = " · ".join((f"openworld {__version__}", *planned.headline))
    return headline, terminal_table(cost_table(counted)), cost_in_words(counted), *planned.sentences


def _missing(planned: Any) -> tuple[str, ...]:
    """Which data sets would have to be downloaded first."""
    from openworld.datasets.checking import require_places

    data = planned.setup.data
    if planned.downloads and not Path(data).is_dir():
        return (
            f"There is no folder {data} yet. It must hold {len(planned.downloads)} data set(s): "
            f"{', '.join(planned.downloads)} (openworld data plan {planned.paper} says where to get each).",
        )
    try:
        require_places(planned.downloads, data)
    except OpenworldError as error:
        return (str(error),)
    return ()


def _comparison(planned: Any, folder: Path, failures: Mapping[str, str], error: str, **said: Any) -> Report:
    """Return the tables and figures beside the printed ones, after writing them as files and a page."""
    from openworld.report.data_files import json_text
    from openworld.reproduction.page import comparison_report, plain_plan, sentences, write_plan

    comparisons, figures, page, not_written = write_plan(planned, folder, failures, **said)
    report = comparison_report(comparisons, figures)
    several, many = len(comparisons) > 1, len(comparisons) > MANY
    notes = [line for figure in figures for line in (figure.heading, *figure.sentences)]
    for comparison in comparisons if several else ():
        notes += [comparison.table.heading, *(comparison.sentences[:1] if many else sentences(comparison))]
    folders = {"tables": planned.tables, "figures": planned.figures}
    places = [f"{kind.capitalize()}: {folder / kind}/" for kind, numbers in folders.items() if numbers]
    place = "   ".join([*places, f"Page: {page}", f"Runs: {folder}/"])
    return replace(
        report,
        terminal_tables=() if many else report.terminal_tables,
        papers=report.terminal_tables if many else (),
        text=() if several else tuple(sentences(comparisons[0])) if comparisons else (),
        notes=(*notes, *filter(None, [not_written])),
        json=json_text(plain_plan(comparisons, figures)),
        found=Reproduction(folder, comparisons, figures, failures, tuple(run.name for run in planned.runs)),
        ending=Ending(f"\n{place}", error, 1 if error else 0),
    )


def _claims(planned: Any, folder: Path, failures: Mapping[str, str], error: str) -> Report:
    """Return and write (OUT/claims.html, OUT/claims.csv) what the runs say of the paper's claims."""
    from openworld.report.data_files import json_text
    from openworld.reproduction.claims import claims_report, judge_claims, write_claims

    verdicts = judge_claims(planned, folder, failures)
    report = claims_report(planned, verdicts)
    place = f"\nPage: {write_claims(report, verdicts, folder)}   Runs: {folder}/"
    return replace(
        report,
        json=json_text([claim.record() for claim in verdicts]),
        found=Reproduction(folder, (), (), failures, tuple(run.name for run in planned.runs), verdicts),
        ending=Ending(place, error, 1 if error else 0),
    )


def _acceptance(planned: Any, options: Any, failures: Mapping[str, str], error: str) -> TextReport:
    """Return and write (OUT/tables/acceptance.csv) the numbers, and whether each is within its tolerance."""
    from openworld.core.csv_files import csv_text
    from openworld.evaluations.running import machine_of
    from openworld.report.render import terminal_table
    from openworld.reproduction.acceptance import REASONS, accept
    from openworld.runs.atomic import write_file

    acceptance = accept(planned, options.folder, failures, machine_of(options, planned.runs[0].spec).device)
    rows, path = acceptance.rows, options.folder / "tables" / "acceptance.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, csv_text(tuple(rows[0]), [list(row.values()) for row in rows]).encode())
    plain = {"accepted": acceptance.accepted, "numbers": rows, "departures": acceptance.departures}
    parts = terminal_table(acceptance.table), REASONS[planned.paper], *acceptance.sentences
    place = f"\nNumbers: {path}   Runs: {options.folder}/"
    return TextReport(parts, plain, Ending(place, error, 1 if error else 0 if acceptance.accepted else ALERTED))
