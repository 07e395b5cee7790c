"""What a comparison of detectors on one's own sets says: tables of a terminal, the page, and the thresholds."""

from collections.abc import Sequence

from openworld.applications.detect.saved import FLAGGED, THRESHOLD, SavedThresholds
from openworld.report.data_files import json_text
from openworld.report.detection import CAPTION, detection_page, main_tables, ranked
from openworld.report.detector_search import search_section, search_table
from openworld.report.page import Section
from openworld.report.report import Report
from openworld.report.table import Column, Row, Table
from openworld.results import Results
from openworld.results.scored_sets import ScoredSets
from openworld.results.settings_search import SettingsSearch

SCORES = "scores.parquet"


def detection_report(
    sets: ScoredSets,
    results: Results,
    saved: SavedThresholds | None = None,
    searches: Sequence[SettingsSearch] = (),
) -> Report:
    """Return everything that is to be said of scores.

    Args:
        saved: thresholds, where some were chosen. searches: of settings, where some were searched.
    """
    flagged = (threshold_table(sets, results, ranked(sets, results), saved),) if saved else ()
    sections = [Section("At a threshold", tables=flagged)] if flagged else []
    searched = (search_table(searches),) if searches else ()
    sections += [search_section(searches)] if searches else []
    page = detection_page(sets, results, sections)
    numbers = [{name: value for name, value in row.items() if value is not None} for row in results.records()]
    kept = {"results": numbers, "warnings": list(sets.warnings)}
    kept |= {"chosen_settings": {each.detector: dict(each.best.settings) for each in searches}} if searches else {}
    return Report(
        results,
        (*main_tables(sets, results), *searched, *flagged),
        page,
        page.verdict[1:],
        notes=(CAPTION,),
        made=sets.made,
        found=sets,
        json=json_text(kept),
    )


def threshold_table(sets: ScoredSets, results: Results, order: Sequence[str], saved: SavedThresholds) -> Table:
    """Return a row per detector: its threshold, and the share of every set that it flags."""
    each = (sets.test, *sets.others)
    titles = {own.name: f"{own.name} ({own.group})" for own in each}
    columns = (Column(THRESHOLD), *(Column(FLAGGED, titles[own.name], intervals=own is sets.test) for own in each))
    rows = tuple(
        Row(
            name,
            (
                results.value(name, THRESHOLD.key),
                *(results.value(name, FLAGGED.key, group=own.group, set=own.name) for own in each),
            ),
        )
        for name in order
        if name in saved.thresholds
    )
    caption = (
        "Percent of every set that scores below the threshold, chosen on validation images [95 % over images]: "
        f"{saved.promise}."
    )
    return Table("thresholds", "Flagged by a threshold", caption, "detector", columns, rows, best="")
