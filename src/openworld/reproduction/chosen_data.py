"""Some of a paper's data sets: which tables are left, with what, and what was meant by a name.

A data set that is reached from ImageNet (a variant, a target of transfer) needs ImageNet as well. A table that is asked
for by its number has it all the same; where no table is named, such tables are made if ImageNet is asked for too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from openworld._errors import unknown_name
from openworld.papers import SOURCE, PaperTable
from openworld.papers.tables import VARIANTS

FROM_SOURCE = ("domain generalisation", "cross-data-set", "distribution-shift", "co-evolution")
"""Tasks whose learners are tuned on ImageNet and meet other data sets."""

NO_DATA = "none of the data sets that it is made of is among those asked for"
NO_SOURCE = f"its learners are tuned on {SOURCE}, which is not among the data sets asked for"

Spellings = Mapping[str, str]
"""What a user may write -> what the paper calls it."""


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


def choose_tables(
    tables: Iterable[PaperTable], titles: Sequence[str], own: Sequence[str] = (), *, named: bool
) -> tuple[list[PaperTable], dict[str, str]]:
    """Return tables with some of their data sets alone, and {number: why} of those that are not made.

    Args:
        titles: data sets that were asked for; () for all.
        own: what else belongs to them, such as the rows of a source.
        named: whether the tables were asked for by number.
    """
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
    return kept, left_out
