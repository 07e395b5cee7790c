"""Class names by the name of a data set, or from a text file, without looking at a single picture where that can be."""

from dataclasses import dataclass
from pathlib import Path

from openworld.core.plain_files import read_lines
from openworld.datasets import cards
from openworld.datasets.formats import folder
from openworld.datasets.names.forms import readable_class_name
from openworld.datasets.names.wordnet import split_synset_ids
from openworld.datasets.published import downloaded
from openworld.datasets.published.catalogue import PUBLISHED
from openworld.datasets.splits import ClassSplit

LISTED = Path(__file__).parents[1] / "lists" / "class_names"
"""Lists of class names, as the split files of the data sets have them."""


@dataclass(frozen=True)
class ClassNames:
    """The class names of one data set in label order, with spaces for underscores."""

    dataset: str
    names: tuple[str, ...]
    wordnet_ids: tuple[str, ...] = ()  # () where they have none
    base_count: int | None = None  # None for the first half

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(map(readable_class_name, self.names)))

    @property
    def base(self) -> "ClassNames":
        """The base classes: the first ceil(C / 2), where nothing else is said."""
        count = len(ClassSplit.of(self.names, count=self.base_count).base)
        return ClassNames(self.dataset, self.names[:count], self.wordnet_ids[:count])


def class_names(name: str, root: str | Path | None = None) -> ClassNames:
    """Return the class names of whatever `datasets.load` takes, or of a .txt file of names, perhaps after ids."""
    if name.endswith(".txt"):
        return _listed(Path(name))
    if name in PUBLISHED:
        split = downloaded.read(name, root, ("test",))
        return ClassNames(name, split.classnames, split.wordnet_ids)
    if cards.is_folder(name):
        return ClassNames(name, folder.class_names(name))
    return ClassNames(name, cards.load(name, root=root).classnames)


def listed_names(dataset: str) -> ClassNames | None:
    """The published class names of a data set, in label order, as they come with the package; None without a list."""
    file = LISTED / f"{dataset}.txt"
    return _listed(file) if file.is_file() else None


def _listed(file: Path) -> ClassNames:
    names, ids = split_synset_ids(read_lines(file, "name"))
    return ClassNames(file.stem, tuple(names), tuple(ids))
