"""What a run of recognition says: tables and verdict, figures, other mixes, operating points, images."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from openworld.evaluations.recognition.album import albums
from openworld.evaluations.recognition.figures import FIGURES
from openworld.evaluations.recognition.operating_results import (
    LearnerOperatingPoint,
    operating_points,
    preferred,
    sentence,
    why_none,
)
from openworld.evaluations.recognition.outcome import Outcome, outcomes
from openworld.evaluations.recognition.pairing import compare_outcomes
from openworld.evaluations.recognition.results import RecognitionResults, SettingResults, join
from openworld.evaluations.recognition.settings import Setting
from openworld.evaluations.recognition.tables import (
    OPERATING,
    further_table,
    imbalance_table,
    main_table,
    operating_table,
    overview_table,
    variation_table,
)
from openworld.evaluations.recognition.verdict import losses_line, verdict
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.provenance import spent
from openworld.report.run_comparison import RunComparison
from openworld.report.sentences import listed
from openworld.report.series_style import SeriesStyle, series_styles
from openworld.report.story import Story
from openworld.report.table import Table
from openworld.results import Results, RunFolder

BEST = "Best by what validation images say, and then on test images: "
KNOWN_FROM_DOMAINS = ("as given", "same domain", "other domain")
"""Splits that need no words of their own."""


def story(run: RunFolder, found: Sequence[Outcome] | None = None) -> Story:
    """The story of a run.

    Args:
        run: of recognition, or predictions that were scored.
        found: its outcomes, where they are not as the records have them.
    """
    found = tuple(outcomes(run) if found is None else found)
    results = join(found)
    mains, mixes, operating = main_tables(results), _mixes(results), tuple(_decisions(results))
    page = Page(
        title=_title(results),
        subtitle=tuple(subtitle(results)),
        verdict=verdict(results),
        sections=(numbers_section(results, mains, mixes), *further_sections(results, operating)),
        styles=styles(results),
        facts=tuple(durations(results, found)),
    )
    overview = (overview_table(results),) if len(mains) > 1 else ()
    tables = (*overview, *mains, *(one.table for one in operating))
    text = (*page.verdict, *terminal_text(results, operating))
    return Story(run, results.results(), tables, page, text, papers=(*tables, *(pair[0] for pair in mixes)))


def compare(first: Story, second: Story, metric: str) -> RunComparison:
    """Two runs, image by image; raises as `compare_outcomes`."""
    names = str(first.run.folder), str(second.run.folder)
    return compare_outcomes(outcomes(first.run), outcomes(second.run), metric or "openworld_auc", names)


@dataclass(frozen=True)
class Decision:
    """The operating points of one setting: their table, and what the learner does that validation images prefer.

    Args:
        setting: which.
        table: of all learners.
        preferred: None where no learner has a threshold for every seed; `text` then says why.
        text: a sentence.
    """

    setting: Setting
    table: Table
    preferred: LearnerOperatingPoint | None
    text: str


def decisions(found: Sequence[Outcome]) -> tuple[Decision, ...]:
    """The operating points of outcomes that have some, setting by setting."""
    return tuple(_decisions(join(found)))


def decision_results(found: Sequence[Outcome]) -> Results:
    """Every number of the operating points of outcomes."""
    results = join(found).results()
    return replace(results, rows=tuple(row for row in results.rows if "rule" in row.where), comparisons=())


def _decisions(results: RecognitionResults) -> Iterator[Decision]:
    for place, one in enumerate(results.settings, 1):
        if points := operating_points(one.outcomes):
            best = preferred(points)
            text = why_none(points) if best is None else sentence(best)
            yield Decision(one.setting, operating_table(one, points, f"operating-{place}"), best, text)


def main_tables(results: RecognitionResults) -> tuple[Table, ...]:
    """The table of every setting."""
    return tuple(main_table(one, f"table-{place}") for place, one in enumerate(results.settings, 1))


def terminal_text(results: RecognitionResults, operating: Sequence[Decision]) -> Iterator[str]:
    """Where the points go, setting by setting, and what the preferred learner does at its operating point."""
    several = len(results.settings) > 1
    for one in results.settings:
        learners = (one.best,) if one.trained else one.learners
        lines = [line for learner in learners if (line := losses_line(one, learner))]
        yield from (f"{one.title} · {line}" if several else line for line in lines)
    yield from _sentences(operating)


def _sentences(operating: Sequence[Decision]) -> list[str]:
    """The sentences of operating points, told apart where there are several."""
    several = len(operating) > 1
    titles = (one.table.title.removesuffix(f", {OPERATING}") for one in operating)
    return [f"{title} · {one.text}" if several else one.text for title, one in zip(titles, operating, strict=True)]


def styles(results: RecognitionResults) -> dict[str, SeriesStyle]:
    """The style of every learner, on the whole page."""
    return series_styles(results.learners, results.baselines)


def numbers_section(results: RecognitionResults, mains: Sequence[Table], mixes: Sequence[Sequence[Table]]) -> Section:
    """The numbers: of one setting at once, of several an overview and each on demand; all others on demand."""
    several = len(mains) > 1
    folded = [Section(table.title, tables=(table,)) for table in mains] if several else []
    further = [further_table(one, f"further-{place}") for place, one in enumerate(results.settings, 1)]
    folded.append(Section("Every other number", tables=tuple(further)))
    if mixes:
        heading = "Other mixes of base and new images: one half shrunk, and all ratios"
        folded.append(Section(heading, tables=tuple(table for pair in mixes for table in pair)))
    tables = (overview_table(results),) if several else tuple(mains)
    return Section("The numbers", tables=tables, folded=tuple(folded))


def further_sections(results: RecognitionResults, operating: Sequence[Decision]) -> Iterator[Section]:
    """Operating points, figures and images."""
    if operating:
        texts = zip(operating, _sentences(operating), strict=True)
        shown = (text if one.preferred is None else f"{BEST}{text}" for one, text in texts)
        yield Section("Where to run it", tuple(shown), tuple(one.table for one in operating))
    for figure in figures(results):
        yield Section(figure.title, figures=(figure,))
    if found := albums(results):
        yield Section("The images", albums=tuple(found))


def figures(results: RecognitionResults) -> tuple[Figure, ...]:
    """Every figure that the run has numbers for."""
    chosen = styles(results)
    made = (figure(results.settings, chosen) for figure in FIGURES)
    return tuple(figure for figure in made if figure is not None)


def subtitle(results: RecognitionResults) -> list[str]:
    """What, on what, with what: all that the settings have in common."""
    parts = [_described(one) for one in results.settings]
    return [part for part in parts[0] if all(part in other for other in parts)]


def durations(results: RecognitionResults, found: Sequence[Outcome]) -> Iterator[tuple[str, str]]:
    """Seeds, the number of records, and how long each learner took."""
    yield "seeds", " ".join(map(str, sorted({outcome.record.seed for outcome in found})))
    yield "records", str(sum(outcome.has_own_fit for outcome in found))
    for learner in results.learners:
        own = [outcome for outcome in found if outcome.record.learner == learner]
        if text := spent([outcome.record.epochs for outcome in own], map(_seconds, own)):
            yield learner, text


def _seconds(outcome: Outcome) -> dict[str, float]:
    """The seconds of every stage, those of a fit only once."""
    return {stage: value for stage, value in outcome.seconds.items() if stage != "fit" or outcome.has_own_fit}


def _mixes(results: RecognitionResults) -> list[tuple[Table, ...]]:
    """Of every setting whose records hold them, the table of both directions and that of all ratios."""
    made = [
        (imbalance_table(one, f"imbalance-{place}"), variation_table(one, f"all-ratios-{place}"))
        for place, one in enumerate(results.settings, 1)
    ]
    return [tuple(table for table in pair if table is not None) for pair in made if pair[0] is not None]


def _title(results: RecognitionResults) -> str:
    tasks = list(dict.fromkeys(one.setting.task for one in results.settings))
    return f"{listed(tasks)} in the open world" if len(tasks) <= 3 else f"{len(tasks)} tasks in the open world"


def _described(one: SettingResults) -> list[str]:
    setting, counts = one.setting, one.counts
    seeds = max((one.seeds(learner) for learner in one.learners), key=len)
    parts = {
        setting.domains: bool(setting.domains),
        f"{setting.split} split": setting.split not in KNOWN_FROM_DOMAINS,
        f"{counts.base_classes} base + {counts.new_classes} new classes": counts.base_classes > 1,
        one.shots: bool(one.shots),
        f"seed{'s' * (len(seeds) > 1)} {' '.join(map(str, seeds))}": True,
        setting.backbone: True,
    }
    return [part for part, holds in parts.items() if holds]
