"""A measured shift in sentences: how far, what to do next, and what speaks against it."""

from collections.abc import Iterator, Mapping

import numpy as np

from openworld.own_data.shift.decomposition import BY_IMAGES, EMBEDDED
from openworld.own_data.shift.measurement import FAR, MEDIAN, ORDERED, SURE, USUAL, ImageDegrees
from openworld.report.shift_axes import AXES
from openworld.results import Metric, Results

MOSTLY = 0.5  # share of far images from which they are called mostly far
SOME = 0.1  # and partly far: twice what would be usual
FEW = 50  # images below which numbers depend on which images these happen to be
FEW_NAMES = 100  # names below which what is learned about meaning is narrow
MEANING, APPEARANCE = AXES.values()


def sentences(results: Results, measured: ImageDegrees) -> tuple[str, ...]:
    """Return the answer, and what to do next."""
    return headline(results, measured), " ".join(_next(results))


def headline(results: Results, measured: ImageDegrees) -> str:
    """Return whether images are far in meaning and in appearance, and how many of them are."""
    count = len(measured.row)
    answers = []
    for word in AXES.values():
        share = results.value(word, FAR.key).value or 0.0
        amount = "mostly far" if share > MOSTLY else "partly far" if share >= SOME else "near"
        amount = amount.split()[-1] if count == 1 else amount
        sure = "" if _is_sure(results, word) else f" (as far as {word} can be measured here)"
        answers.append(f"{amount} in {word}{sure}")
    first = " and ".join(answers)
    first = f"{first[0].upper()}{first[1:]}"
    if count == 1:
        usual = " and ".join(_written(results, word, USUAL) for word in AXES.values())
        degrees = _both(results, MEDIAN)
        return f"{first}: the image lies {degrees} from the reference, of whose own 95 % stay below {usual}."
    return (
        f"{first}: of {count:,} images, {_both(results, FAR, ' %')} are farther from the reference than 95 % of its "
        "own are from one another (about 5 % would be usual)."
    )


def _next(results: Results) -> Iterator[str]:
    meaning, appearance = ((results.value(word, FAR.key).value or 0.0) >= SOME for word in AXES.values())
    if meaning:
        yield (
            "Next, look at what is far in meaning: label some and add it where the reference does not hold it, or let "
            "a detector flag it (openworld list detectors)."
        )
    if appearance and _is_sure(results, APPEARANCE):
        yield (
            "Where appearance changes, measure the accuracy without labels (openworld estimate), and train on such "
            "images."
        )
    for word in (APPEARANCE, MEANING):
        if not _is_sure(results, word):
            yield f"Judge {word} by eye, or with another backbone."
    if not (meaning or appearance):
        yield (
            "These images are like the reference; if a model does worse on them, look elsewhere (labels, shares of "
            "classes, details too fine for this backbone)."
        )


def _is_sure(results: Results, word: str) -> bool:
    """Return whether a half does on new texts what it was fitted for, as far as that is known."""
    right = results.value(word, ORDERED.key).value
    return right is None or right >= SURE


def _both(results: Results, metric: Metric, unit: str = "") -> str:
    return " and ".join(f"{_written(results, word, metric)}{unit} in {word}" for word in AXES.values())


def _written(results: Results, word: str, metric: Metric) -> str:
    return metric.write(results.value(word, metric.key).value)


def warnings(measured: ImageDegrees) -> Iterator[str]:
    """Yield what is wrong with this run, in sentences without a full stop, the gravest first."""
    reference, chance = measured.reference, "depend on which images these happen to be"
    count = len(measured.row)
    for half, other, share in unsure(measured.right):
        yield (
            f"do not take {half} degrees at their word: of what was held out to try it, the half for {AXES[half]} puts "
            f"{100 * share:.0f} % in the right order, so what is far in {other} moves them too; compare them within "
            "this run only, and look at the images"
        )
    if measured.shared:
        yield (
            f"{measured.shared:,} of the {count:,} images are in the reference too (or look just like one of it); each "
            "was measured against the others, as if it were not there"
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
    for collection in (reference, *measured.tests):
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
    """Yield (half, word of the other, share in order) of halves that fail on texts that were held out."""
    for half, share in right.items():
        if share < SURE:
            yield half, next(word for axis, word in AXES.items() if axis != half), share


def limits(measured: ImageDegrees, clip) -> Iterator[str]:
    """Yield what this measure cannot see."""
    size = clip.config.image.image_size
    looks = f", which looks at {size} x {size} pixels" if size > 1 else ""
    yield f"Degrees are the judgement of {clip.name}{looks}: what it does not see has no degree."
    if clip.name.split(",")[0] == EMBEDDED:
        yield (
            "The embedded backbone knows emoji and nothing else, and was taught to name a thing however it is drawn. "
            "For photographs, or where appearance matters, give another: --backbone ViT-B/16."
        )
    about = measured.about
    names, templates = about.get("labels"), about.get("templates", "?")
    if names is None:
        yield "How meaning and appearance were separated is not known: the file given with --laid does not say."
    else:
        by_images, every = about.get("taught_by") == BY_IMAGES, about.get("names_there") or names
        count = f"{names:,} of {every:,}" if every > names else f"{names:,}"
        by = f"images of {count} things in {templates} appearances ({', '.join(about.get('looks', ())[1:])})"
        by = by if by_images else f"{count} class names in {templates} sentences"
        drawn = ", drawn (--most-names 0 takes all)" if every > names else ""
        narrow = f"; with fewer than {FEW_NAMES} what counts as meaning is narrow" if names < FEW_NAMES else ""
        yield f"Meaning and appearance were separated by {by}{drawn}{narrow}."
    if taught := measured.taught:
        yield (
            f"Of the {measured.known:,} reference images {taught:,} taught this, which pulls them apart: "
            "what is usual was measured on the others."
        )
    yield (
        "Far is measured by the reference itself: the more alike its own images are, the sooner another is far. "
        "Degrees of another reference, backbone, LAID or --neighbour cannot be measured with these."
    )
    yield (
        "A far image is not a mistake of your model, and a near one not a right answer: openworld estimate "
        "estimates how accurate a model is on them, without labels."
    )
