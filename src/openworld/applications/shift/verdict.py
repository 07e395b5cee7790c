"""A measured shift in sentences: how far, in which half, which concepts and styles, and what to do next."""

from collections.abc import Iterator

from openworld.applications.shift.results import (
    BOTH,
    CONCEPT,
    FAR,
    IMAGES,
    MEDIAN,
    NEITHER,
    ORDERED,
    ORDERED_BY,
    OWN_MEDIAN,
    STYLE,
    SURE,
    USUAL,
)
from openworld.applications.shift.summary import ComparedSets
from openworld.report.sentences import few, listed
from openworld.report.shift_axes import AXES
from openworld.results import Metric, Results, standing

NAMED = 3  # groups named in a sentence
MOSTLY = 0.5  # share of far images from which they are called mostly far
SOME = 0.1  # and partly far: twice what would be usual
MEANING, APPEARANCE = AXES.values()


def sentences(results: Results, compared: ComparedSets) -> tuple[str, ...]:
    """Return the answer, how far, which concepts and styles, what to do next; last, what the numbers are."""
    measured = compared.measured
    bounds = listed([f"{_written(results, word, USUAL)} in {word}" for word in AXES.values()])
    every = (
        headline(results, compared),
        _how_far(results) if len(measured.row) > 1 else "",
        _far_groups(results, CONCEPT),
        _far_groups(results, STYLE),
        " ".join(_next(results)),
        f"A degree is the cosine distance to the {_ordinal(measured.k)} nearest of {measured.known:,} reference "
        f"images, in the half of the features ({compared.backbone}) that tells of meaning, or of appearance. Far: "
        f"above what 95 % of the reference's own images keep from the others, {bounds}.",
    )
    return tuple(filter(None, every))


def headline(results: Results, compared: ComparedSets) -> str:
    """The answer in a sentence."""
    count, words = len(compared.measured.row), AXES.values()
    answers = " and ".join(_answer(results, word, count) for word in words)
    first = f"{answers[0].upper()}{answers[1:]}"
    if count == 1:
        degrees = " and ".join(f"{_written(results, word, MEDIAN)} in {word}" for word in words)
        usual = " and ".join(_written(results, word, USUAL) for word in words)
        return f"{first}: the image lies {degrees} from the reference, of whose own 95 % stay below {usual}."
    shares = " and ".join(f"{_written(results, word, FAR)} % in {word}" for word in words)
    return (
        f"{first}: of {count:,} images, {shares} are farther from the reference than 95 % of its own are from one "
        "another (about 5 % would be usual)."
    )


def _answer(results: Results, word: str, count: int) -> str:
    """How far in one half, in words."""
    sure = "" if _is_sure(results, word) else f" (as far as {word} can be told here)"
    share = results.value(word, FAR.key).value
    if count == 1:
        amount = "far" if share else "near"
    else:
        amount = "mostly far" if share > MOSTLY else "partly far" if share >= SOME else "near"
    return f"{amount} in {word}{sure}"


def _how_far(results: Results) -> str:
    """The typical image, and in which halves the far ones are far."""
    typical = " and ".join(
        f"{_written(results, word, MEDIAN)} in {word} (one of the reference: {_written(results, word, OWN_MEDIAN)})"
        for word in AXES.values()
    )
    counts = {kind: f"{results.value('', IMAGES.key, far_in=kind).value:,}" for kind in results.places("far_in")}
    alone = "; ".join(f"in {word} alone: {counts[f'{word} alone']}" for word in AXES.values())
    return (
        f"The typical image lies {typical} away. Far in both: {counts[BOTH]} images; {alone}; in neither: "
        f"{counts[NEITHER]}."
    )


def _next(results: Results) -> Iterator[str]:
    """What to do about it."""
    meaning, appearance = (results.value(word, FAR.key).value >= SOME for word in AXES.values())
    if meaning:
        yield (
            "Next, look at what is far in meaning: where it is something that the reference does not hold, label some "
            "and add it, or let a detector flag it (openworld list detectors)."
        )
    if appearance and _is_sure(results, APPEARANCE):
        yield (
            "Where known things change their appearance, measure the accuracy on them without labels (openworld "
            "estimate), and add such images to the training."
        )
    for word in (APPEARANCE, MEANING):
        if not _is_sure(results, word):
            yield f"Judge {word} by eye, or with another backbone."
    if not (meaning or appearance):
        yield (
            "To the backbone these are images like the reference's own: if a model does worse on them, look "
            "elsewhere (labels, shares of classes, details too fine for this backbone)."
        )


def _far_groups(results: Results, kind: str) -> str:
    """Which groups are mostly far, in a sentence; "" without groups."""
    word = ORDERED_BY[kind]
    share = {row.where["name"]: row.value.value for row in results.where(entity=word, metric=FAR.key, group=kind)}
    far, where = [name for name in share if share[name] > MOSTLY], f"mostly far in {word}"
    if not share:
        return ""
    if len(share) == 1:
        return f"The only {kind}, {next(iter(share))}, is {'' if far else 'not '}{where}."
    if not far:
        if not max(share.values()):
            return f"None of the {len(share)} {kind}s has an image that is far in {word}."
        first = standing(share).names
        alone = len(first) == 1
        comes = f"{first[0]} comes nearest, with" if alone else f"{few(first, f'{kind}s')} come nearest, each with"
        return f"None of the {len(share)} {kind}s is {where}; {comes} {FAR.write(max(share.values()))} % of its images."
    degrees = {name: results.value(word, MEDIAN.key, group=kind, name=name).value for name in far[:NAMED]}
    names = listed([f"{name} ({MEDIAN.write(degree)})" for name, degree in degrees.items()])
    first = "first of all " if len(far) > NAMED else ""
    return f"{len(far)} of {len(share)} {kind}s {'is' if len(far) == 1 else 'are'} {where}: {first}{names}."


def _is_sure(results: Results, word: str) -> bool:
    """Whether a half does on new texts what it was fitted for, as far as that is known."""
    right = results.value(word, ORDERED.key).value
    return right is None or right >= SURE


def _written(results: Results, word: str, metric: Metric) -> str:
    return metric.write(results.value(word, metric.key).value)


def _ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, ..., 11th.

    >>> [_ordinal(number) for number in (1, 2, 3, 10, 11, 21)]
    ['1st', '2nd', '3rd', '10th', '11th', '21st']
    """
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
