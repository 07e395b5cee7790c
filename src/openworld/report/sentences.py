"""Pieces of sentences that several reports share, and numbers in them, written as the columns of tables write them."""

from collections.abc import Collection, Iterable, Sequence

from openworld.results import METRICS, SIGNIFICANCE, Comparison, Metric, Standing

HOLM = f"Holm, {100 * SIGNIFICANCE:.0f}\u00a0%"  # how p-values are corrected, and what counts as significant
percent = Metric("share", "share").write  # a fraction in [0, 1] as percent with one decimal: 0.4696 is 47.0

signed = Metric("difference", "difference", "points").write
"""A difference of fractions in points, with its sign: 0.109 is +10.9."""

seconds = METRICS["fit_seconds"].write  # a duration for people: 19 s, 5.7 min


def listed(names: Sequence[str]) -> str:
    """Names as prose.

    >>> listed(["CoOp", "KgCoOp", "GMoP"])
    'CoOp, KgCoOp and GMoP'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def few(names: Sequence[str], noun: str = "others", most: int = 4) -> str:
    """Names as prose, or how many there are; empty where there is none.

    >>> few(["CoOp"], "learners"), few("abcde", "learners")
    ('CoOp', '5 learners')
    """
    return (listed(names) if len(names) <= most else f"{len(names)} {noun}") if names else ""


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "seed"), counted(1200, "image")
    ('1 seed', '1,200 images')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def leads(found: Standing, what: str, number: str, noun: str = "others", most: str = "highest") -> str:
    """Who has the best number, and over whom that is shown; as much of a sentence as there is, without a full stop.

    >>> leads(Standing(("GMoP", "CoOp")), "AUROC", "81.0")
    'GMoP and CoOp share the highest AUROC, 81.0, the same to the last digit'
    >>> leads(Standing(("GMoP",), ("CoOp",)), "AUROC", "81.0")
    'GMoP has the highest AUROC, 81.0, but no difference from CoOp is tested'
    """
    count, several = len(found.others), len(found.names) > 1
    if not several and not count:
        none = f"{few(found.without, noun)} {'has' if len(found.without) == 1 else 'have'} none"
        beside = none if found.without else "nothing is there to compare it with"
        return f"{what} of {found.names[0]} is {number}; {beside}"
    if several:
        lead = f"{few(found.names, noun)} share the {most} {what}, {number}, the same to the last digit"
    else:
        lead = f"{found.names[0]} has the {most} {what}, {number}"
    if not count:
        return lead
    tests = sorted((test for test in found.tests if test.p is not None), key=lambda test: test.p or 0.0)
    it_is, verb = ("they are", "are") if several else ("it is", "is")
    if not tests:
        reasons = listed(sorted({test.reason for test in found.tests if test.reason}))
        named = found.others[0] if count == 1 else f"the {count} others"
        return f"{lead}, but no difference from {named} is tested{f' ({reasons})' if reasons else ''}"
    if len(found.beaten) == count:
        named = found.others[0] if count == 1 else "both others" if count == 2 else f"all {count} others"
        return f"{lead}, and {verb} better than {named} ({_p_over(tests[-1])})"
    if not found.beaten:
        named = found.others[0] if count == 1 else "either other" if count == 2 else f"any of the {count} others"
        return f"{lead}, but {it_is} not shown to differ from {named} ({_p_over(tests[0])})"
    level = {name: "" for name in found.others if name not in found.beaten}
    level |= {test.other: f" ({_p_over(test)})" for test in tests if test.other in level}
    open_tests = few([f"{name}{p}" for name, p in level.items()], noun)
    return f"{lead}; {it_is} better than {few(found.beaten, noun)}, but no difference is shown from {open_tests}"


def _p_over(test: Comparison) -> str:
    """A p-value, and where it is of the few seeds that were run, not of the images, that."""
    over_seeds = test.interval is not None and test.interval.over == "seeds"
    return f"{test.p_text}, over seeds" if over_seeds else test.p_text


def first_in(each: Sequence[Standing | None], name: str, of: str) -> str:
    """In how many of several a name comes first: alone, and beside others.

    >>> first_in([Standing(("GMoP",), ("CoOp",)), Standing(("GMoP", "CoOp"))], "GMoP", "of them")
    'GMoP comes first in 1 and shares the first place in 1 of them'
    """
    first = [found for found in each if found is not None and name in found.names]
    shared = sum(len(found.names) > 1 for found in first)
    beside = f" and shares the first place in {shared}" if shared else ""
    return f"{name} comes first in {none_or(len(first) - shared)}{beside} {of}"


def below_chance(tests: Iterable[Comparison], inside: str, named: int = 4) -> str:
    """A question where AUROCs are shown to be below chance; "" where none is."""
    below: dict[str, list[str]] = {}
    for test in tests:
        if test.worse:
            below.setdefault(test.entity, []).append(test.metric.write(0.5 + (test.difference or 0.0)))
    if not below:
        return ""
    who = listed([f"{name} ({', '.join(areas)})" for name, areas in list(below.items())[:named]])
    more = f" and {len(below) - named} more" if len(below) > named else ""
    verb = "is" if len(below) == 1 else "are"
    return (
        f"{who}{more} {verb} below chance (AUROC 50): are the scores the right way round? A larger score must mean "
        f"{inside}."
    )


def none_or(count: int) -> str:
    return f"{count:,}" if count else "none"


def span(values: Collection[float]) -> str:
    """The range of some counts, or the count that all of them are.

    >>> span([3, 3]), span([900, 1200])
    ('3', '900 to 1,200')
    """
    low, high = min(values), max(values)
    return f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"


def bracketed(interval: tuple[float, float] | None) -> str:
    """Return an interval of fractions in percent, such as "[43.9 50.1]"; "" where there is none."""
    return "" if interval is None else f"[{percent(interval[0])} {percent(interval[1])}]"
