"""A measured shift in sentences: how far, in which half, which concepts and styles, and what to do next."""

from collections.abc import Iterator

from openworld.applications.shift.results import FAR, GROUPS, MEDIAN
from openworld.applications.shift.shift_measurement import ImageGroup, ShiftAxis, ShiftMeasurement
from openworld.report.sentences import few, listed
from openworld.report.shift_axes import AXES
from openworld.results import standing

NAMED = 3  # groups named in a sentence
MOSTLY = 0.5  # share of far images from which they are called mostly far
SOME = 0.1  # and partly far: twice what would be usual
ORDERED_BY = {"concepts": "semantic", "looks": "covariate"}
"""Groups -> the half that orders them."""


def shift_sentences(measurement: ShiftMeasurement) -> list[str]:
    """The answer, how far, which concepts and styles, what to do next; last, what the numbers are."""
    bounds = listed([f"{MEDIAN.write(measurement.axes[half].usual)} in {word}" for half, word in AXES.items()])
    sentences = [
        headline(measurement),
        _how_far(measurement),
        *(_far_groups(measurement, groups) for groups in ORDERED_BY),
        " ".join(_next(measurement)),
        f"A degree is the cosine distance to the {_ordinal(measurement.k)} nearest of {measurement.reference.n:,} "
        f"reference images, in the half of the features ({measurement.backbone}) that tells of meaning, or of "
        f"appearance. Far: above what 95 % of the reference's own images keep from the others, {bounds}.",
    ]
    return [sentence for sentence in sentences if sentence]


def headline(measurement: ShiftMeasurement) -> str:
    """The answer in a sentence."""
    axes = {word: measurement.axes[half] for half, word in AXES.items()}
    words = " and ".join(_answer(axis, word, measurement.n) for word, axis in axes.items())
    first = f"{words[0].upper()}{words[1:]}"
    if measurement.n == 1:
        degrees = " and ".join(f"{MEDIAN.write(axis.median)} in {word}" for word, axis in axes.items())
        usual = " and ".join(MEDIAN.write(axis.usual) for axis in axes.values())
        return f"{first}: the image lies {degrees} from the reference, of whose own 95 % stay below {usual}."
    shares = " and ".join(f"{FAR.write(axis.beyond)} % in {word}" for word, axis in axes.items())
    return (
        f"{first}: of {measurement.n:,} images, {shares} are farther from the reference than 95 % of its own are from "
        "one another (about 5 % would be usual)."
    )


def _answer(axis: ShiftAxis, word: str, count: int) -> str:
    """How far in one half, in words."""
    sure = "" if axis.sure else f" (as far as {word} can be told here)"
    if count == 1:
        amount = "far" if axis.beyond else "near"
    else:
        amount = "mostly far" if axis.beyond > MOSTLY else "partly far" if axis.beyond >= SOME else "near"
    return f"{amount} in {word}{sure}"


def _how_far(measurement: ShiftMeasurement) -> str:
    """The typical image, and in which halves the far ones are far; "" for a single image."""
    if measurement.n == 1:
        return ""
    typical = " and ".join(
        f"{MEDIAN.write(axis.median)} in {AXES[half]} (one of the reference: {MEDIAN.write(axis.own_median)})"
        for half, axis in measurement.axes.items()
    )
    alone = "; ".join(f"in {word} alone: {measurement.far[half]:,}" for half, word in AXES.items())
    return (
        f"The typical image lies {typical} away. Far in both: {measurement.far['both']:,} images; {alone}; in neither: "
        f"{measurement.far['neither']:,}."
    )


def _next(measurement: ShiftMeasurement) -> Iterator[str]:
    """What to do about it."""
    meaning, appearance = (measurement.axes[half].beyond >= SOME for half in AXES)
    if meaning:
        yield (
            "Next, look at what is far in meaning: where it is something that the reference does not hold, label some "
            "and add it, or let a detector flag it (openworld list detectors)."
        )
    if appearance and measurement.axes["covariate"].sure:
        yield (
            "Where known things change their appearance, measure the accuracy on them without labels (openworld "
            "estimate), and add such images to the training."
        )
    for half in ("covariate", "semantic"):
        if not measurement.axes[half].sure:
            yield f"Judge {AXES[half]} by eye, or with another backbone."
    if not (meaning or appearance):
        yield (
            "To the backbone these are images like the reference's own: if a model does worse on them, look "
            "elsewhere (labels, shares of classes, details too fine for this backbone)."
        )


def ranked(groups: tuple[ImageGroup, ...], half: str) -> list[ImageGroup]:
    """The groups by their median degree in one half, the farthest first."""
    return sorted(groups, key=lambda group: (-getattr(group, half), group.name))


def _far_groups(measurement: ShiftMeasurement, name: str) -> str:
    """Which groups are mostly far, in a sentence; "" without groups."""
    kind, half = GROUPS[name], ORDERED_BY[name]
    order, where = ranked(getattr(measurement, name), half), f"mostly far in {AXES[half]}"
    share = {group: getattr(group, f"{half}_beyond") for group in order}
    far = [group for group in order if share[group] > MOSTLY]
    if not order:
        return ""
    if len(order) == 1:
        return f"The only {kind}, {order[0].name}, is {'' if far else 'not '}{where}."
    if not far:
        first = standing({group.name: share[group] for group in order}).names
        if not max(share.values()):
            return f"None of the {len(order)} {kind}s has an image that is far in {AXES[half]}."
        comes = (
            f"{first[0]} comes nearest, with"
            if len(first) == 1
            else f"{few(first, f'{kind}s')} come nearest, each with"
        )
        return f"None of the {len(order)} {kind}s is {where}; {comes} {FAR.write(max(share.values()))} % of its images."
    names = listed([f"{group.name} ({MEDIAN.write(getattr(group, half))})" for group in far[:NAMED]])
    verb, first = "is" if len(far) == 1 else "are", "first of all " * (len(far) > NAMED)
    return f"{len(far)} of {len(order)} {kind}s {verb} {where}: {first}{names}."


def _ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, ..., 11th.

    >>> [_ordinal(number) for number in (1, 2, 3, 10, 11, 21)]
    ['1st', '2nd', '3rd', '10th', '11th', '21st']
    """
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
