"""Is a data set of `shifted` whole? Its files are read as a run would read them."""

from itertools import product
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.datasets.published.corrupted_files import CONDITIONS, NAMES
from openworld.datasets.published.inspection import Inspection, missing_folder, unreadable_images
from openworld.datasets.published.shifted import SHIFTED, load
from openworld.datasets.published.shifted_set import ShiftedSet


def check_shifted(name: str, card: ShiftedSet, root: Path, decoded: bool) -> Inspection:
    """A data set of `shifted` is whole if every part can be read and holds as many pictures as published."""
    folder, pictures, classes = card.place(root), {}, None
    wrong = list(missing_folder(folder, root))
    if wrong:
        return Inspection(name, str(folder), None, {}, tuple(wrong), (), card.sources)
    faults: dict[str, list[str]] = {}
    domains = card.alike or card.domains[:1]
    for domain, (part, expected) in product(domains, card.pictures.items()):
        where = f"{domain if card.alike else ''} {part}".strip()
        try:
            images = load(name, root=root, domain=domain, part=part)
        except OpenworldError as error:
            faults.setdefault(str(error), []).append(where)
            continue
        pictures[where], classes = len(images), len(images.classnames)
        if expected not in (None, len(images)):
            fault = f"{len(images):,} images are there, expected {expected:,}; get the files again."
            faults.setdefault(fault, []).append(where)
        for fault in unreadable_images(images.image, len(images)) if decoded else ():
            faults.setdefault(fault, []).append(where)
    wrong = []
    for fault, places in faults.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        wrong.append(f"{places[0]}{more}: {fault}")
    if classes not in (None, card.classes):
        wrong.append(f"{classes} classes, expected {card.classes}; get the files again.")
    return Inspection(name, str(folder), classes, pictures, tuple(wrong), (), card.sources)


def is_there(name: str, root: Path) -> bool:
    """Return whether the folder of a data set is there."""
    return SHIFTED[name].place(root).is_dir()


def lacking_corruptions(name: str, root: Path) -> tuple[str, ...]:
    """Return the published corruptions that a folder lacks in any severity: all where it is not there at all."""
    if not is_there(name, root):
        return NAMES
    folder = SHIFTED[name].place(root)
    if name.startswith("cifar"):
        labelled = (folder / "labels.npy").is_file()
        return tuple(own for own in NAMES if not (labelled and (folder / f"{own}.npy").is_file()))
    beside = folder.parent / f"{folder.name}-extra"
    places = {condition: condition.replace(" ", "/") for condition in CONDITIONS}
    there = {
        condition for condition, place in places.items() if any((own / place).is_dir() for own in (folder, beside))
    }
    return tuple(own for own in NAMES if any(f"{own} {severity}" not in there for severity in range(1, 6)))
