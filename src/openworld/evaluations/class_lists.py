"""Which class names play in a run, and which of them meet: what its audit looks at, before any number."""

from collections.abc import Iterable, Iterator, Mapping

from openworld.datasets import require_places
from openworld.evaluations import evaluation_of
from openworld.evaluations.evaluation import ClassList
from openworld.evaluations.image_selection import DatasetSpec


def require_data(spec) -> None:
    """Refuse to begin a run while a folder or list of a data set to download is missing, and name all that are."""
    require_places(entry.dataset for entry in evaluation_of(spec).data(spec))


def class_lists(spec) -> tuple[ClassList, ...]:
    """Return the names of every data set of a run, each list of names once; no image is read."""
    lists: dict[tuple, ClassList] = {}
    for class_list in evaluation_of(spec).class_lists(spec):
        met = tuple(sorted(class_list.against))
        lists.setdefault((class_list.names, class_list.base_count, met), class_list)
    return tuple(lists.values())


def variants(entries: Iterable[DatasetSpec], source: DatasetSpec) -> Iterator[ClassList]:
    """Return the lists of variants with names of their own; most show some of the source's under the same names."""
    for variant in entries:
        names = tuple(name for name in variant.classnames if name not in source.left_out)
        if not set(names) <= set(source.classnames):
            base = set(names) & set(source.split.base_names)
            yield ClassList(str(variant), variant.dataset, names, len(base))


def meeting(other: DatasetSpec, names: tuple[str, ...], against: Mapping[str, tuple[str, ...]]) -> Iterator[ClassList]:
    """Return the list of another data set whose names meet the source's, where any are left."""
    if names:
        met = {title: theirs for title, theirs in against.items() if theirs}
        yield ClassList(str(other), other.dataset, names, 0, met)
