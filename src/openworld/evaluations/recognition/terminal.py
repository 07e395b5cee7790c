"""The table of a run for the terminal: one line per learner, verdicts in words, and where the points go."""

from openworld import _terminal as terminal
from openworld._terminal import Head, TerminalTable, styled
from openworld.evaluations.recognition.figures.learners import LOSSES
from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.charts.quantity import CROWDED
from openworld.report.comparison import Comparison
from openworld.report.text import bracketed, percent, seconds, tuned


def terminal_table(table: Table) -> TerminalTable:
    """For a terminal: percent with one decimal, intervals in brackets, the caption saying over what.

    Args:
        table: one table of `summarise`.
    """
    fields = [field for field in FIELDS if any(FIELDS[field](row) != "–" for row in table.rows)]
    crowded = len(table.rows) > CROWDED
    against = f"against {(table.yardstick or table.best).learner}" if crowded else ""
    rows = []
    for row in table.rows:
        style = "bold" if row is table.best and len(table.rows) > 1 else ""
        numbers = styled((row.learner, *(FIELDS[field](row) for field in fields)), style)
        rows.append((*numbers, *styled([words(table, row, short=crowded)], style or "dim")))
    heads = (terminal.name("learner"), *map(Head, fields), terminal.words(against))
    return TerminalTable(heads, rows, caption(table))


def caption(table: Table) -> str:
    """What the intervals, the seeds and the tests of the table speak of."""
    counts, pairs = table.counts, table.tested
    means = "1 seed" if counts["seeds"] == 1 else f"means of {counts['seeds']} seeds"
    given = "the seed" if counts["seeds"] == 1 else "the seeds"
    clustered = f", clustered by {table.group_name} (n = {counts['groups']})" if table.group_name else ""
    corrected = f"; p after Holm over {pairs} pairs" if pairs > 1 else ""
    fewer = f" Trained on {table.shots}." if "asked" in table.shots else ""
    intervals = f"[95 % over images{clustered}, given {given}]"
    return f"Percent; {means}; {intervals}; HM of the mean accuracies{corrected}.{fewer}"


def words(table: Table, row: Row, *, short: bool = False) -> str:
    """The verdict on one learner: the best against all others, the rest against the one that tunes nothing.

    `short` leaves out that one's name, for a column that is headed with it.
    """
    tests = [test for other in table.rows if (test := table.compare(row.learner, other.learner)) is not None]
    if row.openworld_auc is None:
        return ""
    if row is table.best:
        return _best_words(tests)
    against = table.compare(row.learner, (table.yardstick or table.best).learner)
    if against is None:
        return ""
    return against.short_words if short else against.words


def _best_words(tests: list[Comparison]) -> str:
    open_ones = [test for test in tests if not test.better]
    if len(tests) > 1 and not open_ones:
        return "better than all"
    if len(open_ones) > 2:
        return f"highest, but not shown to be better than {len(open_ones)} others"
    beaten = len(tests) - len(open_ones)
    lead = [f"better than {beaten} others"] if beaten > 1 else []
    return "; ".join([*lead, *(test.words for test in open_ones or tests)])


def losses_line(row: Row) -> str:
    """Where the missing points of one learner go, in one line."""
    if row.openworld_auc is None:
        return f"{row.learner} has no OpenworldAUC, so no points can be said to be missing."
    parts = " · ".join(f"{LOSSES[loss]} {percent(row.points_lost[loss])}" for loss in LOSSES)
    owner = f"{row.learner}'" if row.learner.endswith("s") else f"{row.learner}'s"
    return f"Where {owner} missing {percent(1 - row.openworld_auc)} points go: {parts}"


FIELDS = {
    "tuned": lambda row: tuned(row.tuned_parameters),
    "OpenworldAUC": lambda row: f"{percent(row.openworld_auc)} {bracketed(row.over_images)}".strip(),
    "HM": lambda row: percent(row.harmonic_mean_of_means),
    "AUROC": lambda row: percent(row.mean["auroc"]),
    "base": lambda row: percent(row.mean["base_accuracy"]),
    "new": lambda row: percent(row.mean["new_accuracy"]),
    "fit": lambda row: seconds(row.fit_seconds),
}
