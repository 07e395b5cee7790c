"""What speaks against a measured shift: warnings of this run, and what the measure cannot see in any."""

from collections.abc import Iterator, Mapping

import numpy as np

from openworld.applications.shift.decomposition import EMBEDDED, IMAGES
from openworld.applications.shift.results import SURE
from openworld.applications.shift.summary import ComparedSets
from openworld.report.shift_axes import AXES

FEW = 50  # images below which numbers depend on which images these happen to be
FEW_NAMES = 100  # names below which what is learned about meaning is narrow


def warnings(compared: ComparedSets) -> Iterator[str]:
    """What is wrong with this run, in sentences without a full stop, the gravest first."""
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
    """Halves that do not do on new texts what they were fitted for: (half, word of the other, share in order)."""
    for half, share in right.items():
        if share < SURE:
            yield half, next(word for own, word in AXES.items() if own != half), share


def limits(compared: ComparedSets, clip) -> Iterator[str]:
    """What this measure cannot see, in sentences."""
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
    """How well meaning and appearance could be told apart, and by what."""
    about, both = compared.about, " and ".join(AXES.values())
    names, templates = about.get("labels"), about.get("templates", "?")
    if names is None:
        yield f"Nothing is known about how {both} were told apart; the file given with --laid does not say."
        return
    by_images = about.get("taught_by") == IMAGES
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
