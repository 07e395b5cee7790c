"""Operating points as a table: for the terminal, the page, and as JSON."""

from collections.abc import Sequence

from openworld import _terminal as terminal
from openworld._terminal import Head, TerminalTable
from openworld.evaluations.recognition.operating_summary import RATES, RunAt, all_run_at, rule_in_words
from openworld.evaluations.recognition.summary import Table
from openworld.report.data_files import json_text
from openworld.report.grid import Cell, Column, Grid, Line
from openworld.report.marks import swatch
from openworld.report.series_style import Look
from openworld.report.text import bracketed, percent

TITLES = {"miss": "missed", "hit": "hit", "false_alarm": "base flagged", "detected": "new flagged"}


def terminal_operating(table: Table) -> TerminalTable | None:
    """For a terminal: where every learner is run, percent with one decimal; None where its run chose nothing."""
    found = all_run_at(table)
    if not found:
        return None
    rows = []
    for one in found:
        cells = [_thresholds(one), *(_told(one, name) for name in RATES), *([_cost(one)] if one.costs else [])]
        rows.append((one.learner, *cells, in_words(one)))
    heads = (terminal.name("learner"), *map(Head, _titles(found)), terminal.words())
    return TerminalTable(heads, rows, operating_caption(table, found))


def operating_grid(table: Table, looks: dict[str, Look], name: str) -> Grid | None:
    """The same for the page, with intervals over seeds beside those over images."""
    found = all_run_at(table)
    if not found:
        return None
    first, *titles = _titles(found)
    columns = (Column("learner", words=True), Column(first, words=True), *map(Column, titles))
    columns += (Column("as asked?", words=True),) if _speaks(found) else ()
    rows = tuple(Line(one.learner, tuple(_cells(one, looks))[: len(columns)]) for one in found)
    return Grid(name, f"{table.title}, operating points", operating_caption(table, found), columns, rows)


def operating_numbers(table: Table) -> list[dict]:
    """Every number of it, an entry per learner: fractions in [0, 1], costs in their own unit, None where undefined."""
    return [_as_dict(one) for one in all_run_at(table)]


def operating_json(tables: Sequence[Table]) -> str:
    """The same of several tables, as JSON."""
    told = [{"setting": table.title, "counts": table.counts, "learners": operating_numbers(table)} for table in tables]
    return json_text({"tables": told})


def operating_caption(table: Table, found: Sequence[RunAt]) -> str:
    """What the thresholds, rates and intervals speak of."""
    one, counts = found[0], table.counts
    chosen_on, seeds = one.points[0]["validation"], max((each.seeds for each in found), key=len)
    several = f", one a seed ({' '.join(map(str, seeds))})" if len(seeds) > 1 else ""
    scale = "baseness (a fraction)" if one.on_baseness else "score"
    base, new = (len(set(groups.tolist())) for groups in table.rows[0].outcomes[0].groups)
    clustered = f", clustered by {table.group_name} (n = {base} base, {new} new)" if table.group_name else ""
    means = f"means of {len(seeds)} seeds; " if len(seeds) > 1 else ""
    costs = " Cost: expected, per picture." if one.costs else ""
    return (
        f"Rule: {rule_in_words(one.rule)}. A picture whose {scale} lies below the threshold{several} is flagged as "
        f"new; chosen on {chosen_on['n_base']} base and {chosen_on['n_new']} new validation pictures. Rates on "
        f"{counts['base_images']} base and {counts['new_images']} new test pictures, percent; {means}[95 % over "
        f"images{clustered}, given the threshold{'s' * bool(several)}]. Missed: base, flagged or misnamed. Hit: new, "
        f"flagged and named right.{costs}"
    )


def in_words(one: RunAt) -> str:
    """Whether the rate that was asked for holds on test pictures, as far as their number tells.

    Returns:
        "" for costs, which ask for no rate.
    """
    if one.joined is None:
        return f"no threshold: {_limit(one)}"
    name, key = ("miss", "miss_rate") if "miss_rate" in one.rule else ("hit", "hit_rate")
    rate = one.rate(name)
    if key not in one.rule or rate.interval is None:
        return ""
    low, high = rate.interval
    asked = one.rule[key]
    holds, fails = (high <= asked, low > asked) if name == "miss" else (low >= asked, high < asked)
    return "holds on test" if holds else "does not hold on test" if fails else "cannot be told at this n"


def _limit(one: RunAt) -> str:
    """What keeps a learner from the rule, on the validation pictures, over its seeds."""
    by_miss = "miss_rate" in one.rule
    values = [point["validation"]["least_miss" if by_miss else "most_hit"] for point in one.points]
    if None in values:
        return one.reason
    low, high = (f"{100 * end:.1f}" for end in (min(values), max(values)))
    span = f"{low} %" if low == high else f"{low} to {high} %"
    return f"misnames {span} of base" if by_miss else f"names {span} of new right"


def _titles(found: Sequence[RunAt]) -> list[str]:
    return ["threshold", *TITLES.values(), *(["cost"] if found[0].costs else [])]


def _speaks(found: Sequence[RunAt]) -> bool:
    """Whether there is anything to say in words of any of them."""
    return any(in_words(one) for one in found)


def _cells(one: RunAt, looks: dict[str, Look]):
    yield Cell(one.learner, picture=swatch(looks[one.learner]))
    yield Cell(_thresholds(one), css="words")
    for name in RATES:
        rate, seeds = one.rate(name), one.over_seeds(name)
        value = None if rate is None else rate.value
        hint = f"95 % over seeds: {bracketed(seeds)}" if seeds else ""
        yield Cell(percent(value), faint="" if rate is None else bracketed(rate.interval), hint=hint)
    if one.costs:
        value, interval = one.cost
        yield Cell("–" if value is None else f"{value:.3g}", faint=_plain_interval(interval))
    words, _, limit = in_words(one).partition(": ")
    yield Cell(words, faint=limit, css="words", hint=one.reason or "")


def _thresholds(one: RunAt) -> str:
    """One number where all seeds share it, else one a seed."""
    told = ["none" if value is None else f"{value:.4g}" for value in one.thresholds]
    return told[0] if len(set(told)) == 1 else " ".join(told)


def _told(one: RunAt, name: str) -> str:
    rate = one.rate(name)
    return "–" if rate is None else f"{percent(rate.value)} {bracketed(rate.interval)}".strip()


def _cost(one: RunAt) -> str:
    value, interval = one.cost
    return "–" if value is None else f"{value:.3g} {_plain_interval(interval)}".strip()


def _plain_interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{interval[0]:.3g} {interval[1]:.3g}]"


def _as_dict(one: RunAt) -> dict:
    rates = {
        name: None
        if one.joined is None
        else {"value": one.rate(name).value, "over_images": one.rate(name).interval, "over_seeds": one.over_seeds(name)}
        for name in RATES
    }
    cost, interval = one.cost
    return {
        "learner": one.learner,
        "rule": one.rule,
        "reason": one.reason,
        "seeds": [{"seed": seed, **point} for seed, point in zip(one.seeds, one.points, strict=True)],
        "joined": rates | {"cost": cost, "cost_over_images": interval},
        "as_asked": in_words(one),
    }
