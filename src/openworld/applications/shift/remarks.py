"""What speaks against a measured shift: warnings of this run, and what the measure cannot see in any."""

from collections.abc import Iterator

import numpy as np

from openworld.applications.shift.image_decomposition import PICTURES
from openworld.applications.shift.shift_measurement import SURE
from openworld.applications.shift.summary import ComparedSets
from openworld.applications.shift.text_decomposition import EMBEDDED
from openworld.report.shift_axes import AXES

FEW = 50  # pictures below which numbers depend on which pictures these happen to be
FEW_NAMES = 100  # names below which what is learned about meaning is narrow


def warnings(compared: ComparedSets) -> Iterator[str]:
    """What is wrong with this run, in sentences without a full stop, the gravest first."""
    measured = compared.measured
    yield from _unsure(compared)
    if measured.shared:
        yield (
            f"{measured.shared:,} of the {len(measured.row):,} pictures are in the reference too (or look just like "
            "one of it); each was measured against the others, as if it were not there"
        )
    if measured.known < FEW:
        yield f"with {measured.known} reference pictures, degrees depend on which pictures these happen to be"
    if 1 < len(measured.row) < FEW:
        yield f"with {len(measured.row)} pictures, shares and medians depend on which pictures these happen to be"
    yield from _small_classes(compared)
    yield from _deeper(compared)
    if len(measured.row) >= FEW and not measured.grid.present.any():
        yield (
            f"no cell holds {measured.grid.least} pictures, so all are N/A in statistics: give more pictures, fewer "
            "--levels, or a smaller --least"
        )


def limits(compared: ComparedSets, clip) -> Iterator[str]:
    """What this measure cannot see, in sentences."""
    size = clip.config.image.image_size
    yield (
        f"Degrees are the judgement of {clip.name}, which looks at {size} x {size} pixels: what it does not see (fine "
        "texture, small things, what lies outside its crop) has no degree."
    )
    if clip.name.split(",")[0] == EMBEDDED:
        yield (
            "The embedded backbone knows emoji and nothing else, and was taught to name a thing however it is drawn. "
            "For photographs, or where looks matter, give another: --backbone ViT-B/16."
        )
    yield from _fitted(compared)
    yield (
        "Far is measured by the reference itself: the more alike its own pictures are, the sooner another "
        "is far. Degrees of another reference, backbone, LAID or --neighbour cannot be compared with these."
    )
    yield (
        "A far picture is not a mistake of your model, and a near one not a right answer: openworld estimate tells "
        "how accurate a model is on them, without labels."
    )


def _fitted(compared: ComparedSets) -> Iterator[str]:
    """How well meaning and looks could be told apart, and by what."""
    about = compared.about
    names, templates = about.get("labels"), about.get("templates", "?")
    if names is None:
        yield "Nothing is known about how meaning and looks were told apart; the file given with --laid does not say."
        return
    right = compared.right
    shares = " and ".join(f"{100 * right[half]:.0f} % for {word}" for half, word in AXES.items() if half in right)
    pictures = about.get("taught_by") == PICTURES
    by = (
        f"pictures of {names} things in {templates} looks"
        if pictures
        else f"{names} class names in {templates} sentences"
    )
    told = f"Meaning and looks were told apart by {by}"
    yield f"{told}; of those kept back, in the right order: {shares}." if shares else f"{told}."
    if pictures:
        drawn = ", ".join(about.get("looks", ())[1:])
        yield f"The looks were {drawn}; what is like none of these may count as meaning."
    if names < FEW_NAMES:
        more = "classes in the reference" if pictures else "things of this kind with --classnames"
        yield f"With so few, what counts as meaning is narrow: give {FEW_NAMES} or more {more}."


def _unsure(compared: ComparedSets) -> Iterator[str]:
    """Halves that do not do on new texts what they were fitted for."""
    for half, share in compared.right.items():
        if share < SURE:
            other = next(word for own, word in AXES.items() if own != half)
            yield (
                f"do not take {half} degrees at their word: of what was kept back to try it, the half for "
                f"{AXES[half]} puts {100 * share:.0f} % in the right order, so what is far in {other} moves them "
                "too; compare them within this run only, and look at the pictures"
            )


def _small_classes(compared: ComparedSets) -> Iterator[str]:
    """Reference classes too small for the neighbour to be of the same class."""
    reference, k = compared.reference, compared.measured.k
    if reference.named:
        sizes = np.bincount(reference.images.labels)
        typical = int(np.median(sizes[sizes > 0]))
        if typical <= k:
            yield (
                f"half of the reference's classes have {typical} pictures or fewer, so neighbour {k} lies in another "
                "class and a class that is known looks far: give more pictures of each, or a smaller --neighbour"
            )


def _deeper(compared: ComparedSets) -> Iterator[str]:
    """Sets whose folders are not classes."""
    for one in (compared.reference, *compared.tests):
        if one.deeper:
            yield (
                f"{one.name} holds pictures in folders at several depths, which are not taken for classes; to have "
                "concepts named, give the folder that holds the class folders"
            )
