"""What is known of one data set of accuracy without labels."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from openworld.datasets.image_set import ImageSet


@dataclass(frozen=True)
class ShiftedSet:
    """One data set to download.

    Args:
        title: its name in papers.
        what: its classes, in a few words.
        folder: its place below the folder of all data sets.
        also: other places where it may lie, as other libraries download it.
        loose: a file by which it is known to lie in the folder of all data sets itself, where torchvision puts it.
        classes: how many there should be.
        pictures: part -> how many there should be in the first domain; None where that is not published.
        sources: (what, address) of everything to download.
        read: (folder of all data sets, own folder, domain, part) -> image set of that name.
        domains: what `domain` may be, the default first.
        group_name: what pictures of one group share; "" where all are independent.
        alike: the domains that should hold as many pictures as the first; a check reads them too.
    """

    title: str
    what: str
    folder: str
    classes: int
    pictures: dict[str, int | None]
    sources: tuple[tuple[str, str], ...]
    read: Callable[[Path, Path, str, str], ImageSet]
    domains: tuple[str, ...] = ("",)
    group_name: str = ""
    alike: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    loose: str = ""

    def place(self, root: Path) -> Path:
        """Return its folder below the folder of all data sets: the first place that is there, else the usual one."""
        found = next((root / place for place in (*self.also, self.folder) if (root / place).is_dir()), None)
        at_root = bool(self.loose) and (root / self.loose).is_file()
        return found or (root if at_root else root / self.folder)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts it has."""
        return tuple(self.pictures)
