"""A measured shift in sentences: how far, in which half, which concepts and appearances, and what to do next."""

from collections.abc import Iterator

from openworld.applications.shift.shift_measurement import ImageGroup, ShiftAxis, ShiftMeasurement
from openworld.report.sentences import listed
from openworld.report.shift_axes import AXES
from openworld.report.text import percent

NAMED = 3  # groups named in a sentence
FAR = 0.5  # share of far pictures from which they are called mostly far
SOME = 0.1  # and partly far: twice what would be usual


def shift_sentences(found: ShiftMeasurement) -> list[str]:
    """The answer, how far, which concepts and looks, what to do next; last, what the numbers are."""
    told = [
        headline(found),
        *_how_far(found),
        _far(found.concepts, "semantic", "concept"),
        _far(found.looks, "covariate", "look"),
        " ".join(_next(found)),
        f"A degree is the cosine distance to the {_ordinal(found.k)} nearest of {found.reference.n:,} reference "
        f"pictures, in the half of the features ({found.backbone}) that tells of meaning, or of looks. Far: above what "
        f"95 % of the reference's own pictures keep from the others, {found.axes['semantic'].usual:.3f} in meaning and "
        f"{found.axes['covariate'].usual:.3f} in looks.",
    ]
    return [sentence for sentence in told if sentence]


def headline(found: ShiftMeasurement) -> str:
    """The answer in a sentence."""
    axes = [(found.axes[half], word) for half, word in AXES.items()]
    words = " and ".join(_answer(axis, word, found.n) for axis, word in axes)
    first = f"{words[0].upper()}{words[1:]}"
    if found.n == 1:
        degrees = " and ".join(f"{axis.median:.3f} in {word}" for axis, word in axes)
        usual = " and ".join(f"{axis.usual:.3f}" for axis, _ in axes)
        return f"{first}: the picture lies {degrees} from the reference, of whose own 95 % stay below {usual}."
    shares = " and ".join(f"{percent(axis.beyond)} % in {word}" for axis, word in axes)
    return (
        f"{first}: of {found.n:,} pictures, {shares} are farther from the reference than 95 % of its own are from "
        "one another (about 5 % would be usual)."
    )


def _answer(axis: ShiftAxis, word: str, count: int) -> str:
    """How far in one half, in words."""
    sure = "" if axis.sure else f" (as far as {word} can be told here)"
    if count == 1:
        return f"{'far' if axis.beyond else 'near'} in {word}{sure}"
    return f"{'mostly far' if axis.beyond > FAR else 'partly far' if axis.beyond >= SOME else 'near'} in {word}{sure}"


def _how_far(found: ShiftMeasurement) -> Iterator[str]:
    """The typical picture, and in which halves the far ones are far."""
    if found.n > 1:
        typical = " and ".join(
            f"{axis.median:.3f} in {AXES[half]} (one of the reference: {axis.own_median:.3f})"
            for half, axis in found.axes.items()
        )
        far = found.far
        yield (
            f"The typical picture lies {typical} away. Far in both: {far['both']:,} pictures; in meaning alone: "
            f"{far['semantic']:,}; in looks alone: {far['covariate']:,}; in neither: {far['neither']:,}."
        )


def _next(found: ShiftMeasurement) -> Iterator[str]:
    """What to do about it."""
    meaning, looks = (found.axes[half].beyond >= SOME for half in AXES)
    sure = found.axes["covariate"].sure
    if meaning:
        yield (
            "Next, look at what is far in meaning: where it is something that the reference does not hold, label some "
            "and add it, or let a detector flag it (openworld list detectors)."
        )
    if looks and sure:
        yield (
            "Where known things look otherwise, measure the accuracy on them without labels (openworld estimate), and "
            "add such pictures to the training."
        )
    if not sure:
        yield "Judge looks by eye, or with another backbone."
    if not found.axes["semantic"].sure:
        yield "Judge meaning by eye, or with another backbone."
    if not (meaning or looks):
        yield (
            "To the backbone these are pictures like the reference's own: if a model does worse on them, look "
            "elsewhere (labels, shares of classes, details too fine for this backbone)."
        )


def ranked(groups: tuple[ImageGroup, ...], half: str) -> list[ImageGroup]:
    """The groups by their median degree in one half, the farthest first."""
    return sorted(groups, key=lambda one: (-getattr(one, half), one.name))


def _far(groups: tuple[ImageGroup, ...], half: str, word: str) -> str:
    """Which groups are mostly far, in a sentence; "" without groups."""
    order = ranked(groups, half)
    far = [one for one in order if getattr(one, f"{half}_beyond") > FAR]
    where = f"mostly far in {AXES[half]}"
    if not groups:
        return ""
    if len(groups) == 1:
        return f"The one {word}, {order[0].name}, is {'' if far else 'not '}{where}."
    if not far:
        first = max(order, key=lambda one: getattr(one, f"{half}_beyond"))
        share = percent(getattr(first, f"{half}_beyond"))
        return (
            f"None of the {len(groups)} {word}s is {where}; {first.name} comes nearest, with {share} % of its pictures."
        )
    names = listed([f"{one.name} ({getattr(one, half):.3f})" for one in far[:NAMED]])
    verb, first = ("is", "") if len(far) == 1 else ("are", "" if len(far) <= NAMED else "first of all ")
    return f"{len(far)} of {len(groups)} {word}s {verb} {where}: {first}{names}."


def _ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, ..., 11th.

    >>> [_ordinal(number) for number in (1, 2, 3, 10, 11, 21)]
    ['1st', '2nd', '3rd', '10th', '11th', '21st']
    """
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
