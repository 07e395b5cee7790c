"""Some of a paper's data sets: which tables are left, with what, and what was meant by a name.

A data set that is reached from ImageNet (a variant, a target of transfer) needs ImageNet as well. A table that is asked
for by its number has it all the same; where no table is named, such tables are made if ImageNet is asked for too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from openworld._errors import unknown_name
from openworld.papers import SOURCE, TABLES, PaperTable
from openworld.papers.tables import VARIANTS
from openworld.reproduction.settings import NAMES

FROM_SOURCE = ("domain generalisation", "cross-data-set", "distribution-shift", "co-evolution")
"""Tasks whose learners are tuned on ImageNet and meet other data sets."""

NO_DATA = "none of the data sets that it is made of is among those asked for"
NO_SOURCE = f"its learners are tuned on {SOURCE}, which is not among the data sets asked for"

Spellings = Mapping[str, str]
"""What a user may write -> what the paper calls it."""


def spellings_of(paper: str) -> Spellings:
    """Return both spellings of every data set of a paper that tunes learners."""
    titles = dict.fromkeys(title for table in TABLES[paper].values() for title in table.datasets)
    return {title: title for title in titles} | {NAMES[title]: title for title in titles}


def find_titles(paper: str, spellings: Spellings, names: Sequence[str]) -> tuple[str, ...]:
    """Return what the paper calls the data sets that were asked for, each once.

    >>> find_titles("openpl", {"DTD": "DTD", "dtd": "DTD"}, ["dtd", "DTD"])
    ('DTD',)
    """
    folded = {spelling.casefold(): title for spelling, title in spellings.items()}
    for name in names:
        if name.casefold() not in folded:
            raise unknown_name(f"data set of {paper}", name, dict.fromkeys(spellings.values()))
    return tuple(dict.fromkeys(folded[name.casefold()] for name in names))


@dataclass(frozen=True)
class ChosenTables:
    """What is left of tables."""

    tables: tuple[PaperTable, ...]
    left_out: Mapping[str, str]  # number of a table that was named -> why it is not made


def choose_tables(
    tables: Iterable[PaperTable], titles: Sequence[str], own: Sequence[str] = (), *, named: bool
) -> ChosenTables:
    """Return the tables with only some of their data sets."""
    kept, left_out = [], {}
    for table in tables:
        datasets = tuple(title for title in table.datasets if not titles or title in (*titles, *own))
        reason = "" if datasets else NO_DATA
        if titles and not named and SOURCE not in titles and set(table.tasks) & set(FROM_SOURCE):
            datasets = tuple(title for title in datasets if title not in VARIANTS)
            if not datasets or set(table.tasks) <= set(FROM_SOURCE):
                reason = reason or NO_SOURCE
        if reason:
            left_out[table.number] = reason
        else:
            kept.append(replace(table, datasets=datasets))
    return ChosenTables(tuple(kept), left_out)
