"""What a search of detectors' settings says: what was chosen, and what every setting was worth on validation images."""

from collections.abc import Sequence

from openworld.report.page import Section
from openworld.report.table import Cell, Column, Row, Table
from openworld.results import TEXT
from openworld.results.settings_search import VALIDATION_AUROC, SettingsSearch

CAPTION = (
    "AUROC in percent of in-distribution validation images against validation images out of distribution, which are in "
    "no tested set [95 % over images]. It is the largest of several, so that it promises a little too much."
)


def search_table(searches: Sequence[SettingsSearch]) -> Table:
    """Return a row per detector: the settings that were chosen, what they and the usual ones are worth."""
    columns = (
        Column(TEXT, "chosen", priority=3),
        Column(VALIDATION_AUROC, "AUROC", priority=2),
        Column(VALIDATION_AUROC, "AUROC of the default", priority=1),
        Column(TEXT, "settings tried", priority=0),
    )
    rows = tuple(
        Row(
            search.detector,
            (
                search.best.words,
                search.best.value,
                None if search.default is None else search.trials[search.default].value,
                str(len(search.trials)),
            ),
        )
        for search in searches
    )
    return Table("settings", "Settings chosen on validation images", CAPTION, "detector", columns, rows, best="")


def search_section(searches: Sequence[SettingsSearch]) -> Section:
    """Return the part of a page: what was chosen, and folded every setting of each detector."""
    folded = tuple(Section(f"Settings of {search.detector}", tables=(_trials(search),)) for search in searches)
    text = "Of each detector the settings with the largest AUROC on validation images were taken, of equals the first."
    return Section("Which settings were chosen?", (text,), (search_table(searches),), folded=folded)


def _trials(search: SettingsSearch) -> Table:
    rows = tuple(
        Row(trial.words, (Cell(trial.value, bold=place == search.chosen), trial.reason))
        for place, trial in enumerate(search.trials)
    )
    columns = (Column(VALIDATION_AUROC, "AUROC"), Column(TEXT, "why not"))
    name = "settings-" + "".join(letter if letter.isalnum() else "-" for letter in search.detector.lower())
    return Table(name, f"Settings of {search.detector}", CAPTION, "settings", columns, rows, best="")
