"""The verdict: sentences that follow from rows and tests, also where these show nothing.

Who has the best number of each place and over whom that is shown, corrected for having been chosen as the best; what
is shown against the baseline; what lies below chance; and what the numbers rest on. A sentence says no more than the
tests: "better" is a difference shown after correction, "highest" a number.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from openworld.report.layout.parts import Brief, words_of
from openworld.report.sentences import HOLM, below_chance, counted, few, first_in, leads, listed, none_or, span
from openworld.results import METRICS, Comparison, Result, Standing, against_chance, standing
from openworld.results.standing import CHANCE_NAME, over_images

if TYPE_CHECKING:
    from openworld.report.layout.charts import Lines

SPELLED = 4  # places that are told one by one; of more, counts
AREA = METRICS["auroc"]
INSIDE = {"learner": "base", "detector": "in-distribution"}  # what a larger score must mean, by what entities are

Places = Mapping[tuple, Sequence[Result]]


def verdict(
    headline: str, places: Sequence[str], brief: Brief, *, beside: Sequence[str] = (), along: "Lines | None" = None
) -> tuple[str, ...]:
    """Return the sentences that follow from the numbers of a metric."""
    # Where numbers of some places are means of those of others, which their shorter places tell, the means are told
    # one by one, and of the others only how often who comes first.
    by_place = _by_place(headline, (*places, *beside), brief)
    parts, sentences, chance = by_place, [], _chance_tests(by_place, brief)
    if by_place and next(iter(by_place.values()))[0].metric.better:
        shortest = min(map(len, by_place))
        general = {place: rows for place, rows in by_place.items() if len(place) == shortest}
        if len(by_place) <= SPELLED:
            sentences += _leaders(by_place, places, chance, brief)
        elif len(general) <= SPELLED:
            parts = {place: rows for place, rows in by_place.items() if place not in general}
            sentences += [*_leaders(general, places, chance, brief, named=True), _leader_of_many(parts, brief)]
        else:
            sentences.append(_leader_of_many(by_place, brief))
        sentences += _against_baseline(parts, brief)
        if along is not None:
            sentences += _along(headline, along, by_place, brief)
    sentences.append(below_chance(chance, INSIDE.get(brief.label, "in-distribution")))
    return tuple(filter(None, (*sentences, *brief.sentences, _evidence(parts, brief), *brief.warnings)))


def leaders(headline: str, places: Sequence[str], brief: Brief) -> tuple[str, ...]:
    """Return a sentence per place on who has the best number of a metric, for one beside the headline of a layout."""
    by_place = _by_place(headline, places, brief)
    return tuple(_leaders(by_place, places, _chance_tests(by_place, brief), brief))


def _by_place(headline: str, keys: Sequence[str], brief: Brief) -> dict[tuple, list[Result]]:
    by_place: dict[tuple, list[Result]] = {}
    for row in brief.results.where(metric=headline):
        if row.entity and row.where.keys() <= {*keys, *(f"{key}_name" for key in keys)}:
            by_place.setdefault(tuple(row.where.items()), []).append(row)
    return by_place


def _leaders(
    by_place: Places, places: Sequence[str], chance: Sequence[Comparison], brief: Brief, *, named: bool = False
) -> Iterator[str]:
    """Say place by place who has the best number; of AUROCs none of which is above chance, that."""
    for rows in by_place.values():
        where = ", ".join(words_of(rows[0], places))
        lead = _nobody_above_chance(rows, chance, brief) or _lead(rows, brief)
        if where and (named or len(by_place) > 1):
            yield f"{where[0].upper()}{where[1:]}: {lead}"
        else:
            yield f"N{lead[1:]}" if lead.startswith(f"no {brief.label} ") else lead


def _lead(rows: Sequence[Result], brief: Brief) -> str:
    metric, standing = rows[0].metric, _standing(rows, brief)
    if standing is None:
        barred = brief.marks.get(rows[0].entity)
        reason = rows[0].value.reason or (barred.meaning if barred else "")
        if any(row.value.value is not None for row in rows):
            return f"no {brief.label} has a number of {metric.title} that may be called the best: {reason}."
        who = f"{rows[0].entity} has no" if len(rows) == 1 else f"no {brief.label} has"
        return f"{who} {metric.title}: {reason}."
    best = next(row.value for row in rows if row.entity == standing.names[0])
    number = f"{metric.write(best.value)} {metric.write_interval(best.over())}".rstrip()
    most = "highest" if metric.better > 0 else "lowest"
    return f"{leads(standing, metric.title, number, f'{brief.label}s', most)}."


def _standing(rows: Sequence[Result], brief: Brief) -> Standing | None:
    values = {row.entity: row.value.value for row in rows if brief.may_be_best(row.entity)}

    def against_best(best: str, other: str) -> Comparison | None:
        test = brief.test(rows[0].metric.key, rows[0].where, other, best)  # the side whose correction knows of a choice
        return test.reversed() if test else None

    return standing(values, against_best, rows[0].metric.better or 1)


def _nobody_above_chance(rows: Sequence[Result], chance: Sequence[Comparison], brief: Brief) -> str:
    """Where numbers are AUROCs and none of them is shown to be above chance, nobody is called the best."""
    if rows[0].metric.key != AREA.key or not chance:
        return ""
    if any(test.better for test in chance if test.where == rows[0].where):
        return ""
    largest = max((row for row in rows if row.value.value is not None), key=lambda row: row.value.value)
    number = f"{AREA.write(largest.value.value)} {AREA.write_interval(largest.value.over())}".rstrip()
    return (
        f"no {brief.label} is shown to be above chance (AUROC 50; {counted(len(chance), 'test')}, corrected together); "
        f"the largest, {number}, is that of {largest.entity}."
    )


def _chance_tests(by_place: Places, brief: Brief) -> tuple[Comparison, ...]:
    """Return the tests of AUROCs against chance, as one family: a reader picks the best of all places."""
    # They are those that the run made, where it made some; else those that follow from the intervals.
    rows = [row for row in brief.results.where(metric=AREA.key) if row.entity and tuple(row.where.items()) in by_place]
    known = {(row.entity, tuple(row.where.items())) for row in rows}
    made = [
        test
        for test in brief.results.comparisons
        if test.other == CHANCE_NAME and (test.entity, tuple(test.where.items())) in known
    ]
    return tuple(made) or against_chance([row for row in rows if over_images(row.value)])


def _leader_of_many(by_place: Places, brief: Brief) -> str:
    """Of many places: how often the one that comes first most often does so, and how often that is shown."""
    every = [_standing(rows, brief) for rows in by_place.values()]
    metric = next(iter(by_place.values()))[0].metric
    wins: dict[str, int] = {}
    for leader in filter(None, every):
        for name in leader.names:
            wins[name] = wins.get(name, 0) + 1
    if not wins:
        return f"No {brief.label} has a number of {metric.title} in any of {len(by_place)} places."
    best = max(wins, key=wins.__getitem__)
    alone = sum(leader is not None and leader.alone and leader.names == (best,) for leader in every)
    return (
        f"{metric.title}: {first_in(every, best, f'of {len(by_place)} places')}, and is shown to be better than every "
        f"other {brief.label} in {none_or(alone)}."
    )


def _against_baseline(by_place: Places, brief: Brief, family: str = " in each place") -> Iterator[str]:
    """Who is shown to be better or worse than the baseline, by name in one place, by counts in several."""
    tests = []
    for rows in by_place.values():
        place = rows[0].metric.key, rows[0].where
        pairs = (brief.test(*place, row.entity, brief.baseline) for row in rows if row.entity != brief.baseline)
        tests.append([test for test in pairs if test is not None and test.p is not None])
    every = [test for part in tests for test in part]
    if not brief.baseline or len(every) < 2:
        return
    sides = {
        "better": [test for test in every if test.better],
        "worse": [test for test in every if test.worse],
        "equivalent": [test for test in every if not test.differs and test.equivalent],
    }
    sides["not significantly different"] = [test for test in every if not any(test in part for part in sides.values())]
    if len(by_place) == 1:
        parts = [f"{few([test.entity for test in part], f'{brief.label}s')} {'is' if len(part) == 1 else 'are'} {word}"
                 for word, part in sides.items() if part]  # fmt: skip
        yield f"Against {brief.baseline}, {listed(parts)} ({HOLM})."
    else:
        counts = [f"{len(part)} {'is' if len(part) == 1 else 'are'} {word}" for word, part in sides.items() if part]
        yield f"Against {brief.baseline}, of {len(every)} tests {listed(counts)} ({HOLM}{family})."


def _along(headline: str, chart: "Lines", by_place: Places, brief: Brief) -> Iterator[str]:
    """How the best entity fares from the first to the last place along a key, and who differs from the baseline."""
    rows = next(iter(by_place.values()))
    standing, along = _standing(rows, brief), chart.along
    if standing is None:
        return
    # Points of the chart beside the places of the verdict: curves of the best entity, and those of all by place.
    best, curves, places = standing.names[0], {}, {}
    for row in chart.rows_of(brief.results):
        place = tuple(row.where.items())
        if place not in by_place and row.metric.key == headline and row.entity and row.value.value is not None:
            places.setdefault(place, []).append(row)
            if row.entity == best:
                rest = tuple(pair for pair in place if not pair[0].startswith(along))
                curves.setdefault(rest, []).append(row)

    changes = []
    for points in (sorted(curve, key=lambda row: row.where[along]) for curve in curves.values() if len(curve) > 1):
        first, last = points[0], points[-1]
        ends = [f"{row.metric.write(row.value.value)} at {words_of(row, (along,))[0]}" for row in (first, last)]
        which = ", ".join(words_of(first, chart.per))
        changes.append(f"from {ends[0]} to {ends[1]}{f' ({which})' if which else ''}")
    if changes:
        yield f"{rows[0].metric.title} of {best} goes {listed(changes)}."
    for sentence in _against_baseline(places, brief, "") if len(places) > 1 else ():
        yield f"By {along.replace('_', ' ')}: {sentence[0].lower()}{sentence[1:]}"


def _evidence(by_place: Places, brief: Brief) -> str:
    """What the numbers rest on: images as the rows count them, else as the intervals do; and seeds."""
    rows = [row for own in by_place.values() for row in own]
    sides: dict[str, set[float]] = {}
    for row in brief.results.where(entity="", metric=METRICS["images"].key):
        place = {key: value for key, value in row.where.items() if key != "side"}
        if row.value.value and (not place or tuple(place.items()) in by_place):
            sides.setdefault(str(row.where.get("side", "")), set()).add(row.value.value)
    texts = [f"{span(counts)}{f' {side}' if side else ''} images" for side, counts in sides.items()]
    if not texts:
        counts: dict[str, set[int]] = {}
        for interval in (interval for row in rows for interval in row.value.intervals[:1]):
            if interval.n and interval.over != "seeds":
                counts.setdefault(interval.over, set()).add(interval.n)
        texts = [f"{span(numbers)} {kind}" for kind, numbers in sorted(counts.items())]
    seeds = max((len(row.seeds) for row in rows or brief.results), default=0)
    texts += [counted(seeds, "seed")] if seeds else []
    return f"This rests on {listed(texts)}." if texts else ""
