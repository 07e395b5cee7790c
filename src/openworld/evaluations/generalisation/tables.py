"""Tables and verdict of a run of generalisation: learners by targets, as OpenworldAUC's Tables 4 and 13."""

from collections.abc import Sequence

from openworld import _terminal as terminal
from openworld._terminal import Head, TerminalTable, styled
from openworld.evaluations.generalisation.target_means import Reach
from openworld.evaluations.recognition.grids import tested
from openworld.evaluations.recognition.summary import Row, Summary, Table
from openworld.evaluations.recognition.terminal import words
from openworld.evaluations.recognition.verdict import against_yardstick, evidence_of_many, leader, points
from openworld.report.grid import Cell, Column, Grid, Line, swatched
from openworld.report.sentences import listed
from openworld.report.series_style import Look
from openworld.report.text import bracketed, percent, signed

_NAMED = 6  # beyond so many classes left out, their number is told


def reach_grid(reach: Reach, looks: dict[str, Look]) -> Grid:
    """For the page: OpenworldAUC at the source, at each target and on average, and the tests of the average."""
    opponents = list(dict.fromkeys(row.learner for row in (reach.mean.yardstick, reach.mean.best) if row is not None))
    opponents = opponents if len(reach.mean.rows) > 1 else []
    titles = [table.title for table in (reach.source, *reach.targets)]
    columns = (Column("learner", words=True), *map(Column, titles), Column("mean over targets"))
    columns += (Column("over seeds"), *(Column(f"mean against {name}", words=True) for name in opponents))
    rows = tuple(Line(row.learner, tuple(_cells(reach, row, opponents, looks))) for row in reach.mean.rows)
    label = f"OpenworldAUC in {reach.heading}"
    seeds = reach.source.counts["seeds"]
    spread = f" Over seeds: of the mean, 95 %, Student's t, n = {seeds}." if seeds > 1 else ""
    return Grid(f"reach-{reach.kind}", label, f"{_capital(reach.heading)}. {told(reach)}{spread}", columns, rows)


def terminal_reach(reach: Reach) -> TerminalTable:
    """The same for a terminal."""
    tables, rows = (reach.source, *reach.targets), []
    for row in reach.mean.rows:
        style = "bold" if row is reach.mean.best and len(reach.mean.rows) > 1 else ""
        cells = [_with_interval(_of(table, row.learner)) for table in tables]
        numbers = styled((row.learner, *cells, _with_interval(row)), style)
        rows.append((*numbers, *styled([words(reach.mean, row)], style or "dim")))
    titles = (*(table.title for table in tables), "mean over targets")
    return TerminalTable((terminal.name("learner"), *map(Head, titles), terminal.words()), rows, told(reach))


def told(reach: Reach) -> str:
    """What the numbers, intervals and tests of the table speak of, and which classes were left out."""
    counts = reach.source.counts
    seeds = "1 seed" if counts["seeds"] == 1 else f"means of {counts['seeds']} seeds"
    given = "the seed" if counts["seeds"] == 1 else "the seeds"
    clustered = f", clustered by {reach.source.group_name} (n = {counts['groups']})," if reach.source.group_name else ""
    pairs = reach.mean.tested
    corrected = f"; p of the mean after Holm over {pairs} pairs" if pairs > 1 else ""
    shared = " Base images are the source's everywhere and count once." if reach.kind == "other" else ""
    fewer = f" Trained on {reach.source.shots}." if "asked" in reach.source.shots else ""
    return (
        f"OpenworldAUC, percent; {seeds}; [95 % over images{clustered} given {given}]{corrected}. The mean is over "
        f"{len(reach.targets)} target{'s' * (len(reach.targets) > 1)}, each counting the same, without the source."
        f"{shared} {_images(reach)}{_left_out(reach)}{fewer}"
    )


def reach_verdict(summary: Summary, reached: Sequence[Reach]) -> tuple[str, ...]:
    """Sentences made from the tests: for each kind of target who leads and what tuning brought; last, the evidence."""
    sentences = []
    for reach in reached:
        sentences.append(f"{_capital(reach.heading)}: {leader(reach.mean)}")
        sentences.append(f"{against_yardstick(reach.mean)} {_from_home(reach)}".rstrip())
    return (*sentences, evidence_of_many(summary))


def reach_title(reached: Sequence[Reach]) -> str:
    """The heading of the page: from where to where."""
    return f"From {reached[0].source.title} to {listed([reach.counted for reach in reached])}"


def _from_home(reach: Reach) -> str:
    """How the leader's mean over the targets stands to what it reaches on the source."""
    best = reach.mean.best
    home = _of(reach.source, best.learner)
    if best.openworld_auc is None or home.openworld_auc is None:
        return ""
    way = signed(best.openworld_auc - home.openworld_auc)
    return f"On the source itself {best.learner} has {points(home)}: on the way to the targets its mean moves by {way}."


def _cells(reach: Reach, row: Row, opponents: Sequence[str], looks: dict[str, Look]):
    yield swatched(row.learner, looks)
    for table in (reach.source, *reach.targets, reach.mean):
        here = _of(table, row.learner)
        leads = "leads" if here is table.best and here.openworld_auc is not None else ""
        yield Cell(
            percent(here.openworld_auc),
            faint=bracketed(here.over_images),
            css=f"under {leads}".strip(),
            hint=_hint(here),
        )
    yield Cell(bracketed(row.over_seeds) or "–", _width(row.over_seeds))
    for other in opponents:
        yield tested(reach.mean.compare(row.learner, other))


def _hint(row: Row) -> str:
    """What stands behind a cell, told to those who point at it."""
    parts = {"HM": row.harmonic_mean_of_means, "AUROC": row.mean["auroc"]}
    parts |= {"base": row.mean["base_accuracy"], "new": row.mean["new_accuracy"]}
    return " · ".join(f"{name} {percent(value)}" for name, value in parts.items())


def _of(table: Table, learner: str) -> Row:
    return next(row for row in table.rows if row.learner == learner)


def _with_interval(row: Row) -> str:
    return f"{percent(row.openworld_auc)} {bracketed(row.over_images)}".strip()


def _width(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[1] - interval[0]:.6f}"


def _images(reach: Reach) -> str:
    """How many base and new images there are, once where that is the same everywhere."""
    counts = {table.title: table.counts for table in (reach.source, *reach.targets)}
    told = {title: f"{one['base_images']} + {one['new_images']}" for title, one in counts.items()}
    if len(set(told.values())) == 1:
        return f"Base + new images: {next(iter(told.values()))} in every column."
    return f"Base + new images: {'; '.join(f'{title} {one}' for title, one in told.items())}."


def _left_out(reach: Reach) -> str:
    """Which classes are not new at the targets, and by what they were found out."""
    if reach.kind != "other":
        return ""
    rule = "by name and by WordNet's names" if reach.by_wordnet else "by name"
    if not reach.left_out:
        return f" No class of theirs is a base class of the source ({rule})."
    found = [f"{title} {_listed(names)}" for title, names in reach.left_out.items()]
    return f" Left out as base classes of the source ({rule}): {'; '.join(found)}."


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _NAMED else f"{len(names)} classes, listed in the records"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
