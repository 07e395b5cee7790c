"""A measured shift in sentences: how far, which concepts and styles, what to do next, and what speaks against it."""

from collections.abc import Iterator, Mapping

import numpy as np

from openworld.applications.shift.decomposition import BY_IMAGES, EMBEDDED
from openworld.applications.shift.measurement import ComparedSets
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
    sure = "" if _is_sure(results, word) else f" (as far as {word} can be told here)"
    share = results.value(word, FAR.key).value
    if count == 1:
        amount = "far" if share else "near"
    else:
        amount = "mostly far" if share > MOSTLY else "partly far" if share >= SOME else "near"
    return f"{amount} in {word}{sure}"


def _how_far(results: Results) -> str:
    """Return the typical image, and in which halves the far ones are far."""
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
    """Return which groups are mostly far; "" without groups."""
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
    """Return whether a half does on new texts what it was fitted for, as far as that is known."""
    right = results.value(word, ORDERED.key).value
    return right is None or right >= SURE


def _written(results: Results, word: str, metric: Metric) -> str:
    return metric.write(results.value(word, metric.key).value)


def _ordinal(number: int) -> str:
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


FEW = 50  # images below which numbers depend on which images these happen to be
FEW_NAMES = 100  # names below which what is learned about meaning is narrow


def warnings(compared: ComparedSets) -> Iterator[str]:
    """Yield what is wrong with this run, in sentences without a full stop, the gravest first."""
    measured, reference, chance = compared.measured, compared.reference, "depend on which images these happen to be"
    count = len(measured.row)
    for half, other, share in unsure(compared.right):
        yield (
            f"do not take {half} degrees at their word: of what was kept back to try it, the half for "
            f"{AXES[half]} puts {100 * share:.0f} % in the right order, so what is far in {other} moves them "
            "too; compare them within this run only, and look at the images"
        )
    if measured.shared:
        yield (
            f"{measured.shared:,} of the {count:,} images are in the reference too (or look just like "
            "one of it); each was measured against the others, as if it were not there"
        )
    if measured.known < FEW:
        yield f"with {measured.known} reference images, degrees {chance}"
    if 1 < count < FEW:
        yield f"with {count} images, shares and medians {chance}"
    if reference.named:
        sizes = np.bincount(reference.images.labels)
        typical = int(np.median(sizes[sizes > 0]))
        if typical <= measured.k:
            yield (
                f"half of the reference's classes have {typical} images or fewer, so neighbour {measured.k} lies in "
                "another class and a known class seems far: give more images of each, or a smaller --neighbour"
            )
    for collection in (reference, *compared.tests):
        if collection.deeper:
            yield (
                f"{collection.name} holds images in folders at several depths, which are not taken for classes; to "
                "have concepts named, give the folder that holds the class folders"
            )
    if count >= FEW and not measured.grid.present.any():
        yield (
            f"no cell holds {measured.grid.least} images, so all are N/A in statistics: give more images, fewer "
            "--levels, or a smaller --least"
        )


def unsure(right: Mapping[str, float]) -> Iterator[tuple[str, str, float]]:
    """Yield (half, word of the other, share in order) of halves that fail on texts that were kept back."""
    for half, share in right.items():
        if share < SURE:
            yield half, next(word for own, word in AXES.items() if own != half), share


def limits(compared: ComparedSets, clip) -> Iterator[str]:
    """Yield what this measure cannot see."""
    size = clip.config.image.image_size
    looks = f", which looks at {size} x {size} pixels" if size > 1 else ""
    yield (
        f"Degrees are the judgement of {clip.name}{looks}: what it does not see (fine texture, small things, what lies "
        "outside its crop) has no degree."
    )
    if clip.name.split(",")[0] == EMBEDDED:
        yield (
            "The embedded backbone knows emoji and nothing else, and was taught to name a thing however it is drawn. "
            "For photographs, or where appearance matters, give another: --backbone ViT-B/16."
        )
    yield from _fitted(compared)
    yield (
        "Far is measured by the reference itself: the more alike its own images are, the sooner another "
        "is far. Degrees of another reference, backbone, LAID or --neighbour cannot be compared with these."
    )
    yield (
        "A far image is not a mistake of your model, and a near one not a right answer: openworld estimate tells "
        "how accurate a model is on them, without labels."
    )


def _fitted(compared: ComparedSets) -> Iterator[str]:
    """Yield how well meaning and appearance could be told apart, and by what."""
    about, both = compared.about, " and ".join(AXES.values())
    names, templates = about.get("labels"), about.get("templates", "?")
    if names is None:
        yield f"Nothing is known about how {both} were told apart; the file given with --laid does not say."
        return
    by_images = about.get("taught_by") == BY_IMAGES
    every = about.get("names_there") or names
    count = f"{names:,} of {every:,}" if every > names else f"{names:,}"
    by = f"images of {count} things in {templates} appearances"
    by = by if by_images else f"{count} class names in {templates} sentences"
    shares = [f"{100 * compared.right[half]:.0f} % for {word}" for half, word in AXES.items() if half in compared.right]
    order = f"; of those kept back, in the right order: {' and '.join(shares)}" if shares else ""
    yield f"{both.capitalize()} were told apart by {by}{order}."
    if every > names:
        yield "The others were left out by a draw; --most-names 0 learns from all."
    if by_images:
        drawn = ", ".join(about.get("looks", ())[1:])
        yield f"The appearances were {drawn}; what is like none of these may count as meaning."
    if taught := compared.measured.taught:
        yield (
            f"Of the {compared.measured.known:,} reference images {taught:,} taught this, which pulls them apart: "
            "what is usual was measured on the others."
        )
    if names < FEW_NAMES:
        more = "classes in the reference" if by_images else "things of this kind with --classnames"
        yield f"With so few, what counts as meaning is narrow: give {FEW_NAMES} or more {more}."
