"""What a comparison of detectors on one's own sets says: the numbers, the page, and the thresholds."""

from collections.abc import Sequence

from openworld.applications.detect.saved import SavedThresholds
from openworld.report.data_files import json_text
from openworld.report.detection import LAYOUT, detection_brief
from openworld.report.report import Report
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
    numbers = [{name: value for name, value in row.items() if value is not None} for row in results.records()]
    kept = {"results": numbers, "warnings": list(sets.warnings)}
    kept |= {"chosen_settings": {each.detector: dict(each.best.settings) for each in searches}} if searches else {}
    notes = {"thresholds": f"Chosen on validation images: {saved.promise}."} if saved else {}
    brief = detection_brief(sets, results, notes=notes)
    return LAYOUT.report(brief, made=sets.made, found=sets, json=json_text(kept))
